/* Parts of the report of `haul analyze`. */
#ifndef HAUL_REPORT_ANALYSIS_H
#define HAUL_REPORT_ANALYSIS_H

#include "haul/report.h"

/* A profile, its analysis, and the report that describes them. */
typedef struct hl_report_analyzed {
    haul_report *report;
    const haul_workload *workload;
    const haul_analysis *analysis;
} hl_report_analyzed;

void hl_report_analysis_answer(const hl_report_analyzed *self);

/* The device of number `at` in the analysis; NULL where the profile does not name it. */
const haul_workload_device *hl_report_analysis_device(const hl_report_analyzed *self, size_t at);

/* Bytes by busy time, not by the sum of durations: copies of two directions, or of two devices,
 * share the time. */
double hl_report_copies_rate(const haul_copy_group *group);

#endif
