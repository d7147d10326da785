/* The critical path in parts: each stretch of it belongs to the operation that ran, or to the host
 * where no operation of the device did. */
#include "base/fail.h"
#include "haul/breakdown.h"
#include "timeline/driver_part.h"
#include "timeline/stream_gap.h"
#include "workload/tally.h"

/* From the operation before on the stream to that of this step, which waited for it alone: the
 * device's own, or, without a call, nobody's that is known. */
static int64_t gap_before(const haul_workload *workload, const haul_timeline *timeline, size_t step)
{
    const uint32_t op = timeline->critical[step];
    const uint32_t before = step ? timeline->critical[step - 1] : HAUL_NONE;
    if (before == HAUL_NONE || timeline->cause[op] != before ||
        workload->ops[op].stream != workload->ops[before].stream ||
        (workload->ops[op].thread != HAUL_NONE &&
         !hl_timeline_gap_kind_of(&workload->ops[before], &workload->ops[op])))
        return 0;
    return hl_timeline_later(timeline->ops[op].start_ns - timeline->ops[before].end_ns, 0);
}

/* Back from the end; time outside device operations and the gaps between them is the host's. */
static bool follow(const haul_workload *workload, const haul_timeline *timeline,
                   haul_critical_path *path, hl_workload_tally *tally)
{
    int64_t until_ns = timeline->start_ns + timeline->makespan_ns;
    path->host_ns = timeline->makespan_ns;
    for (size_t step = timeline->critical_count; step-- > 0;) {
        const haul_op *op = &workload->ops[timeline->critical[step]];
        const int64_t begin_ns = hl_timeline_path_begin(workload, timeline, step);
        const int64_t op_end_ns = timeline->ops[timeline->critical[step]].end_ns;
        const int64_t end_ns = op_end_ns < until_ns ? op_end_ns : until_ns;
        if (begin_ns >= until_ns)
            continue;
        until_ns = begin_ns;
        if (!haul_op_on_device(op) || end_ns <= begin_ns)
            continue;
        haul_op counted = *op;
        counted.dur_ns = end_ns - begin_ns;
        const int64_t gap_ns = gap_before(workload, timeline, step);
        path->gaps_ns += gap_ns;
        path->host_ns -= counted.dur_ns + gap_ns;
        if (op->kind == HAUL_OP_KERNEL)
            path->kernels_ns += counted.dur_ns;
        else
            counted.bytes = 0; /* in this place a kernel has its shape, by which it is counted */
        if (op->kind == HAUL_OP_COPY)
            path->copies_ns[op->direction < HAUL_DIRECTIONS ? op->direction
                                                            : HAUL_DIRECTION_UNKNOWN] +=
                counted.dur_ns;
        else if (op->kind == HAUL_OP_MESSAGE)
            path->messages_ns += counted.dur_ns;
        else if (op->kind != HAUL_OP_KERNEL)
            path->memsets_ns += counted.dur_ns;
        if (!hl_workload_tally_add(tally, &counted))
            return false;
    }
    return true;
}

/* The tally gives the kernels and copies with the most time on the path. */
haul_status haul_critical_path_make(const haul_workload *workload, const haul_timeline *timeline,
                                    const haul_timeline_options *options, haul_critical_path *path,
                                    haul_error *error)
{
    haul_critical_path made = {0};
    hl_workload_tally tally = {0};
    static const haul_timeline_options as_recorded = {.host_time = 1};
    const bool counted = follow(workload, timeline, &made, &tally) &&
                         hl_timeline_driver_part_find(
                             workload, timeline, options ? options : &as_recorded, &made, &tally);
    if (counted)
        made.largest_count = hl_workload_tally_largest(&tally, made.largest);
    hl_workload_tally_release(&tally);
    if (!counted)
        return hl_base_fail_no_memory(error);
    *path = made;
    return HAUL_OK;
}
