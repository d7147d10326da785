/* haul kernel fit: measured times in, calibration factors and a fitted kernel out. */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/kernel_groups.h"
#include "cli/kernel_options.h"
#include "haul/kernel_times.h"

enum { STEM = 96 };

/* Rows that are not fitted, or not as their file has it, and one of them to show. */
typedef struct some_rows {
    size_t count;
    const haul_kernel_measured *one;
} some_rows;

typedef struct fitting {
    const kernel_options *options;
    haul_kernel_times *times;
    char stems[KERNEL_LIST_MOST][STEM]; /* of the tables' names */
    haul_machine *machines[KERNEL_LIST_MOST];
    haul_kernel_file **files; /* --kernel, or all that come with haul */
    size_t file_count;
    kernel_launch *launches; /* as they were read */
    size_t launch_count;
    kernel_groups groups;
    haul_kernel_fit **fits; /* of each group */
    some_rows other_gpus;
    some_rows other_blocks;
    some_rows uncounted;
    some_rows launched_otherwise;
    haul_kernel_counts by_file; /* of the one launched otherwise */
} fitting;

/* --- whose row it is */

/* Whether what stands behind a GPU's name makes it another GPU: a further digit, or a word that
 * makers tell variants by. "K40c" and "V100-SXM2" are GPUs of that name. */
static bool is_variant(const char *rest, char last)
{
    static const char *const words[] = {"ti", "super", "black", "x", "xm",
                                        "xp", "z",     "s",     "d", "ada"};
    if (isdigit((unsigned char)last) && isdigit((unsigned char)*rest))
        return true;
    while (*rest && !isalnum((unsigned char)*rest))
        rest++;
    size_t length = 0;
    while (isalpha((unsigned char)rest[length]))
        length++;
    if (isdigit((unsigned char)rest[length]))
        return false; /* "SXM2" */
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && !strncasecmp(rest, words[i], length))
            return true;
    return false;
}

/* Whether `whole` holds `part`, both without anything but letters and digits, in any case. */
static bool holds(const char *whole, const char *part)
{
    for (; *whole; whole++) {
        const char *a = whole, *b = part;
        for (;;) {
            while (*a && !isalnum((unsigned char)*a))
                a++;
            while (*b && !isalnum((unsigned char)*b))
                b++;
            if (!*b || tolower((unsigned char)*a) != tolower((unsigned char)*b))
                break;
            a++;
            b++;
        }
        if (!*b && a > whole && !is_variant(a, a[-1]))
            return true;
    }
    return false;
}

static size_t letters_of(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += isalnum((unsigned char)*text) != 0;
    return count;
}

/* How many letters and digits two names have in common where one holds the other; 0 where neither
 * does. */
static size_t likeness(const char *a, const char *b)
{
    const bool in_a = holds(a, b), in_b = holds(b, a);
    if (in_a && in_b)
        return SIZE_MAX; /* the same */
    return in_a ? letters_of(b) : in_b ? letters_of(a) : 0;
}

/* The index of the row's machine, the one whose name or GPU's name is most like the row's; the
 * count of machines for none. */
static size_t machine_of(const fitting *self, const haul_kernel_measured *row)
{
    const size_t count = self->options->machine_count;
    size_t found = count, most = 0;
    if (!row->gpu)
        return count == 1 ? 0 : count;
    for (size_t i = 0; i < count; i++) {
        const haul_machine *machine = self->machines[i];
        const size_t by_name = likeness(machine->name, row->gpu);
        const size_t by_gpu = machine->gpu.name ? likeness(machine->gpu.name, row->gpu) : 0;
        const size_t like = by_name > by_gpu ? by_name : by_gpu;
        if (like > most) {
            most = like;
            found = i;
        }
    }
    return found;
}

static const haul_kernel_file *file_of(const fitting *self, const haul_kernel_measured *row)
{
    for (size_t i = 0; i < self->file_count; i++)
        if (row->kernel && haul_kernel_file_is(self->files[i], row->kernel))
            return self->files[i];
    /* --kernel says what rows without a name are of */
    return self->options->kernel && !row->kernel ? self->files[0] : NULL;
}

/* --- gathering */

static void note(some_rows *rows, const haul_kernel_measured *row)
{
    rows->one = rows->count++ ? rows->one : row;
}

static const char *name_of(const haul_kernel_measured *row)
{
    return row->kernel ? row->kernel : "the kernel";
}

static haul_status at_row(const haul_kernel_measured *row, int column, haul_error *error)
{
    error->line = row->line;
    error->column = column;
    (void)snprintf(error->file, sizeof error->file, "%s", row->file);
    return error->status;
}

static haul_status fail_row(const haul_kernel_measured *row, int column, const char *text,
                            haul_error *error)
{
    (void)haul_fail(error, HAUL_BAD_INPUT, "%s", text);
    return at_row(row, column, error);
}

/* A file's name without its folder and what follows a point: the name of what has none. */
static void take_stem(const char *path, char stem[STEM])
{
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    (void)snprintf(stem, STEM, "%.*s", (int)strcspn(file, "."), file);
    if (!*stem)
        (void)snprintf(stem, STEM, "kernel");
}

static const char *stem_of(const fitting *self, const char *path)
{
    size_t at = 0;
    while (at + 1 < self->options->file_count && strcmp(self->options->files[at], path) != 0)
        at++;
    return self->stems[at];
}

/* Whether the block is the one that --block asks for. */
static bool is_asked(const kernel_options *options, const haul_kernel_measured *row)
{
    return !options->block[0] || !memcmp(options->block, row->block, sizeof row->block);
}

/* What it does, from its file or as it was counted. */
static haul_status count(fitting *self, const haul_kernel_file *file,
                         const haul_kernel_measured *row, haul_kernel_counts *out,
                         haul_error *error)
{
    *out = row->counts;
    if (!file)
        return HAUL_OK;
    const haul_status status = haul_kernel_file_at(file, row->size, out, error);
    const haul_kernel_counts *launched = &row->counts;
    if (status || launched->threads <= 0 ||
        (launched->threads == out->threads && launched->block == out->block))
        return status;
    if (!self->launched_otherwise.count)
        self->by_file = *out;
    note(&self->launched_otherwise, row);
    return HAUL_OK;
}

static haul_status add_launch(fitting *self, const haul_kernel_file *file, size_t machine,
                              const haul_kernel_measured *row, haul_error *error)
{
    kernel_launch *made = &self->launches[self->launch_count];
    *made = (kernel_launch){
        .kernel = file          ? file->name
                  : row->kernel ? row->kernel
                                : stem_of(self, row->file),
        .machine = machine,
        .file = file,
        .sample = {.size = row->size,
                   .seconds = row->seconds,
                   .file = row->file,
                   .line = row->line,
                   .column = row->column},
        .row = self->launch_count++,
    };
    memcpy(made->block, row->block, sizeof made->block);
    return count(self, file, row, &made->sample.counts, error);
}

static haul_status add_row(fitting *self, const haul_kernel_measured *row, haul_error *error)
{
    const haul_kernel_file *file = file_of(self, row);
    if (self->options->kernel && !file)
        return HAUL_OK; /* another kernel's */
    const size_t machine = machine_of(self, row);
    some_rows *left_out = machine == self->options->machine_count ? &self->other_gpus
                          : !is_asked(self->options, row)         ? &self->other_blocks
                          : !file && !row->is_counted             ? &self->uncounted
                                                                  : NULL;
    if (left_out) {
        note(left_out, row);
        return HAUL_OK;
    }
    if (row->size <= 0)
        return fail_row(row, row->column,
                        "the size is missing: a column n, or --size N for the file", error);
    if (row->seconds <= 0)
        return fail_row(row, 1,
                        "the time of these counters is missing: a trace of the same launches, "
                        "or gpu__time_duration.sum",
                        error);
    return add_launch(self, file, machine, row, error);
}

/* Why no row is left. */
static haul_status fail_empty(const fitting *self, haul_error *error)
{
    const char *gpu = NULL, *kernel = NULL;
    for (size_t i = 0; i < self->times->count; i++) {
        gpu = self->times->rows[i].gpu ? self->times->rows[i].gpu : gpu;
        kernel = self->times->rows[i].kernel ? self->times->rows[i].kernel : kernel;
    }
    if (self->uncounted.count) {
        (void)haul_fail(error, HAUL_MISSING,
                        "what '%.60s' does is not known: give its file with --kernel, or a "
                        "profiler's counters of instructions, loads, stores and the grid",
                        name_of(self->uncounted.one));
        return at_row(self->uncounted.one, 1, error);
    }
    if (self->other_blocks.count)
        return haul_fail(error, HAUL_BAD_INPUT, "no row is in the blocks that --block asks for");
    if (self->other_gpus.count && !gpu)
        return haul_fail(error, HAUL_BAD_INPUT,
                         "the rows do not say their gpu: give one machine, or a column 'gpu'");
    if (self->other_gpus.count)
        return haul_fail(error, HAUL_BAD_INPUT, "no row is of '%.60s'; there is '%.60s'",
                         self->options->machine_names[0], gpu);
    return haul_fail(error, HAUL_BAD_INPUT, "no row is of '%.60s'; there is '%.60s'",
                     self->options->kernel ? self->options->kernel : "", kernel ? kernel : "");
}

static haul_status gather(fitting *self, haul_error *error)
{
    for (size_t i = 0; i < self->options->file_count; i++)
        take_stem(self->options->files[i], self->stems[i]);
    self->launches = calloc(self->times->count + 1, sizeof *self->launches);
    if (!self->launches)
        return haul_fail(error, HAUL_NO_MEMORY, "out of memory");
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < self->times->count; i++)
        status = add_row(self, &self->times->rows[i], error);
    if (!status && !self->launch_count)
        return fail_empty(self, error);
    if (!status && !kernel_groups_make(self->launches, self->launch_count, &self->groups))
        return haul_fail(error, HAUL_NO_MEMORY, "out of memory");
    return status;
}

static haul_status fit_groups(fitting *self, haul_error *error)
{
    self->fits = calloc(self->groups.count, sizeof(haul_kernel_fit *));
    if (!self->fits)
        return haul_fail(error, HAUL_NO_MEMORY, "out of memory");
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < self->groups.count; i++) {
        const kernel_group *of = &self->groups.items[i];
        status = haul_kernel_fit_new(self->machines[of->machine], self->options->lambda,
                                     of->samples, of->count, &self->fits[i], error);
    }
    return status;
}

/* --- loading */

static haul_status load_times(fitting *self, haul_error *error)
{
    const kernel_options *options = self->options;
    haul_kernel_csv files[KERNEL_LIST_MOST];
    for (size_t i = 0; i < options->file_count; i++) {
        files[i] = (haul_kernel_csv){.path = options->files[i]};
        if (options->size_count)
            files[i].size = options->sizes[options->size_count > 1 ? i : 0];
    }
    return haul_kernel_times_load(files, options->file_count, &self->times, error);
}

static haul_status load_kernels(fitting *self, haul_error *error)
{
    const char *one = self->options->kernel;
    char **names = NULL;
    size_t count = 1;
    haul_status status = one ? HAUL_OK : haul_kernel_file_list(&names, &count, error);
    if (!status && !(self->files = calloc(count + 1, sizeof(haul_kernel_file *))))
        status = haul_fail(error, HAUL_NO_MEMORY, "out of memory");
    for (size_t i = 0; !status && i < count; i++) {
        status = haul_kernel_file_load(one ? one : names[i], &self->files[self->file_count], error);
        self->file_count += !status;
    }
    if (names)
        haul_names_free(names, count);
    return status;
}

/* --- results */

static haul_status save(const fitting *self, const char *path, haul_error *error)
{
    const kernel_group *of = &self->groups.items[0];
    if (self->groups.count > 1)
        return haul_fail(error, HAUL_USAGE,
                         "one kernel on one machine goes into a file, and here are %zu: choose "
                         "with --kernel%s",
                         self->groups.count,
                         of->title ? ", --machine and --block" : " and --machine");
    const haul_kernel_samples all = {of->samples, of->count};
    FILE *out;
    haul_status status = cli_output_open(path, &out, error);
    if (status)
        return status;
    status = haul_kernel_file_write(of->file, of->kernel, self->options->machine_names[of->machine],
                                    &all, out, error);
    return cli_output_finish(out, path, status, error);
}

static haul_status report(const fitting *self, haul_error *error)
{
    haul_kernel_fitted *fits = calloc(self->groups.count + 1, sizeof *fits);
    if (!fits)
        return haul_fail(error, HAUL_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < self->groups.count; i++) {
        const kernel_group *of = &self->groups.items[i];
        fits[i] = (haul_kernel_fitted){.kernel = kernel_group_title(of),
                                       .counts = of->file ? of->file->name : "counters",
                                       .machine = self->machines[of->machine],
                                       .fit = self->fits[i]};
    }
    const haul_status status = cli_report(&self->options->results,
                                          haul_report_kernel_fits(fits, self->groups.count), error);
    free(fits);
    return status;
}

static const char *plural(const some_rows *rows)
{
    return rows->count > 1 ? "s" : "";
}

static void say_left_out(const fitting *self)
{
    if (self->other_gpus.count)
        fprintf(stderr, "haul: left out: %zu row%s of GPUs without a --machine\n",
                self->other_gpus.count, plural(&self->other_gpus));
    if (self->other_blocks.count)
        fprintf(stderr, "haul: left out: %zu row%s of other blocks\n", self->other_blocks.count,
                plural(&self->other_blocks));
    if (self->uncounted.count)
        fprintf(stderr, "haul: left out: %zu row%s of kernels without a file or counters: '%s'%s\n",
                self->uncounted.count, plural(&self->uncounted), name_of(self->uncounted.one),
                self->uncounted.count > 1 ? " and such" : "");
    const haul_kernel_measured *one = self->launched_otherwise.one;
    if (one)
        fprintf(stderr,
                "haul: %s:%d: launched with %.17g threads in blocks of %.17g, and the kernel's "
                "file says %.17g in blocks of %.17g%s: on the GPU that was measured the "
                "calibration factor "
                "makes up for it, on others it may not\n",
                one->file, one->line, one->counts.threads, one->counts.block, self->by_file.threads,
                self->by_file.block, self->launched_otherwise.count > 1 ? " (and other rows)" : "");
}

static haul_status fit(fitting *self, haul_error *error)
{
    const kernel_options *options = self->options;
    haul_status status = kernel_machines_load(options, self->machines, error);
    if (!status)
        status = load_kernels(self, error);
    if (!status)
        status = load_times(self, error);
    if (!status)
        status = gather(self, error);
    if (!status)
        status = fit_groups(self, error);
    if (!status && options->results.output)
        status = save(self, options->results.output, error);
    if (!status)
        status = report(self, error);
    if (!status)
        say_left_out(self);
    return status;
}

static void release(fitting *self)
{
    for (size_t i = 0; self->fits && i < self->groups.count; i++)
        haul_kernel_fit_free(self->fits[i]);
    free(self->fits);
    kernel_groups_release(&self->groups);
    free(self->launches);
    haul_kernel_times_free(self->times);
    for (size_t i = 0; i < self->file_count; i++)
        haul_kernel_file_free(self->files[i]);
    free(self->files);
    kernel_machines_free(self->machines, self->options->machine_count);
    free(self);
}

int kernel_fit_run(const cli_command *self, const kernel_options *options)
{
    if (!options->file_count)
        return cli_usage(self, "the CSV of measured times is missing");
    if (!options->machine_count)
        return cli_usage(self, "the machine is missing: --machine M");
    if (options->model)
        return cli_usage(self, "--model is for 'predict'");
    if (options->size_count > 1 && options->size_count != options->file_count)
        return cli_usage(self, "--size takes one size, or one for each CSV");
    haul_error error = {.status = HAUL_NO_MEMORY};
    fitting *made = calloc(1, sizeof *made);
    if (!made)
        return cli_fail(&error);
    made->options = options;
    const haul_status status = fit(made, &error);
    release(made);
    return status ? cli_fail(&error) : 0;
}
