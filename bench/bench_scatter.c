/* bench_scatter [DEVICE ...]: weights added to the cells that a map says, of few cells and of many:
 * scaled to integers, by all threads at once; as floating-point numbers, in order; and in a plain
 * loop of the same compiler. The three take turns, and the least of ROUNDS counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/tile.h"
#include "scatter.kernel.h"
#include "took.h"

enum { WEIGHTS = 20000000, ROUNDS = 5 };

static haul_error error;

static void must(haul_status status)
{
    stop_at(status, &error);
}

typedef struct input {
    int *map;
    double *weight;
    double *sums;
    int cells;
} input;

static double plain_s(const input *self)
{
    const double begin = wall_s();
    for (int i = 0; i < WEIGHTS; i++)
        self->sums[self->map[i]] += self->weight[i];
    return wall_s() - begin;
}

static double loop_s(haul_context *context, const haul_kernel_source *kernel,
                     haul_array *const arrays[3])
{
    const void *const arguments[] = {arrays[0], arrays[1], arrays[2]};
    const double begin = wall_s();
    must(haul_loop_queue(context, kernel, arguments, 3, NULL, &error));
    must(haul_context_wait(context, &error));
    return wall_s() - begin;
}

static void keep_least(double *least, double s)
{
    *least = *least > 0 && *least < s ? *least : s;
}

/* The first round, in which arrays come to the device, does not count. */
static void compare_on(const char *device, const input *self)
{
    haul_context *context;
    haul_array *arrays[4];
    double plain = 0, whole = 0, ordered = 0;
    const haul_array_spec many = {.size = {WEIGHTS}}, few = {.size = {self->cells}};
    const haul_array_spec places = {.size = {WEIGHTS}, .element_bytes = sizeof(int)},
                          whole_few = {.size = {self->cells}, .element_bytes = sizeof(long)};
    if (haul_context_open(device, NULL, &context, &error)) {
        printf("%s: %s\n", device, error.text);
        return;
    }
    must(haul_array_new(context, &places, &arrays[0], &error));
    must(haul_array_new(context, &many, &arrays[1], &error));
    must(haul_array_new(context, &whole_few, &arrays[2], &error));
    must(haul_array_new(context, &few, &arrays[3], &error));
    must(haul_array_write(arrays[0], self->map, &error));
    must(haul_array_write(arrays[1], self->weight, &error));
    haul_array *const in_order[] = {arrays[0], arrays[1], arrays[3]};
    for (int round = 0; round <= ROUNDS; round++) {
        const double s[3] = {plain_s(self), loop_s(context, &add_whole, arrays),
                             loop_s(context, &add_ordered, in_order)};
        if (!round)
            continue;
        keep_least(&plain, s[0]);
        keep_least(&whole, s[1]);
        keep_least(&ordered, s[2]);
    }
    must(haul_array_read(arrays[3], self->sums + self->cells, &error));
    const bool is_same =
        !memcmp(self->sums, self->sums + self->cells, (size_t)self->cells * sizeof *self->sums);
    printf("%-9s %8d cells: integers %.3f s, in order %.3f s (%.2f times), a plain loop %.3f s "
           "(%.2f times); bits %s\n",
           device, self->cells, whole, ordered, ordered / whole, plain, ordered / plain,
           is_same ? "equal" : "DIFFER");
    for (int i = 0; i < 4; i++)
        haul_array_free(arrays[i]);
    haul_context_close(context);
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"host", "opencl:0"};
    static const int sizes[] = {256, 1 << 22};
    const int count = argc > 1 ? argc - 1 : 2;
    for (int s = 0; s < 2; s++) {
        input self = {.cells = sizes[s]};
        self.map = calloc(WEIGHTS, sizeof *self.map);
        self.weight = calloc(WEIGHTS, sizeof *self.weight);
        self.sums = calloc(2 * (size_t)self.cells, sizeof *self.sums);
        if (!self.map || !self.weight || !self.sums)
            return 70;
        for (int i = 0; i < WEIGHTS; i++) {
            self.map[i] = (int)((unsigned)i * 2654435761U >> 8) % self.cells;
            self.weight[i] = 1.0 / (1 + i % 1009);
        }
        for (int i = 0; i < count; i++) {
            memset(self.sums, 0, 2 * (size_t)self.cells * sizeof *self.sums);
            compare_on(argc > 1 ? argv[i + 1] : usual[i], &self);
        }
        free(self.map);
        free(self.weight);
        free(self.sums);
    }
    return 0;
}
