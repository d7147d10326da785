# haul comm
# two protocols between nodes, one within; the second system's rows are not to be mixed in
{
    echo "system,mem,locality,bytes,min_s"
    for bytes in 8 64 512 1024 2048 4096 8192 16384 65536 262144 1048576; do
        awk -v n=$bytes 'BEGIN {
            printf "a,cpu,network,%d,%.9e\n", n, n < 8192 ? 1.5e-6 + n / 3e9 : 6e-6 + n / 12e9
            printf "a,cpu,socket,%d,%.9e\n", n, 4e-7 + n / 20e9
            printf "a,gpu,network,%d,%.9e\n", n, 6e-6 + n / 9e9
            printf "b,cpu,network,%d,%.9e\n", n, 3e-5 + n / 1.2e9
        }'
    done
} >pairs.csv
{
    echo "mem,ppn,bytes,seconds"
    for p in 1 2 4 8; do
        awk -v p=$p 'BEGIN { r = p * 11e9; if (r > 24e9) r = 24e9; printf "cpu,%d,1048576,%.9e\n", p, 6e-6 + p * 1048576 / r }'
    done
} >rates.csv
{
    echo "mem,n_msgs,bytes_per_msg,min_s"
    for n in 1 2 4 8; do
        awk -v n=$n 'BEGIN { printf "cpu,%d,64,%.9e\n", n, 1.5e-6 + 64 / 3e9 + (n - 1) * (5e-7 + 64 / 3e9) }'
    done
} >many.csv
{
    echo "kind,n_procs,bytes_each,min_s"
    for n in 1 2 3 4; do
        for bytes in 1024 65536 1048576; do
            awk -v n=$n -v b=$bytes 'BEGIN {
                t = n == 1 ? 1e-5 + b / 4e10 : 1e-5 + 4e-6 * (n - 1) + n * b / 2.5e10
                printf "h2d,%d,%d,%.9e\nd2h,%d,%d,%.9e\n", n, b, t, n, b, t
            }'
        done
    done
} >copies.csv

echo "== protocols are found, and written as a machine"
try haul comm fit --system a pairs.csv rates.csv many.csv copies.csv --name two-protocols -o made.yaml
cat made.yaml
try haul machine show made.yaml --format csv
echo "== copies by several processes that take turns at small sizes"
awk -F, 'NR > 1 && $2 > 1 && $3 < 65536 { $4 = 830e-6 } { print $1 "," $2 "," $3 "," $4 }' copies.csv >turns.csv
try haul comm fit turns.csv --verbose
echo "== switches as published, least squares in seconds"
try haul comm fit --system a pairs.csv --switches 8192 --residuals absolute
try haul comm fit --system a pairs.csv --switches none
echo "== text of other benchmarks"
printf '# OSU MPI Bandwidth Test v7.0\n# Size      Bandwidth (MB/s)\n1024  900.0\n1048576  11000.0\n' >osu.txt
try haul comm fit osu.txt --verbose
cat >imb.txt <<'END'
#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part
#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         1.00         0.00
         1024         1000         1.20       853.33
        65536          640         9.00      7281.78
      1048576           40       130.00      8065.97

#-----------------------------------------------------------------------------
# Benchmarking Sendrecv
# #processes = 2
#-----------------------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
            0         1000         3.00         3.00         3.00         0.00
         1024         1000        99.00        99.00        99.00        20.69

# All processes entering MPI_Finalize
END
try haul comm fit imb.txt --verbose
cat >osu-collective.txt <<'END'
# OSU MPI-CUDA Allreduce Latency Test v7.5
# Datatype: MPI_INT.
# Size       Avg Latency(us)
1024                   20.00
65536                  30.00
1048576               100.00
16777216             1000.00
END
try haul comm fit osu-collective.txt
try haul comm fit osu-collective.txt --processes 8 --reach node --machine a100-sxm4 -o osu-collective.yaml
try haul comm predict osu-collective.yaml --all-reduce --gpus 8 --bytes 1MiB
sed 's/PingPong/Alltoall/' imb.txt >imb-other.txt
try haul comm fit imb-other.txt
cat >imb-gpu.txt <<'END'
#    Intel(R) MPI Benchmarks 2021.7, MPI-1 part (GPU)
# Benchmarking Alltoall
# #processes = 4
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            0         1000         0.05         0.07         0.06
         1024         1000        20.00        22.00        21.00
        65536          640        40.00        42.00        41.00
      1048576           40       300.00       302.00       301.00
END
try haul comm fit imb-gpu.txt --benchmark Alltoall
try haul comm fit imb-gpu.txt --benchmark Alltoall --memory device --reach node
echo "== the best way of an exchange"
cat >node.yaml <<'END'
haul: 1
name: node
summary: a node that is not, for tests
from: measured
host: {sockets: 2, cores: 16}
gpu: {count: 4}
copies:
  - {direction: HtoD, memory: pinned, latency: 1 us, call_latency: 9 us, rate: 40 GB/s, shared_latency: 4 us, shared_rate: 25 GB/s}
  - {direction: DtoH, memory: pinned, latency: 1 us, call_latency: 9 us, rate: 40 GB/s, shared_latency: 4 us, shared_rate: 25 GB/s}
messages:
  - {memory: host, reach: network, above: 0 B, latency: 1.5 us, rate: 3 GB/s, gap: 0.5 us, error: 0.01}
  - {memory: host, reach: network, above: 8 KiB, most: 1 MiB, latency: 6 us, rate: 12 GB/s, gap: 2 us, error: 0.01}
  - {memory: host, reach: socket, above: 0 B, most: 1 MiB, latency: 0.4 us, rate: 20 GB/s, error: 0.01}
  - {memory: host, reach: node, above: 0 B, most: 1 MiB, latency: 0.8 us, rate: 10 GB/s, error: 0.01}
  - {memory: device, reach: network, above: 0 B, most: 1 MiB, latency: 6 us, rate: 9 GB/s, gap: 5 us, error: 0.02}
  - {memory: device, reach: socket, above: 0 B, most: 1 MiB, latency: 17 us, rate: 45 GB/s, error: 0.02}
  - {memory: device, reach: node, above: 0 B, most: 1 MiB, latency: 18 us, rate: 40 GB/s, error: 0.02}
injection:
  - {memory: host, processes: 1, rate: 11 GB/s}
  - {memory: host, processes: 4, rate: 20 GB/s}
  - {memory: host, processes: 16, rate: 24 GB/s}
END
try haul comm predict ./node.yaml --bytes 4KiB --messages 7
try haul comm predict ./node.yaml --bytes 4KiB --messages 7 --unique-bytes 4KiB --format csv
try haul comm predict ./node.yaml --bytes 8KiB --all-to-allv --nodes 8
try haul comm predict ./node.yaml --bytes 4MiB
printf '0 1000 1000 1000\n0 0 0 0\n0 0 0 0\n0 0 0 0\n' >counts.txt
try haul comm predict ./node.yaml --all-to-allv --counts counts.txt --nodes 1 --format csv
try haul comm predict ./node.yaml --bytes 4MiB --kernel 400us --format csv
try haul comm predict ./node.yaml --bytes 64KiB --all-to-allv --pattern neighbours --nodes 4 --format csv
try haul comm predict ./node.yaml --bytes 8 --all-to-all --nodes 2 --gpus 1 --goal plan.goal --path 3-step --format csv
try cat plan.goal
try haul comm platform ./node.yaml --nodes 4
try haul comm predict ./node.yaml --bytes 64KiB --curve --format csv
echo "== curves"
try haul comm curves ./node.yaml --html curves.html --format csv
try haul comm curves ./node.yaml --table split
try haul comm curves ./node.yaml --table gain
grep -c '<svg' curves.html
sed '/memory: device/d; /copies:/d; /shared_latency/d' node.yaml >hosts.yaml
try haul comm curves ./hosts.yaml --html curves.html --table direct
grep -c '<svg' curves.html
sed '/cores:/d' hosts.yaml >one.yaml
haul comm curves ./one.yaml | head -n 2
try haul comm curves k40
echo "== collectives of GPUs"
try haul comm predict a100-sxm4-40gb --all-reduce --bytes 8MiB
try haul comm predict v100-sxm2 --collective broadcast --gpus 4 --bytes 1KiB --format csv
try haul comm predict summit --collective all-to-all --nodes 4 --bytes 1MiB --curve --format csv
try haul comm predict a100-sxm4-40gb --all-reduce --bytes 8MiB --nodes 2
try haul comm predict t4 --all-reduce --bytes 8MiB
try haul comm predict a100-sxm4-40gb --all-reduce --collective reduce --bytes 8MiB
echo "== what lacks, and how it is measured"
grep -v 'reach: socket' node.yaml >lacking.yaml
try haul comm predict ./lacking.yaml --bytes 4KiB --messages 7
sed 's/, shared_latency.*}/}/' node.yaml >unshared.yaml
try haul comm predict ./unshared.yaml --bytes 4KiB --messages 7
sed '/reach: network/d' node.yaml >within.yaml
try haul comm platform ./within.yaml
try haul comm predict ./within.yaml --bytes 4KiB --goal lacking.goal --path 3-step
sed '/copies:/d; /shared_latency/d' node.yaml >no-copies.yaml
try haul comm predict ./no-copies.yaml --bytes 4KiB --goal lacking.goal --path 3-step
grep -v -e reach: -e injection -e processes: -e messages: no-copies.yaml >bare.yaml
try haul comm predict ./bare.yaml --all-reduce --bytes 1MiB
echo "== what is wrong"
try haul comm fit pairs.csv
try haul comm fit --system c pairs.csv
try haul comm fit --system a pairs.csv --switches 8192,1024
try haul comm fit
try haul comm predict ./node.yaml
try haul comm predict k40 --bytes 1KiB
try haul comm predict ./node.yaml --all-to-allv --counts counts.txt
