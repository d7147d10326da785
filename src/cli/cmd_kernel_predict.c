/* haul kernel predict and explain: a fitted kernel on machines, at sizes. */
#include <stdlib.h>
#include <string.h>

#include "cli/kernel_request.h"

/* A fitted kernel and where it was measured. */
typedef struct fitted {
    haul_kernel_file *kernel;
    haul_machine *source;
    haul_kernel_fit *fit;
} fitted;

static haul_status load(const kernel_request *asked, fitted *self, haul_error *error)
{
    HAUL_TRY(haul_kernel_file_load(asked->files[0], &self->kernel, error));
    if (!self->kernel->machine)
        return haul_fail(error, HAUL_MISSING,
                         "'%.80s' has no measured times: 'haul kernel fit CSV --kernel %.80s -o "
                         "FITTED' adds them",
                         self->kernel->name, asked->files[0]);
    HAUL_TRY(haul_machine_load(self->kernel->machine, &self->source, error));
    return haul_kernel_fit_new(self->source, asked->calibration, self->kernel->samples,
                               self->kernel->sample_count, &self->fit, error);
}

/* `model` NULL: why it takes its time. The machine measured on stands for one of its name. */
static haul_status predict_one(const fitted *self, const haul_kernel_model *model,
                               const haul_machine *target, haul_kernel_predicted *out,
                               haul_error *error)
{
    if (!strcmp(target->name, self->source->name))
        target = self->source;
    out->machine = target;
    haul_kernel_case what = {
        .source = self->source, .fit = self->fit, .target = target, .size = out->size};
    HAUL_TRY(haul_kernel_file_at(self->kernel, out->size, &what.counts, error));
    return model ? haul_kernel_time(model, &what, &out->estimate, error)
                 : haul_kernel_explain(&what, &out->why, error);
}

static haul_status print(const kernel_request *asked, const fitted *self,
                         const haul_kernel_model *model, haul_error *error)
{
    const size_t machines = asked->machines.count, sizes = asked->size_count;
    haul_kernel_predicted *times = calloc(machines * sizes, sizeof *times);
    if (!times)
        return haul_fail(error, HAUL_NO_MEMORY, "out of memory");
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < machines * sizes; i++) {
        times[i].size = asked->sizes[i % sizes];
        status = predict_one(self, model, asked->machines.items[i / sizes], &times[i], error);
    }
    const haul_kernel_predictions all = {self->kernel->name, self->source, times, machines * sizes};
    if (!status)
        status = cli_report(&asked->given.results,
                            model ? haul_report_kernel_times(&all) : haul_report_kernel_why(&all),
                            error);
    free(times);
    return status;
}

static haul_status run(const kernel_request *asked, bool explains, haul_error *error)
{
    fitted self = {0};
    haul_kernel_model_ref model = {0};
    const char *name = asked->model ? asked->model : haul_kernel_model_at(0)->name;
    haul_status status = load(asked, &self, error);
    if (!status && !explains)
        status = haul_kernel_model_find(name, &model, error);
    if (!status)
        status = print(asked, &self, model.model, error);
    haul_kernel_model_release(&model);
    haul_kernel_fit_free(self.fit);
    haul_machine_free(self.source);
    haul_kernel_file_free(self.kernel);
    return status;
}

static haul_status predict(void *request, haul_error *error)
{
    return run(request, false, error);
}

static haul_status explain(void *request, haul_error *error)
{
    return run(request, true, error);
}

static haul_status check(void *request, haul_error *error)
{
    kernel_request *self = request;
    HAUL_TRY(kernel_sizes_read(self, error));
    if (self->file_count != 1)
        return haul_fail(error, HAUL_USAGE,
                         "expected one fitted kernel, the FILE of 'haul kernel fit -o FILE'");
    if (!self->size_count)
        return haul_fail(error, HAUL_USAGE, "the size is missing: --size N");
    return HAUL_OK;
}

const cli_command cli_kernel_predict = {
    .name = "kernel predict",
    .summary = "its times on machines at sizes, with their intervals",
    .synopsis = "FITTED --machine M... --size N... [options]",
    .about = "Predicts a fitted kernel's times on machines at sizes, with the interval that holds\n"
             "90 of 100. FITTED is the file of 'haul kernel fit -o FITTED'.\n",
    .options = kernel_options + 2,
    .operand = {.name = "fitted kernel", .takes = "FITTED"},
    .most = KERNEL_LIST_MOST,
    .csv = "a row for each machine and size",
    .examples = {"haul kernel predict fitted.yaml --machine h100-pcie5 --size 4096",
                 "haul kernel predict fitted.yaml --machine a100-sxm4 --machine gh200 --size "
                 "1024,2048,4096"},
    .exits = "3 bad input or a parameter that is missing",
    .has_report = true,
    .size = sizeof(kernel_request),
    .check = check,
    .act = predict,
};

const cli_command cli_kernel_explain = {
    .name = "kernel explain",
    .summary = "what bounds it on machines at sizes, and what would change it",
    .synopsis = "FITTED --machine M... --size N... [options]",
    .about = "Prints what bounds a fitted kernel on machines at sizes, and what would change it.\n",
    .options = kernel_options + 3,
    .operand = {.name = "fitted kernel", .takes = "FITTED"},
    .most = KERNEL_LIST_MOST,
    .csv = "a row for each machine and size",
    .examples = {"haul kernel explain fitted.yaml --machine h100-pcie5 --size 4096",
                 "haul kernel explain fitted.yaml --machine mi300x --size 4096 --format json"},
    .exits = "3 bad input or a parameter that is missing",
    .has_report = true,
    .size = sizeof(kernel_request),
    .check = check,
    .act = explain,
};
