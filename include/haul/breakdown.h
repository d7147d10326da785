/* Where the time of a run goes: what runs at once, and what decides its end. */
#ifndef HAUL_BREAKDOWN_H
#define HAUL_BREAKDOWN_H

#include "haul/analysis.h"
#include "haul/timeline.h"

HAUL_BEGIN

/* The makespan, from the first start to the last end of a device's operation, in parts that add up
 * to it. Memsets count as kernels. Whatever device they are of, operations run beside each other:
 * that is how the makespan sees them, where haul_analysis takes device by device. */
typedef struct haul_breakdown {
    int64_t makespan_ns;
    int64_t kernels_ns;   /* kernels and no copy */
    int64_t hidden_ns;    /* copies behind kernels */
    int64_t both_ways_ns; /* copies of different directions, no kernel */
    int64_t exposed_ns;   /* copies, and nothing beside them */
    int64_t idle_ns;      /* nothing on any device: the host is alone */
} haul_breakdown;

/* Of a workload whose operations have the times of `spans` (op_count), or, where that is NULL,
 * those recorded. Needs 6 bytes an operation while it runs where spans are given. Returns
 * NO_MEMORY. */
HAUL_API haul_status haul_breakdown_make(const haul_workload *workload, const haul_span *spans,
                                         haul_breakdown *breakdown, haul_error *error);

/* The critical path in parts that add up to the makespan. An operation counts from its start, or
 * where the path left the one before it, until the path goes on; a wait, from the end of what it
 * waited for. */
typedef struct haul_critical_path {
    int64_t copies_ns[HAUL_DIRECTIONS];
    int64_t kernels_ns;
    int64_t memsets_ns;
    int64_t host_ns; /* the rest: calls, what lies between them, from call to start */
    /* device operations on the path, by their time on it, the largest first; copies and memsets of
     * all sizes together, as of 0 bytes */
    haul_cost_row largest[HAUL_LARGEST];
    size_t largest_count;
} haul_critical_path;

/* Of a timeline of `workload`. Needs 80 bytes for each distinct kernel name while it runs. Returns
 * NO_MEMORY. */
HAUL_API haul_status haul_critical_path_make(const haul_workload *workload,
                                             const haul_timeline *timeline,
                                             haul_critical_path *path, haul_error *error);

HAUL_END

#endif
