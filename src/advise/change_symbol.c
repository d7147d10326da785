/* symbol: copies to symbols that would fit into a kernel's parameters, which travel with the
 * launch: no copy, no call. */
#include <string.h>

#include "advise/change.h"

/* The most that a kernel's parameters may take: 4 KB on every architecture (CUDA C++ Programming
 * Guide); 32,764 bytes from CUDA 12.1 on compute capability 7.0 and above, but a profile does not
 * name the program's compiler. */
enum { PARAMETER_BYTES = 4096 };

static bool is_symbol_copy(hl_advise_study *study, const hl_project_size_class *one)
{
    const char *name = haul_workload_string(study->workload, one->name);
    return one->direction == HAUL_DIRECTION_HTOD && one->bytes <= PARAMETER_BYTES &&
           strstr(name, "MemcpyToSymbol") != NULL;
}

/* No wait takes the place of the call: a launch needs none. */
static void leave_out(hl_advise_study *study, hl_advise_rewrite *plan, uint32_t op)
{
    (void)study;
    (void)hl_advise_rewrite_claim(plan, op);
    hl_advise_rewrite_leave_out(plan, op, false);
}

static void find_candidates(hl_advise_study *study, hl_advise_candidates *out)
{
    hl_advise_calls_find(study, is_symbol_copy, out);
}

static void apply_candidate(hl_advise_study *study, const hl_advise_candidate *candidate,
                            hl_advise_rewrite *plan)
{
    hl_advise_calls_edit(study, candidate, is_symbol_copy, leave_out, plan);
}

static void write_advice(hl_advise_study *study, const hl_advise_candidate *candidate,
                         const hl_advise_effect *effect, haul_advice *advice)
{
    (void)candidate;
    advice->what = hl_advise_study_text(study, "pass as kernel parameters: %s", effect->calls);
    advice->why = hl_advise_study_text(
        study,
        "kernel parameters travel with the launch; the copies take %s, each in a call of its own",
        hl_advise_study_time(study, effect->before_ns));
    advice->assumes = hl_advise_study_text(study, "the parameters of each kernel stay within %s",
                                           hl_advise_study_bytes(study, PARAMETER_BYTES));
}

const hl_advise_change hl_advise_change_symbol = {
    .word = "symbol",
    .summary = "small copies to symbols become parameters of the kernels",
    .certainty = HAUL_CERTAINTY_CONDITIONAL,
    .find = find_candidates,
    .apply = apply_candidate,
    .tell = write_advice,
};
