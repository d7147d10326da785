/* Order statistics of doubles. */
#ifndef HAUL_BASE_STATS_H
#define HAUL_BASE_STATS_H

#include <stddef.h>

/* Sorts ascending; NaN is not allowed. */
void hl_base_sort_doubles(double *values, size_t count);

/* Quantile q (0 to 1) of sorted values, interpolated between neighbours (type 7, what numpy and R
 * give by default). `count` > 0. */
double hl_base_quantile_sorted(const double *sorted, size_t count, double q);

/* Median of values in any order; sorts them. `count` > 0. */
double hl_base_median(double *values, size_t count);

/* The same two of values in any order, in time that grows with `count` alone: for millions of
 * values. Reorder them. `count` > 0. */
double hl_base_quantile_of_many(double *values, size_t count, double q);
double hl_base_median_of_many(double *values, size_t count);

#endif
