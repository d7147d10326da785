# The source lines that call for copies and kernels: analyze --by line, advise, convert
"$make" -c stacks stacks.sqlite || exit 1

echo "== call stacks of Nsight Systems"
try haul analyze stacks.sqlite --by line
try haul analyze stacks.sqlite --by stack --format csv
haul analyze stacks.sqlite --by line --format json | head -12

echo "== functions of Python"
python='{"ph":"X","cat":"python_function","pid":9,"tid":9'
{
    printf '{"deviceProperties":[{"id":0,"name":"NVIDIA A100 80GB PCIe","totalGlobalMem":85031714816,'
    printf '"computeMajor":8,"computeMinor":0,"numSms":108}],"traceEvents":[\n'
    i=1
    while [ $i -le 40 ]; do
        at=$((i * 4000))
        printf '%s,"ts":%d,"dur":3990,"name":"train.py(42): step"},\n' "$python" $at
        printf '%s,"ts":%d,"dur":2000,"name":"shop/data.py(7): load"},\n' "$python" $((at + 5))
        printf '%s,"ts":%d,"dur":1990,"name":"torch/tensor.py(9): to"},\n' "$python" $((at + 8))
        printf '{"ph":"X","cat":"cuda_runtime","name":"cudaMemcpyAsync","pid":9,"tid":9,"ts":%d,' \
            $((at + 10))
        printf '"dur":1800,"args":{"correlation":%d}},\n' $i
        printf '{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":7,'
        printf '"ts":%d,"dur":1700,"args":{"device":0,"context":1,"stream":7,"bytes":17000000,' \
            $((at + 100))
        printf '"correlation":%d}},\n' $i
        printf '{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":%d,' \
            $((at + 2100))
        printf '"dur":5,"args":{"correlation":%d}},\n' $((i + 100))
        printf '{"ph":"X","cat":"kernel","name":"forward","pid":0,"tid":7,"ts":%d,"dur":1500,' \
            $((at + 2110))
        printf '"args":{"device":0,"context":1,"stream":7,"grid":[1024,1,1],"block":[256,1,1],'
        printf '"correlation":%d}},\n' $((i + 100))
        i=$((i + 1))
    done
    printf '%s,"ts":1,"dur":900000,"name":"train.py(80): main"}\n]}\n' "$python"
} >train.json
try haul analyze train.json --by line
try haul advise train.json --machine a100-pcie4 --from a100-pcie4
haul advise train.json --from a100-pcie4 --format json | grep '"line"\|"stack"' | sort -u

echo "== what is converted keeps them"
for to in again.json again.sqlite; do
    try haul convert train.json -o $to
    haul analyze $to --by stack --format csv
done

echo "== a profile without them"
try haul analyze "$profile" --by line | head -4
