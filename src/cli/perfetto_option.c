/* --perfetto FILE, which several commands have. */
#include "cli/command.h"

haul_status cli_perfetto_write(const char *path, const haul_drawn *timelines, size_t count,
                               haul_error *error)
{
    if (!path)
        return HAUL_OK;
    FILE *out;
    haul_status status = cli_output_open(path, &out, error);
    if (status)
        return status;
    haul_thinned thinned;
    status = haul_report_perfetto(timelines, count, 0, out, &thinned, error);
    status = cli_output_finish(out, path, status, error);
    char left_out[512];
    if (!status && *haul_thinned_text(&thinned, left_out, sizeof left_out))
        fprintf(stderr, "haul: %s: to stay below %d MB, %s\n", path, HAUL_TRACE_BYTES / 1000000,
                left_out);
    return status;
}
