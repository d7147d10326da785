/* HiPC 2015 (Amaris, Cordeiro, Goldman, de Camargo), eq. 3 to 5. */

#include <math.h>

#include "base/fail.h"
#include "kernel/gpu_rates.h"
#include "kernel/kernel_models.h"
#include "kernel/kernel_parts.h"

/* Cycles of one access, from section VI. */
enum { CYCLES_SHARED = 5, CYCLES_L1 = 5, CYCLES_L2 = 250, CYCLES_GLOBAL = 500 };

/* The sum over threads of Comp + Comm_GM + Comm_SM; a hit costs its cache's cycles in place of
 * those of global memory (eq. 4 and 5). The caller divides by R P lambda (eq. 3). */
double hl_kernel_cycles(const haul_kernel_counts *c)
{
    const double global = c->loads_global + c->stores_global - c->l1_hits - c->l2_hits;
    const double comm_gm = global * CYCLES_GLOBAL + c->l1_hits * CYCLES_L1 + c->l2_hits * CYCLES_L2;
    const double comm_sm = (c->loads_shared + c->stores_shared) * CYCLES_SHARED;
    return c->threads * (c->comp + comm_gm + comm_sm);
}

/* Each count up to 1e30 keeps all products here finite in a double. */
haul_status hl_kernel_counts_check(const haul_kernel_counts *counts, haul_error *error)
{
    const struct {
        const char *name;
        double value;
    } rows[] = {
        {"threads", counts->threads},
        {"block", counts->block},
        {"comp", counts->comp},
        {"loads_global", counts->loads_global},
        {"stores_global", counts->stores_global},
        {"loads_shared", counts->loads_shared},
        {"stores_shared", counts->stores_shared},
        {"l1_hits", counts->l1_hits},
        {"l2_hits", counts->l2_hits},
        {"flops", counts->flops},
        {"flops_fp64", counts->flops_fp64},
        {"bytes", counts->bytes},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!(rows[i].value >= 0 && rows[i].value <= 1e30))
            return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "%s: expected a count, not %g",
                                  rows[i].name, rows[i].value);
    if (counts->threads < 1 || counts->block < 1)
        return haul_error_set(
            error, HAUL_STATUS_BAD_INPUT,
            "expected a thread or more in a block or more, not %g in blocks of %g", counts->threads,
            counts->block);
    /* Hits are often a rate times the loads: rounding may carry their sum past the accesses. */
    const double accesses = counts->loads_global + counts->stores_global;
    if (counts->l1_hits + counts->l2_hits > accesses * (1 + 1e-9))
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "more hits (%g) than global accesses (%g)",
                              counts->l1_hits + counts->l2_hits, accesses);
    if (hl_kernel_cycles(counts) <= 0)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "the counts are of a kernel that does nothing");
    return HAUL_OK;
}

haul_status hl_kernel_gpu_check(const haul_machine *machine, haul_error *error)
{
    const haul_gpu *gpu = &machine->gpu;
    const char *lacks = gpu->clock_Hz.value <= 0          ? "clock"
                        : gpu->multiprocessors.value <= 0 ? "multiprocessors"
                        : gpu->cores.value <= 0           ? "cores"
                                                          : NULL;
    if (!lacks)
        return HAUL_OK;
    return haul_error_set(error, HAUL_STATUS_MISSING, "machine '%.100s' lacks gpu.%s",
                          machine->name ? machine->name : "", lacks);
}

double hl_kernel_issue(const haul_gpu *gpu)
{
    return gpu->clock_Hz.value * gpu->multiprocessors.value * gpu->cores.value;
}

haul_status haul_kernel_bsp(const haul_gpu *gpu, const haul_kernel_counts *counts, double *seconds,
                            haul_error *error)
{
    const haul_machine machine = {.name = gpu->name, .gpu = *gpu};
    haul_status status = hl_kernel_gpu_check(&machine, error);
    if (status == HAUL_OK)
        status = hl_kernel_counts_check(counts, error);
    if (status == HAUL_OK)
        *seconds = hl_kernel_cycles(counts) / hl_kernel_issue(gpu);
    return status;
}

/* Half widths, in the logarithm, of what holds 90 of 100: the same GPU, another of its
 * architecture, another architecture. One lambda for all three is what the paper has, within 0.8 to
 * 1.2 on its own kernels (HiPC 2015, section VI); these are fitted on ten programs and five GPUs
 * (gpuperfpredict; docs/accuracy/kernels.md). */
static const double uncertainty_same = 0.12;
static const double uncertainty_alike = 0.52;
static const double uncertainty_across = 1.55;

/* By how far apart the two GPUs are, whatever the kernel: one lambda tells no more. */
static double uncertainty_of(const haul_kernel_case *what)
{
    const haul_gpu *source = &what->source->gpu;
    const haul_gpu *target = &what->target->gpu;
    if (what->source == what->target || hl_kernel_gpu_keeps_times(source, target))
        return uncertainty_same;
    return hl_machine_gpu_alike(source, target) ? uncertainty_alike : uncertainty_across;
}

/* Eq. 3 with one lambda for all sizes, the median, as the paper keeps one for an application on an
 * architecture (section IV). The target differs from the source in R and P alone. */
static haul_status time_by_bsp(const haul_kernel_case *what, haul_estimate *out, haul_error *error)
{
    HAUL_TRY(hl_kernel_gpu_check(what->target, error));
    const double bsp = hl_kernel_cycles(&what->counts) / hl_kernel_issue(&what->target->gpu);
    const double seconds = bsp / what->fit->calibration;
    *out = (haul_estimate){
        .seconds = seconds,
        .low_s = seconds * exp(-uncertainty_of(what)),
        .high_s = seconds * exp(uncertainty_of(what)),
        .weakest = what->source == what->target ? HAUL_PROVENANCE_FITTED : HAUL_PROVENANCE_SCALED,
        .model = hl_kernel_model_bsp.name,
    };
    return HAUL_OK;
}

const haul_kernel_model hl_kernel_model_bsp = {
    .abi = HAUL_KERNEL_MODEL_ABI,
    .name = "bsp",
    .summary = "cycles of computation and accesses over R P and one lambda (HiPC 2015, eq. 3)",
    .time = time_by_bsp,
};
