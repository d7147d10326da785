/* haul kernel predict and explain: a fitted kernel on machines, at sizes. */
#include <stdlib.h>
#include <string.h>

#include "cli/kernel_options.h"

typedef struct prediction {
    const kernel_options *options;
    bool explains;
    haul_kernel_file *kernel;
    haul_machine *source;
    haul_kernel_fit *fit;
    haul_kernel_model_ref model;
    haul_machine *machines[KERNEL_LIST_MOST];
    haul_kernel_predicted *times;
    size_t count;
} prediction;

static haul_status load(prediction *self, haul_error *error)
{
    const kernel_options *options = self->options;
    haul_status status = haul_kernel_file_load(options->files[0], &self->kernel, error);
    if (!status && !self->kernel->machine)
        return haul_fail(error, HAUL_MISSING,
                         "'%.80s' has no measured times: 'haul kernel fit CSV --kernel %.80s -o "
                         "FITTED' adds them",
                         self->kernel->name, options->files[0]);
    if (!status)
        status = haul_machine_load(self->kernel->machine, &self->source, error);
    if (!status)
        status = kernel_machines_load(options, self->machines, error);
    if (!status)
        status = haul_kernel_fit_new(self->source, options->lambda, self->kernel->samples,
                                     self->kernel->sample_count, &self->fit, error);
    if (!status && !self->explains)
        status = haul_kernel_model_find(
            options->model ? options->model : haul_kernel_model_at(0)->name, &self->model, error);
    return status;
}

/* The machine that was asked for, or the home itself where it is that. */
static const haul_machine *target_of(const prediction *self, size_t machine)
{
    return strcmp(self->machines[machine]->name, self->source->name) != 0 ? self->machines[machine]
                                                                          : self->source;
}

static haul_status predict_one(prediction *self, const haul_machine *target, double size,
                               haul_error *error)
{
    haul_kernel_predicted *out = &self->times[self->count];
    *out = (haul_kernel_predicted){.machine = target, .size = size};
    haul_kernel_case what = {
        .source = self->source, .fit = self->fit, .target = target, .size = size};
    haul_status status = haul_kernel_file_at(self->kernel, size, &what.counts, error);
    if (!status && self->explains)
        status = haul_kernel_explain(&what, &out->why, error);
    else if (!status)
        status = haul_kernel_time(self->model.model, &what, &out->estimate, error);
    if (!status)
        self->count++;
    return status;
}

static haul_status predict(prediction *self, haul_error *error)
{
    const kernel_options *options = self->options;
    self->times = calloc(options->machine_count * options->size_count, sizeof *self->times);
    if (!self->times)
        return haul_fail(error, HAUL_NO_MEMORY, "out of memory");
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < options->machine_count; i++)
        for (size_t j = 0; !status && j < options->size_count; j++)
            status = predict_one(self, target_of(self, i), options->sizes[j], error);
    return status;
}

static haul_status print(const prediction *self, haul_error *error)
{
    const haul_kernel_predictions all = {self->kernel->name, self->source, self->times,
                                         self->count};
    return cli_report(
        &self->options->results,
        self->explains ? haul_report_kernel_why(&all) : haul_report_kernel_times(&all), error);
}

static int run(const cli_command *self, const kernel_options *options, bool explains)
{
    if (options->file_count != 1)
        return cli_usage(self, "expected one fitted kernel, the FILE of 'haul kernel fit -o FILE'");
    if (!options->machine_count)
        return cli_usage(self, "the machine is missing: --machine M");
    if (!options->size_count)
        return cli_usage(self, "the size is missing: --size N");
    if (options->kernel)
        return cli_usage(self, "--kernel is for 'fit': here the kernel is in the file");
    if (options->block[0])
        return cli_usage(self, "--block is for 'fit': here the kernel is in the file");
    if (options->model && explains)
        return cli_usage(self, "'explain' is by one model: no --model");
    prediction *made = calloc(1, sizeof *made);
    haul_error error = {.status = HAUL_NO_MEMORY};
    haul_status status = HAUL_NO_MEMORY;
    if (made) {
        made->options = options;
        made->explains = explains;
        status = load(made, &error);
        if (!status)
            status = predict(made, &error);
        if (!status)
            status = print(made, &error);
        free(made->times);
        haul_kernel_model_release(&made->model);
        haul_kernel_fit_free(made->fit);
        haul_machine_free(made->source);
        kernel_machines_free(made->machines, options->machine_count);
        haul_kernel_file_free(made->kernel);
    }
    free(made);
    return status ? cli_fail(&error) : 0;
}

int kernel_predict_run(const cli_command *self, const kernel_options *options)
{
    return run(self, options, false);
}

int kernel_explain_run(const cli_command *self, const kernel_options *options)
{
    return run(self, options, true);
}
