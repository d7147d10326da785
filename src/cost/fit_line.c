/* The straight line of LogGP, T = (L+o) + n G: CCGrid 2014, section V. */
#include <math.h>

#include "base/fail.h"
#include "cost/curve.h"

/* MISSING where all copies are of one size: those fix no slope. */
static haul_status check_line(const haul_sample *samples, size_t count, haul_error *error)
{
    HAUL_TRY(hl_cost_samples_check(samples, count, error));
    for (size_t i = 1; i < count; i++)
        if (samples[i].copy.bytes != samples[0].copy.bytes)
            return HAUL_OK;
    return haul_error_set(error, HAUL_STATUS_MISSING, "copies of two sizes: a line needs them");
}

/* A fitted latency below 0 is noise: no copy ends before it starts. */
static haul_copy_curve line_of(double latency_s, double seconds_per_byte, const haul_copy *copy)
{
    return (haul_copy_curve){
        .direction = copy->direction,
        .memory = copy->memory,
        .locality = copy->locality,
        .latency_s = {.value = fmax(latency_s, 0), .provenance = HAUL_PROVENANCE_FITTED},
        .rate_Bps = {.value = 1 / seconds_per_byte, .provenance = HAUL_PROVENANCE_FITTED},
    };
}

static haul_status fail_slope(haul_error *error)
{
    return haul_error_set(error, HAUL_STATUS_MISSING, "times that grow with size: these do not");
}

haul_status haul_fit_line_average(const haul_sample *samples, size_t count, haul_copy_curve *curve,
                                  haul_residuals *residuals, haul_error *error)
{
    HAUL_TRY(check_line(samples, count, error));
    uint64_t smallest = samples[0].copy.bytes;
    for (size_t i = 1; i < count; i++)
        if (samples[i].copy.bytes < smallest)
            smallest = samples[i].copy.bytes;
    double least = HUGE_VAL, seconds = 0, bytes = 0;
    for (size_t i = 0; i < count; i++) {
        if (samples[i].copy.bytes == smallest)
            least = fmin(least, samples[i].seconds);
        seconds += samples[i].seconds;
        bytes += (double)samples[i].copy.bytes;
    }
    /* G = (sum t - k (L+o)) / sum n, with L+o the time of the smallest copy, one byte or near it */
    const double slope = (seconds - (double)count * least) / bytes;
    if (!(slope > 0))
        return fail_slope(error);
    const haul_copy_curve line = line_of(least, slope, &samples[0].copy);
    return hl_cost_curve_keep(&line, samples, count, curve, residuals, error);
}

/* Weighs each copy by 1/t^2: plain least squares would fit the largest copies alone, whose misses
 * in seconds outweigh all others. */
haul_status haul_fit_line_relative(const haul_sample *samples, size_t count, haul_copy_curve *curve,
                                   haul_residuals *residuals, haul_error *error)
{
    HAUL_TRY(check_line(samples, count, error));
    /* least sum ((t - a - b n) / t)^2: the means are taken out first, for sizes span decades */
    double weight = 0, bytes = 0, seconds = 0;
    for (size_t i = 0; i < count; i++) {
        const double t = samples[i].seconds, w = pow(fmax(t, 1e-9), -2);
        weight += w;
        bytes += w * (double)samples[i].copy.bytes;
        seconds += w * t;
    }
    const double mean_bytes = bytes / weight, mean_seconds = seconds / weight;
    double both = 0, square = 0;
    for (size_t i = 0; i < count; i++) {
        const double t = samples[i].seconds, w = pow(fmax(t, 1e-9), -2);
        const double x = (double)samples[i].copy.bytes - mean_bytes;
        both += w * x * (t - mean_seconds);
        square += w * x * x;
    }
    double slope = both / square;
    double latency = mean_seconds - slope * mean_bytes;
    if (latency < 0) { /* then the best line through zero */
        const double moment = weight * mean_bytes;
        latency = 0;
        slope = (both + moment * mean_seconds) / (square + moment * mean_bytes);
    }
    if (!(slope > 0))
        return fail_slope(error);
    const haul_copy_curve line = line_of(latency, slope, &samples[0].copy);
    return hl_cost_curve_keep(&line, samples, count, curve, residuals, error);
}
