/* Profiles as files of other tools: SQLite as Nsight Systems exports it, JSON as PyTorch's
 * profiler. */
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

haul_status cli_profile_output_check(void *request, haul_error *error)
{
    const char *output = ((const cli_request *)request)->results.output;
    if (ends_with(output, ".sqlite") || ends_with(output, ".json"))
        return HAUL_OK;
    return haul_fail(error, HAUL_USAGE, "'%.200s' ends in neither .sqlite nor .json", output);
}
