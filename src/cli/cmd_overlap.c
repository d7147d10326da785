#include <string.h>

#include "cli/command.h"
#include "cli/overlap_tiles.h"
#include "haul/overlap.h"
#include "haul/units.h"

static const char usage[] =
    "haul overlap --machine M --h2d BYTES --d2h BYTES --kernel TIME [options]\n"
    "\n"
    "Prints what a program gains that copies data to a GPU, runs a kernel and copies results\n"
    "back, when it does these at once: by streams, by mapped memory or by both. Each strategy's\n"
    "time is predicted by the analytical model (van Werkhoven et al., CCGrid 2014;\n"
    "docs/overlap.md) and scheduled on the timeline, beside the roofline that none can beat.\n"
    "\n"
    "options:\n"
    "  --machine M                   a name of 'haul machine list', or a file\n"
    "  --h2d BYTES, --d2h BYTES      copied to the device and back: \"4096\", \"64MiB\", \"1.5 "
    "GB\"\n"
    "  --kernel TIME                 the kernel's time on that machine: \"12.5 ms\"\n"
    "  --streams N                   compare with N streams, from 1 to 65536 (the best number\n"
    "                                of each strategy)\n"
    "  --reads N, --writes N         how often the kernel reads each byte in and writes each\n"
    "                                byte out, as far as no cache holds it: mapped memory\n"
    "                                crosses the link as often (1)\n"
    "  --tiles product|stencil       instead: a matrix product C = A B + C in square tiles, or a\n"
    "                                stencil over a grid in tiles, copies in, kernels and copies\n"
    "                                back in three streams; --kernel is a full tile's\n"
    "  --size MxNxK, --tile T        of the product; of the stencil ROWSxCOLUMNS of both\n"
    "  --element BYTES               of an element (8)\n"
    "  --halo N                      rows and columns around a stencil's tile (1)\n"
    "  --queue N                     the host issues N operations of a stream ahead at most (as\n"
    "                                many as there are)\n"
    "  --order breadth|depth         issue all copies back last, or each behind its tile "
    "(breadth)\n";

typedef struct overlap_options {
    const char *machine;
    const char *h2d;
    const char *d2h;
    const char *kernel;
    const char *streams;
    const char *reads;
    const char *writes;
    tiles_options tiles;
    cli_results results;
} overlap_options;

/* The options, read. */
typedef struct request {
    haul_overlap_work work;
    uint32_t streams;
    const overlap_options *options;
} request;

/* Puts the option before what is wrong with its text. */
static haul_status blame(const char *option, haul_error *error)
{
    char text[sizeof error->text];
    (void)snprintf(text, sizeof text, "--%s: %.400s", option, error->text);
    memcpy(error->text, text, sizeof text);
    return error->status = HAUL_USAGE;
}

static haul_status read_bytes(const char *option, const char *text, uint64_t *bytes,
                              haul_error *error)
{
    return haul_bytes_parse(text, bytes, error) ? blame(option, error) : HAUL_OK;
}

static haul_status read_quantity(const char *option, const char *text, haul_dimension dimension,
                                 double *value, haul_error *error)
{
    if (!text)
        return HAUL_OK;
    return haul_quantity_parse(text, dimension, value, error) ? blame(option, error) : HAUL_OK;
}

static haul_status read_streams(const char *text, uint32_t *streams, haul_error *error)
{
    double value = 0;
    const haul_status status = read_quantity("streams", text, HAUL_DIM_NUMBER, &value, error);
    if (status || !text)
        return status;
    if (value >= 1 && value <= HAUL_STREAMS_MOST && value == (double)(uint32_t)value) {
        *streams = (uint32_t)value;
        return HAUL_OK;
    }
    return haul_fail(error, HAUL_USAGE, "--streams: '%.40s' is no whole number from 1 to %d", text,
                     HAUL_STREAMS_MOST);
}

/* How often a byte is mapped; 0, the default, is once. */
static haul_status read_times(const char *name, const char *text, double *times, haul_error *error)
{
    const haul_status status = read_quantity(name, text, HAUL_DIM_NUMBER, times, error);
    if (status || !text || *times >= 1)
        return status;
    return haul_fail(error, HAUL_USAGE, "--%s: '%.40s' is below 1", name, text);
}

static haul_status read_request(request *self, haul_error *error)
{
    const overlap_options *options = self->options;
    haul_overlap_work *work = &self->work;
    haul_status status = read_bytes("h2d", options->h2d, &work->in_bytes, error);
    if (!status)
        status = read_bytes("d2h", options->d2h, &work->out_bytes, error);
    if (!status)
        status = read_quantity("kernel", options->kernel, HAUL_DIM_SECONDS, &work->kernel_s, error);
    if (!status)
        status = read_times("reads", options->reads, &work->reads, error);
    if (!status)
        status = read_times("writes", options->writes, &work->writes, error);
    if (!status)
        status = read_streams(options->streams, &self->streams, error);
    return status;
}

static haul_status compare(const haul_overlap_case *of, uint32_t streams, haul_overlap *out,
                           haul_error *error)
{
    haul_overlap_compare(of, streams, out);
    return haul_overlap_play_all(of, out, error);
}

static haul_status write_page(const haul_overlap_report *report, const request *self,
                              haul_error *error)
{
    char title[300];
    if (!self->options->results.html)
        return HAUL_OK;
    (void)snprintf(title, sizeof title, "Overlap on %.250s", report->machine->name);
    haul_report *reports[] = {haul_report_overlap(report), haul_report_machine(report->machine)};
    haul_page page = {.title = title, .overlap = report};
    return cli_page(&self->options->results, &page, reports, 2, error);
}

/* The answer on the link as it is, and on the next generation where there is one. */
static haul_status answer(const haul_machine *machine, const request *self, haul_error *error)
{
    haul_overlap_case now;
    haul_overlap_case then;
    haul_overlap_report report = {.machine = machine, .work = &self->work, .of = &now};
    haul_status status = haul_overlap_describe(machine, &self->work, &now, error);
    if (status)
        return error->status == HAUL_BAD_INPUT ? (error->status = HAUL_USAGE) : status;
    status = compare(&now, self->streams, &report.strategies, error);
    if (!status &&
        !haul_overlap_next_generation(machine, &now, &then, &report.next_generation, NULL))
        status = compare(&then, self->streams, &report.next, error);
    if (!status)
        status = cli_report(&self->options->results, haul_report_overlap(&report), error);
    return status ? status : write_page(&report, self, error);
}

static haul_status overlap(const request *self, haul_error *error)
{
    haul_machine *machine;
    haul_status status = haul_machine_load(self->options->machine, &machine, error);
    if (status)
        return status;
    status = self->options->tiles.tiles
                 ? cli_overlap_tiles(&self->options->tiles, machine, &self->options->results, error)
                 : answer(machine, self, error);
    haul_machine_free(machine);
    return status;
}

/* Returns as cli_arguments_read. */
static int parse(const cli_command *self, int argc, char **argv, overlap_options *options)
{
    const cli_option known[] = {
        {"machine", .value = &options->machine, .is_input = true,
         .missing = "--machine M is missing"},
        {"h2d", .value = &options->h2d},
        {"d2h", .value = &options->d2h},
        {"kernel", .value = &options->kernel, .missing = "--kernel TIME is missing"},
        {"streams", .value = &options->streams},
        {"reads", .value = &options->reads},
        {"writes", .value = &options->writes},
        {"tiles", .value = &options->tiles.tiles},
        {"size", .value = &options->tiles.size},
        {"tile", .value = &options->tiles.tile},
        {"element", .value = &options->tiles.element},
        {"halo", .value = &options->tiles.halo},
        {"queue", .value = &options->tiles.queue},
        {"order", .value = &options->tiles.order},
        {0},
    };
    cli_arguments arguments = {.options = known, .results = &options->results};
    const int code = cli_arguments_read(self, argc, argv, &arguments);
    if (code != CLI_GO_ON)
        return code;
    if (arguments.count)
        return cli_usage(self, "'%s' is not an option", arguments.operands[0]);
    options->tiles.kernel = options->kernel;
    const char *missing = NULL;
    if (options->tiles.tiles)
        missing = !options->tiles.size ? "--size MxNxK" : !options->tiles.tile ? "--tile N" : NULL;
    else
        missing = !options->h2d ? "--h2d BYTES" : !options->d2h ? "--d2h BYTES" : NULL;
    return missing ? cli_usage(self, "%s is missing", missing) : code;
}

static int run(const cli_command *self, int argc, char **argv)
{
    overlap_options options = {0};
    const int code = parse(self, argc, argv, &options);
    if (code != CLI_GO_ON)
        return code;
    request asked = {.options = &options};
    haul_error error;
    if (!options.tiles.tiles && read_request(&asked, &error))
        return cli_usage(self, "%s", error.text);
    const haul_status status = overlap(&asked, &error);
    if (status == HAUL_USAGE && options.tiles.tiles)
        return cli_usage(self, "%s", error.text);
    return status ? cli_fail(&error) : 0;
}

const cli_command cli_overlap = {
    .name = "overlap",
    .summary = "what overlapping copies with a kernel gains, by strategy",
    .usage = usage,
    .csv = "a row for each strategy and link",
    .exits = "3 a machine that cannot be read, or lacks a parameter, named",
    .has_html = true,
    .run = run,
};
