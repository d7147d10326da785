/* Filling a haul_error once, where the cause is known. */
#ifndef HAUL_BASE_FAIL_H
#define HAUL_BASE_FAIL_H

#include <stdarg.h>

#include "haul/status.h"

/* As haul_error_set (haul/status.h): each fills `error`, which may be NULL, and returns the status.
 */
haul_status hl_base_fail_no_memory(haul_error *error);

/* A file that cannot be opened, read or made longer, with the reason that errno holds: IO. */
haul_status hl_base_fail_open(haul_error *error, const char *path);
haul_status hl_base_fail_read(haul_error *error, const char *path);
haul_status hl_base_fail_extend(haul_error *error, const char *path);

/* Before a file is written beside `path` and takes its place: fails with IO where something other
 * than a file is there, such as /dev/null, which it would replace. */
haul_status hl_base_check_replaced(const char *path, haul_error *error);

/* Where in a text file; line or column 0 is not told. */
typedef struct hl_base_place {
    const char *file;
    int line;
    int column;
} hl_base_place;

/* Fails with BAD_INPUT at a place. */
haul_status hl_base_fail_at(haul_error *error, hl_base_place place, const char *format, ...)
    HAUL_PRINTF(3, 4);
haul_status hl_base_vfail_at(haul_error *error, hl_base_place place, const char *format,
                             va_list args) HAUL_PRINTF(3, 0);

/* Puts words before the text of an error that is filled, cut where both do not fit: "WORDS: TEXT".
 * Returns its status. */
haul_status hl_base_error_before(haul_error *error, const char *format, ...) HAUL_PRINTF(2, 3);

/* Adds the place to an error that is already filled, where it has none yet. */
void hl_base_error_in_file(haul_error *error, const char *file);
void hl_base_error_at(haul_error *error, hl_base_place place);
void hl_base_error_in_table(haul_error *error, const char *file, const char *table, int64_t row);

#endif
