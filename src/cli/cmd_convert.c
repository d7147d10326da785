/* haul convert: a profile for other tools. */
#include "cli/profile_output.h"

static const char about[] =
    "Writes a profile of any kind that 'haul analyze' reads for other tools: as SQLite with the\n"
    "tables of Nsight Systems' export, or as the JSON of PyTorch's profiler, which Chrome and\n"
    "Perfetto show.\n";

typedef struct convert_request {
    cli_request given;
    haul_workload *profile;
} convert_request;

static const cli_option options[] = {
    {"output", "FILE", CLI_TEXT, offsetof(convert_request, given.results.output),
     PROFILE_OUTPUT_HELP, .letter = 'o', .missing = PROFILE_OUTPUT_MISSING},
    {0},
};

static haul_status convert(void *request, haul_error *error)
{
    const convert_request *self = request;
    return cli_profile_write(self->profile, self->given.results.output, error);
}

const cli_command cli_convert = {
    .name = "convert",
    .summary = "a profile as SQLite or JSON for other tools",
    .synopsis = "PROFILE... -o OUT.sqlite|OUT.json",
    .about = about,
    .options = options,
    .operand = {.name = "profile",
                .takes = "PROFILE",
                .kind = CLI_PROFILE,
                .at = offsetof(convert_request, profile)},
    .least = 1,
    .most = SIZE_MAX,
    .output = PROFILE_OUTPUT_HELP,
    .examples = {"haul convert app.nsys-rep -o app.json",
                 "haul convert rank0.sqlite rank1.sqlite -o app.sqlite"},
    .exits = "3 a profile that cannot be read",
    .size = sizeof(convert_request),
    .check = cli_profile_output_check,
    .act = convert,
};
