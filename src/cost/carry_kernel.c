#include <math.h>

#include "base/fail.h"
#include "cost/gpus.h"
#include "cost/span.h"
#include "haul/cost.h"

/* The time on the new GPU over that on the old if this rate bounds it; 0: not known on both. */
static double bound_of(haul_figure from, haul_figure to)
{
    const double ratio = from.value / to.value;
    return from.value > 0 && isfinite(ratio) ? ratio : 0;
}

/* Instructions issued: clock x multiprocessors. */
static haul_figure issue_rate(const haul_gpu *gpu)
{
    return (haul_figure){.value = gpu->clock_Hz.value * gpu->multiprocessors.value};
}

/* The ratios that bound a kernel nobody has looked into. Most kernels of HPC are bound by memory:
 * that is the point; without it the middle, in the logarithm, of those there are. */
static haul_span ratio_of(const haul_gpu *from, const haul_gpu *to)
{
    const double bounds[] = {
        bound_of(from->memory_bandwidth_Bps, to->memory_bandwidth_Bps),
        bound_of(from->fp32_flops, to->fp32_flops),
        bound_of(from->fp64_flops, to->fp64_flops),
        bound_of(issue_rate(from), issue_rate(to)),
    };
    haul_span span = {.low = HUGE_VAL};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        if (bounds[i] <= 0)
            continue;
        span.low = fmin(span.low, bounds[i]);
        span.high = fmax(span.high, bounds[i]);
    }
    span.mid = bounds[0] > 0 ? bounds[0] : sqrt(span.low) * sqrt(span.high);
    return span;
}

static const char *text_of(const char *name)
{
    return name ? name : "a GPU without a name";
}

haul_status haul_kernel_carry(const haul_machine *from, const haul_machine *to, double seconds,
                              haul_estimate *out, haul_error *error)
{
    if (!(seconds >= 0 && isfinite(seconds)))
        return haul_fail(error, HAUL_BAD_INPUT, "expected a duration, not %g s", seconds);
    haul_span ratio = haul_span_exact(1);
    if (!haul_gpu_same(&from->gpu, &to->gpu))
        ratio = ratio_of(&from->gpu, &to->gpu);
    if (ratio.high <= 0)
        return haul_fail(error, HAUL_MISSING,
                         "no rate of memory or arithmetic is known of both '%.100s' and '%.100s'",
                         text_of(from->gpu.name), text_of(to->gpu.name));
    *out = (haul_estimate){
        .seconds = seconds * ratio.mid,
        .low_s = seconds * ratio.low,
        .high_s = seconds * ratio.high,
        .weakest = HAUL_CARRIED,
        .model = "carry",
    };
    return HAUL_OK;
}
