# haul record: what is wrong use, what it leaves alone; no device is needed
unset OCL_ICD_VENDORS
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
