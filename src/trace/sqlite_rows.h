/* Scans of tables of an SQLite file: each is one plain pass over real rows and stored columns. */
#ifndef HAUL_TRACE_SQLITE_ROWS_H
#define HAUL_TRACE_SQLITE_ROWS_H

#include "trace/sqlite_source.h"

/* A scan of one table. `number` counts rows from 1. Columns "start" and "end" that follow each
 * other are times in nanoseconds, from 1970 on or from the recording's begin: a row with one before
 * -2^60 or after 2^61 (2043) ends the scan with BAD_INPUT. Stays where it is while it is open. */
typedef struct hl_trace_rows {
    hl_trace_source *source;
    sqlite3_stmt *stmt; /* NULL where the file lacks the table: then there are no rows */
    struct hl_trace_blocks *blocks; /* in its place, of a large table */
    const char *table;
    int64_t number;
    int columns;
    int start; /* the column of a start, with its end behind it; the last column where there is none
                */
    bool has_texts;
    uint8_t present[HL_TRACE_ROW_COLUMNS]; /* the columns that the statement gives, in order */
    const hl_trace_row *row;               /* at hand */
    hl_trace_row own;
} hl_trace_rows;

/* A reader's scan of a table, which may be absent. */
typedef struct hl_trace_scan {
    const char *table;
    void (*take)(void *reader, const hl_trace_rows *rows);
    const char *columns[HL_TRACE_ROW_COLUMNS]; /* as of hl_trace_rows_begin */
    bool has_texts;
} hl_trace_scan;

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
    return self->row->values[column];
}

static inline bool hl_trace_rows_is_int(const hl_trace_rows *self, int column)
{
    return self->row->ints >> column & 1;
}

/* The value of a column, or `other` where it is no integer. */
static inline int64_t hl_trace_rows_int_or(const hl_trace_rows *self, int column, int64_t other)
{
    return hl_trace_rows_is_int(self, column) ? self->row->values[column] : other;
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
