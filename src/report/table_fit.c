/* Texts are made again for widths and for printing: keeping them would cost a copy of the table.
 * But names are kept, for each depends on the others. */
#include "report/table_fit.h"

#include <stdlib.h>

#include "base/utf8.h"

/* Names that are told apart, for each is compared with all; of longer tables, which are for
 * programs, none. */
enum { MOST_NAMES = 512, NAME_WIDTH = 48, LEAST_NAME = 20, LEAST_WORDS = 24, BETWEEN = 2 };

const char *hl_report_table_fit_say(const hl_report_table_fit *self, size_t row, size_t column,
                                    char buffer[HL_REPORT_CELL_BYTES])
{
    if (column == self->name_column && self->names)
        return self->names[row].text;
    return hl_report_cell_say(&self->table->columns[column],
                              hl_report_table_cell(self->table, row, column), buffer);
}

static size_t widest(const hl_report_table_fit *self, size_t column)
{
    char buffer[HL_REPORT_CELL_BYTES];
    size_t most = hl_base_utf8_count(self->table->columns[column].head);
    for (size_t r = 0; r < self->rows; r++) {
        const size_t width = hl_base_utf8_count(hl_report_table_fit_say(self, r, column, buffer));
        most = width > most ? width : most;
    }
    /* A shown column without any text is one blank wide, as 0 means "not shown". */
    return most ? most : 1;
}

static void find_last(hl_report_table_fit *self)
{
    self->last = 0;
    for (size_t c = 0; c < HL_REPORT_TABLE_COLUMNS; c++)
        self->last = self->widths[c] ? c : self->last;
}

/* Words that end the row are wrapped: they need less room than they take. */
static size_t needed(const hl_report_table_fit *self)
{
    size_t sum = 0;
    for (size_t c = 0; c <= self->last; c++) {
        const bool wraps = c == self->last && hl_report_column_is_left(&self->table->columns[c]) &&
                           self->widths[c] > LEAST_WORDS;
        sum += wraps ? LEAST_WORDS : self->widths[c];
        sum += self->widths[c] && c != self->last ? BETWEEN : 0;
    }
    return sum;
}

/* The texts of rows that are made when they are asked for live until the next is. */
static void say_names(hl_report_table_fit *self, size_t width)
{
    const char **names = malloc((self->rows + 1) * sizeof *names);
    hl_report_name_text *texts = malloc((self->rows + 1) * sizeof *texts);
    bool done = names && texts;
    for (size_t r = 0; done && r < self->rows; r++) {
        const char *name = hl_report_table_cell(self->table, r, self->name_column)->text;
        names[r] = name ? name : "";
    }
    done = done && hl_report_names_apart(names, self->rows, width, texts);
    free(names);
    free(self->names);
    self->names = done ? texts : NULL;
    self->failed |= !done;
    if (!done)
        free(texts);
    self->widths[self->name_column] = widest(self, self->name_column);
}

static bool is_words(const hl_report_table_fit *self, size_t column)
{
    return self->widths[column] && hl_report_column_is_left(&self->table->columns[column]);
}

/* The column to leave out next; SIZE_MAX where only the first is left. */
static size_t least_wanted(const hl_report_table_fit *self)
{
    size_t first = 0;
    for (size_t c = self->last; c > 0; c--)
        if (self->widths[c] && self->table->columns[c].spare)
            return c;
    while (first < self->last && !self->widths[first])
        first++;
    /* The words at the beginning of a row tell it from the others: the last column of them. */
    size_t leading = first;
    for (size_t c = first + 1; c <= self->last && (!self->widths[c] || is_words(self, c)); c++)
        leading = self->widths[c] ? c : leading;
    for (size_t c = self->last; c > leading + 1; c--)
        if (is_words(self, c - 1))
            return c - 1;
    for (size_t c = self->last; c > leading; c--)
        if (self->widths[c] && !is_words(self, c))
            return c;
    for (size_t c = self->last; c > first + 1; c--)
        if (is_words(self, c - 1))
            return c - 1;
    return SIZE_MAX;
}

static void narrow(hl_report_table_fit *self, size_t page)
{
    const size_t all = needed(self);
    if (all > page && self->name_column != SIZE_MAX) {
        const size_t excess = all - page, now = self->widths[self->name_column];
        const size_t least = now < LEAST_NAME ? now : LEAST_NAME;
        say_names(self, now > excess + least ? now - excess : least);
    }
    while (needed(self) > page) {
        const size_t column = least_wanted(self);
        if (column == SIZE_MAX)
            return;
        self->widths[column] = 0;
        self->left_out[column] = true;
        find_last(self);
    }
}

void hl_report_table_fit_make(hl_report_table_fit *self, size_t page)
{
    const haul_table *table = self->table;
    const bool cuts_names = !table->make && self->rows <= MOST_NAMES;
    self->name_column = SIZE_MAX;
    for (size_t c = 0; c < table->column_count && c < HL_REPORT_TABLE_COLUMNS; c++) {
        if (!hl_report_column_is_shown(table, c))
            continue;
        if (cuts_names && self->name_column == SIZE_MAX && table->columns[c].unit == HAUL_UNIT_NAME)
            self->name_column = c;
        else
            self->widths[c] = widest(self, c);
    }
    if (self->name_column != SIZE_MAX)
        say_names(self, NAME_WIDTH);
    find_last(self);
    if (page)
        narrow(self, page);
}

void hl_report_table_fit_release(hl_report_table_fit *self)
{
    free(self->names);
    self->names = NULL;
}
