/* Rates as kernels meet them, not as data sheets have them: what ECC leaves, what clocks really
 * run, what libraries sustain. Each constant has its measurements beside it. */
#include "kernel/gpu_rates.h"

#include <math.h>

bool hl_kernel_gpu_is_changed(const haul_gpu *gpu)
{
    const haul_parameter followed[] = {gpu->multiprocessors,
                                       gpu->cores,
                                       gpu->clock_Hz,
                                       gpu->fp32_flops,
                                       gpu->fp64_flops,
                                       gpu->launch_latency_s,
                                       gpu->memory_bandwidth_Bps,
                                       gpu->stream_Bps,
                                       gpu->l2_bytes,
                                       gpu->l2_Bps,
                                       gpu->inline_ecc};
    bool found = false;
    for (size_t i = 0; i < sizeof followed / sizeof *followed; i++)
        found |= haul_parameter_is_set(&followed[i]);
    for (int p = 0; p < HAUL_PRECISIONS; p++)
        found |= haul_parameter_is_set(&gpu->product_flops[p]) ||
                 haul_parameter_is_set(&gpu->tensor_flops[p]);
    return found;
}

bool hl_kernel_gpu_keeps_times(const haul_gpu *from, const haul_gpu *to)
{
    return hl_machine_gpu_same(from, to) && !hl_kernel_gpu_is_changed(from) &&
           !hl_kernel_gpu_is_changed(to);
}

/* "On GPUs with GDDR memory with ECC enabled [...] fetching ECC bits for each memory transaction
 * also reduced the effective bandwidth by approximately 20%": CUDA C++ Best Practices Guide (12.9),
 * "Theoretical Bandwidth Calculation". */
static const double left_by_ecc = 0.8;

double hl_kernel_gpu_memory_rate(const haul_gpu *gpu)
{
    return gpu->memory_bandwidth_Bps.value * (gpu->inline_ecc.value > 0 ? left_by_ecc : 1);
}

/* A multiply and an add a cycle and core where no figure is given. */
double hl_kernel_gpu_flops(const haul_gpu *gpu)
{
    if (gpu->fp32_flops.value > 0)
        return gpu->fp32_flops.value;
    return 2 * gpu->clock_Hz.value * gpu->multiprocessors.value * gpu->cores.value;
}

/* Where no rate in double precision is given, that in single precision: no GPU is faster in double,
 * so this is still a lower limit on the time. */
double hl_kernel_gpu_arithmetic_s(const haul_gpu *gpu, const haul_kernel_counts *counts)
{
    const double fp32 = hl_kernel_gpu_flops(gpu);
    const double fp64 = gpu->fp64_flops.value > 0 ? gpu->fp64_flops.value : fp32;
    const double in_fp64 = fmin(counts->flops_fp64, counts->flops);
    return (counts->flops - in_fp64) / fp32 + in_fp64 / fp64;
}

/* Of the nominal peak: large fp32 products reach 0.37 (L4) to 0.97 (V100), most 0.8 to 0.93; those
 * in tensor or matrix cores 0.38 (MI300X, FP8) to 0.86 (A100), about 1 on GeForce boards, most 0.65
 * to 0.8; streaming kernels 0.67 (MI300A) to 0.93 (B200) of the bandwidth. The figures of
 * machines/.
 *
 * With ECC on GDDR: copies inside K20, K40, L40S, T4 and A10 read and write 0.72, 0.72, 0.73, 0.75
 * and 0.78 of the nominal bandwidth, check bits fetched beside them; with any one left out the
 * middle is 0.725 to 0.74. That is what programs sustain, so `left_by_ecc` is not taken as well. */
static const double usual_product = 0.8;
static const double usual_tensor_product = 0.75;
static const double usual_stream = 0.88;
static const double usual_stream_with_ecc = 0.74;

/* A library computes a product in the next precision of the list on a GPU that lacks a rate. */
static const haul_precision fallbacks[HAUL_PRECISIONS][3] = {
    [HAUL_PRECISION_TF32] = {HAUL_PRECISION_FP32},
    [HAUL_PRECISION_FP16] = {HAUL_PRECISION_BF16, HAUL_PRECISION_FP32},
    [HAUL_PRECISION_BF16] = {HAUL_PRECISION_FP16, HAUL_PRECISION_FP32},
    [HAUL_PRECISION_FP8] = {HAUL_PRECISION_FP16, HAUL_PRECISION_FP32},
    [HAUL_PRECISION_FP4] = {HAUL_PRECISION_FP8, HAUL_PRECISION_FP16, HAUL_PRECISION_FP32},
    [HAUL_PRECISION_INT8] = {HAUL_PRECISION_FP8, HAUL_PRECISION_FP16, HAUL_PRECISION_FP32},
};

/* The peak without tensor cores. */
static double vector_peak(const haul_gpu *gpu, haul_precision precision)
{
    return precision == HAUL_PRECISION_FP64   ? gpu->fp64_flops.value
           : precision == HAUL_PRECISION_FP32 ? hl_kernel_gpu_flops(gpu)
                                              : 0;
}

double hl_kernel_gpu_product_peak(const haul_gpu *gpu, haul_precision precision)
{
    const double nominal = fmax(vector_peak(gpu, precision), gpu->tensor_flops[precision].value);
    return fmax(nominal, gpu->product_flops[precision].value);
}

/* Of the sustained rate of another precision of the same tensor cores, by their peaks; not given
 * where neither is known. */
static haul_parameter sibling_rate(const haul_gpu *gpu, haul_precision precision)
{
    const haul_parameter *peaks = gpu->tensor_flops;
    haul_parameter rate = {0};
    for (int i = 0; i < 3 && !rate.provenance; i++) {
        const haul_precision other = fallbacks[precision][i];
        if (!(peaks[other].value > 0) || !(peaks[precision].value > 0))
            continue;
        rate = gpu->product_flops[other];
        rate.value *= peaks[precision].value / peaks[other].value;
    }
    return rate;
}

haul_precision hl_kernel_gpu_used_precision(const haul_gpu *gpu, haul_precision precision)
{
    haul_precision used = precision;
    for (int i = 0; i < 3 && !gpu->product_flops[used].provenance &&
                    !(gpu->tensor_flops[used].value > 0) && fallbacks[precision][i];
         i++)
        used = fallbacks[precision][i];
    return used;
}

/* Vector units pack two halves into a lane of fp32 and no more (P100, T4: CUDA C++ Programming
 * Guide, "Arithmetic Instructions"), so what is faster than that is in tensor cores where no peak
 * tells. Fp32 and fp64 have matrix cores on some GPUs, which fill at most four times the lanes. */
bool hl_kernel_gpu_uses_tensor_cores(const haul_gpu *gpu, haul_precision precision)
{
    enum { HALVES_IN_A_LANE = 2 };
    const haul_precision used = hl_kernel_gpu_used_precision(gpu, precision);
    return used > HAUL_PRECISION_FP32 &&
           (gpu->tensor_flops[used].value > 0 ||
            gpu->product_flops[used].value > HALVES_IN_A_LANE * hl_kernel_gpu_flops(gpu));
}

/* Compute capabilities from which tensor cores have a precision: PTX ISA, "mma" and "wgmma", and
 * CUDA C++ Programming Guide, "Alternate Floating Point". */
static const uint32_t tensor_since[HAUL_PRECISIONS] = {
    [HAUL_PRECISION_TF32] = 80, [HAUL_PRECISION_FP16] = 70, [HAUL_PRECISION_BF16] = 80,
    [HAUL_PRECISION_FP8] = 89,  [HAUL_PRECISION_INT8] = 72, [HAUL_PRECISION_FP4] = 100,
};

/* Of other makers the file's peaks say it, where it has some: TF32 is left out, which libraries of
 * AMD's emulate or map to others. */
bool hl_kernel_gpu_lacks(const haul_gpu *gpu, haul_precision precision)
{
    const hl_machine_architecture *of = hl_machine_architecture_of(gpu);
    if (!tensor_since[precision])
        return false;
    if (of && of->major)
        return 10 * of->major + of->minor < tensor_since[precision];
    return precision != HAUL_PRECISION_TF32 && gpu->tensor_flops[HAUL_PRECISION_FP16].value > 0 &&
           !(gpu->tensor_flops[precision].value > 0) && !gpu->product_flops[precision].provenance;
}

haul_parameter hl_kernel_gpu_product_rate(const haul_gpu *gpu, haul_precision precision)
{
    const haul_precision used = hl_kernel_gpu_used_precision(gpu, precision);
    const haul_parameter own = gpu->product_flops[used];
    haul_parameter rate = own.provenance ? own : sibling_rate(gpu, used);
    if (!rate.provenance) {
        const double usual = fmax(usual_product * vector_peak(gpu, used),
                                  usual_tensor_product * gpu->tensor_flops[used].value);
        return usual > 0 ? (haul_parameter){usual, HAUL_PROVENANCE_ASSUMED, NULL} : rate;
    }
    if (used != precision || !own.provenance)
        rate.provenance = haul_provenance_weaker(rate.provenance, HAUL_PROVENANCE_SCALED);
    return rate;
}

/* Large products run at the clock that the board's power allows: 70 W hold a T4's at half of the
 * peak, 72 W an L4's at 0.37. Short ones run before the power is felt. */
double hl_kernel_gpu_held_down(const haul_gpu *gpu, haul_precision precision)
{
    const double usual = usual_product * vector_peak(gpu, precision);
    const double rate = hl_kernel_gpu_product_rate(gpu, precision).value;
    return usual > rate && rate > 0 ? log(usual / rate) : 0;
}

/* Measured where the machine's file has it, else the usual share of the nominal bandwidth. */
haul_parameter hl_kernel_gpu_stream_rate(const haul_gpu *gpu)
{
    const double nominal = gpu->memory_bandwidth_Bps.value;
    if (gpu->stream_Bps.provenance || !(nominal > 0))
        return gpu->stream_Bps;
    const double share = gpu->inline_ecc.value > 0 ? usual_stream_with_ecc : usual_stream;
    return (haul_parameter){share * nominal, HAUL_PROVENANCE_ASSUMED, NULL};
}

/* Of the memory's sustained rate, by the machine files: 2.2 (H200) to 3.9 (A100 of 40 GB) with HBM,
 * less than 2.5 on Kepler and Maxwell, 5 and more with GDDR since Turing (T4, RTX 4090). */
static const double usual_l2_gain = 2.5;

haul_parameter hl_kernel_gpu_l2_rate(const haul_gpu *gpu)
{
    if (gpu->l2_Bps.provenance)
        return gpu->l2_Bps;
    const double rate = hl_kernel_gpu_stream_rate(gpu).value;
    return rate > 0 ? (haul_parameter){usual_l2_gain * rate, HAUL_PROVENANCE_ASSUMED, NULL}
                    : (haul_parameter){0};
}

double hl_kernel_gpu_stream_s(const haul_gpu *gpu, double bytes)
{
    /* The share of `bytes`, used again, that L2 does not hold. Half of an L2 holds data surely
     * (that of an A100 is two, which keep copies of the same data: Ampere white paper), a whole one
     * at the best; between the two the share through the memory grows. */
    const double share = gpu->l2_bytes.value > 0 ? bytes / gpu->l2_bytes.value : HUGE_VAL;
    const double misses = fmin(fmax(2 * share - 1, 0), 1);
    return bytes * (misses / hl_kernel_gpu_stream_rate(gpu).value +
                    (1 - misses) / hl_kernel_gpu_l2_rate(gpu).value);
}

/* The time grows with the bytes, so halving finds them. */
double hl_kernel_gpu_stream_bytes(const haul_gpu *gpu, double seconds)
{
    enum { STEPS = 40 };
    double low = seconds * hl_kernel_gpu_stream_rate(gpu).value;
    double high = fmax(low, seconds * hl_kernel_gpu_l2_rate(gpu).value);
    for (int i = 0; i < STEPS; i++) {
        const double middle = (low + high) / 2;
        *(hl_kernel_gpu_stream_s(gpu, middle) > seconds ? &high : &low) = middle;
    }
    return (low + high) / 2;
}

/* Empty kernels in public profiles take 1 to 2.5 us on the device. */
static const double usual_launch_s = 2e-6;

double hl_kernel_gpu_launch(const haul_gpu *gpu)
{
    return gpu->launch_latency_s.provenance ? gpu->launch_latency_s.value : usual_launch_s;
}

double hl_kernel_gpu_wait_ratio(const haul_gpu *from, const haul_gpu *to)
{
    const hl_machine_architecture *a = hl_machine_architecture_of(from);
    const hl_machine_architecture *b = hl_machine_architecture_of(to);
    return a && b && a->wait && b->wait ? (double)b->wait / a->wait : 1;
}

/* Up to three warps a scheduler take the time of one: each waits for its own results. Schedulers of
 * a multiprocessor: 4 since Kepler (CUDA C++ Programming Guide, "Hardware Implementation"), of
 * which the two kinds with fewer come close. */
enum { WARP = 32, SCHEDULERS = 4, WARPS_UNFELT = 3 * SCHEDULERS };

static double warps_of(const haul_kernel_counts *counts)
{
    return ceil(counts->threads / counts->block) * ceil(counts->block / WARP);
}

/* A scheduler issues an instruction of one warp a cycle (CUDA C++ Programming Guide, "Hardware
 * Implementation"); Kepler's may issue two that do not depend on one another, which is left out.
 * Accesses to global memory are few in kernels that this bounds, and kernel files may count them as
 * HiPC 2015 does, a tile's for each thread. */
double hl_kernel_gpu_issue_s(const haul_gpu *gpu, const haul_kernel_counts *counts)
{
    const double instructions = counts->comp + counts->loads_shared + counts->stores_shared;
    return warps_of(counts) * instructions /
           (SCHEDULERS * gpu->multiprocessors.value * gpu->clock_Hz.value);
}

/* Instructions wait as the architecture has it; what a load out of L2 takes, in cycles, is much the
 * same on all: 250 (HiPC 2015, section VI). Nobody waits for a store. */
double hl_kernel_lone_wait_ratio(const haul_gpu *from, const haul_gpu *to,
                                 const haul_kernel_counts *counts)
{
    enum { CYCLES_L2 = 250 };
    const hl_machine_architecture *a = hl_machine_architecture_of(from),
                                  *b = hl_machine_architecture_of(to);
    const double loads = CYCLES_L2 * counts->loads_global;
    const double others = counts->comp + counts->loads_shared;
    if (!a || !b || !a->wait || !b->wait || !(loads + others > 0))
        return 1;
    return (others * b->wait + loads) / (others * a->wait + loads);
}

bool hl_kernel_gpu_has_lone_warps(const haul_gpu *gpu, const haul_kernel_counts *counts)
{
    return warps_of(counts) <= SCHEDULERS * gpu->multiprocessors.value;
}

/* Blocks that the shared memory of a multiprocessor has room for; no limit where it is not known.
 */
static double room_of(const haul_gpu *gpu, const haul_kernel_launches *of)
{
    enum { AMPERE = 8, OF_SYSTEM = 1024 };
    const hl_machine_architecture *architecture = hl_machine_architecture_of(gpu);
    if (!architecture || !architecture->shared_bytes || !(of->shared_bytes > 0))
        return HUGE_VAL;
    const double each = of->shared_bytes + (architecture->major >= AMPERE ? OF_SYSTEM : 0);
    return fmax(1, floor(architecture->shared_bytes / each));
}

/* How long the multiprocessor with most blocks takes, in blocks: fewer at once than it takes to
 * feel them keep it as much less busy. */
static double busiest(const haul_gpu *gpu, const haul_kernel_launches *of)
{
    const double share = fmax(of->blocks, 1) / gpu->multiprocessors.value;
    const double unfelt = of->block > 0 ? WARPS_UNFELT / ceil(of->block / WARP) : 1;
    const double at_once = fmin(ceil(share), room_of(gpu, of));
    return of->blocks > 0 ? ceil(share) * fmax(1, unfelt / at_once) : share;
}

/* The clock that the maker names, boost where a GPU has one. Base clocks for it help between the
 * boards of docs/accuracy/kernels.md and hurt between others: how far a GPU boosts is as heat,
 * power and the length of the run allow, which no data sheet tells. The intervals have room for it.
 */
double hl_kernel_gpu_clock_ratio(const haul_gpu *from, const haul_gpu *to)
{
    return from->clock_Hz.value / to->clock_Hz.value;
}

/* Three independent factors: blocks one after another on the busiest multiprocessor, cycles each,
 * and the length of a cycle. */
double hl_kernel_gpu_inside_ratio(const haul_gpu *from, const haul_gpu *to,
                                  const haul_kernel_launches *of)
{
    return busiest(to, of) / busiest(from, of) * hl_kernel_gpu_clock_ratio(from, to) *
           hl_kernel_gpu_wait_ratio(from, to);
}

bool hl_kernel_gpu_has_low_occupancy(const haul_gpu *gpu, double blocks, double block)
{
    /* Threads that a multiprocessor holds: 2048 on Kepler to Volta, A100 and H100. */
    enum { USUAL_THREADS = 2048 };
    const hl_machine_architecture *architecture = hl_machine_architecture_of(gpu);
    const double threads = architecture ? architecture->threads : USUAL_THREADS;
    return blocks > 0 && block > 0 && blocks * block <= gpu->multiprocessors.value * threads / 4;
}
