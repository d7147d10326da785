#include "cli/command.h"

static const char usage[] =
    "haul analyze TRACE... [--format table|json|csv] [-o FILE] [--html FILE] [--perfetto FILE]\n"
    "\n"
    "Says where the time of a recorded program went: copies by direction, kind of host memory and\n"
    "size, kernels against copies, overlap, idle time, the largest costs.\n"
    "\n"
    "TRACE is a profile, recognised by what is in it, not by its name, plain or gzipped:\n"
    "  Nsight Systems                the SQLite file of 'nsys export --type sqlite', or the "
    "report\n"
    "                                where nsys is installed\n"
    "  nvprof, NVIDIA Visual Profiler  the file of 'nvprof --export-profile FILE'\n"
    "  PyTorch's profiler (Kineto)   the JSON of export_chrome_trace\n"
    "  AMD rocprofv3, rocmProfileData  the database of '--output-format rocpd'; an .rpd file;\n"
    "                                kernel_trace.csv\n"
    "Several are those of one program's processes: each device is shown with its rank.\n"
    "\n"
    "options:\n"
    "  --format table|json|csv       how to print: a page (table); all figures (json, described "
    "in\n"
    "                                docs/json.md); copies by direction, memory and decade of "
    "size\n"
    "                                (csv)\n"
    "  -o, --output FILE             print to a file\n"
    "  --html FILE                   write a page to look at, too: the timeline, the sizes of "
    "copies,\n"
    "                                the times\n"
    "  --perfetto FILE               write the recorded timeline as a trace for ui.perfetto.dev "
    "or\n"
    "                                chrome://tracing, thinned where it would reach 100 MB\n"
    "  -h, --help                    print this\n"
    "\n"
    "words of the page:\n"
    "  summed                        durations added up, whether they overlap or not\n"
    "  busy                          time in which at least one of them ran, each moment once\n"
    "  span                          from the first start to the last end of a device's operation\n"
    "  idle                          the part of the span in which no device ran anything\n"
    "  latency                       what a copy of no bytes costs, by the straight line under "
    "the\n"
    "                                fastest copies of each size\n"
    "\n"
    "exit code: 0 done, 2 wrong use, 3 a profile that cannot be read\n";

typedef struct analyze_options {
    const char *profile; /* the first */
    const char *const *profiles;
    size_t profile_count;
    cli_results results;
} analyze_options;

/* Returns as cli_arguments_read. */
static int parse(const cli_command *self, int argc, char **argv, analyze_options *options)
{
    options->results.has_html = options->results.has_perfetto = true;
    cli_arguments arguments = {.results = &options->results};
    const int code = cli_arguments_read(self, argc, argv, &arguments);
    if (code != CLI_GO_ON)
        return code;
    if (!arguments.count)
        return cli_usage(self, "which profile?");
    options->profile = arguments.operands[0];
    options->profiles = (const char *const *)arguments.operands;
    options->profile_count = (size_t)arguments.count;
    return CLI_GO_ON;
}

static haul_status write_page(const analyze_options *options, const haul_workload *workload,
                              const haul_analysis *analysis, haul_error *error)
{
    if (!options->results.html)
        return HAUL_OK;
    const haul_drawn recorded = {.label = "recorded", .workload = workload};
    haul_report *report = haul_report_analysis(workload, analysis);
    haul_page page = {.title = cli_file_name(options->profile),
                      .timelines = &recorded,
                      .timeline_count = 1,
                      .analysis = analysis};
    return cli_page(&options->results, &page, &report, 1, error);
}

static haul_status analyze(const analyze_options *options, haul_error *error)
{
    haul_workload *workload;
    haul_status status =
        cli_profiles_load(options->profiles, options->profile_count, &workload, error);
    if (status)
        return status;
    haul_analysis *analysis;
    status = haul_analyze(workload, &analysis, error);
    if (!status) {
        status = cli_report(&options->results, haul_report_analysis(workload, analysis), error);
        if (!status)
            status = write_page(options, workload, analysis, error);
        haul_analysis_free(analysis);
    }
    const haul_drawn drawn = {.workload = workload};
    if (!status)
        status = cli_perfetto(&options->results, &drawn, 1, error);
    haul_workload_free(workload);
    return status;
}

static int run(const cli_command *self, int argc, char **argv)
{
    analyze_options options = {0};
    const int code = parse(self, argc, argv, &options);
    if (code != CLI_GO_ON)
        return code;
    haul_error error;
    return analyze(&options, &error) ? cli_fail(&error) : 0;
}

const cli_command cli_analyze = {.name = "analyze",
                                 .summary = "where the time of a recorded program went",
                                 .usage = usage,
                                 .run = run};
