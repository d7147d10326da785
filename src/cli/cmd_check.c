/* haul check: whether a profile keeps the limits that its authors set, for CI. */
#include "cli/command.h"
#include "haul/budget.h"

static const char about[] =
    "Checks a profile against limits, and exits with 1 where one is broken: for CI. The limits "
    "are\n"
    "a YAML file, in which each key may be left out:\n"
    "\n"
    "  haul-budget: 1\n"
    "  span: 120 ms                # from the first start to the last end of a device's operation\n"
    "  idle: 20%                   # of the span: no device works\n"
    "  exposed_copies: 10%         # of the span: copies run, and no kernel\n"
    "  exposed_communication: 10%  # of the span: collectives run, and no kernel that computes\n"
    "  copied: 2 GiB               # by copies of all directions\n"
    "  copies: 400\n"
    "  kernels:                    # by names with * and ?, of each the sum\n"
    "  - {name: '*gemm*', time: 30 ms, count: 100}\n";

typedef struct check_request {
    cli_request given;
    haul_workload *profile;
    const char *budget;
} check_request;

#define OF(field) offsetof(check_request, field)

static const cli_option options[] = {
    {"budget", "FILE", CLI_TEXT, OF(budget), .help = "the limits",
     .missing = "which limits? --budget FILE", .is_input = true},
    {"junit", "FILE", CLI_TEXT, OF(given.results.junit),
     .help = "write the answer as JUnit's XML, too: a test for each limit"},
    {0},
};

static haul_status check(void *request, haul_error *error)
{
    check_request *self = request;
    haul_budget *budget = NULL;
    haul_analysis *analysis = NULL;
    haul_status status = haul_budget_load(self->budget, &budget, error);
    if (!status)
        status = haul_analysis_make(self->profile, &analysis, error);
    if (!status)
        status = haul_budget_check(budget, self->profile, analysis, error);
    const char *const junit = self->given.results.junit;
    FILE *out = NULL;
    if (!status && junit)
        status = cli_output_open(junit, &out, error);
    if (!status && junit)
        status = cli_output_finish(out, junit, haul_budget_junit_write(budget, out, error), error);
    if (!status)
        status = cli_report(&self->given.results, haul_report_budget(self->profile, budget), error);
    if (!status && budget->broken)
        self->given.exit_code = 1;
    haul_analysis_free(analysis);
    haul_budget_free(budget);
    return status;
}

const cli_command cli_check = {
    .name = "check",
    .summary = "a profile against limits of time, idle time and copies, for CI",
    .synopsis = "PROFILE... --budget FILE [options]",
    .about = about,
    .options = options,
    .operand = {.name = "profile",
                .takes = "PROFILE",
                .kind = CLI_PROFILE,
                .at = offsetof(check_request, profile)},
    .least = 1,
    .most = SIZE_MAX,
    .csv = "a row for each limit",
    .examples =
        {"haul check app.sqlite --budget budget.yaml --junit haul.xml",
         "haul check app.sqlite --budget budget.yaml --format markdown >>$GITHUB_STEP_SUMMARY"},
    .exits = "1 a limit is broken, 3 a profile or budget that cannot be read",
    .has_report = true,
    .has_selection = true,
    .size = sizeof(check_request),
    .act = check,
};
