/* Units as tables of launches have them. */
#ifndef HAUL_KERNEL_UNITS_H
#define HAUL_KERNEL_UNITS_H

#include "haul/units.h"

/* What one of `unit` is in the dimension's base unit; 0 for none that is known. */
double haul_kernel_unit_scale(const char *unit, haul_dimension dimension);

/* A column's name that is a time with its unit, as "median_ms" and "Time (us)": the rank of its
 * stem, the first the best, and its scale; -1 for no time. */
int haul_kernel_time_rank(const char *name, double *scale);

#endif
