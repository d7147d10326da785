/* The tables of strategies of overlap, for the terminal and for a page. */
#ifndef HAUL_REPORT_REPORT_OVERLAP_H
#define HAUL_REPORT_REPORT_OVERLAP_H

#include "base/table.h"
#include "haul/overlap.h"

/* Begins the table: the strategies, then the roofline's bounds. */
void haul_fill_strategies(haul_grid *table, const haul_overlap *of);

#endif
