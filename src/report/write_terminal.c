/* A report for people, on a terminal: sentences, labelled lines, aligned tables, lists.
 *
 * Sentences and lines are wrapped at 100 columns; tables are not, for a row that is broken can no
 * longer be compared with the next, but for a text that ends the row. Widths count characters, not
 * bytes: names of kernels may be in any script. */
#include <string.h>

#include "base/utf8.h"
#include "report/document.h"
#include "report/wording.h"

enum { MOST_COLUMNS = 32 };

typedef struct terminal {
    const haul_report_options *options;
    FILE *out;
    size_t labels;  /* width of the widest */
    bool has_text;  /* something stands above, */
    bool was_apart; /* which is no sentence */
} terminal;

/* What stands between is bold, where the terminal shows colours. */
static void begin_bold(const terminal *self)
{
    fputs(self->options->colour ? "\033[1m" : "", self->out);
}

static void end_bold(const terminal *self)
{
    fputs(self->options->colour ? "\033[0m" : "", self->out);
}

static const char *say(const haul_table *table, size_t row, size_t column,
                       char buffer[HAUL_CELL_BYTES])
{
    /* Texts are made again for widths and for printing: keeping them would cost a copy of the
     * table. */
    return haul_cell_say(&table->columns[column], haul_table_cell(table, row, column), buffer);
}

/* Where printing stands in a row. */
typedef struct row_place {
    size_t column; /* of the page */
    size_t blanks; /* owed before the next text: none stand at the end of a line */
    bool is_last;
} row_place;

/* A text that ends the row is wrapped where it reaches past the page. */
static void print_cell(const terminal *self, const char *text, size_t width, bool is_left,
                       row_place *at)
{
    /* Numbers are padded before, texts behind: the digits of a column stand below each other. */
    const size_t pad = width - haul_utf8_count(text);
    at->blanks += is_left ? 0 : pad;
    if (*text) {
        fprintf(self->out, "%*s", (int)at->blanks, "");
        at->column += at->blanks;
        at->blanks = 0;
        if (at->is_last && is_left && at->column + width > HAUL_PAGE_WIDTH) {
            haul_print_hanging(at->column, text, self->out);
            return;
        }
        haul_utf8_print(text, SIZE_MAX, self->out);
        at->column += width - pad;
    }
    at->blanks += (is_left ? pad : 0) + 2;
    if (at->is_last)
        fputc('\n', self->out);
}

/* `row` SIZE_MAX: the heads. */
static void print_row(const terminal *self, const haul_table *table, size_t row,
                      const size_t widths[MOST_COLUMNS])
{
    char buffer[HAUL_CELL_BYTES];
    size_t last = 0;
    /* The last column that is shown ends the line. */
    for (size_t c = 0; c < MOST_COLUMNS; c++)
        last = widths[c] ? c : last;
    row_place at = {0};
    for (size_t c = 0; c <= last; c++) {
        if (!widths[c])
            continue;
        const char *text = row == SIZE_MAX ? table->columns[c].head : say(table, row, c, buffer);
        at.is_last = c == last;
        print_cell(self, text, widths[c], haul_column_is_left(&table->columns[c]), &at);
    }
}

static bool is_visible(const terminal *self, const haul_table *part)
{
    return (self->options->verbose || !part->is_detail) &&
           (part->part > HAUL_PART_LIST || haul_table_is_shown(part));
}

static void print_line(const terminal *self, const char *label, const char *text)
{
    fprintf(self->out, "  %s%*s", label, (int)(self->labels - haul_utf8_count(label)) + 2, "");
    haul_print_hanging(self->labels + 4, text, self->out);
}

static void print_table(const terminal *self, const haul_table *table)
{
    char buffer[HAUL_CELL_BYTES];
    /* Two passes: all rows that are shown are measured before the first is printed. */
    size_t widths[MOST_COLUMNS] = {0}; /* that of a column which is not shown stays 0 */
    const size_t rows = haul_table_rows_shown(table, self->options);
    for (size_t c = 0; c < table->column_count && c < MOST_COLUMNS; c++) {
        if (!haul_column_is_shown(table, c))
            continue;
        widths[c] = haul_utf8_count(table->columns[c].head);
        for (size_t r = 0; r < rows; r++) {
            const size_t width = haul_utf8_count(say(table, r, c, buffer));
            widths[c] = width > widths[c] ? width : widths[c];
        }
        /* A shown column without any text is one blank wide, as 0 means "not shown". */
        widths[c] += !widths[c];
    }
    begin_bold(self);
    print_row(self, table, SIZE_MAX, widths);
    end_bold(self);
    for (size_t r = 0; r < rows; r++)
        print_row(self, table, r, widths);
    if (rows < table->row_count)
        fprintf(self->out, "%s%s\n",
                haul_say_number_of(table->row_count - rows, "more row", NULL).text,
                /* Only one table of a report is in its CSV. */
                table->is_csv ? ": --format csv has them all" : "");
}

/* Tables, lists and drawings stand apart; sentences and lines follow each other. */
static void print_part(terminal *self, const haul_table *part)
{
    const bool is_apart = part->part == HAUL_PART_ROWS || part->part == HAUL_PART_MAP ||
                          part->part == HAUL_PART_LIST || part->part == HAUL_PART_DRAWING;
    char buffer[HAUL_CELL_BYTES];
    if (self->has_text && (is_apart || self->was_apart))
        fputc('\n', self->out);
    const bool is_first = !self->has_text;
    self->has_text = true;
    self->was_apart = is_apart;
    switch (part->part) {
    case HAUL_PART_OBJECT:
        for (size_t c = 0; c < part->column_count; c++)
            if (haul_column_is_shown(part, c))
                print_line(self, part->columns[c].head, say(part, 0, c, buffer));
        break;
    case HAUL_PART_ROWS:
    case HAUL_PART_MAP:
        print_table(self, part);
        break;
    case HAUL_PART_LIST:
        fprintf(self->out, "%s\n", part->columns[0].head);
        for (size_t r = 0; r < part->row_count; r++)
            haul_print_wrapped("  - ", haul_table_cell(part, r, 0)->text, self->out);
        break;
    case HAUL_PART_LINE:
        print_line(self, part->key, part->text);
        break;
    case HAUL_PART_DRAWING:
        fputs(part->text, self->out);
        break;
    default:
        /* The first sentence is the answer. */
        if (is_first)
            begin_bold(self);
        haul_print_wrapped("", part->text, self->out);
        if (is_first)
            end_bold(self);
    }
}

void haul_write_terminal(const haul_report *report, const haul_report_options *options, FILE *out)
{
    terminal self = {.options = options, .out = out};
    /* one width for the labels of the whole report: lines that stand apart still align */
    for (const haul_table *part = report; part; part = part->reading) {
        const bool is_line = part->part == HAUL_PART_LINE;
        const size_t count = is_line ? 1 : part->column_count;
        if (!is_visible(&self, part) || (!is_line && part->part != HAUL_PART_OBJECT))
            continue;
        for (size_t i = 0; i < count; i++) {
            const char *label = is_line ? part->key : part->columns[i].head;
            const size_t width = label ? haul_utf8_count(label) : 0;
            self.labels = width > self.labels ? width : self.labels;
        }
    }
    for (const haul_table *part = report; part; part = part->reading)
        if (part->part != HAUL_PART_SECTION && is_visible(&self, part))
            print_part(&self, part);
}
