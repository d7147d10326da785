/* A report for people, on a terminal: sentences, labelled lines, aligned tables, lists.
 *
 * Sentences and lines are wrapped at the width that is asked for, else at 100 columns; of tables
 * only a text that ends the row is, for a row that is broken can no longer be compared with the
 * next. Where a width is asked for, tables leave columns out that do not fit. Widths count
 * characters, not bytes: names of kernels may be in any script. */
#include <string.h>

#include "base/utf8.h"
#include "report/table_fit.h"
#include "report/wording.h"

typedef struct terminal {
    const haul_report_options *options;
    FILE *out;
    size_t page;    /* columns that sentences are wrapped at */
    size_t labels;  /* width of the widest */
    bool has_text;  /* something stands above, */
    bool was_apart; /* which is no sentence */
    bool failed;    /* no memory */
} terminal;

/* Begins text that is bold, where the terminal shows colours. */
static void begin_bold(const terminal *self)
{
    fputs(self->options->colour ? "\033[1m" : "", self->out);
}

static void end_bold(const terminal *self)
{
    fputs(self->options->colour ? "\033[0m" : "", self->out);
}

/* Where printing stands in a row. */
typedef struct row_place {
    size_t column; /* of the page */
    size_t blanks; /* owed before the next text: none stand at the end of a line */
    bool is_last;
} row_place;

/* Words need as much to be wrapped in. */
enum { LEAST_WRAPPED = 24 };

/* A text that ends the row is wrapped where it reaches past the page. */
static void print_cell(const terminal *self, const char *text, size_t width, bool is_left,
                       row_place *at)
{
    /* Numbers are padded before, texts behind: the digits of a column stand below each other. */
    const size_t pad = width - hl_base_utf8_count(text);
    at->blanks += is_left ? 0 : pad;
    if (*text) {
        fprintf(self->out, "%*s", (int)at->blanks, "");
        at->column += at->blanks;
        at->blanks = 0;
        if (at->is_last && is_left && at->column + width > self->page &&
            at->column + LEAST_WRAPPED <= self->page) {
            hl_report_print_column(self->page, at->column, text, self->out);
            return;
        }
        hl_base_utf8_print(text, SIZE_MAX, self->out);
        at->column += width - pad;
    }
    at->blanks += (is_left ? pad : 0) + 2;
    if (at->is_last)
        fputc('\n', self->out);
}

/* `row` SIZE_MAX: the heads. The last column that is shown ends the line. */
static void print_row(const terminal *self, const hl_report_table_fit *fit, size_t row)
{
    char buffer[HL_REPORT_CELL_BYTES];
    row_place at = {0};
    for (size_t c = 0; c <= fit->last; c++) {
        const haul_column *column = &fit->table->columns[c];
        if (!fit->widths[c])
            continue;
        at.is_last = c == fit->last;
        print_cell(self,
                   row == SIZE_MAX ? column->head : hl_report_table_fit_say(fit, row, c, buffer),
                   fit->widths[c], hl_report_column_is_left(column), &at);
    }
}

static bool is_visible(const terminal *self, const haul_table *part)
{
    return (self->options->verbose || !part->is_detail) &&
           (part->part > HL_REPORT_PART_LIST || hl_report_table_is_shown(part));
}

static void print_line(const terminal *self, const char *label, const char *text)
{
    fprintf(self->out, "  %s%*s", label, (int)(self->labels - hl_base_utf8_count(label)) + 2, "");
    hl_report_print_hanging(self->page, self->labels + 4, text, self->out);
}

/* Two passes: all rows that are shown are measured before the first is printed. */
static void print_table(terminal *self, const haul_table *table)
{
    hl_report_table_fit fit = {.table = table,
                               .rows = hl_report_table_rows_shown(table, self->options)};
    hl_report_table_fit_make(&fit, (size_t)self->options->width);
    self->failed |= fit.failed;
    begin_bold(self);
    print_row(self, &fit, SIZE_MAX);
    end_bold(self);
    for (size_t r = 0; r < fit.rows; r++)
        print_row(self, &fit, r);
    /* "left out at 80 columns: class, because of" */
    char text[600];
    size_t used = 0;
    for (size_t c = 0; c < HL_REPORT_TABLE_COLUMNS && used < sizeof text; c++)
        if (fit.left_out[c])
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? ", " : "",
                                     fit.table->columns[c].head);
    if (used) {
        char line[700];
        (void)snprintf(line, sizeof line, "left out at %zu columns: %s", self->page, text);
        hl_report_print_wrapped(self->page, "", line, self->out);
    }
    if (fit.rows < table->row_count)
        fprintf(self->out, "%s%s\n",
                hl_report_say_number_of(table->row_count - fit.rows, "more row", NULL).text,
                /* Only one table of a report is in its CSV. */
                table->is_csv ? ": --format csv has them all" : "");
    hl_report_table_fit_release(&fit);
}

/* Tables, lists and drawings stand apart; sentences and lines follow each other. */
static void print_part(terminal *self, const haul_table *part)
{
    const bool is_apart = part->part == HL_REPORT_PART_ROWS || part->part == HL_REPORT_PART_MAP ||
                          part->part == HL_REPORT_PART_LIST || part->part == HL_REPORT_PART_DRAWING;
    char buffer[HL_REPORT_CELL_BYTES];
    if (self->has_text && (is_apart || self->was_apart))
        fputc('\n', self->out);
    const bool is_first = !self->has_text;
    self->has_text = true;
    self->was_apart = is_apart;
    switch (part->part) {
    case HL_REPORT_PART_OBJECT:
        for (size_t c = 0; c < part->column_count; c++)
            if (hl_report_column_is_shown(part, c))
                print_line(self, part->columns[c].head,
                           hl_report_cell_say(&part->columns[c], hl_report_table_cell(part, 0, c),
                                              buffer));
        break;
    case HL_REPORT_PART_ROWS:
    case HL_REPORT_PART_MAP:
        print_table(self, part);
        break;
    case HL_REPORT_PART_LIST:
        fprintf(self->out, "%s\n", part->columns[0].head);
        for (size_t r = 0; r < part->row_count; r++)
            hl_report_print_wrapped(self->page, "  - ", hl_report_table_cell(part, r, 0)->text,
                                    self->out);
        break;
    case HL_REPORT_PART_LINE:
        print_line(self, part->key, part->text);
        break;
    case HL_REPORT_PART_DRAWING:
        fputs(part->text, self->out);
        break;
    default:
        /* The first sentence is the answer. */
        if (is_first)
            begin_bold(self);
        hl_report_print_wrapped(self->page, "", part->text, self->out);
        if (is_first)
            end_bold(self);
    }
}

bool hl_report_write_terminal(const haul_report *report, const haul_report_options *options,
                              FILE *out)
{
    terminal self = {.options = options,
                     .out = out,
                     .page = options->width ? (size_t)options->width : HL_REPORT_PAGE_WIDTH};
    /* one width for the labels of the whole report: lines that stand apart still align */
    for (const haul_table *part = report; part; part = part->reading) {
        const bool is_line = part->part == HL_REPORT_PART_LINE;
        const size_t count = is_line ? 1 : part->column_count;
        if (!is_visible(&self, part) || (!is_line && part->part != HL_REPORT_PART_OBJECT))
            continue;
        for (size_t i = 0; i < count; i++) {
            const char *label = is_line ? part->key : part->columns[i].head;
            const size_t width = label ? hl_base_utf8_count(label) : 0;
            self.labels = width > self.labels ? width : self.labels;
        }
    }
    for (const haul_table *part = report; part; part = part->reading)
        if (part->part != HL_REPORT_PART_SECTION && is_visible(&self, part))
            print_part(&self, part);
    return !self.failed;
}
