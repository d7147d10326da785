#include "kernel/gpus.h"

#include <math.h>
#include <stddef.h>
#include <strings.h>

/* Cycles of an addition or a multiply-add: Arafa et al., Instructions' Latencies Characterization
 * for NVIDIA GPGPUs, arXiv 1905.08778, and its tables in LANL's Performance Prediction Toolkit
 * (Kepler to Turing; Mesa's compiler has the same 9 for Kepler, 6 for Maxwell); Fermi: "typically
 * about 22 clock cycles", CUDA C Programming Guide 4.2 and 5.0. Those after Turing are taken as
 * Turing. Threads: the CUDA guide's table of compute capabilities. */
static const haul_architecture architectures[] = {
    {"fermi", 22, 1536}, {"kepler", 9, 2048},    {"maxwell", 6, 2048}, {"pascal", 6, 2048},
    {"volta", 4, 2048},  {"turing", 4, 1024},    {"ampere", 4, 2048},  {"ada", 4, 1536},
    {"hopper", 4, 2048}, {"blackwell", 4, 2048},
};

const haul_architecture *haul_architecture_of(const haul_gpu *gpu)
{
    for (size_t i = 0; gpu->architecture && i < sizeof architectures / sizeof *architectures; i++)
        if (!strcasecmp(gpu->architecture, architectures[i].name))
            return &architectures[i];
    return NULL;
}

bool haul_gpu_alike(const haul_gpu *a, const haul_gpu *b)
{
    return a->architecture && b->architecture && !strcasecmp(a->architecture, b->architecture);
}

/* Newer drivers print "NVIDIA A100-SXM4-40GB" where older ones print "A100-SXM4-40GB". */
static const char *without_maker(const char *name)
{
    static const char maker[] = "NVIDIA ";
    return strncasecmp(name, maker, sizeof maker - 1) ? name : name + sizeof maker - 1;
}

bool haul_gpu_same(const haul_gpu *a, const haul_gpu *b)
{
    return a->name && b->name && !strcasecmp(without_maker(a->name), without_maker(b->name));
}

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
    return a && b ? b->issue_cycles / a->issue_cycles : 1;
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

bool haul_gpu_has_few(const haul_gpu *gpu, double blocks, double block)
{
    enum { USUAL_THREADS = 2048 };
    const haul_architecture *architecture = haul_architecture_of(gpu);
    const double threads = architecture ? architecture->threads : USUAL_THREADS;
    return blocks > 0 && blocks * block <= gpu->multiprocessors.value * threads / 4;
}
