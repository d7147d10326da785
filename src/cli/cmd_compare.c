#include "cli/command.h"
#include "haul/compare.h"

static const char usage[] =
    "haul compare FIRST SECOND [--format table|json|csv] [-o FILE]\n"
    "\n"
    "Compares two profiles of the same program: of two machines, or of two versions. Kernels are\n"
    "matched by name, copies by direction and size, each in order; the largest differences of "
    "time\n"
    "come first. Operations that only one of them has are counted.\n"
    "\n"
    "options:\n"
    "  --format table|json|csv       how to print (docs/json.md)\n"
    "  -o, --output FILE             print to a file\n"
    "  --top N                       rows to show\n"
    "  -h, --help                    print this\n"
    "\n"
    "exit code: 0 done, 2 wrong use, 3 a profile that cannot be read\n";

static haul_status compare(const cli_results *results, char **profiles, haul_error *error)
{
    haul_workload *a = NULL, *b = NULL;
    haul_comparison comparison = {0};
    haul_status status = cli_profile_load(profiles[0], &a, error);
    if (!status)
        status = cli_profile_load(profiles[1], &b, error);
    if (!status)
        status = haul_compare(a, b, &comparison, error);
    if (!status)
        status = cli_report(results, haul_report_comparison(a, b, &comparison), error);
    haul_comparison_release(&comparison);
    haul_workload_free(b);
    haul_workload_free(a);
    return status;
}

static int run(const cli_command *self, int argc, char **argv)
{
    cli_results results = {0};
    cli_arguments arguments = {.results = &results};
    const int code = cli_arguments_read(self, argc, argv, &arguments);
    if (code != CLI_GO_ON)
        return code;
    if (arguments.count != 2)
        return cli_usage(self, "expected two profiles");
    haul_error error;
    return compare(&results, arguments.operands, &error) ? cli_fail(&error) : 0;
}

const cli_command cli_compare = {.name = "compare",
                                 .summary = "two profiles of one program, side by side",
                                 .usage = usage,
                                 .run = run};
