/* A workload links each operation to the one before it on its thread; this follows the threads
 * forward, one after the other, so that the time that calls cover needs no sorting. */
#include "workload/host_use.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/intervals.h"

/* Time that one thread's calls cover: all of them, those that copied, those that launched. */
typedef struct thread_cover {
    hl_base_union calls;
    hl_base_union copies;
    hl_base_union launches;
    bool is_used;
} thread_cover;

/* Calls of one thread may overlap, where a library calls CUDA from within a call: time is counted
 * once. */
static void add_calls(const haul_workload *workload, const uint32_t *next, uint32_t first,
                      thread_cover *covers)
{
    for (uint32_t at = first; at != HAUL_NONE; at = next[at]) {
        const haul_op *const op = &workload->ops[at];
        thread_cover *const cover = &covers[op->thread];
        const int64_t end = hl_base_end_of(op->call_ns, op->call_dur_ns);
        cover->is_used = true;
        if (!(op->flags & HAUL_OP_HAS_CALL))
            continue;
        hl_base_union_add(&cover->calls, op->call_ns, end);
        if (op->kind == HAUL_OP_COPY)
            hl_base_union_add(&cover->copies, op->call_ns, end);
        else if (op->kind == HAUL_OP_KERNEL)
            hl_base_union_add(&cover->launches, op->call_ns, end);
    }
}

/* A chain of calls begins with the operation that has none before it. */
haul_status hl_workload_host_use_sum(const haul_workload *workload, haul_host_use *use,
                                     haul_error *error)
{
    uint32_t *next = malloc((workload->op_count + 1) * sizeof *next);
    thread_cover *covers = malloc((workload->thread_count + 1) * sizeof *covers);
    haul_host_use sum = {0};
    const bool ready = next && covers;
    if (ready)
        memset(next, 0xff, workload->op_count * sizeof *next);
    for (size_t t = 0; ready && t < workload->thread_count; t++)
        covers[t] = (thread_cover){hl_base_union_begin(), hl_base_union_begin(),
                                   hl_base_union_begin(), false};
    for (size_t i = 0; ready && i < workload->op_count; i++)
        if (workload->ops[i].thread_prev != HAUL_NONE)
            next[workload->ops[i].thread_prev] = (uint32_t)i;
    for (size_t i = 0; ready && i < workload->op_count; i++)
        if (workload->ops[i].thread != HAUL_NONE && workload->ops[i].thread_prev == HAUL_NONE)
            add_calls(workload, next, (uint32_t)i, covers);
    for (size_t t = 0; ready && t < workload->thread_count; t++) {
        sum.threads += covers[t].is_used;
        sum.call_ns = hl_base_add_ns(sum.call_ns, hl_base_clamp_ns(covers[t].calls.covered));
        sum.copy_call_ns =
            hl_base_add_ns(sum.copy_call_ns, hl_base_clamp_ns(covers[t].copies.covered));
        sum.launch_call_ns =
            hl_base_add_ns(sum.launch_call_ns, hl_base_clamp_ns(covers[t].launches.covered));
    }
    free(next);
    free(covers);
    if (!ready)
        return hl_base_fail_no_memory(error);
    *use = sum;
    return HAUL_OK;
}
