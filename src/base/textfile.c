#include "base/textfile.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/fail.h"
#include "base/grow.h"

enum { STEP_BYTES = 256 * 1024 };

static haul_status fail_in(const char *path, haul_status status, const char *text,
                           haul_error *error)
{
    haul_fail(error, status, "%s", text);
    haul_error_in_file(error, path);
    return status;
}

static haul_status read_all(gzFile file, const char *path, size_t limit, char **text, size_t *size,
                            haul_error *error)
{
    size_t capacity = 0;
    for (;;) {
        if (!haul_grow(text, &capacity, *size + STEP_BYTES + 1, 1))
            return haul_fail_no_memory(error);
        const int got = gzread(file, *text + *size, STEP_BYTES);
        int state = Z_OK;
        /* a truncated gzip file reads as a short one, and only its state tells */
        (void)gzerror(file, &state);
        if (state == Z_ERRNO)
            return haul_fail_read(error, path);
        if (got < 0 || (got == 0 && state != Z_OK && state != Z_STREAM_END))
            return fail_in(path, HAUL_IO, "cannot read all of it: damaged or cut short", error);
        if (!got)
            break;
        *size += (size_t)got;
        if (*size > limit)
            return fail_in(path, HAUL_BAD_INPUT, "larger than such a file can be", error);
    }
    (*text)[*size] = '\0';
    return HAUL_OK;
}

haul_status haul_textfile_read(const char *path, size_t limit, char **text, size_t *size,
                               haul_error *error)
{
    errno = 0;
    gzFile file = gzopen(path, "rb");
    if (!file)
        return haul_fail_open(error, path);
    char *all = NULL;
    size_t count = 0;
    const haul_status status = read_all(file, path, limit, &all, &count, error);
    (void)gzclose(file);
    if (status) {
        free(all);
        return status;
    }
    *text = all;
    *size = count;
    return HAUL_OK;
}
