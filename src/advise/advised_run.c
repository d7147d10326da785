/* The recorded program with a plan's changes, scheduled. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advise/advisor.h"

/* When the last operation of a device ends. Where the last ones are left out the host spends the
 * time before their calls all the same: the run goes on until they would be made. */
static int64_t end_ns(const hl_advise_advisor *self, const hl_advise_advised_run *after)
{
    const hl_advise_rewrite *plan = &self->plan;
    const size_t first = self->workload->op_count + plan->extra_parts;
    int64_t latest_ns = hl_advise_timeline_end_ns(after->draft.workload, after->timeline);
    for (size_t k = 0; k < plan->insert_count; k++) {
        const int64_t called_ns =
            after->timeline->ops[first + k].start_ns + after->timeline->origin_ns;
        if (plan->inserts[k].place == HL_ADVISE_AS_CALL && called_ns > latest_ns)
            latest_ns = called_ns;
    }
    return latest_ns;
}

/* The run goes on from the first operation of a device to the last. One that begins later than
 * before the change, for a buffer is page-locked first, counts from where it began before: the
 * program waits for that. Time that a change spares before the first operation is no part of the
 * run. */
static int64_t run_ns(const hl_advise_advisor *self, const hl_advise_advised_run *after,
                      int64_t start_ns)
{
    const int64_t began_ns = self->baselines[self->host_end].began_ns;
    const int64_t begins_ns = after->timeline->origin_ns + start_ns;
    return end_ns(self, after) - (begins_ns < began_ns ? begins_ns : began_ns);
}

/* Times of calls at that end of the host's interval that is scheduled, from their likely times;
 * waits return when they may. NULL where they are as likely; the caller frees it. */
static haul_status calls_at_end(const hl_advise_advisor *self, const haul_workload *workload,
                                const int64_t *likely_ns, int64_t **made, haul_error *error)
{
    const double times =
        self->baselines[self->host_end].host_time / self->baselines[HL_TIMELINE_LIKELY].host_time;
    *made = NULL;
    if (self->host_end == HL_TIMELINE_LIKELY || !likely_ns)
        return HAUL_OK;
    *made = malloc((workload->op_count + 1) * sizeof **made);
    if (!*made)
        return hl_base_fail_no_memory(error);
    for (size_t i = 0; i < workload->op_count; i++)
        (*made)[i] = workload->ops[i].kind == HAUL_OP_SYNC
                         ? likely_ns[i]
                         : (int64_t)llround((double)likely_ns[i] * times);
    return HAUL_OK;
}

/* On the machine that recorded it the run before changes is the replay, where copies never met: by
 * what they lose to each other alone the two devices differ. */
static bool is_replay(const hl_advise_advisor *self, hl_timeline_bound end)
{
    return end == HL_TIMELINE_LIKELY && self->waits.replay && !self->study.durations_ns &&
           self->baselines[end].host_time == 1 && !hl_timeline_copies_met(self->waits.replay);
}

haul_status hl_advise_baseline_make(hl_advise_advisor *self, hl_timeline_bound end,
                                    haul_timeline **timeline, haul_error *error)
{
    hl_advise_baseline *baseline = &self->baselines[end];
    hl_timeline_predicted_run run = {.timeline = NULL};
    int64_t *calls_ns;
    self->host_end = end;
    HAUL_TRY(calls_at_end(self, self->workload, self->study.call_durations_ns, &calls_ns, error));
    const haul_timeline_options options = {
        .device = self->device,
        .release = HAUL_RELEASE_HOST,
        .durations_ns = self->study.durations_ns,
        .call_durations_ns = calls_ns ? calls_ns : self->study.call_durations_ns,
        .host_time = baseline->host_time,
        .delays = self->waits.delays,
        .delay_count = self->waits.delay_count,
    };
    haul_status status = HAUL_OK;
    if (is_replay(self, end)) {
        status =
            hl_timeline_predicted_run_check(self->workload, &options, self->waits.replay, error);
        run.timeline = self->waits.replay;
        self->waits.replay = NULL;
    } else {
        haul_timeline_free(self->waits.replay);
        self->waits.replay = NULL;
        status = hl_timeline_predicted_run_make(self->workload, &options, NULL, &run, error);
    }
    free(calls_ns);
    self->host_end = HL_TIMELINE_LIKELY;
    self->scheduled += self->workload->op_count;
    if (status) {
        haul_timeline_free(run.timeline);
        return status;
    }
    baseline->run_ns = run.timeline->makespan_ns;
    baseline->began_ns = run.timeline->origin_ns + run.timeline->start_ns;
    *timeline = run.timeline;
    return HAUL_OK;
}

/* Every try makes a whole workload and frees it again: at most two exist at a time, whatever the
 * number of candidates. */
static haul_status schedule_anew(hl_advise_advisor *self, int64_t *saved_ns,
                                 hl_advise_advised_run *run, haul_error *error)
{
    hl_advise_advised_run made = {0};
    const hl_advise_baseline *baseline = &self->baselines[self->host_end];
    int64_t *calls_ns;
    HAUL_TRY(hl_advise_rewrite_build(&self->plan, &made.draft, error));
    haul_status status =
        calls_at_end(self, made.draft.workload, made.draft.call_durations_ns, &calls_ns, error);
    const haul_timeline_options options = {
        .device = self->device,
        .release = HAUL_RELEASE_HOST,
        .durations_ns = made.draft.durations_ns,
        .call_durations_ns = calls_ns ? calls_ns : made.draft.call_durations_ns,
        .host_time = baseline->host_time,
        .delays = made.draft.delays,
        .delay_count = made.draft.delay_count,
    };
    self->scheduled += made.draft.workload->op_count;
    hl_timeline_predicted_run predicted = {.timeline = NULL};
    if (!status)
        status =
            hl_timeline_predicted_run_make(made.draft.workload, &options, NULL, &predicted, error);
    free(calls_ns);
    made.timeline = predicted.timeline;
    if (!status) {
        const int64_t took_ns = run_ns(self, &made, predicted.bound.start_ns);
        *saved_ns = baseline->run_ns - took_ns;
        status = hl_timeline_bound_check(&predicted.bound, took_ns, error);
    }
    if (!status && run)
        *run = made;
    else
        hl_advise_advised_run_release(&made);
    return status;
}

haul_status hl_advise_advisor_schedule(hl_advise_advisor *self, int64_t *saved_ns,
                                       hl_advise_advised_run *run, haul_error *error)
{
    if (self->plan.failed || self->study.failed)
        return hl_base_fail_no_memory(error);
    hl_advise_known_run one = {.key = hl_advise_rewrite_key_of(&self->plan),
                               .host_end = self->host_end};
    for (size_t k = 0; !run && k < self->known_count; k++) {
        const hl_advise_known_run *known = &self->known[k];
        if (memcmp(&known->key, &one.key, sizeof one.key) != 0 || known->host_end != one.host_end)
            continue;
        *saved_ns = known->saved_ns;
        return HAUL_OK;
    }
    HAUL_TRY(schedule_anew(self, saved_ns, run, error));
    one.saved_ns = *saved_ns;
    if (!hl_base_grow(&self->known, &self->known_capacity, self->known_count + 1,
                      sizeof *self->known))
        return hl_base_fail_no_memory(error);
    self->known[self->known_count++] = one;
    return HAUL_OK;
}

void hl_advise_advised_run_release(hl_advise_advised_run *run)
{
    haul_timeline_free(run->timeline);
    hl_advise_rewritten_release(&run->draft);
    run->timeline = NULL;
}

/* Whether one more run may be scheduled of those that `share` of the limit leaves. */
bool hl_advise_advisor_may_schedule(const hl_advise_advisor *self, double share)
{
    const double most = (double)self->most_ops * share;
    return (double)(self->scheduled + self->workload->op_count) <= most;
}

/* The plan as it is, scheduled at another end. One that cannot be scheduled there leaves the ends
 * where they are. */
static haul_status widen(hl_advise_advisor *self, int64_t ends_ns[2], haul_error *error)
{
    int64_t found_ns = 0;
    haul_error wrong = {0};
    const haul_status status = hl_advise_advisor_schedule(self, &found_ns, NULL, &wrong);
    if (status == HAUL_STATUS_BAD_INPUT)
        return HAUL_OK;
    if (status) {
        if (error)
            *error = wrong;
        return status;
    }
    ends_ns[0] = found_ns < ends_ns[0] ? found_ns : ends_ns[0];
    ends_ns[1] = found_ns > ends_ns[1] ? found_ns : ends_ns[1];
    return HAUL_OK;
}

/* Changes keep to what was found likely to pay; only its times move. */
haul_status hl_advise_interval_find(hl_advise_advisor *self, hl_advise_refill refill,
                                    const void *context, int64_t saved_ns, int64_t ends_ns[2],
                                    haul_error *error)
{
    ends_ns[0] = ends_ns[1] = saved_ns;
    self->study.used_loan = false;
    refill(self, context);
    const bool is_lent = self->study.used_loan;
    /* A slower host leaves more, or less, for a change to save: its time is at each end in turn. */
    haul_status status = HAUL_OK;
    for (int end = HL_TIMELINE_LOW; !status && end < HL_TIMELINE_LIKELY; end++) {
        if (self->baselines[end].host_time <= 0)
            continue;
        self->host_end = (hl_timeline_bound)end;
        status = widen(self, ends_ns, error);
    }
    self->host_end = HL_TIMELINE_LIKELY;
    self->rests_on_loan |= is_lent;
    for (int end = 0; is_lent && !status && end < 2; end++) {
        self->study.end = end ? HL_ADVISE_FAST : HL_ADVISE_SLOW;
        refill(self, context);
        status = widen(self, ends_ns, error);
    }
    self->study.end = HL_ADVISE_LIKELY;
    refill(self, context);
    return status;
}
