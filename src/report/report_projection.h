/* What the forms of a projection's report share. */
#ifndef HAUL_REPORT_REPORT_PROJECTION_H
#define HAUL_REPORT_REPORT_PROJECTION_H

#include "base/json_out.h"
#include "base/table.h"
#include "haul/report.h"

typedef struct haul_projection_page {
    const haul_workload *workload;
    const haul_projection_options *options;
    const haul_projection *projection;
    FILE *out;
} haul_projection_page;

/* Each returns false where the stream or memory failed. */
bool haul_projection_print_table(const haul_projection_page *page);
bool haul_projection_print_json(const haul_projection_page *page);
bool haul_projection_print_csv(const haul_projection_page *page);

/* The tables of a projection, for the terminal and for a page; each begins the table. Only the
 * first two can do without a timeline on the target. */
void haul_fill_self_check(haul_grid *table, const haul_projection *projection);
void haul_fill_projection(haul_grid *table, const haul_projection *projection);
void haul_fill_parts(haul_grid *table, const haul_projection_page *page);
void haul_fill_path(haul_grid *table, const haul_projection_page *page);

/* The whole run as the table form shows it, and as JSON. */
bool haul_projection_print_run(const haul_projection_page *page);
void haul_projection_put_run(haul_json *json, const haul_projection_page *page);

#endif
