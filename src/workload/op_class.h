/* Of what size and device an operation is, and how long its call took, for those that count, sum
 * or schedule by these. */
#ifndef HAUL_WORKLOAD_OP_CLASS_H
#define HAUL_WORKLOAD_OP_CLASS_H

#include "haul/workload.h"

/* The decade of a number of bytes: 0 for 0 to 9, k for 10^k to 10^(k+1)-1; below
 * HAUL_ANALYSIS_DECADES. */
static inline int hl_workload_decade_of(uint64_t bytes)
{
    int decade = 0;
    for (; bytes >= 10; bytes /= 10)
        decade++;
    return decade;
}

/* How long the call of an operation took; the host's own operations are their calls. */
static inline int64_t hl_workload_call_dur_ns(const haul_op *op)
{
    return haul_op_on_host(op) ? op->dur_ns : op->call_dur_ns;
}

/* Whether the thread that calls an operation goes on only when it has ended. */
static inline bool hl_workload_op_holds_thread(const haul_op *op)
{
    return haul_op_on_host(op) || (op->flags & HAUL_OP_BLOCKS);
}

/* The index of an operation's device, workload->device_count where it is not known. */
static inline size_t hl_workload_device_of(const haul_workload *workload, const haul_op *op)
{
    const uint32_t device =
        op->stream < workload->stream_count ? workload->streams[op->stream].device : HAUL_NONE;
    return device < workload->device_count ? device : workload->device_count;
}

/* The first edge of those whose `after` is `op`; where there are none, the place where they would
 * be. Edges are sorted by the operation that waits. */
static inline size_t hl_workload_first_edge(const haul_workload *workload, uint32_t op)
{
    size_t low = 0, high = workload->edge_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (workload->edges[middle].after < op)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
