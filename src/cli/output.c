/* Files that results go to. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"

static haul_status fail_io(const char *path, const char *what, haul_error *error)
{
    char reason[128];
    if (!errno || strerror_r(errno, reason, sizeof reason))
        snprintf(reason, sizeof reason, "unknown reason");
    *error = (haul_error){.status = HAUL_IO};
    snprintf(error->text, sizeof error->text, "cannot %s '%.300s': %s", what,
             path ? path : "standard output", reason);
    return error->status;
}

haul_status cli_output_open(const char *path, FILE **out, haul_error *error)
{
    if (!path || !strcmp(path, "-")) {
        *out = stdout;
        return HAUL_OK;
    }
    FILE *file = fopen(path, "w");
    if (!file)
        return fail_io(path, "write", error);
    *out = file;
    return HAUL_OK;
}

haul_status cli_output_close(FILE *out, const char *path, haul_error *error)
{
    const bool has_failed = ferror(out);
    errno = 0;
    if (has_failed) { /* some time ago: what for, another attempt says */
        clearerr(out);
        fputc('\n', out);
    }
    const int flushed = fflush(out);
    const haul_status status = has_failed || flushed ? fail_io(path, "write", error) : HAUL_OK;
    const int closed = out == stdout ? 0 : fclose(out);
    return !status && closed ? fail_io(path, "write", error) : status;
}

haul_status cli_output_finish(FILE *out, const char *path, haul_status status, haul_error *error)
{
    haul_error closing;
    const haul_status closed = cli_output_close(out, path, &closing);
    if (!closed)
        return status;
    *error = closing;
    return closed;
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
