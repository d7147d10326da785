# docs/promises.md: exit codes, and files of format 1 as they were written for version 0.1.
kept=$data/promised

echo "== exit codes"
quietly() {
    "$@" >/dev/null 2>&1
    echo "$? of: $*"
}
quietly haul machine show k20
quietly haul check "$profile" --budget "$kept/budget.yaml"
quietly haul compare "$profile" "$profile" --fail-above 5%
try haul analyze
try haul analyze nothing.sqlite
try haul machine time "$kept/machine.yaml" --direction PtoP --bytes 1MiB
quietly haul measure transfers --device opencl:15

echo "== files of format 1 mean what they meant"
try haul machine check "$kept/machine.yaml"
try haul machine show "$kept/machine.yaml" --format csv
haul kernel predict "$kept/fitted.yaml" --machine k40 --size 4096 --format csv | cut -d , -f 1-4
haul simulate "$kept/workload.yaml" --machine "$kept/machine.yaml" --table operations | cut -d , -f 1-7
try haul check "$profile" --budget "$kept/budget.yaml" --format csv

echo "== another number is refused"
for file in machine.yaml fitted.yaml budget.yaml workload.yaml; do
    sed -E 's/^(haul[-_a-z]*): 1$/\1: 7/' "$kept/$file" >"$file"
done
try haul machine check machine.yaml
try haul kernel predict fitted.yaml --machine k40 --size 4096
try haul check "$profile" --budget budget.yaml
try haul simulate workload.yaml --machine k20
