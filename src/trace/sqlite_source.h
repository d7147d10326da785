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

enum { HAUL_ROW_COLUMNS = 17 }; /* the most that a table of profiles is read for */

/* The numbers of one row. */
typedef struct haul_row {
    int64_t values[HAUL_ROW_COLUMNS]; /* 0 where the column holds no integer */
    uint32_t ints;                    /* bit i: column i holds one */
} haul_row;

/* Stays where it is while it is open: SQLite holds a pointer to `row`. */
typedef struct haul_source {
    sqlite3 *db;
    const char *path; /* in errors */
    haul_strings tables;
    int64_t row_limit;    /* more rows than this in one table are a loop in a corrupt file */
    haul_row row;         /* the last that a scan of numbers has met */
    bool no_memory;       /* met where nothing could say so: what was read may lack something */
    const char *log_note; /* what of a log beside the file was left out; NULL for nothing */
} haul_source;

/* A scan of one table. `number` counts rows from 1. Columns "start" and "end" that follow each
 * other are times in nanoseconds, from 1970 on or from the recording's begin: a row with one before
 * -2^60 or after 2^61 (2043) ends the scan with BAD_INPUT. */
typedef struct haul_rows {
    haul_source *source;
    sqlite3_stmt *stmt; /* NULL where the file lacks the table: then there are no rows */
    const char *table;
    int64_t number;
    int columns;
    int start; /* the column of a start, with its end behind it; the last column where there is none
                */
    bool has_texts;
    haul_row row;
} haul_rows;

/* What a reader does with the rows of a table, which may be absent. */
typedef struct haul_scan {
    const char *table;
    void (*take)(void *reader, const haul_rows *rows);
    const char *columns[HAUL_ROW_COLUMNS]; /* as of haul_rows_begin */
    bool has_texts;
} haul_scan;

/* Opens the SQLite file `file`, which errors call `path`; that must outlive the source. Returns
 * BAD_INPUT where it is no SQLite database or corrupt, IO where it cannot be read. */
haul_status haul_source_open(haul_source *self, const char *file, const char *path,
                             haul_error *error);

/* Takes an open database; closes it in the end, and on failure. */
haul_status haul_source_wrap(haul_source *self, sqlite3 *db, const char *path, haul_error *error);

void haul_source_close(haul_source *self);

/* Whether a file of the name with `ending` behind it, such as "-wal", is there and not empty. */
bool haul_source_has_beside(const char *path, const char *ending);

bool haul_source_has(const haul_source *self, const char *table);

/* Whether the table is there and has the column. */
bool haul_source_has_column(haul_source *self, const char *table, const char *column);

/* About how many rows a table has, found without reading it: what its largest row number and the
 * size of the file allow. */
uint64_t haul_source_row_estimate(haul_source *self, const char *table);

/* Begins a scan of HAUL_ROW_COLUMNS columns of numbers, and of texts too where asked, which is
 * slower. A column may be given by several names, "new|old": the first that the table has is read.
 * One that it lacks, or that is given as NULL, reads as NULL. */
haul_status haul_rows_begin(haul_rows *self, haul_source *source, const char *table,
                            const char *const *columns, bool has_texts, haul_error *error);

/* Steps to the next row; *more is false behind the last. */
haul_status haul_rows_next(haul_rows *self, bool *more, haul_error *error);

void haul_rows_end(haul_rows *self);

/* The value of a column, 0 where it is no integer. */
static inline int64_t haul_rows_int(const haul_rows *self, int column)
{
    return self->row.values[column];
}

static inline bool haul_rows_is_int(const haul_rows *self, int column)
{
    return self->row.ints >> column & 1;
}

/* The value of a column, or `other` where it is no integer. */
static inline int64_t haul_rows_int_or(const haul_rows *self, int column, int64_t other)
{
    return haul_rows_is_int(self, column) ? self->row.values[column] : other;
}

/* The bytes of a column of a scan with texts and their number; NULL where it is NULL. Valid until
 * the next step. */
const char *haul_rows_text(const haul_rows *self, int column, size_t *length);

/* Does `count` scans in turn, each to the table of its name and `suffix`. A reader keeps its own
 * failures, and is asked for them afterwards. */
haul_status haul_source_scan(haul_source *self, const char *suffix, const haul_scan *scans,
                             size_t count, void *reader, haul_error *error);

#endif
