#include "haul/kernel_times.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/numerals.h"
#include "base/textfile.h"
#include "kernel/kernel_records.h"

enum { FILE_BYTES = 1 << 28 };

typedef struct owned_times {
    haul_kernel_times times; /* first: haul_kernel_times_free takes its address */
    haul_kernel_records records;
} owned_times;

void haul_kernel_times_free(haul_kernel_times *times)
{
    if (!times)
        return;
    owned_times *owned = (owned_times *)(void *)times;
    haul_arena_release(&owned->records.arena);
    free(owned->records.items);
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
        block[i] = side >= 1 && side <= MOST ? (int)side : haul_counters_block(counters) > 0;
    }
}

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

static haul_status read_file(haul_kernel_csv file, haul_kernel_records *records, haul_error *error)
{
    char *text = NULL;
    size_t size = 0;
    haul_status status = haul_textfile_read(file.path, FILE_BYTES, &text, &size, error);
    if (!status)
        status = haul_kernel_csv_read(text, size, file, records, error);
    free(text);
    return status;
}

static haul_status finish(owned_times *made, haul_status status, const char *first,
                          haul_kernel_times **times, haul_error *error)
{
    if (!status)
        status = settle(made, error);
    if (!status && !made->times.count) {
        status = haul_fail(error, HAUL_BAD_INPUT, "no measured kernels in it");
        haul_error_in_file(error, first);
    }
    if (status)
        haul_kernel_times_free(&made->times);
    else
        *times = &made->times;
    return status;
}

haul_status haul_kernel_times_load(const haul_kernel_csv *files, size_t count,
                                   haul_kernel_times **times, haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    owned_times *made = calloc(1, sizeof *made);
    if (!made)
        return haul_fail_no_memory(error);
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < count; i++)
        status = read_file(files[i], &made->records, error);
    return finish(made, status, count ? files[0].path : NULL, times, error);
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
