#include "cli/kernel_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_numbers(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int compare_kernels(const kernel_launch *a, const kernel_launch *b)
{
    const int names = strcmp(a->kernel, b->kernel);
    return names ? names : compare_numbers(a->machine, b->machine);
}

static int compare_blocks(const kernel_launch *a, const kernel_launch *b)
{
    for (int i = 0; i < 3; i++)
        if (a->block[i] != b->block[i])
            return a->block[i] < b->block[i] ? -1 : 1;
    return 0;
}

static int compare_sizes(const kernel_launch *a, const kernel_launch *b)
{
    return (a->sample.size > b->sample.size) - (a->sample.size < b->sample.size);
}

static int by_kernel(const void *a, const void *b)
{
    const int kernels = compare_kernels(a, b), sizes = compare_sizes(a, b);
    const int blocks = compare_blocks(a, b);
    const kernel_launch *x = a, *y = b;
    return kernels ? kernels : sizes ? sizes : blocks ? blocks : compare_numbers(x->row, y->row);
}

static int by_block(const void *a, const void *b)
{
    const int blocks = compare_blocks(a, b), sizes = compare_sizes(a, b);
    const kernel_launch *x = a, *y = b;
    return blocks ? blocks : sizes ? sizes : compare_numbers(x->row, y->row);
}

/* Of one kernel the groups were made one behind the other. */
static int by_first_row(const void *a, const void *b)
{
    const kernel_group *x = a, *y = b;
    const int rows = compare_numbers(x->first_row, y->first_row);
    return rows ? rows : (x->samples > y->samples) - (x->samples < y->samples);
}

/* How many launches from the first on are equal by `compare`. */
static size_t run_of(const kernel_launch *launches, size_t count,
                     int (*compare)(const kernel_launch *a, const kernel_launch *b))
{
    size_t run = 1;
    while (run < count && !compare(launches, &launches[run]))
        run++;
    return run;
}

static bool has_mixed_size(const kernel_launch *launches, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (!compare_sizes(&launches[i], &launches[i - 1]) &&
            compare_blocks(&launches[i], &launches[i - 1]) != 0)
            return true;
    return false;
}

/* "matMul in blocks of 16x16"; NULL without memory. */
static char *title_of(const kernel_launch *launch)
{
    enum { SHAPE = 64 };
    const int *block = launch->block;
    const size_t size = strlen(launch->kernel) + SHAPE;
    char *title = malloc(size);
    if (!title)
        return NULL;
    if (!block[0])
        (void)snprintf(title, size, "%s in unknown blocks", launch->kernel);
    else if (block[2] > 1)
        (void)snprintf(title, size, "%s in blocks of %dx%dx%d", launch->kernel, block[0], block[1],
                       block[2]);
    else if (block[1] > 1)
        (void)snprintf(title, size, "%s in blocks of %dx%d", launch->kernel, block[0], block[1]);
    else
        (void)snprintf(title, size, "%s in blocks of %d", launch->kernel, block[0]);
    return title;
}

static kernel_group *add_group(kernel_groups *self, const kernel_launch *launches, size_t count,
                               size_t first_row)
{
    haul_kernel_sample *samples = self->samples + self->sample_count;
    for (size_t i = 0; i < count; i++)
        samples[i] = launches[i].sample;
    self->sample_count += count;
    kernel_group *made = &self->items[self->count++];
    *made = (kernel_group){.kernel = launches->kernel,
                           .machine = launches->machine,
                           .file = launches->file,
                           .samples = samples,
                           .count = count,
                           .first_row = first_row};
    return made;
}

/* Adds what is of one kernel on one machine, ordered by size. */
static bool add_kernel(kernel_groups *self, kernel_launch *launches, size_t count)
{
    size_t first_row = launches->row;
    for (size_t i = 1; i < count; i++)
        first_row = launches[i].row < first_row ? launches[i].row : first_row;
    if (!has_mixed_size(launches, count)) {
        add_group(self, launches, count, first_row);
        return true;
    }
    qsort(launches, count, sizeof *launches, by_block);
    for (size_t at = 0, run; at < count; at += run) {
        run = run_of(&launches[at], count - at, compare_blocks);
        kernel_group *made = add_group(self, &launches[at], run, first_row);
        made->title = title_of(&launches[at]);
        if (!made->title)
            return false;
    }
    return true;
}

bool kernel_groups_make(kernel_launch *launches, size_t count, kernel_groups *out)
{
    *out = (kernel_groups){
        .items = calloc(count + 1, sizeof *out->items),
        .samples = calloc(count + 1, sizeof *out->samples),
    };
    if (!out->items || !out->samples)
        return false;
    qsort(launches, count, sizeof *launches, by_kernel);
    for (size_t at = 0, run; at < count; at += run) {
        run = run_of(&launches[at], count - at, compare_kernels);
        if (!add_kernel(out, &launches[at], run))
            return false;
    }
    qsort(out->items, out->count, sizeof *out->items, by_first_row);
    return true;
}

void kernel_groups_release(kernel_groups *self)
{
    for (size_t i = 0; i < self->count; i++)
        free(self->items[i].title);
    free(self->items);
    free(self->samples);
    *self = (kernel_groups){0};
}
