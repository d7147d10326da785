/* Shared by the files of a projection's report. */
#ifndef HAUL_REPORT_REPORT_PROJECTION_H
#define HAUL_REPORT_REPORT_PROJECTION_H

#include "haul/report.h"

typedef struct hl_report_projected {
    haul_report *report;
    const haul_workload *workload;
    const haul_projection_options *options;
    const haul_projection *projection;
} hl_report_projected;

/* The headline on the whole run, and the lines below it that are about it. */
void hl_report_projected_say_run(const hl_report_projected *self);

/* The whole run: JSON's object, and the tables. */
void hl_report_projected_add_run(const hl_report_projected *self);

/* Its kernels by name and by class. In report_projection_kernels.c. */
void hl_report_projected_add_kernels(const hl_report_projected *self);

/* Columns of a score, for programs. */
#define HL_REPORT_SCORE_KEYS                                                                       \
    {"wmape", .unit = HAUL_UNIT_PERCENT}, {"wape", .unit = HAUL_UNIT_PERCENT},                     \
        {"median", .unit = HAUL_UNIT_PERCENT},                                                     \
    {                                                                                              \
        "p90", .unit = HAUL_UNIT_PERCENT                                                           \
    }

/* NaN for what was not scored. */
haul_score hl_report_score_known(haul_score score);

void hl_report_projected_add_check(const hl_report_projected *self);

#endif
