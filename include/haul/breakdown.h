/* Where the time of a run goes: which operations overlap, and what is on the critical path.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_BREAKDOWN_H
#define HAUL_BREAKDOWN_H

#include "haul/analysis.h"
#include "haul/timeline.h"

HAUL_BEGIN

/* The makespan, from the first start to the last end of a device's operation, in parts that add up
 * to it. Memsets count as kernels. Operations of different devices count as overlapping here, as
 * they do for the makespan; haul_analysis takes device by device. */
typedef struct haul_breakdown {
    int64_t makespan_ns;
    int64_t kernels_ns;   /* kernels and no copy */
    int64_t hidden_ns;    /* copies overlapped with kernels */
    int64_t both_ways_ns; /* copies of different directions at once, no kernel */
    int64_t exposed_ns;   /* copies that nothing overlaps */
    int64_t idle_ns;      /* nothing on any device: host time */
} haul_breakdown;

/* Sets *breakdown for a workload whose operations have the times of `spans` (op_count; NULL: as
 * recorded). Needs 6 bytes an operation while it runs where spans are given. Returns NO_MEMORY. */
HAUL_API haul_status haul_breakdown_make(const haul_workload *workload, const haul_span *spans,
                                         haul_breakdown *breakdown, haul_error *error);

/* The critical path in parts that add up to the makespan. An operation counts from its start, or
 * from where the path left the one before it, until the path goes on; a wait counts from the end of
 * the operation that it waited for. */
typedef struct haul_critical_path {
    int64_t copies_ns[HAUL_DIRECTIONS];
    int64_t kernels_ns;
    int64_t memsets_ns;
    int64_t gaps_ns; /* from kernels to the next of their streams */
    int64_t host_ns; /* the rest: calls, time between them, time from call to start */
    /* device operations on the path, by their time on it, the largest first; copies and memsets of
     * all sizes together, as of 0 bytes */
    haul_cost_row largest[HAUL_LARGEST];
    size_t largest_count;
} haul_critical_path;

/* Sets *path for a timeline of `workload`. Needs 80 bytes for each distinct kernel name while it
 * runs. Returns NO_MEMORY. */
HAUL_API haul_status haul_critical_path_make(const haul_workload *workload,
                                             const haul_timeline *timeline,
                                             haul_critical_path *path, haul_error *error);

HAUL_END

#endif
