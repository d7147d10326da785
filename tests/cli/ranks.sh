# several ranks of one program, whose answer is known from their bytes and times
if ! command -v python3 >/dev/null; then
    echo "no python3 here"
    exit 77
fi
# Each rank copies its own sizes to the GPU, one after another, and computes.
python3 - <<'EOF'
import json
for rank in range(3):
    events, at = [], 0.0
    def add(category, name, start, duration, arguments, process, thread):
        events.append({"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread,
                       "ts": round(start, 3), "dur": round(duration, 3), "args": arguments})
    for step in range(4):
        key = 10 * step + 1
        size = 1000000 * (rank + 1) * (step + 1)
        copy = 2 + size / 26000       # 26 GB/s, in microseconds
        add("cuda_runtime", "cudaMemcpyAsync", at, 5, {"correlation": key}, 100 + rank, 1)
        add("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", at + 8, copy,
            {"correlation": key, "stream": 7, "device": 0, "bytes": size}, 0, 7)
        add("cuda_runtime", "cudaLaunchKernel", at + 6, 5, {"correlation": key + 1}, 100 + rank, 1)
        add("kernel", "work", at + 8 + copy, 50,
            {"correlation": key + 1, "stream": 7, "device": 0, "grid": [64, 1, 1], "block": [256, 1, 1]},
            0, 7)
        add("cuda_runtime", "cudaDeviceSynchronize", at + 12, copy + 50, {"correlation": key + 2},
            100 + rank, 1)
        at += copy + 100
    json.dump({"schemaVersion": 1, "baseTimeNanoseconds": 1000000, "distributedInfo": {"rank": rank},
               "deviceProperties": [{"id": 0, "name": "NVIDIA A100 80GB PCIe", "haul host": f"node{rank // 2}"}],
               "traceEvents": events}, open(f"rank{rank}.json", "w"))
EOF
cat >target.yaml <<'EOF'
haul: 1
name: target
summary: a link of half the rate
from: measured
source: this test
gpu: {name: NVIDIA A100 80GB PCIe, memory_bandwidth: 1935 GB/s}
link: {kind: pcie, generation: 3, lanes: 16}
copies:
  - {direction: HtoD, memory: pinned, latency: 4 us, rate: 13 GB/s}
EOF
# white space before a trace is none of its text
{ printf '\n \n'; cat rank0.json; } >newline.json
haul analyze newline.json | head -n 1
ranks="rank0.json rank1.json rank2.json"
haul analyze $ranks --format json -o analysis.json
haul project $ranks --from "$data/recorder.yaml" --to "$PWD/target.yaml" --format json -o projection.json
haul advise $ranks --machine "$data/recorder.yaml" --format json -o advice.json

# The longest rank decides: its copies take 2 us and a rate more each, its steps 100 us beyond them.
python3 - <<'EOF'
import json
analysis, projection, advice = (json.load(open(name + ".json"))
                                for name in ("analysis", "projection", "advice"))
def check(what, found, expected, within=2e-9):
    print(what, "as calculated" if abs(found - expected) <= within else f"{found}, not {expected}")
sizes = [[1000000 * (rank + 1) * (step + 1) for step in range(4)] for rank in range(3)]
for rank, device in enumerate(analysis["devices"]):
    check(f"rank {rank}: its GPU", (device["rank"], device["host"], device["name"]) ==
          (rank, f"node{rank // 2}", "NVIDIA A100 80GB PCIe"), True, 0)
    check(f"rank {rank}: bytes", device["copies"]["bytes"], sum(sizes[rank]), 0)
    check(f"rank {rank}: time of its copies", device["copies"]["time_s"],
          sum(2e-6 + size / 26e9 for size in sizes[rank]), 4e-9)
def run(latency, rate):
    return sum(latency + size / rate for size in sizes[2]) + 350e-6
check("recorded run", projection["run"]["recorded"]["makespan_s"], run(2e-6, 26e9), 4e-9)
check("predicted copies", projection["predicted_s"],
      sum(4e-6 + size / 13e9 for rank in sizes for size in rank), 1e-9)
check("predicted run", projection["run"]["target"]["makespan_s"], run(4e-6, 13e9), 8e-9)
# With copies and kernels in streams of their own the longest rank's copies follow each other, and
# the last kernel them; the first copy's call, of 8 us, may get shorter.
best = advice["advice"][0]
check("saved by " + best["change"], best["saved_s"], run(2e-6, 26e9) -
      sum(2e-6 + size / 26e9 for size in sizes[2]) - 50e-6, 8e-6)
EOF

# ranks of one job and a profile of another: a row each
sed 's/"baseTimeNanoseconds": 1000000/"baseTimeNanoseconds": 9000000000/' rank1.json >other.json
try haul project rank0.json other.json rank2.json --from "$data/recorder.yaml" --to "$PWD/target.yaml",h100-pcie5 --format csv
try haul project other.json rank0.json --from "$data/recorder.yaml" --to "$PWD/target.yaml" --html page.html --format json
grep -c "</html>" page.html
try haul project other.json rank0.json --to h100-pcie5 --perfetto runs.json

# the same of what they are: a row each, and one job stays one run
try haul analyze rank0.json other.json rank2.json
try haul analyze other.json rank0.json --format csv
try haul analyze other.json rank0.json --html page.html --format json
grep -c "</html>" page.html
try haul analyze other.json rank0.json --by kernel
try haul advise rank0.json other.json rank2.json --from "$data/recorder.yaml"
try haul advise other.json rank0.json --from "$data/recorder.yaml" --format csv
try haul advise other.json rank0.json --from "$data/recorder.yaml" --html page.html --format json
grep -c "</html>" page.html
try haul advise other.json rank0.json --perfetto runs.json
# files of one name in two folders are named by their paths; a profile without a GPU's work
mkdir -p first second
cp rank0.json first/run.json
cp other.json second/run.json
echo '{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "cuda_runtime", "name": "cudaFree", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}' >empty.json
try haul analyze first/run.json second/run.json empty.json --format csv
try haul advise first/run.json empty.json --format csv
