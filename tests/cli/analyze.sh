# haul analyze, haul --version
echo "== a page"
try haul analyze "$profile"

echo "== CSV"
try haul analyze "$profile" --format csv

echo "== JSON, to a file"
try haul analyze --format json -o report.json "$profile"
head -23 report.json
if command -v python3 >/dev/null; then
    python3 -m json.tool report.json >/dev/null || echo "not JSON"
fi

echo "== the replay"
try haul analyze "$profile" --replay
try haul analyze "$profile" --replay --format json

echo "== wrong use"
try haul analyze
try haul analyze "$profile" --format yaml
try haul analyze "$profile" --form
try haul analyze "$profile" -o
cp "$profile" mine.sqlite
chmod +w mine.sqlite
try haul analyze mine.sqlite -o ./mine.sqlite
try cmp "$profile" mine.sqlite

echo "== what is no profile"
try haul analyze nowhere.sqlite
: >empty
try haul analyze empty
echo "start,end" >text.sqlite
try haul analyze text.sqlite
head -c 9000 "$profile" >cut.sqlite
try haul analyze cut.sqlite
try haul analyze .

echo "== what can be read is answered for"
haul analyze nowhere.sqlite "$profile" empty >report.txt
echo "exit $?"
head -1 report.txt

echo "== what cannot be written"
try haul analyze "$profile" -o nowhere/report
if [ -w /dev/full ]; then
    try haul analyze "$profile" -o /dev/full
else
    echo '$ haul analyze PROFILE -o /dev/full'
    echo "haul: cannot write '/dev/full': No space left on device"
    echo "exit 3"
fi

echo "== a closed pipe is no news"
haul analyze "$profile" --format json | head -1

echo "== the version"
haul --version | sed -e 's/ [0-9][0-9.]*[^ ]* */ N /' -e 's/absent  */N /'
# a full disk is an error for help, too; two outputs are never one file behind a link
haul help analyze >/dev/full
echo "exit $?"
haul machine list --help >/dev/full
echo "exit $?"
ln -s one.txt other.txt
try haul analyze "$profile" -o one.txt --html other.txt
[ ! -e one.txt ] && echo "nothing written"

echo "== a part of a profile: ranges, a device, a window"
python3 - >ranges.json <<'EOF'
import json
events, at = [], 0
for step in range(3):
    events.append({"ph": "X", "cat": "user_annotation", "name": "step", "pid": 1, "tid": 1,
                   "ts": at, "dur": 90})
    for part, name in enumerate(("load", "train")):
        start, call = at + 45 * part, 10 * step + part
        events.append({"ph": "X", "cat": "user_annotation", "name": name, "pid": 1, "tid": 1,
                       "ts": start, "dur": 40})
        ids = {"correlation": call + 1}
        copies = name == "load"
        events.append({"ph": "X", "cat": "cuda_runtime", "pid": 1, "tid": 1, "ts": start + 5,
                       "name": "cudaMemcpyAsync" if copies else "cudaLaunchKernel", "dur": 5,
                       "args": ids})
        work = dict(ids, stream=7, device=0)
        if copies:
            work["bytes"] = 300000
        else:
            work.update(grid=[1, 1, 1], block=[32, 1, 1])
        events.append({"ph": "X", "cat": "gpu_memcpy" if copies else "kernel", "pid": 0, "tid": 7,
                       "name": "Memcpy HtoD (Pinned -> Device)" if copies else "k", "ts": start + 12,
                       "dur": 20 + step, "args": work})
    at += 100
print(json.dumps({"schemaVersion": 1, "traceEvents": events}))
EOF
haul analyze ranges.json | sed -n '/^Range/,/^$/p'
try haul analyze ranges.json --range load --format csv
haul project ranges.json --from "$data/recorder.yaml" --to a100-pcie4 --range load | head -3
haul analyze ranges.json --range load --perfetto part.json --html part.html -o part.txt
grep -c '"cat":"range","name":"load"' part.json
grep -c '"cat":"kernel"' part.json
haul analyze ranges.json --html all.html -o part.txt
grep -c '"k"' all.html part.html # a kernel that only the other range has
haul analyze ranges.json --from-time 100us --to-time 200us | head -1
haul analyze ranges.json --device 0 --top 1 | head -1
try haul analyze ranges.json --range lood
try haul analyze ranges.json --device 3
try haul analyze ranges.json --device first
try haul analyze ranges.json --from-time 2s --to-time 1s

echo "== kernels and copies by where they come from"
try haul analyze "$profile" --by kernel
try haul analyze "$profile" --by operator
try haul analyze "$profile" --by range --format csv
try haul analyze "$profile" --by stream
