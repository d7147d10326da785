#include "kernel_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "haul/csv.h"

const kernel_board kernel_boards[KERNEL_BOARDS] = {
    {"gtx-680", "GTX-680"}, {"gtx-titan", "Titan"}, {"k40", "Tesla-K40"},
    {"gtx-750", "GTX-750"}, {"gtx-970", "GTX-970"},
};

/* What a program does in one launch, each a factor times N to a power, and `linear` N: read off the
 * sources (marcosamaris/gpuperfpredict). Only proportions matter at one size: lambda takes the
 * rest. */
typedef struct amount {
    double factor;
    int power;
    double linear;
} amount;

typedef struct program {
    const char *name;
    amount comp;
    amount loads;
    amount stores;
    amount shared_loads;
    amount shared_stores;
    amount bytes;
    amount flops;
} program;

enum { TILE = 16 };

/* quicksort has 100 different values: those that are alike take N / 100 of them (N / 100) / 2 steps
 * each, a load a step; to part the others takes an element 6 steps and 3 moves, each a load, a
 * store and a second look (counted by running the source's loops on numbers of 0 to 99). */
static const program programs[KERNEL_PROGRAMS] = {
    {"dotProd", {10, 1, 0}, {2, 1, 0}, {0, 0, 0}, {3, 1, 0}, {2, 1, 0}, {8, 1, 0}, {2, 1, 0}},
    {"matMul_gpu", {1, 3, 0}, {2, 3, 0}, {1, 2, 0}, {0, 0, 0}, {0, 0, 0}, {12, 2, 0}, {2, 3, 0}},
    {"matMul_gpu_sharedmem",
     {1, 3, 0},
     {2.0 / TILE, 3, 0},
     {1, 2, 0},
     {2, 3, 0},
     {2.0 / TILE, 3, 0},
     {12, 2, 0},
     {2, 3, 0}},
    {"matMul_gpu_sharedmem_uncoalesced",
     {1, 3, 0},
     {2.0 / TILE, 3, 0},
     {1, 2, 0},
     {2, 3, 0},
     {2.0 / TILE, 3, 0},
     {12, 2, 0},
     {2, 3, 0}},
    {"matMul_gpu_uncoalesced",
     {1, 3, 0},
     {2, 3, 0},
     {1, 2, 0},
     {0, 0, 0},
     {0, 0, 0},
     {12, 2, 0},
     {2, 3, 0}},
    {"matrix_sum_coalesced",
     {1, 2, 0},
     {2, 2, 0},
     {1, 2, 0},
     {0, 0, 0},
     {0, 0, 0},
     {12, 2, 0},
     {1, 2, 0}},
    {"matrix_sum_normal",
     {1, 2, 0},
     {2, 2, 0},
     {1, 2, 0},
     {0, 0, 0},
     {0, 0, 0},
     {12, 2, 0},
     {1, 2, 0}},
    {"quicksort",
     {0.005, 2, 9},
     {0.005, 2, 12},
     {3, 1, 0},
     {0, 0, 0},
     {0, 0, 0},
     {4, 1, 0},
     {0, 0, 0}},
    {"subSeqMax", {100, 1, 0}, {1, 1, 0}, {0, 0, 0}, {1, 1, 0}, {1, 1, 0}, {4, 1, 0}, {0, 0, 0}},
    {"vectorAdd", {1, 1, 0}, {2, 1, 0}, {1, 1, 0}, {0, 0, 0}, {0, 0, 0}, {12, 1, 0}, {1, 1, 0}},
};

const char *const kernel_programs[KERNEL_PROGRAMS] = {
    "dotProd",
    "matMul_gpu",
    "matMul_gpu_sharedmem",
    "matMul_gpu_sharedmem_uncoalesced",
    "matMul_gpu_uncoalesced",
    "matrix_sum_coalesced",
    "matrix_sum_normal",
    "quicksort",
    "subSeqMax",
    "vectorAdd",
};

bool kernel_series_alike(const kernel_series *a, const kernel_series *b)
{
    for (size_t i = 0; i < a->count; i++)
        for (size_t j = 0; j < b->count; j++)
            if (a->samples[i].size == b->samples[j].size)
                return a->samples[i].counts.threads == b->samples[j].counts.threads;
    return true;
}

static double amount_at(amount self, double n)
{
    return self.factor * pow(n, self.power) + self.linear * n;
}

static haul_kernel_counts counts_of(const program *self, double n, double threads, double block)
{
    return (haul_kernel_counts){
        .threads = threads,
        .block = block,
        .comp = amount_at(self->comp, n) / threads,
        .loads_global = amount_at(self->loads, n) / threads,
        .stores_global = amount_at(self->stores, n) / threads,
        .loads_shared = amount_at(self->shared_loads, n) / threads,
        .stores_shared = amount_at(self->shared_stores, n) / threads,
        .flops = amount_at(self->flops, n),
        .bytes = amount_at(self->bytes, n),
    };
}

static int place_of(const char *name, const char *const *names, size_t stride, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(name, *(const char *const *)((const char *)names + (size_t)i * stride)))
            return i;
    return -1;
}

enum { GPU, PROGRAM, SIZE, GRID_X, GRID_Y, BLOCK_X, BLOCK_Y, SECONDS, COLUMNS };

static haul_status take_row(kernel_rows *rows, const char *const *fields,
                            const size_t columns[COLUMNS], haul_error *error)
{
    const int p =
        place_of(fields[columns[PROGRAM]], &programs[0].name, sizeof programs[0], KERNEL_PROGRAMS);
    const int b = place_of(fields[columns[GPU]], &kernel_boards[0].in_data, sizeof kernel_boards[0],
                           KERNEL_BOARDS);
    if (p < 0 || b < 0)
        return HAUL_OK;
    kernel_series *series = &rows->series[p][b];
    if (series->count == KERNEL_SIZES)
        return haul_fail(error, HAUL_BAD_INPUT, "more than %d sizes", KERNEL_SIZES);
    double values[COLUMNS] = {0};
    for (int i = SIZE; i < COLUMNS; i++)
        values[i] = strtod(fields[columns[i]], NULL);
    const double block = values[BLOCK_X] * values[BLOCK_Y];
    const double threads = block * values[GRID_X] * values[GRID_Y];
    series->samples[series->count++] = (haul_kernel_sample){
        .size = values[SIZE],
        .seconds = values[SECONDS],
        .counts = counts_of(&programs[p], values[SIZE], threads, block),
    };
    return HAUL_OK;
}

static haul_status take_rows(haul_csv *csv, kernel_rows *rows, haul_error *error)
{
    static const char *const names[COLUMNS] = {"gpu",    "program", "n",       "grid_x",
                                               "grid_y", "block_x", "block_y", "kernel_s"};
    size_t columns[COLUMNS];
    haul_status status = HAUL_OK;
    for (int i = 0; i < COLUMNS && status == HAUL_OK; i++)
        status = haul_csv_find(csv, names[i], &columns[i], error);
    const char *const *fields = NULL;
    while (status == HAUL_OK) {
        status = haul_csv_next(csv, &fields, error);
        if (status || !fields)
            break;
        status = take_row(rows, fields, columns, error);
    }
    return status;
}

static int by_size(const void *a, const void *b)
{
    const double x = ((const haul_kernel_sample *)a)->size;
    const double y = ((const haul_kernel_sample *)b)->size;
    return (x > y) - (x < y);
}

static haul_status read_all(const char *data, kernel_rows *rows, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (int b = 0; b < KERNEL_BOARDS && status == HAUL_OK; b++)
        status = haul_machine_load(kernel_boards[b].machine, &rows->machines[b], error);
    char path[4096];
    snprintf(path, sizeof path, "%s/kernels/gpuperfpredict-times.csv", data);
    haul_csv *csv = NULL;
    if (status == HAUL_OK)
        status = haul_csv_open(path, &csv, error);
    if (status)
        return status;
    status = take_rows(csv, rows, error);
    haul_csv_close(csv);
    for (int p = 0; p < KERNEL_PROGRAMS; p++)
        for (int b = 0; b < KERNEL_BOARDS; b++)
            qsort(rows->series[p][b].samples, rows->series[p][b].count, sizeof(haul_kernel_sample),
                  by_size);
    return status;
}

haul_status kernel_rows_read(const char *data, kernel_rows **rows, haul_error *error)
{
    kernel_rows *made = calloc(1, sizeof *made);
    if (!made)
        return haul_fail_no_memory(error);
    const haul_status status = read_all(data, made, error);
    if (status == HAUL_OK)
        *rows = made;
    else
        kernel_rows_free(made);
    return status;
}

void kernel_rows_free(kernel_rows *rows)
{
    if (!rows)
        return;
    for (int b = 0; b < KERNEL_BOARDS; b++)
        haul_machine_free(rows->machines[b]);
    free(rows);
}
