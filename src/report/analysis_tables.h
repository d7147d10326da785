/* The tables of an analysis, for the terminal and for a page. */
#ifndef HAUL_REPORT_ANALYSIS_TABLES_H
#define HAUL_REPORT_ANALYSIS_TABLES_H

#include "base/table.h"
#include "haul/analysis.h"

/* Each begins the table. */
void haul_fill_times(haul_table *table, const haul_analysis *analysis);
void haul_fill_copies(haul_table *table, const haul_analysis *analysis);
void haul_fill_largest(haul_table *table, const haul_workload *workload,
                       const haul_analysis *analysis);

#endif
