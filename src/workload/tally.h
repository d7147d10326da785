/* Operations of a device counted by what they share: kind, direction, memory, name, size. */
#ifndef HAUL_WORKLOAD_TALLY_H
#define HAUL_WORKLOAD_TALLY_H

#include "base/records.h"
#include "haul/analysis.h"

/* Zero is an empty tally. Rows are in the order in which their first operation came. */
typedef struct hl_workload_tally {
    haul_cost_row *rows;
    size_t count;
    size_t capacity;
    hl_base_records keys; /* by row */
} hl_workload_tally;

/* Counts a copy, memset or kernel. Returns its row, which moves when the next is added, or NULL
 * without memory. */
haul_cost_row *hl_workload_tally_add(hl_workload_tally *tally, const haul_op *op);

/* Fills rows[HAUL_ANALYSIS_LARGEST] with those of the most time, the largest first; of equal times
 * the one met first stays before. Returns how many there are. */
size_t hl_workload_tally_largest(const hl_workload_tally *tally, haul_cost_row *rows);

void hl_workload_tally_release(hl_workload_tally *tally);

#endif
