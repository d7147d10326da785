# haul record: what is wrong use, what it leaves alone; no device is needed
unset OCL_ICD_VENDORS
# a profile of haul record, without a device: over a libcupti of the tests
own_profile()
{
    haul record -o "$1" "$inject_cuda" exit >/dev/null 2>&1
}
# whether a platform is installed here, and haul built for it, is no matter of this test
said()
{
    grep -v -e 'no OpenCL platform is installed' -e 'this build records no OpenCL'
}

echo "== wrong use"
try haul record
try haul record true
try haul record -o p.sqlite
try haul record -o
try haul record -o p.sqlite --duration never true
try haul record -o p.sqlite --max-ops 0 true
try haul record -o p.sqlite --fast true

echo "== what cannot be run or written"
try haul record -o p.sqlite ./nowhere
try haul record -o nowhere/p.sqlite true
echo "a letter" >letter
try haul record -o letter true
cat letter
try haul record -o . true

echo "== a program without a device: its output, input, exit code and environment are its own"
{
    try haul record -o p.sqlite -- echo "-o is mine"
    echo "through" | haul record -o p.sqlite cat
    try haul record -o p.sqlite sh -c 'exit 42'
    try haul record -o p.sqlite sh -c 'kill -9 $$'
    MINE=yes haul record -o p.sqlite sh -c 'echo "$MINE"'
} 2>&1 | said
ls

echo "== signals are sent on"
haul record -o p.sqlite sh -c 'trap "echo got it; exit 9" TERM; echo ready >ready; while :; do sleep 0.05; done' 2>/dev/null &
while [ ! -e ready ]; do sleep 0.05; done
kill -TERM $!
wait $!
echo "exit $?"

echo "== the group's signals reach the program by themselves: timeout sends both"
timeout -s INT 1 haul record -o p.sqlite sh -c 'trap "echo got one" INT; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.2; done' 2>&1 | said
setsid -w haul record -o p.sqlite sh -c 'trap "echo the group" USR1; kill -USR1 0; sleep 0.5; sleep 0.3' 2>/dev/null
rm -f ready

echo "== a file that is there is replaced only where it is a profile, and that only with --force"
"$make" one.sqlite
cp one.sqlite foreign.sqlite
try haul record -o foreign.sqlite --force true
cmp one.sqlite foreign.sqlite
own_profile own.sqlite
cp own.sqlite kept.sqlite
try haul record -o own.sqlite true
try haul record --force -o own.sqlite ./nowhere
haul record --force -o own.sqlite true 2>&1 | said
cmp own.sqlite kept.sqlite
echo "mine" >own.sqlite-1
echo "mine too" >own.sqlite-12.3
haul record --force -o own.sqlite true 2>&1 | said
cat own.sqlite-1 own.sqlite-12.3
ln -s own.sqlite link.sqlite
try haul record -o link.sqlite true

echo "== names are paths"
for name in file:x ':memory:' 'a%%b'; do
    haul record -o "$name" "$inject_cuda" exit >/dev/null 2>&1
done
ls -d file* :mem* a*
try haul analyze ./nothing
haul analyze :memory: | head -1
haul analyze file:x | head -1

echo "== marks in names"
NAME=there haul record -o 'p-%q{NAME}-%h' "$inject_cuda" exit >/dev/null 2>&1
[ -f "p-there-$(hostname)" ] && echo "with a variable and the host"
haul record -o 'run-%p' "$inject_cuda" pid 2>/dev/null | while read -r pid; do
    [ -f "run-$pid" ] && echo "with the process"
done
try haul record -o 'p-%q{NONE_SUCH}' true
try haul record -o 'p-%x' true
try haul record -o 'p-%q' true
for rank in 0 1; do
    OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=2 haul record -o prof.sqlite "$inject_cuda" exit 2>&1 | grep -v next
done
ls prof*
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 haul record -o alone.sqlite "$inject_cuda" exit >/dev/null 2>&1
ls alone*
# one after the other, so that their clocks tell no job: convert and check join what they are given
haul convert prof-* -o joined.sqlite 2>/dev/null
haul check prof-* --budget "$data/budgets/wide.yaml" | sed -n '/incomplete/p'
haul analyze joined.sqlite | sed -n -e '1s/.* on \(.*\):.*/on \1/p' -e '/^  copies/s/ in .*//p' -e '/incomplete/p'

echo "== from a folder with a colon"
mkdir 'a:b'
cp "$(command -v haul)" "$(dirname "$(command -v haul)")"/libhaul-record-* 'a:b'
'a:b/haul' record -o 'a:b/p.sqlite' "$inject_cuda" exit

echo "== what a killed program lost is said by every reader"
haul record -o killed.sqlite "$inject_cuda" kill 2>&1 | sed 's/last [0-9]* ms/last N ms/' | grep incomplete
haul analyze killed.sqlite | grep -A1 incomplete | sed 's/last [0-9]* ms/last N ms/'
haul analyze killed.sqlite --format json | grep -c '"the program was killed by signal 9 (Killed)'
haul analyze killed.sqlite --html killed.html >/dev/null
grep -c 'the program was killed by signal 9' killed.html
for reader in "project --to h100-sxm5" "advise"; do
    haul $reader killed.sqlite 2>&1 | grep -o 'incomplete *the program was killed by signal 9 (Killed)'
    haul $reader killed.sqlite --format json 2>/dev/null | grep -o '"the program was killed by signal 9 (Killed)' | head -1
    haul $reader killed.sqlite --html reader.html >/dev/null 2>&1
    grep -c '<dt>incomplete</dt><dd>the program was killed by signal 9' reader.html
done
haul compare killed.sqlite killed.sqlite | grep -o 'incomplete *the [a-z]* profile: the program was killed by signal 9 (Killed)'
haul compare killed.sqlite killed.sqlite --format json | grep -o '"[a-z]*_incomplete": "the program was killed by signal 9 (Killed)'
