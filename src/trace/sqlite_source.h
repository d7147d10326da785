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

/* Stays where it is while it is open: SQLite holds a pointer to it. */
typedef struct hl_trace_source {
    sqlite3 *db;
    const char *path; /* in errors */
    hl_base_strings tables;
    int64_t row_limit;        /* more rows than this in one table are a loop in a corrupt file */
    struct hl_trace_rows *at; /* the scan that steps, whose row SQLite fills */
    bool no_memory;           /* met where nothing could say so: what was read may lack something */
    const char *log_note;     /* what of a log beside the file was left out; NULL for nothing */
} hl_trace_source;

/* A scan of one table. `number` counts rows from 1. Columns "start" and "end" that follow each
 * other are times in nanoseconds, from 1970 on or from the recording's begin: a row with one before
 * -2^60 or after 2^61 (2043) ends the scan with BAD_INPUT. */
typedef struct hl_trace_rows {
    hl_trace_source *source;
    sqlite3_stmt *stmt; /* NULL where the file lacks the table: then there are no rows */
    const char *table;
    int64_t number;
    int columns;
    int start; /* the column of a start, with its end behind it; the last column where there is none
                */
    bool has_texts;
    uint8_t present[HL_TRACE_ROW_COLUMNS]; /* the columns that the statement gives, in order */
    hl_trace_row row;
} hl_trace_rows;

/* A reader's scan of a table, which may be absent. */
typedef struct hl_trace_scan {
    const char *table;
    void (*take)(void *reader, const hl_trace_rows *rows);
    const char *columns[HL_TRACE_ROW_COLUMNS]; /* as of hl_trace_rows_begin */
    bool has_texts;
} hl_trace_scan;

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

/* About how many rows a table has, found without reading it: what its largest row number and the
 * size of the file allow. */
uint64_t hl_trace_source_row_estimate(hl_trace_source *self, const char *table);

/* Begins a scan of HL_TRACE_ROW_COLUMNS columns of numbers, and of texts too where asked, which is
 * slower. A column may be given by several names, "new|old": the first that the table has is read.
 * One that it lacks, or that is given as NULL, reads as NULL. */
haul_status hl_trace_rows_begin(hl_trace_rows *self, hl_trace_source *source, const char *table,
                                const char *const *columns, bool has_texts, haul_error *error);

/* Steps to the next row; *more is false behind the last. */
haul_status hl_trace_rows_next(hl_trace_rows *self, bool *more, haul_error *error);

void hl_trace_rows_end(hl_trace_rows *self);

/* The value of a column, 0 where it is no integer. */
static inline int64_t hl_trace_rows_int(const hl_trace_rows *self, int column)
{
    return self->row.values[column];
}

static inline bool hl_trace_rows_is_int(const hl_trace_rows *self, int column)
{
    return self->row.ints >> column & 1;
}

/* The value of a column, or `other` where it is no integer. */
static inline int64_t hl_trace_rows_int_or(const hl_trace_rows *self, int column, int64_t other)
{
    return hl_trace_rows_is_int(self, column) ? self->row.values[column] : other;
}

/* The bytes of a column of a scan with texts and their number; NULL where it is NULL. Valid until
 * the next step. */
const char *hl_trace_rows_text(const hl_trace_rows *self, int column, size_t *length);

/* Does `count` scans in turn, each to the table of its name and `suffix`. A reader keeps its own
 * failures, and is asked for them afterwards. */
haul_status hl_trace_source_scan(hl_trace_source *self, const char *suffix,
                                 const hl_trace_scan *scans, size_t count, void *reader,
                                 haul_error *error);

#endif
