/* The measured points of a curve. */
#ifndef HAUL_COST_POINTS_H
#define HAUL_COST_POINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "haul/machine.h"

/* How many points `curve` has; 0 for NULL. */
size_t hl_cost_curve_points(const haul_copy_curve *curve);

/* Seconds at a size: straight between the points; outside the first and the last piece go on where
 * they rise, and stay where they fall; never below the curve's latency or 0. One point says nothing
 * of a slope: below it its time stands, above it its rate. Needs: at least one point. */
double hl_cost_curve_seconds(const haul_copy_curve *curve, double bytes);

/* The rate of the last piece, in bytes per second: 1/G. Returns false, and leaves *rate alone,
 * where the points do not tell it: fewer than two, a last piece that does not rise, or points that
 * all lie below half of the performance it promises (Hockney's n_1/2), where a slope is noise on a
 * latency. */
bool hl_cost_curve_rate(const haul_copy_curve *curve, double *rate_Bps);

/* Whether the points speak for a copy of `bytes` bytes: it lies between them, or it is larger and
 * they tell the rate, or smaller and there are two. */
bool hl_cost_curve_covers(const haul_copy_curve *curve, double bytes);

/* Whether `bytes` lies between the first and the last point. */
bool hl_cost_curve_encloses(const haul_copy_curve *curve, double bytes);

#endif
