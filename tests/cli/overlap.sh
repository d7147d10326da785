# haul overlap
cat >node.yaml <<'EOT'
haul: 1
name: node
summary: a node that is not, for tests
from: measured
source: this test
gpu: {name: Test GPU, copy_engines: 1, implicit_sync: 0}
link: {kind: pcie, generation: 3, lanes: 16}
copies:
  - direction: HtoD
    memory: pinned
    latency: 10 us
    rate: 10 GB/s
    gap: 2 us
    busy_rate: 8 GB/s
    mapped_rate: 7 GB/s
  - {direction: DtoH, memory: pinned, latency: 8 us, rate: 12.5 GB/s, gap: 2.5 us, busy_rate: 10 GB/s, mapped_rate: 7.5 GB/s}
EOT
sed 's/copy_engines: 1/copy_engines: 2/; s/generation: 3/generation: 6/' node.yaml >two.yaml
sed 's/implicit_sync: 0/implicit_sync: 1/' node.yaml >sync.yaml
sed 's/, gap:[^}]*//; s/copy_engines: 1/copy_engines: 2/' node.yaml >bare.yaml
sed 's/, implicit_sync: 0//' node.yaml >unknown.yaml
sed '/DtoH/d' node.yaml >mute.yaml
sed '/rate: 10 GB/d' node.yaml >slow.yaml
work="--h2d 100MB --d2h 50MB"

echo "== three kinds of device"
try haul overlap --machine ./node.yaml $work --kernel "5 ms" --reads 3
try haul overlap --machine ./two.yaml $work --kernel "5 ms"
try haul overlap --machine ./sync.yaml $work --kernel "50 ms" --streams 4

echo "== the kernel alone, copies alone, one direction, nothing"
try haul overlap --machine ./node.yaml --h2d 0 --d2h 0 --kernel "1 s" --format csv
try haul overlap --machine ./node.yaml $work --kernel "0 s" --format csv
try haul overlap --machine ./node.yaml --h2d 0 --d2h 1GB --kernel "0.1 s" --format csv
try haul overlap --machine ./node.yaml --h2d 0 --d2h 0 --kernel "0 s"

echo "== figures that stand in for missing ones"
try haul overlap --machine ./bare.yaml $work --kernel "5 ms"
try haul overlap --machine gtx-680 --h2d 100MB --d2h 0 --kernel "5 ms" --format csv

echo "== other choices where copies are fast or slow, and on the timeline; no gain worth a word"
doubts() { haul overlap --machine "$1" --h2d "$2" --d2h "$3" --kernel "$4" --reads "$5" | grep 'gain?\|How sure'; }
doubts a100-pcie4 512MiB 512MiB "36 ms" 2
doubts gtx-titan 400MiB 100MiB "30 ms" 1.2
doubts k20 1 1 "5 us" 1

echo "== more than a timeline holds"
try haul overlap --machine ./node.yaml $work --kernel "1e10 s" --format csv

echo "== JSON, to a file"
try haul overlap --machine ./node.yaml $work --kernel "5 ms" --format json -o report.json
cat report.json
if command -v python3 >/dev/null; then
    python3 - <<'EOT'
import json
report = json.load(open("report.json"))
times = {row["strategy"]: row["time_s"] for row in report["strategies"]}
assert report["best"] == min(times, key=times.get)
assert abs(times["explicit"] - (10e-6 + 0.01 + 0.005 + 8e-6 + 0.004)) < 1e-9
assert abs(report["gain"] - times["explicit"] / times[report["best"]]) < 1e-6
assert min(times.values()) >= report["full_overlap_s"]
for row in report["strategies"] + report["next"]["strategies"]:
    low, high = row["interval_s"]
    assert low <= row["time_s"] <= high
    assert row["timeline_s"] <= row["time_s"] * (1 + 1e-6)
assert report["next"]["generation"] == 4
assert len(report["answers"]) == 6
EOT
fi

echo "== products and stencils in tiles"
tiles="--machine ./two.yaml --kernel 3ms"
try haul overlap $tiles --tiles product --size 4096x4096x4096 --tile 1024
try haul overlap $tiles --tiles product --size 4096x4096x4096 --tile 1024 --queue 2 --order depth --format csv
try haul overlap $tiles --tiles stencil --size 16384x16384 --tile 4096x512 --format json
try haul overlap $tiles --tiles stencil --size 16384x16384 --tile 4096x16384 --halo 0 --format csv
try haul overlap $tiles --tiles cube --size 1x1x1 --tile 1
try haul overlap $tiles --tiles product --size 4096x4096 --tile 1024
try haul overlap $tiles --tiles stencil --tile 1x1

echo "== what is missing"
try haul overlap --machine ./unknown.yaml $work --kernel "5 ms"
try haul overlap --machine ./mute.yaml $work --kernel "5 ms"
try haul overlap --machine ./nowhere.yaml $work --kernel "5 ms"

echo "== wrong use"
try haul overlap
try haul overlap --machine ./node.yaml --h2d 1 --kernel "5 ms"
try haul overlap --machine ./node.yaml $work --kernel 5
try haul overlap --machine ./node.yaml $work --kernel "-5 ms"
try haul overlap --machine ./node.yaml $work --kernel "1e300 s"
try haul overlap --machine ./node.yaml --h2d -1 --d2h 1 --kernel "5 ms"
for streams in 0 1.5 65537 -1 four 1e99; do
    haul overlap --machine ./node.yaml $work --kernel "5 ms" --streams $streams 2>&1 | head -n 1
done
try haul overlap --machine ./node.yaml $work --kernel "5 ms" --reads 0.5
try haul overlap --machine ./node.yaml $work --kernel "5 ms" --writes 0
try haul overlap --machine ./node.yaml $work --kernel "5 ms" --writes nan
try haul overlap --machine ./node.yaml $work --kernel "5 ms" --format xml
try haul overlap --machine ./node.yaml $work --kernel "5 ms" more
try haul overlap --machine ./node.yaml $work --kernel "5 ms" --fast
try haul overlap --machine
try haul overlap --machine ./node.yaml $work --kernel "5 ms" -o not/there
haul help overlap | head -n 1
try haul overlap --run sparse --device sim:k20 --size 32
try haul overlap --run nothing --device sim:k20
try haul overlap --run state --device sim:k20 --size 33
try haul overlap --run state --device host
try haul overlap --run state --device sim:none-such

echo "== products of a table"
cat >products.csv <<'END'
name,m,n,k,tile,kernel_s,in_s,out_s,out_after_in
own,4096,4096,4096,1024,0.004,0.0008,0.0007,
held,4096,4096,4096,1024,0.004,0.0008,0.0007,1
machine's,4096,4096,4096,1024,0.004,,,
END
try haul overlap --machine ./two.yaml --tiles product --csv products.csv
try haul overlap --tiles product --csv products.csv
for row in 4096,4096,4096,0,1 4096,4096,4096,1024,-1 1e12,1,1,1,1 4096,4096,4096,1,1; do
    printf 'm,n,k,tile,kernel_s\n%s\n' "$row" >bad.csv
    try haul overlap --machine ./two.yaml --tiles product --csv bad.csv
done
try haul overlap --tiles stencil --csv products.csv
try haul overlap --tiles product --csv products.csv --tile 8
try haul overlap --tiles product --csv products.csv --format json
echo "== small copies: with their latencies they take longer than the kernel, in streams as well"
haul overlap --machine k20 --h2d 4KiB --d2h 4KiB --kernel 2us | sed -n '1,2p'
