/* What fits share: the check of their samples and the score of what they made. */
#include "cost/curve.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/stats.h"

double haul_fitted_seconds(const haul_copy_curve *curve, double bytes)
{
    return haul_curve_points(curve) ? haul_curve_seconds(curve, bytes)
                                    : curve->latency_s.value + bytes / curve->rate_Bps.value;
}

/* 1e9 s is thirty years: more is a wrong unit, and sums of fits stay finite below it. */
haul_status haul_samples_check(const haul_sample *samples, size_t count, haul_error *error)
{
    if (!count)
        return haul_fail(error, HAUL_MISSING, "no measured copies to fit");
    for (size_t i = 0; i < count; i++)
        if (!(samples[i].seconds >= 0 && samples[i].seconds <= 1e9))
            return haul_fail(error, HAUL_BAD_INPUT,
                             "sample %zu: expected a duration from 0 to 1e9 s, not %g", i + 1,
                             samples[i].seconds);
    return HAUL_OK;
}

/* Reports the sum over all samples (wape): AHEAD's WMAPE (section VI.C) averages it over the
 * operations, so it depends on how many there are. */
haul_status haul_curve_score(const haul_copy_curve *curve, const haul_sample *samples, size_t count,
                             haul_residuals *residuals, haul_error *error)
{
    double *relative = malloc(count * sizeof *relative);
    if (!relative)
        return haul_fail_no_memory(error);
    double off = 0, total = 0;
    for (size_t i = 0; i < count; i++) {
        const double measured = samples[i].seconds;
        const double bytes = (double)samples[i].copy.bytes;
        const double miss = fabs(measured - haul_fitted_seconds(curve, bytes));
        /* a clock that shows 0 has missed by all of a nanosecond, the finest that profilers tell */
        relative[i] = 100 * miss / fmax(measured, 1e-9);
        off += miss;
        total += measured;
    }
    haul_sort_doubles(relative, count);
    *residuals = (haul_residuals){
        .samples = count,
        .wape = 100 * off / fmax(total, 1e-9),
        .median = haul_quantile_sorted(relative, count, 0.5),
        .p90 = haul_quantile_sorted(relative, count, 0.9),
    };
    free(relative);
    return HAUL_OK;
}

/* Both outputs are set or neither is. */
haul_status haul_curve_keep(const haul_copy_curve *fitted, const haul_sample *samples, size_t count,
                            haul_copy_curve *curve, haul_residuals *residuals, haul_error *error)
{
    if (residuals) {
        HAUL_TRY(haul_curve_score(fitted, samples, count, residuals, error));
    }
    *curve = *fitted;
    return HAUL_OK;
}
