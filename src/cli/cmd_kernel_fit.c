/* haul kernel fit: measured times in, calibration factors and a fitted kernel out. */
#include <stdlib.h>
#include <string.h>

#include "cli/kernel_options.h"
#include "haul/kernel_times.h"

typedef struct fitting {
    const kernel_options *options;
    haul_kernel_times *times;
    haul_machine *machines[KERNEL_LIST_MOST];
    haul_kernel_file **files; /* --kernel, or all that come with haul */
    size_t file_count;
    haul_kernel_groups *groups;
    haul_kernel_fit **fits; /* of each group */
} fitting;

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

static haul_status gather(fitting *self, haul_error *error)
{
    haul_kernel_matching what = {.times = self->times,
                                 .machines = self->machines,
                                 .machine_count = self->options->machine_count,
                                 .files = self->files,
                                 .file_count = self->file_count,
                                 .is_chosen = self->options->kernel != NULL};
    memcpy(what.block, self->options->block, sizeof what.block);
    return haul_kernel_groups_new(&what, &self->groups, error);
}

static haul_status fit_groups(fitting *self, haul_error *error)
{
    self->fits = calloc(self->groups->count, sizeof(haul_kernel_fit *));
    if (!self->fits)
        return haul_fail(error, HAUL_NO_MEMORY, "out of memory");
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < self->groups->count; i++) {
        const haul_kernel_group *of = &self->groups->items[i];
        status = haul_kernel_fit_new(self->machines[of->machine], self->options->lambda,
                                     of->samples, of->count, &self->fits[i], error);
    }
    return status;
}

/* --- results */

static haul_status save(const fitting *self, const char *path, haul_error *error)
{
    const haul_kernel_group *of = &self->groups->items[0];
    if (self->groups->count > 1)
        return haul_fail(error, HAUL_USAGE,
                         "one kernel on one machine goes into a file, and here are %zu: choose "
                         "with --kernel%s",
                         self->groups->count,
                         of->title != of->kernel ? ", --machine and --block" : " and --machine");
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
    haul_kernel_fitted *fits = calloc(self->groups->count + 1, sizeof *fits);
    if (!fits)
        return haul_fail(error, HAUL_NO_MEMORY, "out of memory");
    for (size_t i = 0; i < self->groups->count; i++) {
        const haul_kernel_group *of = &self->groups->items[i];
        fits[i] = (haul_kernel_fitted){.kernel = of->title,
                                       .counts = of->file ? of->file->name : "counters",
                                       .machine = self->machines[of->machine],
                                       .fit = self->fits[i]};
    }
    const haul_status status = cli_report(
        &self->options->results, haul_report_kernel_fits(fits, self->groups->count), error);
    free(fits);
    return status;
}

static const char *plural(const haul_kernel_some_rows *rows)
{
    return rows->count > 1 ? "s" : "";
}

static void say_left_out(const haul_kernel_groups *groups)
{
    const haul_kernel_measured *one = groups->uncounted.one;
    if (groups->other_gpus.count)
        fprintf(stderr, "haul: left out: %zu row%s of GPUs without a --machine\n",
                groups->other_gpus.count, plural(&groups->other_gpus));
    if (groups->other_blocks.count)
        fprintf(stderr, "haul: left out: %zu row%s of other blocks\n", groups->other_blocks.count,
                plural(&groups->other_blocks));
    if (one)
        fprintf(stderr, "haul: left out: %zu row%s of kernels without a file or counters: '%s'%s\n",
                groups->uncounted.count, plural(&groups->uncounted),
                one->kernel ? one->kernel : "the kernel",
                groups->uncounted.count > 1 ? " and such" : "");
    one = groups->launched_otherwise.one;
    if (one)
        fprintf(stderr,
                "haul: %s:%d: launched with %.17g threads in blocks of %.17g, and the kernel's "
                "file says %.17g in blocks of %.17g%s: on the GPU that was measured the "
                "calibration factor makes up for it, on others it may not\n",
                one->file, one->line, one->counts.threads, one->counts.block,
                groups->by_file.threads, groups->by_file.block,
                groups->launched_otherwise.count > 1 ? " (and other rows)" : "");
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
        say_left_out(self->groups);
    return status;
}

static void release(fitting *self)
{
    for (size_t i = 0; self->fits && i < self->groups->count; i++)
        haul_kernel_fit_free(self->fits[i]);
    free(self->fits);
    haul_kernel_groups_free(self->groups);
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
