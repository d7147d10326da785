/* tile_rows [DEVICE ...]: loops of the tile runtime whose cells follow each other in memory, beside
 * plain OpenMP loops of the same compiler in the same run: the least of ROUNDS. */
#include <stdio.h>
#include <stdlib.h>

#include "haul/tile.h"
#include "tile_rows.kernel.h"
#include "took.h"

enum { CELLS = 33000000, N = 1024, ROUNDS = 5 };

static double least(double a, double b)
{
    return a > 0 && a < b ? a : b;
}

static void plain_add(const double *restrict a, const double *restrict b, double *restrict c)
{
#pragma omp parallel for
    for (int x = 0; x < CELLS; x++)
        c[x] = a[x] + b[x];
}

static double plain_sum(const double *a)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int x = 0; x < CELLS; x++)
        sum += a[x];
    return sum;
}

static void plain_multiply(const double *restrict a, const double *restrict b, double *restrict c)
{
#pragma omp parallel for
    for (int y = 0; y < N; y++) {
        for (int x = 0; x < N; x++)
            c[y * N + x] = 0;
        for (int k = 0; k < N; k++)
            for (int x = 0; x < N; x++)
                c[y * N + x] += a[y * N + k] * b[k * N + x];
    }
}

typedef struct plain_times {
    double add_s;
    double sum_s;
    double multiply_s;
} plain_times;

static plain_times time_plain(void)
{
    plain_times least_s = {0, 0, 0};
    double *a = calloc(CELLS, sizeof *a), *b = calloc(CELLS, sizeof *b);
    double *c = calloc(CELLS, sizeof *c);
    volatile double kept = 0;
    if (!a || !b || !c)
        exit(70);
    for (int i = 0; i < CELLS; i++)
        a[i] = b[i] = c[i] = i % 7;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = wall_s();
        plain_add(a, b, c);
        least_s.add_s = least(least_s.add_s, wall_s() - begin);
        begin = wall_s();
        kept += plain_sum(a);
        least_s.sum_s = least(least_s.sum_s, wall_s() - begin);
        begin = wall_s();
        plain_multiply(a, b, c);
        least_s.multiply_s = least(least_s.multiply_s, wall_s() - begin);
    }
    free(a);
    free(b);
    free(c);
    return least_s;
}

static haul_array *new_array(haul_context *context, haul_array_spec spec)
{
    haul_array *array;
    haul_error error;
    stop_at(haul_array_new(context, &spec, &array, &error), &error);
    return array;
}

/* A loop until it has ended, the arrays being where they are needed but for the first time. */
static double time_loop(haul_context *context, const haul_kernel_source *kernel,
                        const void *const *arguments, size_t count)
{
    double least_s = 0;
    haul_error error;
    for (int round = 0; round <= ROUNDS; round++) {
        const double begin = wall_s();
        stop_at(haul_loop_queue(context, kernel, arguments, count, NULL, &error), &error);
        stop_at(haul_context_wait(context, &error), &error);
        if (round)
            least_s = least(least_s, wall_s() - begin);
    }
    return least_s;
}

static void print_ratio(const char *device, const char *what, double haul_s, double plain_s,
                        double goal)
{
    printf("%-10s %-16s %8.2f ms, plain %8.2f ms: %.2f, goal %.2f%s\n", device, what, haul_s * 1e3,
           plain_s * 1e3, haul_s / plain_s, goal, haul_s / plain_s <= goal ? "" : " missed");
}

/* Zeros would do, but a device may know them: all arrays are set by loops first. */
static void time_device(const char *device, const plain_times *plain)
{
    haul_context *context;
    haul_error error;
    stop_at(haul_context_open(device, NULL, &context, &error), &error);
    haul_array *a = new_array(context, (haul_array_spec){.size = {CELLS}});
    haul_array *b = new_array(context, (haul_array_spec){.size = {CELLS}});
    haul_array *c = new_array(context, (haul_array_spec){.size = {CELLS}});
    haul_array *sum = new_array(context, (haul_array_spec){.size = {1}});
    const void *const to_a[] = {b, c, a}, *const to_b[] = {a, c, b}, *const to_c[] = {a, b, c};
    (void)time_loop(context, &add_rows, to_a, 3);
    (void)time_loop(context, &add_rows, to_b, 3);
    const double add_s = time_loop(context, &add_rows, to_c, 3);
    const double sum_s = time_loop(context, &sum_rows, (const void *const[]){a, sum}, 2);
    haul_array_free(a);
    haul_array_free(b);
    haul_array_free(c);
    haul_array_free(sum);
    a = new_array(context, (haul_array_spec){.size = {N, N}});
    b = new_array(context, (haul_array_spec){.size = {N * N}});
    c = new_array(context, (haul_array_spec){.size = {N, N}});
    const int n = N;
    const double multiply_s =
        time_loop(context, &multiply_rows, (const void *const[]){a, b, c, &n}, 4);
    print_ratio(device, "vector add", add_s, plain->add_s, 1.05);
    print_ratio(device, "sum", sum_s, plain->sum_s, 1.05);
    print_ratio(device, "product by rows", multiply_s, plain->multiply_s, 1.1);
    haul_array_free(a);
    haul_array_free(b);
    haul_array_free(c);
    haul_context_close(context);
}

int main(int argc, char **argv)
{
    const plain_times plain = time_plain();
    for (int i = 1; i < argc; i++)
        time_device(argv[i], &plain);
    if (argc == 1)
        time_device("host", &plain);
}
