/* haul analyze: where the time of a recorded program went. */
#include <stdlib.h>

#include "cli/command.h"

static const char about[] =
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
    "Files of one job, its ranks, or a folder of them, are one run, each device with its rank;\n"
    "others are a table, a row each.\n"
    "\n"
    "words of the report:\n"
    "  total time                    durations added up, whether they overlap or not\n"
    "  busy time                     time in which at least one of them ran, each moment once\n"
    "  span                          from the first start to the last end of a device's\n"
    "                                operation\n"
    "  latency                       time of a copy of no bytes, by the straight line under the\n"
    "                                fastest copies of each size\n";

typedef struct analyze_request {
    cli_request given;
    haul_trace_jobs jobs;
    haul_group_by by;
    bool replay;
} analyze_request;

static const cli_option options[] = {
    {"by", "nothing|operator|range|kernel|line|stack", CLI_WORD, offsetof(analyze_request, by),
     .help = "instead of the report: kernels and copies by the operator of PyTorch, the named "
             "range, the source line or the whole call stack that called for them, or by kernel "
             "and copy call"},
    {"replay", NULL, CLI_FLAG, offsetof(analyze_request, replay),
     .help =
         "instead of the report: the profile scheduled with its own durations, and how far that "
         "is from the recording, with calls as recorded and with threads simulated; predictions "
         "of the whole run are worth no more"},
    {0},
};

/* Profiles of different jobs: a row each. */
static haul_status analyze_each(const analyze_request *self, haul_error *error)
{
    const size_t count = self->jobs.count;
    haul_analyzed_profile *profiles = calloc(count, sizeof *profiles);
    haul_analysis **made = calloc(count, sizeof(haul_analysis *));
    haul_status status =
        profiles && made ? HAUL_OK : haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory");
    for (size_t i = 0; profiles && made && !status && i < count; i++) {
        status = haul_analysis_make(self->jobs.items[i], &made[i], error);
        profiles[i] = (haul_analyzed_profile){self->jobs.items[i], made[i]};
    }
    if (!status) {
        cli_answer answer = {.report = haul_report_analyses(profiles, count),
                             .page = {.title = "Several profiles"}};
        status = cli_answer_write(&self->given.results, &answer, error);
    }
    for (size_t i = 0; made && i < count; i++)
        haul_analysis_free(made[i]);
    free(made);
    free(profiles);
    return status;
}

static haul_status analyze(void *request, haul_error *error)
{
    const analyze_request *self = request;
    const haul_workload *profile = self->jobs.items[0];
    haul_analysis *analysis;
    haul_report *groups = NULL;
    if (self->jobs.count > 1 && (self->replay || self->by || self->given.results.perfetto))
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "--by, --replay and --perfetto are of one profile: give the files of "
                              "one job");
    if (self->jobs.count > 1)
        return analyze_each(self, error);
    if (self->replay) {
        HAUL_TRY(haul_report_replays(&groups, profile, error));
        return cli_report(&self->given.results, groups, error);
    }
    if (self->by) {
        HAUL_TRY(haul_report_groups(&groups, profile, self->by, error));
        return cli_report(&self->given.results, groups, error);
    }
    HAUL_TRY(haul_analysis_make(profile, &analysis, error));
    const haul_drawn recorded = {.label = "recorded", .workload = profile};
    cli_answer answer = {.report = haul_report_analysis(profile, analysis),
                         .page = {.title = cli_file_name(self->given.operands[0]),
                                  .timelines = &recorded,
                                  .timeline_count = 1,
                                  .analysis = analysis}};
    haul_status status = cli_answer_write(&self->given.results, &answer, error);
    haul_analysis_free(analysis);
    return status;
}

const cli_command cli_analyze = {
    .name = "analyze",
    .summary = "where the time of a recorded program went",
    .synopsis = "PROFILE... [options]",
    .about = about,
    .options = options,
    .operand = {.name = "profile",
                .takes = "PROFILE",
                .kind = CLI_PROFILES,
                .at = offsetof(analyze_request, jobs)},
    .least = 1,
    .most = SIZE_MAX,
    .csv = "copies by direction, memory and decade of size; of several jobs a row for each",
    .examples = {"haul analyze app.sqlite --html app.html",
                 "haul analyze rank0.sqlite rank1.sqlite --format json -o app.json"},
    .exits = "3 a profile that cannot be read",
    .has_report = true,
    .has_selection = true,
    .has_html = true,
    .has_perfetto = true,
    .size = sizeof(analyze_request),
    .act = analyze,
};
