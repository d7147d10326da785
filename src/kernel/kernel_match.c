/* Whose a measured row is: the machine that it was measured on, and the file of its kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "kernel/kernel_groups.h"
#include "kernel/kernel_records.h"
#include "machine/gpu_names.h"

typedef struct matcher {
    haul_kernel_groups groups; /* first: haul_kernel_groups_free takes its address */
    haul_arena arena;
    const haul_kernel_matching *what;
    haul_kernel_launch *launches; /* as they were read */
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
        const size_t by_name = haul_gpu_names_likeness(machine->name, row->gpu);
        const size_t by_gpu = haul_gpu_names_likeness(gpu, row->gpu);
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
    haul_fail(error, HAUL_BAD_INPUT, "%s", text);
    haul_error_at(error, (haul_place){row->file, row->line, column});
    return HAUL_BAD_INPUT;
}

/* Counts a row left out and keeps the first, as an example for the report. */
static void note(haul_kernel_some_rows *rows, const haul_kernel_measured *row)
{
    rows->one = rows->count++ ? rows->one : row;
}

/* Adds a row that is to be fitted: what its kernel does is from its file, or as it was counted. */
static haul_status add_launch(matcher *self, const haul_kernel_file *file, size_t machine,
                              const haul_kernel_measured *row)
{
    haul_kernel_launch *made = &self->launches[self->count];
    const haul_kernel_counts *launched = &row->counts;
    haul_kernel_counts *counts = &made->sample.counts;
    const char *name = file ? file->name : row->kernel;
    if (!name) { /* that of the table, without its folder and what follows a point */
        const char *slash = strrchr(row->file, '/');
        const char *stem = slash ? slash + 1 : row->file;
        const size_t length = strcspn(stem, ".");
        name = length ? haul_arena_text(&self->arena, stem, length) : "kernel";
    }
    *made = (haul_kernel_launch){
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
        return haul_fail_no_memory(self->error);
    memcpy(made->block, row->block, sizeof made->block);
    const haul_status status =
        file ? haul_kernel_file_at(file, row->size, counts, self->error) : HAUL_OK;
    if (status || launched->threads <= 0 ||
        (launched->threads == counts->threads && launched->block == counts->block))
        return status;
    if (!self->groups.launched_otherwise.count)
        self->groups.by_file = *counts;
    note(&self->groups.launched_otherwise, row);
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
        (what->kernel && (!row->kernel || !haul_kernel_plain_name_is(row->kernel, what->kernel))))
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
        note(left_out, row);
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
        haul_fail(error, HAUL_MISSING,
                  "what '%.60s' does is not known: give its file with --kernel, or a profiler's "
                  "counters of instructions, loads, stores and the grid "
                  "(docs/kernels.md has the command; ncu's own choice of metrics lacks them)",
                  one->kernel ? one->kernel : "the kernel");
        haul_error_at(error, (haul_place){one->file, one->line, 1});
        return HAUL_MISSING;
    }
    if (groups->other_blocks.count)
        return haul_fail(error, HAUL_BAD_INPUT, "no row is in the blocks that --block asks for");
    if (groups->other_gpus.count && !gpu)
        return haul_fail(error, HAUL_BAD_INPUT,
                         "the rows do not say their gpu: give one machine, or a column 'gpu'");
    if (groups->other_gpus.count)
        return haul_fail(error, HAUL_BAD_INPUT, "no row is of '%.60s'; there is '%.60s'",
                         what->machines[0]->name, gpu);
    return haul_fail(error, HAUL_BAD_INPUT, "no row is of '%.60s'; there is %s",
                     what->kernel       ? what->kernel
                     : what->file_count ? what->files[0]->name
                                        : "",
                     kernels[0] ? kernels : "no name");
}

/* The launches are scratch; the groups own the arena that their names and samples are in. */
haul_status haul_kernel_groups_new(const haul_kernel_matching *what, haul_kernel_groups **groups,
                                   haul_error *error)
{
    matcher *self = calloc(1, sizeof *self);
    if (!self)
        return haul_fail_no_memory(error);
    self->what = what;
    self->error = error;
    self->launches = calloc(what->times->count + 1, sizeof *self->launches);
    if (!self->launches) {
        haul_kernel_groups_free(&self->groups);
        return haul_fail_no_memory(error);
    }
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < what->times->count; i++)
        status = add_row(self, &what->times->rows[i]);
    if (!status && !self->count)
        status = fail_empty(self);
    if (!status &&
        !haul_kernel_launches_group(self->launches, self->count, &self->arena, &self->groups))
        status = haul_fail_no_memory(error);
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
    haul_arena_release(&((matcher *)(void *)groups)->arena);
    free(groups);
}
