/* haul compare: two profiles of one program, side by side. */
#include "cli/command.h"
#include "haul/compare.h"

static const char about[] =
    "Compares two profiles of the same program: of two machines, or of two versions. Kernels are\n"
    "matched by name, copies by direction and size, each in order; the largest differences of\n"
    "time come first. Operations that only one of them has are counted.\n";

static haul_status compare(void *request, haul_error *error)
{
    const cli_request *given = request;
    haul_workload *a = NULL, *b = NULL;
    haul_comparison comparison = {0};
    haul_status status = cli_profiles_load(&given->operands[0], 1, &a, error);
    if (!status)
        status = cli_profiles_load(&given->operands[1], 1, &b, error);
    if (!status)
        status = haul_compare(a, b, &comparison, error);
    if (!status)
        status = cli_report(&given->results, haul_report_comparison(a, b, &comparison), error);
    haul_comparison_release(&comparison);
    haul_workload_free(b);
    haul_workload_free(a);
    return status;
}

const cli_command cli_compare = {
    .name = "compare",
    .summary = "two profiles of one program, side by side",
    .synopsis = "FIRST SECOND [options]",
    .about = about,
    .operand = {.name = "profile", .takes = "PROFILE"},
    .least = 2,
    .most = 2,
    .csv = "a row for each difference",
    .examples = {"haul compare before.sqlite after.sqlite",
                 "haul compare before.sqlite after.sqlite --format csv -o changes.csv"},
    .exits = "3 a profile that cannot be read",
    .has_report = true,
    .size = sizeof(cli_request),
    .act = compare,
};
