/* A report as a document: what a command answers, described once, for every writer.
 *
 * A report is a tree of tables. Each table names its columns, with a unit and a type; a table of
 * one row is an object. Between the tables stand sentences, for people. From one description come
 *
 *   terminal  sentences, labelled lines, and the columns that have a head, with readable units
 *   JSON      the columns and tables that have a key, in base units (docs/json.md)
 *   CSV       the one table that haul_table_csv names, or any with a key, in base units
 *   Markdown  as on the terminal, for summaries of CI
 *   HTML      as on the terminal, in sections (haul/page.h)
 *
 * A report that could not be made for lack of memory is NULL. All functions pass over NULL, and
 * haul_report_write returns NO_MEMORY for it: a report is described without a check in between.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_DOCUMENT_H
#define HAUL_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "haul/status.h"

HAUL_BEGIN

typedef enum haul_format {
    HAUL_FORMAT_TABLE,
    HAUL_FORMAT_JSON,
    HAUL_FORMAT_CSV,
    HAUL_FORMAT_MARKDOWN,
} haul_format;

/* The unit of a column's values, and the cell that holds one. */
typedef enum haul_unit {
    HAUL_UNIT_TEXT,     /* haul_cell_text; NULL: not known */
    HAUL_UNIT_NAME,     /* the same, shortened where people read it */
    HAUL_UNIT_COUNT,    /* haul_cell_count; HAUL_NO_COUNT: not known */
    HAUL_UNIT_ID,       /* the same, for people without commas */
    HAUL_UNIT_BYTES,    /* the same */
    HAUL_UNIT_TIME,     /* haul_cell_time; in JSON and CSV seconds with all digits */
    HAUL_UNIT_SECONDS,  /* haul_cell_number, as all that follow but two; NaN: not known */
    HAUL_UNIT_INTERVAL, /* haul_cell_interval, seconds; in JSON an array, in CSV two columns */
    HAUL_UNIT_RATE,     /* bytes per second */
    HAUL_UNIT_SHARE,    /* of 1 */
    HAUL_UNIT_PERCENT,  /* of 100 */
    HAUL_UNIT_FACTOR,   /* "1.50x" */
    HAUL_UNIT_NUMBER,
    HAUL_UNIT_FLAG, /* haul_cell_flag: in JSON true or false */
} haul_unit;

#define HAUL_NO_COUNT UINT64_MAX

typedef enum haul_cell_kind {
    HAUL_CELL_TEXT,
    HAUL_CELL_COUNT,
    HAUL_CELL_TIME,
    HAUL_CELL_NUMBER,
    HAUL_CELL_INTERVAL,
    HAUL_CELL_FLAG,
} haul_cell_kind;

/* A value of a row, made by the function of its kind, so that the compiler checks its type. */
typedef struct haul_cell {
    haul_cell_kind kind;
    union {
        const char *text;
        uint64_t count; /* a flag is 0 or 1 */
        int64_t ns;
        double number;
        double ends[2]; /* low and high */
    };
} haul_cell;

static inline haul_cell haul_cell_text(const char *text)
{
    haul_cell cell;
    cell.kind = HAUL_CELL_TEXT;
    cell.text = text;
    return cell;
}

static inline haul_cell haul_cell_count(uint64_t count)
{
    haul_cell cell;
    cell.kind = HAUL_CELL_COUNT;
    cell.count = count;
    return cell;
}

static inline haul_cell haul_cell_time(int64_t ns)
{
    haul_cell cell;
    cell.kind = HAUL_CELL_TIME;
    cell.ns = ns;
    return cell;
}

static inline haul_cell haul_cell_number(double number)
{
    haul_cell cell;
    cell.kind = HAUL_CELL_NUMBER;
    cell.number = number;
    return cell;
}

static inline haul_cell haul_cell_interval(double low, double high)
{
    haul_cell cell;
    cell.kind = HAUL_CELL_INTERVAL;
    cell.ends[0] = low;
    cell.ends[1] = high;
    return cell;
}

static inline haul_cell haul_cell_flag(bool flag)
{
    haul_cell cell;
    cell.kind = HAUL_CELL_FLAG;
    cell.count = flag;
    return cell;
}

/* In C, cells and their number, the two last arguments of haul_table_row and haul_report_object. */
#ifndef __cplusplus
#define HAUL_CELLS(...)                                                                            \
    (const haul_cell[]){__VA_ARGS__}, sizeof((const haul_cell[]){__VA_ARGS__}) / sizeof(haul_cell)
#endif

/* A column; a list of them ends with {0}. Numbers are to the right, texts to the left. */
typedef struct haul_column {
    const char *key; /* in JSON, with the unit; NULL: not there; "": the value stands alone */
    haul_unit unit;
    const char *head; /* for people; NULL: not for them */
    bool optional; /* left out of JSON where not known; no column for people where none is known */
    const char *csv; /* in CSV; NULL: as in JSON; "": not there */
    bool spare;      /* left out first where a terminal is too narrow */
} haul_column;

/* A node of the tree. The document is one, an object, whose parent is NULL. */
typedef struct haul_table haul_table;
typedef haul_table haul_report;

/* A document; `name` is the value of its key "report". Free with haul_report_free. */
HAUL_API haul_report *haul_report_new(const char *name);
HAUL_API void haul_report_free(haul_report *report);

/* Adds a table, an array of objects in JSON, inside the last row of `parent`. `key` NULL: it is for
 * people alone, or for CSV. `columns` has to outlive the report. */
HAUL_API haul_table *haul_report_table(haul_table *parent, const char *key,
                                       const haul_column *columns);

/* The same as an object, each of whose members is a row, named by its first column. */
HAUL_API haul_table *haul_report_map(haul_table *parent, const char *key,
                                     const haul_column *columns);

/* The same as an array of values: one column. With a head, for people a list with that title. */
HAUL_API haul_table *haul_report_list(haul_table *parent, const char *key,
                                      const haul_column *columns);

/* Adds a row, a cell for each column. Texts are copied. A cell whose kind is not that of its
 * column's unit, one too many and one too few are errors of the program: haul_report_write returns
 * INTERNAL and names the column. */
HAUL_API void haul_table_row(haul_table *table, const haul_cell *cells, size_t count);

/* Gives a table of `count` rows that are made when they are written, so that a long one takes no
 * memory: `make` adds row number `row` to the table that it gets. `state` has to outlive the
 * report. */
typedef void (*haul_row_maker)(haul_table *table, const void *state, size_t row);
HAUL_API void haul_table_rows(haul_table *table, size_t count, haul_row_maker make,
                              const void *state);

/* Adds an object with its values, as a row has them. `key` NULL: they are members of the object
 * around it. For people each value with a head is a line. */
HAUL_API haul_table *haul_report_object(haul_table *parent, const char *key,
                                        const haul_column *columns, const haul_cell *cells,
                                        size_t count);

/* Adds a text under a key that is not known before; NULL is null. */
HAUL_API void haul_report_value(haul_table *parent, const char *key, const char *text);

/* The table that CSV consists of. */
HAUL_API void haul_table_csv(haul_table *table);

/* Gives a column another head than its description has. */
HAUL_API void haul_table_head(haul_table *table, size_t column, const char *head);

/* Shows people at most `rows` rows, then how many more there are. */
HAUL_API void haul_table_limit(haul_table *table, size_t rows);

/* For people, at most 2000 bytes each: a paragraph; a line with a label before it; and characters
 * that are printed as they are, on the terminal alone (NULL: there was no memory for them). */
HAUL_API void haul_report_say(haul_report *report, const char *format, ...) HAUL_PRINTF(2, 3);
HAUL_API void haul_report_line(haul_report *report, const char *label, const char *format, ...)
    HAUL_PRINTF(3, 4);
HAUL_API void haul_report_drawing(haul_report *report, const char *text);

/* All that follows belongs to a section of a page, named `id`, up to the next. */
HAUL_API void haul_report_section(haul_report *report, const char *id, const char *title);

/* All that follows is shown on the terminal only where asked for: method, legends, parameters. */
HAUL_API void haul_report_detail(haul_report *report, bool is_detail);

typedef struct haul_report_options {
    haul_format format;
    bool verbose;      /* with all details */
    bool colour;       /* on a terminal: the first sentence and the heads of tables stand out */
    uint64_t top;      /* rows of tables that have a limit; 0: their own */
    uint64_t width;    /* columns that tables are fitted to and sentences wrapped at; 0: tables as
                        * wide as they are, sentences at 100 */
    const char *table; /* of CSV: the table with this key in JSON, in place of haul_table_csv's */
    uint64_t reserved[4]; /* zeros: see haul/api.h */
} haul_report_options;

/* Writes the report. Returns IO where `out` fails; USAGE, naming the tables that there are, where
 * none has the name `options->table`; NO_MEMORY where `report` is NULL or lacks a
 * part; INTERNAL where a row was not what its columns say. */
HAUL_API haul_status haul_report_write(const haul_report *report,
                                       const haul_report_options *options, FILE *out,
                                       haul_error *error);

HAUL_END

#endif
