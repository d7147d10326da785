/* CSV (RFC 4180), read and written: quoted fields, LF or CRLF, a header line that names the
 * columns, in any order. Blanks around a field that is not quoted are dropped, as are empty lines
 * and a byte order mark. Rows stream: memory is that of the longest row.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_CSV_H
#define HAUL_CSV_H

#include <stddef.h>
#include <stdio.h>

#include "haul/status.h"

HAUL_BEGIN

typedef struct haul_csv haul_csv;

enum {
    HAUL_CSV_COLUMNS = 1024,      /* at most in one file */
    HAUL_CSV_ROW_BYTES = 1 << 20, /* at most in one row */
};

/* Opens a file, gzipped or not ("-" is standard input), and reads its header. Returns IO where it
 * cannot be opened, BAD_INPUT with line and column where it has no header or two columns of one
 * name. Close with haul_csv_close. */
HAUL_API haul_status haul_csv_open(const char *path, haul_csv **csv, haul_error *error);

/* The same from `size` bytes in memory, which stay the caller's and must outlive the reader; `file`
 * names them in errors. */
HAUL_API haul_status haul_csv_open_memory(const char *text, size_t size, const char *file,
                                          haul_csv **csv, haul_error *error);

/* The number of columns, and the name of one. */
HAUL_API size_t haul_csv_column_count(const haul_csv *csv);
HAUL_API const char *haul_csv_column_name(const haul_csv *csv, size_t column);

/* Finds a column by name, in any case. Returns BAD_INPUT, naming it, where there is none; with
 * `error` NULL this is the test for a column that may be absent. */
HAUL_API haul_status haul_csv_find(const haul_csv *csv, const char *name, size_t *column,
                                   haul_error *error);

/* Reads the next row: *fields has one text for each column and holds until the next call; it is
 * NULL after the last row. Returns BAD_INPUT, with line and column, for a row of another number of
 * fields, a stray or open quote, a NUL byte, or more than the limits above. */
HAUL_API haul_status haul_csv_next(haul_csv *csv, const char *const **fields, haul_error *error);

/* Adds the place of a field of the last row (in bytes from 1) to an error that has none yet. */
HAUL_API void haul_csv_locate(const haul_csv *csv, size_t column, haul_error *error);

HAUL_API void haul_csv_close(haul_csv *csv);

/* Writes a field as the functions above read it back: in quotes where it needs them. */
HAUL_API void haul_csv_put(const char *text, FILE *out);

HAUL_END

#endif
