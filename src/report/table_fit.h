/* How a table stands on a page: the width of each column, and the names of kernels, which give way
 * first where it is narrow. */
#ifndef HAUL_REPORT_TABLE_FIT_H
#define HAUL_REPORT_TABLE_FIT_H

#include "report/names_apart.h"

enum { HL_REPORT_TABLE_COLUMNS = 32 };

/* Begin with {.table = ..., .rows = ...}, the rows that are shown; release it whatever the outcome.
 */
typedef struct hl_report_table_fit {
    const haul_table *table;
    size_t rows;
    size_t widths[HL_REPORT_TABLE_COLUMNS]; /* 0: not shown */
    bool left_out[HL_REPORT_TABLE_COLUMNS]; /* for lack of room */
    size_t last;                            /* column that is shown */
    size_t name_column;                     /* SIZE_MAX: none */
    hl_report_name_text *names;             /* of its rows */
    bool failed;                            /* no memory: different names may look alike */
} hl_report_table_fit;

/* Measures the columns. Where they take more than `page` columns (0: any) names of kernels become
 * shorter, then columns are left out: words between numbers, numbers from the right, then words
 * between the first and the last column. */
void hl_report_table_fit_make(hl_report_table_fit *self, size_t page);
void hl_report_table_fit_release(hl_report_table_fit *self);

/* A cell's text, in `buffer` or where it is kept. */
const char *hl_report_table_fit_say(const hl_report_table_fit *self, size_t row, size_t column,
                                    char buffer[HL_REPORT_CELL_BYTES]);

#endif
