#include "serial_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/stats.h"
#include "haul/csv.h"
#include "workload/builder.h"

enum { NUMBERS = 10 };

/* Calls `add` with the numbers of each row; a direction, HtoD or DtoH, is 0 or 1. */
typedef void (*row_adder)(void *state, const double *row);

static double number(const char *text)
{
    return *text == 'H' || *text == 'D' ? *text == 'D' : strtod(text, NULL);
}

static haul_status read_rows(haul_csv *csv, const char *const *names, row_adder add, void *state,
                             haul_error *error)
{
    size_t columns[NUMBERS] = {0};
    haul_status status = HAUL_OK;
    for (int c = 0; !status && c < NUMBERS && names[c]; c++)
        status = haul_csv_find(csv, names[c], &columns[c], error);
    const char *const *fields = NULL;
    while (!status && !(status = haul_csv_next(csv, &fields, error)) && fields) {
        double row[NUMBERS];
        for (int c = 0; c < NUMBERS && names[c]; c++)
            row[c] = number(fields[columns[c]]);
        add(state, row);
    }
    return status;
}

static haul_status read_file(const char *data, const char *name, const char *const *names,
                             row_adder add, void *state, haul_error *error)
{
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", data, name);
    haul_csv *csv = NULL;
    haul_status status = haul_csv_open(path, &csv, error);
    if (status)
        return status;
    status = read_rows(csv, names, add, state, error);
    haul_csv_close(csv);
    return status;
}

static void add_serial(void *state, const double *row)
{
    serial_runs *runs = state;
    if (runs->count < SERIAL_RUNS_MOST && row[3] + row[4] + row[5] > 0)
        runs->items[runs->count++] = (serial_run){.m = row[0],
                                                  .n = row[1],
                                                  .k = row[2],
                                                  .on_host = {row[3], row[4], row[5]},
                                                  .total_s = row[6],
                                                  .in_s = row[7],
                                                  .out_s = row[8]};
}

/* Of each product the tile with which it was fastest. */
static void add_tiled(void *state, const double *row)
{
    serial_runs *runs = state;
    for (size_t i = 0; i < runs->count; i++) {
        serial_run *run = &runs->items[i];
        if (run->m == row[0] && run->n == row[1] && run->k == row[2] && run->on_host[0] == row[3] &&
            run->on_host[1] == row[4] && run->on_host[2] == row[5] &&
            (!(run->overlapped_s > 0) || row[7] < run->overlapped_s)) {
            run->overlapped_s = row[7];
            run->tile = row[6];
        }
    }
}

haul_status serial_runs_read(const char *data, serial_runs **runs, haul_error *error)
{
    static const char *const serial[NUMBERS + 1] = {
        "m", "n", "k", "a_on_host", "b_on_host", "c_on_host", "total_s", "send_s", "get_s"};
    static const char *const tiled[NUMBERS + 1] = {"m",         "n",         "k",    "a_on_host",
                                                   "b_on_host", "c_on_host", "tile", "measured_s"};
    serial_runs *read = calloc(1, sizeof *read);
    if (!read)
        return haul_fail_no_memory(error);
    haul_status status =
        read_file(data, "overlap/k40-dgemm-serial.csv", serial, add_serial, read, error);
    if (!status)
        status = read_file(data, "overlap/k40-dgemm-tiled.csv", tiled, add_tiled, read, error);
    size_t kept = 0;
    for (size_t i = 0; i < read->count; i++)
        if (read->items[i].overlapped_s > 0)
            read->items[kept++] = read->items[i];
    read->count = kept;
    if (status)
        free(read);
    else
        *runs = read;
    return status;
}

/* A program under construction: calls take no time but that for which they wait, copies wait. */
typedef struct program {
    haul_builder builder;
    haul_call calls[8];
    size_t count;
    uint32_t stream;
    int64_t host_ns;
    int64_t device_ns;
} program;

static void run_op(program *self, haul_op op, double seconds)
{
    const uint64_t key = self->count + 1;
    op.start_ns = self->device_ns;
    op.dur_ns = llround(1e9 * seconds);
    op.stream = self->stream;
    op.name = op.thread = HAUL_NONE;
    haul_builder_op(&self->builder, &op, key);
    self->device_ns += op.dur_ns;
    const int64_t returned_ns = op.kind == HAUL_OP_COPY ? self->device_ns : self->host_ns;
    self->calls[self->count++] = (haul_call){.start_ns = self->host_ns,
                                             .dur_ns = returned_ns - self->host_ns,
                                             .key = key,
                                             .name = HAUL_NONE};
    self->host_ns = returned_ns;
}

static haul_op copy_of(haul_direction direction, double elements)
{
    return (haul_op){.kind = HAUL_OP_COPY,
                     .direction = (uint8_t)direction,
                     .detail = HAUL_PINNED,
                     .bytes = (uint64_t)(8 * elements)};
}

haul_status serial_run_workload(const serial_run *run, haul_workload **workload, haul_error *error)
{
    const double elements[3] = {run->m * run->k, run->k * run->n, run->m * run->n};
    double all = 0;
    for (int i = 0; i < 3; i++)
        all += run->on_host[i] * elements[i];
    program self = {0};
    haul_builder_init(&self.builder);
    const haul_stream stream = {.device = haul_builder_device(&self.builder, 0, 0)};
    self.stream = haul_builder_stream(&self.builder, &stream);
    for (int i = 0; i < 3; i++)
        if (run->on_host[i] > 0)
            run_op(&self, copy_of(HAUL_HTOD, elements[i]), run->in_s * elements[i] / all);
    run_op(&self, (haul_op){.kind = HAUL_OP_KERNEL, .shape = HAUL_NONE},
           run->total_s - run->in_s - run->out_s);
    if (run->on_host[2] > 0)
        run_op(&self, copy_of(HAUL_DTOH, elements[2]), run->out_s);
    const uint32_t thread = haul_builder_thread(&self.builder, 0, 1);
    for (size_t c = 0; c < self.count; c++) {
        self.calls[c].thread = thread;
        haul_builder_call(&self.builder, &self.calls[c]);
    }
    return haul_builder_finish(&self.builder, "k40-dgemm-serial.csv", "csv", workload, error);
}

typedef struct shares {
    double items[2][SERIAL_RUNS_MOST];
    size_t count[2];
} shares;

static void add_share(void *state, const double *row)
{
    shares *of = state;
    const int direction = row[0] > 0;
    if (of->count[direction] < SERIAL_RUNS_MOST)
        of->items[direction][of->count[direction]++] = fmin(1, row[1] / row[2]);
}

haul_status serial_busy_machine(const char *data, const haul_machine *machine, haul_machine **out,
                                haul_error *error)
{
    static const char *const names[NUMBERS + 1] = {"direction", "alone_s", "while_opposite_busy_s"};
    shares of = {.count = {0}};
    haul_status status =
        read_file(data, "transfers/bidirectional-k40.csv", names, add_share, &of, error);
    haul_copy_curve *curves = malloc((machine->copy_count + 1) * sizeof *curves);
    if (!status && !curves)
        status = haul_fail_no_memory(error);
    for (size_t c = 0; !status && curves && c < machine->copy_count; c++) {
        curves[c] = machine->copies[c];
        const haul_direction direction = curves[c].direction;
        if (direction > HAUL_DTOH || curves[c].memory != HAUL_PINNED || !of.count[direction])
            continue;
        curves[c].busy_rate_Bps = curves[c].rate_Bps;
        curves[c].busy_rate_Bps.value *= haul_median(of.items[direction], of.count[direction]);
    }
    if (!status)
        status = haul_machine_with_copies(machine, curves, machine->copy_count, out, error);
    free(curves);
    return status;
}
