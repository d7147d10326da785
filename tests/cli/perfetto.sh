# --perfetto FILE; $check holds a trace against the format
command -v python3 >/dev/null || { echo "no python3"; exit 77; }

echo "== as recorded"
try haul analyze "$profile" --perfetto recorded.json -o report.txt
python3 "$check" recorded.json
grep -c '"name":"launch"' recorded.json
grep '"process_name"\|"thread_name"' recorded.json
grep -m 1 HtoD recorded.json
grep -m 1 convolve recorded.json
tail -n 2 recorded.json | sed 's/"labels":"[^"]*"/"labels":"PROFILE"/'

echo "== on another machine, beside it"
try haul project "$profile" --to h100-pcie5 --perfetto both.json -o report.txt
python3 "$check" both.json
grep '"process_name"' both.json

echo "== wrong use"
cp "$profile" mine.sqlite
try haul analyze mine.sqlite --perfetto mine.sqlite
try haul analyze mine.sqlite --perfetto not/there.json -o report.txt
