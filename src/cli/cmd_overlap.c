/* haul overlap: what overlapping copies with a kernel gains, by strategy. */
#include "cli/overlap_tiles.h"

static const char about[] =
    "Prints what a program gains that copies data to a GPU, runs a kernel and copies results\n"
    "back, when it does these at once: by streams, by mapped memory or by both. Each strategy's\n"
    "time is predicted by the analytical model (van Werkhoven et al., CCGrid 2014;\n"
    "docs/overlap.md) and scheduled on the timeline, beside the roofline that none can beat.\n"
    "\n"
    "With --tiles: a matrix product C = A B + C in square tiles, or a stencil over a grid in\n"
    "tiles, copies in, kernels and copies back in three streams.\n"
    "\n"
    "With --run: the strategies of the paper run on a device, each in 1 to 64 streams, their\n"
    "results checked and their times beside the predicted ones.\n";

#define OF(field) offsetof(overlap_request, field)

static const cli_option options[] = {
    {"machine", "M", CLI_MACHINE, OF(machine), .help = "a name of 'haul machine list', or a file",
     .is_input = true},
    {"run", "KERNEL", CLI_TEXT, OF(run),
     .help = "run a kernel of the paper by each strategy instead: state, buoydiff, product, "
             "convolution or sparse"},
    {"device", "NAME", CLI_TEXT, OF(device),
     .help = "for --run: host, opencl:0, sim:k40, ... (the fastest kind)"},
    {"h2d", "BYTES", CLI_BYTES, OF(work.in_bytes),
     .help = "copied to the device: \"4096\", \"64MiB\", \"1.5 GB\""},
    {"d2h", "BYTES", CLI_BYTES, OF(work.out_bytes), .help = "copied back"},
    {"kernel", "TIME", CLI_SECONDS, OF(work.kernel_s),
     .help = "the kernel's time on that machine, \"12.5 ms\"; with --tiles that of a full tile"},
    {"streams", "N", CLI_COUNT, OF(streams),
     .help = "compare with N streams (the best number of each strategy)", .least = 1,
     .most = HAUL_STREAMS_MOST},
    {"reads", "N", CLI_NUMBER, OF(work.reads),
     .help = "how often the kernel reads each byte in, as far as no cache holds it: mapped memory "
             "crosses the link as often (1)",
     .least = 1, .most = 1e300},
    {"writes", "N", CLI_NUMBER, OF(work.writes),
     .help = "how often it writes each byte out, likewise (1)", .least = 1, .most = 1e300},
    {"tiles", "product|stencil", CLI_WORD, OF(is_stencil),
     .help = "schedule a product or a stencil in tiles instead"},
    {"size", "MxNxK", CLI_SIDES, OF(size), .help = "of the product; of the stencil ROWSxCOLUMNS",
     .most = INT32_MAX},
    {"tile", "T", CLI_SIDES, OF(tile),
     .help = "side of a product's tile; of the stencil ROWSxCOLUMNS", .most = INT32_MAX},
    {"element", "BYTES", CLI_COUNT, OF(element), .help = "of an element (8)", .least = 1,
     .most = INT32_MAX, .preset = "8"},
    {"halo", "N", CLI_COUNT, OF(halo), .help = "rows and columns around a stencil's tile (1)",
     .most = INT32_MAX, .preset = "1"},
    {"queue", "N", CLI_COUNT, OF(queue_depth),
     .help = "the host issues N operations of a stream ahead at most (as many as there are)",
     .most = INT32_MAX},
    {"order", "breadth|depth", CLI_WORD, OF(back_at_once),
     .help = "issue all copies back last, or each behind its tile (breadth)"},
    {0},
};

/* The option that is missing or wrong for what is compared; NULL where none is. */
static const char *missing_size(const overlap_request *self)
{
    if (!cli_has(&self->given, "tiles")) {
        if (!cli_has(&self->given, "h2d"))
            return "--h2d BYTES";
        return cli_has(&self->given, "d2h") ? NULL : "--d2h BYTES";
    }
    if (self->size.count != (self->is_stencil ? 2 : 3))
        return self->is_stencil ? "--size ROWSxCOLUMNS" : "--size MxNxK";
    if (self->tile.count != (self->is_stencil ? 2 : 1))
        return self->is_stencil ? "--tile ROWSxCOLUMNS" : "--tile T";
    for (size_t i = 0; self->is_stencil && i < self->tile.count; i++)
        if (self->tile.side[i] > self->size.side[i])
            return "a tile that is no larger than the grid";
    return NULL;
}

static haul_status check(void *request, haul_error *error)
{
    const overlap_request *self = request;
    if (cli_has(&self->given, "run") && self->size.count > 1)
        return haul_fail(error, HAUL_USAGE, "with --run a size is one number");
    if (cli_has(&self->given, "run") && self->given.results.html)
        return haul_fail(error, HAUL_USAGE, "--run writes no page: leave out --html");
    if (cli_has(&self->given, "run"))
        return HAUL_OK;
    if (!cli_has(&self->given, "machine"))
        return haul_fail(error, HAUL_USAGE, "--machine M is missing");
    if (!cli_has(&self->given, "kernel"))
        return haul_fail(error, HAUL_USAGE, "--kernel TIME is missing");
    const char *missing = missing_size(self);
    return missing ? haul_fail(error, HAUL_USAGE, "expected %s", missing) : HAUL_OK;
}

static haul_status compare(const haul_overlap_case *of, uint64_t streams, haul_overlap *out,
                           haul_error *error)
{
    haul_overlap_compare(of, (uint32_t)streams, out);
    return haul_overlap_play_all(of, out, error);
}

/* The answer on the link as it is, and on the next generation where there is one. */
static haul_status overlap(void *request, haul_error *error)
{
    const overlap_request *self = request;
    if (cli_has(&self->given, "run"))
        return cli_overlap_run(self, error);
    if (cli_has(&self->given, "tiles"))
        return cli_overlap_tiles(self, error);
    haul_overlap_case now, then;
    haul_overlap_report report = {.machine = self->machine, .work = &self->work, .of = &now};
    haul_status status = haul_overlap_describe(self->machine, &self->work, &now, error);
    if (status)
        return error->status == HAUL_BAD_INPUT ? (error->status = HAUL_USAGE) : status;
    status = compare(&now, self->streams, &report.strategies, error);
    if (!status &&
        !haul_overlap_next_generation(self->machine, &now, &then, &report.next_generation, NULL))
        status = compare(&then, self->streams, &report.next, error);
    if (status)
        return status;
    char title[300];
    (void)snprintf(title, sizeof title, "Overlap on %.250s", self->machine->name);
    cli_answer answer = {.report = haul_report_overlap(&report),
                         .page = {.title = title, .overlap = &report},
                         .machines = {self->machine}};
    return cli_answer_write(&self->given.results, &answer, error);
}

const cli_command cli_overlap = {
    .name = "overlap",
    .summary = "what overlapping copies with a kernel gains, by strategy",
    .synopsis = "--machine M --h2d BYTES --d2h BYTES --kernel TIME [options]",
    .about = about,
    .options = options,
    .csv = "a row for each strategy and link",
    .examples = {"haul overlap --machine h100-pcie5 --h2d 1GiB --d2h 1GiB --kernel \"30 ms\"",
                 "haul overlap --machine k40 --tiles product --size 4096x4096x4096 --tile 1024 "
                 "--kernel \"5 ms\""},
    .exits = "3 a machine that cannot be read, or lacks a parameter, named",
    .has_report = true,
    .has_html = true,
    .size = sizeof(overlap_request),
    .check = check,
    .act = overlap,
};
