#include "cli/profile_output.h"

static const char usage[] =
    "haul convert TRACE... -o OUT.sqlite|OUT.json\n"
    "\n"
    "Writes a profile of any kind that 'haul analyze' reads for other tools: as SQLite with the\n"
    "tables of Nsight Systems' export, or as the JSON of PyTorch's profiler, which Chrome and\n"
    "Perfetto show.\n"
    "\n"
    "options:\n"
    "  -o, --output FILE             what to write; its name ends in .sqlite or .json\n"
    "  -h, --help                    print this\n"
    "\n"
    "exit code: 0 done, 2 wrong use, 3 a profile that cannot be read\n";

static haul_status write_all(const cli_arguments *arguments, const char *output, haul_error *error)
{
    haul_workload *workload;
    haul_status status = cli_profiles_load((const char *const *)arguments->operands,
                                           (size_t)arguments->count, &workload, error);
    if (status)
        return status;
    status = cli_profile_write(workload, output, error);
    haul_workload_free(workload);
    return status;
}

static int run(const cli_command *self, int argc, char **argv)
{
    const char *output = NULL;
    const cli_option options[] = {{.name = "output", .value = &output, .letter = 'o'}, {0}};
    cli_arguments arguments = {.options = options};
    int code = cli_arguments_read(self, argc, argv, &arguments);
    if (code == CLI_GO_ON)
        code = cli_profile_output_check(self, &arguments, output);
    if (code != CLI_GO_ON)
        return code;
    haul_error error;
    return write_all(&arguments, output, &error) ? cli_fail(&error) : 0;
}

const cli_command cli_convert = {.name = "convert",
                                 .summary = "a profile as SQLite or JSON for other tools",
                                 .usage = usage,
                                 .run = run};
