/* The tree that a report consists of, as its writers walk it. */
#ifndef HAUL_REPORT_DOCUMENT_H
#define HAUL_REPORT_DOCUMENT_H

#include "base/arena.h"
#include "haul/document.h"

typedef union haul_cell {
    const char *text;
    uint64_t count;
    int64_t ns;
    double number;
    double ends[2];
} haul_cell;

typedef enum haul_part_kind {
    HAUL_PART_OBJECT,
    HAUL_PART_ROWS,
    HAUL_PART_MAP,
    HAUL_PART_LIST,
    /* for people alone */
    HAUL_PART_PARAGRAPH,
    HAUL_PART_LINE,
    HAUL_PART_DRAWING,
    HAUL_PART_SECTION,
} haul_part_kind;

typedef struct haul_document {
    haul_arena arena;
    haul_table *last; /* of all parts, in the order of people's reading */
    bool is_detail;
    bool failed;
} haul_document;

struct haul_table {
    haul_document *document;
    haul_part_kind part;
    const char *key; /* a line's label, a section's id */
    const char *text;
    const haul_column *columns;
    size_t column_count;
    haul_cell *cells;
    size_t row_count;
    size_t capacity; /* in cells */
    size_t limit;
    size_t parent_row;
    haul_table *first; /* inside its rows, in their order */
    haul_table *latest;
    haul_table *next;    /* inside the same parent */
    haul_table *reading; /* the part that follows in people's reading */
    haul_row_maker make; /* of rows that are made when they are written */
    const void *state;
    haul_table *made; /* a table of its own, of one row, */
    size_t made_row;  /* with this number in the table that it is of */
    bool is_csv;
    bool is_detail;
};

const haul_cell *haul_table_cell(const haul_table *table, size_t row, size_t column);

/* Whether a cell holds "not known". */
bool haul_cell_is_unknown(const haul_column *column, const haul_cell *cell);

/* Whether people see the column: it has a head and, where it is optional, a value. */
bool haul_column_is_shown(const haul_table *table, size_t column);

/* Whether people see anything of the table: a column and a row. */
bool haul_table_is_shown(const haul_table *table);

/* Whether the column's values are to the left. */
bool haul_column_is_left(const haul_column *column);

enum { HAUL_CELL_BYTES = 256 };

/* A value for people, in `buffer` or where the text is. */
const char *haul_cell_say(const haul_column *column, const haul_cell *cell,
                          char buffer[HAUL_CELL_BYTES]);

/* Rows of a table that people see. */
size_t haul_table_rows_shown(const haul_table *table, const haul_report_options *options);

void haul_write_terminal(const haul_report *report, const haul_report_options *options, FILE *out);
void haul_write_json(const haul_report *report, FILE *out);
void haul_write_csv(const haul_report *report, FILE *out);

#endif
