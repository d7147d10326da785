/* haul kernel predict and explain: a fitted kernel on machines, at sizes. */
#include <stdlib.h>
#include <string.h>

#include "cli/csv_rows.h"
#include "cli/kernel_request.h"

/* A fitted kernel and where it was measured. */
typedef struct fitted {
    haul_kernel_file *kernel;
    haul_machine *source;
    haul_kernel_fit *fit;
} fitted;

static haul_status load_fitted(const kernel_request *asked, const char *file, fitted *self,
                               haul_error *error)
{
    HAUL_TRY(haul_kernel_file_load(file, &self->kernel, error));
    if (!self->kernel->machine)
        return haul_error_set(
            error, HAUL_STATUS_MISSING,
            "'%.80s' has no measured times: 'haul kernel fit CSV --kernel %.80s -o "
            "FITTED' adds them",
            self->kernel->name, file);
    HAUL_TRY(haul_machine_load(self->kernel->machine, &self->source, error));
    return haul_kernel_fit_new(self->source, asked->calibration, self->kernel->samples,
                               self->kernel->sample_count, &self->fit, error);
}

static void release_fitted(fitted *self)
{
    haul_kernel_fit_free(self->fit);
    haul_machine_free(self->source);
    haul_kernel_file_free(self->kernel);
    *self = (fitted){0};
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
        return haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory");
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

/* Predictions of a table. */
typedef struct predicted_rows {
    const kernel_request *asked;
    const haul_kernel_model *model;
    fitted now; /* of the row before: tables name one file many times in a row */
    char *file;
    kernel_machines machines;
} predicted_rows;

enum { FITTED, SIZE, NEEDED, ON_MACHINE = NEEDED };

static haul_status predict_row(void *rows, const char *const *fields, size_t turn,
                               cli_csv_cell *cells, size_t *wrong, haul_error *error)
{
    predicted_rows *self = rows;
    const cli_machines *given = &self->asked->machines;
    const haul_machine *target = given->count ? given->items[turn] : NULL;
    haul_kernel_predicted one = {.size = 0};
    *wrong = FITTED;
    if (!self->file || strcmp(self->file, fields[FITTED]) != 0) {
        free(self->file);
        self->file = NULL;
        release_fitted(&self->now);
        HAUL_TRY(load_fitted(self->asked, fields[FITTED], &self->now, error));
        self->file = strdup(fields[FITTED]);
        HAUL_TRY(self->file ? HAUL_OK
                            : haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory"));
    }
    *wrong = ON_MACHINE;
    if (!target)
        HAUL_TRY(kernel_machines_find(&self->machines, fields[ON_MACHINE], &target, error));
    *wrong = SIZE;
    HAUL_TRY(cli_csv_number(fields[SIZE], 0, &one.size, error));
    HAUL_TRY(predict_one(&self->now, self->model, target, &one, error));
    cells[0].number = one.estimate.seconds;
    cells[1].number = one.estimate.low_s;
    cells[2].number = one.estimate.high_s;
    cells[3].text = one.estimate.model;
    cells[4].text = haul_provenance_text(one.estimate.weakest);
    return HAUL_OK;
}

static haul_status predict_many(const kernel_request *asked, const haul_kernel_model *model,
                                haul_error *error)
{
    static const char *const columns[] = {"fitted", "size", "machine", NULL};
    static const char *const added[] = {"seconds", "low_s", "high_s", "model", "provenance", NULL};
    predicted_rows self = {.asked = asked, .model = model};
    const cli_csv_job job = {columns,     asked->machines.count ? NEEDED : NEEDED + 1,
                             added,       asked->machines.count,
                             predict_row, &self};
    const haul_status status = cli_csv_answer(asked->csv, &asked->given.results, &job, error);
    release_fitted(&self.now);
    kernel_machines_release(&self.machines);
    free(self.file);
    return status;
}

static haul_status predict_kernel(const kernel_request *asked, bool explains, haul_error *error)
{
    fitted self = {0};
    haul_kernel_model_ref model = {0};
    const char *name = asked->model ? asked->model : haul_kernel_model_at(0)->name;
    haul_status status = asked->csv ? HAUL_OK : load_fitted(asked, asked->files[0], &self, error);
    if (!status && !explains)
        status = haul_kernel_model_find(name, &model, error);
    if (!status)
        status = asked->csv ? predict_many(asked, model.model, error)
                            : print(asked, &self, model.model, error);
    haul_kernel_model_release(&model);
    release_fitted(&self);
    return status;
}

static haul_status predict(void *request, haul_error *error)
{
    return predict_kernel(request, false, error);
}

static haul_status explain(void *request, haul_error *error)
{
    return predict_kernel(request, true, error);
}

static haul_status check_request(void *request, haul_error *error)
{
    kernel_request *self = request;
    HAUL_TRY(kernel_sizes_read(self, error));
    if (self->csv) {
        /* The table brings files and sizes, and is answered by one. */
        haul_report_options *options = &self->given.results.options;
        if (self->file_count || self->size_count)
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "--csv brings the fitted files and sizes: none beside it");
        if (cli_has(&self->given, "format") && options->format != HAUL_FORMAT_CSV)
            return haul_error_set(error, HAUL_STATUS_USAGE, "--csv is answered as CSV alone");
        options->format = HAUL_FORMAT_CSV;
        return HAUL_OK;
    }
    if (!self->machines.count && !cli_has(&self->given, "machine"))
        return haul_error_set(error, HAUL_STATUS_USAGE, "the machine is missing: --machine M");
    if (self->file_count != 1)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "expected one fitted kernel, the FILE of 'haul kernel fit -o FILE'");
    if (!self->size_count)
        return haul_error_set(error, HAUL_STATUS_USAGE, "the size is missing: --size N");
    return HAUL_OK;
}

const cli_command cli_kernel_predict = {
    .name = "kernel predict",
    .summary = "its times on machines at sizes, with their intervals",
    .synopsis = "FITTED --machine M... --size N... [options]",
    .about = "Predicts a fitted kernel's times on machines at sizes, with the interval that holds\n"
             "90 of 100. FITTED is the file of 'haul kernel fit -o FITTED'.\n",
    .options = kernel_predict_options,
    .operand = {.name = "fitted kernel", .takes = "FITTED"},
    .most = KERNEL_LIST_MOST,
    .csv = "a row for each machine and size",
    .examples = {"haul kernel predict fitted.yaml --machine h100-pcie5 --size 4096",
                 "haul kernel predict fitted.yaml --machine a100-sxm4 --machine gh200 --size "
                 "1024,2048,4096"},
    .exits = "3 bad input or a parameter that is missing",
    .has_report = true,
    .size = sizeof(kernel_request),
    .check = check_request,
    .act = predict,
};

const cli_command cli_kernel_explain = {
    .name = "kernel explain",
    .summary = "what bounds it on machines at sizes, and what would change it",
    .synopsis = "FITTED --machine M... --size N... [options]",
    .about = "Prints what bounds a fitted kernel on machines at sizes, and what would change it.\n",
    .options = kernel_explain_options,
    .operand = {.name = "fitted kernel", .takes = "FITTED"},
    .most = KERNEL_LIST_MOST,
    .csv = "a row for each machine and size",
    .examples = {"haul kernel explain fitted.yaml --machine h100-pcie5 --size 4096",
                 "haul kernel explain fitted.yaml --machine mi300x --size 4096 --format json"},
    .exits = "3 bad input or a parameter that is missing",
    .has_report = true,
    .size = sizeof(kernel_request),
    .check = check_request,
    .act = explain,
};
