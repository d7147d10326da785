/* Cells of a report: their values, whether people see them, and their words. */
#include <math.h>

#include "report/document.h"
#include "report/wording.h"

enum { NAME_WIDTH = 48 };

const haul_cell *hl_report_table_cell(const haul_table *table, size_t row, size_t column)
{
    if (!table->made)
        return &table->cells[row * table->column_count + column];
    /* made in the place of the one before it */
    if (table->made->made_row != row || !table->made->row_count) {
        table->made->row_count = 0;
        hl_base_arena_release(&table->made->document->arena);
        table->make(table->made, table->state, row);
    }
    table->made->made_row = row;
    return &table->made->cells[column];
}

/* Every unit but a time, a flag and an interval has a value that means "not known". */
bool hl_report_cell_is_unknown(const haul_column *column, const haul_cell *cell)
{
    switch (column->unit) {
    case HAUL_UNIT_TEXT:
    case HAUL_UNIT_NAME:
        return !cell->text;
    case HAUL_UNIT_COUNT:
    case HAUL_UNIT_ID:
    case HAUL_UNIT_BYTES:
        return cell->count == HAUL_NO_COUNT;
    case HAUL_UNIT_TIME:
    case HAUL_UNIT_FLAG:
        return false;
    default:
        return !isfinite(cell->number);
    }
}

/* Only rows that people see can show an optional column: a long table is not made to its end for
 * a heading. */
bool hl_report_column_is_shown(const haul_table *table, size_t column)
{
    const haul_column *self = &table->columns[column];
    bool is_shown = self->head && !self->optional;
    const size_t rows =
        table->limit && table->limit < table->row_count ? table->limit : table->row_count;
    for (size_t r = 0; self->head && !is_shown && r < rows; r++)
        is_shown = !hl_report_cell_is_unknown(self, hl_report_table_cell(table, r, column));
    return is_shown;
}

bool hl_report_table_is_shown(const haul_table *table)
{
    for (size_t c = 0; table->row_count && c < table->column_count; c++)
        if (hl_report_column_is_shown(table, c))
            return true;
    return false;
}

/* Texts come first in the enumeration. */
bool hl_report_column_is_left(const haul_column *column)
{
    return column->unit <= HAUL_UNIT_NAME;
}

size_t hl_report_table_rows_shown(const haul_table *table, const haul_report_options *options)
{
    /* `top` of the options replaces the limit of a table that has one; other tables are always
     * whole. */
    const size_t most = table->limit && options->top ? options->top : table->limit;
    return most && most < table->row_count ? most : table->row_count;
}

/* Shares, seconds and rates have words of their own; a percentage keeps two digits, for errors
 * below 1 % are what accuracy is about. */
static hl_report_words say_number(haul_unit unit, double number)
{
    hl_report_words words = {"-"};
    if (unit == HAUL_UNIT_SECONDS)
        return hl_report_say_seconds(number);
    if (unit == HAUL_UNIT_RATE)
        return hl_report_say_rate(number);
    if (unit == HAUL_UNIT_SHARE)
        return hl_report_say_share(number);
    /* Below 1e15 every whole number is exact in a double. */
    const bool is_whole = fabs(number) < 1e15 && number == trunc(number);
    if (isfinite(number))
        (void)snprintf(words.text, sizeof words.text,
                       unit == HAUL_UNIT_PERCENT  ? "%.2f %%"
                       : unit == HAUL_UNIT_FACTOR ? "%.2fx"
                       : is_whole                 ? "%.0f"
                                                  : "%.4g",
                       number);
    return words;
}

/* For people a value that is not known is blank in counts, and "-" in measures: an empty cell
 * between numbers reads as 0. */
const char *hl_report_cell_say(const haul_column *column, const haul_cell *cell,
                               char buffer[HL_REPORT_CELL_BYTES])
{
    hl_report_words words = {""};
    switch (column->unit) {
    case HAUL_UNIT_TEXT:
        return cell->text ? cell->text : "";
    case HAUL_UNIT_NAME:
        return cell->text
                   ? hl_report_shorten_name(cell->text, NAME_WIDTH, buffer, HL_REPORT_CELL_BYTES)
                   : "";
    case HAUL_UNIT_COUNT:
        words = hl_report_say_count(cell->count);
        break;
    case HAUL_UNIT_ID:
        (void)snprintf(words.text, sizeof words.text, "%llu", (unsigned long long)cell->count);
        break;
    case HAUL_UNIT_BYTES:
        words = hl_report_say_bytes(cell->count);
        break;
    case HAUL_UNIT_TIME:
        words = hl_report_say_time(cell->ns);
        break;
    case HAUL_UNIT_INTERVAL:
        words = hl_report_say_interval(cell->ends[0], cell->ends[1]);
        break;
    case HAUL_UNIT_FLAG:
        return cell->count ? "yes" : "no";
    default:
        words = say_number(column->unit, cell->number);
    }
    /* Units before HAUL_UNIT_SECONDS are texts and counts: the enumeration is in that order. */
    const bool is_blank =
        column->unit < HAUL_UNIT_SECONDS && hl_report_cell_is_unknown(column, cell);
    (void)snprintf(buffer, HL_REPORT_CELL_BYTES, "%s", is_blank ? "" : words.text);
    return buffer;
}
