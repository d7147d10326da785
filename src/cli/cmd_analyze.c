#include "cli/command.h"
#include "haul/trace.h"

static const char usage[] =
    "haul analyze TRACE [--format table|json|csv] [-o FILE] [--html FILE] [--perfetto FILE]\n"
    "\n"
    "Says where the time of a recorded program went: copies by direction, kind of host memory and\n"
    "size, kernels against copies, overlap, idle time, the largest costs.\n"
    "\n"
    "TRACE is a profile, recognised by what is in it, not by its name:\n"
    "  Nsight Systems                the SQLite file of 'nsys export --type sqlite "
    "REPORT.nsys-rep'\n"
    "  nvprof, NVIDIA Visual Profiler  the file of 'nvprof --export-profile FILE'\n"
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
    const char *trace;
    const char *command;
    cli_results results;
} analyze_options;

/* Returns as cli_arguments_read. */
static int parse(const cli_command *self, int argc, char **argv, analyze_options *options)
{
    const cli_option known[] = {
        {"format", &options->results.form, 0, NULL},
        {"output", &options->results.output, 'o', NULL},
        {"html", &options->results.html, 0, NULL},
        {"perfetto", &options->results.perfetto, 0, NULL},
        {0},
    };
    cli_arguments rest;
    const int code = cli_arguments_read(self, argc, argv, known, &rest);
    if (code != CLI_GO_ON)
        return code;
    const int which = cli_operand_read(self, &rest, "profile", &options->trace);
    return which != CLI_GO_ON ? which
                              : cli_results_check(self, &options->results, &options->trace, 1);
}

static haul_status write_report(const analyze_options *options, const haul_workload *workload,
                                const haul_analysis *analysis, haul_error *error)
{
    FILE *out;
    haul_status status = cli_output_open(options->results.output, &out, error);
    if (status)
        return status;
    status = haul_report_analysis(workload, analysis, options->results.format, out, error);
    return cli_output_finish(out, options->results.output, status, error);
}

static haul_status write_page(const analyze_options *options, const haul_workload *workload,
                              const haul_analysis *analysis, haul_error *error)
{
    const haul_drawn recorded = {.label = "recorded", .workload = workload};
    const haul_page page = {.title = cli_file_name(options->trace),
                            .command = options->command,
                            .timelines = &recorded,
                            .timeline_count = 1,
                            .workload = workload,
                            .analysis = analysis};
    return cli_page_write(options->results.html, &page, error);
}

static haul_status analyze(const analyze_options *options, haul_error *error)
{
    haul_workload *workload;
    cli_progress_begin("reading", options->trace);
    haul_status status = haul_trace_load(options->trace, &workload, error);
    cli_progress_end();
    if (status)
        return status;
    haul_analysis *analysis;
    status = haul_analyze(workload, &analysis, error);
    if (!status) {
        status = write_report(options, workload, analysis, error);
        if (!status)
            status = write_page(options, workload, analysis, error);
        haul_analysis_free(analysis);
    }
    const haul_drawn drawn = {.workload = workload};
    if (!status)
        status = cli_perfetto_write(options->results.perfetto, &drawn, 1, error);
    haul_workload_free(workload);
    return status;
}

static int run(const cli_command *self, int argc, char **argv)
{
    cli_command_line command;
    cli_command_text(argc, argv, &command);
    analyze_options options = {.command = command.text};
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
