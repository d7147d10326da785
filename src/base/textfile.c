/* Read through the byte source, so that a gzipped file is as good as a plain one. */
#include "base/textfile.h"

#include <stdlib.h>

#include "base/byte_source.h"
#include "base/fail.h"
#include "base/grow.h"

enum { STEP_BYTES = 256 * 1024 };

static haul_status read_all(hl_base_byte_source *source, const char *path, size_t limit,
                            char **text, size_t *size, haul_error *error)
{
    size_t capacity = 0, got;
    do {
        /* The size is not asked for in advance: that of a gzipped file says little about its
         * text. */
        if (!hl_base_grow(text, &capacity, *size + STEP_BYTES + 1, 1))
            return hl_base_fail_no_memory(error);
        HAUL_TRY(hl_base_byte_source_read(source, *text + *size, STEP_BYTES, &got, error));
        *size += got;
        /* At each step, so that a small file that unpacks to gigabytes is refused early. */
        if (*size > limit) {
            haul_error_set(error, HAUL_STATUS_BAD_INPUT, "larger than such a file can be");
            hl_base_error_in_file(error, path);
            return HAUL_STATUS_BAD_INPUT;
        }
        /* The byte source gives fewer bytes than asked for at the end alone. */
    } while (got == STEP_BYTES);
    (*text)[*size] = '\0';
    return HAUL_OK;
}

haul_status hl_base_textfile_read(const char *path, size_t limit, char **text, size_t *size,
                                  haul_error *error)
{
    hl_base_byte_source *source;
    HAUL_TRY(hl_base_byte_source_open(path, &source, error));
    char *all = NULL;
    size_t count = 0;
    haul_status status = read_all(source, path, limit, &all, &count, error);
    hl_base_byte_source_close(source);
    if (status) {
        free(all);
        return status;
    }
    *text = all;
    *size = count;
    return HAUL_OK;
}
