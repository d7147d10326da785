/* Names of kernels that libraries make, each with where it is from. More telling names come first:
 * the first row that matches counts. */
#include "haul/kernel_class.h"

#define ROW(kind, precision, pattern, source, example)                                             \
    {                                                                                              \
        pattern, HAUL_KERNEL_CLASS_##kind, HAUL_PRECISION_##precision, source, example             \
    }

static const char nccl[] = "NCCL src/device/generate.py; RCCL likewise";
static const char cublas[] = "cuBLAS, names as Nsight Systems lists them";
/* Of these names the letters are the types of the operands, of the sum and of the result. */
static const char nvjet[] =
    "cuBLAS 12.5 and later; CUDA 13's with the architecture, as recorded on an H100";
static const char cutlass[] = "CUTLASS media/docs/profiler.md, names of operations";
static const char cudnn[] = "cuDNN, names as Nsight Systems lists them";
static const char aten[] = "PyTorch aten/src/ATen/native/cuda";
static const char triton[] = "PyTorch torch/_inductor/codegen/triton.py, names of kernels";
static const char flash[] = "Dao-AILab/flash-attention csrc/flash_attn/src";
static const char tensile[] = "ROCm Tensile, names of solutions (rocBLAS, hipBLASLt)";
static const char ck[] = "ROCm composable_kernel include/ck/tensor_operation/gpu/device";
static const char miopen[] = "ROCm MIOpen src/kernels";
static const char cub[] = "NVIDIA cccl: cub/device/dispatch, thrust/system/cuda";
static const char fbgemm[] = "pytorch/FBGEMM fbgemm_gpu";
static const char rocclr[] = "ROCm clr: kernels of copies and fills";
static const char stream[] = "UoB-HPC/BabelStream src/cuda";
static const char cloverleaf[] = "UK-MAC/CloverLeaf_CUDA: stencils over whole fields";
static const char apex[] = "PyTorch aten/src/ATen/native/cuda/MultiTensorApply.cuh; NVIDIA/apex";
static const char fft[] = "cuFFT, rocFFT and VkFFT, names as profilers list them";
static const char sparse[] = "cuSPARSE and rocSPARSE, names as profilers list them";

static const haul_kernel_class_row rows[] = {
    ROW(COLLECTIVE, NONE, "ncclKernel", nccl,
        "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)"),
    ROW(COLLECTIVE, NONE, "ncclDevKernel", nccl,
        "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgs)"),
    ROW(COLLECTIVE, NONE, "ncclDev", nccl, "ncclDevFunc_SendRecv"),
    ROW(COLLECTIVE, NONE, "nccl", nccl, "mscclRunInterpreter_nccl"),
    ROW(COLLECTIVE, NONE, "rccl", nccl, "rccl_main_kernel"),
    ROW(COLLECTIVE, NONE, "nvshmem", "NVSHMEM src/device", "nvshmemi_barrier_kernel"),
    ROW(COLLECTIVE, NONE, "cross_device_reduce", "vllm csrc/custom_all_reduce.cuh",
        "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)"),

    /* Inductor's names list the operators that are fused, such as a convolution whose bias a
     * pointwise kernel adds: the form of the kernel comes first. */
    ROW(STREAMING, NONE, "triton_poi_", triton, "triton_poi_fused_convolution_relu_7"),
    ROW(ROWS, NONE, "triton_red_", triton, "triton_red_fused_mean_5"),
    ROW(ROWS, NONE, "triton_per_", triton, "triton_per_fused_addmm_sum_3"),

    ROW(STREAMING, NONE, "elementwise", aten,
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >"),
    ROW(STREAMING, NONE, "fbgemm_gpu", fbgemm,
        "void fbgemm_gpu::permute_indices_weights_kernel<false, int>(int, int)"),
    ROW(STREAMING, NONE, "clover::", "UoB-HPC/CloverLeaf: stencils over whole fields",
        "void clover::par_ranged2d_kernel<advec_cell_kernel(int)::[lambda(int, int)]>"),
    ROW(ROWS, NONE, "reduce_wgrad", cudnn, "void cudnn::cnn::reduce_wgrad_nchw_helper<float>"),
    ROW(STREAMING, NONE, "computeOffsets", cudnn, "void cask_cudnn::computeOffsetsKernel<false>"),
    ROW(STREAMING, NONE, "onvert", "the word itself, which is no convolution",
        "void ConvertToHalf<float>"),
    ROW(STREAMING, NONE, "onversion", "the word itself, which is no convolution",
        "dtype_conversion_kernel"),
    ROW(UNKNOWN, NONE, "onverge", "the word itself: what it does is not known",
        "void check_convergence<double>(double const*)"),
    ROW(UNKNOWN, NONE, "convex", "the word itself: what it does is not known",
        "convex_hull<float>"),

    ROW(ATTENTION, NONE, "flash_fwd", flash,
        "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4> >(Params)"),
    ROW(ATTENTION, NONE, "flash_bwd", flash, "void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel"),
    ROW(ATTENTION, NONE, "FlashAttn", flash,
        "void cutlass::device_kernel<flash::FlashAttnFwdSm90>"),
    ROW(ATTENTION, NONE, "fmha",
        "CUTLASS examples/41_fused_multi_head_attention; Composable Kernel",
        "fmha_cutlassF_f16_aligned_64x64_rf_sm80(AttentionKernel)"),
    ROW(ATTENTION, NONE, "attn_fwd", "ROCm aotriton tritonsrc", "attn_fwd"),
    ROW(ATTENTION, NONE, "attn_bwd", "ROCm aotriton tritonsrc", "attn_bwd_dkdv"),
    ROW(ATTENTION, NONE, "bwd_kernel_dk_dv", "ROCm aotriton tritonsrc", "bwd_kernel_dk_dv"),
    ROW(ATTENTION, NONE, "sdpa", cudnn,
        "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16"),
    ROW(ATTENTION, NONE, "paged_attention", "vllm csrc/attention",
        "void vllm::paged_attention_v2_kernel"),
    ROW(ATTENTION, NONE, "BatchPrefillWith", "flashinfer include/flashinfer/attention",
        "void flashinfer::BatchPrefillWithPagedKVCacheKernel"),
    ROW(ATTENTION, NONE, "BatchDecodeWith", "flashinfer include/flashinfer/attention",
        "void flashinfer::BatchDecodeWithPagedKVCacheKernel"),

    ROW(STREAMING, NONE, "splitKreduce", cublas,
        "void cublasLt::splitKreduce_kernel<32, 16, int, float>(cublasSplitKParams)"),
    ROW(STREAMING, NONE, "gemv", cublas,
        "void gemv2T_kernel_val<int, int, float, float, 128, 16, 4>"),
    ROW(STREAMING, NONE, "cublasGemv", cublas,
        "void reduce_1Block_kernel<float, cublasGemvTensor>"),
    ROW(STREAMING, NONE, "epilogue::impl::globalKernel", cublas,
        "void epilogue::impl::globalKernel<float, float, float, true, true>(int)"),
    ROW(STREAMING, NONE, "nchwToNhwc", cudnn,
        "void cudnn::ops::nchwToNhwcKernel<float, float, float, false>"),
    ROW(STREAMING, NONE, "nhwcToNchw", cudnn,
        "void cudnn::engines_precompiled::nhwcToNchwKernel<__nv_bfloat16>"),
    ROW(STREAMING, NONE, "im2col", aten, "void at::native::im2col_kernel<float>(long)"),
    ROW(STREAMING, NONE, "Im2d2Col", miopen, "Im2d2Col_v2"),
    ROW(STREAMING, NONE, "col2im", aten, "void at::native::col2im_batched_kernel<float>"),

    ROW(CONVOLUTION, NONE, "fprop", cudnn,
        "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32"),
    ROW(CONVOLUTION, NONE, "dgrad", cudnn,
        "cutlass_tensorop_f16_s16816dgrad_optimized_f16_128x128"),
    ROW(CONVOLUTION, NONE, "wgrad", cudnn, "cutlass_tensorop_f16_s16816wgrad_optimized_f16_256x64"),
    ROW(CONVOLUTION, NONE, "conv", "cuDNN, MIOpen, CUTLASS and Triton alike",
        "void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3>(int)"),
    ROW(CONVOLUTION, NONE, "Conv", miopen, "miopenSp3AsmConv_v30_3_1_gfx9_fp32_f2x3_stride1"),
    ROW(CONVOLUTION, NONE, "scudnn", cudnn, "cudnn_ampere_scudnn_128x64_relu_xregs_large_nn_v1"),
    ROW(CONVOLUTION, NONE, "hcudnn", cudnn, "volta_hcudnn_128x64_relu_small_nn_v1"),
    ROW(CONVOLUTION, NONE, "884cudnn", cudnn, "volta_fp16_s884cudnn_fp16_256x64_ldg8_relu"),
    ROW(CONVOLUTION, NONE, "1688cudnn", cudnn, "turing_fp16_s1688cudnn_fp16_256x64_ldg8"),
    ROW(CONVOLUTION, NONE, "winograd", cudnn, "maxwell_winogradForward3x3"),
    ROW(CONVOLUTION, NONE, "igemm_*gtc", miopen, "igemm_fwd_gtcx3_nhwc_fp16_bx0_ex1_bt128x128x32"),

    ROW(PRODUCT, NONE, "xmma_gemm", cublas,
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1"),
    ROW(PRODUCT, BF16, "nvjet_sm*_t", nvjet, "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_bias_TNT"),
    ROW(PRODUCT, FP16, "nvjet_sm*_hs", nvjet, "nvjet_sm90_hsh_128x256_64x4_1x2_h_bz_coopA_TNT"),
    ROW(PRODUCT, FP16, "nvjet_sm*_hh", nvjet, "nvjet_sm90_hhh_128x256_64x4_1x2_h_bz_coopA_TNT"),
    ROW(PRODUCT, FP8, "nvjet_sm*_q", nvjet, "nvjet_sm90_qqtst_128x256_128x4_2x1_v_bz_TNT"),
    ROW(PRODUCT, TF32, "nvjet_sm*_sss", nvjet, "nvjet_sm90_sss_64x128_32x6_1x1_h_bz_TNN"),
    ROW(PRODUCT, FP64, "nvjet_sm*_ddd", nvjet, "nvjet_sm90_ddd_64x64_16x4_1x1_h_bz_splitK_NNN"),
    ROW(PRODUCT, NONE, "nvjet_sm", nvjet, "nvjet_sm90_64x128"),
    ROW(PRODUCT, FP16, "nvjet_h", nvjet, "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_TNT"),
    ROW(PRODUCT, BF16, "nvjet_t", nvjet, "nvjet_tst_192x192_64x4_2x1_v_bz_TNN"),
    ROW(PRODUCT, FP8, "nvjet_q", nvjet, "nvjet_qqtst_128x256_128x4_2x1_v_bz"),
    ROW(PRODUCT, TF32, "nvjet_s", nvjet, "nvjet_sss_64x128_32x6_1x1_h_bz_TNN"),
    ROW(PRODUCT, FP64, "nvjet_d", nvjet, "nvjet_ddd_64x64_16x4_1x1_h_bz_NNN"),
    ROW(PRODUCT, NONE, "nvjet", nvjet, "nvjet_64x128"),
    ROW(PRODUCT, NONE, "Cijk_", tensile,
        "Cijk_Alik_Bljk_HHS_BH_MT128x128x16_MI32x32x8x1_SN_1LDSB0_APM1"),
    ROW(PRODUCT, NONE, "gemm", cutlass,
        "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x256_32x3_tn_align1>(Params)"),
    ROW(PRODUCT, NONE, "Gemm", ck, "void ck::DeviceBatchedGemmXdl<_Float16>"),
    ROW(PRODUCT, NONE, "GEMM", ck, "rocblas_GEMM_batched"),
    ROW(PRODUCT, NONE, "symm_", cublas, "dsymm_kernel_val"),
    ROW(PRODUCT, NONE, "syrk", cublas, "volta_dsyrk_128x64_lower"),
    ROW(PRODUCT, NONE, "trsm", cublas, "void trsm_left_kernel<double, 256, 4, false, false>"),
    ROW(PRODUCT, NONE, "trmm", cublas, "void trmm_left_kernel_core<double>"),
    ROW(PRODUCT, NONE, "cutlass*tensorop", cutlass,
        "cutlass_80_tensorop_h16816_128x64_32x3_nn_align8"),
    ROW(PRODUCT, NONE, "marlin", "IST-DASLab/marlin: fp16 by int4",
        "void marlin::Marlin<256, 1, 8, 8>"),
    ROW(PRODUCT, NONE, "triton_tem_fused*mm", triton, "triton_tem_fused_addmm_12"),
    ROW(PRODUCT, NONE, "triton_mm", triton, "triton_mm"),
    ROW(PRODUCT, NONE, "matmul", "the word itself", "matmul_kernel"),
    ROW(PRODUCT, NONE, "matrixMul", "NVIDIA cuda-samples matrixMul",
        "void MatrixMulCUDA_matrixMul<32>"),
    ROW(PRODUCT, NONE, "MatMul", "the word itself", "tiledMatMul"),
    ROW(PRODUCT, NONE, "MatrixMul", "NVIDIA cuda-samples matrixMul",
        "void MatrixMulCUDA<32>(float*)"),
    ROW(PRODUCT, NONE, "matMul", "gpuperfpredict", "matMul_gpu_uncoalesced"),

    ROW(ROWS, NONE, "softmax", aten,
        "void (anonymous namespace)::softmax_warp_forward<float, float, 10>"),
    ROW(ROWS, NONE, "SoftMax", aten,
        "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float>"),
    ROW(ROWS, NONE, "layer_norm", aten,
        "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int)"),
    ROW(ROWS, NONE, "LayerNorm", aten, "void at::native::LayerNormForwardCUDAKernel<float>"),
    ROW(ROWS, NONE, "GammaBeta", aten,
        "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel<float, float>(long)"),
    ROW(ROWS, NONE, "RowwiseMoments", aten,
        "void at::native::RowwiseMomentsCUDAKernel<float>(long)"),
    ROW(ROWS, NONE, "rms_norm", "vllm csrc/layernorm_kernels.cu",
        "void vllm::rms_norm_kernel<__half>"),
    ROW(ROWS, NONE, "RMSNorm", "flashinfer include/flashinfer/norm.cuh",
        "void flashinfer::norm::RMSNormKernel<8u, __half>"),
    ROW(ROWS, NONE, "batch_norm", aten,
        "void at::native::batch_norm_collect_statistics_kernel<float, float>"),
    ROW(ROWS, NONE, "bn_fw", cudnn, "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512>"),
    ROW(ROWS, NONE, "bn_bw", cudnn, "void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512>"),
    ROW(ROWS, NONE, "BatchNorm", miopen, "MIOpenBatchNormFwdTrainSpatial"),
    ROW(ROWS, NONE, "group_norm", aten, "void at::native::group_norm_nhwc_kernel"),
    ROW(ROWS, NONE, "reduce_kernel", aten,
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps> "
        ">"),
    ROW(ROWS, NONE, "DeviceReduce", cub, "void cub::DeviceReduceKernel<cub::Policy600, int>"),
    ROW(ROWS, NONE, "DeviceScan", cub, "void cub::DeviceScanKernel<cub::Policy600, int*>"),
    ROW(ROWS, NONE, "DeviceSegmented", cub, "void cub::DeviceSegmentedReduceKernel<float*>"),

    ROW(STREAMING, NONE, "CatArrayBatchedCopy", aten,
        "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 2, 128>"),
    ROW(STREAMING, NONE, "multi_tensor_apply", apex,
        "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float> >"),
    ROW(STREAMING, NONE, "indexSelect", aten,
        "void at::native::(anonymous namespace)::indexSelectLargeIndex<float, long>"),
    ROW(STREAMING, NONE, "indexFunc", aten,
        "void at::native::indexFuncLargeIndex<float, int, unsigned int, 1, 1, -2>"),
    ROW(STREAMING, NONE, "searchsorted", aten,
        "void at::native::(anonymous namespace)::searchsorted_cuda_kernel<float, long>"),
    ROW(STREAMING, NONE, "bounds_check_indices", fbgemm, "void bounds_check_indices_kernel<long>"),
    ROW(STREAMING, NONE, "linearize_index", fbgemm, "void linearize_index_kernel<long>"),
    ROW(STREAMING, NONE, "index_", aten, "void at::native::index_copy_kernel_impl<float>"),
    ROW(STREAMING, NONE, "scatter", aten, "void at::native::_scatter_gather_kernel<128, 4>"),
    ROW(STREAMING, NONE, "gather", aten, "void at::native::vectorized_gather_kernel<16, long>"),
    ROW(STREAMING, NONE, "embedding", fbgemm,
        "void split_embedding_codegen_forward_unweighted_kernel<float, float, float, long, 5ul>"),
    ROW(STREAMING, NONE, "permute", fbgemm, "void permute_pooled_embs_kernel<float>(float const*)"),
    ROW(STREAMING, NONE, "recat_copy", fbgemm, "void recat_copy_async_kernel<float>(long const*)"),
    ROW(STREAMING, NONE, "transpose", "the word itself",
        "void transpose_readWrite_alignment_kernel"),
    ROW(STREAMING, NONE, "dropout", aten,
        "void at::native::fused_dropout_kernel_vec<float, float>"),
    ROW(STREAMING, NONE, "pool", aten, "void at::native::max_pool_forward_nchw<float, float>(int)"),
    ROW(STREAMING, NONE, "upsample", aten, "void at::native::upsample_bilinear2d_out_frame<float>"),
    ROW(STREAMING, NONE, "RadixSort", cub,
        "void cub::DeviceRadixSortOnesweepKernel<cub::DeviceRadixSortPolicy<long, int> >"),
    ROW(STREAMING, NONE, "cuda_cub::core::_kernel_agent", cub,
        "void thrust::cuda_cub::core::_kernel_agent<thrust::cuda_cub::__parallel_for>"),
    ROW(STREAMING, NONE, "rocprim::detail", "ROCm rocPRIM",
        "void rocprim::detail::transform_kernel<int>"),
    ROW(STREAMING, NONE, "__amd_rocclr_", rocclr, "__amd_rocclr_copyBufferAligned"),
    ROW(STREAMING, NONE, "triad", stream, "void triad_kernel<double>(double*, double const*)"),
    ROW(STREAMING, NONE, "saxpy", "the word itself", "saxpy(int, float, float*, float*)"),
    ROW(STREAMING, NONE, "axpy", cublas, "void axpy_kernel_val<double, double, 0>"),
    ROW(STREAMING, NONE, "vectorAdd", "NVIDIA cuda-samples vectorAdd",
        "vectorAdd(float const*, int)"),
    ROW(STREAMING, NONE, "vecAdd", "the word itself", "vecAdd(double*, double*, double*, int)"),
    ROW(STREAMING, NONE, "VecAdd", "CUDA C++ Programming Guide, Kernels",
        "VecAdd(float*, float*, float*)"),
    ROW(STREAMING, NONE, "vector_add", "the word itself", "vector_add(float*, float*, int)"),
    ROW(STREAMING, NONE, "memcpy", "the word itself", "my_memcpy_kernel"),
    ROW(STREAMING, NONE, "copy_kernel", stream, "void copy_kernel<double>(double const*, double*)"),
    ROW(STREAMING, NONE, "advec_", cloverleaf, "device_advec_mom_vol_kernel"),
    ROW(STREAMING, NONE, "ideal_gas", cloverleaf, "clover_ideal_gas_kernel"),
    ROW(STREAMING, NONE, "viscosity", cloverleaf, "device_viscosity_kernel_cuda"),
    ROW(STREAMING, NONE, "flux_calc", cloverleaf, "device_flux_calc_kernel_cuda"),
    ROW(STREAMING, NONE, "PdV", cloverleaf, "device_PdV_predict_kernel_cuda"),
    ROW(STREAMING, NONE, "pdv", cloverleaf, "clover_pdv_kernel"),
    ROW(STREAMING, NONE, "calc_dt", cloverleaf, "device_calc_dt_kernel_cuda"),
    ROW(STREAMING, NONE, "reset_field", cloverleaf, "device_reset_field_kernel_cuda"),
    ROW(STREAMING, NONE, "accelerate", cloverleaf, "device_accelerate_kernel_cuda"),
    ROW(STREAMING, NONE, "stencil", "the word itself", "stencil_3d_7pt"),
    ROW(STREAMING, NONE, "jacobi", "the word itself", "jacobi_kernel"),
    ROW(STREAMING, NONE, "csrmv", sparse, "void cusparse::csrmv_v3_kernel<double>"),
    ROW(STREAMING, NONE, "spmv", sparse, "void spmv_csr_adaptive<double>"),
    ROW(STREAMING, NONE, "fft", fft, "void regular_fft<256u, (padding_t)1, (twiddle_t)0>"),
    ROW(ROWS, NONE, "reduce", "the word itself", "void reduceSinglePass_reduce<256u>"),
    ROW(ROWS, NONE, "dot_kernel", cublas, "void dot_kernel<float, 128, 0, cublasDotParams>"),
};

const haul_kernel_class_row *haul_kernel_class_rows(size_t *count)
{
    *count = sizeof rows / sizeof *rows;
    return rows;
}
