#include "cli/command.h"

static const char usage[] =
    "haul analyze PROFILE... [options]\n"
    "\n"
    "Prints where the time of a recorded program went: copies by direction, kind of host memory\n"
    "and size, kernels, overlap, idle time, the largest costs.\n"
    "\n"
    "A profile is recognised by its content, not by its name, plain or gzipped:\n"
    "  Nsight Systems                the SQLite file of 'nsys export --type sqlite', or the\n"
    "                                report where nsys is installed\n"
    "  nvprof, NVIDIA Visual Profiler  the file of 'nvprof --export-profile FILE'\n"
    "  PyTorch's profiler (Kineto)   the JSON of export_chrome_trace\n"
    "  AMD rocprofv3, rocmProfileData  the database of '--output-format rocpd'; an .rpd file;\n"
    "                                kernel_trace.csv\n"
    "Several are those of one program's processes: each device is shown with its rank.\n"
    "\n"
    "words of the report:\n"
    "  total time                    durations added up, whether they overlap or not\n"
    "  busy time                     time in which at least one of them ran, each moment once\n"
    "  span                          from the first start to the last end of a device's\n"
    "                                operation\n"
    "  latency                       time of a copy of no bytes, by the straight line under the\n"
    "                                fastest copies of each size\n";

typedef struct analyze_options {
    const char *profile; /* the first */
    const char *const *profiles;
    size_t profile_count;
    cli_results results;
} analyze_options;

/* Returns as cli_arguments_read. */
static int parse(const cli_command *self, int argc, char **argv, analyze_options *options)
{
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

const cli_command cli_analyze = {
    .name = "analyze",
    .summary = "where the time of a recorded program went",
    .usage = usage,
    .csv = "copies by direction, memory and decade of size",
    .exits = "3 a profile that cannot be read",
    .has_html = true,
    .has_perfetto = true,
    .run = run,
};
