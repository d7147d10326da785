# the kernels of examples/kernels: compiled by nvcc, and run where there is a GPU for them
[ "$nvcc" ] || {
    echo "skipped: no nvcc"
    exit 77
}
"$nvcc" -O2 -o kernels-cuda "$sources/run_kernels.c" "$sources/problem.c" "$sources/board_cuda.cu" ||
    exit 1
./kernels-cuda --kernel matmul-global --size 8 >/dev/null 2>&1
[ $? != 4 ] || {
    echo "skipped, but for the compiler: no CUDA device"
    exit 77
}
./kernels-cuda --gpu board --repeat 3 --size 1,16,33,100,5000 >times.csv || echo "wrong, or failed"
cut -d , -f 1-8 times.csv
