/* Changes tried one by one on the recorded program: each edits a plan, the plan makes a workload,
 * and the timeline says what it saves. Candidates with the most on the critical path come first,
 * for the number of operations that may be scheduled is limited. */
#include "haul/advise.h"

#include <math.h>
#include <stdlib.h>

#include "advise/advisor.h"
#include "base/numerals.h"
#include "project/staging.h"
#include "timeline/predicted_run.h"
#include "timeline/replay.h"

/* What is left for changes made together is at least this share of the operations to schedule. */
static const double together_share = 0.4;
static const uint64_t usual_ops = UINT64_C(100) * 1000 * 1000;

/* Most on the critical path first; the last two keys only make the order the same on every machine,
 * since qsort is not stable. */
static int compare_candidates(const void *a, const void *b)
{
    const haul_candidate *x = a, *y = b;
    if (x->rank_ns != y->rank_ns)
        return x->rank_ns < y->rank_ns ? 1 : -1;
    if (x->bound_ns != y->bound_ns)
        return x->bound_ns < y->bound_ns ? 1 : -1;
    if (x->change != y->change)
        return x->change < y->change ? -1 : 1;
    return (x->subject > y->subject) - (x->subject < y->subject);
}

/* The best of a candidate's variants; *saved_ns is INT64_MIN where none can be. */
static haul_status try_variants(haul_advisor *self, haul_candidate *candidate, int64_t *saved_ns,
                                haul_error *error)
{
    uint32_t best = 0;
    *saved_ns = INT64_MIN;
    for (uint32_t v = 0; v < candidate->variants; v++) {
        int64_t found_ns;
        candidate->variant = v;
        haul_rewrite_clear(&self->plan);
        candidate->change->apply(&self->study, candidate, &self->plan);
        if (self->plan.conflict)
            continue;
        /* kept apart: a change that cannot be made is no error of the advice */
        haul_error wrong = {0};
        const haul_status status = haul_advisor_schedule(self, &found_ns, NULL, &wrong);
        if (status == HAUL_BAD_INPUT)
            continue; /* operations that would wait for each other */
        if (status) {
            if (error)
                *error = wrong;
            return status;
        }
        if (found_ns > *saved_ns) {
            *saved_ns = found_ns;
            best = v;
        }
        if (!v && found_ns <= 0)
            break; /* the others are more, or less, of the same */
    }
    candidate->variant = best;
    return HAUL_OK;
}

/* Fills the plan with one candidate, as its texts and its pinned memory are looked at. */
static void apply_alone(haul_advisor *self, const haul_candidate *candidate)
{
    haul_rewrite_clear(&self->plan);
    candidate->change->apply(&self->study, candidate, &self->plan);
}

/* What pinning alone saves of a change that needs it; 0 where it does not. */
static haul_status try_pins(haul_advisor *self, const haul_candidate *candidate, int64_t *saved_ns,
                            haul_error *error)
{
    bool pins = false;
    *saved_ns = 0;
    if (candidate->change == &haul_change_pin)
        return HAUL_OK;
    apply_alone(self, candidate);
    for (size_t i = 0; !pins && i < self->workload->op_count; i++)
        pins = self->plan.edits[i].marks & HAUL_EDIT_PINNED;
    if (!pins)
        return HAUL_OK;
    haul_rewrite_keep_pins(&self->plan);
    for (uint32_t i = 0; i < self->workload->op_count; i++)
        if (self->plan.edits[i].marks & HAUL_EDIT_PINNED) {
            self->plan.edits[i].marks = 0;
            haul_study_pin(&self->study, &self->plan, i);
        }
    const haul_status status = haul_advisor_schedule(self, saved_ns, NULL, error);
    *saved_ns = *saved_ns > 0 ? *saved_ns : 0;
    return status;
}

/* Tries a candidate, and keeps it where it saves enough, also beyond what its pinned memory alone
 * does: that is the advice of another change. */
static haul_status try_one(haul_advisor *self, haul_candidate *candidate, haul_error *error)
{
    int64_t saved_ns, by_pins_ns = 0;
    const int64_t least_ns = self->out.threshold_ns > 0 ? self->out.threshold_ns : 1;
    HAUL_TRY(try_variants(self, candidate, &saved_ns, error));
    if (saved_ns >= least_ns)
        HAUL_TRY(try_pins(self, candidate, &by_pins_ns, error));
    self->out.tried++;
    if (saved_ns < least_ns || saved_ns - by_pins_ns < least_ns) {
        self->out.below++;
        return HAUL_OK;
    }
    if (!haul_grow(&self->found, &self->found_capacity, self->out.count + 1, sizeof *self->found))
        return haul_fail_no_memory(error);
    haul_found *found = &self->found[self->out.count];
    *found = (haul_found){.candidate = *candidate,
                          .advice = {.change = candidate->change->word,
                                     .certainty = candidate->change->certainty,
                                     .saved_ns = saved_ns,
                                     .share = haul_advisor_share(self, saved_ns)}};
    apply_alone(self, candidate);
    if (!haul_advisor_describe(self, found))
        return haul_fail_no_memory(error);
    self->out.count++;
    return HAUL_OK;
}

static haul_status try_all(haul_advisor *self, haul_error *error)
{
    haul_candidates *all = &self->candidates;
    haul_status status = HAUL_OK;
    for (size_t c = 0; c < haul_change_total; c++) {
        const size_t begin = all->count;
        haul_changes[c]->find(&self->study, all);
        for (size_t i = begin; i < all->count; i++)
            all->items[i].change = haul_changes[c];
    }
    if (self->study.failed)
        return haul_fail_no_memory(error);
    if (all->count)
        qsort(all->items, all->count, sizeof *all->items, compare_candidates);
    for (size_t c = 0; !status && c < all->count; c++) {
        if (all->items[c].bound_ns < self->out.threshold_ns) {
            self->out.tried++;
            self->out.below++;
        } else if (haul_advisor_may_schedule(self, 1 - together_share)) {
            status = try_one(self, &all->items[c], error);
        } else {
            self->out.untried++;
        }
    }
    return status;
}

/* Speculative changes last: a guess never stands above a change that is known to be allowed. Of
 * equal savings the safer one first. */
static int compare_found(const void *a, const void *b)
{
    const haul_found *x = a, *y = b;
    const bool x_guesses = x->advice.certainty == HAUL_SPECULATIVE;
    if (x_guesses != (y->advice.certainty == HAUL_SPECULATIVE))
        return x_guesses ? 1 : -1;
    if (x->advice.saved_ns != y->advice.saved_ns)
        return x->advice.saved_ns < y->advice.saved_ns ? 1 : -1;
    if (x->advice.certainty != y->advice.certainty)
        return x->advice.certainty < y->advice.certainty ? -1 : 1;
    return compare_candidates(&x->candidate, &y->candidate);
}

/* The run before changes, to which all savings are relative. A saving below what the replay misses
 * is none that the profile can tell, so that is the threshold. */
static haul_status schedule_baseline(haul_advisor *self, haul_error *error)
{
    const haul_timeline_options options = {.device = self->device,
                                           .release = HAUL_RELEASE_HOST,
                                           .durations_ns = self->study.durations_ns,
                                           .call_durations_ns = self->study.call_durations_ns,
                                           .delays = self->waits.delays,
                                           .delay_count = self->waits.delay_count};
    haul_predicted_run run;
    HAUL_TRY(haul_predicted_run_make(self->workload, &options, NULL, &run, error));
    self->before = run.timeline;
    self->critical = calloc(self->workload->op_count + 1, sizeof *self->critical);
    if (!self->critical)
        return haul_fail_no_memory(error);
    for (size_t c = 0; c < self->before->critical_count; c++)
        self->critical[self->before->critical[c]] = true;
    self->study.critical = self->critical;
    if (self->before->makespan_ns > 0)
        self->study.host_share =
            fmax(0, 1 - (double)self->before->critical_ns / (double)self->before->makespan_ns);
    self->scheduled += self->workload->op_count;
    /* what matters is when the last result is there, not the span of the device's work */
    self->end_ns = haul_timeline_end_ns(self->workload, self->before);
    self->out.baseline_ns = self->before->makespan_ns;
    const haul_replay *replay = &self->out.replay;
    const double off_ns = fabs((double)(replay->replayed_ns - replay->recorded_ns));
    if (replay->replayed_ns > 0)
        self->out.threshold_ns =
            (int64_t)ceil(off_ns / (double)replay->replayed_ns * (double)self->out.baseline_ns);
    self->study.threshold_ns = self->out.threshold_ns;
    return HAUL_OK;
}

/* Each step needs those before it: the machine needs the replay's device, the study the machine's
 * durations, and what changes save the run before them. */
static haul_status make(haul_advisor *self, haul_error *error)
{
    haul_advice_list *out = &self->out;
    haul_status status = haul_recorded_waits_find(self->workload, &self->waits, error);
    if (!status)
        status = haul_timeline_replay_with(self->workload, HAUL_RELEASE_HOST, &self->waits,
                                           &out->replay, error);
    if (!status)
        status = haul_advisor_machine(self, error);
    if (!status)
        status = haul_study_init(&self->study, error);
    if (!status)
        status = schedule_baseline(self, error);
    if (!status)
        status = haul_rewrite_init(&self->plan, self->workload, self->study.durations_ns,
                                   self->study.call_durations_ns, error);
    self->plan.delays = self->waits.delays;
    self->plan.delay_count = self->waits.delay_count;
    if (!status)
        status = haul_free_call(self->workload, &self->plan.free_call_ns, error);
    if (!status)
        status = haul_staging_find(self->workload, &self->study.classes, self->plan.free_call_ns,
                                   self->study.staged_ns, error);
    if (!status)
        status = try_all(self, error);
    if (!status && out->count)
        qsort(self->found, out->count, sizeof *self->found, compare_found);
    if (!status)
        status = haul_advisor_together(self, error);
    if (!status)
        status = haul_advisor_collectives(self, error);
    if (status)
        return status;
    out->items = haul_arena_alloc(&self->arena, (out->count + 1) * sizeof *out->items);
    haul_advisor_note(self);
    if (!out->items || self->notes.failed || self->study.failed)
        return haul_fail_no_memory(error);
    for (size_t i = 0; i < out->count; i++)
        out->items[i] = self->found[i].advice;
    out->before = self->before;
    out->changed = self->together.draft.workload;
    out->after = self->together.timeline;
    out->notes = self->notes.items;
    out->note_count = self->notes.count;
    return HAUL_OK;
}

haul_status haul_advise(const haul_workload *workload, const haul_advise_options *options,
                        haul_advice_list **list, haul_error *error)
{
    HAUL_PLAIN_NUMERALS;
    static const haul_advise_options usual = {0};
    haul_advisor *self = calloc(1, sizeof *self);
    if (!self)
        return haul_fail_no_memory(error);
    self->workload = workload;
    self->options = options ? options : &usual;
    self->most_ops = self->options->most_ops ? self->options->most_ops : usual_ops;
    self->study.workload = workload;
    self->study.arena = &self->arena;
    self->notes.arena = &self->arena;
    const haul_status status = make(self, error);
    haul_study_release(&self->study);
    haul_rewrite_release(&self->plan);
    haul_machine_free(self->recorded);
    haul_machine_free(self->target);
    haul_projection_free(self->projection);
    haul_recorded_waits_release(&self->waits);
    free(self->candidates.items);
    free(self->critical);
    free(self->found);
    if (status)
        haul_advice_free(&self->out);
    else
        *list = &self->out;
    return status;
}

void haul_advice_free(haul_advice_list *list)
{
    if (!list)
        return;
    haul_advisor *self = (haul_advisor *)list;
    haul_timeline_free(self->before);
    haul_advised_run_release(&self->together);
    free(self->notes.items);
    haul_arena_release(&self->arena);
    free(self);
}
