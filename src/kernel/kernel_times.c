/* Measured kernels from tables or a profile: read as rows, joined, and counted as BSP counts. */
#include "haul/kernel_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/fail.h"
#include "base/numerals.h"
#include "base/textfile.h"
#include "kernel/kernel_table.h"

enum { FILE_BYTES = 1 << 28 };

typedef struct named_row {
    hl_kernel_plain_name name; /* bare */
    size_t row;
} named_row;

typedef struct owned_times {
    haul_kernel_times times; /* first: haul_kernel_times_free takes its address */
    hl_kernel_table table;
    named_row *by_name; /* of rows with a name, sorted: a profile asks for thousands of kernels */
    size_t name_count;
} owned_times;

void haul_kernel_times_free(haul_kernel_times *times)
{
    if (!times)
        return;
    owned_times *owned = (owned_times *)(void *)times;
    hl_base_strings_release(&owned->table.names);
    free(owned->table.rows);
    free(owned->by_name);
    free(owned->times.rows);
    free(owned);
}

/* --- counts */

/* A warp has 32 threads, and L2 and memory move sectors of 32 bytes, on every NVIDIA GPU from
 * Kepler on. */
enum { WARP = 32, SECTOR = 32 };

/* The first of them that is known. */
static double first_of(double a, double b, double c)
{
    return !isnan(a) ? a : !isnan(b) ? b : c;
}

static double known_or(double value, double otherwise)
{
    return isnan(value) ? otherwise : value;
}

/* Hits and queries may be counted in different passes over the kernel: more hits than queries are
 * all. */
static double share_of(double hits, double whole)
{
    return whole > 0 ? fmin(hits / whole, 1) : 0;
}

/* Threads of a block; NaN: not known. Sides go before the whole; a side that is not told is 1. */
static double block_of(const hl_kernel_row *row)
{
    const double *v = row->counters;
    const double x = v[HL_KERNEL_COUNTER_BLOCK_X], y = v[HL_KERNEL_COUNTER_BLOCK_Y],
                 z = v[HL_KERNEL_COUNTER_BLOCK_Z];
    if (isnan(x) && isnan(y) && isnan(z))
        return v[HL_KERNEL_COUNTER_BLOCK];
    return known_or(x, 1) * known_or(y, 1) * known_or(z, 1);
}

/* The counts of BSP that follow: false where instructions, loads, stores or a block's threads are
 * not known (AMD's profilers may tell all work items alone); the launch, and with it the bytes and
 * flops, are set where they are known. Per thread, as BSP counts: totals over the threads of the
 * launch. A count that only the roofline needs (bytes, flops) is 0 where it is not known, and so
 * bounds nothing; one that BSP needs makes the counts unknown. */
static bool counts_of(const hl_kernel_row *row, haul_kernel_counts *out)
{
    const double *v = row->counters;
    const double block = block_of(row);
    const double threads =
        first_of(v[HL_KERNEL_COUNTER_GRID] * block, v[HL_KERNEL_COUNTER_WORK_ITEMS], (double)NAN);
    if (!(threads >= 1))
        return false;
    *out = (haul_kernel_counts){.threads = threads, .block = known_or(block, 0)};
    out->bytes =
        known_or(first_of(v[HL_KERNEL_COUNTER_MEMORY_BYTES_ALL], v[HL_KERNEL_COUNTER_MEMORY_BYTES],
                          v[HL_KERNEL_COUNTER_MEMORY_SECTORS] * SECTOR),
                 0);
    out->flops_fp64 = known_or(v[HL_KERNEL_COUNTER_FLOPS_FP64], 0);
    out->flops = known_or(v[HL_KERNEL_COUNTER_FLOPS], 0) + out->flops_fp64;
    /* Counts by thread are exact. Those by warp times 32 take every lane as active, and so do the
     * requests that transactions and transactions per request give: they are an upper limit where
     * warps diverge. */
    const double loads =
        first_of(v[HL_KERNEL_COUNTER_LOADS], v[HL_KERNEL_COUNTER_WARP_LOADS] * WARP,
                 v[HL_KERNEL_COUNTER_LOAD_TRANSACTIONS] /
                     v[HL_KERNEL_COUNTER_LOAD_TRANSACTIONS_EACH] * WARP);
    const double stores =
        first_of(v[HL_KERNEL_COUNTER_STORES], v[HL_KERNEL_COUNTER_WARP_STORES] * WARP,
                 v[HL_KERNEL_COUNTER_STORE_TRANSACTIONS] /
                     v[HL_KERNEL_COUNTER_STORE_TRANSACTIONS_EACH] * WARP);
    const double instructions =
        first_of(v[HL_KERNEL_COUNTER_INSTRUCTIONS], v[HL_KERNEL_COUNTER_WARP_INSTRUCTIONS] * WARP,
                 (double)NAN);
    if (!isfinite(loads) || !isfinite(stores) || !isfinite(instructions) || !(block > 0))
        return false;
    out->loads_global = loads / threads;
    out->stores_global = stores / threads;
    out->loads_shared = known_or(v[HL_KERNEL_COUNTER_WARP_SHARED_LOADS], 0) * WARP / threads;
    out->stores_shared = known_or(v[HL_KERNEL_COUNTER_WARP_SHARED_STORES], 0) * WARP / threads;
    /* Profilers count accesses among the instructions; BSP takes them apart (eq. 3). */
    const double moved =
        out->loads_global + out->stores_global + out->loads_shared + out->stores_shared;
    out->comp = fmax(instructions / threads - moved, 0); /* a cycle each */
    /* The rate where the profiler gives one, else hits over queries; neither known: no hits, the
     * cautious choice of BSP's 500 cycles for each access. */
    const double l1_rate = known_or(
        v[HL_KERNEL_COUNTER_L1_RATE],
        share_of(known_or(v[HL_KERNEL_COUNTER_L1_HITS], 0),
                 known_or(v[HL_KERNEL_COUNTER_L1_HITS] + v[HL_KERNEL_COUNTER_L1_MISSES], 0)));
    const double l2_rate = known_or(v[HL_KERNEL_COUNTER_L2_RATE],
                                    share_of(known_or(v[HL_KERNEL_COUNTER_L2_HITS], 0),
                                             known_or(v[HL_KERNEL_COUNTER_L2_QUERIES], 0)));
    out->l1_hits = fmin(l1_rate, 1) * out->loads_global;
    out->l2_hits = fmin(l2_rate, 1) * (out->loads_global - out->l1_hits);
    return true;
}

/* --- measured kernels */

/* Behind the last "::": Nsight Compute leaves inline namespaces out ("at::native::"). */
static hl_kernel_plain_name bare_name_of(const char *name)
{
    const hl_kernel_plain_name plain = hl_kernel_plain_name_of(name);
    size_t at = plain.length;
    while (at && plain.start[at - 1] != ':')
        at--;
    return (hl_kernel_plain_name){plain.start + at, plain.length - at};
}

/* The names stay the table's, which the times own. */
static haul_kernel_measured measured_of(const hl_kernel_row *row)
{
    haul_kernel_measured made = {
        .gpu = row->gpu,
        .kernel = row->kernel,
        .size = known_or(row->counters[HL_KERNEL_COUNTER_SIZE], 0),
        .seconds = known_or(row->counters[HL_KERNEL_COUNTER_SECONDS], 0),
        .file = row->file,
        .line = row->line,
        .column = row->column,
    };
    made.is_counted = counts_of(row, &made.counts);
    /* The sides of a block (CUDA's have at most 1024 threads); all threads along the first where no
     * side is known. */
    enum { MOST = 65536 };
    const double *sides = &row->counters[HL_KERNEL_COUNTER_BLOCK_X];
    const bool is_one = isnan(sides[0]) && isnan(sides[1]) && isnan(sides[2]);
    for (int i = 0; i < 3; i++) {
        const double side = !is_one ? sides[i] : i ? 0 : row->counters[HL_KERNEL_COUNTER_BLOCK];
        /* a side that is not told beside others is 1; all are 0 where nothing is known */
        made.block[i] = side >= 1 && side <= MOST ? (int)side : block_of(row) > 0;
    }
    return made;
}

static int compare_names(hl_kernel_plain_name a, hl_kernel_plain_name b)
{
    const int start = memcmp(a.start, b.start, a.length < b.length ? a.length : b.length);
    return start ? start : hl_base_compare_unsigned(a.length, b.length);
}

/* Rows of one name stay in their order. */
static int by_name(const void *a, const void *b)
{
    const named_row *x = a, *y = b;
    const int names = compare_names(x->name, y->name);
    return names ? names : hl_base_compare_unsigned(x->row, y->row);
}

static haul_status sort_names(owned_times *self, haul_error *error)
{
    self->by_name = calloc(self->times.count + 1, sizeof *self->by_name);
    if (!self->by_name)
        return hl_base_fail_no_memory(error);
    for (size_t i = 0; i < self->times.count; i++)
        if (self->times.rows[i].kernel)
            self->by_name[self->name_count++] =
                (named_row){bare_name_of(self->times.rows[i].kernel), i};
    qsort(self->by_name, self->name_count, sizeof *self->by_name, by_name);
    return HAUL_OK;
}

/* Makes measured kernels of the rows, without those whose time went to counters of another run. */
static haul_status join_times(owned_times *self, haul_error *error)
{
    hl_kernel_table *table = &self->table;
    bool *is_used = calloc(table->count + 1, sizeof *is_used);
    haul_kernel_measured *rows = calloc(table->count + 1, sizeof *rows);
    self->times.rows = rows;
    if (!is_used || !rows) {
        free(is_used);
        return hl_base_fail_no_memory(error);
    }
    const haul_status status = hl_kernel_table_join(table, is_used, error);
    for (size_t i = 0; !status && i < table->count; i++)
        if (!is_used[i] && hl_kernel_row_has_counters(&table->rows[i]))
            rows[self->times.count++] = measured_of(&table->rows[i]);
    free(is_used);
    return status;
}

/* Hands the times over, or frees them: `made` is the caller's no longer. */
static haul_status finish_times(owned_times *made, haul_status status, const char *first,
                                haul_kernel_times **times, haul_error *error)
{
    if (!status)
        status = join_times(made, error);
    if (!status && !made->times.count) {
        status = haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                "no times or known counters of kernels in it");
        hl_base_error_in_file(error, first);
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
    HL_PLAIN_NUMERALS;
    owned_times *made = calloc(1, sizeof *made);
    if (!made)
        return hl_base_fail_no_memory(error);
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < count; i++) {
        char *text = NULL;
        size_t size = 0;
        status = hl_base_textfile_read(files[i].path, FILE_BYTES, &text, &size, error);
        if (!status)
            status = hl_kernel_table_read(&made->table, text, size, files[i], error);
        free(text);
    }
    return finish_times(made, status, count ? files[0].path : NULL, times, error);
}

/* The place of the first row of the name, or of those behind it, in by_name. */
static size_t first_of_name(const owned_times *self, hl_kernel_plain_name name)
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
    const hl_kernel_plain_name bare = bare_name_of(name);
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
                              hl_kernel_table *table, haul_error *error)
{
    hl_kernel_row *row = hl_kernel_table_add(table);
    if (!row)
        return hl_base_fail_no_memory(error);
    row->file = workload->source;
    row->kernel = hl_kernel_table_name(
        table, op->name == HAUL_NONE ? "" : haul_workload_string(workload, op->name));
    row->counters[HL_KERNEL_COUNTER_SIZE] = size > 0 ? size : (double)NAN;
    row->counters[HL_KERNEL_COUNTER_SECONDS] = 1e-9 * (double)op->dur_ns;
    if (op->stream != HAUL_NONE)
        row->gpu = workload->devices[workload->streams[op->stream].device].name;
    if (op->shape < workload->shape_count) {
        const haul_shape *shape = &workload->shapes[op->shape];
        row->counters[HL_KERNEL_COUNTER_GRID] =
            (double)shape->grid[0] * (double)shape->grid[1] * (double)shape->grid[2];
        for (int i = 0; i < 3; i++)
            row->counters[HL_KERNEL_COUNTER_BLOCK_X + i] = shape->block[i];
    }
    return row->kernel ? HAUL_OK : hl_base_fail_no_memory(error);
}

/* A kernel that was recorded without a duration tells nothing to fit to. */
haul_status haul_kernel_times_of(const haul_workload *workload, double size,
                                 haul_kernel_times **times, haul_error *error)
{
    owned_times *made = calloc(1, sizeof *made);
    haul_status status = HAUL_OK;
    if (!made)
        return hl_base_fail_no_memory(error);
    for (size_t i = 0; !status && i < workload->op_count; i++)
        if (workload->ops[i].kind == HAUL_OP_KERNEL && workload->ops[i].dur_ns > 0)
            status = add_launch(workload, &workload->ops[i], size, &made->table, error);
    return finish_times(made, status, workload->source, times, error);
}

haul_status haul_kernel_times_parse(char *text, size_t size, haul_kernel_csv file,
                                    haul_kernel_times **times, haul_error *error)
{
    HL_PLAIN_NUMERALS;
    owned_times *made = calloc(1, sizeof *made);
    if (!made)
        return hl_base_fail_no_memory(error);
    const haul_status status = hl_kernel_table_read(&made->table, text, size, file, error);
    return finish_times(made, status, file.path, times, error);
}
