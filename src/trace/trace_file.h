/* Files that may be profiles: what they begin with, and databases that must be unpacked or exported
 * before they can be read. */
#ifndef HAUL_TRACE_TRACE_FILE_H
#define HAUL_TRACE_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/sqlite_source.h"

enum { HL_TRACE_HEAD = 4096 };

/* The beginning of a file, unpacked where it is gzipped. */
typedef struct hl_trace_head {
    unsigned char bytes[HL_TRACE_HEAD];
    size_t length;
    bool is_gzipped;
} hl_trace_head;

/* Reads the beginning of the file at `path`. Returns IO where it is no plain file or cannot be
 * read, BAD_INPUT where it is empty. */
haul_status hl_trace_head_read(const char *path, hl_trace_head *head, haul_error *error);

bool hl_trace_head_is_sqlite(const hl_trace_head *head);

/* Whether it is a report of Nsight Systems, which only that can read. */
bool hl_trace_is_report(const char *path, const hl_trace_head *head);

/* Opens a database, through a temporary file where it is gzipped or is a report, which 'nsys
 * export' then exports. Returns BAD_INPUT where it is truncated, ABSENT where nsys is not
 * installed. */
haul_status hl_trace_open_database(hl_trace_source *source, const char *path,
                                   const hl_trace_head *head, haul_error *error);

/* Says of what kind the file is that no format knows: BAD_INPUT. */
haul_status hl_trace_fail_kind(const char *path, const hl_trace_head *head, haul_error *error);

#endif
