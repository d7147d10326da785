# The first lines of every answer, on eight profiles of real programs: they are read, not only
# compared, whenever they change. No report takes more than a terminal of 40 lines.
traces=${HAUL_DATA:-$data/../../../../shared/data}/traces
if [ ! -d "$traces/nsys" ]; then
    echo "skipped: no public profiles in '$traces'; HAUL_DATA names the folder"
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

echo "== a page says the time of its report, and no changed-away operation is drawn"
haul advise t4-vectoradd-4streams-5e6.nvvp --html page.html --perfetto runs.json | head -n 1
grep -o '<b>[a-z]*</b> [0-9.]* ms' page.html
grep -o '"pid":[45],"tid":[0-9]*,"ts":[0-9.]*,"dur":0.000' runs.json | wc -l

echo "== several machines, and a profile that names no GPU: the reason once"
haul project --to h100-pcie5,gh200 h100-2gpu-training-1s.sqlite
haul project --to h100-pcie5,gh200 t4-vectoradd-4streams-5e6.nvvp

echo "== files that were not recorded together: a row each, and joined where that is asked for"
haul analyze rtx3080-small.sqlite h100-2gpu-training-1s.sqlite
haul advise rtx3080-small.sqlite t4-vectoradd-pageable-5e6.nvvp
haul convert rtx3080-small.sqlite h100-2gpu-training-1s.sqlite -o joined.sqlite

echo "== threads that are inferred to take turns: the answer says so where the host bounds the run"
for name in recsys-a100 recsys-v100; do
    haul project "$traces/kineto/$name.json.gz" --to h200 | head -4
done

echo "== profiles with collectives and ranges, too, fit 40 lines"
for name in nccl-arguments recsys-v100; do
    haul analyze "$traces/kineto/$name.json.gz" | awk 'END { print (NR > 40 ? "TOO LONG: " NR : "fits") }'
done
