/* Finds the machine that each measured row is of, and the file of its kernel, then groups rows.
 * Rows of one kernel on one GPU belong together, unless one size was measured in blocks of several
 * shapes: then each shape is a kernel of its own, for its times lie on another curve. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/compare.h"
#include "base/fail.h"
#include "kernel/kernel_table.h"
#include "machine/gpu_names.h"

/* A row to fit. */
typedef struct fit_row {
    const char *kernel;
    size_t machine;
    const haul_kernel_file *file; /* its counts are from it; NULL: counted by a profiler */
    haul_kernel_sample sample;
    int block[3]; /* that it was launched in; all 0: not known */
    size_t row;   /* its number among all */
} fit_row;

typedef struct matcher {
    haul_kernel_groups groups; /* first: haul_kernel_groups_free takes its address */
    hl_base_arena arena;
    const haul_kernel_matching *what;
    fit_row *launches; /* as they were read */
    size_t count;
    haul_error *error;
} matcher;

/* The index of the row's machine, the one whose name or GPU's name is most like the row's; the
 * count of machines for none. */
static size_t machine_of(const haul_kernel_matching *what, const haul_kernel_measured *row)
{
    size_t found = what->machine_count, most = 0;
    if (!row->gpu)
        return found == 1 ? 0 : found;
    for (size_t i = 0; i < what->machine_count; i++) {
        const haul_machine *machine = what->machines[i];
        const char *gpu = machine->gpu.name ? machine->gpu.name : machine->name;
        const size_t by_name = hl_machine_gpu_names_likeness(machine->name, row->gpu);
        const size_t by_gpu = hl_machine_gpu_names_likeness(gpu, row->gpu);
        const size_t like = by_name > by_gpu ? by_name : by_gpu;
        if (like > most) {
            most = like;
            found = i;
        }
    }
    return found;
}

/* An error at a row of the user's table. */
static haul_status fail_row(const haul_kernel_measured *row, int column, const char *text,
                            haul_error *error)
{
    haul_error_set(error, HAUL_STATUS_BAD_INPUT, "%s", text);
    hl_base_error_at(error, (hl_base_place){row->file, row->line, column});
    return HAUL_STATUS_BAD_INPUT;
}

/* Counts a row left out and keeps the first, as an example for the report. */
static void note_left_out(haul_kernel_some_rows *rows, const haul_kernel_measured *row)
{
    rows->one = rows->count++ ? rows->one : row;
}

/* Adds a row that is to be fitted: what its kernel does is from its file, or as it was counted. */
static haul_status add_launch(matcher *self, const haul_kernel_file *file, size_t machine,
                              const haul_kernel_measured *row)
{
    fit_row *made = &self->launches[self->count];
    const haul_kernel_counts *launched = &row->counts;
    haul_kernel_counts *counts = &made->sample.counts;
    const char *name = file ? file->name : row->kernel;
    if (!name) { /* that of the table, without its folder and what follows a point */
        const char *slash = strrchr(row->file, '/');
        const char *stem = slash ? slash + 1 : row->file;
        const size_t length = strcspn(stem, ".");
        name = length ? hl_base_arena_text(&self->arena, stem, length) : "kernel";
    }
    *made = (fit_row){
        .kernel = name,
        .machine = machine,
        .file = file,
        .sample = {.size = row->size,
                   .seconds = row->seconds,
                   .counts = *launched,
                   .file = row->file,
                   .line = row->line,
                   .column = row->column},
        .row = self->count++,
    };
    if (!made->kernel)
        return hl_base_fail_no_memory(self->error);
    memcpy(made->block, row->block, sizeof made->block);
    const haul_status status =
        file ? haul_kernel_file_at(file, row->size, counts, self->error) : HAUL_OK;
    if (status || launched->threads <= 0 ||
        (launched->threads == counts->threads && launched->block == counts->block))
        return status;
    if (!self->groups.launched_otherwise.count)
        self->groups.by_file = *counts;
    note_left_out(&self->groups.launched_otherwise, row);
    return HAUL_OK;
}

/* A row goes to a fit, is left out with its reason counted, or is an error where it belongs to a
 * fit but lacks its size or time. Rows of kernels that were not asked for are left out without a
 * word. */
static haul_status add_row(matcher *self, const haul_kernel_measured *row)
{
    const haul_kernel_matching *what = self->what;
    haul_kernel_groups *groups = &self->groups;
    const haul_kernel_file *file = what->is_chosen && !row->kernel ? what->files[0] : NULL;
    for (size_t i = 0; row->kernel && !file && i < what->file_count; i++)
        if (haul_kernel_file_is(what->files[i], row->kernel))
            file = what->files[i];
    if ((what->is_chosen && !file) ||
        (what->kernel && (!row->kernel || !hl_kernel_plain_name_is(row->kernel, what->kernel))))
        return HAUL_OK;
    const size_t machine = machine_of(what, row);
    const bool is_other_block =
        what->block[0] && memcmp(what->block, row->block, sizeof row->block) != 0;
    /* by the first reason that holds: a row of another GPU is not asked for its counts */
    haul_kernel_some_rows *left_out = machine == what->machine_count ? &groups->other_gpus
                                      : is_other_block               ? &groups->other_blocks
                                      : !file && !row->is_counted    ? &groups->uncounted
                                                                     : NULL;
    if (left_out) {
        note_left_out(left_out, row);
        return HAUL_OK;
    }
    if (row->size <= 0)
        return fail_row(row, row->column,
                        "the size is missing: a column n, or --size N for the file", self->error);
    if (row->seconds <= 0)
        return fail_row(row, 1,
                        "the time of these counters is missing: a trace of the same launches, "
                        "or gpu__time_duration.sum",
                        self->error);
    return add_launch(self, file, machine, row);
}

/* The first names of kernels in the rows, each once: "'a', 'b' and others". */
static void list_kernels(const haul_kernel_times *times, char *text, size_t size)
{
    enum { SHOWN = 3 };
    const char *seen[SHOWN];
    size_t shown = 0, at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < times->count; i++) {
        const char *name = times->rows[i].kernel;
        size_t k = 0;
        while (name && k < shown && strcmp(seen[k], name) != 0)
            k++;
        if (!name || k < shown)
            continue;
        if (shown == SHOWN) {
            (void)snprintf(text + at, size - at, " and others");
            return;
        }
        seen[shown++] = name;
        at += (size_t)snprintf(text + at, size - at, "%s'%.60s'", shown > 1 ? ", " : "", name);
    }
}

/* Why no row is left. */
static haul_status fail_empty(const matcher *self)
{
    const haul_kernel_matching *what = self->what;
    const haul_kernel_groups *groups = &self->groups;
    haul_error *error = self->error;
    const char *gpu = NULL;
    char kernels[256];
    for (size_t i = 0; i < what->times->count; i++)
        gpu = what->times->rows[i].gpu ? what->times->rows[i].gpu : gpu;
    list_kernels(what->times, kernels, sizeof kernels);
    if (groups->uncounted.count) {
        const haul_kernel_measured *one = groups->uncounted.one;
        haul_error_set(
            error, HAUL_STATUS_MISSING,
            "what '%.60s' does is not known: give its file with --kernel, or a profiler's "
            "counters of instructions, loads, stores and the grid "
            "(docs/kernels.md has the command; ncu's own choice of metrics lacks them)",
            one->kernel ? one->kernel : "the kernel");
        hl_base_error_at(error, (hl_base_place){one->file, one->line, 1});
        return HAUL_STATUS_MISSING;
    }
    if (groups->other_blocks.count)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "no row is in the blocks that --block asks for");
    if (groups->other_gpus.count && !gpu)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "the rows do not say their gpu: give one machine, or a column 'gpu'");
    if (groups->other_gpus.count)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "no row is of '%.60s'; there is '%.60s'", what->machines[0]->name,
                              gpu);
    return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "no row is of '%.60s'; there is %s",
                          what->kernel       ? what->kernel
                          : what->file_count ? what->files[0]->name
                                             : "",
                          kernels[0] ? kernels : "no name");
}

/* --- groups */

static int compare_kernels(const fit_row *a, const fit_row *b)
{
    const int names = strcmp(a->kernel, b->kernel);
    return names ? names : hl_base_compare_unsigned(a->machine, b->machine);
}

/* Unknown blocks (all 0) are a shape of their own, the first. */
static int compare_blocks(const fit_row *a, const fit_row *b)
{
    for (int i = 0; i < 3; i++)
        if (a->block[i] != b->block[i])
            return a->block[i] < b->block[i] ? -1 : 1;
    return 0;
}

static int compare_sizes(const fit_row *a, const fit_row *b)
{
    return hl_base_compare_reals(a->sample.size, b->sample.size);
}

/* Ends with the row's number: qsort is not stable, and the outcome is not to depend on its
 * library. */
static int by_kernel(const void *a, const void *b)
{
    const int kernels = compare_kernels(a, b), sizes = compare_sizes(a, b);
    const int blocks = compare_blocks(a, b);
    const fit_row *x = a, *y = b;
    return kernels  ? kernels
           : sizes  ? sizes
           : blocks ? blocks
                    : hl_base_compare_unsigned(x->row, y->row);
}

/* Within one kernel and GPU: shapes apart, each in order of size. */
static int by_block(const void *a, const void *b)
{
    const int blocks = compare_blocks(a, b), sizes = compare_sizes(a, b);
    const fit_row *x = a, *y = b;
    return blocks ? blocks : sizes ? sizes : hl_base_compare_unsigned(x->row, y->row);
}

/* The launches of one kernel on one machine, ordered by size, and the number of its first row. */
typedef struct kernel_run {
    fit_row *launches;
    size_t count;
    size_t first_row;
} kernel_run;

static int by_first_row(const void *a, const void *b)
{
    const kernel_run *x = a, *y = b;
    return hl_base_compare_unsigned(x->first_row, y->first_row);
}

/* How many launches from the first on are equal by `compare`. */
static size_t run_of(const fit_row *launches, size_t count,
                     int (*compare)(const fit_row *a, const fit_row *b))
{
    size_t run = 1;
    while (run < count && !compare(launches, &launches[run]))
        run++;
    return run;
}

/* Sorts launches into runs, and these by their first row, so that reports keep the order of the
 * files. */
static size_t find_runs(fit_row *launches, size_t count, kernel_run *runs)
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
static const char *title_of(hl_base_arena *arena, const fit_row *launch)
{
    const int *block = launch->block;
    if (!block[0])
        return hl_base_arena_format(arena, "%s in unknown blocks", launch->kernel);
    if (block[2] > 1)
        return hl_base_arena_format(arena, "%s in blocks of %dx%dx%d", launch->kernel, block[0],
                                    block[1], block[2]);
    if (block[1] > 1)
        return hl_base_arena_format(arena, "%s in blocks of %dx%d", launch->kernel, block[0],
                                    block[1]);
    return hl_base_arena_format(arena, "%s in blocks of %d", launch->kernel, block[0]);
}

/* Copies the samples: the launches are the caller's and are freed before the groups. */
static bool add_group(const fit_row *launches, size_t count, const char *title,
                      hl_base_arena *arena, haul_kernel_groups *out)
{
    haul_kernel_sample *samples = hl_base_arena_alloc(arena, count * sizeof *samples);
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

static bool add_kernel(const kernel_run *run, hl_base_arena *arena, haul_kernel_groups *out)
{
    fit_row *launches = run->launches;
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

/* Groups the launches, whose order it changes; false without memory. */
static bool group_launches(matcher *self)
{
    const size_t count = self->count;
    kernel_run *runs = calloc(count + 1, sizeof *runs);
    self->groups.items =
        hl_base_arena_alloc(&self->arena, (count + 1) * sizeof *self->groups.items);
    bool is_made = runs && self->groups.items;
    const size_t found = is_made ? find_runs(self->launches, count, runs) : 0;
    for (size_t i = 0; is_made && i < found; i++)
        is_made = add_kernel(&runs[i], &self->arena, &self->groups);
    free(runs);
    return is_made;
}

/* The launches are scratch; the groups own the arena that their names and samples are in. */
haul_status haul_kernel_groups_new(const haul_kernel_matching *what, haul_kernel_groups **groups,
                                   haul_error *error)
{
    matcher *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    self->what = what;
    self->error = error;
    self->launches = calloc(what->times->count + 1, sizeof *self->launches);
    if (!self->launches) {
        haul_kernel_groups_free(&self->groups);
        return hl_base_fail_no_memory(error);
    }
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < what->times->count; i++)
        status = add_row(self, &what->times->rows[i]);
    if (!status && !self->count)
        status = fail_empty(self);
    if (!status && !group_launches(self))
        status = hl_base_fail_no_memory(error);
    free(self->launches);
    if (status)
        haul_kernel_groups_free(&self->groups);
    else
        *groups = &self->groups;
    return status;
}

void haul_kernel_groups_free(haul_kernel_groups *groups)
{
    if (!groups)
        return;
    hl_base_arena_release(&((matcher *)(void *)groups)->arena);
    free(groups);
}
