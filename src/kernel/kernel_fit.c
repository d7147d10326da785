/* The calibration factor (lambda, HiPC 2015, section IV) of a kernel by size, from its measured
 * times: log(BSP / time) at each size, with the launch taken off first, for it does not grow with
 * the work. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/stats.h"
#include "kernel/gpu_rates.h"
#include "kernel/kernel_curve.h"
#include "kernel/kernel_parts.h"

/* Up to this share of neighbours' differences is noise and slow bends; above it the sizes conflict
 * in the cache, each in its own way (strides that are multiples of its sets). From 0.02 to 0.2 all
 * means of accuracy.md are within 0.1 points. */
static const double rough_enough = 0.05;

enum {
    NEIGHBOURS = 4
}; /* each side, among which the calmest size is sought; 2 or 8: within 0.2 points */

/* Samples of a caller's own have no place in a file. */
static void fail_at(const haul_kernel_sample *sample, haul_error *error)
{
    if (sample->line)
        hl_base_error_at(error, (hl_base_place){sample->file, sample->line, sample->column});
}

/* All counts are checked here, so that logarithms and quotients below are of positive numbers. */
static haul_status check_samples(const haul_kernel_sample *samples, size_t count, haul_error *error)
{
    if (!count)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "no measured time to fit to");
    for (size_t i = 0; i < count; i++) {
        const haul_kernel_sample *sample = &samples[i];
        if (!(sample->size > 0 && sample->size <= 1e30))
            haul_error_set(error, HAUL_STATUS_BAD_INPUT, "expected a size above 0, not %g",
                           sample->size);
        else if (!(sample->seconds > 0 && sample->seconds <= 1e9))
            haul_error_set(error, HAUL_STATUS_BAD_INPUT, "expected a time above 0, not %g s",
                           sample->seconds);
        else if (hl_kernel_counts_check(&sample->counts, error) == HAUL_OK)
            continue;
        fail_at(sample, error);
        return HAUL_STATUS_BAD_INPUT;
    }
    return HAUL_OK;
}

static int by_size(const void *a, const void *b)
{
    const double x = ((const haul_kernel_knot *)a)->size;
    const double y = ((const haul_kernel_knot *)b)->size;
    return (x > y) - (x < y);
}

/* In the logarithm: lambda is a ratio, and errors of a factor count alike up and down. */
static void fill_knots(haul_kernel_fit *fit, const haul_gpu *gpu, const haul_kernel_sample *samples,
                       size_t count)
{
    const double issue = hl_kernel_issue(gpu);
    for (size_t i = 0; i < count; i++) {
        const double bsp = hl_kernel_cycles(&samples[i].counts) / issue;
        fit->knots[i] = (haul_kernel_knot){
            .size = samples[i].size,
            .log_size = log(samples[i].size),
            .log_calibration = log(bsp / (samples[i].seconds - fit->launch_s)),
        };
    }
    qsort(fit->knots, count, sizeof *fit->knots, by_size);
    /* Sizes that were measured more than once become one knot at the mean of log lambda. */
    size_t kept = 0;
    for (size_t i = 0; i < count;) {
        size_t j = i;
        double sum = 0;
        for (; j < count && fit->knots[j].size == fit->knots[i].size; j++)
            sum += fit->knots[j].log_calibration;
        fit->knots[kept] = fit->knots[i];
        fit->knots[kept++].log_calibration = sum / (double)(j - i);
        i = j;
    }
    fit->count = kept;
}

/* The mean second difference: what is left of neighbours when a trend is taken away. */
static double roughness(const haul_kernel_knot *k, size_t count)
{
    enum { LEAST = 5 };
    if (count < LEAST)
        return 0;
    double sum = 0;
    for (size_t i = 1; i + 1 < count; i++)
        sum += fabs(k[i + 1].log_calibration - 2 * k[i].log_calibration + k[i - 1].log_calibration);
    return sum / (double)(count - 2) / 2;
}

/* hl_base_median sorts in place, so the least and the most are at the ends behind it. */
static haul_status sum_up(haul_kernel_fit *fit, haul_error *error)
{
    double *lambdas = malloc((fit->count + 1) * sizeof *lambdas);
    if (!lambdas)
        return hl_base_fail_no_memory(error);
    for (size_t i = 0; i < fit->count; i++)
        lambdas[i] = exp(fit->knots[i].log_calibration);
    fit->calibration = hl_base_median(lambdas, fit->count);
    fit->least = lambdas[0];
    fit->most = lambdas[fit->count - 1];
    fit->one_serves = fit->least >= fit->calibration * (1 - HAUL_KERNEL_ONE_CALIBRATION) &&
                      fit->most <= fit->calibration * (1 + HAUL_KERNEL_ONE_CALIBRATION);
    free(lambdas);
    return HAUL_OK;
}

/* Of the time of all sizes together, so that the large ones count: small ones live in the caches.
 */
static void take_shares(haul_kernel_fit *fit, const haul_gpu *gpu,
                        const haul_kernel_sample *samples, size_t count)
{
    double bytes = 0;
    double arithmetic_s = 0;
    double issue_s = 0;
    double seconds = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += samples[i].counts.bytes;
        arithmetic_s += hl_kernel_gpu_arithmetic_s(gpu, &samples[i].counts);
        issue_s += hl_kernel_gpu_issue_s(gpu, &samples[i].counts);
        seconds += samples[i].seconds - fit->launch_s;
    }
    const double rate = hl_kernel_gpu_memory_rate(gpu);
    fit->memory_share = rate > 0 ? bytes / seconds / rate : 0;
    fit->arithmetic_share = arithmetic_s / seconds;
    fit->issue_share = issue_s / seconds;
}

static haul_status fit_all(haul_kernel_fit *fit, const haul_gpu *gpu, haul_kernel_fit_kind kind,
                           const haul_kernel_sample *samples, size_t count, haul_error *error)
{
    /* a launch takes its time whatever the size; a kernel shorter than two of them works for half
     */
    fit->launch_s = hl_kernel_gpu_launch(gpu);
    for (size_t i = 0; i < count; i++)
        fit->launch_s = fmin(fit->launch_s, samples[i].seconds / 2);
    fill_knots(fit, gpu, samples, count);
    if (kind == HAUL_KERNEL_FIT_BY_SIZE && fit->count < 2) {
        haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                       "lambda by size is two figures or more: it needs two sizes, not one");
        fail_at(&samples[count - 1], error);
        return HAUL_STATUS_BAD_INPUT;
    }
    HAUL_TRY(sum_up(fit, error));
    take_shares(fit, gpu, samples, count);
    if (kind == HAUL_KERNEL_FIT_ONE) {
        fit->knots[0] = fit->knots[fit->count / 2];
        fit->knots[0].log_calibration = log(fit->calibration);
        fit->count = 1;
    }
    hl_kernel_curve_bend(fit->knots, fit->count);
    fit->rough = roughness(fit->knots, fit->count);
    for (size_t i = 0; i < fit->count; i++) {
        /* The best lambda among the neighbours: what a size would have without its own conflicts.
         */
        const size_t first = i > NEIGHBOURS ? i - NEIGHBOURS : 0;
        const size_t last = i + NEIGHBOURS < fit->count ? i + NEIGHBOURS : fit->count - 1;
        double best = fit->knots[i].log_calibration;
        for (size_t j = first; fit->rough > rough_enough && j <= last; j++)
            best = fmax(best, fit->knots[j].log_calibration);
        fit->knots[i].log_calm = best;
    }
    return HAUL_OK;
}

/* Checks before it allocates; on failure *fit is left alone. */
haul_status haul_kernel_fit_new(const haul_machine *source, haul_kernel_fit_kind kind,
                                const haul_kernel_sample *samples, size_t count,
                                haul_kernel_fit **fit, haul_error *error)
{
    HAUL_TRY(hl_kernel_gpu_check(source, error));
    HAUL_TRY(check_samples(samples, count, error));
    haul_kernel_fit *made = calloc(1, sizeof *made);
    if (made)
        made->knots = calloc(count, sizeof *made->knots);
    const haul_status status = made && made->knots
                                   ? fit_all(made, &source->gpu, kind, samples, count, error)
                                   : hl_base_fail_no_memory(error);
    if (status == HAUL_OK)
        *fit = made;
    else
        haul_kernel_fit_free(made);
    return status;
}

void haul_kernel_fit_free(haul_kernel_fit *fit)
{
    if (!fit)
        return;
    free(fit->knots);
    free(fit);
}
