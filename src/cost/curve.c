/* Shared by the fits: the check of their samples and the score of their results. */
#include "cost/curve.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/stats.h"

double hl_cost_fitted_seconds(const haul_copy_curve *curve, double bytes)
{
    return hl_cost_curve_points(curve) ? hl_cost_curve_seconds(curve, bytes)
                                       : curve->latency_s.value + bytes / curve->rate_Bps.value;
}

/* 1e9 s is thirty years: more is a wrong unit, and sums of fits stay finite below it. */
haul_status hl_cost_samples_check(const haul_sample *samples, size_t count, haul_error *error)
{
    if (!count)
        return haul_error_set(error, HAUL_STATUS_MISSING, "no measured copies to fit");
    for (size_t i = 0; i < count; i++)
        if (!(samples[i].seconds >= 0 && samples[i].seconds <= 1e9))
            return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                  "sample %zu: expected a duration from 0 to 1e9 s, not %g", i + 1,
                                  samples[i].seconds);
    return HAUL_OK;
}

/* Reports the sum over all samples (wape): AHEAD's WMAPE (section VI.C) averages it over the
 * operations, so it depends on how many there are. */
haul_status hl_cost_curve_score(const haul_copy_curve *curve, const haul_sample *samples,
                                size_t count, haul_residuals *residuals, haul_error *error)
{
    double *relative = malloc(count * sizeof *relative);
    if (!relative)
        return hl_base_fail_no_memory(error);
    double off = 0, total = 0;
    for (size_t i = 0; i < count; i++) {
        const double measured = samples[i].seconds;
        const double bytes = (double)samples[i].copy.bytes;
        const double miss = fabs(measured - hl_cost_fitted_seconds(curve, bytes));
        /* a clock that shows 0 has missed by all of a nanosecond, the finest that profilers tell */
        relative[i] = 100 * miss / fmax(measured, 1e-9);
        off += miss;
        total += measured;
    }
    hl_base_sort_doubles(relative, count);
    *residuals = (haul_residuals){
        .samples = count,
        .wape = 100 * off / fmax(total, 1e-9),
        .median = hl_base_quantile_sorted(relative, count, 0.5),
        .p90 = hl_base_quantile_sorted(relative, count, 0.9),
    };
    free(relative);
    return HAUL_OK;
}

/* Both outputs are set or neither is. */
haul_status hl_cost_curve_keep(const haul_copy_curve *fitted, const haul_sample *samples,
                               size_t count, haul_copy_curve *curve, haul_residuals *residuals,
                               haul_error *error)
{
    if (residuals) {
        HAUL_TRY(hl_cost_curve_score(fitted, samples, count, residuals, error));
    }
    *curve = *fitted;
    return HAUL_OK;
}
