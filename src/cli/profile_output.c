/* Profiles as files of other tools: SQLite as Nsight Systems exports it, JSON as PyTorch's
 * profiler, arrays as NumPy loads them. */
#include "cli/profile_output.h"

#include <string.h>
#include <sys/stat.h>

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && !strcmp(text + length - tail, end);
}

static haul_status write_file(const haul_workload *workload, const char *path, haul_error *error)
{
    FILE *out;
    const bool is_json = ends_with(path, ".json");
    if (!is_json && !ends_with(path, ".npz"))
        return haul_trace_write_sqlite(workload, path, error);
    HAUL_TRY(cli_output_open(path, &out, error));
    return cli_output_finish(out, path,
                             is_json ? haul_trace_write_json(workload, out, error)
                                     : haul_trace_write_npz(workload, out, error),
                             error);
}

/* To tell any loss of the file's format, the file is read back. */
haul_status cli_profile_write(const haul_workload *workload, const char *path, haul_error *error)
{
    char lost[600];
    HAUL_TRY(write_file(workload, path, error));
    struct stat is;
    if (ends_with(path, ".npz") || stat(path, &is) || !S_ISREG(is.st_mode))
        return HAUL_OK; /* which haul does not read */
    HAUL_TRY(haul_trace_written_check(workload, path, lost, sizeof lost, error));
    if (*lost)
        (void)fprintf(stderr, "haul: %s: read back, these differ from the profile: %s\n", path,
                      lost);
    return HAUL_OK;
}

haul_status cli_profile_output_check(void *request, haul_error *error)
{
    const char *output = ((const cli_request *)request)->results.output;
    if (ends_with(output, ".sqlite") || ends_with(output, ".json") || ends_with(output, ".npz"))
        return HAUL_OK;
    return haul_error_set(error, HAUL_STATUS_USAGE,
                          "'%.200s' ends in none of .sqlite, .json and .npz", output);
}
