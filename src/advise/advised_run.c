/* The recorded program with a plan's changes, scheduled. */
#include "advise/advisor.h"
#include "timeline/predicted_run.h"

/* Every try makes a whole workload and frees it again: at most two exist at a time, whatever the
 * number of candidates. */
haul_status haul_advisor_schedule(haul_advisor *self, int64_t *saved_ns, haul_advised_run *run,
                                  haul_error *error)
{
    haul_advised_run made = {0};
    if (self->plan.failed || self->study.failed)
        return haul_fail_no_memory(error);
    HAUL_TRY(haul_rewrite_build(&self->plan, &made.draft, error));
    const haul_timeline_options options = {
        .device = self->device,
        .release = HAUL_RELEASE_HOST,
        .durations_ns = made.draft.durations_ns,
        .call_durations_ns = made.draft.call_durations_ns,
        .delays = made.draft.delays,
        .delay_count = made.draft.delay_count,
    };
    self->scheduled += made.draft.workload->op_count;
    haul_predicted_run predicted = {.timeline = NULL};
    haul_status status =
        haul_predicted_run_make(made.draft.workload, &options, NULL, &predicted, error);
    made.timeline = predicted.timeline;
    if (!status)
        *saved_ns = self->end_ns - haul_timeline_end_ns(made.draft.workload, made.timeline);
    if (!status && run)
        *run = made;
    else
        haul_advised_run_release(&made);
    return status;
}

void haul_advised_run_release(haul_advised_run *run)
{
    haul_timeline_free(run->timeline);
    haul_rewritten_release(&run->draft);
    run->timeline = NULL;
}

/* Whether one more run may be scheduled of those that `share` of the limit leaves. */
bool haul_advisor_may_schedule(const haul_advisor *self, double share)
{
    const double most = (double)self->most_ops * share;
    return (double)(self->scheduled + self->workload->op_count) <= most;
}
