#include "cli/profile_output.h"

#include <string.h>

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && !strcmp(text + length - tail, end);
}

haul_status cli_profile_write(const haul_workload *workload, const char *path, haul_error *error)
{
    FILE *out;
    if (!ends_with(path, ".json"))
        return haul_trace_write_sqlite(workload, path, error);
    const haul_status status = cli_output_open(path, &out, error);
    return status
               ? status
               : cli_output_finish(out, path, haul_trace_write_json(workload, out, error), error);
}

int cli_profile_output_check(const cli_command *self, const cli_arguments *arguments,
                             const char *output)
{
    if (!arguments->count)
        return cli_usage(self, "which profile?");
    if (!output)
        return cli_usage(self, "where to? give --output FILE");
    if (!ends_with(output, ".sqlite") && !ends_with(output, ".json"))
        return cli_usage(self, "'%s' ends in neither .sqlite nor .json", output);
    const char *const lost =
        cli_overwritten(output, (const char *const *)arguments->operands, (size_t)arguments->count);
    return lost ? cli_usage(self, "'%s' would be overwritten", lost) : CLI_GO_ON;
}
