/* Measured kernels from tables or a profile: read as records, then joined, so that counters of one
 * run get the times of another. */
#include "haul/kernel_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numerals.h"
#include "base/textfile.h"
#include "kernel/kernel_records.h"

enum { FILE_BYTES = 1 << 28 };

typedef struct named_row {
    haul_kernel_plain_name name; /* bare */
    size_t row;
} named_row;

typedef struct owned_times {
    haul_kernel_times times; /* first: haul_kernel_times_free takes its address */
    haul_kernel_records records;
    named_row *by_name; /* of rows with a name, sorted: a profile asks for thousands of kernels */
    size_t name_count;
} owned_times;

void haul_kernel_times_free(haul_kernel_times *times)
{
    if (!times)
        return;
    owned_times *owned = (owned_times *)(void *)times;
    haul_arena_release(&owned->records.arena);
    free(owned->records.items);
    free(owned->by_name);
    free(owned->times.rows);
    free(owned);
}

static double known_or_zero(double value)
{
    return isnan(value) ? 0 : value;
}

/* The sides of a block (CUDA's have at most 1024 threads); all threads along the first where no
 * side is known. */
static void take_block(const haul_counters *counters, int block[3])
{
    enum { MOST = 65536 };
    const double *sides = &counters->values[HAUL_COUNTER_BLOCK_X];
    const bool is_one = isnan(sides[0]) && isnan(sides[1]) && isnan(sides[2]);
    for (int i = 0; i < 3; i++) {
        const double side = !is_one ? sides[i] : i ? 0 : counters->values[HAUL_COUNTER_BLOCK];
        /* a side that is not told beside others is 1; all are 0 where nothing is known */
        block[i] = side >= 1 && side <= MOST ? (int)side : haul_counters_block(counters) > 0;
    }
}

/* The row's texts stay in the records' arena, which the times own. */
static haul_kernel_measured measured_of(const haul_kernel_record *record)
{
    haul_kernel_measured row = {
        .gpu = record->gpu,
        .kernel = record->kernel,
        .size = known_or_zero(record->counters.values[HAUL_COUNTER_SIZE]),
        .seconds = known_or_zero(record->counters.values[HAUL_COUNTER_SECONDS]),
        .file = record->file,
        .line = record->line,
        .column = record->column,
    };
    row.is_counted = haul_counters_counts(&record->counters, &row.counts);
    take_block(&record->counters, row.block);
    return row;
}

static int compare_names(haul_kernel_plain_name a, haul_kernel_plain_name b)
{
    const int start = memcmp(a.start, b.start, a.length < b.length ? a.length : b.length);
    return start ? start : (a.length > b.length) - (a.length < b.length);
}

/* Rows of one name stay in their order. */
static int by_name(const void *a, const void *b)
{
    const named_row *x = a, *y = b;
    const int names = compare_names(x->name, y->name);
    return names ? names : (x->row > y->row) - (x->row < y->row);
}

static haul_status sort_names(owned_times *self, haul_error *error)
{
    self->by_name = calloc(self->times.count + 1, sizeof *self->by_name);
    if (!self->by_name)
        return haul_fail_no_memory(error);
    for (size_t i = 0; i < self->times.count; i++)
        if (self->times.rows[i].kernel)
            self->by_name[self->name_count++] =
                (named_row){haul_kernel_bare_name_of(self->times.rows[i].kernel), i};
    qsort(self->by_name, self->name_count, sizeof *self->by_name, by_name);
    return HAUL_OK;
}

/* Makes rows of the records, without those whose time went to counters of another run. */
static haul_status settle(owned_times *self, haul_error *error)
{
    haul_kernel_records *records = &self->records;
    bool *is_used = calloc(records->count + 1, sizeof *is_used);
    self->times.rows = calloc(records->count + 1, sizeof *self->times.rows);
    if (!is_used || !self->times.rows) {
        free(is_used);
        return haul_fail_no_memory(error);
    }
    const haul_status status = haul_kernel_records_join(records, is_used, error);
    for (size_t i = 0; !status && i < records->count; i++)
        if (!is_used[i] && haul_kernel_record_tells(&records->items[i]))
            self->times.rows[self->times.count++] = measured_of(&records->items[i]);
    free(is_used);
    return status;
}

/* Hands the times over, or frees them: `made` is the caller's no longer. */
static haul_status finish(owned_times *made, haul_status status, const char *first,
                          haul_kernel_times **times, haul_error *error)
{
    if (!status)
        status = settle(made, error);
    if (!status && !made->times.count) {
        status = haul_fail(error, HAUL_BAD_INPUT, "no times or known counters of kernels in it");
        haul_error_in_file(error, first);
    }
    if (!status)
        status = sort_names(made, error);
    if (status)
        haul_kernel_times_free(&made->times);
    else
        *times = &made->times;
    return status;
}

/* All files are read before any is joined: the times may be in one and the counters in another. */
haul_status haul_kernel_times_load(const haul_kernel_csv *files, size_t count,
                                   haul_kernel_times **times, haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    owned_times *made = calloc(1, sizeof *made);
    if (!made)
        return haul_fail_no_memory(error);
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < count; i++) {
        char *text = NULL;
        size_t size = 0;
        status = haul_textfile_read(files[i].path, FILE_BYTES, &text, &size, error);
        if (!status)
            status = haul_kernel_csv_read(text, size, files[i], &made->records, error);
        free(text);
    }
    return finish(made, status, count ? files[0].path : NULL, times, error);
}

/* The place of the first row of the name, or of those behind it, in by_name. */
static size_t first_of_name(const owned_times *self, haul_kernel_plain_name name)
{
    size_t low = 0, high = self->name_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_names(self->by_name[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Means over the launches of that name, and of that many threads where both sides tell: the same
 * kernel in another grid does other work. */
void haul_kernel_times_find(const haul_kernel_times *times, const char *name,
                            const haul_kernel_launches *launch, double *flops, double *bytes)
{
    const owned_times *self = (const owned_times *)(const void *)times;
    const haul_kernel_plain_name bare = haul_kernel_bare_name_of(name);
    double flops_sum = 0, flops_count = 0, bytes_sum = 0, bytes_count = 0;
    for (size_t i = first_of_name(self, bare);
         i < self->name_count && !compare_names(self->by_name[i].name, bare); i++) {
        const haul_kernel_counts *counts = &times->rows[self->by_name[i].row].counts;
        if (counts->threads > 0 && launch->blocks > 0 &&
            counts->threads != launch->blocks * launch->block)
            continue;
        flops_sum += counts->flops;
        flops_count += counts->flops > 0;
        bytes_sum += counts->bytes;
        bytes_count += counts->bytes > 0;
    }
    *flops = flops_count > 0 ? flops_sum / flops_count : 0;
    *bytes = bytes_count > 0 ? bytes_sum / bytes_count : 0;
}

static haul_status add_launch(const haul_workload *workload, const haul_op *op, double size,
                              haul_kernel_records *records, haul_error *error)
{
    haul_kernel_record *record = haul_kernel_records_new(records);
    if (!record)
        return haul_fail_no_memory(error);
    double *values = record->counters.values;
    const char *name = op->name == HAUL_NONE ? "" : haul_workload_string(workload, op->name);
    record->file = workload->source;
    const haul_kernel_plain_name plain = haul_kernel_plain_name_of(name);
    record->kernel = haul_arena_text(&records->arena, plain.start, plain.length);
    values[HAUL_COUNTER_SIZE] = size > 0 ? size : (double)NAN;
    values[HAUL_COUNTER_SECONDS] = 1e-9 * (double)op->dur_ns;
    if (op->stream != HAUL_NONE)
        record->gpu = workload->devices[workload->streams[op->stream].device].name;
    if (op->shape < workload->shape_count) {
        const haul_shape *shape = &workload->shapes[op->shape];
        values[HAUL_COUNTER_GRID] =
            (double)shape->grid[0] * (double)shape->grid[1] * (double)shape->grid[2];
        for (int i = 0; i < 3; i++)
            values[HAUL_COUNTER_BLOCK_X + i] = shape->block[i];
    }
    return record->kernel ? HAUL_OK : haul_fail_no_memory(error);
}

/* A kernel that was recorded without a duration tells nothing to fit to. */
haul_status haul_kernel_times_of(const haul_workload *workload, double size,
                                 haul_kernel_times **times, haul_error *error)
{
    owned_times *made = calloc(1, sizeof *made);
    haul_status status = HAUL_OK;
    if (!made)
        return haul_fail_no_memory(error);
    for (size_t i = 0; !status && i < workload->op_count; i++)
        if (workload->ops[i].kind == HAUL_OP_KERNEL && workload->ops[i].dur_ns > 0)
            status = add_launch(workload, &workload->ops[i], size, &made->records, error);
    return finish(made, status, workload->source, times, error);
}

haul_status haul_kernel_times_parse(char *text, size_t size, haul_kernel_csv file,
                                    haul_kernel_times **times, haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    owned_times *made = calloc(1, sizeof *made);
    if (!made)
        return haul_fail_no_memory(error);
    const haul_status status = haul_kernel_csv_read(text, size, file, &made->records, error);
    return finish(made, status, file.path, times, error);
}
