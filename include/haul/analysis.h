/* What a recorded program did: copies by direction, memory and size, kernels, overlap, idle. */
#ifndef HAUL_ANALYSIS_H
#define HAUL_ANALYSIS_H

#include "haul/workload.h"

HAUL_BEGIN

enum { HAUL_DECADES = 20, HAUL_LARGEST = 10 };

typedef struct haul_copy_group {
    haul_direction direction;
    haul_memory memory;
    uint64_t count;
    uint64_t bytes;
    int64_t time_ns; /* sum of durations */
    /* by decade of size: [0] is 0 to 9 bytes, [k] is 10^k to 10^(k+1)-1 (AHEAD, Figure 1) */
    uint64_t decade_count[HAUL_DECADES];
    uint64_t decade_bytes[HAUL_DECADES];
    int64_t decade_time_ns[HAUL_DECADES];
    double latency_s;  /* the smallest duration seen of the group: what a copy of no bytes costs */
    double median_Bps; /* of the copies' own rates */
    double best_Bps;
} haul_copy_group;

/* Where the time goes: operations that share name, direction, memory and size. */
typedef struct haul_cost_row {
    haul_op_kind kind;
    haul_direction direction;
    haul_memory memory;
    const char *name; /* of kernels; NULL for copies and memsets */
    uint64_t bytes;   /* of one copy or memset */
    uint64_t count;
    int64_t time_ns;
} haul_cost_row;

typedef struct haul_totals {
    uint64_t count;
    uint64_t bytes;
    int64_t time_ns;
} haul_totals;

/* Times are nanoseconds. Busy times are unions of intervals over all devices and streams, never
 * sums of overlapping durations: either = copy + kernel - both; idle = span - either. Memsets count
 * as device work of neither kind: they are in `memset_busy_ns` and in either. */
typedef struct haul_analysis {
    haul_copy_group *groups; /* those met, by direction, then memory */
    size_t group_count;
    haul_totals kernels;
    haul_totals memsets;
    haul_totals syncs;
    haul_totals calls;
    int64_t span_ns; /* from the first start to the last end of device work */
    int64_t copy_busy_ns;
    int64_t kernel_busy_ns;
    int64_t both_busy_ns;
    int64_t either_busy_ns; /* copies or kernels */
    int64_t idle_ns;        /* of the span: nothing on any device */
    double latency_share;   /* of the copies' time: sum of min(duration, latency_s) / sum */
    haul_cost_row largest[HAUL_LARGEST];
    size_t largest_count;
} haul_analysis;

/* Summarises a workload; strings in the result are the workload's. Needs 16 bytes an operation
 * while it runs. Free with haul_analysis_free. */
HAUL_API haul_status haul_analyze(const haul_workload *workload, haul_analysis **analysis,
                                  haul_error *error);
HAUL_API void haul_analysis_free(haul_analysis *analysis);

HAUL_END

#endif
