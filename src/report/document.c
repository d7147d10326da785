/* Building a report.
 *
 * All parts stand in two orders: inside their parents, as JSON nests them, and in the order in
 * which they were added, as people read them. A report lives in one arena; a failure to get memory
 * is kept in the document and told when the report is written, so that the functions that describe
 * an answer read as the answer does. */
#include "report/document.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { SCHEMA = 2, SAID_BYTES = 2048 };

/* One node, linked into both orders. A column ends the list where it has no name anywhere. */
static haul_table *add_part(haul_table *parent, hl_report_part_kind part, const char *key,
                            const haul_column *columns)
{
    /* A NULL parent is an earlier failure: it passes through every function, so callers need no
     * checks. */
    if (!parent)
        return NULL;
    hl_report_document *document = parent->document;
    haul_table *self = hl_base_arena_alloc(&document->arena, sizeof *self);
    const char *kept = key && self ? hl_base_arena_string(&document->arena, key) : NULL;
    if (!self || (key && !kept)) {
        document->failed = true;
        return NULL;
    }
    *self = (haul_table){.document = document,
                         .part = part,
                         .key = kept,
                         .columns = columns,
                         .is_detail = document->is_detail};
    while (columns && (columns[self->column_count].key || columns[self->column_count].head ||
                       columns[self->column_count].csv))
        self->column_count++;
    /* The row that JSON nests this part in: the last that its parent has so far. */
    self->parent_row = parent->row_count ? parent->row_count - 1 : 0;
    /* Children in order of their adding, and all parts of the document in the order of reading. */
    *(parent->latest ? &parent->latest->next : &parent->first) = self;
    parent->latest = self;
    document->last = document->last->reading = self;
    return self;
}

haul_table *haul_report_table(haul_table *parent, const char *key, const haul_column *columns)
{
    return add_part(parent, HL_REPORT_PART_ROWS, key, columns);
}

haul_table *haul_report_map(haul_table *parent, const char *key, const haul_column *columns)
{
    return add_part(parent, HL_REPORT_PART_MAP, key, columns);
}

haul_table *haul_report_list(haul_table *parent, const char *key, const haul_column *columns)
{
    return add_part(parent, HL_REPORT_PART_LIST, key, columns);
}

/* Columns often repeat the text above. */
static const char *keep_text(haul_table *self, size_t column, const char *text)
{
    if (!text)
        return NULL;
    const haul_cell *above =
        self->row_count ? hl_report_table_cell(self, self->row_count - 1, column) : NULL;
    if (above && above->text && !strcmp(above->text, text))
        return above->text;
    const char *kept = hl_base_arena_string(&self->document->arena, text);
    self->document->failed |= !kept;
    return kept;
}

/* Counts are not doubles, which are exact to 2^53 only, and times are whole nanoseconds for the
 * same reason. */
static haul_cell_kind kind_of_unit(haul_unit unit)
{
    switch (unit) {
    case HAUL_UNIT_TEXT:
    case HAUL_UNIT_NAME:
        return HAUL_CELL_TEXT;
    case HAUL_UNIT_COUNT:
    case HAUL_UNIT_ID:
    case HAUL_UNIT_BYTES:
        return HAUL_CELL_COUNT;
    case HAUL_UNIT_TIME:
        return HAUL_CELL_TIME;
    case HAUL_UNIT_INTERVAL:
        return HAUL_CELL_INTERVAL;
    case HAUL_UNIT_FLAG:
        return HAUL_CELL_FLAG;
    default:
        return HAUL_CELL_NUMBER;
    }
}

static const char beyond_last[] = "beyond";

/* Cells are in one array, row by row: a table of a million rows costs no more than its values.
 * Texts are copied: names come from buffers that the caller uses again for the next row. */
void haul_table_row(haul_table *self, const haul_cell *cells, size_t count)
{
    if (!self)
        return;
    /* The first column whose cell is not of its kind; NULL where all are. */
    const char *mistyped = count > self->column_count ? beyond_last : NULL;
    for (size_t c = 0; c < self->column_count; c++) {
        const haul_column *column = &self->columns[c];
        if (c >= count || cells[c].kind != kind_of_unit(column->unit)) {
            mistyped = column->key ? column->key : column->head ? column->head : column->csv;
            break;
        }
    }
    if (mistyped) {
        if (!self->document->mistyped)
            self->document->mistyped = mistyped;
        return;
    }
    const size_t at = self->row_count * count;
    if (!hl_base_grow(&self->cells, &self->capacity, at + count, sizeof *self->cells)) {
        self->document->failed = true;
        return;
    }
    for (size_t c = 0; c < count; c++) {
        self->cells[at + c] = cells[c];
        if (cells[c].kind == HAUL_CELL_TEXT)
            self->cells[at + c].text = keep_text(self, c, cells[c].text);
    }
    self->row_count++;
}

/* Values that belong together are one call, so that no key can be left out by an early return. */
haul_table *haul_report_object(haul_table *parent, const char *key, const haul_column *columns,
                               const haul_cell *cells, size_t count)
{
    haul_table *self = add_part(parent, HL_REPORT_PART_OBJECT, key, columns);
    haul_table_row(self, cells, count);
    return self;
}

/* Keys such as those of a machine file are not known to a static list of columns. */
void haul_report_value(haul_table *parent, const char *key, const char *text)
{
    static const haul_column value[] = {{"", HAUL_UNIT_TEXT, .csv = ""}, {0}};
    haul_table_row(add_part(parent, HL_REPORT_PART_OBJECT, key, value),
                   HAUL_CELLS(haul_cell_text(text)));
}

static void release_part(haul_table *self)
{
    for (haul_table *child = self->first; child; child = child->next)
        release_part(child);
    /* A table whose rows are made on demand holds a document of its own. */
    haul_report_free(self->made);
    free(self->cells);
}

/* A table of its own. */
static haul_table *new_root(void)
{
    hl_report_document *document = calloc(1, sizeof *document);
    haul_table *root = calloc(1, sizeof *root);
    if (!document || !root) {
        free(document);
        free(root);
        return NULL;
    }
    root->document = document;
    document->last = root;
    return root;
}

haul_report *haul_report_new(const char *name)
{
    static const haul_column head[] = {
        {"report", HAUL_UNIT_TEXT, .csv = ""}, {"schema", HAUL_UNIT_COUNT, .csv = ""}, {0}};
    haul_table *root = new_root();
    if (!root)
        return NULL;
    /* The root is an object of one row, so that its parts nest in that row as in any other. */
    root->row_count = 1;
    haul_report_object(root, NULL, head, HAUL_CELLS(haul_cell_text(name), haul_cell_count(SCHEMA)));
    return root;
}

void hl_report_no_memory(haul_report *report)
{
    if (report)
        report->document->failed = true;
}

void haul_report_free(haul_report *report)
{
    if (!report)
        return;
    hl_report_document *document = report->document;
    release_part(report);
    hl_base_arena_release(&document->arena);
    free(document);
    free(report);
}

/* The table that holds the made row has a document, and an arena, of its own: it is emptied for
 * each row, and what was made is gone by then. */
void haul_table_rows(haul_table *table, size_t count, haul_row_maker make, const void *state)
{
    if (!table)
        return;
    /* Rows are made into a table of one row that is used again: memory does not grow with the
     * count. */
    haul_table *made = table->made = new_root();
    if (!made ||
        /* One more, for a table without columns must not look like one without memory. */
        !hl_base_grow(&made->cells, &made->capacity, table->column_count + 1,
                      sizeof *made->cells)) {
        table->document->failed = true;
        return;
    }
    table->make = make;
    table->state = state;
    table->row_count = count;
    made->columns = table->columns;
    made->column_count = table->column_count;
}

void haul_table_csv(haul_table *table)
{
    if (table)
        table->is_csv = true;
}

void haul_table_limit(haul_table *table, size_t rows)
{
    if (table)
        table->limit = rows;
}

/* Descriptions are shared by all tables that they are of, so the one that differs gets a copy. */
void haul_table_head(haul_table *table, size_t column, const char *head)
{
    if (!table)
        return;
    hl_base_arena *arena = &table->document->arena;
    const size_t size = (table->column_count + 1) * sizeof *table->columns;
    haul_column *columns = hl_base_arena_alloc(arena, size);
    const char *kept = hl_base_arena_string(arena, head);
    if (!columns || !kept) {
        table->document->failed = true;
        return;
    }
    /* With the terminating empty column. */
    memcpy(columns, table->columns, size);
    columns[column].head = kept;
    table->columns = columns;
}

/* A failure is kept: a sentence that is lost must not leave a report that looks whole. */
static void add_text(haul_report *report, hl_report_part_kind part, const char *key,
                     const char *text)
{
    haul_table *self = add_part(report, part, key, NULL);
    if (self && text)
        self->text = hl_base_arena_string(&self->document->arena, text);
    if (self && !self->text)
        self->document->failed = true;
}

/* Sentences and lines have one limit; a longer text is cut, not refused. */
HAUL_PRINTF(4, 0)
static void add_formatted(haul_report *report, hl_report_part_kind part, const char *label,
                          const char *format, va_list args)
{
    char text[SAID_BYTES];
    vsnprintf(text, sizeof text, format, args);
    add_text(report, part, label, text);
}

void haul_report_say(haul_report *report, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_formatted(report, HL_REPORT_PART_PARAGRAPH, NULL, format, args);
    va_end(args);
}

void haul_report_line(haul_report *report, const char *label, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_formatted(report, HL_REPORT_PART_LINE, label, format, args);
    va_end(args);
}

void haul_report_drawing(haul_report *report, const char *text)
{
    add_text(report, HL_REPORT_PART_DRAWING, NULL, text);
}

void haul_report_section(haul_report *report, const char *id, const char *title)
{
    add_text(report, HL_REPORT_PART_SECTION, id, title);
}

void haul_report_detail(haul_report *report, bool is_detail)
{
    if (report)
        report->document->is_detail = is_detail;
}

haul_status hl_report_rows_check(const haul_table *self, haul_error *error)
{
    const char *column = self->document->mistyped;
    if (column == beyond_last)
        return haul_error_set(error, HAUL_STATUS_INTERNAL,
                              "a row of the report has a value beyond its columns");
    return column ? haul_error_set(error, HAUL_STATUS_INTERNAL,
                                   "a row of the report has no value for '%s'", column)
                  : HAUL_OK;
}
