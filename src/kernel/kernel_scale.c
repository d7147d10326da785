/* A kernel of which nothing is known but its time, and perhaps its launch. */
#include <math.h>

#include "base/fail.h"
#include "cost/range.h"
#include "kernel/gpu_rates.h"
#include "kernel/kernel_models.h"
#include "kernel/kernel_parts.h"

/* Double precision bounds kernels on GPUs that are built for it, not where it is a token. */
static const double built_for_double = 0.25;

/* The time on the target over that on the source if this rate bounds it; 0: not known on both. */
static double bound_of(double from, double to)
{
    const double ratio = from / to;
    return from > 0 && isfinite(ratio) ? ratio : 0;
}

static bool knows_inside(const haul_gpu *gpu)
{
    return gpu->clock_Hz.value > 0 && gpu->multiprocessors.value > 0;
}

/* By the clock, the busiest multiprocessor and the waits of instructions; 0: not known on both. */
static double inside_of(const haul_gpu *from, const haul_gpu *to,
                        const haul_kernel_launches *launches)
{
    return knows_inside(from) && knows_inside(to) ? hl_kernel_gpu_inside_ratio(from, to, launches)
                                                  : 0;
}

/* True of GPUs with 1:2 or 1:3 (K40, V100, A100), not of 1:24 to 1:64. */
static bool is_built_for_double(const haul_gpu *gpu)
{
    return gpu->fp64_flops.value >= built_for_double * gpu->fp32_flops.value;
}

/* Takes a ratio into the span; one that is not known changes nothing. */
static void widen(hl_cost_range *span, double ratio)
{
    if (ratio <= 0)
        return;
    span->low = fmin(span->low, ratio);
    span->high = fmax(span->high, ratio);
}

/* A thread that does anything reads a value and writes one, of four bytes each at the least. */
static const double least_of_thread = 8;

double hl_kernel_memory_share(const haul_gpu *gpu, const haul_kernel_launches *launches,
                              double each_s, double bytes)
{
    const double least = launches->blocks * launches->block * least_of_thread;
    const double share = fmax(bytes, least) / (each_s * hl_kernel_gpu_memory_rate(gpu));
    /* threads that return at once, values of a byte: more than the memory moves */
    const bool is_belied = !(bytes > 0) && share > 1;
    return isfinite(share) && !is_belied ? share : 0;
}

/* Evidence that the memory bounds a kernel. */
typedef struct evidence {
    double sure;   /* 0 to 1 */
    bool is_known; /* the launch is known, so that what is not sure is taken not to be so */
} evidence;

/* The ratios that bound a kernel nobody has looked into: of the device's memory, of what goes on
 * inside the multiprocessors, of arithmetic. As far as its bytes, or the least that its threads
 * move, make sure that the memory is it, by that ratio, and for the rest by the one inside: half
 * way in place of this is worse with every GPU left out (docs/accuracy/operators.md). Without a
 * launch it is half way.
 *
 * The half widths are those of kernels that are known and bound inside, and beside them half of the
 * way to the farthest ratio, or all of it without a launch: with times and launches alone they hold
 * 94 and 98 of 100 within and between architectures, and score as one constant width does that was
 * chosen with hindsight (docs/accuracy/operators.md). */
static hl_cost_range ratio_of(const haul_gpu *from, const haul_gpu *to,
                              const haul_kernel_launches *launches, evidence of)
{
    const double memory = bound_of(hl_kernel_gpu_memory_rate(from), hl_kernel_gpu_memory_rate(to));
    const double inside = inside_of(from, to, launches);
    const double of_memory = of.is_known ? of.sure : (1 + of.sure) / 2;
    hl_cost_range span = {.low = HUGE_VAL};
    widen(&span, memory);
    widen(&span, inside);
    widen(&span, bound_of(from->fp32_flops.value, to->fp32_flops.value));
    if (is_built_for_double(from) && is_built_for_double(to))
        widen(&span, bound_of(from->fp64_flops.value, to->fp64_flops.value));
    if (memory > 0) {
        span.low = pow(span.low, 1 - of.sure) * pow(memory, of.sure);
        span.high = pow(span.high, 1 - of.sure) * pow(memory, of.sure);
    }
    if (!(span.high > 0)) /* no rate is known */
        return span;
    span.mid = memory > 0 && inside > 0 ? pow(memory, of_memory) * pow(inside, 1 - of_memory)
                                        : sqrt(span.low) * sqrt(span.high);
    const double reach = of.is_known ? 0.5 : 1;
    const double width = hl_kernel_uncertainty_inside(from, to);
    span.low = span.mid * exp(-hypot(width, reach * log(span.mid / span.low)));
    span.high = span.mid * exp(hypot(width, reach * log(span.high / span.mid)));
    return span;
}

static const char *text_of(const char *name)
{
    return name ? name : "a GPU without a name";
}

static haul_status check_launches(const haul_kernel_launches *launches, double seconds,
                                  haul_error *error)
{
    if (!(seconds >= 0 && isfinite(seconds)))
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "expected a duration, not %g s",
                              seconds);
    const double counts[] = {launches->count, launches->blocks, launches->block};
    for (int i = 0; i < 3; i++)
        if (!(counts[i] >= 0 && counts[i] <= 1e30))
            return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                  "expected counts, not %g launches of %g x %g", launches->count,
                                  launches->blocks, launches->block);
    return HAUL_OK;
}

/* A grid that leaves most of the GPU empty never fills its memory. */
static hl_cost_range ratio_of_work(const haul_gpu *from, const haul_gpu *to,
                                   const haul_kernel_launches *launches, double work_s,
                                   double bytes)
{
    const double inside = inside_of(from, to, launches);
    if (hl_kernel_gpu_keeps_times(from, to))
        return hl_cost_range_exact(1);
    if (inside > 0 && hl_kernel_gpu_has_low_occupancy(from, launches->blocks, launches->block))
        return hl_cost_range_within(inside, exp(hl_kernel_uncertainty_inside(from, to)));
    const double each_s = work_s / fmax(launches->count, 1);
    const double share = hl_kernel_memory_share(from, launches, each_s, bytes);
    return ratio_of(from, to, launches,
                    (evidence){hl_kernel_bound_weight(share), launches->blocks > 0});
}

/* The launches' own time is split off first: what launching takes does not shrink with the work.
 * Its ends follow the ratio only outward, so that the interval holds a launch that changes with the
 * GPU and one that does not. */
haul_status hl_kernel_scale_unknown(const haul_machine *from, const haul_machine *to,
                                    const haul_kernel_work *work, haul_estimate *out,
                                    haul_error *error)
{
    const haul_kernel_launches *launches = &work->launches;
    const double seconds = work->seconds;
    HAUL_TRY(check_launches(launches, seconds, error));
    const double launch_s = fmin(launches->count * hl_kernel_gpu_launch(&from->gpu), seconds / 2);
    const double work_s = seconds - launch_s;
    const hl_cost_range ratio = ratio_of_work(&from->gpu, &to->gpu, launches, work_s, work->bytes);
    if (ratio.high <= 0)
        return haul_error_set(
            error, HAUL_STATUS_MISSING,
            "no rate of memory or arithmetic is known of both '%.100s' and '%.100s'",
            text_of(from->gpu.name), text_of(to->gpu.name));
    *out = (haul_estimate){
        .seconds = launch_s + work_s * ratio.mid,
        .low_s = fmin(launch_s, launch_s * ratio.low) + work_s * ratio.low,
        .high_s = fmax(launch_s, launch_s * ratio.high) + work_s * ratio.high,
        .weakest = HAUL_PROVENANCE_SCALED,
        .model = hl_kernel_model_scale.name,
    };
    return HAUL_OK;
}

haul_status haul_kernel_scale_launches(const haul_machine *from, const haul_machine *to,
                                       const haul_kernel_launches *launches, double seconds,
                                       haul_estimate *out, haul_error *error)
{
    const haul_kernel_work work = {.launches = *launches, .seconds = seconds};
    return hl_kernel_scale_unknown(from, to, &work, out, error);
}

haul_status haul_kernel_scale(const haul_machine *from, const haul_machine *to, double seconds,
                              haul_estimate *out, haul_error *error)
{
    return haul_kernel_scale_launches(from, to, &(haul_kernel_launches){0}, seconds, out, error);
}

/* Nothing is known of what bounds the kernel: the source time between the ratios that may. */
static haul_status time_scaled(const haul_kernel_case *what, haul_estimate *out, haul_error *error)
{
    haul_kernel_case at_source = *what;
    at_source.target = what->source;
    haul_estimate source;
    HAUL_TRY(hl_kernel_model_roofline.time(&at_source, &source, error));
    haul_estimate scaled = {0};
    HAUL_TRY(haul_kernel_scale(what->source, what->target, source.seconds, &scaled, error));
    scaled.low_s *= source.low_s / source.seconds;
    scaled.high_s *= source.high_s / source.seconds;
    *out = scaled;
    return HAUL_OK;
}

const haul_kernel_model hl_kernel_model_scale = {
    .abi = HAUL_KERNEL_MODEL_ABI,
    .name = "scale",
    .summary = "the source time, between the ratios of memory, arithmetic and clock",
    .time = time_scaled,
};
