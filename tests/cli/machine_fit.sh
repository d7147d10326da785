# haul machine fit
# a line with a jump at 64 KiB, two sizes measured twice
{
    echo "direction,host_memory,bytes,seconds"
    for bytes in 1024 4096 16384 65536 65537 131072 1048576 4194304 16777216 67108864; do
        awk -v n=$bytes 'BEGIN {
            t = n <= 65536 ? 2e-6 + n / 4e9 : 20e-6 + n / 8e9
            printf "DtoH,pageable,%d,%.9e\n", n, t
            if (n == 1024) printf "DtoH,pageable,%d,%.9e\n", n, 1.2 * t
        }'
    done
    for bytes in 1 1024 1048576 16777216 268435456; do
        awk -v n=$bytes 'BEGIN { printf "HtoD,pinned,%d,%.9e\n", n, 9.42e-6 + n * 8.318392e-11 }'
    done
} >copies.csv
sed 's/HtoD/htod/; s/e-06/e-05/' copies.csv | grep -v DtoH >far.csv
cat >nvbandwidth.json <<'EOF'
{"nvbandwidth": {"testcases": [
    {"name": "host_to_device_memcpy_ce", "bandwidth_matrix": [["25.0"]]},
    {"name": "device_to_host_memcpy_ce", "bandwidth_matrix": [["26.0", "N/A"]]}]}}
EOF
cat >scope.json <<'EOF'
{"context": {}, "benchmarks": [
    {"name": "Comm_cudaMemcpyAsync_GPUToPinned/0/0/log2(N):10/manual_time",
     "real_time": 2000, "time_unit": "ns", "bytes": 1024},
    {"name": "Comm_cudaMemcpyAsync_GPUToPinned/0/0/log2(N):20/manual_time",
     "real_time": 102, "time_unit": "us", "bytes": 1.048576e+06}]}
EOF

echo "== a machine of its own"
try haul machine fit copies.csv -o fitted.yaml
try cat fitted.yaml
try haul machine check fitted.yaml
haul machine time ./fitted.yaml --direction HtoD --memory pinned --bytes 64MiB --format csv
haul machine time ./fitted.yaml --direction DtoH --memory pageable --bytes 32KiB --format csv

echo "== figures and formats as asked"
try haul machine fit copies.csv -o a.yaml --name other-name --points 2 --format csv
head -2 a.yaml
haul machine fit scope.json --far far.csv -o far.yaml --format json | grep -v -e wape -e median -e p90
cat far.yaml
try haul machine fit scope.json nvbandwidth.json -o - --format csv

echo "== into a machine that has other figures"
haul machine fit nvbandwidth.json -o into.yaml --machine "$data/machines/test-node.yaml"
haul machine diff "$data/machines/test-node.yaml" ./into.yaml
haul machine fit copies.csv -o into.yaml --machine "$data/machines/test-node.yaml" >fits
haul machine diff "$data/machines/test-node.yaml" ./into.yaml

echo "== wrong use, wrong files"
try haul machine fit --help
try haul machine fit
try haul machine fit copies.csv
try haul machine fit copies.csv -o
try haul machine fit copies.csv -o x.yaml --points 17
try haul machine fit copies.csv -o x.yaml --points four
try haul machine fit copies.csv -o x.yaml --format xml
try haul machine fit copies.csv -o x.yaml --quickly
try haul machine fit copies.csv -o Bad_Name.yaml
try haul machine fit copies.csv -o x.yaml --machine no-such-machine
try haul machine fit no.csv -o x.yaml
sed '4s/,[0-9.e+-]*$/,fast/' copies.csv >wrong.csv
try haul machine fit wrong.csv -o x.yaml
printf '{"benchmarks": [{"name": ]}' >wrong.json
try haul machine fit wrong.json -o x.yaml
try ls

echo "== with the other direction busy, and in a row"
{
    echo "direction,host_memory,bytes,seconds,condition"
    for bytes in 1024 1048576 67108864; do
        awk -v n=$bytes 'BEGIN {
            printf "HtoD,pinned,%d,%.9e,alone\n", n, 2e-6 + n / 12e9
            printf "HtoD,pinned,%d,%.9e,busy\n", n, 2e-6 + n / 9e9
            printf "HtoD,pinned,%d,%.9e,mapped\n", n, 2e-6 + n / 5e9
            printf "HtoD,pinned,%d,%.9e,gap\n", n, 3e-6
        }'
    done
} >both.csv
try haul machine fit both.csv -o both.yaml
grep -e rate: -e gap: -A 1 both.yaml
cat >both.json <<'EOF'
{"nvbandwidth": {"testcases": [
    {"name": "host_to_device_bidirectional_memcpy_ce", "bandwidth_matrix": [["18.5"]]},
    {"name": "device_to_device_bidirectional_memcpy_read_ce", "bandwidth_matrix": [["500"]]},
    {"name": "device_to_host_bidirectional_memcpy_ce", "bandwidth_matrix": [["19.5"]]}]}}
EOF
haul machine fit both.json -o into.yaml --machine "$data/machines/test-node.yaml"
haul machine diff "$data/machines/test-node.yaml" ./into.yaml
sed 's/busy/at once/' both.csv >wrong.csv
try haul machine fit wrong.csv -o none.yaml
