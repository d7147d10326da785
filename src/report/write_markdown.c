/* A report as Markdown of GitHub's kind: for summaries of CI, issues and pages. */
#include <string.h>

#include "report/document.h"
#include "report/wording.h"

typedef struct markdown {
    const haul_report_options *options;
    FILE *out;
    bool has_text; /* something stands above, */
    bool was_line; /* which is a line of a list */
} markdown;

/* Names of kernels are full of characters that Markdown takes for its own. */
static void print_escaped(const char *text, FILE *out)
{
    for (; *text; text++) {
        if (strchr("\\`*_<>|[]#~", *text))
            fputc('\\', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
}

static const char *say_cell(const haul_table *table, size_t row, size_t column,
                            char buffer[HL_REPORT_CELL_BYTES])
{
    return hl_report_cell_say(&table->columns[column], hl_report_table_cell(table, row, column),
                              buffer);
}

static void print_item(const markdown *self, const char *label, const char *text)
{
    fputs("- ", self->out);
    print_escaped(label, self->out);
    fputs(": ", self->out);
    print_escaped(text, self->out);
    fputc('\n', self->out);
}

static void print_rows(const markdown *self, const haul_table *table)
{
    char buffer[HL_REPORT_CELL_BYTES];
    const size_t rows = hl_report_table_rows_shown(table, self->options);
    for (size_t c = 0; c < table->column_count; c++) {
        if (!hl_report_column_is_shown(table, c))
            continue;
        fputs("| ", self->out);
        print_escaped(table->columns[c].head, self->out);
        fputc(' ', self->out);
    }
    fputs("|\n", self->out);
    for (size_t c = 0; c < table->column_count; c++)
        if (hl_report_column_is_shown(table, c))
            fputs(hl_report_column_is_left(&table->columns[c]) ? "| --- " : "| ---: ", self->out);
    fputs("|\n", self->out);
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < table->column_count; c++) {
            if (!hl_report_column_is_shown(table, c))
                continue;
            fputs("| ", self->out);
            print_escaped(say_cell(table, r, c, buffer), self->out);
            fputc(' ', self->out);
        }
        fputs("|\n", self->out);
    }
    if (rows < table->row_count)
        fprintf(self->out, "\n%s\n",
                hl_report_say_number_of(table->row_count - rows, "more row", NULL).text);
}

static void print_part(markdown *self, const haul_table *part)
{
    const bool is_line = part->part == HL_REPORT_PART_LINE || part->part == HL_REPORT_PART_OBJECT;
    const bool is_first = !self->has_text;
    char buffer[HL_REPORT_CELL_BYTES];
    if (self->has_text && !(is_line && self->was_line))
        fputc('\n', self->out);
    self->has_text = true;
    self->was_line = is_line;
    switch (part->part) {
    case HL_REPORT_PART_OBJECT:
        for (size_t c = 0; c < part->column_count; c++)
            if (hl_report_column_is_shown(part, c))
                print_item(self, part->columns[c].head, say_cell(part, 0, c, buffer));
        break;
    case HL_REPORT_PART_ROWS:
    case HL_REPORT_PART_MAP:
        print_rows(self, part);
        break;
    case HL_REPORT_PART_LIST:
        print_escaped(part->columns[0].head, self->out);
        fputs("\n\n", self->out);
        for (size_t r = 0; r < part->row_count; r++) {
            fputs("- ", self->out);
            print_escaped(hl_report_table_cell(part, r, 0)->text, self->out);
            fputc('\n', self->out);
        }
        break;
    case HL_REPORT_PART_LINE:
        print_item(self, part->key, part->text);
        break;
    case HL_REPORT_PART_DRAWING:
        fprintf(self->out, "```\n%s```\n", part->text);
        break;
    default:
        /* The first sentence is the answer. */
        fputs(is_first ? "**" : "", self->out);
        print_escaped(part->text, self->out);
        fputs(is_first ? "**\n" : "\n", self->out);
    }
}

void hl_report_write_markdown(const haul_report *report, const haul_report_options *options,
                              FILE *out)
{
    markdown self = {.options = options, .out = out};
    for (const haul_table *part = report; part; part = part->reading) {
        const bool is_seen = part->part > HL_REPORT_PART_LIST || hl_report_table_is_shown(part);
        if (part->part != HL_REPORT_PART_SECTION && is_seen &&
            (options->verbose || !part->is_detail))
            print_part(&self, part);
    }
}
