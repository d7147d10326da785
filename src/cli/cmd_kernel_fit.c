/* haul kernel fit: measured times in, lambdas and a fitted kernel out. */
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/kernel_options.h"
#include "haul/kernel_times.h"

/* The rows of one kernel on one machine. */
typedef struct group {
    const char *kernel;
    char stem[96]; /* the table's name, where that is the kernel's */
    size_t machine;
    const haul_kernel_file *file; /* NULL: counted by a profiler */
    haul_kernel_sample *samples;
    size_t count;
    haul_kernel_fit *fit;
} group;

typedef struct fitting {
    const kernel_options *options;
    haul_kernel_times *times;
    haul_machine *machines[KERNEL_LIST_MOST];
    haul_kernel_file **files; /* --kernel, or all that come with haul */
    size_t file_count;
    group *groups;
    size_t group_count;
    size_t *slots;       /* groups by kernel and machine: 1 + index, 0 none */
    size_t slot_count;   /* a power of two, above twice the rows */
    size_t other_boards; /* rows left out */
    size_t uncounted;
    const haul_kernel_measured *one_uncounted;
} fitting;

/* --- whose row it is */

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
        if (!*b)
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

static uint64_t hash_of(const char *kernel, size_t machine)
{
    uint64_t hash = UINT64_C(14695981039346656037) ^ machine; /* FNV-1a */
    for (; *kernel; kernel++)
        hash = (hash ^ (unsigned char)*kernel) * UINT64_C(1099511628211);
    return hash ^ hash >> 32;
}

static group *group_of(fitting *self, const char *kernel, size_t machine)
{
    size_t at = (size_t)hash_of(kernel, machine) & (self->slot_count - 1);
    for (; self->slots[at]; at = (at + 1) & (self->slot_count - 1)) {
        group *known = &self->groups[self->slots[at] - 1];
        if (known->machine == machine && !strcmp(known->kernel, kernel))
            return known;
    }
    group *made = &self->groups[self->group_count++];
    self->slots[at] = self->group_count;
    made->machine = machine;
    made->kernel = kernel;
    return made;
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
    (void)kernel_fail(error, HAUL_BAD_INPUT, "%s", text);
    return at_row(row, column, error);
}

/* A file's name without its folder and what follows a point: the name of what has none. */
static const char *stem_of(const char *path, char stem[96])
{
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    (void)snprintf(stem, 96, "%.*s", (int)strcspn(file, "."), file);
    return *stem ? stem : "kernel";
}

static haul_status add_row(fitting *self, const haul_kernel_measured *row, haul_error *error)
{
    const haul_kernel_file *file = file_of(self, row);
    if (self->options->kernel && !file)
        return HAUL_OK; /* another kernel's */
    const size_t machine = machine_of(self, row);
    if (machine == self->options->machine_count) {
        self->other_boards++;
        return HAUL_OK;
    }
    if (!file && !row->is_counted) {
        self->uncounted++;
        self->one_uncounted = row;
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
    haul_kernel_sample sample = {.size = row->size,
                                 .seconds = row->seconds,
                                 .counts = row->counts,
                                 .file = row->file,
                                 .line = row->line,
                                 .column = row->column};
    const haul_status status =
        file ? haul_kernel_file_at(file, row->size, &sample.counts, error) : HAUL_OK;
    if (status)
        return status;
    char stem[96];
    const char *name = file ? file->name : row->kernel ? row->kernel : stem_of(row->file, stem);
    group *to = group_of(self, name, machine);
    if (name == stem)
        to->kernel = memcpy(to->stem, stem, sizeof stem);
    haul_kernel_sample *grown = realloc(to->samples, (to->count + 1) * sizeof *grown);
    if (!grown)
        return kernel_fail(error, HAUL_NO_MEMORY, "out of memory");
    to->samples = grown;
    to->samples[to->count++] = sample;
    to->file = file;
    return HAUL_OK;
}

/* Why no row is left. */
static haul_status fail_empty(const fitting *self, haul_error *error)
{
    const char *gpu = NULL, *kernel = NULL;
    for (size_t i = 0; i < self->times->count; i++) {
        gpu = self->times->rows[i].gpu ? self->times->rows[i].gpu : gpu;
        kernel = self->times->rows[i].kernel ? self->times->rows[i].kernel : kernel;
    }
    if (self->uncounted) {
        (void)kernel_fail(error, HAUL_MISSING,
                          "what '%.60s' does is not known: give its file with --kernel, or a "
                          "profiler's counters of instructions, loads, stores and the grid",
                          name_of(self->one_uncounted));
        return at_row(self->one_uncounted, 1, error);
    }
    if (self->other_boards && !gpu)
        return kernel_fail(error, HAUL_BAD_INPUT,
                           "the rows do not say their gpu: give one machine, or a column 'gpu'");
    if (self->other_boards)
        return kernel_fail(error, HAUL_BAD_INPUT, "no row is of '%.60s'; there is '%.60s'",
                           self->options->machine_names[0], gpu);
    return kernel_fail(error, HAUL_BAD_INPUT, "no row is of '%.60s'; there is '%.60s'",
                       self->options->kernel ? self->options->kernel : "", kernel ? kernel : "");
}

static haul_status gather(fitting *self, haul_error *error)
{
    const size_t count = self->times->count;
    for (self->slot_count = 2; self->slot_count <= 2 * count;)
        self->slot_count *= 2;
    self->groups = calloc(count + 1, sizeof *self->groups);
    self->slots = calloc(self->slot_count, sizeof *self->slots);
    if (!self->groups || !self->slots)
        return kernel_fail(error, HAUL_NO_MEMORY, "out of memory");
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < count; i++)
        status = add_row(self, &self->times->rows[i], error);
    return !status && !self->group_count ? fail_empty(self, error) : status;
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
        status = kernel_fail(error, HAUL_NO_MEMORY, "out of memory");
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
    const group *of = &self->groups[0];
    const haul_kernel_samples samples = {of->samples, of->count};
    FILE *out;
    haul_status status = cli_output_open(path, &out, error);
    if (status)
        return status;
    status = haul_kernel_file_write(of->file, of->kernel, self->options->machine_names[of->machine],
                                    &samples, out, error);
    return cli_output_finish(out, path, status, error);
}

static haul_status report(const fitting *self, FILE *out, haul_error *error)
{
    haul_kernel_fitted *fits = calloc(self->group_count + 1, sizeof *fits);
    if (!fits)
        return kernel_fail(error, HAUL_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < self->group_count; i++) {
        const group *of = &self->groups[i];
        fits[i] = (haul_kernel_fitted){.kernel = of->kernel,
                                       .counts = of->file ? of->file->name : "counters",
                                       .machine = self->machines[of->machine],
                                       .fit = of->fit};
    }
    const haul_status status =
        haul_report_kernel_fits(fits, self->group_count, self->options->format, out, error);
    free(fits);
    return status;
}

static void say_left_out(const fitting *self)
{
    if (self->other_boards)
        fprintf(stderr, "haul: left out: %zu row%s of boards without a --machine\n",
                self->other_boards, self->other_boards > 1 ? "s" : "");
    if (self->uncounted)
        fprintf(stderr, "haul: left out: %zu row%s of kernels without a file or counters: '%s'%s\n",
                self->uncounted, self->uncounted > 1 ? "s" : "", name_of(self->one_uncounted),
                self->uncounted > 1 ? " and such" : "");
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
    for (size_t i = 0; !status && i < self->group_count; i++) {
        group *of = &self->groups[i];
        status = haul_kernel_fit_new(self->machines[of->machine], options->lambda, of->samples,
                                     of->count, &of->fit, error);
    }
    if (!status && options->output && self->group_count > 1)
        status = kernel_fail(error, HAUL_USAGE,
                             "one kernel on one machine goes into a file, and here are %zu: choose "
                             "with --kernel and --machine",
                             self->group_count);
    if (!status && options->output)
        status = save(self, options->output, error);
    /* the fitted kernel has stdout where it is asked to */
    if (!status)
        status =
            report(self, options->output && !strcmp(options->output, "-") ? stderr : stdout, error);
    if (!status)
        say_left_out(self);
    return status;
}

static void release(fitting *self)
{
    for (size_t i = 0; i < self->group_count; i++) {
        haul_kernel_fit_free(self->groups[i].fit);
        free(self->groups[i].samples);
    }
    free(self->groups);
    free(self->slots);
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
    const char *lost = cli_overwritten(options->output, options->files, options->file_count);
    if (lost)
        return cli_usage(self, "'%s' would be overwritten by its own fit", lost);
    haul_error error = {.status = HAUL_NO_MEMORY};
    fitting *made = calloc(1, sizeof *made);
    if (!made)
        return cli_fail(&error);
    made->options = options;
    const haul_status status = fit(made, &error);
    release(made);
    return status ? cli_fail(&error) : 0;
}
