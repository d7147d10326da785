/* What the two files of a projection's report share. */
#ifndef HAUL_REPORT_REPORT_PROJECTION_H
#define HAUL_REPORT_REPORT_PROJECTION_H

#include "haul/report.h"

typedef struct haul_projected {
    haul_report *report;
    const haul_workload *workload;
    const haul_projection_options *options;
    const haul_projection *projection;
} haul_projected;

/* The headline on the whole run, and the lines below it that are about it. */
void haul_projected_say_run(const haul_projected *self);

/* The whole run: JSON's object, and the tables. */
void haul_projected_add_run(const haul_projected *self);

/* Its kernels by name and by class. In report_projection_kernels.c. */
void haul_projected_add_kernels(const haul_projected *self);

#endif
