# four processes of an MPI launcher, recorded, and their profiles read as one run; no device is needed
mpirun --version 2>/dev/null | grep -q 'Open MPI' || {
    echo "skipped: no mpirun of Open MPI (openmpi-bin)"
    exit 77
}
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
ranks()
{
    mpirun --oversubscribe -n 4 haul record -o "$@" -- "$inject_cuda" exit 2>&1 |
        grep -e '^haul: ' -e "^the program's" | sort | uniq -c | sed 's/^ *//' # not the launcher's words
}

echo "== one name gets the ranks"
ranks prof
ls
# not the times, in which the processes did not start at once
haul analyze prof-* | sed -n -e '1s/.* on \(.*\):.*/on \1/p' -e '/^  copies/s/ in .*//p' -e '/incomplete/p' \
    -e 's/^\(rank [0-9]: 1 Fake V100\) .*/\1/p'

echo "== a mark tells them apart"
ranks 'marked-%q{OMPI_COMM_WORLD_RANK}.sqlite' | grep recorded
ls marked*
