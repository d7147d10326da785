/* Rates, times and ratios that kernel models read off a GPU. */
#ifndef HAUL_KERNEL_GPU_RATES_H
#define HAUL_KERNEL_GPU_RATES_H

#include <stdbool.h>

#include "haul/kernel.h"
#include "machine/architectures.h"
#include "machine/gpu_names.h"

/* Whether "what if" changed a rate. */
bool hl_kernel_gpu_is_changed(const haul_gpu *gpu);

/* The same GPU, where a kernel takes the time that it took: not where "what if" changed what times
 * follow. */
bool hl_kernel_gpu_keeps_times(const haul_gpu *from, const haul_gpu *to);

/* Seconds that the multiprocessors take to issue a kernel's instructions. Needs the clock and the
 * multiprocessors. */
double hl_kernel_gpu_issue_s(const haul_gpu *gpu, const haul_kernel_counts *counts);

/* Cycles that one thread of a kernel waits on `to` for one on `from`, where no other hides them:
 * its instructions for one another and its loads for L2; 1 where that is not known. */
double hl_kernel_lone_wait_ratio(const haul_gpu *from, const haul_gpu *to,
                                 const haul_kernel_counts *counts);

/* Whether no scheduler has more than one warp. */
bool hl_kernel_gpu_has_lone_warps(const haul_gpu *gpu, const haul_kernel_counts *counts);

/* Bytes a second that programs can have of the device's memory at the most; 0: not known. */
double hl_kernel_gpu_memory_rate(const haul_gpu *gpu);

/* Single precision, flop/s; 0: not known. */
double hl_kernel_gpu_flops(const haul_gpu *gpu);

/* Seconds that a kernel's flops take at the nominal peaks, those in double precision at theirs. */
double hl_kernel_gpu_arithmetic_s(const haul_gpu *gpu, const haul_kernel_counts *counts);

/* The nominal peak of products in a precision, in flop/s, whichever cores have it, or the sustained
 * rate where that is more, as on GeForce boards that boost beyond their clock; 0: not known. */
double hl_kernel_gpu_product_peak(const haul_gpu *gpu, haul_precision precision);

/* The sustained rate of matrix products in a precision, in flop/s: the GPU's own, that of another
 * precision of its tensor cores by their peaks, that of the precision that libraries fall back to
 * on a GPU without it (both SCALED), or a usual share of the peak (ASSUMED); provenance
 * HAUL_PROVENANCE_NOT_GIVEN: not known. */
haul_parameter hl_kernel_gpu_product_rate(const haul_gpu *gpu, haul_precision precision);

/* How far short of the usual share of the peak the sustained rate of products in vector units is,
 * in the logarithm; 0: not at all, or not known. */
double hl_kernel_gpu_held_down(const haul_gpu *gpu, haul_precision precision);

/* The precision that libraries compute in where `precision` is asked for. */
haul_precision hl_kernel_gpu_used_precision(const haul_gpu *gpu, haul_precision precision);

/* Whether a GPU is known to have no tensor or matrix cores for a precision that others have some
 * for.
 */
bool hl_kernel_gpu_lacks(const haul_gpu *gpu, haul_precision precision);

/* Whether libraries compute products of a precision in tensor or matrix cores there. Products in
 * fp32 never are: a library that may use TF32 computes in TF32. */
bool hl_kernel_gpu_uses_tensor_cores(const haul_gpu *gpu, haul_precision precision);

/* Bytes a second that streaming kernels sustain; likewise. */
haul_parameter hl_kernel_gpu_stream_rate(const haul_gpu *gpu);

/* Bytes a second that they sustain out of L2; likewise. */
haul_parameter hl_kernel_gpu_l2_rate(const haul_gpu *gpu);

/* Seconds of a kernel that moves `bytes`, read and written, each once: out of L2 what it holds from
 * the kernel before, the rest through the memory. Needs the sustained rate of the memory. */
double hl_kernel_gpu_stream_s(const haul_gpu *gpu, double bytes);

/* The bytes that such a kernel moves in `seconds`. */
double hl_kernel_gpu_stream_bytes(const haul_gpu *gpu, double seconds);

/* Of what takes a number of cycles, seconds on `to` for one on `from`. */
double hl_kernel_gpu_clock_ratio(const haul_gpu *from, const haul_gpu *to);

/* Cycles that dependent instructions wait on `to` for one on `from`; 1 where that is not known. */
double hl_kernel_gpu_wait_ratio(const haul_gpu *from, const haul_gpu *to);

/* Seconds on `to` for one on `from` of what goes on inside the multiprocessors: by the clock, the
 * blocks of the busiest (0: many), those of them that run at once, and the cycles that dependent
 * instructions wait. */
double hl_kernel_gpu_inside_ratio(const haul_gpu *from, const haul_gpu *to,
                                  const haul_kernel_launches *of);

/* At most a quarter of the threads that the GPU holds; false where `blocks` or `block` is 0. */
bool hl_kernel_gpu_has_low_occupancy(const haul_gpu *gpu, double blocks, double block);

/* Of one kernel without work, on the device. */
double hl_kernel_gpu_launch(const haul_gpu *gpu);

#endif
