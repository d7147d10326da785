/* Fits and times of kernels. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numerals.h"
#include "haul/units.h"
#include "report/report_fields.h"
#include "report/wording.h"

static const char *architecture_of(const haul_machine *machine)
{
    return machine->gpu.architecture ? machine->gpu.architecture : "unknown";
}

static double first_size(const haul_kernel_fit *fit)
{
    return fit->knots[0].size;
}

static double last_size(const haul_kernel_fit *fit)
{
    return fit->knots[fit->count - 1].size;
}

/* Of one kernel and architecture; at the first of its fits, the others' count is 0. */
typedef struct architecture_mean {
    double lambda; /* geometric mean of the boards' */
    size_t boards;
} architecture_mean;

static int by_architecture(const void *a, const void *b)
{
    const haul_kernel_fitted *x = *(const haul_kernel_fitted *const *)a;
    const haul_kernel_fitted *y = *(const haul_kernel_fitted *const *)b;
    const int order = strcmp(x->kernel, y->kernel);
    return order ? order : strcmp(architecture_of(x->machine), architecture_of(y->machine));
}

static int by_place(const void *a, const void *b)
{
    const haul_kernel_fitted *x = *(const haul_kernel_fitted *const *)a;
    const haul_kernel_fitted *y = *(const haul_kernel_fitted *const *)b;
    const int order = by_architecture(a, b);
    return order ? order : (x > y) - (x < y);
}

/* One for each fit, for the caller to free; NULL without memory. */
static architecture_mean *architecture_means(const haul_kernel_fitted *fits, size_t count)
{
    architecture_mean *means = calloc(count + 1, sizeof *means);
    const haul_kernel_fitted **sorted = calloc(count + 1, sizeof(const haul_kernel_fitted *));
    if (!means || !sorted) {
        free(means);
        free(sorted);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        sorted[i] = &fits[i];
    qsort(sorted, count, sizeof(const haul_kernel_fitted *), by_place);
    for (size_t i = 0; i < count;) {
        architecture_mean *mean = &means[sorted[i] - fits];
        const haul_kernel_fitted *const *first = &sorted[i];
        double sum = 0;
        for (; i < count && !by_architecture(&sorted[i], first); i++)
            sum += log(sorted[i]->fit->lambda);
        mean->boards = (size_t)(&sorted[i] - first);
        mean->lambda = exp(sum / (double)mean->boards);
    }
    free(sorted);
    return means;
}

/* A share that is not known is 0. */
static void add_share(haul_table *table, haul_format format, double share)
{
    if (format == HAUL_CSV)
        haul_table_cell(table, "%.4g", share);
    else
        haul_table_cell(table, "%s", share > 0 ? haul_say_share(share).text : "-");
}

static haul_status print_boards(const haul_kernel_fitted *fits, size_t count, haul_format format,
                                FILE *out, haul_error *error)
{
    static const char *const heads[] = {
        "<kernel", "<counts from", "<machine", "<architecture", "sizes",     "from",         "to",
        "lambda",  "least",        "most",     "<one serves",   "of memory", "of arithmetic"};
    static const char *const csv_heads[] = {
        "kernel",     "counts",       "machine",         "architecture", "sizes",
        "least_size", "most_size",    "lambda",          "least_lambda", "most_lambda",
        "one_serves", "memory_share", "arithmetic_share"};
    haul_table table = {0};
    haul_table_begin(&table, format == HAUL_CSV ? csv_heads : heads, sizeof heads / sizeof *heads);
    for (size_t i = 0; i < count; i++) {
        const haul_kernel_fit *fit = fits[i].fit;
        haul_table_cell(&table, "%s", fits[i].kernel);
        haul_table_cell(&table, "%s", fits[i].counts);
        haul_table_cell(&table, "%s", fits[i].machine->name);
        haul_table_cell(&table, "%s", architecture_of(fits[i].machine));
        haul_table_cell(&table, "%zu", fit->count);
        haul_table_cell(&table, "%.17g", first_size(fit));
        haul_table_cell(&table, "%.17g", last_size(fit));
        haul_table_cell(&table, "%.4g", fit->lambda);
        haul_table_cell(&table, "%.4g", fit->least);
        haul_table_cell(&table, "%.4g", fit->most);
        haul_table_cell(&table, "%s", fit->one_serves ? "yes" : "no");
        add_share(&table, format, fit->memory_share);
        add_share(&table, format, fit->arithmetic_share);
    }
    return haul_report_finish(&table, format, out, error);
}

static haul_status print_architectures(const haul_kernel_fitted *fits, size_t count, FILE *out,
                                       haul_error *error)
{
    static const char *const heads[] = {"<kernel", "<architecture", "boards", "lambda"};
    architecture_mean *means = architecture_means(fits, count);
    if (!means)
        return haul_fail_no_memory(error);
    haul_table table = {0};
    haul_table_begin(&table, heads, 4);
    for (size_t i = 0; i < count; i++) {
        if (!means[i].boards)
            continue;
        haul_table_cell(&table, "%s", fits[i].kernel);
        haul_table_cell(&table, "%s", architecture_of(fits[i].machine));
        haul_table_cell(&table, "%zu", means[i].boards);
        haul_table_cell(&table, "%.4g", means[i].lambda);
    }
    free(means);
    return haul_report_finish(&table, HAUL_TABLE, out, error);
}

static void print_doubts(const haul_kernel_fitted *fits, size_t count, FILE *out)
{
    for (size_t i = 0; i < count; i++) {
        const haul_kernel_fit *fit = fits[i].fit;
        char text[320];
        if (fit->one_serves)
            continue;
        (void)snprintf(text, sizeof text,
                       "%.80s on %.64s: one lambda does not serve all sizes within %g %%: it goes "
                       "from %.3g to %.3g, and times at other sizes are by size",
                       fits[i].kernel, fits[i].machine->name, 100 * HAUL_KERNEL_ONE_LAMBDA,
                       fit->least, fit->most);
        haul_print_wrapped("  ", text, out);
    }
}

static haul_status print_page(const haul_kernel_fitted *fits, size_t count, FILE *out,
                              haul_error *error)
{
    fputs("Lambda of each board: BSP's time with lambda 1 over the measured one\n\n", out);
    haul_status status = print_boards(fits, count, HAUL_TABLE, out, error);
    if (status)
        return status;
    bool all_served = true;
    for (size_t i = 0; i < count; i++)
        all_served = all_served && fits[i].fit->one_serves;
    if (!all_served)
        fputc('\n', out);
    print_doubts(fits, count, out);
    fputs("\nLambda of each architecture: the geometric mean of its boards'\n\n", out);
    return print_architectures(fits, count, out, error);
}

static void put_fit(haul_json *json, const haul_kernel_fitted *of)
{
    const haul_kernel_fit *fit = of->fit;
    haul_json_open_object(json);
    haul_json_put_string(json, "kernel", of->kernel);
    haul_json_put_string(json, "counts", of->counts);
    haul_json_put_string(json, "machine", of->machine->name);
    haul_json_put_string(json, "architecture", of->machine->gpu.architecture);
    haul_json_put_number(json, "lambda", fit->lambda);
    haul_json_put_number(json, "least_lambda", fit->least);
    haul_json_put_number(json, "most_lambda", fit->most);
    haul_json_put_bool(json, "one_serves", fit->one_serves);
    haul_json_put_number(json, "floor_s", fit->floor_s);
    haul_json_put_number(json, "memory_share", fit->memory_share);
    haul_json_put_number(json, "arithmetic_share", fit->arithmetic_share);
    haul_json_key(json, "sizes");
    haul_json_open_array(json);
    for (size_t i = 0; i < fit->count; i++) {
        haul_json_open_object(json);
        haul_json_put_number(json, "size", fit->knots[i].size);
        haul_json_put_number(json, "lambda", exp(fit->knots[i].log_lambda));
        haul_json_close_object(json);
    }
    haul_json_close_array(json);
    haul_json_close_object(json);
}

static haul_status print_fits_json(const haul_kernel_fitted *fits, size_t count, FILE *out,
                                   haul_error *error)
{
    architecture_mean *means = architecture_means(fits, count);
    if (!means)
        return haul_fail_no_memory(error);
    haul_json json = haul_json_begin(out);
    haul_json_open_object(&json);
    haul_json_put_unsigned(&json, "schema", HAUL_REPORT_SCHEMA);
    haul_json_key(&json, "fits");
    haul_json_open_array(&json);
    for (size_t i = 0; i < count; i++)
        put_fit(&json, &fits[i]);
    haul_json_close_array(&json);
    haul_json_key(&json, "architectures");
    haul_json_open_array(&json);
    for (size_t i = 0; i < count; i++) {
        if (!means[i].boards)
            continue;
        haul_json_open_object(&json);
        haul_json_put_string(&json, "kernel", fits[i].kernel);
        haul_json_put_string(&json, "architecture", fits[i].machine->gpu.architecture);
        haul_json_put_unsigned(&json, "boards", means[i].boards);
        haul_json_put_number(&json, "lambda", means[i].lambda);
        haul_json_close_object(&json);
    }
    haul_json_close_array(&json);
    haul_json_close_object(&json);
    free(means);
    return haul_report_finish_json(&json, error);
}

haul_status haul_report_kernel_fits(const haul_kernel_fitted *fits, size_t count,
                                    haul_format format, FILE *out, haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    if (format == HAUL_JSON)
        return print_fits_json(fits, count, out, error);
    return format == HAUL_CSV ? print_boards(fits, count, format, out, error)
                              : print_page(fits, count, out, error);
}

/* --- times */

/* For people with a unit, in CSV in seconds. */
static void add_time(haul_table *table, haul_format format, double seconds)
{
    char text[48];
    if (format == HAUL_CSV)
        haul_table_cell(table, "%.9g", seconds);
    else
        haul_table_cell(table, "%s",
                        haul_quantity_format(seconds, HAUL_DIM_SECONDS, 4, text, sizeof text));
}

static haul_status print_times(const haul_kernel_predictions *of, haul_format format, FILE *out,
                               haul_error *error)
{
    static const char *const heads[] = {"<kernel", "<measured on", "<machine",
                                        "size",    "time",         "at least",
                                        "at most", "<model",       "<provenance"};
    static const char *const csv_heads[] = {"kernel", "home",   "machine", "size",      "seconds",
                                            "low_s",  "high_s", "model",   "provenance"};
    haul_table table = {0};
    haul_table_begin(&table, format == HAUL_CSV ? csv_heads : heads, sizeof heads / sizeof *heads);
    for (size_t i = 0; i < of->count; i++) {
        const haul_estimate *estimate = &of->items[i].estimate;
        haul_table_cell(&table, "%s", of->kernel);
        haul_table_cell(&table, "%s", of->home->name);
        haul_table_cell(&table, "%s", of->items[i].machine->name);
        haul_table_cell(&table, "%.17g", of->items[i].size);
        add_time(&table, format, estimate->seconds);
        add_time(&table, format, estimate->low_s);
        add_time(&table, format, estimate->high_s);
        haul_table_cell(&table, "%s", estimate->model);
        haul_table_cell(&table, "%s", haul_provenance_text(estimate->weakest));
    }
    return haul_report_finish(&table, format, out, error);
}

static haul_status print_times_json(const haul_kernel_predictions *of, FILE *out, haul_error *error)
{
    haul_json json = haul_json_begin(out);
    haul_json_open_object(&json);
    haul_json_put_unsigned(&json, "schema", HAUL_REPORT_SCHEMA);
    haul_json_put_string(&json, "kernel", of->kernel);
    haul_json_put_string(&json, "home", of->home->name);
    haul_json_key(&json, "times");
    haul_json_open_array(&json);
    for (size_t i = 0; i < of->count; i++) {
        const haul_estimate *estimate = &of->items[i].estimate;
        haul_json_open_object(&json);
        haul_json_put_string(&json, "machine", of->items[i].machine->name);
        haul_json_put_number(&json, "size", of->items[i].size);
        haul_json_put_number(&json, "time_s", estimate->seconds);
        haul_json_key(&json, "interval_s");
        haul_json_open_array(&json);
        haul_json_number(&json, estimate->low_s);
        haul_json_number(&json, estimate->high_s);
        haul_json_close_array(&json);
        haul_json_put_string(&json, "model", estimate->model);
        haul_json_put_string(&json, "provenance", haul_provenance_text(estimate->weakest));
        haul_json_close_object(&json);
    }
    haul_json_close_array(&json);
    haul_json_close_object(&json);
    return haul_report_finish_json(&json, error);
}

haul_status haul_report_kernel_times(const haul_kernel_predictions *of, haul_format format,
                                     FILE *out, haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    return format == HAUL_JSON ? print_times_json(of, out, error)
                               : print_times(of, format, out, error);
}

haul_status haul_report_kernel_models(haul_format format, FILE *out, haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    if (format == HAUL_JSON) {
        haul_json json = haul_json_begin(out);
        haul_json_open_object(&json);
        haul_json_put_unsigned(&json, "schema", HAUL_REPORT_SCHEMA);
        haul_json_key(&json, "models");
        haul_json_open_array(&json);
        for (size_t i = 0; i < haul_kernel_model_count(); i++) {
            haul_json_open_object(&json);
            haul_json_put_string(&json, "name", haul_kernel_model_at(i)->name);
            haul_json_put_string(&json, "summary", haul_kernel_model_at(i)->summary);
            haul_json_close_object(&json);
        }
        haul_json_close_array(&json);
        haul_json_close_object(&json);
        return haul_report_finish_json(&json, error);
    }
    static const char *const heads[] = {"<model", "<summary"};
    haul_table table = {0};
    haul_table_begin(&table, heads, 2);
    for (size_t i = 0; i < haul_kernel_model_count(); i++) {
        haul_table_cell(&table, "%s", haul_kernel_model_at(i)->name);
        haul_table_cell(&table, "%s", haul_kernel_model_at(i)->summary);
    }
    return haul_report_finish(&table, format, out, error);
}
