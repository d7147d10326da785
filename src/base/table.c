#include "base/table.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/utf8.h"
#include "haul/csv.h"

enum { MAX_COLUMNS = 32 };

static void add_cell(haul_grid *table, const char *text)
{
    if (!text ||
        !haul_grow(&table->cells, &table->capacity, table->count + 1, sizeof *table->cells)) {
        table->failed = true;
        return;
    }
    table->cells[table->count++] = text;
}

void haul_grid_begin(haul_grid *table, const char *const *heads, size_t columns)
{
    *table = (haul_grid){.columns = columns < MAX_COLUMNS ? columns : MAX_COLUMNS};
    for (size_t i = 0; i < table->columns; i++)
        add_cell(table, haul_arena_string(&table->arena, heads[i]));
}

void haul_grid_cell(haul_grid *table, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = length < 0 ? NULL : haul_arena_alloc(&table->arena, (size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    add_cell(table, text);
}

static bool is_left(const haul_grid *table, size_t column)
{
    return table->cells[column][0] == '<';
}

static const char *cell_text(const haul_grid *table, size_t at)
{
    const char *text = table->cells[at];
    return at < table->columns && *text == '<' ? text + 1 : text;
}

static void measure(const haul_grid *table, size_t *widths)
{
    memset(widths, 0, MAX_COLUMNS * sizeof *widths);
    for (size_t i = 0; i < table->count; i++) {
        const size_t width = haul_utf8_count(cell_text(table, i));
        if (width > widths[i % table->columns])
            widths[i % table->columns] = width;
    }
}

bool haul_grid_print(const haul_grid *table, FILE *out)
{
    if (table->failed)
        return false;
    size_t widths[MAX_COLUMNS];
    measure(table, widths);
    size_t blanks = 0; /* owed before the next text: none at the end of a line */
    for (size_t i = 0; i < table->count; i++) {
        const size_t column = i % table->columns;
        const char *text = cell_text(table, i);
        const size_t pad = widths[column] - haul_utf8_count(text);
        const bool left = is_left(table, column);
        blanks += left ? 0 : pad;
        if (*text) {
            fprintf(out, "%*s", (int)blanks, "");
            haul_utf8_print(text, SIZE_MAX, out);
            blanks = 0;
        }
        blanks += (left ? pad : 0) + 2;
        if (column + 1 == table->columns) {
            fputc('\n', out);
            blanks = 0;
        }
    }
    return !ferror(out);
}

bool haul_grid_print_csv(const haul_grid *table, FILE *out)
{
    if (table->failed)
        return false;
    for (size_t i = 0; i < table->count; i++) {
        haul_csv_put(cell_text(table, i), out);
        fputc((i + 1) % table->columns ? ',' : '\n', out);
    }
    return !ferror(out);
}

bool haul_grid_flush_csv(haul_grid *table, FILE *out)
{
    const bool printed = haul_grid_print_csv(table, out);
    haul_arena_release(&table->arena);
    table->count = 0;
    return printed;
}

void haul_grid_release(haul_grid *table)
{
    haul_arena_release(&table->arena);
    free(table->cells);
    *table = (haul_grid){0};
}
