/* Building a report, and writing it in the form that is asked for.
 *
 * All parts stand in two orders: inside their parents, as JSON nests them, and in the order in
 * which they were added, as people read them. A report lives in one arena; a failure to get memory
 * is kept in the document and told when the report is written, so that the functions that describe
 * an answer read as the answer does. */
#include "report/document.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/numerals.h"
#include "report/wording.h"

enum { SCHEMA = 2, SAID_BYTES = 2048, NAME_WIDTH = 48 };

/* One node, linked into both orders. A column ends the list where it has no name anywhere. */
static haul_table *add_part(haul_table *parent, haul_part_kind part, const char *key,
                            const haul_column *columns)
{
    /* A NULL parent is an earlier failure: it passes through every function, so callers need no
     * checks. */
    if (!parent)
        return NULL;
    haul_document *document = parent->document;
    haul_table *self = haul_arena_alloc(&document->arena, sizeof *self);
    const char *kept = key && self ? haul_arena_string(&document->arena, key) : NULL;
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
    return add_part(parent, HAUL_PART_ROWS, key, columns);
}

haul_table *haul_report_map(haul_table *parent, const char *key, const haul_column *columns)
{
    return add_part(parent, HAUL_PART_MAP, key, columns);
}

haul_table *haul_report_list(haul_table *parent, const char *key, const haul_column *columns)
{
    return add_part(parent, HAUL_PART_LIST, key, columns);
}

/* Columns often repeat the text above. */
static const char *keep_text(haul_table *self, size_t column, const char *text)
{
    if (!text)
        return NULL;
    const haul_cell *above =
        self->row_count ? haul_table_cell(self, self->row_count - 1, column) : NULL;
    if (above && above->text && !strcmp(above->text, text))
        return above->text;
    const char *kept = haul_arena_string(&self->document->arena, text);
    self->document->failed |= !kept;
    return kept;
}

/* The C type of each unit: counts are not doubles, which are exact to 2^53 only, and times are
 * whole nanoseconds for the same reason. */
static haul_cell read_cell(haul_table *self, size_t column, va_list *args)
{
    haul_cell cell = {0};
    switch (self->columns[column].unit) {
    /* Text is copied: names come from buffers that the caller uses again for the next row. */
    case HAUL_TEXT:
    case HAUL_NAME:
        cell.text = keep_text(self, column, va_arg(*args, const char *));
        break;
    case HAUL_COUNT:
    case HAUL_ID:
    case HAUL_BYTES:
        cell.count = va_arg(*args, uint64_t);
        break;
    case HAUL_TIME:
        cell.ns = va_arg(*args, int64_t);
        break;
    case HAUL_INTERVAL:
        cell.ends[0] = va_arg(*args, double);
        cell.ends[1] = va_arg(*args, double);
        break;
    case HAUL_FLAG:
        cell.count = va_arg(*args, int) != 0;
        break;
    default:
        cell.number = va_arg(*args, double);
    }
    return cell;
}

/* Cells are in one array, row by row: a table of a million rows costs no more than its values. */
static void read_row(haul_table *self, va_list *args)
{
    const size_t at = self->row_count * self->column_count;
    if (!haul_grow(&self->cells, &self->capacity, at + self->column_count, sizeof *self->cells)) {
        self->document->failed = true;
        return;
    }
    for (size_t c = 0; c < self->column_count; c++)
        self->cells[at + c] = read_cell(self, c, args);
    self->row_count++;
}

void haul_table_row(haul_table *table, ...)
{
    if (!table)
        return;
    va_list args;
    va_start(args, table);
    read_row(table, &args);
    va_end(args);
}

/* Values that belong together are one call, so that no key can be left out by an early return. */
haul_table *haul_report_object(haul_table *parent, const char *key, const haul_column *columns, ...)
{
    haul_table *self = add_part(parent, HAUL_PART_OBJECT, key, columns);
    if (!self)
        return NULL;
    va_list args;
    va_start(args, columns);
    read_row(self, &args);
    va_end(args);
    return self;
}

/* Keys such as those of a machine file are not known to a static list of columns. */
void haul_report_value(haul_table *parent, const char *key, const char *text)
{
    static const haul_column value[] = {{"", HAUL_TEXT, NULL, false, ""}, {0}};
    haul_table_row(add_part(parent, HAUL_PART_OBJECT, key, value), text);
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
    haul_document *document = calloc(1, sizeof *document);
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
        {"report", HAUL_TEXT, NULL, false, ""}, {"schema", HAUL_COUNT, NULL, false, ""}, {0}};
    haul_table *root = new_root();
    if (!root)
        return NULL;
    /* The root is an object of one row, so that its parts nest in that row as in any other. */
    root->row_count = 1;
    haul_report_object(root, NULL, head, name, (uint64_t)SCHEMA);
    return root;
}

void haul_report_free(haul_report *report)
{
    if (!report)
        return;
    haul_document *document = report->document;
    release_part(report);
    haul_arena_release(&document->arena);
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
        !haul_grow(&made->cells, &made->capacity, table->column_count + 1, sizeof *made->cells)) {
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
    haul_arena *arena = &table->document->arena;
    const size_t size = (table->column_count + 1) * sizeof *table->columns;
    haul_column *columns = haul_arena_alloc(arena, size);
    const char *kept = haul_arena_string(arena, head);
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
static void add_text(haul_report *report, haul_part_kind part, const char *key, const char *text)
{
    haul_table *self = add_part(report, part, key, NULL);
    if (self && text)
        self->text = haul_arena_string(&self->document->arena, text);
    if (self && !self->text)
        self->document->failed = true;
}

/* Sentences and lines have one limit; a longer text is cut, not refused. */
HAUL_PRINTF(4, 0)
static void add_formatted(haul_report *report, haul_part_kind part, const char *label,
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
    add_formatted(report, HAUL_PART_PARAGRAPH, NULL, format, args);
    va_end(args);
}

void haul_report_line(haul_report *report, const char *label, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_formatted(report, HAUL_PART_LINE, label, format, args);
    va_end(args);
}

void haul_report_drawing(haul_report *report, const char *text)
{
    add_text(report, HAUL_PART_DRAWING, NULL, text);
}

void haul_report_section(haul_report *report, const char *id, const char *title)
{
    add_text(report, HAUL_PART_SECTION, id, title);
}

void haul_report_detail(haul_report *report, bool is_detail)
{
    if (report)
        report->document->is_detail = is_detail;
}

const haul_cell *haul_table_cell(const haul_table *table, size_t row, size_t column)
{
    if (!table->made)
        return &table->cells[row * table->column_count + column];
    /* made in the place of the one before it */
    if (table->made->made_row != row || !table->made->row_count) {
        table->made->row_count = 0;
        haul_arena_release(&table->made->document->arena);
        table->make(table->made, table->state, row);
    }
    table->made->made_row = row;
    return &table->made->cells[column];
}

/* Every unit but a time, a flag and an interval has a value that means "not known". */
bool haul_cell_is_unknown(const haul_column *column, const haul_cell *cell)
{
    switch (column->unit) {
    case HAUL_TEXT:
    case HAUL_NAME:
        return !cell->text;
    case HAUL_COUNT:
    case HAUL_ID:
    case HAUL_BYTES:
        return cell->count == HAUL_NO_COUNT;
    case HAUL_TIME:
    case HAUL_FLAG:
        return false;
    default:
        return !isfinite(cell->number);
    }
}

/* Only rows that people see can show an optional column: a long table is not made to its end for
 * a heading. */
bool haul_column_is_shown(const haul_table *table, size_t column)
{
    const haul_column *self = &table->columns[column];
    bool is_shown = self->head && !self->optional;
    const size_t rows =
        table->limit && table->limit < table->row_count ? table->limit : table->row_count;
    for (size_t r = 0; self->head && !is_shown && r < rows; r++)
        is_shown = !haul_cell_is_unknown(self, haul_table_cell(table, r, column));
    return is_shown;
}

bool haul_table_is_shown(const haul_table *table)
{
    for (size_t c = 0; table->row_count && c < table->column_count; c++)
        if (haul_column_is_shown(table, c))
            return true;
    return false;
}

/* Texts come first in the enumeration. */
bool haul_column_is_left(const haul_column *column)
{
    return column->unit <= HAUL_NAME;
}

size_t haul_table_rows_shown(const haul_table *table, const haul_report_options *options)
{
    /* `top` of the options replaces the limit of a table that has one; other tables are always
     * whole. */
    const size_t most = table->limit && options->top ? options->top : table->limit;
    return most && most < table->row_count ? most : table->row_count;
}

/* Shares, seconds and rates have words of their own; a percentage keeps two digits, for errors
 * below 1 % are what accuracy is about. */
static haul_words say_number(haul_unit unit, double number)
{
    haul_words words = {"-"};
    if (unit == HAUL_SECONDS)
        return haul_say_seconds(number);
    if (unit == HAUL_RATE)
        return haul_say_rate(number);
    if (unit == HAUL_SHARE)
        return haul_say_share(number);
    /* Below 1e15 every whole number is exact in a double. */
    const bool is_whole = fabs(number) < 1e15 && number == trunc(number);
    if (isfinite(number))
        (void)snprintf(words.text, sizeof words.text,
                       unit == HAUL_PERCENT  ? "%.2f %%"
                       : unit == HAUL_FACTOR ? "%.2fx"
                       : is_whole            ? "%.0f"
                                             : "%.4g",
                       number);
    return words;
}

/* For people a value that is not known is blank in counts, and "-" in measures: an empty cell
 * between numbers reads as 0. */
const char *haul_cell_say(const haul_column *column, const haul_cell *cell,
                          char buffer[HAUL_CELL_BYTES])
{
    haul_words words = {""};
    switch (column->unit) {
    case HAUL_TEXT:
        return cell->text ? cell->text : "";
    case HAUL_NAME:
        return cell->text ? haul_shorten_name(cell->text, NAME_WIDTH, buffer, HAUL_CELL_BYTES) : "";
    case HAUL_COUNT:
        words = haul_say_count(cell->count);
        break;
    case HAUL_ID:
        (void)snprintf(words.text, sizeof words.text, "%llu", (unsigned long long)cell->count);
        break;
    case HAUL_BYTES:
        words = haul_say_bytes(cell->count);
        break;
    case HAUL_TIME:
        words = haul_say_time(cell->ns);
        break;
    case HAUL_INTERVAL:
        words = haul_say_interval(cell->ends[0], cell->ends[1]);
        break;
    case HAUL_FLAG:
        return cell->count ? "yes" : "no";
    default:
        words = say_number(column->unit, cell->number);
    }
    /* Units before HAUL_SECONDS are texts and counts: the enumeration is in that order. */
    const bool is_blank = column->unit < HAUL_SECONDS && haul_cell_is_unknown(column, cell);
    (void)snprintf(buffer, HAUL_CELL_BYTES, "%s", is_blank ? "" : words.text);
    return buffer;
}

/* Rows that are made while they are written may fail then, after half of the report is out: the
 * status says so. */
haul_status haul_report_write(const haul_report *report, const haul_report_options *options,
                              FILE *out, haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    /* A report that could not be built whole is not written at all. */
    if (!report || report->document->failed)
        return haul_fail_no_memory(error);
    if (options->format == HAUL_JSON)
        haul_write_json(report, out);
    else if (options->format == HAUL_CSV)
        haul_write_csv(report, out);
    else
        haul_write_terminal(report, options, out);
    for (const haul_table *part = report; part; part = part->reading)
        if (part->made && part->made->document->failed)
            return haul_fail_no_memory(error);
    return ferror(out) ? haul_fail(error, HAUL_IO, "cannot write the report") : HAUL_OK;
}
