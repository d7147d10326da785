# haul advise
cp "$data/recorder.yaml" .
# without pinned memory
sed '/pinned/d; /^link/d' recorder.yaml >poor.yaml
recorder=$PWD/recorder.yaml

echo "== a page"
try haul advise "$profile" --from "$recorder"

echo "== on another machine"
try haul advise "$profile" --from "$recorder" --machine gh200

echo "== figures that are missing"
try haul advise "$profile" --from ./poor.yaml

echo "== a limit"
haul advise "$profile" --from "$recorder" --limit 2000 | sed -n '/^tried/,$p'

echo "== CSV"
try haul advise "$profile" --from "$recorder" --format csv

echo "== JSON, to a file, and the timelines"
try haul advise --format json -o report.json --from "$recorder" --perfetto runs.json \
    --html page.html "$profile"
head -20 report.json
grep -c "<svg" page.html >/dev/null && echo "a page with drawings"
if command -v python3 >/dev/null; then
    python3 - <<'END'
import json
report = json.load(open("report.json"))
guesses = [advice["certainty"] == "speculative" for advice in report["advice"]]
assert guesses == sorted(guesses)
saved = [advice["saved_s"] for advice in report["advice"]]
assert saved and saved == sorted(saved, reverse=True) or any(guesses)
assert min(saved) >= report["threshold_s"] > 0
for advice in report["advice"]:
    assert abs(advice["share"] - advice["saved_s"] / report["run_s"]) < 1e-6
    assert advice["calls"] and all(calls["count"] > 0 for calls in advice["calls"])
    assert (advice["apart"] is None) or isinstance(advice["apart"], str)
taken = [advice for advice in report["advice"] if advice["apart"] is None]
assert report["with_speculative"]["changes"] == len(taken)
assert report["together"]["changes"] == sum(a["certainty"] != "speculative" for a in taken)
trace = json.load(open("runs.json"))
names = {e["args"]["name"] for e in trace["traceEvents"] if e.get("name") == "process_name"}
assert any("before" in name for name in names) and any("after" in name for name in names), names
END
fi

echo "== wrong use"
try haul advise
try haul advise "$profile" "$profile"
try haul advise "$profile" --machine nowhere
try haul advise "$profile" --format yaml
try haul advise "$profile" --from "$recorder" -o ./recorder.yaml
try haul advise "$profile" --from "$recorder" --perfetto ./recorder.yaml
try haul advise "$profile" --html -
try haul advise "$profile" --limit few
try haul advise "$profile" --limit 0
try haul advise nowhere.sqlite

echo "== a closed pipe is no news"
haul advise "$profile" --from "$recorder" --format json | head -1

echo "== on another machine: the run's interval is the projection's, and the host's time may be given"
"$make" -c driver-calls driver-calls.sqlite
haul project driver-calls.sqlite --to h100-pcie5 --format json >project.json
haul advise driver-calls.sqlite --to h100-pcie5 --format json >usual.json
haul advise driver-calls.sqlite --to h100-pcie5 --host-speed 2 --format json >fast.json
if command -v python3 >/dev/null; then
    python3 - <<'PY'
import json
project, usual, fast = (json.load(open(f + ".json")) for f in ("project", "usual", "fast"))
assert usual["run_interval_s"] == project["run"]["interval_s"]
assert usual["run_s"] == project["run"]["target"]["makespan_s"]
assert fast["run_s"] < 0.75 * usual["run_s"], (fast["run_s"], usual["run_s"])
PY
fi
haul advise driver-calls.sqlite --to h100-pcie5 | sed -n '/^  host/p'
try haul advise driver-calls.sqlite --host-speed 2
