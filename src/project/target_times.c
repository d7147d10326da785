/* Durations on the target, operation by operation, from the times of the classes: filled three
 * times a run, for each end of the intervals and for what is likely. */
#include "project/target_times.h"

#include <math.h>

#include "project/message_scale.h"
#include "workload/op_class.h"

/* More than a timeline holds, so that the engine refuses it, and less than an integer does. */
static const double most_ns = 9e18;

static int64_t to_ns(double ns)
{
    return (int64_t)llround(fmin(fmax(ns, 0), most_ns));
}

/* The end of an interval that a run is made with. */
static double bound_of(const hl_project_work_scale *of, hl_timeline_bound bound)
{
    return bound == HL_TIMELINE_LOW ? of->low : bound == HL_TIMELINE_HIGH ? of->high : of->likely;
}

static int64_t scaled_ns(const haul_op *op, const hl_project_work_scale *scale,
                         hl_timeline_bound bound)
{
    return to_ns((double)op->dur_ns * bound_of(scale, bound));
}

void hl_project_target_times_fill(const hl_project_target_times *self, hl_timeline_bound bound,
                                  int64_t *durations_ns)
{
    const haul_workload *workload = self->workload;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        durations_ns[i] = op->dur_ns;
        if (op->kind == HAUL_OP_KERNEL)
            durations_ns[i] = scaled_ns(
                op,
                &self->scales->kernels[hl_project_launch_groups_find(&self->scales->groups, op)],
                bound);
        else if (op->kind == HAUL_OP_MEMSET)
            durations_ns[i] = scaled_ns(op, &self->scales->memsets, bound);
        else if (op->kind == HAUL_OP_MESSAGE) {
            const hl_project_work_scale scale =
                hl_project_message_scale(self->from, self->to, workload, op);
            durations_ns[i] = scaled_ns(op, &scale, bound);
        }
    }
    for (size_t c = 0; c < self->classes->count; c++) {
        const hl_project_size_class *one = &self->classes->items[c];
        if (self->sizes[c].unpredicted)
            continue;
        const haul_estimate *sum = &self->sizes[c].predicted;
        const hl_project_work_scale sum_s = {sum->seconds, sum->low_s, sum->high_s};
        const int64_t time_ns = to_ns(1e9 * bound_of(&sum_s, bound) / one->count);
        for (uint32_t k = 0; k < one->count; k++)
            durations_ns[self->classes->ops[one->first + k]] = time_ns;
    }
}

/* How long the host fills the driver's buffers while the device empties them. */
static int64_t staging_ns(const haul_op *op)
{
    if (op->kind != HAUL_OP_COPY || op->detail != HAUL_MEMORY_PAGEABLE ||
        !(op->flags & HAUL_OP_HAS_CALL) || op->flags & HAUL_OP_BLOCKS)
        return 0;
    const int64_t returned_ns = op->call_ns + op->call_dur_ns, ended_ns = op->start_ns + op->dur_ns;
    const int64_t begin_ns = op->call_ns > op->start_ns ? op->call_ns : op->start_ns;
    const int64_t end_ns = returned_ns < ended_ns ? returned_ns : ended_ns;
    return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

bool hl_project_target_times_stages(const haul_workload *workload)
{
    for (size_t i = 0; i < workload->op_count; i++)
        if (staging_ns(&workload->ops[i]))
            return true;
    return false;
}

/* A staged call's share that follows the copy is scaled, the rest is the host's own work and stays.
 */
void hl_project_target_times_calls(const haul_workload *workload, const int64_t *durations_ns,
                                   const int64_t *own_ns, double host_time,
                                   int64_t *call_durations_ns)
{
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        const int64_t kept_ns = own_ns ? own_ns[i] : hl_workload_call_dur_ns(op);
        const int64_t staged_ns = staging_ns(op);
        const double longer = staged_ns ? (double)durations_ns[i] / (double)op->dur_ns : 1;
        const double times = op->kind == HAUL_OP_SYNC ? 1 : host_time;
        call_durations_ns[i] =
            to_ns(times * (double)(kept_ns - staged_ns) + (double)staged_ns * longer);
    }
}
