/* The part of a critical path that the driver has. */
#ifndef HAUL_TIMELINE_DRIVER_PART_H
#define HAUL_TIMELINE_DRIVER_PART_H

#include "haul/breakdown.h"
#include "workload/tally.h"

static inline int64_t hl_timeline_later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* From when an operation of the path counts. */
static inline int64_t hl_timeline_path_begin(const haul_workload *workload,
                                             const haul_timeline *timeline, size_t step)
{
    const uint32_t op = timeline->critical[step];
    const int64_t start_ns = hl_timeline_later(timeline->ops[op].start_ns, timeline->start_ns);
    if (haul_op_on_device(&workload->ops[op]) || !step)
        return start_ns;
    return hl_timeline_later(start_ns, timeline->ops[timeline->critical[step - 1]].end_ns);
}

/* Adds to path->driver_ns what the driver did while the path was the host's, and moves from its
 * host_ns to copies_ns, and to the tally, the time of calls in which their own pageable copies ran.
 * Needs 8 bytes an operation while it runs; false without memory. */
bool hl_timeline_driver_part_find(const haul_workload *workload, const haul_timeline *timeline,
                                  const haul_timeline_options *options, haul_critical_path *path,
                                  hl_workload_tally *tally);

#endif
