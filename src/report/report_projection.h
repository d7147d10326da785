/* What the forms of a projection's report share. */
#ifndef HAUL_REPORT_REPORT_PROJECTION_H
#define HAUL_REPORT_REPORT_PROJECTION_H

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

#endif
