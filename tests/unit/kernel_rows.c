#include "kernel_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "haul/csv.h"

const kernel_board kernel_boards[KERNEL_BOARDS] = {
    {"gtx-680", "GTX-680"}, {"gtx-titan", "Titan"}, {"k40", "Tesla-K40"},
    {"gtx-750", "GTX-750"}, {"gtx-970", "GTX-970"},
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
                return a->launches[i].blocks == b->launches[j].blocks &&
                       a->launches[i].block == b->launches[j].block;
    return true;
}

static int place_of(const char *name, const char *const *names, size_t stride, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(name, *(const char *const *)((const char *)names + (size_t)i * stride)))
            return i;
    return -1;
}

enum { GPU, PROGRAM, SIZE, GRID_X, GRID_Y, BLOCK_X, BLOCK_Y, SECONDS, COLUMNS };

/* Behind the smaller sizes. */
static void insert(kernel_series *to, const haul_kernel_sample *sample,
                   haul_kernel_launches launches)
{
    size_t at = to->count++;
    for (; at && to->samples[at - 1].size > sample->size; at--) {
        to->samples[at] = to->samples[at - 1];
        to->launches[at] = to->launches[at - 1];
    }
    to->samples[at] = *sample;
    to->launches[at] = launches;
}

static haul_status take_row(haul_kernel_file *const *files, kernel_rows *rows,
                            const char *const *fields, const size_t columns[COLUMNS],
                            haul_error *error)
{
    const int p = place_of(fields[columns[PROGRAM]], kernel_programs, sizeof *kernel_programs,
                           KERNEL_PROGRAMS);
    const int b = place_of(fields[columns[GPU]], &kernel_boards[0].in_data, sizeof kernel_boards[0],
                           KERNEL_BOARDS);
    if (p < 0 || b < 0)
        return HAUL_OK;
    if (rows->series[p][b].count == KERNEL_SIZES)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "more than %d sizes", KERNEL_SIZES);
    double values[COLUMNS] = {0};
    for (int i = SIZE; i < COLUMNS; i++)
        values[i] = strtod(fields[columns[i]], NULL);
    haul_kernel_sample sample = {.size = values[SIZE], .seconds = values[SECONDS]};
    const haul_status status = haul_kernel_file_at(files[p], sample.size, &sample.counts, error);
    if (!status)
        insert(&rows->series[p][b], &sample,
               (haul_kernel_launches){.count = 1,
                                      .blocks = values[GRID_X] * values[GRID_Y],
                                      .block = values[BLOCK_X] * values[BLOCK_Y]});
    return status;
}

static haul_status take_rows(haul_csv *csv, haul_kernel_file *const *files, kernel_rows *rows,
                             haul_error *error)
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
        status = take_row(files, rows, fields, columns, error);
    }
    return status;
}

/* The kernel files, by the programs' own names. */
static haul_status load_files(haul_kernel_file *files[KERNEL_PROGRAMS], haul_error *error)
{
    char **names = NULL;
    size_t count = 0;
    haul_status status = haul_kernel_file_list(&names, &count, error);
    for (size_t i = 0; i < count && !status; i++) {
        haul_kernel_file *file = NULL;
        status = haul_kernel_file_load(names[i], &file, error);
        int p = 0;
        while (file && p < KERNEL_PROGRAMS && !haul_kernel_file_is(file, kernel_programs[p]))
            p++;
        if (file && p < KERNEL_PROGRAMS && !files[p])
            files[p] = file;
        else
            haul_kernel_file_free(file);
    }
    haul_names_free(names, count);
    for (int p = 0; p < KERNEL_PROGRAMS && !status; p++)
        if (!files[p])
            status = haul_error_set(error, HAUL_STATUS_MISSING, "no kernel file is of '%s'",
                                    kernel_programs[p]);
    return status;
}

static haul_status read_all(const char *data, haul_kernel_file *files[KERNEL_PROGRAMS],
                            kernel_rows *rows, haul_error *error)
{
    haul_status status = load_files(files, error);
    for (int b = 0; b < KERNEL_BOARDS && status == HAUL_OK; b++)
        status = haul_machine_load(kernel_boards[b].machine, &rows->machines[b], error);
    char path[4096];
    snprintf(path, sizeof path, "%s/kernels/gpuperfpredict-times.csv", data);
    haul_csv *csv = NULL;
    if (status == HAUL_OK)
        status = haul_csv_open(path, &csv, error);
    if (status)
        return status;
    status = take_rows(csv, files, rows, error);
    haul_csv_close(csv);
    return status;
}

haul_status kernel_rows_read(const char *data, kernel_rows **rows, haul_error *error)
{
    kernel_rows *made = calloc(1, sizeof *made);
    if (!made)
        return hl_base_fail_no_memory(error);
    haul_kernel_file *files[KERNEL_PROGRAMS] = {0};
    const haul_status status = read_all(data, files, made, error);
    for (int p = 0; p < KERNEL_PROGRAMS; p++)
        haul_kernel_file_free(files[p]);
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
