# haul simulate
cat >node.yaml <<'EOF'
haul: 1
name: node
summary: a node that is not, for tests
from: measured
source: this test
gpu: {name: Test GPU, count: 2, copy_engines: 2, implicit_sync: 0}
link: {kind: pcie, generation: 3, lanes: 16}
copies:
  - {direction: HtoD, memory: pinned, latency: 10 us, rate: 10 GB/s, gap: 2 us, busy_rate: 8 GB/s}
  - {direction: DtoH, memory: pinned, latency: 10 us, rate: 10 GB/s}
EOF
cat >chunks.yaml <<'EOF'
haul_workload: 1
name: chunks
call: 5 us
constants: {chunks: 4}
operations:
  - repeat: chunks
    operations:
      - {name: "in {i}", op: HtoD, stream: "s{i}", bytes: 16 MB}
      - {name: "work {i}", op: kernel, stream: "s{i}", duration: 2 ms}
      - {op: DtoH, stream: "s{i}", bytes: 16 MB}
  - {name: all, op: wait}
EOF
cat >buffers.csv <<'EOF'
name,op,stream,bytes,duration,after
in 0,HtoD,in,64 MiB,,
in 1,HtoD,in,64 MiB,,
work 0,kernel,compute,,5 ms,in 0
work 1,kernel,compute,,5 ms,in 1
in 2,HtoD,in,64 MiB,,work 0
work 2,kernel,compute,,5 ms,in 2
EOF

echo "== YAML with a loop, CSV"
try haul simulate chunks.yaml --machine ./node.yaml
try haul simulate buffers.csv --machine ./node.yaml
try haul simulate buffers.csv --machine ./node.yaml --model peak --format csv

echo "== many operations, many streams"
cat >many.yaml <<'EOF'
haul_workload: 1
operations:
  - repeat: {step: 3, s: 40}
    operations: [{op: kernel, stream: "stream number {s}", duration: 1 us}]
EOF
try haul simulate many.yaml --machine ./node.yaml | sed '/^Operation/,/^#40/d'

echo "== a schedule for simulators of networks"
cat >two.csv <<'END'
name,op,stream,bytes,duration,after
in,HtoD,in,10 MB,,
work,kernel,work,,2 ms,in
END
try haul simulate two.csv --machine ./node.yaml --goal two.goal -o report.txt
cat two.goal
try haul simulate two.csv --machine ./node.yaml --goal ./no/such.goal -o report.txt

cat >ranks.csv <<'END'
name,op,rank,stream,bytes,duration,after
work,kernel,0,k,,1 ms,
a,send,0,s,1 MB,,work
b,send,0,s,1 MB,,
c,receive,1,r,,,a
d,receive,1,r,,,b
last,kernel,1,k,,2 ms,d
END
cp node.yaml nodes.yaml
cat >>nodes.yaml <<'END'
messages:
  - {memory: host, reach: network, above: 0 B, latency: 3 us, rate: 1 GB/s, gap: 1 us}
END
try haul simulate ranks.csv --machine ./nodes.yaml --goal ranks.goal --format csv
cat ranks.goal
try haul simulate ranks.csv --machine ./node.yaml
for change in s/,b$/,a/ s/^d.*// 's/^d,receive,1/d,receive,0/' 's/b,send,0,s,1 MB/b,send,0,s,/' 's/^work,kernel,0/work,kernel,/' 's/^work,kernel,0/work,kernel,65536/' 's/,b$/,b;last/'; do
    sed "$change" ranks.csv >changed.csv
    try haul simulate changed.csv --machine ./nodes.yaml
done
printf 'op,stream,bytes\nsend,a,1\n' >alone.csv
try haul simulate alone.csv --machine ./nodes.yaml

echo "== JSON, trace"
try haul simulate chunks.yaml --machine ./node.yaml --format json -o report.json --perfetto trace.json
if command -v python3 >/dev/null; then
    python3 - <<'EOF'
import json
report = json.load(open("report.json"))
assert report["schema"] == 2
operations = report["operations"]
assert [o["operation"] for o in operations] == list(range(1, 14))
spans = [(o["start_s"], o["end_s"]) for o in operations if o["op"] != "wait"]
makespan = max(e for _, e in spans) - min(s for s, _ in spans)
assert abs(makespan - report["makespan_s"]) < 1e-12
parts = ["kernels_alone_s", "copies_hidden_s", "copies_both_ways_s", "copies_exposed_s", "idle_s"]
assert abs(sum(report[p] for p in parts) - makespan) < 1e-12
for r in report["resources"]:
    assert abs(r["busy_s"] + r["idle_s"] - makespan) < 1e-12
assert report["interval_s"][0] <= makespan <= report["interval_s"][1]
for o in operations:
    if o["waited"] in ("stream", "after", "resource") and o["op"] != "wait":
        assert operations[o["waited_for"] - 1]["end_s"] == o["start_s"], o
trace = json.load(open("trace.json"))["traceEvents"]
assert sum(e["ph"] == "X" for e in trace) == 13
assert {e["args"]["name"] for e in trace if e["name"] == "thread_name"} == {"s0", "s1", "s2", "s3", "host"}
EOF
fi
head -n 28 report.json
grep '"in 0"' trace.json

echo "== a page"
try haul simulate chunks.yaml --machine ./node.yaml --html page.html -o report.txt
for shown in '>s3<' '<title>[^<]*' 'haul simulate chunks.yaml'; do
    grep -o "$shown" page.html | head -n 1
done

echo "== kernels by their file, whose folder is the workload's"
cat >board.yaml <<'EOF'
haul: 1
name: board
summary: a board that is not, for tests
from: datasheet
source: the maker's sheet
gpu: {name: Test Board, architecture: kepler, multiprocessors: 10, cores: 100, clock: 1 GHz, memory_bandwidth: 200 GB/s, fp32: 2 Tflop/s, l2: 1 MiB, launch_latency: 2 us, copy_engines: 2}
link: {kind: pcie, generation: 3, lanes: 16}
EOF
sed 's/name: board/name: twice/; s/Test Board/Twice Board/; s/multiprocessors: 10/multiprocessors: 20/' board.yaml >twice.yaml
cat >scale.yaml <<'EOF'
haul_kernel: 1
name: scale
summary: every element times a number
variable: {name: N, meaning: elements, from: 1024, to: 2^30}
threads: 256*ceil(N/256)
block: 256
comp: 2
loads_global: 1
stores_global: 1
flops: N
bytes: 2*4*N
EOF
printf 'gpu,kernel,n,median_ms,grid_x,block_x\nboard,scale,1048576,0.1070673,4096,256\nboard,scale,16777216,1.6830771,65536,256\n' >times.csv
haul kernel fit times.csv --machine ./board.yaml --kernel ./scale.yaml -o fitted.yaml >/dev/null
mkdir folder
cat >folder/tiles.yaml <<'EOF'
haul_workload: 1
constants: {tiles: 3}
operations:
  - repeat: tiles
    operations:
      - {name: "in {i}", op: HtoD, stream: "s{i}", bytes: 4 MiB, duration: 400 us}
      - {name: "scale {i}", op: kernel, stream: "s{i}", kernel: ../fitted.yaml, size: "{2^20 * (i + 1)}"}
EOF
for board in board twice; do
    try haul simulate folder/tiles.yaml --machine ./$board.yaml | sed -n '3,6p; /^Operation/,$p'
    haul kernel predict fitted.yaml --machine ./$board.yaml --size 1048576,2097152,3145728 --format csv | cut -d , -f 3-5
done
sed 's/fitted/scale/' folder/tiles.yaml >folder/unfitted.yaml
try haul simulate folder/unfitted.yaml --machine ./board.yaml
try haul simulate folder/tiles.yaml --machine ./node.yaml
sed 's/fitted/nowhere/' folder/tiles.yaml >folder/lost.yaml
try haul simulate folder/lost.yaml --machine ./board.yaml
sed 's/{2^20.*}"/5"/' folder/tiles.yaml >folder/small.yaml
try haul simulate folder/small.yaml --machine ./board.yaml

echo "== what cannot be"
printf 'haul_workload: 1\noperations:\n  - {name: a, op: HtoD, bytes: 1, after: b}\n  - {name: b, op: HtoD, bytes: 1}\n' >cycle.yaml
try haul simulate cycle.yaml --machine ./node.yaml
cat >queue.yaml <<'EOF'
haul_workload: 1
operations:
  - {name: first, op: kernel, stream: a, duration: 1 us, after: last}
  - {repeat: 1100, operations: [{op: kernel, stream: a, duration: 1 us}]}
  - {name: last, op: kernel, stream: b, duration: 1 us}
EOF
try haul simulate queue.yaml --machine ./node.yaml | head -n 4
try haul simulate queue.yaml --machine a100-pcie4
sed '/repeat/d; s/op: kernel, stream: b/op: HtoD, stream: b/' queue.yaml >sync.yaml
sed 's/name: last/name: before, op: kernel, stream: b, duration: 1 us}\n  - {&/' sync.yaml >gate.yaml
try haul simulate gate.yaml --machine gtx-680
sed 's/bytes: 16 MB/bytes: 0/' chunks.yaml >zero.yaml
try haul simulate zero.yaml --machine ./node.yaml
sed 's/op: DtoH/op: PtoP/' chunks.yaml >peer.yaml
try haul simulate peer.yaml --machine ./node.yaml
sed 's/op: DtoH/op: DtoH, device: 7/' chunks.yaml >seven.yaml
try haul simulate seven.yaml --machine ./node.yaml
try haul simulate chunks.yaml --machine ./node.yaml --model packet-
try haul simulate nowhere.yaml --machine ./node.yaml

echo "== wrong use"
try haul simulate
try haul simulate chunks.yaml
try haul simulate chunks.yaml more.yaml --machine ./node.yaml
try haul simulate chunks.yaml --machine ./node.yaml --format xml
try haul simulate chunks.yaml --machine ./node.yaml -o chunks.yaml
try haul simulate chunks.yaml --machine ./node.yaml --perfetto node.yaml
haul help simulate | head -n 1

echo "== errors of expressions name the operation; so does an unknown name in 'after'"
cat >third.yaml <<'END'
haul_workload: 1
operations:
  - repeat: 4
    operations: [{name: "k{i}", op: kernel, duration: "{1/(2-i)} ms"}]
END
try haul simulate third.yaml --machine ./node.yaml
cat >unnamed.yaml <<'END'
haul_workload: 1
operations:
  - repeat: 4
    operations: [{name: "k{1/(1-i)}", op: kernel, duration: 1 ms}]
END
try haul simulate unnamed.yaml --machine ./node.yaml
printf 'name,op,duration,after\nk,kernel,1 ms,nobody\n' >nobody.csv
try haul simulate nobody.csv --machine ./node.yaml

echo "== what copies lose in company, where the machine does not say: assumed, of durations too"
printf 'op,stream,duration\nHtoD,a,10 ms\nDtoH,b,10 ms\n' >meet.csv
try haul simulate meet.csv --machine mi250
printf 'op,stream,duration\nHtoD,a,10 ms\nHtoD,b,10 ms\n' >row.csv
try haul simulate row.csv --machine mi250 --format json | grep -e assumed -e makespan

echo "== a block that no GPU launches"
printf 'name,op,duration,grid,block\nfits,kernel,1 ms,4,1024\nwide,kernel,1 ms,4,32x33\n' >wide.csv
try haul simulate wide.csv --machine k40

echo "== the host's own work counts, before the devices' first operation and behind their last"
cat >thinks.yaml <<'EOT'
haul_workload: 1
name: thinks
operations:
  - {op: HtoD, stream: s, bytes: 4 MB}
  - {op: kernel, stream: s, duration: 1 ms}
  - {op: DtoH, stream: s, bytes: 4 MB}
  - {name: all, op: wait}
  - {name: think, op: host, duration: 200 ms}
EOT
try haul simulate thinks.yaml --machine ./node.yaml
