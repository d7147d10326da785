/* Where results go: reports, pages, traces. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "haul/trace.h"

static haul_status fail_write(const char *path, haul_error *error)
{
    char reason[128];
    if (!errno || strerror_r(errno, reason, sizeof reason))
        snprintf(reason, sizeof reason, "unknown reason");
    return haul_error_set(error, HAUL_STATUS_IO, "cannot write '%.300s': %s",
                          path ? path : "standard output", reason);
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

haul_status cli_output_try(const char *path, haul_error *error)
{
    if (!path || !strcmp(path, "-"))
        return HAUL_OK;
    const bool is_new = access(path, F_OK) != 0;
    FILE *file = fopen(path, "a");
    if (!file)
        return fail_write(path, error);
    (void)fclose(file);
    if (is_new)
        (void)unlink(path);
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
    if (status && out != stdout) {
        /* An ordinary file that could not be written to its end is removed. */
        struct stat is;
        if (!fstat(fileno(out), &is) && S_ISREG(is.st_mode))
            (void)unlink(path);
    }
    if (out != stdout && fclose(out) && !status)
        status = fail_write(path, error);
    return status;
}

haul_status cli_machine_write(const haul_machine *machine, const char *path, haul_error *error)
{
    FILE *out = NULL;
    HAUL_TRY(cli_output_open(path, &out, error));
    return cli_output_finish(out, path, haul_machine_write(machine, out, error), error);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether a profile that a folder stands for is this file, under whatever name. */
static bool folder_reads(const char *folder, const struct stat *file)
{
    bool found = false;
    DIR *const entries = opendir(folder);
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this function's own
    for (const struct dirent *entry; !found && entries && (entry = readdir(entries));) {
        struct stat is;
        found = haul_trace_name_is_profile(entry->d_name) &&
                !fstatat(dirfd(entries), entry->d_name, &is, 0) && is_same_file(&is, file);
    }
    if (entries)
        (void)closedir(entries);
    return found;
}

const char *cli_overwritten(const char *output, const cli_texts *inputs)
{
    struct stat there, input;
    if (!output || stat(output, &there) || !S_ISREG(there.st_mode))
        return NULL;
    for (size_t i = 0; i < inputs->count; i++) {
        const char *const path = inputs->items[i];
        if (!stat(path, &input) &&
            (S_ISDIR(input.st_mode) ? folder_reads(path, &there) : is_same_file(&input, &there)))
            return S_ISDIR(input.st_mode) ? output : path;
    }
    return NULL;
}

static const char *skip_here(const char *path)
{
    while (path[0] == '.' && path[1] == '/' && path[2])
        path += 2;
    return path;
}

enum { LONGEST_PATH = 4096, MOST_LINKS = 8 };

/* The target of a link, also where it does not exist yet; `text` has LONGEST_PATH bytes. */
static const char *behind_links(const char *path, char *text)
{
    for (int i = 0; i < MOST_LINKS; i++) {
        char target[LONGEST_PATH], whole[2 * LONGEST_PATH];
        const ssize_t length = readlink(path, target, sizeof target - 1);
        if (length <= 0)
            break;
        target[length] = '\0';
        const char *slash = target[0] == '/' ? NULL : strrchr(path, '/');
        (void)snprintf(whole, sizeof whole, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path,
                       target);
        const size_t bytes = strlen(whole) + 1;
        if (bytes > LONGEST_PATH)
            break;
        path = memcpy(text, whole, bytes);
    }
    return path;
}

/* By name, for they may not be there yet; or one file of two names. */
bool cli_same_place(const char *a, const char *b)
{
    char behind_a[LONGEST_PATH], behind_b[LONGEST_PATH];
    return !strcmp(skip_here(behind_links(a, behind_a)), skip_here(behind_links(b, behind_b))) ||
           cli_overwritten(a, &(cli_texts){&b, 1});
}

/* Narrower ones hold no table. */
enum { LEAST_WIDTH = 40, MOST_WIDTH = 1000 };

uint64_t cli_width(const cli_results *results, FILE *out)
{
    const char *columns =
        getenv("COLUMNS"); // NOLINT(concurrency-mt-unsafe): the program has one thread
    struct winsize size;
    uint64_t width = results->options.width;
    if (!width && columns)
        width = strtoul(columns, NULL, 10);
    if (!width && isatty(fileno(out)) && !ioctl(fileno(out), TIOCGWINSZ, &size))
        width = size.ws_col;
    if (width > MOST_WIDTH)
        return MOST_WIDTH;
    return width && width < LEAST_WIDTH ? LEAST_WIDTH : width;
}

static haul_status write_report(const cli_results *results, const haul_report *report,
                                haul_error *error)
{
    const bool is_taken = results->keeps_output && results->output && !strcmp(results->output, "-");
    const char *path = results->keeps_output ? NULL : results->output;
    FILE *out = stderr;
    HAUL_TRY(is_taken ? HAUL_OK : cli_output_open(path, &out, error));
    haul_report_options options = results->options;
    /* Of a terminal, unless its user wants none (no-color.org). */
    const char *none =
        getenv("NO_COLOR"); // NOLINT(concurrency-mt-unsafe): the program has one thread
    const char *terminal = getenv("TERM"); // NOLINT(concurrency-mt-unsafe): likewise
    options.colour =
        !(none && *none) && !(terminal && !strcmp(terminal, "dumb")) && isatty(fileno(out));
    options.width = cli_width(results, out);
    haul_status status = haul_report_write(report, &options, out, error);
    return is_taken ? status : cli_output_finish(out, path, status, error);
}

haul_status cli_report(const cli_results *results, haul_report *report, haul_error *error)
{
    const haul_status status = write_report(results, report, error);
    haul_report_free(report);
    return status;
}

static haul_status write_page(const cli_results *results, cli_answer *answer, haul_error *error)
{
    enum { REPORTS = 4 };
    haul_report *reports[REPORTS] = {0};
    const haul_report *shown[REPORTS];
    haul_analysis *analysis = NULL;
    FILE *out = NULL;
    size_t count = 0;
    if (answer->analyzed)
        HAUL_TRY(haul_analysis_make(answer->analyzed, &analysis, error));
    shown[count++] = answer->report;
    if (analysis) {
        answer->page.analysis = analysis;
        shown[count] = reports[count] = haul_report_analysis(answer->analyzed, analysis);
        count++;
    }
    for (int i = 0; i < 2; i++)
        if (answer->machines[i]) {
            shown[count] = reports[count] = haul_report_machine(answer->machines[i]);
            count++;
        }
    answer->page.command = results->command;
    answer->page.reports = shown;
    answer->page.report_count = count;
    haul_status status = cli_output_open(results->html, &out, error);
    if (!status)
        status = cli_output_finish(out, results->html, haul_page_write(&answer->page, out, error),
                                   error);
    for (int i = 0; i < REPORTS; i++)
        haul_report_free(reports[i]);
    haul_analysis_free(analysis);
    return status;
}

/* Tells the user on stderr how much the trace leaves out. */
static haul_status write_trace(const cli_results *results, const cli_answer *answer,
                               haul_error *error)
{
    FILE *out = NULL;
    if (answer->undrawn)
        return haul_error_set(error, HAUL_STATUS_MISSING,
                              "no timeline on the target to draw: %.400s", answer->undrawn);
    HAUL_TRY(cli_output_open(results->perfetto, &out, error));
    haul_thinned thinned;
    const haul_drawn *timelines = answer->page.timelines;
    haul_drawn alone = timelines[0]; /* needs no label in a trace */
    alone.label = NULL;
    const size_t count = answer->page.timeline_count;
    haul_status status =
        haul_report_perfetto(count > 1 ? timelines : &alone, count, 0, out, &thinned, error);
    status = cli_output_finish(out, results->perfetto, status, error);
    char left_out[512];
    if (!status && *haul_thinned_text(&thinned, left_out, sizeof left_out))
        fprintf(stderr, "haul: %s: to stay below %d MB, %s\n", results->perfetto,
                HAUL_TRACE_BYTES / 1000000, left_out);
    return status;
}

haul_status cli_answer_write(const cli_results *results, cli_answer *answer, haul_error *error)
{
    haul_status status = write_report(results, answer->report, error);
    if (!status && results->html)
        status = write_page(results, answer, error);
    if (!status && results->perfetto)
        status = write_trace(results, answer, error);
    haul_report_free(answer->report);
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

const char *cli_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}
