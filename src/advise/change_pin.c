/* pin: page-locked host buffers for pageable copies. Page-locking costs time for each MiB, so a
 * buffer must be used often enough to pay (AHEAD, IPDPSW 2019). */
#include <math.h>

#include "advise/change.h"

/* Seconds that each pageable copy of a class would save from pinned memory; 0 where it cannot. */
static double saving_s(hl_advise_study *study, const hl_project_size_class *one)
{
    if (one->memory != HAUL_MEMORY_PAGEABLE || !haul_direction_crosses_link(one->direction) ||
        one->impossible)
        return 0;
    double pageable_s, pinned_s;
    const haul_copy pageable = hl_project_size_class_copy(one);
    haul_copy pinned = pageable;
    pinned.memory = HAUL_MEMORY_PINNED;
    const bool known =
        hl_advise_study_copy_time(study, &pageable, NULL, 0, &pageable_s) &&
        hl_advise_study_copy_time(study, &pinned, &hl_advise_change_pin, one->count, &pinned_s);
    const double staged_s = 1e-9 * study->staged_ns[one - study->classes.items];
    return known ? fmax(pageable_s + staged_s - pinned_s, 0) : 0;
}

/* Whether a buffer that all copies of a class use pays for its page-locking. */
static bool gains(hl_advise_study *study, const hl_project_size_class *one)
{
    return saving_s(study, one) * one->count > hl_advise_page_lock_s((double)one->bytes);
}

/* The uses after which each buffer of the calls has paid. */
static double uses_to_pay(hl_advise_study *study, uint32_t subject)
{
    const hl_project_class_range range = hl_project_size_group(&study->classes, subject);
    double uses = 1;
    for (size_t c = range.begin; c < range.end; c++) {
        const hl_project_size_class *one = &study->classes.items[c];
        if (gains(study, one))
            uses =
                fmax(uses, ceil(hl_advise_page_lock_s((double)one->bytes) / saving_s(study, one)));
    }
    return uses;
}

/* A candidate for each kind of call. */
static void find_candidates(hl_advise_study *study, hl_advise_candidates *out)
{
    hl_advise_calls_find(study, gains, out);
}

static void apply_candidate(hl_advise_study *study, const hl_advise_candidate *candidate,
                            hl_advise_rewrite *plan)
{
    hl_advise_calls_edit(study, candidate, gains, hl_advise_study_pin, plan);
}

static void write_advice(hl_advise_study *study, const hl_advise_candidate *candidate,
                         const hl_advise_effect *effect, haul_advice *advice)
{
    advice->what = hl_advise_study_text(study, "pin the host buffers of %s", effect->calls);
    advice->why = hl_advise_study_text(
        study,
        "pageable copies pass through a staging buffer of the driver: they take %s, pinned copies "
        "%s; the host spends %s in their calls",
        hl_advise_study_time(study, effect->before_ns),
        hl_advise_study_time(study, effect->after_ns),
        hl_advise_study_time(study, effect->calls_ns));
    advice->needs = hl_advise_study_text(study, "%s; a buffer pays after %.0f uses",
                                         hl_advise_study_pinned_need(study, effect),
                                         uses_to_pay(study, candidate->subject));
}

const hl_advise_change hl_advise_change_pin = {
    .word = "pin",
    .summary = "pageable host buffers become pinned",
    .certainty = HAUL_CERTAINTY_SAFE,
    .find = find_candidates,
    .apply = apply_candidate,
    .tell = write_advice,
};
