/* tile_rows [DEVICE ...]: loops of the tile runtime whose cells follow each other in memory, beside
 * plain OpenMP loops of the same compiler, in turn: medians of the ratios of ROUNDS turns. Other
 * programs lengthen times; the processor's time, which counts of the host's devices, much less. */
#include <stdio.h>
#include <stdlib.h>

#include "haul/tile.h"
#include "tile_rows.kernel.h"
#include "took.h"

enum { CELLS = 33000000, N = 1024, ROUNDS = 9 };

typedef struct plain {
    double *a;
    double *b;
    double *c;
} plain;

static void plain_add(const plain *self)
{
    const double *restrict a = self->a, *restrict b = self->b;
    double *restrict c = self->c;
#pragma omp parallel for
    for (int x = 0; x < CELLS; x++)
        c[x] = a[x] + b[x];
}

static void plain_sum(const plain *self)
{
    const double *a = self->a;
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int x = 0; x < CELLS; x++)
        sum += a[x];
    self->c[0] = sum;
}

static void plain_multiply(const plain *self)
{
    const double *restrict a = self->a, *restrict b = self->b;
    double *restrict c = self->c;
#pragma omp parallel for
    for (int y = 0; y < N; y++) {
        for (int x = 0; x < N; x++)
            c[y * N + x] = 0;
        for (int k = 0; k < N; k++)
            for (int x = 0; x < N; x++)
                c[y * N + x] += a[y * N + k] * b[k * N + x];
    }
}

static void make_plain(plain *self)
{
    double **const arrays[] = {&self->a, &self->b, &self->c};
    for (int i = 0; i < 3; i++) {
        double *cells = *arrays[i] = malloc(CELLS * sizeof *cells);
        if (!cells)
            exit(70);
#pragma omp parallel for
        for (int x = 0; x < CELLS; x++)
            cells[x] = x % 7;
    }
}

static haul_array *new_array(haul_context *context, haul_array_spec spec)
{
    haul_array *array;
    haul_error error;
    stop_at(haul_array_new(context, &spec, &array, &error), &error);
    return array;
}

typedef struct loop {
    haul_context *context;
    const haul_kernel_source *kernel;
    const void *const *arguments;
    size_t count;
} loop;

/* Until it has ended. */
static void run_loop(const loop *self)
{
    haul_error error;
    stop_at(
        haul_loop_queue(self->context, self->kernel, self->arguments, self->count, NULL, &error),
        &error);
    stop_at(haul_context_wait(self->context, &error), &error);
}

static int order(const void *a, const void *b)
{
    const double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, order);
    return values[ROUNDS / 2];
}

/* The first turn, after which arrays are where they are needed, does not count. */
static void compare(const char *what, const loop *self, void (*run_plain)(const plain *),
                    const plain *of, double goal)
{
    double ratios[2][ROUNDS], took[2][ROUNDS];
    for (int round = -1; round < ROUNDS; round++) {
        double begin[2] = {wall_s(), cpu_s()}, plain_took[2];
        run_plain(of);
        for (int i = 0; i < 2; i++)
            plain_took[i] = (i ? cpu_s() : wall_s()) - begin[i];
        begin[0] = wall_s();
        begin[1] = cpu_s();
        run_loop(self);
        for (int i = 0; i < 2 && round >= 0; i++) {
            took[i][round] = (i ? cpu_s() : wall_s()) - begin[i];
            ratios[i][round] = took[i][round] / plain_took[i];
        }
    }
    haul_device *device = haul_context_device(self->context);
    printf("%-32s %-16s %8.2f ms: %.2f of the plain loop's time, %.2f of its processor time (%.2f "
           "ms); goal %.2f\n",
           haul_device_describe(device)->name, what, median(took[0]) * 1e3, median(ratios[0]),
           median(ratios[1]), median(took[1]) * 1e3, goal);
}

/* Zeros would do, but a device may know them: all arrays are set by loops first. */
static void time_device(const char *device, const plain *of)
{
    haul_context *context;
    haul_error error;
    stop_at(haul_context_open(device, NULL, &context, &error), &error);
    haul_array *a = new_array(context, (haul_array_spec){.size = {CELLS}});
    haul_array *b = new_array(context, (haul_array_spec){.size = {CELLS}});
    haul_array *c = new_array(context, (haul_array_spec){.size = {CELLS}});
    haul_array *sum = new_array(context, (haul_array_spec){.size = {1}});
    const void *const to_a[] = {b, c, a}, *const to_b[] = {a, c, b}, *const to_c[] = {a, b, c};
    const void *const to_sum[] = {a, sum};
    run_loop(&(loop){context, &add_rows, to_a, 3});
    run_loop(&(loop){context, &add_rows, to_b, 3});
    compare("vector add", &(loop){context, &add_rows, to_c, 3}, plain_add, of, 1.05);
    compare("sum", &(loop){context, &sum_rows, to_sum, 2}, plain_sum, of, 1.05);
    haul_array_free(a);
    haul_array_free(b);
    haul_array_free(c);
    haul_array_free(sum);
    a = new_array(context, (haul_array_spec){.size = {N, N}});
    b = new_array(context, (haul_array_spec){.size = {N * N}});
    c = new_array(context, (haul_array_spec){.size = {N, N}});
    const int n = N;
    const void *const to_product[] = {a, b, c, &n};
    compare("product by rows", &(loop){context, &multiply_rows, to_product, 4}, plain_multiply, of,
            1.1);
    haul_array_free(a);
    haul_array_free(b);
    haul_array_free(c);
    haul_context_close(context);
}

int main(int argc, char **argv)
{
    plain of;
    make_plain(&of);
    for (int i = 1; i < argc; i++)
        time_device(argv[i], &of);
    if (argc == 1)
        time_device("host", &of);
    free(of.a);
    free(of.b);
    free(of.c);
}
