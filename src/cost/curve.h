/* Curves of copies as fits make and score them. */
#ifndef HAUL_COST_CURVE_H
#define HAUL_COST_CURVE_H

#include <stddef.h>

#include "cost/points.h"
#include "haul/fit.h"

/* The time of a curve by its points where it has any, else by its line,
 * latency_s + bytes / rate_Bps. */
double hl_cost_fitted_seconds(const haul_copy_curve *curve, double bytes);

/* Checks samples that are to be fitted: MISSING where there are none, BAD_INPUT where one is not a
 * duration. */
haul_status hl_cost_samples_check(const haul_sample *samples, size_t count, haul_error *error);

/* Scores a fitted curve against samples. `count` > 0; NO_MEMORY is the only failure. */
haul_status hl_cost_curve_score(const haul_copy_curve *curve, const haul_sample *samples,
                                size_t count, haul_residuals *residuals, haul_error *error);

/* Hands a fitted curve and its score (`residuals` may be NULL) to the caller. */
haul_status hl_cost_curve_keep(const haul_copy_curve *fitted, const haul_sample *samples,
                               size_t count, haul_copy_curve *curve, haul_residuals *residuals,
                               haul_error *error);

#endif
