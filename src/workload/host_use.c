/* A workload links each operation to the one before it on its thread; this follows the threads
 * forward, one after the other, so that the time that calls cover needs no sorting. */
#include "workload/host_use.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/intervals.h"

/* What one thread's calls cover: all of them, those that copied, those that launched. */
typedef struct thread_cover {
    haul_union calls;
    haul_union copies;
    haul_union launches;
} thread_cover;

/* Calls of one thread may overlap, where a library calls CUDA from within a call: time is counted
 * once. */
static void add_thread(const haul_workload *workload, const uint32_t *next, uint32_t first,
                       haul_host_use *use)
{
    thread_cover cover = {haul_union_begin(), haul_union_begin(), haul_union_begin()};
    for (uint32_t at = first; at != HAUL_NONE; at = next[at]) {
        const haul_op *const op = &workload->ops[at];
        const int64_t end = haul_end_of(op->call_ns, op->call_dur_ns);
        if (!(op->flags & HAUL_OP_HAS_CALL))
            continue;
        haul_union_add(&cover.calls, op->call_ns, end);
        if (op->kind == HAUL_OP_COPY)
            haul_union_add(&cover.copies, op->call_ns, end);
        else if (op->kind == HAUL_OP_KERNEL)
            haul_union_add(&cover.launches, op->call_ns, end);
    }
    use->threads++;
    use->call_ns = haul_add_ns(use->call_ns, haul_clamp_ns(cover.calls.covered));
    use->copy_call_ns = haul_add_ns(use->copy_call_ns, haul_clamp_ns(cover.copies.covered));
    use->launch_call_ns = haul_add_ns(use->launch_call_ns, haul_clamp_ns(cover.launches.covered));
}

/* A thread begins with the operation that has none before it. */
haul_status haul_host_use_sum(const haul_workload *workload, haul_host_use *use, haul_error *error)
{
    uint32_t *next = malloc((workload->op_count + 1) * sizeof *next);
    haul_host_use sum = {0};
    if (!next)
        return haul_fail_no_memory(error);
    memset(next, 0xff, workload->op_count * sizeof *next);
    for (size_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].thread_prev != HAUL_NONE)
            next[workload->ops[i].thread_prev] = (uint32_t)i;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (op->thread != HAUL_NONE && op->thread_prev == HAUL_NONE)
            add_thread(workload, next, (uint32_t)i, &sum);
    }
    free(next);
    *use = sum;
    return HAUL_OK;
}
