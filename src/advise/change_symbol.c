/* symbol: copies to symbols that would fit into a kernel's parameters, which travel with the
 * launch: no copy, no call. */
#include <string.h>

#include "advise/change.h"

/* The most that a kernel's parameters may take: 4 KB on every architecture (CUDA C++ Programming
 * Guide); 32,764 bytes from CUDA 12.1 on compute capability 7.0 and above, but a profile does not
 * name the program's compiler. */
enum { PARAMETER_BYTES = 4096 };

static bool is_symbol_copy(haul_study *study, const haul_size_class *one)
{
    const char *name = haul_workload_string(study->workload, one->name);
    return one->direction == HAUL_HTOD && one->bytes <= PARAMETER_BYTES &&
           strstr(name, "MemcpyToSymbol") != NULL;
}

/* No wait takes the place of the call: a launch needs none. */
static void leave_out(haul_study *study, haul_rewrite *plan, uint32_t op)
{
    (void)study;
    (void)haul_rewrite_claim(plan, op);
    haul_rewrite_leave_out(plan, op, false);
}

static void find(haul_study *study, haul_candidates *out)
{
    haul_calls_find(study, is_symbol_copy, out);
}

static void apply(haul_study *study, const haul_candidate *candidate, haul_rewrite *plan)
{
    haul_calls_edit(study, candidate, is_symbol_copy, leave_out, plan);
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
