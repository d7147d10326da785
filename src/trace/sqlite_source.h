/* Reading tables of an SQLite file that nobody vouches for.
 *
 * Only real tables and stored columns are read, each by one plain scan: no view, virtual table,
 * generated column or index of the file is ever evaluated, so that reading ends after at most as
 * many rows as the file can hold. */
#ifndef HAUL_TRACE_SQLITE_SOURCE_H
#define HAUL_TRACE_SQLITE_SOURCE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "haul/status.h"

enum { HL_TRACE_ROW_COLUMNS = 17 }; /* the most that a table of profiles is read for */

/* The numbers of one row. */
typedef struct hl_trace_row {
    int64_t values[HL_TRACE_ROW_COLUMNS]; /* 0 where the column holds no integer */
    uint32_t ints;                        /* bit i: column i holds one */
} hl_trace_row;

/* Stays where it is while it is open: SQLite holds a pointer to it. One thread at a time uses it.
 */
typedef struct hl_trace_source {
    sqlite3 *db;
    const char *path; /* in errors */
    hl_base_strings tables;
    int64_t row_limit;      /* more rows than this in one table are a loop in a corrupt file */
    const uint8_t *present; /* of the statement that steps: the columns that it gives, in order */
    hl_trace_row *row;      /* which it fills */
    bool is_file;           /* the file `path` alone: it can be opened again */
    bool no_memory;         /* met where nothing could say so: what was read may lack something */
    const char *log_note;   /* what of a log beside the file was left out; NULL for nothing */
    struct hl_trace_helpers *helpers; /* threads that step for it, or NULL */
    void (*stop_helpers)(struct hl_trace_helpers *helpers);
} hl_trace_source;

/* Opens the SQLite file `file`, which errors call `path`; that must outlive the source. Returns
 * BAD_INPUT where it is no SQLite database or corrupt, IO where it cannot be read. */
haul_status hl_trace_source_open(hl_trace_source *self, const char *file, const char *path,
                                 haul_error *error);

/* Takes an open database; closes it in the end, and on failure. */
haul_status hl_trace_source_wrap(hl_trace_source *self, sqlite3 *db, const char *path,
                                 haul_error *error);

void hl_trace_source_close(hl_trace_source *self);

/* Whether a file of the name with `ending` behind it, such as "-wal", is there and not empty. */
bool hl_trace_source_has_beside(const char *path, const char *ending);

bool hl_trace_source_has(const hl_trace_source *self, const char *table);

/* Whether the table is there and has the column. */
bool hl_trace_source_has_column(hl_trace_source *self, const char *table, const char *column);

/* The same of a table that is there, by a name of `length` bytes. */
bool hl_trace_source_has_named(hl_trace_source *self, const char *table, const char *name,
                               size_t length);

/* About how many rows a table has, found without reading it: what its largest row number and the
 * size of the file allow. */
uint64_t hl_trace_source_row_estimate(hl_trace_source *self, const char *table);

/* The one integer that a statement gives, such as a pragma; *value stays where it gives none.
 * Returns SQLite's code. */
int hl_trace_source_integer(sqlite3 *db, const char *sql, int64_t *value);

/* Turns a code of SQLite into haul's status, with the message of the source's database. */
haul_status hl_trace_source_fail(const hl_trace_source *self, int code, haul_error *error);

/* How many sources the process has open: each is read by a thread of its own. */
int hl_trace_sources_open(void);

#endif
