/* Temporary files: SQLite opens files by name alone, and finding a format looks at a file twice. */
#ifndef HAUL_TRACE_TEMPORARY_H
#define HAUL_TRACE_TEMPORARY_H

#include <stdbool.h>
#include <stddef.h>

#include "haul/status.h"

enum { HL_TRACE_LONGEST_PATH = 4096 + 32 };

/* One that is filled first gets its name when it is whole: ended before that, the program leaves
 * nothing behind. */
typedef struct hl_trace_temporary {
    const char *folder;
    char name[HL_TRACE_LONGEST_PATH]; /* "" while it has none */
    int file;
} hl_trace_temporary;

/* Makes one in TMPDIR, else in /tmp. Release it where this succeeded. */
haul_status hl_trace_temporary_make(hl_trace_temporary *self, bool needs_name, haul_error *error);

/* Gives it a name, where it has none. */
haul_status hl_trace_temporary_name(hl_trace_temporary *self, haul_error *error);

haul_status hl_trace_temporary_write(const hl_trace_temporary *self, const char *bytes,
                                     size_t count, haul_error *error);

/* Closes and removes it; a file that is open elsewhere lives on without its name. */
void hl_trace_temporary_release(hl_trace_temporary *self);

/* Whether a path is "-", standard input, or a pipe. */
bool hl_trace_is_stream(const char *path);

/* Makes a named file of all that a stream gives, as long as it leaves a tenth of the folder's room
 * to others. Release it where this succeeded. */
haul_status hl_trace_temporary_fill(hl_trace_temporary *self, const char *path, haul_error *error);

#endif
