/* haul machine fit: measured copies in, a machine file out. */
#include <stdlib.h>
#include <string.h>

#include "cli/machine_parts.h"
#include "haul/units.h"

enum { SOURCE = 256, NAME = 80, POINTS = 4 };

static const char usage[] =
    "haul machine fit FILE... -o OUT [options]\n"
    "\n"
    "Fits a machine's parameters to measured copies: CSV with columns direction, host_memory, "
    "bytes\n"
    "and seconds, Google Benchmark JSON of Comm|Scope, or nvbandwidth JSON. Prints how well "
    "LogGP's\n"
    "line, by its average formula and weighted, and the curve that is written give them back.\n"
    "\n"
    "options:\n"
    "  -o, --output OUT              the machine's file; '-' is standard output\n"
    "  --far FILE                    copies of the memory of a CPU that the GPU does not hang on\n"
    "  --machine BASE                keep this machine's other parameters\n"
    "  --name NAME                   the machine's name (that of OUT)\n"
    "  --points N                    of a curve, at most (4)\n"
    "  --format table|json|csv       how to print the fits (table)\n"
    "\n"
    "exit code: 0 fine, 2 wrong use, 3 bad input\n";

typedef struct fit_options {
    char **near; /* the files' names */
    const char **far;
    int near_count;
    int far_count;
    const char *base;
    const char *name;
    const char *points;
    cli_results results; /* --output is the machine's file */
} fit_options;

/* Returns as cli_arguments_read. `far` has room for `argc`. */
static int parse(const cli_command *self, int argc, char **argv, fit_options *out)
{
    const cli_option known[] = {
        {"far", .value = out->far, .count = &out->far_count, .is_input = true},
        {"machine", .value = &out->base},
        {"name", .value = &out->name},
        {"points", .value = &out->points},
        {0},
    };
    out->results.makes_file = true;
    cli_arguments rest = {.options = known, .results = &out->results};
    const int code = cli_arguments_read(self, argc, argv, &rest);
    if (code != CLI_GO_ON)
        return code;
    out->near = rest.operands;
    out->near_count = rest.count;
    if (!rest.count && !out->far_count)
        return cli_usage(self, "the files of measured copies are missing");
    if (!out->results.output)
        return cli_usage(self, "where to write the machine is missing: -o OUT");
    return CLI_GO_ON;
}

/* Adds the copies of one file; `far`: they are of another CPU's memory. */
static haul_status add_file(const char *path, bool far, haul_samples *all, haul_error *error)
{
    haul_samples samples;
    haul_status status = haul_samples_load(path, &samples, error);
    if (status)
        return status;
    haul_sample *items = realloc(all->items, (all->count + samples.count) * sizeof *all->items);
    if (items) {
        for (size_t i = 0; i < samples.count; i++) {
            items[all->count + i] = samples.items[i];
            if (far)
                items[all->count + i].copy.locality = HAUL_FAR;
        }
        all->items = items;
        all->count += samples.count;
    } else {
        status = haul_fail(error, HAUL_NO_MEMORY, "out of memory");
    }
    haul_samples_free(&samples);
    return status;
}

static haul_status load_files(const fit_options *options, haul_samples *all, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (int i = 0; !status && i < options->near_count; i++)
        status = add_file(options->near[i], false, all, error);
    for (int i = 0; !status && i < options->far_count; i++)
        status = add_file(options->far[i], true, all, error);
    return status;
}

static void say_source(const fit_options *options, const haul_fit_group *group, char *text)
{
    const char *first = options->near_count ? options->near[0] : options->far[0];
    const int others = options->near_count + options->far_count - 1;
    const size_t copies = group->of_curve.samples, sizes = group->sizes;
    char more[32] = "";
    if (others)
        (void)snprintf(more, sizeof more, " and %d more", others);
    (void)snprintf(text, SOURCE,
                   "%zu cop%s of %zu size%s in %.100s%s, median error %.2f %%, wape %.2f %%",
                   copies, copies > 1 ? "ies" : "y", sizes, sizes > 1 ? "s" : "",
                   cli_file_name(first), more, group->of_curve.median, group->of_curve.wape);
}

/* A parameter as people would write it: 6 digits in its unit. */
static double rounded(double value, haul_dimension dimension)
{
    char text[64];
    double again = value;
    (void)haul_quantity_parse(haul_quantity_format(value, dimension, 6, text, sizeof text),
                              dimension, &again, NULL);
    return again;
}

/* Rounds a curve's points, each while it stays between its neighbours. */
static void round_points(haul_copy_curve *curve)
{
    const size_t count = (size_t)curve->points_from.value;
    for (size_t i = 0; i < count; i++) {
        haul_point *point = &curve->points[i];
        const double bytes = rounded(point->bytes, HAUL_DIM_BYTES);
        point->seconds = rounded(point->seconds, HAUL_DIM_SECONDS);
        const bool after = !i || bytes > point[-1].bytes;
        if (after && (i + 1 == count || bytes < point[1].bytes))
            point->bytes = bytes;
    }
}

/* What a group fitted takes the place of what the machine had for it: latency, rate and points. The
 * curve's other parameters stay. */
static void put_curve(const haul_fit_group *group, const char *source, haul_copy_curve *curve)
{
    haul_copy_curve fitted = group->curve;
    round_points(&fitted);
    curve->direction = fitted.direction;
    curve->memory = fitted.memory;
    curve->locality = fitted.locality;
    curve->rate_Bps = fitted.rate_Bps;
    curve->points_from = fitted.points_from;
    memcpy(curve->points, fitted.points, sizeof curve->points);
    if (fitted.points_from.provenance) {
        curve->points_from.source = source;
        curve->latency_s = (haul_parameter){0}; /* it is in the points */
    } else {
        curve->rate_Bps.source = source;
    }
}

static haul_copy_curve *find_curve(haul_copy_curve *curves, size_t *count,
                                   const haul_copy_curve *like)
{
    for (size_t i = 0; i < *count; i++)
        if (curves[i].direction == like->direction && curves[i].memory == like->memory &&
            curves[i].locality == like->locality)
            return &curves[i];
    curves[*count] = (haul_copy_curve){0};
    return &curves[(*count)++];
}

/* The machine's text, once it has been read back. The caller frees *text. */
static haul_status render(const haul_machine *machine, char **text, haul_error *error)
{
    char *written = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&written, &size);
    if (!memory)
        return haul_fail(error, HAUL_NO_MEMORY, "out of memory");
    haul_status status = haul_machine_write(machine, memory, error);
    if (fclose(memory) != 0 && !status)
        status = haul_fail(error, HAUL_NO_MEMORY, "out of memory");
    haul_machine *again = NULL;
    if (!status)
        status = haul_machine_parse(written, size, "the fitted machine", &again, error);
    haul_machine_free(again);
    if (status)
        free(written);
    else
        *text = written;
    return status;
}

static haul_status save(const char *text, const char *path, haul_error *error)
{
    FILE *out;
    haul_status status = cli_output_open(path, &out, error);
    if (status)
        return status;
    (void)fputs(text, out); /* closing tells a failure */
    return cli_output_finish(out, path, HAUL_OK, error);
}

/* Writes `base` with the groups' curves in it. */
static haul_status write_machine(const fit_options *options, const haul_machine *base,
                                 const haul_fit_group *groups, size_t count, haul_error *error)
{
    haul_copy_curve *curves = calloc(base->copy_count + count, sizeof *curves);
    char(*sources)[SOURCE] = calloc(count, sizeof *sources);
    char *text = NULL;
    haul_status status = HAUL_NO_MEMORY;
    if (!curves || !sources) {
        (void)haul_fail(error, status, "out of memory");
    } else {
        haul_machine machine = *base;
        machine.copies = curves;
        if (base->copy_count)
            memcpy(curves, base->copies, base->copy_count * sizeof *curves);
        for (size_t i = 0; i < count; i++) {
            say_source(options, &groups[i], sources[i]);
            put_curve(&groups[i], sources[i],
                      find_curve(curves, &machine.copy_count, &groups[i].curve));
        }
        status = render(&machine, &text, error);
    }
    if (!status)
        status = save(text, options->results.output, error);
    free(text);
    free(sources);
    free(curves);
    return status;
}

/* The name asked for, else that of the file. */
static const char *name_of(const fit_options *options, char *text)
{
    if (options->name)
        return options->name;
    const char *file = cli_file_name(options->results.output);
    (void)snprintf(text, NAME, "%.*s", (int)strcspn(file, "."), file);
    return strcmp(text, "-") ? text : "fitted";
}

static haul_status fit_machine(const fit_options *options, size_t points, haul_error *error)
{
    haul_samples samples = {0};
    haul_fit_group *groups = NULL;
    haul_machine *base = NULL;
    size_t count = 0;
    char name[NAME];
    haul_status status = load_files(options, &samples, error);
    if (!status)
        status = haul_fit_groups(&samples, points, &groups, &count, error);
    if (!status && options->base)
        status = haul_machine_load(options->base, &base, error);
    if (!status) {
        haul_machine machine = {.summary = "fitted to measured copies"};
        if (base)
            machine = *base;
        machine.name = name_of(options, name);
        status = write_machine(options, &machine, groups, count, error);
    }
    if (!status)
        status = cli_report(&options->results, haul_report_fit(groups, count), error);
    haul_machine_free(base);
    haul_fit_groups_free(groups);
    free(samples.items);
    return status;
}

static int fit(const cli_command *self, const fit_options *options)
{
    haul_error error;
    char *rest = NULL;
    const long points = options->points ? strtol(options->points, &rest, 10) : POINTS;
    if (points < 1 || points > HAUL_CURVE_POINTS || (rest && *rest))
        return cli_usage(self, "--points takes 1 to %d, not '%s'", HAUL_CURVE_POINTS,
                         options->points);
    return fit_machine(options, (size_t)points, &error) ? cli_fail(&error) : 0;
}

static int run(const cli_command *self, int argc, char **argv)
{
    haul_error error;
    fit_options options = {.far = calloc((size_t)argc, sizeof *options.far)};
    if (!options.far) {
        (void)haul_fail(&error, HAUL_NO_MEMORY, "out of memory");
        return cli_fail(&error);
    }
    int code = parse(self, argc, argv, &options);
    if (code == CLI_GO_ON)
        code = fit(self, &options);
    free(options.far);
    return code;
}

const cli_command cli_machine_fit = {
    .name = "machine fit",
    .summary = "parameters of a machine from measured copies",
    .usage = usage,
    .run = run,
};
