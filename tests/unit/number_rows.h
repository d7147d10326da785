/* The numbers in columns of a CSV file. */
#ifndef HAUL_TEST_NUMBER_ROWS_H
#define HAUL_TEST_NUMBER_ROWS_H

#include <stddef.h>

#include "haul/status.h"

enum { NUMBER_COLUMNS = 10, NUMBER_ROWS_MOST = 4096 };

/* A direction of a copy, HtoD or DtoH, is 0 or 1. */
typedef struct number_rows {
    size_t count;
    double rows[NUMBER_ROWS_MOST][NUMBER_COLUMNS];
} number_rows;

/* Reads the columns `names`, NUMBER_COLUMNS of them or ended by NULL, of the file `name` in the
 * folder `data`. On success the caller owns *out; free() it. */
haul_status number_rows_read(const char *data, const char *name, const char *const *names,
                             number_rows **out, haul_error *error);

#endif
