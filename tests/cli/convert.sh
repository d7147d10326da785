# haul convert, cut and compare
echo "== to another format and back"
try haul convert "$profile" -o out.json
try haul convert out.json -o back.sqlite
try haul convert "$profile" -o out.sqlite
for file in "$profile" out.json back.sqlite out.sqlite; do
    haul analyze "$file" --format csv >"$(basename "$file").csv"
done
try cmp out.json.csv back.sqlite.csv
try cmp out.json.csv out.sqlite.csv
try cmp out.json.csv "$(basename "$profile").csv"

echo "== a window"
try haul cut "$profile" --from 0ms --to 2ms -o part.sqlite
haul analyze part.sqlite | head -n 1

echo "== times count from the GPU's first work, which comes 30 ms after the first call"
cat >late.json <<'EOF'
[{"ph": "X", "cat": "cuda_runtime", "name": "cudaFree", "pid": 1, "tid": 1, "ts": 100, "dur": 29000},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 1, "tid": 1, "ts": 30000,
  "dur": 10, "args": {"correlation": 1}},
 {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 7,
  "ts": 30100, "dur": 80, "args": {"correlation": 1, "stream": 7, "device": 0, "bytes": 1000000}}]
EOF
try haul cut late.json --from 20ms --to 40ms -o early.json
[ ! -e early.json ] || echo "an empty window was written"
try haul cut late.json --from 0ms --to 20ms -o early.json

echo "== compared"
try haul compare "$profile" out.json
try haul compare part.sqlite out.json --format csv

echo "== wrong use"
try haul convert "$profile"
try haul convert "$profile" -o out.txt
cp "$profile" mine.sqlite
try haul convert mine.sqlite -o ./mine.sqlite
mkdir ranks && cp mine.sqlite ranks/0.sqlite && cp mine.sqlite ranks/1.sqlite && ln mine.sqlite other.sqlite
ln -s ../other.sqlite ranks/2.sqlite
try haul convert ranks -o ranks/1.sqlite
try haul convert ranks -o ./ranks/../other.sqlite
try haul convert ranks -o ranks/3.sqlite
cmp mine.sqlite ranks/1.sqlite
try haul analyze ranks/0.sqlite ranks/1.sqlite --html ranks/page.html -o ranks/report.txt
try haul analyze ranks/0.sqlite ranks/1.sqlite --html ranks/page.html -o ranks/report.txt
try haul convert absent.sqlite -o out.json
try haul convert out.json -o not/there.json
try haul convert out.json -o not/there.sqlite
try haul cut "$profile" --from 2ms -o part.json
try haul cut "$profile" --from soon --to 2ms -o part.json
try haul cut "$profile" --from 2ms --to 1ms -o part.json
try haul compare "$profile"

echo "== a run that takes longer than allowed"
try haul compare part.sqlite "$profile" --fail-above 5% | head -3
haul compare part.sqlite "$profile" --fail-above 5% >/dev/null; echo "exit $?"
haul compare "$profile" part.sqlite --fail-above 5% --html both.html >/dev/null; echo "exit $?"
grep -c "</html>" both.html
try haul compare "$profile" part.sqlite --fail-above often
