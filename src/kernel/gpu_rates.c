#include "kernel/gpu_rates.h"

#include <math.h>

/* "On GPUs with GDDR memory with ECC enabled [...] fetching ECC bits for each memory transaction
 * also reduced the effective bandwidth by approximately 20%": CUDA C++ Best Practices Guide (12.9),
 * "Theoretical Bandwidth Calculation". */
static const double left_by_ecc = 0.8;

double haul_gpu_memory_rate(const haul_gpu *gpu)
{
    return gpu->memory_bandwidth_Bps.value * (gpu->inline_ecc.value > 0 ? left_by_ecc : 1);
}

/* A multiply and an add a cycle and core where no figure is given. */
double haul_gpu_flops(const haul_gpu *gpu)
{
    if (gpu->fp32_flops.value > 0)
        return gpu->fp32_flops.value;
    return 2 * gpu->clock_Hz.value * gpu->multiprocessors.value * gpu->cores.value;
}

/* Empty kernels in public profiles take 1 to 2.5 us on the device. */
static const double usual_launch_s = 2e-6;

double haul_gpu_launch(const haul_gpu *gpu)
{
    return gpu->launch_latency_s.provenance ? gpu->launch_latency_s.value : usual_launch_s;
}

double haul_gpu_wait_ratio(const haul_gpu *from, const haul_gpu *to)
{
    const haul_architecture *a = haul_architecture_of(from);
    const haul_architecture *b = haul_architecture_of(to);
    return a && b && a->wait && b->wait ? (double)b->wait / a->wait : 1;
}

static double busiest(const haul_gpu *gpu, double blocks)
{
    const double share = fmax(blocks, 1) / gpu->multiprocessors.value;
    return blocks > 0 ? ceil(share) : share;
}

/* Boost is as temperature, power and the length of the run allow: the instructions, rates and times
 * that profilers count on a GTX TITAN say 836 MHz, its base, where boost is 876. */
double haul_gpu_clock_ratio(const haul_gpu *from, const haul_gpu *to)
{
    if (from->base_clock_Hz.value > 0 && to->base_clock_Hz.value > 0)
        return from->base_clock_Hz.value / to->base_clock_Hz.value;
    return from->clock_Hz.value / to->clock_Hz.value;
}

double haul_gpu_inside_ratio(const haul_gpu *from, const haul_gpu *to, double blocks)
{
    return busiest(to, blocks) / busiest(from, blocks) * haul_gpu_clock_ratio(from, to) *
           haul_gpu_wait_ratio(from, to);
}

bool haul_gpu_has_low_occupancy(const haul_gpu *gpu, double blocks, double block)
{
    enum { USUAL_THREADS = 2048 };
    const haul_architecture *architecture = haul_architecture_of(gpu);
    const double threads = architecture ? architecture->threads : USUAL_THREADS;
    return blocks > 0 && blocks * block <= gpu->multiprocessors.value * threads / 4;
}
