# haul project
cat >node.yaml <<'EOF'
haul: 1
name: node
summary: a node that is not, for tests
from: datasheet
source: the maker's sheet
host:
  memory_bandwidth: 50 GB/s
  copy_rate: {value: 8 GB/s, from: measured, source: "one core"}
gpu:
  name: Test GPU
  memory_bandwidth: 900 GB/s
  clock: 1.4 GHz
  multiprocessors: 80
link: {kind: pcie, generation: 3, lanes: 16, payload: 256 B, ack_share: 9.6 %}
copies:
  - direction: HtoD
    memory: pinned
    from: measured
    source: this test
    latency: 1 us
    rate: 12 GB/s
  - {direction: DtoH, memory: pinned, from: measured, source: this test, latency: 2 us}
EOF
cp "$data/recorder.yaml" .
node=$PWD/node.yaml recorder=$PWD/recorder.yaml

echo "== a page; the recording link is fitted"
try haul project "$profile" --to "$node"

echo "== with the recording machine, another model and a reference"
try haul project "$profile" --to "$node" --from "$recorder" --model ahead --reference "$profile"

echo "== a model that cannot price all"
try haul project "$profile" --to "$node" --model packet

echo "== CSV"
try haul project "$profile" --to "$node" --from "$recorder" --format csv

echo "== JSON, to a file"
try haul project --format json -o report.json --to "$node" --reference "$profile" "$profile"
head -40 report.json
if command -v python3 >/dev/null; then
    python3 - <<'EOF'
import json
report = json.load(open("report.json"))
models = report["models"]
assert report["chosen"] in models
for name in ("auto", "latency-bandwidth-bound", "bandwidth-bound", "ahead"):
    assert {"total_s", "wmape", "wape", "median", "p90"} <= set(models[name]), name
assert {"wape", "noise_floor", "median", "p90", "copies"} <= set(report["self_check"])
low, high = report["interval_s"]
total = models[report["chosen"]]["total_s"]
assert low < total < high
sizes = sum(row["predicted_s"] for row in report["sizes"])
groups = sum(row["predicted_s"] for row in report["rows"] if "least_bytes" not in row)
assert abs(sizes - total) < 1e-6 * total and abs(groups - total) < 1e-6 * total
run = report["run"]
for name in ("recorded", "target", "reference"):
    parts = run[name].copy()
    makespan = parts.pop("makespan_s")
    assert abs(sum(parts.values()) - makespan) < 1e-9, name
path = run["critical_path"]
kinds = sum(path["copies_s"].values()) + path["kernels_s"] + path["memsets_s"] + path["host_s"]
assert abs(kinds - run["target"]["makespan_s"]) < 1e-9
low, high = run["interval_s"]
assert low <= run["target"]["makespan_s"] <= high
assert run["calls"] == "simulated" and abs(run["replay"]["error"]) < 1
EOF
    python3 - "$profile" "$node" <<'EOF'
# without its calls
import json, shutil, sqlite3, subprocess, sys
shutil.copy(sys.argv[1], "mute.sqlite")
with sqlite3.connect("mute.sqlite") as profile:
    profile.execute("DROP TABLE CUPTI_ACTIVITY_KIND_RUNTIME")
command = ["haul", "project", "mute.sqlite", "--to", sys.argv[2]]
run = json.loads(subprocess.check_output(command + ["--format", "json"]))["run"]
assert run["calls"] == "recorded" and run["replay"]["error"] == 0
said = b" ".join(subprocess.check_output(command).split())
assert b"the pauses within its streams are kept" in said
advice = subprocess.check_output(["haul", "advise", "mute.sqlite"]).split(b"\n")
assert advice[0].startswith(b"No advice on the recording machine: the profile has no API calls")
EOF
fi

echo "== the link of another profile, here of the same one"
haul project "$profile" --to h100-pcie5 --format csv >own.csv
haul project "$profile" --to h100-pcie5 --link-of "$profile" --format csv >other.csv
try cmp own.csv other.csv
try haul project "$profile" --to h100-pcie5 --link-of nowhere.sqlite

echo "== what cannot be priced"
grep -v 'direction: DtoH' node.yaml >mute.yaml
try haul project "$profile" --to ./mute.yaml
sed '/memory_bandwidth: 900/d' node.yaml >slow.yaml
try haul project "$profile" --to ./slow.yaml

echo "== wrong use"
try haul project
try haul project "$profile"
try haul project "$profile" --to
try haul project "$profile" --to "$node" --format yaml
try haul project "$profile" --to "$node" --from nowhere
try haul project "$profile" --to "$node" --model guess
try haul project "$profile" --to "$node" --reference nowhere.sqlite
try haul project "$profile" --to "$node" -o ./node.yaml
try haul project nowhere.sqlite --to "$node"

echo "== a closed pipe is no news"
haul project "$profile" --to "$node" --format json | head -1

echo "== several machines, and a parameter swept"
try haul project "$profile" --to "$node,h100-pcie5" --from "$recorder"
try haul project "$profile" --to "$node" --from "$recorder" --set link.generation=2,4
try haul project "$profile" --to "$node" --from "$recorder" --set link.generation=2,4 --format csv
try haul project "$profile" --to "$node" --set link.generatoin=4
try haul project "$profile" --to summit --set link.lanes=8
haul project "$profile" --to summit --set link.generation=6 | head -3
haul project "$profile" --to summit --set link.generation=5,6
try haul project "$profile" --to "$node,gh200" --html page.html

echo "== counters of a profiler"
cat >counters.csv <<END
kernel,grid_x,grid_y,grid_z,block_x,block_y,block_z,seconds,flop_count_sp
other,64,1,1,256,1,1,1e-3,1000
END
haul project "$profile" --to "$node" --counters counters.csv --verbose | grep -A 1 "row of the counters"
sed 's/^other.*1e-3/other,64,1,1,256,1,1,soon/' counters.csv >wrong.csv
try haul project "$profile" --to "$node" --counters wrong.csv
try haul project "$profile" --to "$node" --counters nowhere.csv
printf 'pattern,class\nhist,streams\n' >classes.csv
try haul project "$profile" --to "$node" --classes classes.csv

echo "== what machines cost"
printf 'machine,price_per_hour,watts\nh100-pcie5,2.5,350\ngh200,4.5,900\na100-sxm4,1.8,\n' >prices.csv
haul project "$profile" --to h100-pcie5,gh200,a100-sxm4,v100-sxm2 --prices prices.csv
haul project "$profile" "$profile" --to gh200,h100-pcie5 --prices prices.csv --format csv | cut -d, -f2,10-
haul project "$profile" --to gh200 --prices prices.csv --format json | grep -e cost -e energy
echo "== its page draws time and cost on each machine"
haul project "$profile" "$profile" --to gh200,h100-pcie5,v100-sxm2 --prices prices.csv --html targets.html >/dev/null
grep -o '<text class="\(value\|mid strong\|head\)"[^<]*' targets.html | sed 's/.*>//' | tr '\n' ';'
echo
haul project "$profile" --to h100-pcie5 --set link.lanes=1,2,4,8,16 --set link.generation=3,4,5,6 --html swept.html >/dev/null
grep -o 'the first [0-9]* of [0-9]* machines' swept.html
try haul project "$profile" --to k40 --prices prices.csv
for row in gh200,-1, gh200,soon, gh200,1,0 'gh200,1,
gh200,2,'; do
    printf 'machine,price_per_hour,watts\n%s\n' "$row" >wrong.csv
    try haul project "$profile" --to gh200 --prices wrong.csv
done
try haul project "$profile" --to gh200 --prices nowhere.csv

echo "== a board alone is in the slot of the machine that recorded"
haul project "$profile" --to gtx-970 --width 100 | head -n 8
haul project "$profile" --to gtx-970 --from a100-pcie4 | grep copies
echo "== a GPU on several boards, and parameters by their first letters"
haul project "$profile" --to h100 2>&1 | head -n 1
haul advise "$profile" --to a100 2>&1 | head -n 1
try haul project "$profile" --to h100-pcie5 --set link.gen=6
