# haul kernel: what profilers count
cat >board.yaml <<'END'
haul: 1
name: board
summary: a board that is not, for tests
from: datasheet
source: the maker's sheet
gpu:
  name: Test Board
  architecture: kepler
  multiprocessors: 10
  cores: 100
  clock: 1 GHz
  memory_bandwidth: 200 GB/s
  fp32: 2 Tflop/s
  l2: 1 MiB
  launch_latency: 2 us
END

# The ends of the intervals follow what the models were measured to reach (docs/accuracy.md): left out.
try_inner()
{
    echo "\$ $*"
    case $* in
    *csv*) "$@" | cut -d , -f 1-5,8- ;;
    *) "$@" | sed 's/ ([0-9.]* [mun]*s to [0-9.]* [mun]*s)//' ;;
    esac
}

echo "== nvprof: a trace, whose units change, and metrics of it"
cat >trace.csv <<'END'
==42== NVPROF is profiling process 42, command: ./scale
==42== Profiling result:
"Start","Duration","Grid X","Grid Y","Grid Z","Block X","Block Y","Block Z","Registers Per Thread","Static SMem","Dynamic SMem","Size","Throughput","Device","Context","Stream","Name"
ms,us,,,,,,,,B,B,KB,GB/s,,,,
1.000000,3.500000,,,,,,,,,,256.000000,6.000000,"Test Board (0)","1","7","[CUDA memcpy HtoD]"
2.000000,107.000000,4096,1,1,256,1,1,10,0,0,,,"Test Board (0)","1","7","scale(float*, float) [99]"
==43== Profiling result:
"Start","Duration","Grid X","Grid Y","Grid Z","Block X","Block Y","Block Z","Registers Per Thread","Static SMem","Dynamic SMem","Size","Throughput","Device","Context","Stream","Name"
s,ms,,,,,,,,B,B,MB,GB/s,,,,
3.000000,0.109000,4096,1,1,256,1,1,10,0,0,,,"Test Board (0)","1","7","scale(float*, float) [99]"
END
cat >metrics.csv <<'END'
==44== NVPROF is profiling process 44, command: ./scale
==44== Profiling result:
==44== Event result:
"Device","Kernel","Invocations","Event Name","Min","Max","Avg"
"Test Board (0)","scale(float*, float)",1,"gld_request",32768,32768,32768
"Test Board (0)","scale(float*, float)",1,"gst_request",32768,32768,32768
"Test Board (0)","scale(float*, float)",1,"thread_inst_executed",4194304,4194304,4194304
==44== Metric result:
"Device","Kernel","Invocations","Metric Name","Metric Description","Min","Max","Avg"
"Test Board (0)","scale(float*, float)",1,"l2_l1_read_hit_rate","L2 Hit Rate (L1 Reads)",50.000000%,50.000000%,50.000000%
"Test Board (0)","scale(float*, float)",1,"dram_read_transactions","Device Memory Read Transactions",131072,131072,131072
"Test Board (0)","scale(float*, float)",1,"dram_write_transactions","Device Memory Write Transactions",131072,131072,131072
"Test Board (0)","scale(float*, float)",1,"flop_count_sp","Floating Point Operations(Single Precision)",1048576,1048576,1048576
END
try haul kernel fit trace.csv metrics.csv --machine ./board.yaml --size 1048576 -o fitted.yaml
try cat fitted.yaml
try_inner haul kernel predict fitted.yaml --machine ./board.yaml --size 1048576 --format csv
try haul kernel predict fitted.yaml --machine ./board.yaml --size 2097152

echo "== Nsight Compute, two sizes"
ncu()
{
    cat <<END
==PROF== Connected to process 7 (/tmp/scale)
==PROF== Profiling "scale" - 0: 0%....50%....100% - 8 passes
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"0","7","scale","127.0.0.1","scale(float *, float)","1","7","(256, 1, 1)","($1, 1, 1)","0","3.5","Command line profiler metrics","dram__bytes_read.sum","Mbyte","$2"
"0","7","scale","127.0.0.1","scale(float *, float)","1","7","(256, 1, 1)","($1, 1, 1)","0","3.5","Command line profiler metrics","dram__bytes_write.sum","Mbyte","$2"
"0","7","scale","127.0.0.1","scale(float *, float)","1","7","(256, 1, 1)","($1, 1, 1)","0","3.5","Command line profiler metrics","gpu__time_duration.sum","usecond","$3"
"0","7","scale","127.0.0.1","scale(float *, float)","1","7","(256, 1, 1)","($1, 1, 1)","0","3.5","Command line profiler metrics","lts__t_sector_hit_rate.pct","%","50"
"0","7","scale","127.0.0.1","scale(float *, float)","1","7","(256, 1, 1)","($1, 1, 1)","0","3.5","Command line profiler metrics","smsp__inst_executed.sum","inst","$4"
"0","7","scale","127.0.0.1","scale(float *, float)","1","7","(256, 1, 1)","($1, 1, 1)","0","3.5","Command line profiler metrics","smsp__inst_executed_op_global_ld.sum","inst","$5"
"0","7","scale","127.0.0.1","scale(float *, float)","1","7","(256, 1, 1)","($1, 1, 1)","0","3.5","Command line profiler metrics","smsp__inst_executed_op_global_st.sum","inst","$5"
==PROF== Disconnected from process 7
END
}
ncu 4096 4.194304 "107.5" "131,072" "32,768" >one.csv
ncu 65536 67.108864 "1,690" "2,097,152" "524,288" >two.csv
try haul kernel fit one.csv two.csv --machine ./board.yaml --size 1048576,16777216 -o fitted.yaml
try tail -n 4 fitted.yaml
try_inner haul kernel predict fitted.yaml --machine ./board.yaml --size 1048576 4194304 --format csv
try_inner haul kernel explain fitted.yaml --machine ./board.yaml --size 4194304

echo "== Nsight Compute's raw page: units below the heads, the program's own lines above"
raw()
{
    cat <<END
checksum 1,2,3
==PROF== Disconnected from process 7
"ID","Kernel Name","Block Size","Grid Size","Device","CC","dram__bytes_read.sum",$1"smsp__inst_executed.sum","smsp__inst_executed_op_global_ld.sum","smsp__inst_executed_op_global_st.sum"
"","","","","","","Mbyte",$2"inst","inst","inst"
"0","scale(float *, float)","(256, 1, 1)","(4096, 1, 1)","0","3.5","8.39",$3"131,072","32,768","32,768"
END
}
raw '"gpu__time_duration.sum",' '"us",' '"1,107.5",' >raw.csv
try haul kernel fit raw.csv --machine ./board.yaml --size 1048576 -o fitted.yaml
try tail -n 1 fitted.yaml
raw '' '' '' >raw.csv
printf 'kernel,n,time_us\nscale,1048576,1107.5\n' >apart.csv
try haul kernel fit raw.csv apart.csv --machine ./board.yaml --size 1048576 -o fitted.yaml
try tail -n 1 fitted.yaml

echo "== nvprof's metrics of each launch"
cat >each.csv <<'END'
==45== Profiling result:
"Device","Context","Stream","Kernel","Correlation_ID","inst_executed","gld_request","gst_request","l2_l1_read_hit_rate"
,,,,,,,,"%"
"Test Board (0)","1","7","scale(float*, float) [99]",99,131072,32768,32768,50.000000
END
try haul kernel fit trace.csv each.csv --machine ./board.yaml --size 1048576 -o fitted.yaml
try tail -n 1 fitted.yaml

echo "== names that are alike for a hundred letters"
long=$(printf 'k%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30)
long=$long$long$long$long
{
    echo "kernel,n,time_us,grid_x,block_x,inst_executed,gld_request,gst_request"
    for name in "${long}a" "${long}b" "${long}a"; do
        echo "$name,1048576,100,4096,256,131072,32768,32768"
    done
} >long.csv
try haul kernel fit long.csv --machine ./board.yaml --format csv

echo "== more than a fitted kernel holds"
awk 'BEGIN { print "kernel,n,time_us,grid_x,block_x,inst_executed,gld_request,gst_request"
    for (i = 0; i < 10001; i++) print "scale,1048576,100,4096,256,131072,32768,32768" }' >many.csv
try haul kernel fit many.csv --machine ./board.yaml -o many.yaml

echo "== sizes in blocks of several shapes are kernels of their own"
cat >shapes.csv <<'END'
kernel,n,time_us,grid_x,block_x,block_y,inst_executed,gld_request,gst_request
scale,65536,10,256,16,16,8192,2048,2048
scale,65536,20,256,256,1,8192,2048,2048
scale,1048576,107,4096,16,16,131072,32768,32768
scale,1048576,214,4096,256,1,131072,32768,32768
END
try haul kernel fit shapes.csv --machine ./board.yaml
try haul kernel fit shapes.csv --machine ./board.yaml -o fitted.yaml
try haul kernel fit shapes.csv --machine ./board.yaml --block 16x16 --format csv -o fitted.yaml
try tail -n 2 fitted.yaml
try haul kernel fit shapes.csv --machine ./board.yaml --block 8x8
try haul kernel fit shapes.csv --machine ./board.yaml --block 16*16
try haul kernel fit shapes.csv --machine ./board.yaml --block 16x
try haul kernel predict fitted.yaml --machine ./board.yaml --size 65536 --block 16x16

echo "== one shape at each size: one kernel, whatever its blocks"
grep -v '^scale,65536,20\|^scale,1048576,107' shapes.csv >autotuned.csv
try haul kernel fit autotuned.csv --machine ./board.yaml --format csv

echo "== what is missing"
try haul kernel fit metrics.csv --machine ./board.yaml --size 1048576
try haul kernel fit trace.csv --machine ./board.yaml --size 1048576
try haul kernel fit trace.csv metrics.csv --machine ./board.yaml
grep -v gst_request metrics.csv >part.csv
try haul kernel fit trace.csv part.csv --machine ./board.yaml --size 1048576
sed 's/"1,690"/"1,690 furlongs"/' two.csv >wrong.csv
try haul kernel fit wrong.csv --machine ./board.yaml --size 1048576
sed 's/^s,ms/s,parsecs/' trace.csv >wrong.csv
try haul kernel fit wrong.csv metrics.csv --machine ./board.yaml --size 1048576

echo "== Nsight Compute, two kernels: one is chosen by its name; its own choice of metrics is read"
{ cat one.csv; sed 's/scale(/other(/; s/"0","7"/"1","7"/' one.csv | tail -n +4; } >both.csv
try haul kernel fit both.csv --machine ./board.yaml --size 1048576 -o fitted.yaml
try haul kernel fit both.csv --machine ./board.yaml --size 1048576 --kernel other -o fitted.yaml
try haul kernel fit both.csv --machine ./board.yaml --size 1048576 --kernel 'void other<float>(float*)'
try haul kernel fit both.csv --machine ./board.yaml --size 1048576 --kernel neither
sed 's/other(/void (anonymous namespace)::other<8>(/' both.csv >nameless.csv
try haul kernel fit nameless.csv --machine ./board.yaml --size 1048576
cat >basic.csv <<'END'
==PROF== Connected to process 42
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description"
"0","42","a.out","127.0.0.1","addAll(const float *, int)","1","7","(256, 1, 1)","(4096, 1, 1)","0","8.0","GPU Speed Of Light Throughput","DRAM Frequency","cycle/nsecond","1.21","","",""
"0","42","a.out","127.0.0.1","addAll(const float *, int)","1","7","(256, 1, 1)","(4096, 1, 1)","0","8.0","GPU Speed Of Light Throughput","Duration","usecond","12.5","","",""
"0","42","a.out","127.0.0.1","addAll(const float *, int)","1","7","(256, 1, 1)","(4096, 1, 1)","0","8.0","GPU Speed Of Light Throughput","","","","SOLBottleneck","WARNING","low throughput"
END
try haul kernel fit basic.csv --machine ./board.yaml --size 1048576
try haul kernel fit basic.csv --machine ./board.yaml --size 1048576 --kernel vector-add

echo "== a profile"
sed 's/Test Board/NVIDIA A100 80GB PCIe/' board.yaml >a100.yaml
cat >histogram.yaml <<'END'
haul_kernel: 1
name: histogram
summary: counts of elements
variable: {name: N, from: 1, to: 2^30}
threads: N
block: 256
comp: 8
loads_global: 1
stores_global: 1
END
try haul kernel fit "$profile" --machine ./a100.yaml --size 1048576 --kernel ./histogram.yaml
