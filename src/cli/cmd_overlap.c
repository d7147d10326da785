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
    "results checked and their times beside the predicted ones; --html draws these.\n";

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
     .most = HAUL_OVERLAP_STREAMS_MOST},
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
    {"csv", "FILE", CLI_TEXT, OF(csv),
     .help =
         "with --tiles product, many products: columns m, n, k, tile and kernel_s in any order, "
         "the others kept, and where they are known in_s, in_busy_s, out_s and out_busy_s of a "
         "tile's copies, a_on_host, b_on_host and c_on_host (1), edge_alone and out_after_in "
         "(0: docs/overlap.md); seconds is added; '-' is standard input",
     .is_input = true},
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

/* The table brings products, and is answered by one. */
static haul_status check_csv(overlap_request *self, haul_error *error)
{
    haul_report_options *printed = &self->given.results.options;
    const char *wrong = NULL;
    if (!cli_has(&self->given, "tiles") || self->is_stencil)
        wrong = "--csv needs --tiles product";
    else if (self->size.count || self->tile.count || cli_has(&self->given, "kernel"))
        wrong = "--csv brings the products: no --size, --tile or --kernel beside it";
    else if (cli_has(&self->given, "format") && printed->format != HAUL_FORMAT_CSV)
        wrong = "--csv is answered as CSV alone";
    else if (self->given.results.html)
        wrong = "--csv writes no page: leave out --html";
    printed->format = HAUL_FORMAT_CSV;
    return wrong ? haul_error_set(error, HAUL_STATUS_USAGE, "%s", wrong) : HAUL_OK;
}

static haul_status check_request(void *request, haul_error *error)
{
    const overlap_request *self = request;
    if (cli_has(&self->given, "run") && self->size.count > 1)
        return haul_error_set(error, HAUL_STATUS_USAGE, "with --run a size is one number");
    if (cli_has(&self->given, "run"))
        return HAUL_OK;
    if (self->csv)
        return check_csv(request, error);
    if (!cli_has(&self->given, "machine"))
        return haul_error_set(error, HAUL_STATUS_USAGE, "--machine M is missing");
    if (!cli_has(&self->given, "kernel"))
        return haul_error_set(error, HAUL_STATUS_USAGE, "--kernel TIME is missing");
    const char *missing = missing_size(self);
    return missing ? haul_error_set(error, HAUL_STATUS_USAGE, "expected %s", missing) : HAUL_OK;
}

static haul_status compare_case(const haul_overlap_case *of, uint64_t streams, haul_overlap *out,
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
    if (self->csv)
        return cli_overlap_products(self, error);
    if (cli_has(&self->given, "tiles"))
        return cli_overlap_tiles(self, error);
    haul_overlap_case now, then;
    haul_overlap_report report = {.machine = self->machine, .work = &self->work, .of = &now};
    const haul_status status = haul_overlap_describe(self->machine, &self->work, &now, error);
    if (status)
        return error->status == HAUL_STATUS_BAD_INPUT ? (error->status = HAUL_STATUS_USAGE)
                                                      : status;
    HAUL_TRY(compare_case(&now, self->streams, &report.strategies, error));
    if (!haul_overlap_next_generation(self->machine, &now, &then, &report.next_generation, NULL))
        HAUL_TRY(compare_case(&then, self->streams, &report.next, error));
    /* The comparison on the slower kind of device, where the machine's file leaves open which it
     * is. */
    haul_overlap_case slower = now;
    slower.device = haul_overlap_device_end(&now, 1);
    slower.assumed &= ~(unsigned)(HAUL_ASSUMED_SYNC | HAUL_ASSUMED_ENGINES);
    report.has_otherwise = slower.device != now.device;
    if (report.has_otherwise)
        HAUL_TRY(compare_case(&slower, self->streams, &report.otherwise, error));
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
    .check = check_request,
    .act = overlap,
};
