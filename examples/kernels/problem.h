/* The data of the two problems, and what the CPU makes of them. */
#ifndef KERNELS_PROBLEM_H
#define KERNELS_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>

/* Numbers that are the same each time: from -1 to 1, and whole ones from -5 to 5. */
void problem_fill(float *values, size_t count, unsigned seed);
void problem_fill_whole(int *values, size_t count, unsigned seed);

/* Whether c = a b, n x n: every element up to 256 x 256, else as many, spread over it. Says on
 * stderr which one is not. */
bool problem_check_matmul(int n, const float *a, const float *b, const float *c);

/* Whether the intervals' results, five numbers each, give the best subarray of `x`. */
bool problem_check_max_subarray(int n, const int *x, const int *results, int intervals);

#endif
