/* Changes tried one by one on the recorded program: each edits a plan, the plan makes a workload,
 * and the timeline says what it saves. Candidates with the most on the critical path come first,
 * for the number of operations that may be scheduled is limited. */
#include "haul/advise.h"

#include <math.h>
#include <stdlib.h>

#include "advise/advisor.h"
#include "base/compare.h"
#include "base/numerals.h"
#include "project/soundness.h"
#include "project/staging.h"
#include "timeline/driver_call.h"
#include "timeline/replay.h"

/* Changes made together keep at least this share of the operations to schedule. */
static const double together_share = 0.4;
static const uint64_t usual_ops = UINT64_C(100) * 1000 * 1000;

/* Most on the critical path first; the last two keys only make the order the same on every machine,
 * since qsort is not stable. */
static int compare_candidates(const void *a, const void *b)
{
    const hl_advise_candidate *x = a, *y = b;
    if (x->rank_ns != y->rank_ns)
        return x->rank_ns < y->rank_ns ? 1 : -1;
    if (x->bound_ns != y->bound_ns)
        return x->bound_ns < y->bound_ns ? 1 : -1;
    if (x->change != y->change)
        return x->change < y->change ? -1 : 1;
    return hl_base_compare_unsigned(x->subject, y->subject);
}

/* The best of a candidate's variants; *saved_ns is INT64_MIN where none can be. */
static haul_status try_variants(hl_advise_advisor *self, hl_advise_candidate *candidate,
                                int64_t *saved_ns, haul_error *error)
{
    uint32_t best = 0;
    *saved_ns = INT64_MIN;
    for (uint32_t v = 0; v < candidate->variants; v++) {
        int64_t found_ns;
        candidate->variant = v;
        hl_advise_rewrite_clear(&self->plan);
        candidate->change->apply(&self->study, candidate, &self->plan);
        if (self->plan.conflict)
            continue;
        /* kept apart: a change that cannot be made is no error of the advice */
        haul_error wrong = {0};
        const haul_status status = hl_advise_advisor_schedule(self, &found_ns, NULL, &wrong);
        if (status == HAUL_STATUS_BAD_INPUT)
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
static void apply_alone(hl_advise_advisor *self, const void *one)
{
    const hl_advise_candidate *candidate = one;
    hl_advise_rewrite_clear(&self->plan);
    candidate->change->apply(&self->study, candidate, &self->plan);
}

/* Finds the time that pinning alone saves of a change that needs it; 0 where it does not. */
static haul_status try_pins(hl_advise_advisor *self, const hl_advise_candidate *candidate,
                            int64_t *saved_ns, haul_error *error)
{
    bool pins = false;
    *saved_ns = 0;
    if (candidate->change == &hl_advise_change_pin)
        return HAUL_OK;
    apply_alone(self, candidate);
    for (size_t i = 0; !pins && i < self->workload->op_count; i++)
        pins = self->plan.edits[i].marks & HL_ADVISE_EDIT_PINNED;
    if (!pins)
        return HAUL_OK;
    hl_advise_rewrite_keep_pins(&self->plan);
    for (uint32_t i = 0; i < self->workload->op_count; i++)
        if (self->plan.edits[i].marks & HL_ADVISE_EDIT_PINNED) {
            self->plan.edits[i].marks = 0;
            hl_advise_study_pin(&self->study, &self->plan, i);
        }
    const haul_status status = hl_advise_advisor_schedule(self, saved_ns, NULL, error);
    *saved_ns = *saved_ns > 0 ? *saved_ns : 0;
    return status;
}

/* Tries a candidate, and keeps it where it saves enough, also beyond what its pinned memory alone
 * does: that is the advice of another change. */
static haul_status try_one(hl_advise_advisor *self, hl_advise_candidate *candidate,
                           haul_error *error)
{
    int64_t saved_ns, by_pins_ns = 0;
    const int64_t least_ns = self->out.threshold_ns > 0 ? self->out.threshold_ns : 1;
    HAUL_TRY(try_variants(self, candidate, &saved_ns, error));
    if (saved_ns >= least_ns)
        HAUL_TRY(try_pins(self, candidate, &by_pins_ns, error));
    self->out.tried++;
    if (saved_ns > candidate->bound_ns && saved_ns - candidate->bound_ns > self->beyond_ns)
        self->beyond_ns = saved_ns - candidate->bound_ns;
    if (saved_ns < least_ns || saved_ns - by_pins_ns < least_ns) {
        self->out.below++;
        return HAUL_OK;
    }
    if (!hl_base_grow(&self->found, &self->found_capacity, self->out.count + 1,
                      sizeof *self->found))
        return hl_base_fail_no_memory(error);
    hl_advise_found *found = &self->found[self->out.count];
    *found = (hl_advise_found){.candidate = *candidate,
                               .advice = {.change = candidate->change->word,
                                          .certainty = candidate->change->certainty,
                                          .saved_ns = saved_ns,
                                          .share = hl_advise_advisor_share(self, saved_ns)}};
    int64_t ends_ns[2];
    HAUL_TRY(hl_advise_interval_find(self, apply_alone, candidate, saved_ns, ends_ns, error));
    found->advice.low_ns = ends_ns[0];
    found->advice.high_ns = ends_ns[1];
    if (!hl_advise_advisor_describe(self, found))
        return hl_base_fail_no_memory(error);
    self->out.count++;
    return HAUL_OK;
}

static haul_status try_all(hl_advise_advisor *self, haul_error *error)
{
    hl_advise_candidates *all = &self->candidates;
    haul_status status = HAUL_OK;
    for (size_t c = 0; c < hl_advise_change_total; c++) {
        const size_t begin = all->count;
        hl_advise_changes[c]->find(&self->study, all);
        for (size_t i = begin; i < all->count; i++)
            all->items[i].change = hl_advise_changes[c];
    }
    if (self->study.failed)
        return hl_base_fail_no_memory(error);
    if (all->count)
        qsort(all->items, all->count, sizeof *all->items, compare_candidates);
    for (size_t c = 0; !status && c < all->count; c++) {
        /* A run cannot end before its host has made its calls: beyond their own time only that part
         * of the run can go in which the host waits. Whole classes of changes need no schedule
         * where it never does. */
        const int64_t host_ns = hl_base_add_ns(self->waits_ns, all->items[c].host_ns);
        if (host_ns < self->out.threshold_ns || all->items[c].bound_ns < self->out.threshold_ns) {
            self->out.tried++;
            self->out.below++;
        } else if (hl_advise_advisor_may_schedule(self, 1 - together_share)) {
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
    const hl_advise_found *x = a, *y = b;
    const bool x_guesses = x->advice.certainty == HAUL_CERTAINTY_SPECULATIVE;
    if (x_guesses != (y->advice.certainty == HAUL_CERTAINTY_SPECULATIVE))
        return x_guesses ? 1 : -1;
    if (x->advice.saved_ns != y->advice.saved_ns)
        return x->advice.saved_ns < y->advice.saved_ns ? 1 : -1;
    if (x->advice.certainty != y->advice.certainty)
        return x->advice.certainty < y->advice.certainty ? -1 : 1;
    return compare_candidates(&x->candidate, &y->candidate);
}

/* The run before changes, to which all savings are relative. A saving below what the replay misses
 * is none that the profile can tell, so that is the threshold. */
static haul_status schedule_baseline(hl_advise_advisor *self, haul_error *error)
{
    self->baselines[HL_TIMELINE_LIKELY].host_time = self->out.host.likely;
    /* Both ends of the host's time, where it is not known. */
    const haul_host_time *host = &self->out.host;
    const double ends[] = {[HL_TIMELINE_LOW] = host->low, [HL_TIMELINE_HIGH] = host->high};
    for (int end = HL_TIMELINE_LOW; host->low < host->high && end < HL_TIMELINE_LIKELY; end++) {
        haul_timeline *timeline = NULL;
        self->baselines[end].host_time = ends[end];
        HAUL_TRY(hl_advise_baseline_make(self, (hl_timeline_bound)end, &timeline, error));
        haul_timeline_free(timeline);
    }
    HAUL_TRY(hl_advise_baseline_make(self, HL_TIMELINE_LIKELY, &self->before, error));
    self->critical = calloc(self->workload->op_count + 1, sizeof *self->critical);
    if (!self->critical)
        return hl_base_fail_no_memory(error);
    for (size_t c = 0; c < self->before->critical_count; c++)
        self->critical[self->before->critical[c]] = true;
    self->study.critical = self->critical;
    if (self->before->makespan_ns > 0)
        self->study.host_share =
            fmax(0, 1 - (double)self->before->critical_ns / (double)self->before->makespan_ns);
    self->out.baseline_ns = self->before->makespan_ns;
    HAUL_TRY(hl_advise_waits_find(self, error));
    HAUL_TRY(hl_advise_occupied_find(self, error));
    const haul_replay *replay = &self->out.replay;
    /* a replay that is exact by chance does not make a change's schedule so: later starts than this
     * share of the run are what it models (timeline/recorded_waits.h) */
    const double least_ns = (double)replay->recorded_ns / HL_TIMELINE_DELAYS_OF_RUN;
    const double off_ns = fmax(least_ns, fabs((double)(replay->replayed_ns - replay->recorded_ns)));
    if (replay->replayed_ns > 0)
        self->out.threshold_ns =
            (int64_t)ceil(off_ns / (double)replay->replayed_ns * (double)self->out.baseline_ns);
    self->study.threshold_ns = self->out.threshold_ns;
    return HAUL_OK;
}

/* Each step needs those before it: the study needs the machine's durations, and what changes save
 * the run before them. */
static haul_status advise_soundly(hl_advise_advisor *self, haul_error *error)
{
    haul_advice_list *out = &self->out;
    HAUL_TRY(hl_advise_study_init(&self->study, error));
    HAUL_TRY(schedule_baseline(self, error));
    HAUL_TRY(hl_advise_rewrite_init(&self->plan, self->workload, self->study.durations_ns,
                                    self->study.call_durations_ns, error));
    self->plan.delays = self->waits.delays;
    self->plan.delay_count = self->waits.delay_count;
    self->plan.issue_ns = self->device.issue_ns;
    self->plan.spread_ns = self->out.replay.recorded_ns / HL_TIMELINE_DELAYS_OF_RUN;
    if (self->plan.spread_ns < HL_TIMELINE_USUAL_CALL_NS)
        self->plan.spread_ns = HL_TIMELINE_USUAL_CALL_NS;
    HAUL_TRY(hl_project_free_call(self->workload, &self->plan.free_call_ns, error));
    self->plan.host_time = self->out.host.likely;
    self->study.free_call_ns = hl_advise_rewrite_host_ns(&self->plan, self->plan.free_call_ns);
    HAUL_TRY(hl_project_staging_find(self->workload, &self->study.classes, self->plan.free_call_ns,
                                     self->study.staged_ns, error));
    self->row_of = malloc((self->workload->op_count + 1) * sizeof *self->row_of);
    HAUL_TRY((self->row_of ? hl_workload_origins_make(self->workload, &self->origins, error)
                           : hl_base_fail_no_memory(error)));
    HAUL_TRY(try_all(self, error));
    if (out->count)
        qsort(self->found, out->count, sizeof *self->found, compare_found);
    HAUL_TRY(hl_advise_advisor_together(self, error));
    HAUL_TRY(hl_advise_advisor_collectives(self, error));
    HAUL_TRY(hl_advise_advisor_messages(self, error));
    out->items = hl_base_arena_alloc(&self->arena, (out->count + 1) * sizeof *out->items);
    HAUL_TRY(hl_advise_advisor_note(self, error));
    if (!out->items || self->notes.failed || self->study.failed)
        return hl_base_fail_no_memory(error);
    for (size_t i = 0; i < out->count; i++)
        out->items[i] = self->found[i].advice;
    out->before = self->before;
    out->changed = self->together.draft.workload;
    out->after = self->together.timeline;
    out->notes = self->notes.items;
    out->note_count = self->notes.count;
    return HAUL_OK;
}

/* The machine needs the replay's device. */
static haul_status make_advice(hl_advise_advisor *self, haul_error *error)
{
    haul_advice_list *out = &self->out;
    HAUL_TRY(hl_timeline_recorded_waits_find(self->workload, &self->waits, error));
    self->waits.keeps_replay = !self->options->on;
    const haul_release release = hl_project_release_of(self->workload);
    HAUL_TRY(hl_timeline_replay_with(self->workload, release, &self->waits, &out->replay, error));
    HAUL_TRY(hl_advise_advisor_machine(self, error));
    haul_soundness judged = hl_project_soundness_of(&out->replay);
    if (judged.is_sound && release == HAUL_RELEASE_RECORDED && out->replay.ops)
        judged =
            (haul_soundness){.why = "the profile has no API calls of its GPU's work, which are "
                                    "what a change moves; record them, too"};
    if (judged.is_sound)
        return advise_soundly(self, error);
    /* No change is tried on a schedule that does not describe the program. */
    out->unsound = hl_base_arena_string(&self->arena, judged.why);
    return out->unsound ? HAUL_OK : hl_base_fail_no_memory(error);
}

haul_status haul_advice_make(const haul_workload *workload, const haul_advise_options *options,
                             haul_advice_list **list, haul_error *error)
{
    HL_PLAIN_NUMERALS;
    static const haul_advise_options usual = {0};
    hl_advise_advisor *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    self->workload = workload;
    self->options = options ? options : &usual;
    self->most_ops = self->options->most_ops ? self->options->most_ops : usual_ops;
    self->study.workload = workload;
    self->study.arena = &self->arena;
    self->notes.arena = &self->arena;
    haul_status status = make_advice(self, error);
    if (!status && self->arena.failed)
        status = hl_base_fail_no_memory(error);
    hl_advise_study_release(&self->study);
    hl_advise_rewrite_release(&self->plan);
    haul_machine_free(self->recorded);
    haul_machine_free(self->loan.slower);
    haul_machine_free(self->target);
    haul_projection_free(self->projection);
    hl_timeline_recorded_waits_release(&self->waits);
    free(self->candidates.items);
    hl_workload_origins_release(&self->origins);
    free(self->row_of);
    free(self->critical);
    free(self->held_ns);
    free(self->device_ns);
    free(self->found);
    free(self->known);
    if (status)
        haul_advice_free(&self->out);
    else
        *list = &self->out;
    return status;
}

/* The list has those that save most first. */
const haul_advice *haul_advice_first(const haul_advice_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!list->items[i].apart && list->items[i].certainty != HAUL_CERTAINTY_SPECULATIVE)
            return &list->items[i];
    return NULL;
}

void haul_advice_free(haul_advice_list *list)
{
    if (!list)
        return;
    hl_advise_advisor *self = (hl_advise_advisor *)list;
    haul_timeline_free(self->before);
    hl_advise_advised_run_release(&self->together);
    free(self->notes.items);
    hl_base_arena_release(&self->arena);
    free(self);
}
