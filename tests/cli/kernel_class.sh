# haul kernel class
try haul kernel class volta_sgemm_128x64_nn \
    'void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x128_32x3_tn_align4>(Params)' \
    'void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >' \
    ncclDevKernel_SendRecv my_solver
printf 'pattern,class,precision,source\nmy*solver,product,fp64,the solver is a DGEMM\n' >own.csv
try haul kernel class --classes own.csv --format json my_solver
printf 'pattern,class,precision\nx,product,fp32\ny,product,fp3\n' >own.csv
try haul kernel class --classes own.csv my_solver
try haul kernel class
