#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void haul_sort_doubles(double *values, size_t count)
{
    if (count)
        qsort(values, count, sizeof *values, compare_doubles);
}

double haul_quantile_sorted(const double *sorted, size_t count, double q)
{
    const double at = q * (double)(count - 1);
    const size_t below = (size_t)floor(at);
    if (below + 1 >= count)
        return sorted[count - 1];
    const double share = at - (double)below;
    return sorted[below] + share * (sorted[below + 1] - sorted[below]);
}

double haul_median(double *values, size_t count)
{
    haul_sort_doubles(values, count);
    return haul_quantile_sorted(values, count, 0.5);
}
