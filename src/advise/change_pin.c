/* Pinned memory for pageable copies. */
#include "advise/change.h"

static haul_copy copy_of(const haul_call_group *group, haul_memory memory)
{
    return (haul_copy){group->bytes, (haul_direction)group->direction, memory, HAUL_NEAR};
}

/* Whether pinned copies of this group are faster. */
static bool gains(haul_study *study, const haul_call_group *group)
{
    double pageable_s, pinned_s;
    const haul_copy pageable = copy_of(group, HAUL_PAGEABLE), pinned = copy_of(group, HAUL_PINNED);
    return haul_study_price(study, &pageable, NULL, 0, &pageable_s) &&
           haul_study_price(study, &pinned, &haul_change_pin, group->count, &pinned_s) &&
           pinned_s < pageable_s;
}

static void count_group(const haul_study *study, const haul_call_group *group,
                        haul_candidate *candidate)
{
    for (uint32_t k = 0; k < group->count; k++)
        haul_candidate_count(study, candidate, study->groups.ops[group->first + k]);
}

static void find(haul_study *study, haul_candidates *out)
{
    const haul_call_groups *groups = &study->groups;
    for (size_t begin = 0, end; begin < groups->count; begin = end) {
        end = haul_call_family(groups, begin);
        const haul_call_group *first = &groups->items[begin];
        if (first->memory != HAUL_PAGEABLE || first->direction > HAUL_DTOH)
            continue;
        haul_candidate candidate = {.subject = (uint32_t)begin, .variants = 1};
        for (size_t g = begin; g < end; g++)
            if (gains(study, &groups->items[g]))
                count_group(study, &groups->items[g], &candidate);
        haul_candidates_add(study, out, &candidate);
    }
}

static void apply(haul_study *study, const haul_candidate *candidate, haul_rewrite *plan)
{
    const haul_call_groups *groups = &study->groups;
    const size_t end = haul_call_family(groups, candidate->subject);
    for (size_t g = candidate->subject; g < end; g++) {
        if (!gains(study, &groups->items[g]))
            continue;
        for (uint32_t k = 0; k < groups->items[g].count; k++)
            haul_study_pin(study, plan, groups->ops[groups->items[g].first + k]);
    }
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
