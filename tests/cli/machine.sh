# haul machine list, show, check, diff
export HAUL_MACHINES="$data/machines"

echo "== a machine is shown, with where each figure is from"
try haul machine show test-node
try haul machine show test-node --format csv
try haul machine show test-node --format json

echo "== by its name or by its file, to a file"
try haul machine show "$data/machines/test-node.yaml" -o shown
try haul machine show test-node -o shown-again
try cmp shown shown-again

echo "== the list has those of HAUL_MACHINES and of the catalogue"
haul machine list | grep '^test-'
haul machine list | grep -c '^gtx-titan '
haul machine list --format json | grep -A4 '"test-twin"'
HAUL_MACHINES=. haul machine list --format csv | grep -c '^test-'

echo "== what differs"
try haul machine diff test-node test-twin
try haul machine diff test-node test-twin --format csv
try haul machine diff test-node test-twin --format json
try haul machine diff test-node test-node

echo "== files are checked, the first error of each told"
cp "$data/machines/test-node.yaml" fine.yaml
sed 's/11 GB/11 GHz/' fine.yaml >unit.yaml
sed 's/generation: 4, //' fine.yaml >missing.yaml
sed 's/clock/clcok/' fine.yaml >unknown.yaml
sed 's/1.3 us/-1.3 us/' fine.yaml >negative.yaml
sed '/^from/d' fine.yaml >nowhere.yaml
head -c 600 fine.yaml >cut.yaml
: >empty.yaml
try haul machine check fine.yaml
try haul machine check unit.yaml missing.yaml unknown.yaml negative.yaml nowhere.yaml cut.yaml \
    empty.yaml fine.yaml not-there.yaml

echo "== values that contradict each other"
cat >wrong.yaml <<'EOF'
haul: 1
name: wrong
summary: a bus, products and links that cannot be
from: measured
gpu:
  architecture: volta
  cores: 64
  multiprocessors: 80
  clock: 1.53 GHz
  memory_bandwidth: 900 GB/s
  memory_bus: 4096
  memory_data_rate: 2.4 GHz
  fp32: 15.7 Tflop/s
  tensor_fp16: 125 Tflop/s
  product_fp32: 19 Tflop/s
  product_fp16: 130 Tflop/s
  stream_bandwidth: 910 GB/s
link: {kind: pcie, generation: 5, lanes: 12}
peer: {kind: nvlink, links: 2, link_rate: 50 GB/s}
messages:
  - {memory: host, reach: network, above: 0 B, latency: 1 us, rate: 3 GB/s}
  - {memory: host, reach: network, above: 8 KiB, latency: 5 us, rate: 23 GB/s}
injection:
  - {memory: host, processes: 1, rate: 11.6 GB/s}
EOF
try haul machine check wrong.yaml

echo "== a measured machine is shared, and checked as one that joins the catalogue"
measured=$data/../../../docs/measured/h100-80gb-hbm3.yaml
try haul machine share "$measured" --cpu 'two EPYC 9334' --name h100-epyc -o shared.yaml
head -n 6 shared.yaml
try haul machine check --as-new shared.yaml
sed 's/^copies:/link: {kind: pcie, generation: 5, lanes: 16, from: datasheet, source: its slot}\n&/' \
    shared.yaml >whole.yaml
try haul machine check --as-new whole.yaml
sed 's/^  clock: .*/  clock: 5 GHz/' whole.yaml >fast.yaml
try haul machine check --as-new fast.yaml
try haul machine check --as-new "$data/machines/test-node.yaml"

echo "== and is the same when it is shared again"
for file in "$data"/../../../docs/measured/*.yaml whole.yaml; do
    haul machine share "$file" --cpu one 2>/dev/null >once.yaml
    haul machine share ./once.yaml --cpu one 2>/dev/null | cmp - once.yaml && haul machine diff "$file" ./once.yaml
done

echo "== nothing private is"
sed 's/its slot/as seen by somebody in the lab/' whole.yaml >private.yaml
try env USER=somebody haul machine share ./private.yaml
env USER=nobody HOME=/home/of/nobody haul machine share ./whole.yaml | grep -c nobody

echo "== wrong use"
try haul machine
try haul machine sow
try haul machine show
try haul machine show test-node test-twin
try haul machine show test-nod
try haul machine show ./nowhere.yml
try haul machine show qqq
try haul machine show test-node --format xml
try haul machine show test-node --fromat json
try haul machine show test-node -o
try haul machine show test-node -o not/there
try haul machine diff test-node
try haul machine check
try haul machine list test-node
try haul help machine
try haul help machine nope
try haul help machine fit
try haul machine show ./fine.yaml -o fine.yaml
