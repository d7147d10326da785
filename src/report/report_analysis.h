/* The analysis in forms for programs; the table for people is in report_analysis.c. */
#ifndef HAUL_REPORT_REPORT_ANALYSIS_H
#define HAUL_REPORT_REPORT_ANALYSIS_H

#include <stdbool.h>

#include "base/json_out.h"
#include "haul/report.h"

/* What a row is of: its kind, and the kernel's name or the copies' direction and memory. */
void haul_analysis_put_cost(haul_json *json, const haul_workload *workload,
                            const haul_cost_row *row);

/* Each returns false where the stream or memory failed. */
bool haul_analysis_json(const haul_workload *workload, const haul_analysis *analysis, FILE *out);
bool haul_analysis_csv(const haul_analysis *analysis, FILE *out);

#endif
