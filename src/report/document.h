/* The tree that a report consists of, as its writers walk it. */
#ifndef HAUL_REPORT_DOCUMENT_H
#define HAUL_REPORT_DOCUMENT_H

#include "base/arena.h"
#include "haul/document.h"

typedef enum hl_report_part_kind {
    HL_REPORT_PART_OBJECT,
    HL_REPORT_PART_ROWS,
    HL_REPORT_PART_MAP,
    HL_REPORT_PART_LIST,
    /* for people alone */
    HL_REPORT_PART_PARAGRAPH,
    HL_REPORT_PART_LINE,
    HL_REPORT_PART_DRAWING,
    HL_REPORT_PART_SECTION,
} hl_report_part_kind;

typedef struct hl_report_document {
    hl_base_arena arena;
    haul_table *last; /* of all parts, in the order of people's reading */
    bool is_detail;
    bool failed;
    const char *mistyped; /* the first column that a row had no cell of its kind for */
} hl_report_document;

struct haul_table {
    hl_report_document *document;
    hl_report_part_kind part;
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

/* INTERNAL, naming the column, where a row was given cells of other kinds than its columns'. */
haul_status hl_report_rows_check(const haul_table *self, haul_error *error);

/* A part of the answer could not be made for lack of memory: the report is not written then. */
void hl_report_no_memory(haul_report *report);

const haul_cell *hl_report_table_cell(const haul_table *table, size_t row, size_t column);

/* Whether a cell holds "not known". */
bool hl_report_cell_is_unknown(const haul_column *column, const haul_cell *cell);

/* Whether people see the column: it has a head and, where it is optional, a value. */
bool hl_report_column_is_shown(const haul_table *table, size_t column);

/* Whether people see anything of the table: a column and a row. */
bool hl_report_table_is_shown(const haul_table *table);

/* Whether the column's values are to the left. */
bool hl_report_column_is_left(const haul_column *column);

enum { HL_REPORT_CELL_BYTES = 256 };

/* A value for people, in `buffer` or where the text is. */
const char *hl_report_cell_say(const haul_column *column, const haul_cell *cell,
                               char buffer[HL_REPORT_CELL_BYTES]);

/* Rows of a table that people see. */
size_t hl_report_table_rows_shown(const haul_table *table, const haul_report_options *options);

/* False without memory to tell names apart: what was written is not to be read. */
bool hl_report_write_terminal(const haul_report *report, const haul_report_options *options,
                              FILE *out);
void hl_report_write_json(const haul_report *report, FILE *out);
void hl_report_write_markdown(const haul_report *report, const haul_report_options *options,
                              FILE *out);

/* `name`: the table with this key in JSON; NULL: the report's own. USAGE where there is none. */
haul_status hl_report_write_csv(const haul_report *report, const char *name, FILE *out,
                                haul_error *error);

#endif
