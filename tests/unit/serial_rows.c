#include "serial_rows.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/stats.h"
#include "number_rows.h"
#include "trace/trace_builder.h"

static void list_serial(const number_rows *serial, serial_runs *runs)
{
    for (size_t i = 0; i < serial->count && runs->count < SERIAL_RUNS_MOST; i++) {
        const double *row = serial->rows[i];
        if (row[3] + row[4] + row[5] > 0)
            runs->items[runs->count++] = (serial_run){.m = row[0],
                                                      .n = row[1],
                                                      .k = row[2],
                                                      .on_host = {row[3], row[4], row[5]},
                                                      .total_s = row[6],
                                                      .in_s = row[7],
                                                      .out_s = row[8]};
    }
}

static bool is_of(const double *row, const serial_run *run)
{
    return run->m == row[0] && run->n == row[1] && run->k == row[2] && run->on_host[0] == row[3] &&
           run->on_host[1] == row[4] && run->on_host[2] == row[5];
}

/* The tile with which it was fastest. */
static void find_best(const number_rows *tiled, serial_run *run)
{
    for (size_t i = 0; i < tiled->count; i++) {
        const double *row = tiled->rows[i];
        if (!is_of(row, run) || (run->overlapped_s > 0 && row[7] >= run->overlapped_s))
            continue;
        run->overlapped_s = row[7];
        run->tile = row[6];
    }
}

static void keep_measured(const number_rows *tiled, serial_runs *runs)
{
    size_t kept = 0;
    for (size_t i = 0; i < runs->count; i++) {
        find_best(tiled, &runs->items[i]);
        if (runs->items[i].overlapped_s > 0)
            runs->items[kept++] = runs->items[i];
    }
    runs->count = kept;
}

haul_status serial_runs_read(const char *data, serial_runs **runs, haul_error *error)
{
    static const char *const of_serial[NUMBER_COLUMNS] = {
        "m", "n", "k", "a_on_host", "b_on_host", "c_on_host", "total_s", "send_s", "get_s"};
    static const char *const of_tiled[NUMBER_COLUMNS] = {
        "m", "n", "k", "a_on_host", "b_on_host", "c_on_host", "tile", "measured_s"};
    number_rows *serial = NULL, *tiled = NULL;
    haul_status status =
        number_rows_read(data, "overlap/k40-dgemm-serial.csv", of_serial, &serial, error);
    if (!status)
        status = number_rows_read(data, "overlap/k40-dgemm-tiled.csv", of_tiled, &tiled, error);
    serial_runs *made = status ? NULL : calloc(1, sizeof *made);
    if (!status && !made)
        status = hl_base_fail_no_memory(error);
    if (made) {
        list_serial(serial, made);
        keep_measured(tiled, made);
        *runs = made;
    }
    free(serial);
    free(tiled);
    return status;
}

/* A program under construction: calls take no time but that for which they wait, copies wait. */
typedef struct program {
    hl_trace_builder builder;
    hl_trace_host_call calls[8];
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
    hl_trace_op(&self->builder, &op, key);
    self->device_ns += op.dur_ns;
    const int64_t returned_ns = op.kind == HAUL_OP_COPY ? self->device_ns : self->host_ns;
    self->calls[self->count++] = (hl_trace_host_call){.start_ns = self->host_ns,
                                                      .dur_ns = returned_ns - self->host_ns,
                                                      .key = key,
                                                      .name = HAUL_NONE};
    self->host_ns = returned_ns;
}

static haul_op copy_of(haul_direction direction, double elements)
{
    return (haul_op){.kind = HAUL_OP_COPY,
                     .direction = (uint8_t)direction,
                     .detail = HAUL_MEMORY_PINNED,
                     .bytes = (uint64_t)(8 * elements)};
}

haul_status serial_run_workload(const serial_run *run, haul_workload **workload, haul_error *error)
{
    const double elements[3] = {run->m * run->k, run->k * run->n, run->m * run->n};
    double all = 0;
    for (int i = 0; i < 3; i++)
        all += run->on_host[i] * elements[i];
    program self = {0};
    hl_trace_init(&self.builder);
    const haul_workload_stream stream = {.device = hl_trace_device(&self.builder, 0, 0)};
    self.stream = hl_workload_builder_stream(&self.builder.built, &stream);
    for (int i = 0; i < 3; i++)
        if (run->on_host[i] > 0)
            run_op(&self, copy_of(HAUL_DIRECTION_HTOD, elements[i]), run->in_s * elements[i] / all);
    run_op(&self, (haul_op){.kind = HAUL_OP_KERNEL, .shape = HAUL_NONE},
           run->total_s - run->in_s - run->out_s);
    if (run->on_host[2] > 0)
        run_op(&self, copy_of(HAUL_DIRECTION_DTOH, elements[2]), run->out_s);
    const uint32_t thread = hl_workload_builder_thread(
        &self.builder.built, &(haul_workload_thread){.process = 0, .id = 1});
    for (size_t c = 0; c < self.count; c++) {
        self.calls[c].thread = thread;
        hl_trace_call(&self.builder, &self.calls[c]);
    }
    return hl_trace_finish(&self.builder, "k40-dgemm-serial.csv", "csv", workload, error);
}

/* The median over sizes of what a copy of a direction keeps of its speed; 1 where there is none. */
static double busy_share(const number_rows *measured, haul_direction direction)
{
    double shares[NUMBER_ROWS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < measured->count; i++)
        if ((measured->rows[i][0] > 0) == (direction == HAUL_DIRECTION_DTOH))
            shares[count++] = fmin(1, measured->rows[i][1] / measured->rows[i][2]);
    return count ? hl_base_median(shares, count) : 1;
}

haul_status serial_busy_machine(const char *data, const haul_machine *machine, haul_machine **out,
                                haul_error *error)
{
    static const char *const names[NUMBER_COLUMNS] = {"direction", "alone_s",
                                                      "while_opposite_busy_s"};
    number_rows *measured = NULL;
    haul_copy_curve *curves = calloc(machine->copy_count + 1, sizeof *curves);
    haul_status status = curves ? HAUL_OK : hl_base_fail_no_memory(error);
    if (!status)
        status = number_rows_read(data, "transfers/bidirectional-k40.csv", names, &measured, error);
    for (size_t c = 0; !status && c < machine->copy_count; c++) {
        curves[c] = machine->copies[c];
        if (!haul_direction_crosses_link(curves[c].direction) ||
            curves[c].memory != HAUL_MEMORY_PINNED)
            continue;
        curves[c].busy_rate_Bps = curves[c].rate_Bps;
        curves[c].busy_rate_Bps.value *= busy_share(measured, curves[c].direction);
    }
    if (!status)
        status = haul_machine_with_copies(machine, curves, machine->copy_count, out, error);
    free(measured);
    free(curves);
    return status;
}
