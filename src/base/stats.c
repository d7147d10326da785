/* Quantiles by linear interpolation between order statistics (Hyndman and Fan 1996, type 7); those
 * of many values by selection (Hoare 1961), in linear time. */
#include "base/stats.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static int compare_doubles(const void *a, const void *b)
{
    /* No difference: that of two near values would become 0 when cut to an int. */
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void hl_base_sort_doubles(double *values, size_t count)
{
    /* qsort must not be given NULL, which an empty array may be. */
    if (count)
        qsort(values, count, sizeof *values, compare_doubles);
}

double hl_base_quantile_sorted(const double *sorted, size_t count, double q)
{
    /* Type 7: the quantile q lies at q (n - 1), counted from 0. */
    const double at = q * (double)(count - 1);
    const size_t below = (size_t)floor(at);
    if (below + 1 >= count)
        return sorted[count - 1];
    const double share = at - (double)below;
    return sorted[below] + share * (sorted[below + 1] - sorted[below]);
}

double hl_base_median(double *values, size_t count)
{
    hl_base_sort_doubles(values, count);
    return hl_base_quantile_sorted(values, count, 0.5);
}

static void swap(double *a, double *b)
{
    const double kept = *a;
    *a = *b;
    *b = kept;
}

/* Hoare's partition of [low, high] about the value at `pivot`: returns `split` with everything up
 * to it at most, and everything after it at least, that value. */
static size_t partition(double *values, size_t low, size_t high, size_t pivot)
{
    /* With the pivot first, `right` stops before `high`: both parts get smaller, and the search
     * ends. */
    swap(&values[low], &values[pivot]);
    const double at = values[low];
    size_t left = low, right = high;
    for (;; left++, right--) {
        while (values[left] < at)
            left++;
        while (values[right] > at)
            right--;
        if (left >= right)
            return right;
        swap(&values[left], &values[right]);
    }
}

/* The value of rank `rank` comes to its place, smaller ones before it and larger ones after it. The
 * pivots are from a fixed sequence, so that no order of values is slow on purpose. */
double hl_base_quantile_of_many(double *values, size_t count, double q)
{
    const double at = q * (double)(count - 1);
    const size_t rank = (size_t)floor(at);
    size_t low = 0, high = count - 1;
    /* Xorshift (Marsaglia 2003, shifts 13, 7, 17) from 2^64 divided by the golden ratio. */
    uint64_t random = 0x9e3779b97f4a7c15U;
    while (low < high) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        const size_t split = partition(values, low, high, low + random % (high - low + 1));
        if (rank <= split)
            high = split;
        else
            low = split + 1;
    }
    if (rank + 1 >= count)
        return values[rank];
    /* Everything after the rank is at least as large, so the next order statistic is its
     * minimum. */
    double above = values[rank + 1];
    for (size_t i = rank + 2; i < count; i++)
        above = fmin(above, values[i]);
    return values[rank] + (at - (double)rank) * (above - values[rank]);
}

double hl_base_median_of_many(double *values, size_t count)
{
    return hl_base_quantile_of_many(values, count, 0.5);
}
