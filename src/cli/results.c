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

int cli_results_check(const cli_command *self, cli_results *results, const char *const *inputs,
                      size_t count)
{
    haul_error error;
    if (results->form && cli_format_parse(results->form, &results->format, &error))
        return cli_usage(self, "%s", error.text);
    const char *const outputs[] = {results->output, results->html, results->perfetto};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        const char *lost = cli_overwritten(outputs[i], inputs, count);
        if (lost)
            return cli_usage(self, "'%s' would be overwritten by the report", lost);
    }
    const char *html = results->html;
    if (html && !strcmp(html, results->output ? results->output : "-"))
        return cli_usage(self, "--html and the report would go to the same place");
    return 0;
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
