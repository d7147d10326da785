/* map: the kernel writes its output to mapped host memory. Only outputs, for a kernel may read an
 * input many times, and each time over the link. */
#include <math.h>

#include "advise/change.h"
#include "haul/overlap.h"

/* The kernel with its output mapped, by equation (6) of CCGrid 2014: latency and rate of pinned
 * copies, each byte once. */
static bool mapped_ns(hl_advise_study *study, uint32_t op, int64_t kernel_ns, int64_t *dur_ns)
{
    const haul_op *copied = &study->workload->ops[op];
    haul_copy copy = {copied->bytes, (haul_direction)copied->direction, HAUL_MEMORY_PINNED,
                      HAUL_LOCALITY_NEAR};
    double whole_s, byte_s;
    if (!hl_advise_study_copy_time(study, &copy, &hl_advise_change_map, 1, &whole_s))
        return false;
    copy.bytes = 1;
    if (!hl_advise_study_copy_time(study, &copy, &hl_advise_change_map, 1, &byte_s))
        return false;
    const double per_byte_s = fmax(0, whole_s - byte_s) / (double)copied->bytes;
    const haul_overlap_case mapped = {
        .device = HAUL_TWO_ENGINES,
        .out = {.bytes = (double)copied->bytes,
                .times = 1,
                .latency_s = byte_s,
                .per_byte_s = per_byte_s,
                .busy_per_byte_s = per_byte_s,
                .mapped_per_byte_s = per_byte_s},
        .kernel_s = 1e-9 * (double)kernel_ns,
    };
    *dur_ns = llround(1e9 * haul_overlap_time(&mapped, HAUL_STRATEGY_MAPPED, 1));
    return true;
}

/* Whether the kernel right before a copy to the host on its stream, when it writes over the link,
 * is faster than it and the copy. */
static bool gains(hl_advise_study *study, uint32_t op, uint32_t *kernel, int64_t *dur_ns)
{
    const haul_op *copied = &study->workload->ops[op];
    *kernel = copied->stream_prev;
    if (copied->direction != HAUL_DIRECTION_DTOH || !hl_advise_study_crosses(study, op) ||
        *kernel == HAUL_NONE || study->workload->ops[*kernel].kind != HAUL_OP_KERNEL ||
        !copied->bytes || copied->detail == HAUL_MEMORY_MANAGED)
        return false;
    const int64_t kernel_ns = hl_advise_study_dur(study, *kernel);
    return mapped_ns(study, op, kernel_ns, dur_ns) &&
           *dur_ns < kernel_ns + hl_advise_study_dur(study, op);
}

/* Both the kernel and the copy change, but only the copy may vanish. */
static void count(hl_advise_study *study, uint32_t op, hl_advise_candidate *candidate)
{
    uint32_t kernel;
    int64_t dur_ns;
    if (gains(study, op, &kernel, &dur_ns))
        hl_advise_candidate_count(study, candidate, op);
}

static void find_candidates(hl_advise_study *study, hl_advise_candidates *out)
{
    hl_advise_classes_find(study, count, out);
}

/* Copies of the class that gain nothing stay: another kernel may come before them. */
static void apply_candidate(hl_advise_study *study, const hl_advise_candidate *candidate,
                            hl_advise_rewrite *plan)
{
    const hl_project_size_class *one = &study->classes.items[candidate->subject];
    for (uint32_t k = 0; k < one->count; k++) {
        const uint32_t op = study->classes.ops[one->first + k];
        uint32_t kernel;
        int64_t dur_ns;
        if (!gains(study, op, &kernel, &dur_ns))
            continue;
        hl_advise_rewrite_claim(plan, kernel)->dur_ns = dur_ns;
        hl_advise_buffer_lock(study, plan, op, kernel);
        hl_advise_study_pin(study, plan, op);
        (void)hl_advise_rewrite_claim(plan, op);
        hl_advise_rewrite_leave_out(plan, op, true);
    }
}

static void write_advice(hl_advise_study *study, const hl_advise_candidate *candidate,
                         const hl_advise_effect *effect, haul_advice *advice)
{
    const hl_project_size_class *one = &study->classes.items[candidate->subject];
    advice->what = hl_advise_study_text(
        study, "map the output, which the kernel then writes to the host: %s", effect->calls);
    advice->why = hl_advise_study_text(
        study, "%s cross the link while the kernel runs, not after it in %s of copies",
        hl_advise_study_bytes(study, one->bytes), hl_advise_study_time(study, effect->before_ns));
    advice->assumes = "the kernel before it writes each byte once, coalesced, and reads none back "
                      "(CCGrid 2014, equation 6)";
    advice->needs = effect->locks_ns
                        ? hl_advise_study_text(
                              study,
                              "%s of pinned, mapped host memory; page-locking takes %s once, which "
                              "is subtracted",
                              hl_advise_study_bytes(study, one->bytes),
                              hl_advise_study_time(study, effect->locks_ns))
                        : hl_advise_study_text(study, "%s of pinned, mapped host memory",
                                               hl_advise_study_bytes(study, one->bytes));
}

const hl_advise_change hl_advise_change_map = {
    .word = "map",
    .summary = "outputs that are copied after a kernel are written to mapped memory",
    .certainty = HAUL_CERTAINTY_CONDITIONAL,
    .find = find_candidates,
    .apply = apply_candidate,
    .tell = write_advice,
};
