/* Without API calls nothing tells whether an operation started when it did because the one before
 * it had ended, or because the host came to it then. */
#include "project/stream_pauses.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/intervals.h"

/* Operations without a stream are one, the last. */
haul_status hl_project_stream_pauses(const haul_workload *workload,
                                     hl_timeline_recorded_waits *found, haul_error *error)
{
    const size_t streams = workload->stream_count;
    haul_start_delay *delays = malloc((workload->op_count + 1) * sizeof *delays);
    int64_t *ends_ns = malloc((streams + 1) * sizeof *ends_ns);
    int64_t first_ns = INT64_MAX;
    size_t count = 0;
    for (size_t i = 0; i < workload->op_count; i++)
        if (haul_op_on_device(&workload->ops[i]) && workload->ops[i].start_ns < first_ns)
            first_ns = workload->ops[i].start_ns;
    for (size_t s = 0; ends_ns && s <= streams; s++)
        ends_ns[s] = first_ns;
    for (uint32_t i = 0; delays && ends_ns && i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (!haul_op_on_device(op))
            continue;
        int64_t *end_ns = &ends_ns[op->stream < streams ? op->stream : streams];
        if (op->start_ns > *end_ns)
            delays[count++] =
                (haul_start_delay){i, hl_base_clamp_ns((uint64_t)op->start_ns - (uint64_t)*end_ns)};
        *end_ns = hl_base_end_of(op->start_ns, op->dur_ns);
    }
    free(ends_ns);
    if (!delays || !ends_ns) {
        free(delays);
        return hl_base_fail_no_memory(error);
    }
    free(found->delays);
    found->delays = delays;
    found->delay_count = count;
    return HAUL_OK;
}
