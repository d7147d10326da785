/* Commands that answer each row of a CSV file. */
#ifndef HAUL_CLI_CSV_ROWS_H
#define HAUL_CLI_CSV_ROWS_H

#include "cli/command.h"

enum { CLI_CSV_ADDED_MOST = 8 };

/* A field that is added to a row. */
typedef struct cli_csv_cell {
    const char *text; /* NULL: the number */
    double number;
} cli_csv_cell;

/* How rows are read and answered. */
typedef struct cli_csv_job {
    const char *const *columns; /* NULL-ended: fields come in this order */
    size_t needed;              /* so many of them have to be there; of the others "" is read */
    const char *const *added;   /* NULL-ended, at most CLI_CSV_ADDED_MOST */
    size_t turns;               /* answers to a row, each a row of its own; 0: one */
    /* Fills the added cells of turn `turn`. An error is about the column *wrong of `columns`. */
    haul_status (*answer)(void *self, const char *const *fields, size_t turn, cli_csv_cell *cells,
                          size_t *wrong, haul_error *error);
    void *self;
} cli_csv_job;

/* Answers all rows of a file ("-" is standard input). Rows are written as they come to what
 * `results` names, with all columns that they came with and the added ones behind (predicted_NAME
 * where the file has a column NAME); `results` NULL: nothing is written. */
haul_status cli_csv_answer(const char *path, const cli_results *results, const cli_csv_job *job,
                           haul_error *error);

/* Reads a number of a field; BAD_INPUT for anything else, and below `least`. */
haul_status cli_csv_number(const char *field, double least, double *out, haul_error *error);

#endif
