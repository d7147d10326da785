/* Pinned memory for pageable copies. */
#include "advise/change.h"

/* Whether the calls are pageable and would be faster from pinned memory. */
static bool gains(haul_study *study, const haul_size_class *one)
{
    if (one->memory != HAUL_PAGEABLE || one->direction > HAUL_DTOH)
        return false;
    double pageable_s, pinned_s;
    const haul_copy pageable = haul_size_class_copy(one);
    haul_copy pinned = pageable;
    pinned.memory = HAUL_PINNED;
    return haul_study_copy_time(study, &pageable, NULL, 0, &pageable_s) &&
           haul_study_copy_time(study, &pinned, &haul_change_pin, one->count, &pinned_s) &&
           pinned_s < pageable_s;
}

static void find(haul_study *study, haul_candidates *out)
{
    haul_calls_find(study, gains, out);
}

static void apply(haul_study *study, const haul_candidate *candidate, haul_rewrite *plan)
{
    haul_calls_edit(study, candidate, gains, haul_study_pin, plan);
}

static void tell(haul_study *study, const haul_candidate *candidate, const haul_effect *effect,
                 haul_advice *advice)
{
    (void)candidate;
    advice->what = haul_study_text(study, "pin the host buffers of %s", effect->calls);
    advice->why = haul_study_text(
        study,
        "pageable copies pass through a staging buffer of the driver: they take %s, pinned copies "
        "%s; the host spends %s in their calls",
        haul_study_time(study, effect->before_ns), haul_study_time(study, effect->after_ns),
        haul_study_time(study, effect->calls_ns));
    advice->needs = haul_study_pinned_need(study, effect);
}

const haul_change haul_change_pin = {
    .word = "pin",
    .summary = "pageable host buffers become pinned",
    .certainty = HAUL_SAFE,
    .find = find,
    .apply = apply,
    .tell = tell,
};
