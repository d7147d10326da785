/* Changes combined: their saving is scheduled, never added, for two changes may save the same time.
 */

#include "advise/advisor.h"

/* The plan of the changes taken so far, and of one more, in the order of the list. */
static void apply_taken(hl_advise_advisor *self, const void *one_more)
{
    const hl_advise_found *more = one_more;
    hl_advise_rewrite_clear(&self->plan);
    for (size_t c = 0; c < hl_advise_change_total; c++)
        for (size_t i = 0; i < self->out.count; i++) {
            const hl_advise_found *found = &self->found[i];
            if (found->candidate.change == hl_advise_changes[c] && (found->taken || found == more))
                hl_advise_changes[c]->apply(&self->study, &found->candidate, &self->plan);
        }
}

/* A change is taken if the run with it beside all that were taken saves more than the run without,
 * and by more than the replay misses; else its advice says why it stands apart. */
static haul_status try_more(hl_advise_advisor *self, hl_advise_found *more, int64_t *saved_ns,
                            haul_error *error)
{
    int64_t found_ns = 0;
    apply_taken(self, more);
    if (self->plan.conflict) {
        size_t rival = 0; /* the first of the changes taken that conflicts with this one alone */
        for (size_t i = 0; i < self->out.count && !(rival && self->plan.conflict); i++) {
            const hl_advise_found *found = &self->found[i];
            if (!found->taken)
                continue;
            hl_advise_rewrite_clear(&self->plan);
            found->candidate.change->apply(&self->study, &found->candidate, &self->plan);
            more->candidate.change->apply(&self->study, &more->candidate, &self->plan);
            rival = i + 1;
        }
        more->advice.apart =
            hl_advise_study_text(&self->study, "changes the same copies as %zu", rival);
        return HAUL_OK;
    }
    haul_error wrong = {0};
    const haul_status status = hl_advise_advisor_schedule(self, &found_ns, NULL, &wrong);
    if (status == HAUL_STATUS_BAD_INPUT) {
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
static haul_status take(hl_advise_advisor *self, haul_certainty least, haul_certainty most,
                        int64_t *saved_ns, haul_error *error)
{
    for (size_t i = 0; i < self->out.count; i++) {
        hl_advise_found *found = &self->found[i];
        if (found->advice.certainty < least || found->advice.certainty > most)
            continue;
        if (hl_advise_advisor_may_schedule(self, 1))
            HAUL_TRY(try_more(self, found, saved_ns, error));
        else
            found->advice.apart = "not tried with the others";
    }
    return HAUL_OK;
}

static haul_status sum_up(hl_advise_advisor *self, int64_t saved_ns, haul_advised_plan *plan,
                          haul_error *error)
{
    int64_t ends_ns[2] = {saved_ns, saved_ns};
    *plan =
        (haul_advised_plan){.saved_ns = saved_ns, .share = hl_advise_advisor_share(self, saved_ns)};
    for (size_t i = 0; i < self->out.count; i++)
        plan->changes += self->found[i].taken;
    if (plan->changes)
        HAUL_TRY(hl_advise_interval_find(self, apply_taken, NULL, saved_ns, ends_ns, error));
    plan->low_ns = ends_ns[0];
    plan->high_ns = ends_ns[1];
    return HAUL_OK;
}

/* Before the others, and forgotten then: beside them another choice of changes may save more. */
static haul_status sum_up_safe(hl_advise_advisor *self, haul_error *error)
{
    int64_t saved_ns = 0;
    HAUL_TRY(take(self, HAUL_CERTAINTY_SAFE, HAUL_CERTAINTY_SAFE, &saved_ns, error));
    HAUL_TRY(sum_up(self, saved_ns, &self->out.safe, error));
    for (size_t i = 0; i < self->out.count; i++) {
        self->found[i].taken = false;
        self->found[i].advice.apart = NULL;
    }
    return HAUL_OK;
}

/* The combined run is scheduled once more to be kept, with its timeline, for the page. */
haul_status hl_advise_advisor_together(hl_advise_advisor *self, haul_error *error)
{
    int64_t saved_ns = 0;
    HAUL_TRY(sum_up_safe(self, error));
    HAUL_TRY(take(self, HAUL_CERTAINTY_SAFE, HAUL_CERTAINTY_CONDITIONAL, &saved_ns, error));
    HAUL_TRY(sum_up(self, saved_ns, &self->out.together, error));
    if (self->out.together.changes) {
        apply_taken(self, NULL);
        HAUL_TRY(hl_advise_advisor_schedule(self, &saved_ns, &self->together, error));
    }
    HAUL_TRY(take(self, HAUL_CERTAINTY_SPECULATIVE, HAUL_CERTAINTY_SPECULATIVE, &saved_ns, error));
    HAUL_TRY(sum_up(self, saved_ns, &self->out.with_speculative, error));
    /* Where all that is advised is speculative, the run after it is drawn all the same. */
    if (!self->out.together.changes && self->out.with_speculative.changes) {
        apply_taken(self, NULL);
        HAUL_TRY(hl_advise_advisor_schedule(self, &saved_ns, &self->together, error));
        self->out.is_speculative = true;
    }
    return HAUL_OK;
}
