/* Copies to symbols that would fit a kernel's parameters. */
#include <string.h>

#include "advise/change.h"

/* What all of a kernel's parameters may take together: CUDA C++ Programming Guide, "4 KB", of every
 * architecture; 32,764 bytes from CUDA 12.1 on compute capability 7.0 and above, which profiles do
 * not tell of the program's compiler. */
enum { PARAMETER_BYTES = 4096 };

static bool is_symbol_copy(const haul_study *study, const haul_call_group *group)
{
    const char *name = haul_workload_string(study->workload, group->name);
    return group->direction == HAUL_HTOD && group->bytes <= PARAMETER_BYTES &&
           strstr(name, "MemcpyToSymbol") != NULL;
}

static void find(haul_study *study, haul_candidates *out)
{
    const haul_call_groups *groups = &study->groups;
    for (size_t begin = 0, end; begin < groups->count; begin = end) {
        end = haul_call_family(groups, begin);
        haul_candidate candidate = {.subject = (uint32_t)begin, .variants = 1};
        for (size_t g = begin; g < end; g++)
            for (uint32_t k = 0;
                 is_symbol_copy(study, &groups->items[g]) && k < groups->items[g].count; k++) {
                const uint32_t op = groups->ops[groups->items[g].first + k];
                haul_candidate_count(study, &candidate, op);
            }
        haul_candidates_add(study, out, &candidate);
    }
}

static void apply(haul_study *study, const haul_candidate *candidate, haul_rewrite *plan)
{
    const haul_call_groups *groups = &study->groups;
    const size_t end = haul_call_family(groups, candidate->subject);
    for (size_t g = candidate->subject; g < end; g++)
        for (uint32_t k = 0; is_symbol_copy(study, &groups->items[g]) && k < groups->items[g].count;
             k++) {
            const uint32_t op = groups->ops[groups->items[g].first + k];
            (void)haul_rewrite_claim(plan, op);
            haul_rewrite_leave_out(plan, op, false);
        }
}

static void tell(haul_study *study, const haul_candidate *candidate, const haul_effect *effect,
                 haul_advice *advice)
{
    (void)candidate;
    advice->what = haul_study_text(study, "pass as kernel parameters: %s", effect->calls);
    advice->why = haul_study_text(
        study,
        "kernel parameters travel with the launch; the copies take %s, each in a call of its own",
        haul_study_time(study, effect->before_ns));
    advice->assumes = haul_study_text(study, "the parameters of each kernel stay within %s",
                                      haul_study_bytes(study, PARAMETER_BYTES));
}

const haul_change haul_change_symbol = {
    .word = "symbol",
    .summary = "small copies to symbols become parameters of the kernels",
    .certainty = HAUL_CONDITIONAL,
    .find = find,
    .apply = apply,
    .tell = tell,
};
