/* A table of measured launches, as its readers fill it, one file after the other. */
#ifndef HAUL_KERNEL_TABLE_H
#define HAUL_KERNEL_TABLE_H

#include "base/strings.h"
#include "haul/kernel_times.h"
#include "kernel/kernel_columns.h"

/* A launch. Names are the table's, each once, so that equal ones have one address. */
typedef struct hl_kernel_row {
    const char *gpu;
    const char *kernel;
    const char *launch; /* its number in the file, where that has one */
    const char *file;
    int line;
    int column;                               /* of its size; 1 where the table has none */
    double counters[HL_KERNEL_COUNTER_COUNT]; /* NaN, which no profiler prints: not known */
} hl_kernel_row;

/* Zero is an empty table. */
typedef struct hl_kernel_table {
    hl_base_strings names;
    hl_kernel_row *rows;
    size_t count;
    size_t capacity;
} hl_kernel_table;

/* A name without result, template arguments and parameters: "matMul(float*, int) [123]" is matMul,
 * "void mul<float>(float*)" mul, "Tesla K40c (0)" Tesla K40c. */
typedef struct hl_kernel_plain_name {
    const char *start; /* in the name that was given */
    size_t length;
} hl_kernel_plain_name;
hl_kernel_plain_name hl_kernel_plain_name_of(const char *name);

/* Whether `plain`, which is such a name, is that of `name`. */
bool hl_kernel_plain_name_is(const char *plain, const char *name);

/* The plain form of a name, kept in the table; NULL without memory. */
const char *hl_kernel_table_name(hl_kernel_table *table, const char *name);

/* A new row without anything; NULL without memory. Good until the next one. */
hl_kernel_row *hl_kernel_table_add(hl_kernel_table *table);

/* Adds a column's value to a row. Parts of one counter (loads by width, sides of a grid) are put
 * together; a counter that a file gives twice under two names counts once. */
void hl_kernel_row_add(hl_kernel_row *row, const hl_kernel_column_rule *rule, double value);

/* Reads a file's text, which it changes, into rows. Sizes that it does not give are `file.size`. In
 * kernel_reader.c. */
haul_status hl_kernel_table_read(hl_kernel_table *table, char *text, size_t size,
                                 haul_kernel_csv file, haul_error *error);

/* Whether a row holds more than its names and size. */
bool hl_kernel_row_has_counters(const hl_kernel_row *row);

/* Gives counters without a time that of the launches that were timed. `is_used`, of each row: its
 * time went to counters, and it is of no more use. */
haul_status hl_kernel_table_join(hl_kernel_table *table, bool *is_used, haul_error *error);

#endif
