/* pin: page-locked host buffers for pageable copies. Page-locking costs time for each MiB, so a
 * buffer must be used often enough to pay (AHEAD, IPDPSW 2019). */
#include <math.h>

#include "advise/change.h"

/* What each pageable copy of a class saves from pinned memory, in seconds; 0 where it cannot. */
static double saving_s(haul_study *study, const haul_size_class *one)
{
    if (one->memory != HAUL_PAGEABLE || !haul_crosses_link(one->direction) || one->impossible)
        return 0;
    double pageable_s, pinned_s;
    const haul_copy pageable = haul_size_class_copy(one);
    haul_copy pinned = pageable;
    pinned.memory = HAUL_PINNED;
    const bool known =
        haul_study_copy_time(study, &pageable, NULL, 0, &pageable_s) &&
        haul_study_copy_time(study, &pinned, &haul_change_pin, one->count, &pinned_s);
    const double staged_s = 1e-9 * study->staged_ns[one - study->classes.items];
    return known ? fmax(pageable_s + staged_s - pinned_s, 0) : 0;
}

/* Whether a buffer that all copies of a class use pays for its page-locking. */
static bool gains(haul_study *study, const haul_size_class *one)
{
    return saving_s(study, one) * one->count > haul_page_lock_s((double)one->bytes);
}

/* The uses after which each buffer of the calls has paid. */
static double uses_to_pay(haul_study *study, uint32_t subject)
{
    const haul_class_range range = haul_size_group(&study->classes, subject);
    double uses = 1;
    for (size_t c = range.begin; c < range.end; c++) {
        const haul_size_class *one = &study->classes.items[c];
        if (gains(study, one))
            uses = fmax(uses, ceil(haul_page_lock_s((double)one->bytes) / saving_s(study, one)));
    }
    return uses;
}

/* A candidate for each kind of call. */
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
    advice->what = haul_study_text(study, "pin the host buffers of %s", effect->calls);
    advice->why = haul_study_text(
        study,
        "pageable copies pass through a staging buffer of the driver: they take %s, pinned copies "
        "%s; the host spends %s in their calls",
        haul_study_time(study, effect->before_ns), haul_study_time(study, effect->after_ns),
        haul_study_time(study, effect->calls_ns));
    advice->needs = haul_study_text(study, "%s; a buffer pays after %.0f uses",
                                    haul_study_pinned_need(study, effect),
                                    uses_to_pay(study, candidate->subject));
}

const haul_change haul_change_pin = {
    .word = "pin",
    .summary = "pageable host buffers become pinned",
    .certainty = HAUL_SAFE,
    .find = find,
    .apply = apply,
    .tell = tell,
};
