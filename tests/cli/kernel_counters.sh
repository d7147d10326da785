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
