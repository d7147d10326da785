/* Changes combined: their saving is scheduled, never added, for two changes may save the same time.
 */

#include "advise/advisor.h"

/* The plan of the changes taken so far, and of one more, in the order of the list. */
static void apply_taken(haul_advisor *self, const haul_found *more)
{
    haul_rewrite_clear(&self->plan);
    for (size_t c = 0; c < haul_change_total; c++)
        for (size_t i = 0; i < self->out.count; i++) {
            const haul_found *found = &self->found[i];
            if (found->candidate.change == haul_changes[c] && (found->taken || found == more))
                haul_changes[c]->apply(&self->study, &found->candidate, &self->plan);
        }
}

/* A change is taken if the run with it beside all that were taken saves more than the run without,
 * and by more than the replay misses; else its advice says why it stands apart. */
static haul_status try_more(haul_advisor *self, haul_found *more, int64_t *saved_ns,
                            haul_error *error)
{
    int64_t found_ns = 0;
    apply_taken(self, more);
    if (self->plan.conflict) {
        size_t rival = 0; /* the first of the changes taken that conflicts with this one alone */
        for (size_t i = 0; i < self->out.count && !(rival && self->plan.conflict); i++) {
            const haul_found *found = &self->found[i];
            if (!found->taken)
                continue;
            haul_rewrite_clear(&self->plan);
            found->candidate.change->apply(&self->study, &found->candidate, &self->plan);
            more->candidate.change->apply(&self->study, &more->candidate, &self->plan);
            rival = i + 1;
        }
        more->advice.apart = haul_study_text(&self->study, "changes the same copies as %zu", rival);
        return HAUL_OK;
    }
    haul_error wrong = {0};
    const haul_status status = haul_advisor_schedule(self, &found_ns, NULL, &wrong);
    if (status == HAUL_BAD_INPUT) {
        more->advice.apart = "would wait for an operation that waits for it";
        return HAUL_OK;
    }
    if (status) {
        if (error)
            *error = wrong;
        return status;
    }
    const int64_t gain_ns = found_ns - *saved_ns;
    more->taken = gain_ns > 0 && gain_ns >= self->out.threshold_ns;
    if (more->taken)
        *saved_ns = found_ns;
    else
        more->advice.apart = "saves nothing more beside the others";
    return HAUL_OK;
}

/* In the order of the list, greedily: all subsets would be too many to schedule. */
static haul_status take(haul_advisor *self, bool speculative, int64_t *saved_ns, haul_error *error)
{
    for (size_t i = 0; i < self->out.count; i++) {
        haul_found *found = &self->found[i];
        if ((found->advice.certainty == HAUL_SPECULATIVE) != speculative)
            continue;
        if (haul_advisor_may_schedule(self, 1))
            HAUL_TRY(try_more(self, found, saved_ns, error));
        else
            found->advice.apart = "not tried with the others";
    }
    return HAUL_OK;
}

static haul_advised_plan sum_up(const haul_advisor *self, int64_t saved_ns)
{
    haul_advised_plan plan = {.saved_ns = saved_ns, .share = haul_advisor_share(self, saved_ns)};
    for (size_t i = 0; i < self->out.count; i++)
        plan.changes += self->found[i].taken;
    return plan;
}

/* The combined run is scheduled once more to be kept, with its timeline, for the page. */
haul_status haul_advisor_together(haul_advisor *self, haul_error *error)
{
    int64_t saved_ns = 0;
    haul_status status = take(self, false, &saved_ns, error);
    if (status)
        return status;
    self->out.together = sum_up(self, saved_ns);
    if (self->out.together.changes) {
        apply_taken(self, NULL);
        status = haul_advisor_schedule(self, &saved_ns, &self->together, error);
    }
    if (!status)
        status = take(self, true, &saved_ns, error);
    self->out.with_speculative = sum_up(self, saved_ns);
    /* Where all that is advised is speculative, the run after it is drawn all the same. */
    if (!status && !self->out.together.changes && self->out.with_speculative.changes) {
        apply_taken(self, NULL);
        status = haul_advisor_schedule(self, &saved_ns, &self->together, error);
        self->out.is_speculative = !status;
    }
    return status;
}
