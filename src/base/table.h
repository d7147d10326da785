/* Tables of text: filled cell by cell, printed aligned for people or as CSV (RFC 4180). */
#ifndef HAUL_BASE_TABLE_H
#define HAUL_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"

/* Zero is an empty table; a failure to get memory is kept and told by the printing functions. */
typedef struct haul_grid {
    haul_arena arena;
    const char **cells; /* row by row, the heads first */
    size_t count;
    size_t capacity;
    size_t columns;
    bool failed;
} haul_grid;

/* Starts a table with `columns` heads. A head that begins with '<' makes its column left-aligned
 * (the sign is not printed); the others are right-aligned. */
void haul_grid_begin(haul_grid *table, const char *const *heads, size_t columns);

/* Adds the next cell; rows are full after `columns` cells. */
void haul_grid_cell(haul_grid *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints with two spaces between columns and none at the end of a line, control characters as '?';
 * returns false where memory or the stream failed. */
bool haul_grid_print(const haul_grid *table, FILE *out);
bool haul_grid_print_csv(const haul_grid *table, FILE *out);

/* Prints the rows that are there as CSV and forgets them: between full rows of a long table. */
bool haul_grid_flush_csv(haul_grid *table, FILE *out);

void haul_grid_release(haul_grid *table);

#endif
