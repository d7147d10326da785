/* Calibration factors of kernels (lambda of HiPC 2015), predicted times, and the models and files
 * that give them. */
#include <math.h>
#include <string.h>

#include "base/numerals.h"
#include "haul/kernel_file.h"
#include "haul/report.h"
#include "report/wording.h"

/* A machine file need not say it. */
static const char *architecture_of(const haul_machine *machine)
{
    return machine->gpu.architecture ? machine->gpu.architecture : "unknown";
}

/* Geometric means over the GPUs of one architecture: HiPC 2015 gives one factor for an application
 * and an architecture, which serves a GPU that was not measured. The row stands where its first fit
 * does. */
static void add_architectures(haul_report *report, const haul_kernel_fitted *fits, size_t count)
{
    static const haul_column columns[] = {
        {"kernel", HAUL_UNIT_TEXT, .head = "Mean by architecture"},
        {"architecture", .unit = HAUL_UNIT_TEXT},
        {NULL, HAUL_UNIT_TEXT, .head = "architecture"},
        {"gpus", HAUL_UNIT_COUNT, .head = "GPUs"},
        {"calibration", HAUL_UNIT_NUMBER, .head = "calibration"},
        {0},
    };
    haul_table *table = haul_report_table(report, "architectures", columns);
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        size_t gpus = 0, first = i;
        for (size_t k = 0; k < count; k++) {
            if (strcmp(fits[i].kernel, fits[k].kernel) != 0 ||
                strcmp(architecture_of(fits[i].machine), architecture_of(fits[k].machine)) != 0)
                continue;
            /* Only the first fit of a kernel and architecture adds the row. */
            first = k < first ? k : first;
            /* A factor is a ratio, so that its mean is the geometric one. */
            sum += log(fits[k].fit->calibration);
            gpus++;
        }
        if (first == i)
            haul_table_row(table, HAUL_CELLS(haul_cell_text(fits[i].kernel),
                                             haul_cell_text(fits[i].machine->gpu.architecture),
                                             haul_cell_text(architecture_of(fits[i].machine)),
                                             haul_cell_count((uint64_t)gpus),
                                             haul_cell_number(exp(sum / (double)gpus))));
    }
}
/* A share that is not known is 0 in CSV and JSON. */
static double known(double share)
{
    return share > 0 ? share : (double)NAN;
}

static const haul_column fit_columns[] = {
    {"kernel", HAUL_UNIT_TEXT, .head = "Kernel"},
    {"counts", HAUL_UNIT_TEXT, .head = "counts from"},
    {"machine", HAUL_UNIT_TEXT, .head = "machine"},
    {"architecture", HAUL_UNIT_TEXT, .csv = ""},
    {NULL, HAUL_UNIT_TEXT, .head = "architecture", .csv = "architecture"},
    {NULL, HAUL_UNIT_COUNT, .head = "sizes", .csv = "sizes"},
    {NULL, HAUL_UNIT_NUMBER, .head = "from", .csv = "least_size"},
    {NULL, HAUL_UNIT_NUMBER, .head = "to", .csv = "most_size"},
    {"calibration", HAUL_UNIT_NUMBER, .head = "calibration"},
    {"least_calibration", HAUL_UNIT_NUMBER, .head = "least"},
    {"most_calibration", HAUL_UNIT_NUMBER, .head = "most"},
    {"one_serves", HAUL_UNIT_FLAG, .csv = ""},
    {NULL, HAUL_UNIT_TEXT, .head = "all sizes", .csv = "one_serves"},
    {"launch_s", HAUL_UNIT_SECONDS, .csv = ""},
    {"memory_share", .unit = HAUL_UNIT_SHARE},
    {"arithmetic_share", .unit = HAUL_UNIT_SHARE},
    {NULL, HAUL_UNIT_SHARE, .head = "of memory"},
    {NULL, HAUL_UNIT_SHARE, .head = "of arithmetic"},
    {0},
};

/* A fit in a row, and for programs the factor of each size that it is made of. */
static void add_fits(haul_report *report, const haul_kernel_fitted *fits, size_t count)
{
    static const haul_column size_columns[] = {
        {"size", .unit = HAUL_UNIT_NUMBER}, {"calibration", .unit = HAUL_UNIT_NUMBER}, {0}};
    haul_table *table = haul_report_table(report, "fits", fit_columns);
    haul_table_csv(table);
    for (size_t i = 0; i < count; i++) {
        const haul_kernel_fitted *of = &fits[i];
        const haul_kernel_fit *fit = of->fit;
        haul_table_row(
            table,
            HAUL_CELLS(
                haul_cell_text(of->kernel), haul_cell_text(of->counts),
                haul_cell_text(of->machine->name), haul_cell_text(of->machine->gpu.architecture),
                haul_cell_text(architecture_of(of->machine)), haul_cell_count((uint64_t)fit->count),
                haul_cell_number(fit->knots[0].size),
                haul_cell_number(fit->knots[fit->count - 1].size),
                haul_cell_number(fit->calibration), haul_cell_number(fit->least),
                haul_cell_number(fit->most), haul_cell_flag(fit->one_serves),
                haul_cell_text(fit->one_serves ? "yes" : "no"), haul_cell_number(fit->launch_s),
                haul_cell_number(fit->memory_share), haul_cell_number(fit->arithmetic_share),
                haul_cell_number(known(fit->memory_share)),
                haul_cell_number(known(fit->arithmetic_share))));
        haul_table *sizes = haul_report_table(table, "sizes", size_columns);
        for (size_t k = 0; k < fit->count; k++)
            haul_table_row(sizes, HAUL_CELLS(haul_cell_number(fit->knots[k].size),
                                             haul_cell_number(exp(fit->knots[k].log_calibration))));
    }
}

haul_report *haul_report_kernel_fits(const haul_kernel_fitted *fits, size_t count)
{
    HL_PLAIN_NUMERALS;
    haul_report *report = haul_report_new("kernel fits");
    /* Over all fits, whichever kernel: the headline shows the range in which factors lie. */
    double least = (double)INFINITY, most = 0;
    for (size_t i = 0; i < count; i++) {
        least = fmin(least, fits[i].fit->least);
        most = fmax(most, fits[i].fit->most);
    }
    if (count == 1)
        haul_report_say(report, "%.100s on %.100s: calibration factor %.4g over %s", fits->kernel,
                        fits->machine->name, fits->fit->calibration,
                        hl_report_say_number_of(fits->fit->count, "size", NULL).text);
    else
        haul_report_say(
            report, "%s fitted: calibration factors from %.4g to %.4g",
            hl_report_say_number_of(count, "pair of kernel and GPU", "pairs of kernel and GPU")
                .text,
            least, most);
    for (size_t i = 0; i < count; i++)
        /* The paper's method has one factor for all sizes; where that fails, a line says so. */
        if (!fits[i].fit->one_serves)
            haul_report_line(report, "by size",
                             "%.80s on %.64s: no one factor gives all sizes within %g %%: it goes "
                             "from %.3g to %.3g",
                             fits[i].kernel, fits[i].machine->name,
                             100 * HAUL_KERNEL_ONE_CALIBRATION, fits[i].fit->least,
                             fits[i].fit->most);
    add_fits(report, fits, count);
    add_architectures(report, fits, count);
    haul_report_detail(report, true);
    haul_report_say(
        report,
        "The calibration factor (lambda, HiPC 2015) of a GPU: the BSP model's time with "
        "factor 1 by the measured one. Of an architecture: the geometric mean of its "
        "GPUs'. All sizes: whether one factor gives every size within %g %%.",
        100 * HAUL_KERNEL_ONE_CALIBRATION);
    return report;
}

/* Kernel and source machine stand once in JSON, and in every row of CSV, which is flat. */
haul_report *haul_report_kernel_times(const haul_kernel_predictions *of)
{
    static const haul_column head[] = {
        {"kernel", .unit = HAUL_UNIT_TEXT}, {"source_machine", .unit = HAUL_UNIT_TEXT}, {0}};
    static const haul_column columns[] = {
        {NULL, HAUL_UNIT_TEXT, .head = "Kernel", .csv = "kernel"},
        {NULL, HAUL_UNIT_TEXT, .head = "measured on", .csv = "source_machine"},
        {"machine", HAUL_UNIT_TEXT, .head = "machine"},
        {"size", HAUL_UNIT_NUMBER, .head = "size"},
        {"time_s", HAUL_UNIT_SECONDS, .head = "time", .csv = "seconds"},
        {"interval_s", HAUL_UNIT_INTERVAL, .head = "interval"},
        {"model", HAUL_UNIT_TEXT, .head = "model"},
        {"provenance", HAUL_UNIT_TEXT, .head = "provenance"},
        {0},
    };
    HL_PLAIN_NUMERALS;
    haul_report *report = haul_report_new("kernel times");
    haul_report_object(report, NULL, head,
                       HAUL_CELLS(haul_cell_text(of->kernel), haul_cell_text(of->source->name)));
    haul_table *times = haul_report_table(report, "times", columns);
    haul_table_csv(times);
    for (size_t i = 0; i < of->count; i++) {
        const haul_kernel_predicted *item = &of->items[i];
        haul_table_row(times,
                       HAUL_CELLS(haul_cell_text(of->kernel), haul_cell_text(of->source->name),
                                  haul_cell_text(item->machine->name), haul_cell_number(item->size),
                                  haul_cell_number(item->estimate.seconds),
                                  haul_cell_interval(item->estimate.low_s, item->estimate.high_s),
                                  haul_cell_text(item->estimate.model),
                                  haul_cell_text(haul_provenance_text(item->estimate.weakest))));
    }
    return report;
}

/* A kernel file that cannot be read is listed with its error: the others are still of use. */
haul_status haul_report_kernel_models(haul_report **report, haul_error *error)
{
    static const haul_column file[] = {
        {NULL, HAUL_UNIT_TEXT, .head = "Kernel"}, {NULL, HAUL_UNIT_TEXT, .head = "summary"}, {0}};
    static const haul_column model[] = {{"name", HAUL_UNIT_TEXT, .head = "Model", .csv = "model"},
                                        {"summary", HAUL_UNIT_TEXT, .head = "summary"},
                                        {0}};
    char **names;
    size_t count;
    HAUL_TRY(haul_kernel_file_list(&names, &count, error));
    haul_report *made = haul_report_new("kernel models");
    haul_table *kernels = haul_report_table(made, NULL, file);
    for (size_t i = 0; i < count; i++) {
        haul_kernel_file *kernel;
        haul_error wrong;
        char text[1200];
        const bool is_wrong = haul_kernel_file_load(names[i], &kernel, &wrong);
        haul_table_row(kernels, HAUL_CELLS(haul_cell_text(names[i]),
                                           haul_cell_text(is_wrong ? haul_error_format(&wrong, text,
                                                                                       sizeof text)
                                                                   : kernel->summary)));
        if (!is_wrong)
            haul_kernel_file_free(kernel);
    }
    haul_names_free(names, count);
    haul_table *models = haul_report_table(made, "models", model);
    haul_table_csv(models);
    for (size_t i = 0; i < haul_kernel_model_count(); i++)
        haul_table_row(models, HAUL_CELLS(haul_cell_text(haul_kernel_model_at(i)->name),
                                          haul_cell_text(haul_kernel_model_at(i)->summary)));
    *report = made;
    return HAUL_OK;
}
