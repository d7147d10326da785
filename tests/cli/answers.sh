# The first lines of every answer, on eight profiles of real programs: they are read, not only
# compared, whenever they change. No report takes more than a terminal of 40 lines.
traces=$data/../../../../shared/data/traces
if [ ! -d "$traces/nsys" ]; then
    echo "the profiles of ../shared/data/traces are not here"
    exit 77
fi
for path in "$traces"/nsys/*.sqlite "$traces"/nvprof/*.nvvp; do
    cp "$path" .
    name=$(basename "$path")
    for command in "analyze" "project --to a100-pcie4" "advise"; do
        echo "\$ haul $command $name"
        haul $command "$name" >report.txt || echo "exit $?"
        head -5 report.txt
        lines=$(wc -l <report.txt)
        [ "$lines" -le 40 ] || echo "TOO LONG: $lines lines"
    done
done
