/* Operations of a device counted by what they share: kind, direction, memory, name, size. */
#ifndef HAUL_WORKLOAD_TALLY_H
#define HAUL_WORKLOAD_TALLY_H

#include "base/records.h"
#include "haul/analysis.h"

/* Zero is an empty tally. Rows are in the order in which their first operation came. */
typedef struct haul_tally {
    haul_cost_row *rows;
    size_t count;
    size_t capacity;
    haul_records keys; /* by row */
} haul_tally;

/* Counts a copy, memset or kernel. Returns its row, which moves when the next is added, or NULL
 * without memory. */
haul_cost_row *haul_tally_add(haul_tally *tally, const haul_op *op);

/* Fills rows[HAUL_LARGEST] with those of the most time, the largest first; of equal times the one
 * met first stays before. Returns how many there are. */
size_t haul_tally_largest(const haul_tally *tally, haul_cost_row *rows);

void haul_tally_release(haul_tally *tally);

#endif
