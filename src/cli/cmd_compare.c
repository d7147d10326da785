/* haul compare: two profiles of one program, side by side. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "haul/compare.h"
#include "haul/project.h"

static const char about[] =
    "Compares two profiles of the same program: of two machines, or of two versions. The first\n"
    "lines are the two runs, from the first start to the last end of a device's operation, and\n"
    "what took most of the difference: kernels, copies, or a cause of idle time. Kernels are\n"
    "matched by name, copies by direction and size, each in order; the largest differences of\n"
    "time come first. Operations that only one of them has are counted.\n";

typedef struct compare_request {
    cli_request given;
    const char *fail_above;
} compare_request;

static const cli_option options[] = {
    {"fail-above", "SHARE", CLI_TEXT, offsetof(compare_request, fail_above),
     .help = "exit with 1 where the second run takes longer than the first by more than this: 5%"},
    {0},
};

/* "5%", of at least 0; negative: it is not one. */
static double share_of(const char *text)
{
    char *end;
    const double percent = strtod(text, &end);
    end += strspn(end, " ");
    return end != text && !strcmp(end, "%") && percent >= 0 && percent <= 1e6 ? percent / 100 : -1;
}

static haul_status check(void *request, haul_error *error)
{
    const compare_request *self = request;
    if (self->fail_above && share_of(self->fail_above) < 0)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "--fail-above: expected a share such as 5%%, not '%.40s'",
                              self->fail_above);
    return HAUL_OK;
}

static haul_status write_answer(compare_request *self, const haul_compared_run runs[2],
                                const haul_comparison *comparison, haul_error *error)
{
    char title[300];
    (void)snprintf(title, sizeof title, "%.140s and %.140s", cli_file_name(self->given.operands[0]),
                   cli_file_name(self->given.operands[1]));
    const haul_drawn drawn[] = {{.label = "first", .workload = runs[0].workload},
                                {.label = "second", .workload = runs[1].workload}};
    cli_answer answer = {.report = haul_report_comparison(runs, comparison),
                         .page = {.title = title, .timelines = drawn, .timeline_count = 2}};
    const double first_ns = (double)runs[0].analysis->span_ns;
    const double second_ns = (double)runs[1].analysis->span_ns;
    if (self->fail_above && second_ns > first_ns * (1 + share_of(self->fail_above)))
        self->given.exit_code = 1;
    return cli_answer_write(&self->given.results, &answer, error);
}

static haul_status compare(void *request, haul_error *error)
{
    compare_request *self = request;
    haul_workload *of[2] = {NULL, NULL};
    haul_analysis *analyses[2] = {NULL, NULL};
    haul_comparison comparison = {0};
    haul_soundness judged[2] = {{.is_sound = false}, {.is_sound = false}};
    haul_compared_run runs[2];
    haul_error unknown;
    haul_status status = HAUL_OK;
    for (int i = 0; !status && i < 2; i++)
        status = cli_profiles_load(&self->given.operands[i], 1, &of[i], error);
    for (int i = 0; !status && i < 2; i++)
        status = haul_analysis_make(of[i], &analyses[i], error);
    if (!status)
        status = haul_comparison_make(of[0], of[1], &comparison, error);
    /* A profile that cannot be replayed has a reason, which is no error of the comparison. */
    for (int i = 0; !status && i < 2; i++) {
        if (haul_soundness_check(of[i], &judged[i], &unknown) == HAUL_STATUS_NO_MEMORY)
            status = haul_error_set(error, HAUL_STATUS_NO_MEMORY, "out of memory");
        runs[i] = (haul_compared_run){of[i], analyses[i], judged[i].why};
    }
    if (!status)
        status = write_answer(self, runs, &comparison, error);
    haul_comparison_release(&comparison);
    for (int i = 0; i < 2; i++) {
        haul_analysis_free(analyses[i]);
        haul_workload_free(of[i]);
    }
    return status;
}

const cli_command cli_compare = {
    .name = "compare",
    .summary = "two profiles of one program, side by side",
    .synopsis = "FIRST SECOND [options]",
    .about = about,
    .options = options,
    .operand = {.name = "profile", .takes = "PROFILE"},
    .least = 2,
    .most = 2,
    .csv = "a row for each difference",
    .examples = {"haul compare before.sqlite after.sqlite --html both.html",
                 "haul compare before.sqlite after.sqlite --fail-above 5%"},
    .exits =
        "1 the second run takes longer than --fail-above allows, 3 a profile that cannot be read",
    .has_report = true,
    .has_html = true,
    .size = sizeof(compare_request),
    .check = check,
    .act = compare,
};
