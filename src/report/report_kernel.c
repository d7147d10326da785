/* Fits and times of kernels. */
#include <math.h>
#include <string.h>

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

/* The boards of one kernel and architecture from `at` on: their lambdas' geometric mean. 0: an
 * earlier row has told it. */
static double architecture_lambda(const haul_kernel_fitted *fits, size_t count, size_t at,
                                  size_t *boards)
{
    double sum = 0;
    *boards = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(fits[i].kernel, fits[at].kernel) != 0 ||
            strcmp(architecture_of(fits[i].machine), architecture_of(fits[at].machine)) != 0)
            continue;
        if (i < at)
            return 0;
        sum += log(fits[i].fit->lambda);
        ++*boards;
    }
    return exp(sum / (double)*boards);
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
    haul_table table = {0};
    haul_table_begin(&table, heads, 4);
    for (size_t i = 0; i < count; i++) {
        size_t boards;
        const double lambda = architecture_lambda(fits, count, i, &boards);
        if (lambda <= 0)
            continue;
        haul_table_cell(&table, "%s", fits[i].kernel);
        haul_table_cell(&table, "%s", architecture_of(fits[i].machine));
        haul_table_cell(&table, "%zu", boards);
        haul_table_cell(&table, "%.4g", lambda);
    }
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
        size_t boards;
        const double lambda = architecture_lambda(fits, count, i, &boards);
        if (lambda <= 0)
            continue;
        haul_json_open_object(&json);
        haul_json_put_string(&json, "kernel", fits[i].kernel);
        haul_json_put_string(&json, "architecture", fits[i].machine->gpu.architecture);
        haul_json_put_unsigned(&json, "boards", boards);
        haul_json_put_number(&json, "lambda", lambda);
        haul_json_close_object(&json);
    }
    haul_json_close_array(&json);
    haul_json_close_object(&json);
    return haul_report_finish_json(&json, error);
}

haul_status haul_report_kernel_fits(const haul_kernel_fitted *fits, size_t count,
                                    haul_format format, FILE *out, haul_error *error)
{
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
    return format == HAUL_JSON ? print_times_json(of, out, error)
                               : print_times(of, format, out, error);
}

haul_status haul_report_kernel_models(haul_format format, FILE *out, haul_error *error)
{
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
