/* haul machine fit: measured copies in, a machine file out. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "haul/units.h"

enum { SOURCE = 256 };

static const char about[] =
    "Fits a machine's parameters to measured copies: CSV with columns direction, host_memory,\n"
    "bytes and seconds, Google Benchmark JSON of Comm|Scope, or nvbandwidth JSON. A column\n"
    "condition says busy or mapped for copies while the other direction is busy with copies or\n"
    "mapped memory, and gap for the time between copies in a row. Prints how well LogGP's line,\n"
    "by its average formula and weighted, and the curve that is written give them back.\n";

typedef struct fit_request {
    cli_request given; /* the operands are files */
    cli_texts far;
    haul_machine *base;
    const char *name;
    uint64_t points;
} fit_request;

#define OF(field) offsetof(fit_request, field)

static const cli_option options[] = {
    {"far", "FILE", CLI_TEXTS, OF(far),
     .help = "copies of the memory of a CPU that the GPU does not hang on", .is_input = true},
    {"machine", "BASE", CLI_MACHINE, OF(base), .help = "keep this machine's other parameters"},
    {"name", "NAME", CLI_TEXT, OF(name), .help = "the machine's name (that of OUT)"},
    {"points", "N", CLI_COUNT, OF(points), .help = "of a curve, at most (4)", .least = 1,
     .most = HAUL_MACHINE_CURVE_POINTS, .preset = "4"},
    {0},
};

/* Adds the copies of one file; `far`: they are of another CPU's memory. */
static haul_status add_file(const char *path, bool far, haul_samples *all, haul_error *error)
{
    haul_samples samples;
    HAUL_TRY(haul_samples_load(path, &samples, error));
    haul_status status = HAUL_OK;
    haul_sample *items = realloc(all->items, (all->count + samples.count) * sizeof *all->items);
    if (items) {
        for (size_t i = 0; i < samples.count; i++) {
            items[all->count + i] = samples.items[i];
            if (far)
                items[all->count + i].copy.locality = HAUL_LOCALITY_FAR;
        }
        all->items = items;
        all->count += samples.count;
    } else {
        status = haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory");
    }
    haul_samples_free(&samples);
    return status;
}

static void say_source(const fit_request *self, const haul_fit_group *group, char *text)
{
    const size_t near = self->given.operand_count, others = near + self->far.count - 1;
    const size_t copies = group->of_curve.samples, sizes = group->sizes;
    char more[32] = "";
    if (others)
        (void)snprintf(more, sizeof more, " and %zu more", others);
    const char *file = cli_file_name(near ? self->given.operands[0] : self->far.items[0]);
    if (!copies) {
        (void)snprintf(text, SOURCE,
                       "measured with the other direction busy, or in a row: %.100s%s", file, more);
        return;
    }
    (void)snprintf(text, SOURCE,
                   "%zu cop%s of %zu size%s in %.100s%s, median error %.2f %%, wape %.2f %%",
                   copies, copies > 1 ? "ies" : "y", sizes, sizes > 1 ? "s" : "", file, more,
                   group->of_curve.median, group->of_curve.wape);
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

static void put_parameter(const haul_parameter *fitted, haul_dimension dimension,
                          const char *source, haul_parameter *old)
{
    if (!fitted->provenance)
        return;
    *old = *fitted;
    old->value = rounded(fitted->value, dimension);
    old->source = source;
}

/* Puts a group's fit in the place of the machine's own: latency, rate and points where copies alone
 * were measured, and what other conditions tell. The curve's other parameters stay. */
static void put_curve(const haul_fit_group *group, const char *source, haul_copy_curve *curve)
{
    haul_copy_curve fitted = group->curve;
    /* Each point is rounded while it stays between its neighbours. */
    const size_t count = (size_t)fitted.points_from.value;
    for (size_t i = 0; i < count; i++) {
        haul_point *point = &fitted.points[i];
        const double bytes = rounded(point->bytes, HAUL_DIM_BYTES);
        point->seconds = rounded(point->seconds, HAUL_DIM_SECONDS);
        const bool after = !i || bytes > point[-1].bytes;
        if (after && (i + 1 == count || bytes < point[1].bytes))
            point->bytes = bytes;
    }
    put_parameter(&fitted.busy_rate_Bps, HAUL_DIM_RATE, source, &curve->busy_rate_Bps);
    put_parameter(&fitted.mapped_rate_Bps, HAUL_DIM_RATE, source, &curve->mapped_rate_Bps);
    put_parameter(&fitted.gap_s, HAUL_DIM_SECONDS, source, &curve->gap_s);
    curve->direction = fitted.direction;
    curve->memory = fitted.memory;
    curve->locality = fitted.locality;
    if (!group->of_condition[HAUL_CONDITION_ALONE])
        return;
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

/* Writes a machine that can be read back: it is, before the file is made. */
static haul_status write_machine(const haul_machine *machine, const char *path, haul_error *error)
{
    char *text = NULL;
    size_t size = 0;
    haul_machine *again = NULL;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory");
    haul_status status = haul_machine_write(machine, out, error);
    if ((fclose(out) != 0 || !text) && !status)
        status = haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory");
    if (!status)
        status = haul_machine_parse(text, size, "the fitted machine", &again, error);
    if (!status)
        status = cli_output_open(path, &out, error);
    if (!status) {
        (void)fputs(text, out); /* closing tells a failure */
        status = cli_output_finish(out, path, HAUL_OK, error);
    }
    haul_machine_free(again);
    free(text);
    return status;
}

/* Writes the machine with the groups' curves in it. */
static haul_status write_fitted(const fit_request *self, haul_machine machine,
                                const haul_fit_group *groups, size_t count, haul_error *error)
{
    haul_copy_curve *curves = calloc(machine.copy_count + count, sizeof *curves);
    char(*sources)[SOURCE] = calloc(count, sizeof *sources);
    haul_status status = HAUL_STATUS_NO_MEMORY;
    if (!curves || !sources) {
        (void)haul_error_set(error, status, "out of memory");
    } else {
        if (machine.copy_count)
            memcpy(curves, machine.copies, machine.copy_count * sizeof *curves);
        machine.copies = curves;
        for (size_t i = 0; i < count; i++) {
            say_source(self, &groups[i], sources[i]);
            put_curve(&groups[i], sources[i],
                      find_curve(curves, &machine.copy_count, &groups[i].curve));
        }
        status = write_machine(&machine, self->given.results.output, error);
    }
    free(sources);
    free(curves);
    return status;
}

static haul_status fit(void *request, haul_error *error)
{
    const fit_request *self = request;
    haul_samples samples = {0};
    haul_fit_group *groups = NULL;
    size_t count = 0;
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < self->given.operand_count; i++)
        status = add_file(self->given.operands[i], false, &samples, error);
    for (size_t i = 0; !status && i < self->far.count; i++)
        status = add_file(self->far.items[i], true, &samples, error);
    if (!status)
        status = haul_fit_groups(&samples, self->points, &groups, &count, error);
    if (!status) {
        haul_machine machine = {.summary = "fitted to measured copies"};
        if (self->base)
            machine = *self->base;
        char of_file[80];
        const char *file = cli_file_name(self->given.results.output);
        (void)snprintf(of_file, sizeof of_file, "%.*s", (int)strcspn(file, "."), file);
        machine.name = self->name ? self->name : strcmp(of_file, "-") ? of_file : "fitted";
        status = write_fitted(self, machine, groups, count, error);
    }
    if (!status)
        status = cli_report(&self->given.results, haul_report_fit(groups, count), error);
    haul_fit_groups_free(groups);
    free(samples.items);
    return status;
}

static haul_status check_request(void *request, haul_error *error)
{
    const fit_request *self = request;
    if (!self->given.operand_count && !self->far.count)
        return haul_error_set(error, HAUL_STATUS_USAGE, "the files of measured copies are missing");
    if (!self->given.results.output)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "where to write the machine is missing: -o OUT");
    return HAUL_OK;
}

const cli_command cli_machine_fit = {
    .name = "machine fit",
    .summary = "parameters of a machine from measured copies",
    .synopsis = "FILE... -o OUT [options]",
    .about = about,
    .options = options,
    .operand = {.name = "file of measured copies", .takes = "FILE"},
    .most = SIZE_MAX,
    .output = "the machine's file; '-' is standard output",
    .csv = "a row for each fit",
    .examples = {"haul machine fit copies.csv -o mine.yaml",
                 "haul machine fit near.csv --far far.csv --machine a100-sxm4 -o mine.yaml"},
    .exits = "3 bad input",
    .has_report = true,
    .size = sizeof(fit_request),
    .check = check_request,
    .act = fit,
};
