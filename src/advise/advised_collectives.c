/* Collectives: how much of their time no other kernel hides, and what hiding all of it would save.
 * No rewrite of the program can be tried: a profile does not say on what each of them waits for
 * data. So the run is scheduled once more with collectives that take no time, which is the least
 * that any order of the work could leave. */
#include <math.h>
#include <stdio.h>

#include "advise/advisor.h"
#include "haul/analysis.h"

haul_status hl_advise_advisor_collectives(hl_advise_advisor *self, haul_error *error)
{
    haul_analysis *analysis = NULL;
    int64_t saved_ns = 0;
    char most[128] = "";
    bool has_collectives = false;
    for (size_t i = 0; i < self->workload->op_count && !has_collectives; i++)
        has_collectives = haul_op_is_collective(&self->workload->ops[i]);
    if (!has_collectives)
        return HAUL_OK;
    HAUL_TRY(haul_analysis_make(self->workload, &analysis, error));
    haul_status status = HAUL_OK;
    const int64_t all_ns = analysis->busy.communication_ns;
    const int64_t exposed_ns = haul_analysis_exposed_ns(analysis);
    if (exposed_ns > 0 && hl_advise_advisor_may_schedule(self, 1)) {
        hl_advise_rewrite_clear(&self->plan);
        for (uint32_t i = 0; i < self->workload->op_count; i++)
            if (haul_op_is_collective(&self->workload->ops[i]))
                hl_advise_rewrite_claim(&self->plan, i)->dur_ns = 0;
        status = hl_advise_advisor_schedule(self, &saved_ns, NULL, error);
        const int64_t least_ns = self->out.threshold_ns > 0 ? self->out.threshold_ns : 1;
        if (saved_ns >= least_ns)
            (void)snprintf(most, sizeof most,
                           "; hiding them all would save at most %.2f ms (%.1f %%)",
                           (double)saved_ns * 1e-6, 100 * hl_advise_advisor_share(self, saved_ns));
        else
            (void)snprintf(most, sizeof most,
                           "; hiding them all would save less than %.2f ms: the run does not wait "
                           "for them",
                           fmax((double)least_ns * 1e-6, 0.01));
    }
    if (!status && all_ns > 0)
        hl_project_notes_add(
            &self->notes,
            "collectives take %.2f ms, %.2f ms of it exposed, with no kernel beside them%s",
            (double)all_ns * 1e-6, (double)exposed_ns * 1e-6, most);
    haul_analysis_free(analysis);
    return status;
}
