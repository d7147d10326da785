# Profiles of which a schedule cannot tell the whole run, or less of it than it seems.
"$make" -c uneven uneven.sqlite || exit 1

echo "== every command refuses in the same words"
haul project uneven.sqlite --to h100-pcie5 | head -2
haul project uneven.sqlite --to h100-pcie5,gh200 | head -2
haul advise uneven.sqlite | head -2
haul advise uneven.sqlite --machine gh200 | head -2
haul compare uneven.sqlite uneven.sqlite | head -6

echo "== so do the data"
haul project uneven.sqlite --to h100-pcie5 --format json >project.json
haul advise uneven.sqlite --format json >advise.json
haul compare uneven.sqlite uneven.sqlite --format json >compare.json
grep '"unsound"' project.json advise.json
grep '_unsound"' compare.json
grep -c '"target": {\|"critical_path"\|"interval_s": \[.*run' project.json
sed -n '/"run_s"/p; /"advice"/p' advise.json

echo "== and the pages: one timeline, as recorded"
haul project uneven.sqlite --to h100-pcie5 --html project.html >/dev/null
haul advise uneven.sqlite --html advise.html >/dev/null
grep -oh 'aria-label="Timeline [^;]*' project.html advise.html
try haul project uneven.sqlite --to h100-pcie5 --perfetto runs.json >/dev/null

echo "== the start of the driver in a small copy's call is no saving"
for case in late-driver late-module; do
    "$make" -c $case $case.sqlite || exit 1
    haul analyze $case.sqlite | head -1
    haul advise $case.sqlite | sed -n '1,/self-check/p'
done

echo "== two programs that share no operation"
cat >other.json <<'EOF'
{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "other", "pid": 0, "tid": 7, "ts": 100, "dur": 2000,
"args": {"device": 0, "stream": 7, "correlation": 2}}]}
EOF
haul compare "$profile" other.json | head -1

echo "== at 80 columns a table of profiles and machines keeps its intervals"
haul project "$profile" late-driver.sqlite --to gh200,h100-pcie5 --width 80 | grep -A1 "^Profile"

echo "== nothing has a duration"
cat >still.json <<'END'
{"deviceProperties":[{"id":0,"name":"NVIDIA A100-SXM4-80GB"}],"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":0,"dur":5,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":8,"dur":0,"args":{"correlation":1,"device":0,"stream":7,"grid":[1,1,1],"block":[32,1,1]}}]}
END
haul analyze still.json | head -n 2
haul project still.json --to h100-sxm5 | head -n 3
