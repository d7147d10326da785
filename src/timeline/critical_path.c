/* The critical path in parts. */
#include "base/fail.h"
#include "haul/breakdown.h"
#include "workload/tally.h"

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* From when an operation counts. */
static int64_t begin_of(const haul_workload *workload, const haul_timeline *timeline, size_t step)
{
    const uint32_t op = timeline->critical[step];
    const int64_t start_ns = later(timeline->ops[op].start_ns, timeline->start_ns);
    if (haul_op_on_device(&workload->ops[op]) || !step)
        return start_ns;
    return later(start_ns, timeline->ops[timeline->critical[step - 1]].end_ns);
}

static bool count_op(haul_critical_path *path, haul_tally *tally, const haul_op *op, int64_t ns)
{
    if (op->kind == HAUL_OP_COPY)
        path->copies_ns[op->direction < HAUL_DIRECTIONS ? op->direction : HAUL_UNKNOWN] += ns;
    else if (op->kind == HAUL_OP_KERNEL)
        path->kernels_ns += ns;
    else
        path->memsets_ns += ns;
    haul_op counted = *op;
    counted.dur_ns = ns;
    if (op->kind != HAUL_OP_KERNEL)
        counted.bytes = 0;
    return haul_tally_add(tally, &counted);
}

/* Back from the end; time outside device operations is the host's. */
static bool follow(const haul_workload *workload, const haul_timeline *timeline,
                   haul_critical_path *path, haul_tally *tally)
{
    int64_t until_ns = timeline->start_ns + timeline->makespan_ns;
    path->host_ns = timeline->makespan_ns;
    for (size_t step = timeline->critical_count; step-- > 0;) {
        const haul_op *op = &workload->ops[timeline->critical[step]];
        const int64_t begin_ns = begin_of(workload, timeline, step);
        const int64_t op_end_ns = timeline->ops[timeline->critical[step]].end_ns;
        const int64_t end_ns = op_end_ns < until_ns ? op_end_ns : until_ns;
        if (begin_ns >= until_ns)
            continue;
        until_ns = begin_ns;
        if (!haul_op_on_device(op) || end_ns <= begin_ns)
            continue;
        path->host_ns -= end_ns - begin_ns;
        if (!count_op(path, tally, op, end_ns - begin_ns))
            return false;
    }
    return true;
}

haul_status haul_critical_path_make(const haul_workload *workload, const haul_timeline *timeline,
                                    haul_critical_path *path, haul_error *error)
{
    haul_critical_path made = {0};
    haul_tally tally = {0};
    const bool counted = follow(workload, timeline, &made, &tally);
    if (counted)
        made.largest_count = haul_tally_largest(&tally, made.largest);
    haul_tally_release(&tally);
    if (!counted)
        return haul_fail_no_memory(error);
    *path = made;
    return HAUL_OK;
}
