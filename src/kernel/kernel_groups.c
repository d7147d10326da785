/* Rows of one kernel on one GPU belong together, unless one size was measured in blocks of several
 * shapes: then each shape is a kernel of its own, for its times lie on another curve. */
#include "kernel/kernel_groups.h"

#include <stdlib.h>
#include <string.h>

static int compare_numbers(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int compare_kernels(const haul_kernel_launch *a, const haul_kernel_launch *b)
{
    const int names = strcmp(a->kernel, b->kernel);
    return names ? names : compare_numbers(a->machine, b->machine);
}

/* Unknown blocks (all 0) are a shape of their own, the first. */
static int compare_blocks(const haul_kernel_launch *a, const haul_kernel_launch *b)
{
    for (int i = 0; i < 3; i++)
        if (a->block[i] != b->block[i])
            return a->block[i] < b->block[i] ? -1 : 1;
    return 0;
}

static int compare_sizes(const haul_kernel_launch *a, const haul_kernel_launch *b)
{
    return (a->sample.size > b->sample.size) - (a->sample.size < b->sample.size);
}

/* Ends with the row's number: qsort is not stable, and the outcome is not to depend on its
 * library. */
static int by_kernel(const void *a, const void *b)
{
    const int kernels = compare_kernels(a, b), sizes = compare_sizes(a, b);
    const int blocks = compare_blocks(a, b);
    const haul_kernel_launch *x = a, *y = b;
    return kernels ? kernels : sizes ? sizes : blocks ? blocks : compare_numbers(x->row, y->row);
}

/* Within one kernel and GPU: shapes apart, each in order of size. */
static int by_block(const void *a, const void *b)
{
    const int blocks = compare_blocks(a, b), sizes = compare_sizes(a, b);
    const haul_kernel_launch *x = a, *y = b;
    return blocks ? blocks : sizes ? sizes : compare_numbers(x->row, y->row);
}

/* The launches of one kernel on one machine, ordered by size, and the number of its first row. */
typedef struct kernel_run {
    haul_kernel_launch *launches;
    size_t count;
    size_t first_row;
} kernel_run;

static int by_first_row(const void *a, const void *b)
{
    const kernel_run *x = a, *y = b;
    return compare_numbers(x->first_row, y->first_row);
}

/* How many launches from the first on are equal by `compare`. */
static size_t run_of(const haul_kernel_launch *launches, size_t count,
                     int (*compare)(const haul_kernel_launch *a, const haul_kernel_launch *b))
{
    size_t run = 1;
    while (run < count && !compare(launches, &launches[run]))
        run++;
    return run;
}

/* Sorts launches into runs, and these by their first row, so that reports keep the order of the
 * files. */
static size_t find_runs(haul_kernel_launch *launches, size_t count, kernel_run *runs)
{
    size_t found = 0;
    qsort(launches, count, sizeof *launches, by_kernel);
    for (size_t at = 0, length; at < count; at += length) {
        length = run_of(&launches[at], count - at, compare_kernels);
        kernel_run *run = &runs[found++];
        *run = (kernel_run){&launches[at], length, launches[at].row};
        for (size_t i = 1; i < length; i++)
            if (run->launches[i].row < run->first_row)
                run->first_row = run->launches[i].row;
    }
    qsort(runs, found, sizeof *runs, by_first_row);
    return found;
}

/* "matMul in blocks of 16x16"; NULL without memory. */
static const char *title_of(haul_arena *arena, const haul_kernel_launch *launch)
{
    const int *block = launch->block;
    if (!block[0])
        return haul_arena_format(arena, "%s in unknown blocks", launch->kernel);
    if (block[2] > 1)
        return haul_arena_format(arena, "%s in blocks of %dx%dx%d", launch->kernel, block[0],
                                 block[1], block[2]);
    if (block[1] > 1)
        return haul_arena_format(arena, "%s in blocks of %dx%d", launch->kernel, block[0],
                                 block[1]);
    return haul_arena_format(arena, "%s in blocks of %d", launch->kernel, block[0]);
}

/* Copies the samples: the launches are the caller's and are freed before the groups. */
static bool add_group(const haul_kernel_launch *launches, size_t count, const char *title,
                      haul_arena *arena, haul_kernel_groups *out)
{
    haul_kernel_sample *samples = haul_arena_alloc(arena, count * sizeof *samples);
    if (!samples || !title)
        return false;
    for (size_t i = 0; i < count; i++)
        samples[i] = launches[i].sample;
    out->items[out->count++] = (haul_kernel_group){.kernel = launches->kernel,
                                                   .title = title,
                                                   .machine = launches->machine,
                                                   .file = launches->file,
                                                   .samples = samples,
                                                   .count = count};
    return true;
}

static bool add_kernel(const kernel_run *run, haul_arena *arena, haul_kernel_groups *out)
{
    haul_kernel_launch *launches = run->launches;
    bool is_mixed = false; /* one size in blocks of several shapes */
    for (size_t i = 1; i < run->count; i++)
        is_mixed |= !compare_sizes(&launches[i], &launches[i - 1]) &&
                    compare_blocks(&launches[i], &launches[i - 1]) != 0;
    if (!is_mixed)
        return add_group(launches, run->count, launches->kernel, arena, out);
    qsort(launches, run->count, sizeof *launches, by_block);
    bool is_added = true;
    for (size_t at = 0, length; is_added && at < run->count; at += length) {
        length = run_of(&launches[at], run->count - at, compare_blocks);
        is_added = add_group(&launches[at], length, title_of(arena, &launches[at]), arena, out);
    }
    return is_added;
}

bool haul_kernel_launches_group(haul_kernel_launch *launches, size_t count, haul_arena *arena,
                                haul_kernel_groups *out)
{
    kernel_run *runs = calloc(count + 1, sizeof *runs);
    out->items = haul_arena_alloc(arena, (count + 1) * sizeof *out->items);
    bool is_made = runs && out->items;
    const size_t found = is_made ? find_runs(launches, count, runs) : 0;
    for (size_t i = 0; is_made && i < found; i++)
        is_made = add_kernel(&runs[i], arena, out);
    free(runs);
    return is_made;
}
