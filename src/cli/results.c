/* Where results go: reports, pages, traces. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "haul/trace.h"

static haul_status fail_write(const char *path, haul_error *error)
{
    char reason[128];
    if (!errno || strerror_r(errno, reason, sizeof reason))
        snprintf(reason, sizeof reason, "unknown reason");
    return haul_fail(error, HAUL_IO, "cannot write '%.300s': %s", path ? path : "standard output",
                     reason);
}

haul_status cli_output_open(const char *path, FILE **out, haul_error *error)
{
    if (!path || !strcmp(path, "-")) {
        *out = stdout;
        return HAUL_OK;
    }
    FILE *file = fopen(path, "w");
    if (!file)
        return fail_write(path, error);
    *out = file;
    return HAUL_OK;
}

haul_status cli_output_finish(FILE *out, const char *path, haul_status status, haul_error *error)
{
    const bool has_failed = ferror(out);
    errno = 0;
    if (has_failed) { /* some time ago: what for, another attempt says */
        clearerr(out);
        fputc('\n', out);
    }
    if (fflush(out) || has_failed)
        status = fail_write(path, error);
    if (out != stdout && fclose(out) && !status)
        status = fail_write(path, error);
    return status;
}

const char *cli_overwritten(const char *output, const char *const *inputs, size_t count)
{
    struct stat there, input;
    if (!output || stat(output, &there) || !S_ISREG(there.st_mode))
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (inputs[i] && !stat(inputs[i], &input) && input.st_dev == there.st_dev &&
            input.st_ino == there.st_ino)
            return inputs[i];
    return NULL;
}

haul_status cli_report(const cli_results *results, haul_report *report, haul_error *error)
{
    const bool is_taken = results->makes_file && results->output && !strcmp(results->output, "-");
    const char *path = results->makes_file ? NULL : results->output;
    FILE *out = stderr;
    haul_status status = is_taken ? HAUL_OK : cli_output_open(path, &out, error);
    if (!status) {
        status = haul_report_write(report, &results->options, out, error);
        status = is_taken ? status : cli_output_finish(out, path, status, error);
    }
    haul_report_free(report);
    return status;
}

static haul_status write_page(const cli_results *results, const haul_page *page, haul_error *error)
{
    FILE *out = NULL;
    haul_status status = cli_output_open(results->html, &out, error);
    if (status)
        return status;
    status = haul_page_write(page, out, error);
    return cli_output_finish(out, results->html, status, error);
}

haul_status cli_page(const cli_results *results, haul_page *page, haul_report **reports,
                     size_t count, haul_error *error)
{
    page->command = results->command;
    page->reports = (const haul_report *const *)reports;
    page->report_count = count;
    const haul_status status = results->html ? write_page(results, page, error) : HAUL_OK;
    for (size_t i = 0; i < count; i++)
        haul_report_free(reports[i]);
    return status;
}

haul_status cli_perfetto(const cli_results *results, const haul_drawn *timelines, size_t count,
                         haul_error *error)
{
    FILE *out = NULL;
    if (!results->perfetto)
        return HAUL_OK;
    haul_status status = cli_output_open(results->perfetto, &out, error);
    if (status)
        return status;
    haul_thinned thinned;
    status = haul_report_perfetto(timelines, count, 0, out, &thinned, error);
    status = cli_output_finish(out, results->perfetto, status, error);
    char left_out[512];
    if (!status && *haul_thinned_text(&thinned, left_out, sizeof left_out))
        fprintf(stderr, "haul: %s: to stay below %d MB, %s\n", results->perfetto,
                HAUL_TRACE_BYTES / 1000000, left_out);
    return status;
}

haul_status cli_profiles_load(const char *const *paths, size_t count, haul_workload **workload,
                              haul_error *error)
{
    cli_progress_begin("reading", paths[0]);
    const haul_status status = haul_trace_load_ranks(paths, count, workload, error);
    cli_progress_end();
    return status;
}

haul_status cli_profile_load(const char *path, haul_workload **workload, haul_error *error)
{
    return cli_profiles_load(&path, 1, workload, error);
}

const char *cli_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}
