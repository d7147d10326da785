/* haul kernel fit: measured times in, calibration factors and a fitted kernel out. */
#include <stdlib.h>
#include <string.h>

#include "cli/kernel_request.h"
#include "haul/kernel_times.h"
#include "haul/trace.h"

static const char about[] =
    "Fits measured times: the calibration factor (lambda) of each kernel and GPU, and of each\n"
    "architecture, and whether one factor serves all sizes.\n"
    "\n"
    "CSV is a table with columns n (or size), a time named with its unit (seconds, kernel_s,\n"
    "median_ms ...), and kernel and gpu where there are several; or what 'nvprof --csv' prints\n"
    "(--print-gpu-trace for times, --metrics and --events for counters) or 'ncu --csv'. Rows of\n"
    "several GPUs need a --machine for each; rows of other GPUs are left out. A profile, alone,\n"
    "serves as a table of its launches.\n";

typedef struct fitting {
    const kernel_request *asked;
    haul_workload *profile; /* that the times are from, or NULL */
    haul_kernel_times *times;
    const char *only;         /* rows of this kernel, which is no file's */
    haul_kernel_file **files; /* --kernel, or all that come with haul */
    size_t file_count;
    haul_kernel_groups *groups;
    haul_kernel_fit **fits; /* of each group */
} fitting;

/* Profiles are databases or JSON; no table begins as they do. */
static bool is_profile(const char *path)
{
    char head[16] = "";
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    const size_t size = fread(head, 1, sizeof head - 1, file);
    fclose(file);
    return size && (*head == '{' || !memcmp(head, "SQLite format 3", sizeof head - 1));
}

static haul_status load_times(fitting *self, haul_error *error)
{
    const kernel_request *asked = self->asked;
    if (asked->file_count == 1 && is_profile(asked->files[0])) {
        HAUL_TRY(haul_trace_load(asked->files[0], &self->profile, error));
        return haul_kernel_times_of(self->profile, asked->size_count ? asked->sizes[0] : 0,
                                    &self->times, error);
    }
    haul_kernel_csv files[KERNEL_LIST_MOST];
    for (size_t i = 0; i < asked->file_count; i++) {
        files[i] = (haul_kernel_csv){.path = asked->files[i]};
        if (asked->size_count)
            files[i].size = asked->sizes[asked->size_count > 1 ? i : 0];
    }
    return haul_kernel_times_load(files, asked->file_count, &self->times, error);
}

/* Of all kernel files the one that --kernel names, by any of its names; where none does, all are
 * kept, and rows of that name alone are asked for. */
static void choose_files(fitting *self, const char *name)
{
    for (size_t i = 0; i < self->file_count; i++)
        if (haul_kernel_file_is(self->files[i], name)) {
            haul_kernel_file *const first = self->files[0];
            self->files[0] = self->files[i];
            self->files[i] = first;
            for (size_t k = 1; k < self->file_count; k++)
                haul_kernel_file_free(self->files[k]);
            self->file_count = 1;
            return;
        }
    self->only = name;
}

static haul_status load_kernels(fitting *self, haul_error *error)
{
    const char *asked = self->asked->kernel;
    const bool is_path = asked && (strchr(asked, '/') || strstr(asked, ".yaml"));
    char **names = NULL;
    size_t count = 1;
    haul_status status = HAUL_OK;
    if (!is_path)
        HAUL_TRY(haul_kernel_file_list(&names, &count, error));
    self->files = calloc(count + 1, sizeof(haul_kernel_file *));
    if (!self->files) {
        if (names)
            haul_names_free(names, count);
        return haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory");
    }
    for (size_t i = 0; !status && i < count; i++) {
        status = haul_kernel_file_load(is_path ? asked : names[i], &self->files[self->file_count],
                                       error);
        self->file_count += !status;
    }
    if (names)
        haul_names_free(names, count);
    if (!status && asked && !is_path)
        choose_files(self, asked);
    return status;
}

static haul_status fit_groups(fitting *self, haul_error *error)
{
    const kernel_request *asked = self->asked;
    haul_kernel_matching what = {.times = self->times,
                                 .machines = asked->machines.items,
                                 .machine_count = asked->machines.count,
                                 .files = self->files,
                                 .file_count = self->file_count,
                                 .is_chosen = asked->kernel && !self->only,
                                 .kernel = self->only};
    for (int i = 0; asked->block.count && i < 3; i++)
        what.block[i] = asked->block.side[i] ? (int)asked->block.side[i] : 1;
    HAUL_TRY(haul_kernel_groups_new(&what, &self->groups, error));
    self->fits = calloc(self->groups->count, sizeof(haul_kernel_fit *));
    if (!self->fits)
        return haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < self->groups->count; i++) {
        const haul_kernel_group *of = &self->groups->items[i];
        HAUL_TRY(haul_kernel_fit_new(asked->machines.items[of->machine], asked->calibration,
                                     of->samples, of->count, &self->fits[i], error));
    }
    return HAUL_OK;
}

static haul_status save(const fitting *self, const char *path, haul_error *error)
{
    const haul_kernel_group *of = &self->groups->items[0];
    if (self->groups->count > 1)
        return haul_error_set(
            error, HAUL_STATUS_USAGE,
            "one kernel on one machine goes into a file, and here are %zu: choose "
            "with --kernel%s",
            self->groups->count,
            of->title != of->kernel ? ", --machine and --block" : " and --machine");
    const haul_kernel_samples all = {of->samples, of->count};
    FILE *out;
    HAUL_TRY(cli_output_open(path, &out, error));
    haul_status status = haul_kernel_file_write(
        of->file, of->kernel, self->asked->machines.names[of->machine], &all, out, error);
    return cli_output_finish(out, path, status, error);
}

static haul_status report(const fitting *self, haul_error *error)
{
    haul_kernel_fitted *fits = calloc(self->groups->count + 1, sizeof *fits);
    if (!fits)
        return haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < self->groups->count; i++) {
        const haul_kernel_group *of = &self->groups->items[i];
        fits[i] = (haul_kernel_fitted){.kernel = of->title,
                                       .counts = of->file ? of->file->name : "counters",
                                       .machine = self->asked->machines.items[of->machine],
                                       .fit = self->fits[i]};
    }
    const haul_status status = cli_report(
        &self->asked->given.results, haul_report_kernel_fits(fits, self->groups->count), error);
    free(fits);
    return status;
}

static void say_left_out_rows(const haul_kernel_some_rows *rows, const char *which)
{
    if (rows->count)
        fprintf(stderr, "haul: left out: %zu row%s of %s\n", rows->count,
                rows->count > 1 ? "s" : "", which);
}

static void say_left_out(const haul_kernel_groups *groups)
{
    say_left_out_rows(&groups->other_gpus, "GPUs without a --machine");
    say_left_out_rows(&groups->other_blocks, "other blocks");
    const haul_kernel_measured *one = groups->uncounted.one;
    char which[200];
    if (one) {
        (void)snprintf(which, sizeof which, "kernels without a file or counters: '%.100s'%s",
                       one->kernel ? one->kernel : "the kernel",
                       groups->uncounted.count > 1 ? " and such" : "");
        say_left_out_rows(&groups->uncounted, which);
    }
    one = groups->launched_otherwise.one;
    char line[16] = ""; /* a profile has none */
    if (one && one->line)
        (void)snprintf(line, sizeof line, ":%d", one->line);
    if (one)
        fprintf(stderr,
                "haul: %s%s: launched with %.17g threads in blocks of %.17g, and the kernel's "
                "file says %.17g in blocks of %.17g%s: on the GPU that was measured the "
                "calibration factor makes up for it, on others it may not\n",
                one->file, line, one->counts.threads, one->counts.block, groups->by_file.threads,
                groups->by_file.block,
                groups->launched_otherwise.count > 1 ? " (and other rows)" : "");
}

static haul_status fit(void *request, haul_error *error)
{
    fitting self = {.asked = request};
    const cli_results *results = &self.asked->given.results;
    haul_status status = load_kernels(&self, error);
    if (!status)
        status = load_times(&self, error);
    if (!status)
        status = fit_groups(&self, error);
    if (!status && results->output)
        status = save(&self, results->output, error);
    if (!status)
        status = report(&self, error);
    if (!status)
        say_left_out(self.groups);
    for (size_t i = 0; self.fits && i < self.groups->count; i++)
        haul_kernel_fit_free(self.fits[i]);
    free(self.fits);
    haul_kernel_groups_free(self.groups);
    haul_kernel_times_free(self.times);
    haul_workload_free(self.profile);
    for (size_t i = 0; i < self.file_count; i++)
        haul_kernel_file_free(self.files[i]);
    free(self.files);
    return status;
}

static haul_status check_request(void *request, haul_error *error)
{
    kernel_request *self = request;
    HAUL_TRY(kernel_sizes_read(self, error));
    if (!self->file_count)
        return haul_error_set(error, HAUL_STATUS_USAGE, "the CSV of measured times is missing");
    if (self->model)
        return haul_error_set(error, HAUL_STATUS_USAGE, "--model is for 'predict'");
    if (self->size_count > 1 && self->size_count != self->file_count)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "--size takes one size, or one for each CSV");
    return HAUL_OK;
}

const cli_command cli_kernel_fit = {
    .name = "kernel fit",
    .summary = "calibration factors from measured times",
    .synopsis = "CSV... --machine M [--kernel FILE] [-o FITTED]",
    .about = about,
    .options = kernel_fit_options,
    .operand = {.name = "CSV of measured times", .takes = "CSV"},
    .most = KERNEL_LIST_MOST,
    .output = "keep the kernel with its measured times in this file",
    .csv = "a row for each kernel and GPU",
    .examples =
        {"haul kernel fit times.csv --machine v100-pcie3 --kernel vector-add -o fitted.yaml",
         "haul kernel fit nvprof.csv --machine gtx-980 --machine k40 --calibration one"},
    .exits = "3 bad input or a parameter that is missing",
    .has_report = true,
    .size = sizeof(kernel_request),
    .check = check_request,
    .act = fit,
};
