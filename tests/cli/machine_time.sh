# haul machine time
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
link: {kind: pcie, generation: 3, lanes: 16, payload: 256 B, ack_share: 9.6 %}
copies:
  - direction: HtoD
    memory: pinned
    from: measured
    source: this test
    latency: 1 us
    call_latency: 7 us
    rate: 12 GB/s
  - {direction: DtoH, memory: pinned, from: scaled, source: another, latency: 2 us}
  - {direction: HtoD, memory: pinned, locality: far, from: measured, source: t, latency: 2 us, rate: 4 GB/s}
EOF
node=$PWD/node.yaml

echo "== one copy"
try haul machine time "$node" --direction HtoD --memory pinned --bytes 12MB
try haul machine time "$node" --direction htod --memory pinned --bytes 12MB --format csv
try haul machine time "$node" --direction HtoD --memory pinned --bytes 12MB --format json -o one.json
try cat one.json
try haul machine time "$node" --direction HtoD --memory pinned --bytes 12MB --locality far
try haul machine time "$node" --direction HtoD --memory pinned --bytes 12MB --clock host
try haul machine time "$node" --direction DtoH --memory pinned --bytes 12MB
try haul machine time "$node" --direction HtoD --memory pageable --bytes 12MB
try haul machine time "$node" --direction DtoD --bytes 64MiB
try haul machine time "$node"
try haul machine time "$node" --direction h2d --memory pin --format csv
try haul machine time "$node" --direction p2p

echo "== by another model"
try haul machine time --model list
for model in curve packet staged ahead peak envelope; do
    try haul machine time "$node" --direction HtoD --memory pinned --bytes 12MB --model $model --format csv
done
try haul machine time "$node" --direction HtoD --memory pinned --bytes 12MB --model packt

echo "== by one's own"
cp "$example" own.so
cp "$broken/broken-5.so" nan.so
cp "$broken/broken-2.so" abi.so
for model in own.so ./own.so nan.so abi.so; do
    try haul machine time "$node" --direction HtoD --memory pinned --bytes 1MiB --model $model
done
haul machine time "$node" --direction HtoD --memory pinned --bytes 1MiB --model absent.so 2>&1 |
    grep -o 'cannot load model'

echo "== many"
cat >copies.csv <<'EOF'
note,bytes,direction,host_memory,seconds
"a ""large"", one",12 MB,HtoD,pinned,1.0e-3
, 0 ,DtoD,,0
EOF
try haul machine time "$node" --csv copies.csv
try haul machine time "$node" --csv copies.csv --format table
try haul machine time "$node" --csv - --model envelope <copies.csv
gzip -c copies.csv >copies.csv.gz
haul machine time "$node" --csv copies.csv.gz | cksum
haul machine time "$node" --csv copies.csv | cksum
printf 'direction,bytes\nHtoD,1\n' >columns.csv
printf 'direction,host_memory,bytes\nHtoD,pinned,1\nHtoD,paged,1\n' >memory.csv
printf 'direction,host_memory,bytes\nHtoD,,1\n' >nomemory.csv
printf 'direction,host_memory,bytes\nHtoD,pinned,1\nHtoD,pinned,-1\n' >bytes.csv
printf 'direction,host_memory,bytes\nHtoD,pinned,1\nPtoP,,1\n' >peer.csv
for file in columns memory nomemory bytes peer absent; do
    try haul machine time "$node" --csv $file.csv
done

echo "== wrong use, and what is missing"
try haul machine time
try haul machine time "$node"
try haul machine time "$node" --direction HtoD --bytes 1
try haul machine time "$node" --direction sideways --memory pinned --bytes 1
try haul machine time "$node" --direction HtoD --memory pinned --bytes 1.5
try haul machine time "$node" --direction HtoD --memory pinned --bytes 64XB
try haul machine time "$node" --direction HtoD --memory pinned --bytes 1 --clock wall
try haul machine time "$node" --direction HtoD --memory pinned --bytes 1 --csv copies.csv
try haul machine time "$node" "$node" --direction HtoD --memory pinned --bytes 1
try haul machine time "$node" --wrong
try haul machine time nowhere --direction HtoD --memory pinned --bytes 1
try haul machine time "$node" --direction PtoP --bytes 1
try haul machine time "$node" --direction DtoH --memory pinned --bytes 1 --clock host
haul machine time --help | head -2
