#include "problem.h"

#include <math.h>
#include <stdio.h>

/* A linear congruential generator (Numerical Recipes): its upper bits are what is used. */
static unsigned next(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

void problem_fill(float *values, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)next(&seed) / (float)(1 << 23) - 1.0f;
}

void problem_fill_whole(int *values, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (int)(next(&seed) % 11) - 5;
}

bool problem_check_matmul(int n, const float *a, const float *b, const float *c)
{
    const size_t count = (size_t)n * (size_t)n, most = (size_t)256 * 256;
    const size_t step = count > most ? count / most | 1 : 1; /* odd: over all columns */
    for (size_t i = 0; i < count; i += step) {
        const size_t row = i / (size_t)n, column = i % (size_t)n;
        double sum = 0, size = 0;
        for (size_t k = 0; k < (size_t)n; k++) {
            const double term = (double)a[row * (size_t)n + k] * (double)b[k * (size_t)n + column];
            sum += term;
            size += fabs(term);
        }
        /* single precision rounds each of n sums */
        if (fabs((double)c[i] - sum) <= 1e-6 * size + 1e-6)
            continue;
        fprintf(stderr, "kernels: row %zu, column %zu is %g, and should be %g\n", row, column,
                (double)c[i], sum);
        return false;
    }
    return true;
}

static long larger(long a, long b)
{
    return a > b ? a : b;
}

/* Kadane's scan; the empty subarray counts. */
static long best_of(int n, const int *x)
{
    long best = 0, here = 0;
    for (int i = 0; i < n; i++) {
        here = larger(here + x[i], 0);
        best = larger(best, here);
    }
    return best;
}

bool problem_check_max_subarray(int n, const int *x, const int *results, int intervals)
{
    long best = 0, suffix = 0, count = 0;
    for (int i = 0; i < intervals; i++) {
        const int *at = results + 5 * (size_t)i; /* best, prefix, suffix, sum, count */
        best = larger(best, larger(at[0], suffix + at[1]));
        suffix = larger(at[2], suffix + at[3]);
        count += at[4];
    }
    const long right = best_of(n, x);
    if (count == n && best == right)
        return true;
    fprintf(stderr, "kernels: the best subarray of %ld elements is %ld, and should be %ld of %d\n",
            count, best, right, n);
    return false;
}
