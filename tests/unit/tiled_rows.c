#include "tiled_rows.h"

#include <stdlib.h>

#include "base/fail.h"
#include "number_rows.h"

/* The program that was measured is p-anastas/CoCopeLia_gemm, read at 99ac2b5, whose version is that
 * of the log that the data is from. lib/CoCopeLia_Dgemm.cu has its edges (what is left of a
 * dimension is a tile of its own above T/2, else the last tile is longer) and the order of its
 * work; lib/CoCopeLia_subkernels.cu its three streams; CoCoModel_choose_transfer_mode3 of
 * lib/CoCopeLia_Model.cpp when copies back wait. */
const tiled_schedule tiled_schedules[TILED_SCHEDULES] = {
    {"each rest a tile of its own", 0, false},
    {"rests up to half a tile in the last one", 0.5, false},
    {"the same, copies back held where the program holds them", 0.5, true},
};

const char *const tiled_published[TILED_PUBLISHED] = {"CCGrid 2014's forms", "CoCoPeLia"};

/* The row whose first columns are these. */
static const double *find(const number_rows *self, const double *key, int keys)
{
    for (size_t i = 0; i < self->count; i++) {
        int same = 0;
        while (same < keys && self->rows[i][same] == key[same])
            same++;
        if (same == keys)
            return self->rows[i];
    }
    return NULL;
}

typedef struct sources {
    number_rows *runs;
    number_rows *kernels;
    number_rows *copies;
} sources;

static haul_status read_sources(const char *data, sources *self, haul_error *error)
{
    static const char *const of_runs[NUMBER_COLUMNS] = {"m",
                                                        "n",
                                                        "k",
                                                        "tile",
                                                        "a_on_host",
                                                        "b_on_host",
                                                        "c_on_host",
                                                        "measured_s",
                                                        "werkhoven_published_s",
                                                        "cocopelia_published_s"};
    static const char *const of_kernels[NUMBER_COLUMNS] = {"m", "avg_s"};
    static const char *const of_copies[NUMBER_COLUMNS] = {"direction", "bytes", "alone_s",
                                                          "while_opposite_busy_s"};
    haul_status status =
        number_rows_read(data, "overlap/k40-dgemm-tiled.csv", of_runs, &self->runs, error);
    if (!status)
        status = number_rows_read(data, "overlap/k40-dgemm-kernel.csv", of_kernels, &self->kernels,
                                  error);
    if (!status)
        status = number_rows_read(data, "transfers/bidirectional-k40.csv", of_copies, &self->copies,
                                  error);
    return status;
}

/* Kernels and copies were measured at every tile. */
static haul_status take_run(const sources *self, const double *row, tiled_run *out,
                            haul_error *error)
{
    const double tile = row[3];
    const double in_key[] = {0, tile * tile * 8}, out_key[] = {1, tile * tile * 8};
    const double *in = find(self->copies, in_key, 2);
    const double *back = find(self->copies, out_key, 2);
    const double *kernel = find(self->kernels, &tile, 1);
    if (!in || !back || !kernel)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "no kernel or copy of a tile of %g",
                              tile);
    *out = (tiled_run){
        .product = {(uint64_t)row[0], (uint64_t)row[1], (uint64_t)row[2], (uint64_t)tile,
                    row[4] != 0, row[5] != 0, row[6] != 0, 0, false},
        .costs = {in[2], in[3], back[2], back[3], kernel[1]},
        .measured_s = row[7],
        .published_s = {row[8], row[9]},
    };
    return HAUL_OK;
}

static haul_status take_runs(const sources *self, tiled_runs **runs, haul_error *error)
{
    tiled_runs *made = calloc(1, sizeof *made);
    if (!made)
        return hl_base_fail_no_memory(error);
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < self->runs->count; i++)
        status = take_run(self, self->runs->rows[i], &made->items[made->count++], error);
    if (status)
        free(made);
    else
        *runs = made;
    return status;
}

haul_status tiled_runs_read(const char *data, tiled_runs **runs, haul_error *error)
{
    sources self = {0};
    haul_status status = read_sources(data, &self, error);
    if (!status)
        status = take_runs(&self, runs, error);
    free(self.runs);
    free(self.kernels);
    free(self.copies);
    return status;
}

tiled_work tiled_work_of(const tiled_run *run)
{
    const haul_blocked_product *product = &run->product;
    const double tile = (double)product->tile;
    const double m = (double)product->m / tile;
    const double n = (double)product->n / tile;
    const double k = (double)product->k / tile;
    return (tiled_work){
        .in_s = run->costs.in_s * (product->a_on_host * m * k + product->b_on_host * k * n +
                                   product->c_on_host * m * n),
        .out_s = run->costs.out_s * product->c_on_host * m * n,
        .kernel_s = run->costs.kernel_s * m * n * k,
    };
}

bool tiled_waits(const tiled_run *run)
{
    const tiled_work work = tiled_work_of(run);
    return work.kernel_s >= work.in_s + work.out_s;
}

haul_status tiled_predict(const tiled_schedule *schedule, const tiled_run *run, double *seconds,
                          haul_error *error)
{
    haul_blocked_product product = run->product;
    product.edge_alone = schedule->edge_alone;
    product.out_after_in = schedule->may_wait && tiled_waits(run);
    return haul_blocked_time(&product, &run->costs, seconds, error);
}
