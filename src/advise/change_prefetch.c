/* prefetch: unified memory migrates before the kernel that needs it, in one copy. As faults it
 * comes in pieces of up to 2 MiB, each of which a kernel waits for. */
#include <stdlib.h>

#include "advise/change.h"
#include "base/intervals.h"
#include "workload/op_class.h"

/* The migrations to a device while its latest kernel runs. */
typedef struct faults {
    uint32_t kernel; /* HAUL_NONE: none has run */
    uint32_t count;
    uint64_t bytes;
    int64_t time_ns;
    int64_t most_ns; /* that the run can be shorter without them */
    double alone_s;  /* of each alone, summed */
    hl_base_union covered;
} faults;

typedef void (*fault_visitor)(hl_advise_study *study, const faults *at, void *state);

typedef struct fault_walk {
    faults *of; /* each device, and none */
    fault_visitor visit;
    void *state;
} fault_walk;

/* The faults of a kernel are complete when the next one starts, or at the end. */
static void close_kernel(hl_advise_study *study, const fault_walk *walk, faults *at,
                         uint32_t kernel)
{
    if (at->count)
        walk->visit(study, at, walk->state);
    *at = (faults){.kernel = kernel, .covered = hl_base_union_begin()};
}

/* Where the state is a plan, the migrations are left out of it. */
static void visit_faults(hl_advise_study *study, fault_visitor visit, bool is_plan, void *state)
{
    const haul_workload *workload = study->workload;
    const fault_walk walk = {malloc((workload->device_count + 1) * sizeof(faults)), visit, state};
    if (!walk.of) {
        study->failed = true;
        return;
    }
    for (size_t d = 0; d <= workload->device_count; d++)
        walk.of[d] = (faults){.kernel = HAUL_NONE};
    for (uint32_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        faults *at = &walk.of[hl_workload_device_of(workload, op)];
        if (op->kind == HAUL_OP_KERNEL)
            close_kernel(study, &walk, at, i);
        const haul_copy copy = {op->bytes, (haul_direction)op->direction, HAUL_MEMORY_MANAGED,
                                HAUL_LOCALITY_NEAR};
        if (op->kind != HAUL_OP_COPY || op->direction != HAUL_DIRECTION_HTOD ||
            op->detail != HAUL_MEMORY_MANAGED || at->kernel == HAUL_NONE || !op->bytes)
            continue;
        const haul_op *kernel = &workload->ops[at->kernel];
        const int64_t end_ns = hl_base_end_of(op->start_ns, op->dur_ns);
        const int64_t last_ns = kernel->start_ns + kernel->dur_ns;
        double seconds;
        if (kernel->thread == HAUL_NONE || op->start_ns >= last_ns ||
            !hl_advise_study_copy_time(study, &copy, &hl_advise_change_prefetch, 1, &seconds))
            continue;
        hl_base_union_add(&at->covered, op->start_ns, end_ns < last_ns ? end_ns : last_ns);
        at->count++;
        at->bytes += op->bytes;
        at->time_ns = hl_base_add_ns(at->time_ns, hl_advise_study_dur(study, i));
        at->most_ns = hl_base_add_ns(at->most_ns, hl_advise_study_most_ns(study, i));
        at->alone_s += seconds;
        if (!is_plan)
            continue;
        (void)hl_advise_rewrite_claim(state, i);
        hl_advise_rewrite_leave_out(state, i, false);
    }
    for (size_t d = 0; d <= workload->device_count; d++)
        close_kernel(study, &walk, &walk.of[d], HAUL_NONE);
    free(walk.of);
}

/* The part of a kernel's time in which it had migrations beside it. */
static int64_t covered_of(const haul_workload *workload, const faults *at, int64_t kernel_ns)
{
    const int64_t recorded_ns = workload->ops[at->kernel].dur_ns;
    return recorded_ns > 0
               ? (int64_t)((double)kernel_ns * (double)at->covered.covered / (double)recorded_ns)
               : 0;
}

/* At most that part of the kernel's time can go, and the migrations themselves. */
static void sum_bound(hl_advise_study *study, const faults *at, void *state)
{
    hl_advise_candidate *candidate = state;
    const int64_t covered_ns =
        covered_of(study->workload, at, hl_advise_study_dur(study, at->kernel));
    candidate->bound_ns =
        hl_base_add_ns(candidate->bound_ns, hl_base_add_ns(covered_ns, at->most_ns));
    candidate->rank_ns =
        hl_base_add_ns(candidate->rank_ns, study->critical[at->kernel] ? covered_ns : 0);
}

static void find_candidates(hl_advise_study *study, hl_advise_candidates *out)
{
    hl_advise_candidate candidate = {.variants = 1, .host_ns = INT64_MAX};
    visit_faults(study, sum_bound, false, &candidate);
    hl_advise_candidates_add(study, out, &candidate);
}

/* The bytes come before the kernel in one copy, and it loses the time in which they came. */
static void prefetch(hl_advise_study *study, const faults *at, void *state)
{
    hl_advise_rewrite *plan = state;
    const haul_op *kernel = &study->workload->ops[at->kernel];
    const haul_copy all = {at->bytes, HAUL_DIRECTION_HTOD, HAUL_MEMORY_MANAGED, HAUL_LOCALITY_NEAR};
    double all_s = at->alone_s;
    if (!hl_advise_study_copy_time(study, &all, &hl_advise_change_prefetch, 1, &all_s))
        return;
    const hl_advise_insert insert = {
        .op = {.kind = HAUL_OP_COPY,
               .direction = HAUL_DIRECTION_HTOD,
               .detail = HAUL_MEMORY_MANAGED,
               .bytes = at->bytes,
               .stream = hl_advise_rewrite_streams(plan, kernel->stream, 1)},
        .dur_ns = (int64_t)((double)at->time_ns * all_s / at->alone_s),
        .call_dur_ns = hl_advise_rewrite_host_ns(plan, plan->free_call_ns),
        .anchor = at->kernel,
        .place = HL_ADVISE_BEFORE_CALL,
    };
    hl_advise_edit *edit = hl_advise_rewrite_claim(plan, at->kernel);
    edit->dur_ns -= covered_of(study->workload, at, edit->dur_ns);
    hl_advise_rewrite_edge_add(plan, hl_advise_rewrite_insert(plan, &insert), at->kernel);
}

static void apply_candidate(hl_advise_study *study, const hl_advise_candidate *candidate,
                            hl_advise_rewrite *plan)
{
    (void)candidate;
    visit_faults(study, prefetch, true, plan);
}

static void write_advice(hl_advise_study *study, const hl_advise_candidate *candidate,
                         const hl_advise_effect *effect, haul_advice *advice)
{
    (void)candidate;
    advice->what = hl_advise_study_text(
        study, "prefetch unified memory before the kernels that fault on it: %s", effect->calls);
    advice->why = hl_advise_study_text(
        study,
        "the bytes migrate in %llu pieces of %s on average while kernels wait for them, %s in all",
        (unsigned long long)effect->count,
        hl_advise_study_bytes(study, effect->bytes / effect->count),
        hl_advise_study_time(study, effect->before_ns));
    advice->assumes = "a kernel waits while its bytes migrate, and the program knows before the "
                      "kernel starts which bytes it touches";
}

const hl_advise_change hl_advise_change_prefetch = {
    .word = "prefetch",
    .summary = "unified memory migrates in one copy before the kernel that touches it",
    .certainty = HAUL_CERTAINTY_CONDITIONAL,
    .find = find_candidates,
    .apply = apply_candidate,
    .tell = write_advice,
};
