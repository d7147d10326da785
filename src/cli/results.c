/* Where results go and in which form: options that the commands which report have in common. */
#include <string.h>

#include "cli/command.h"

haul_status cli_format_parse(const char *text, haul_format *format, haul_error *error)
{
    static const char *const names[] = {"table", "json", "csv"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(text, names[i])) {
            *format = (haul_format)i;
            return HAUL_OK;
        }
    *error = (haul_error){.status = HAUL_USAGE};
    snprintf(error->text, sizeof error->text, "no format '%.40s': table, json or csv", text);
    return error->status;
}

static const char *skip_here(const char *path)
{
    while (path[0] == '.' && path[1] == '/' && path[2])
        path += 2;
    return path;
}

/* By name, for they may not be there yet; or one file of two names. */
static bool is_same_place(const char *a, const char *b)
{
    return !strcmp(skip_here(a), skip_here(b)) || cli_overwritten(a, &b, 1);
}

int cli_results_check(const cli_command *self, cli_results *results, const char *const *inputs,
                      size_t count)
{
    haul_error error;
    if (results->form && cli_format_parse(results->form, &results->format, &error))
        return cli_usage(self, "%s", error.text);
    const struct {
        const char *path;
        const char *name;
    } outputs[] = {
        {results->html, "--html"},
        {results->perfetto, "--perfetto"},
        {results->output ? results->output : "-", "the report"},
    };
    enum { OUTPUTS = sizeof outputs / sizeof *outputs };
    for (size_t i = 0; i < OUTPUTS; i++) {
        const char *lost = cli_overwritten(outputs[i].path, inputs, count);
        if (lost)
            return cli_usage(self, "'%s' would be overwritten by the report", lost);
        for (size_t j = i + 1; outputs[i].path && j < OUTPUTS; j++)
            if (outputs[j].path && is_same_place(outputs[i].path, outputs[j].path))
                return cli_usage(self, "%s and %s would go to the same place", outputs[i].name,
                                 outputs[j].name);
    }
    return CLI_GO_ON;
}

haul_status cli_page_write(const char *path, const haul_page *page, haul_error *error)
{
    if (!path)
        return HAUL_OK;
    FILE *out;
    haul_status status = cli_output_open(path, &out, error);
    if (status)
        return status;
    status = haul_page_write(page, out, error);
    return cli_output_finish(out, path, status, error);
}

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
