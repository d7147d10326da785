/* How much of the run before changes is no host thread's own time. */
#include <stdlib.h>
#include <string.h>

#include "advise/advisor.h"
#include "timeline/engine_parts.h"

/* When a call returns at the earliest, made at `called_ns`: one that waits, at once. */
static int64_t return_ns(const haul_timeline_options *options, const haul_workload *workload,
                         uint32_t op, int64_t called_ns)
{
    const bool waits =
        workload->ops[op].kind == HAUL_OP_SYNC ||
        (haul_op_on_device(&workload->ops[op]) && workload->ops[op].flags & HAUL_OP_BLOCKS);
    return waits ? called_ns
                 : hl_base_end_of(called_ns, hl_timeline_call_ns(options, workload, op));
}

/* When the chain of calls that begins with `first` launches its last kernel at the earliest, on the
 * workload's clock; INT64_MIN where it launches none. */
static int64_t last_launch_ns(const haul_timeline_options *options, const haul_workload *workload,
                              const uint32_t *next, uint32_t first)
{
    int64_t latest_ns = INT64_MIN, called_ns = hl_timeline_called_ns(&workload->ops[first]);
    for (uint32_t op = first; op != HAUL_NONE; op = next[op]) {
        if (workload->ops[op].kind == HAUL_OP_KERNEL)
            latest_ns = called_ns;
        if (next[op] != HAUL_NONE)
            called_ns = hl_timeline_due_ns(options, &workload->ops[op], &workload->ops[next[op]],
                                           called_ns, return_ns(options, workload, op, called_ns));
    }
    return latest_ns;
}

haul_status hl_advise_waits_find(hl_advise_advisor *self, haul_error *error)
{
    const haul_workload *workload = self->workload;
    const hl_advise_baseline *baseline = &self->baselines[HL_TIMELINE_LIKELY];
    const haul_timeline_options options = {.release = HAUL_RELEASE_HOST,
                                           .call_durations_ns = self->study.call_durations_ns,
                                           .host_time = baseline->host_time};
    uint32_t *next = malloc((workload->op_count + 1) * sizeof *next);
    if (!next)
        return hl_base_fail_no_memory(error);
    memset(next, 0xff, (workload->op_count + 1) * sizeof *next); /* HAUL_NONE */
    for (uint32_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].thread != HAUL_NONE && workload->ops[i].thread_prev != HAUL_NONE)
            next[workload->ops[i].thread_prev] = i;
    self->waits_ns = INT64_MAX;
    const int64_t end_ns = baseline->began_ns + baseline->run_ns;
    for (uint32_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (op->thread == HAUL_NONE || op->thread_prev != HAUL_NONE)
            continue;
        const int64_t launch_ns = last_launch_ns(&options, workload, next, i);
        if (launch_ns != INT64_MIN && end_ns - launch_ns < self->waits_ns)
            self->waits_ns = end_ns > launch_ns ? end_ns - launch_ns : 0;
    }
    free(next);
    return HAUL_OK;
}
