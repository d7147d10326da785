#include "page/write_html.h"

#include <string.h>

#include "page/html.h"
#include "report/wording.h"

/* A page stays readable, and below 5 MB with its bars; JSON and CSV have every row. */
enum { ROWS_SHOWN = 200 };

bool hl_page_html_is_shown(const haul_table *part)
{
    return part->part == HL_REPORT_PART_PARAGRAPH || part->part == HL_REPORT_PART_LINE ||
           (part->part <= HL_REPORT_PART_LIST && hl_report_table_is_shown(part));
}

/* A page has all details: the terminal's hint at an option says where they are. */
static void write_pair(const char *label, const char *text, FILE *out)
{
    static const char hint[] = "(--verbose)";
    const char *at = strstr(text, hint);
    fputs("<dt>", out);
    hl_page_html_text(label, out);
    fputs("</dt><dd>", out);
    if (at && !at[strlen(hint)]) {
        char before[1200];
        (void)snprintf(before, sizeof before, "%.*s(below)", (int)(at - text), text);
        hl_page_html_text(before, out);
    } else {
        hl_page_html_text(text, out);
    }
    fputs("</dd>\n", out);
}

/* Two blanks before a row's name indent it. */
static void write_cell(const haul_table *table, size_t row, size_t column, FILE *out)
{
    char buffer[HL_REPORT_CELL_BYTES];
    const haul_column *of = &table->columns[column];
    const char *text = hl_report_cell_say(of, hl_report_table_cell(table, row, column), buffer);
    const bool is_within = !strncmp(text, "  ", 2);
    fprintf(out, "<td%s>",
            is_within                      ? " class=\"left within\""
            : hl_report_column_is_left(of) ? " class=\"left\""
                                           : "");
    hl_page_html_text(text + (is_within ? 2 : 0), out);
    fputs("</td>", out);
}

static void write_table(const haul_table *table, FILE *out)
{
    const size_t rows =
        hl_report_table_rows_shown(table, &(haul_report_options){.top = ROWS_SHOWN});
    fputs("<div class=\"scroll\"><table>\n<thead>\n<tr>", out);
    for (size_t c = 0; c < table->column_count; c++) {
        if (!hl_report_column_is_shown(table, c))
            continue;
        fprintf(out, "<th scope=\"col\"%s>",
                hl_report_column_is_left(&table->columns[c]) ? " class=\"left\"" : "");
        hl_page_html_text(table->columns[c].head, out);
        fputs("</th>", out);
    }
    fputs("</tr>\n</thead>\n<tbody>\n", out);
    for (size_t r = 0; r < rows; r++) {
        fputs("<tr>", out);
        for (size_t c = 0; c < table->column_count; c++)
            if (hl_report_column_is_shown(table, c))
                write_cell(table, r, c, out);
        fputs("</tr>\n", out);
    }
    fputs("</tbody>\n</table></div>\n", out);
    if (rows < table->row_count)
        fprintf(out, "<p class=\"remark\">%s.</p>\n",
                hl_report_say_number_of(table->row_count - rows, "more row", NULL).text);
}

static bool is_pairs(const haul_table *part)
{
    return part->part == HL_REPORT_PART_LINE || part->part == HL_REPORT_PART_OBJECT;
}

static void write_pairs(const haul_table *part, FILE *out)
{
    char buffer[HL_REPORT_CELL_BYTES];
    if (part->part == HL_REPORT_PART_LINE)
        write_pair(part->key, part->text, out);
    for (size_t c = 0; c < part->column_count; c++)
        if (hl_report_column_is_shown(part, c))
            write_pair(
                part->columns[c].head,
                hl_report_cell_say(&part->columns[c], hl_report_table_cell(part, 0, c), buffer),
                out);
}

/* Tables stand beside each other where there is room; lines that follow each other are one list. */
static void write_parts(const haul_table *first, bool has_details, FILE *out)
{
    const haul_table *before = NULL;
    for (const haul_table *part = first; part && part->part != HL_REPORT_PART_SECTION;
         part = part->reading) {
        if (!hl_page_html_is_shown(part) || (part->is_detail && !has_details))
            continue;
        if (before && is_pairs(before) && !is_pairs(part))
            fputs("</dl>\n", out);
        if (is_pairs(part) && (!before || !is_pairs(before)))
            fputs("<dl class=\"answers\">\n", out);
        before = part;
        if (is_pairs(part)) {
            write_pairs(part, out);
        } else if (part->part == HL_REPORT_PART_PARAGRAPH) {
            fputs("<p class=\"remark\">", out);
            hl_page_html_text(part->text, out);
            fputs("</p>\n", out);
        } else if (part->part == HL_REPORT_PART_LIST) {
            fputs("<h3>", out);
            hl_page_html_text(part->columns[0].head, out);
            fputs("</h3>\n<ul class=\"notes\">\n", out);
            for (size_t r = 0; r < part->row_count; r++) {
                fputs("<li>", out);
                hl_page_html_text(hl_report_table_cell(part, r, 0)->text, out);
                fputs("</li>\n", out);
            }
            fputs("</ul>\n", out);
        } else {
            write_table(part, out);
        }
    }
    if (before && is_pairs(before))
        fputs("</dl>\n", out);
}

void hl_page_html_answer(const haul_report *report, FILE *out)
{
    fputs("<div class=\"answer\">\n", out);
    write_parts(report, false, out);
    fputs("</div>\n", out);
}

void hl_page_html_parts(const haul_table *first, FILE *out)
{
    write_parts(first, true, out);
}

bool hl_page_html_figures(haul_report *report, FILE *out)
{
    const bool is_whole = report && !report->document->failed && !report->document->mistyped;
    fputs("<details><summary>In figures</summary>\n", out);
    hl_page_html_parts(report, out);
    fputs("</details>\n", out);
    haul_report_free(report);
    return is_whole;
}
