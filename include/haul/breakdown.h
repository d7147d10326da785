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

/* Work of the driver in API calls that no model of copies or kernels explains.
 * name in reports */
#define HAUL_DRIVER_WORK_LIST(X)                                                                   \
    X(PAGE_LOCK, "page-locking")         /* cudaHostAlloc, cudaHostRegister, and their ends */     \
    X(ALLOCATE, "GPU memory allocation") /* cudaMalloc, cudaFree */                                \
    X(LOAD, "module loading")                                                                      \
    X(SETUP, "driver setup") /* contexts, streams, events, graphs */                               \
    X(SLOW, "slow calls")    /* launches and copies that take over 100 us longer than usual, as */ \
                             /* where the driver starts, or loads or compiles a kernel */

typedef enum haul_driver_work {
#define HAUL_DRIVER_WORK_ENUM(name, text) HAUL_DRIVER_WORK_##name,
    HAUL_DRIVER_WORK_LIST(HAUL_DRIVER_WORK_ENUM)
#undef HAUL_DRIVER_WORK_ENUM
        HAUL_DRIVER_WORKS
} haul_driver_work;

HAUL_API const char *haul_driver_work_text(haul_driver_work work);

/* The critical path in parts that add up to the makespan. An operation counts from its start, or
 * from where the path left the one before it, until the path goes on; a wait counts from the end of
 * the operation that it waited for. */
typedef struct haul_critical_path {
    int64_t copies_ns[HAUL_DIRECTIONS];
    int64_t kernels_ns;
    int64_t memsets_ns;
    int64_t messages_ns; /* between ranks */
    int64_t
        gaps_ns; /* from kernels, memsets and copies within a device to the next of the stream */
    int64_t host_ns; /* the rest: calls, time between them, time from call to start */
    int64_t driver_ns[HAUL_DRIVER_WORKS]; /* of host_ns */
    /* device operations on the path, by their time on it, the largest first; copies and memsets of
     * all sizes together, as of 0 bytes */
    haul_cost_row largest[HAUL_ANALYSIS_LARGEST];
    size_t largest_count;
} haul_critical_path;

/* The host's own part of the path. */
static inline int64_t haul_critical_path_host(const haul_critical_path *path)
{
    int64_t rest_ns = path->host_ns;
    for (int w = 0; w < HAUL_DRIVER_WORKS; w++)
        rest_ns -= path->driver_ns[w];
    return rest_ns;
}

/* Sets *path for a timeline of `workload` that was made with `options`; NULL: without durations of
 * its own. Needs 80 bytes for each distinct kernel name and 8 an operation while it runs. Returns
 * NO_MEMORY. */
HAUL_API haul_status haul_critical_path_make(const haul_workload *workload,
                                             const haul_timeline *timeline,
                                             const haul_timeline_options *options,
                                             haul_critical_path *path, haul_error *error);

HAUL_END

#endif
