/* redundant transfer: copies that may bring bytes that the device has. A guess from equal sizes,
 * for a profile does not record contents, and never more than speculative. */
#include <stdlib.h>

#include "advise/change.h"
#include "workload/op_class.h"

/* How the copies of a class alternate with kernels and copies out of their device. */
typedef struct rounds {
    uint64_t kernels; /* of the device, when the last copy came */
    uint64_t outs;
    uint32_t count; /* copies after a kernel that came after the copy before */
    uint32_t with_outs;
} rounds;

typedef struct device_count {
    uint64_t kernels;
    uint64_t outs;
} device_count;

/* Walks all copies to devices; false without memory. */
static bool count_rounds(const hl_advise_study *study, rounds *of)
{
    const haul_workload *workload = study->workload;
    device_count *now = calloc(workload->device_count + 1, sizeof *now);
    for (uint32_t i = 0; now && i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        device_count *at = &now[hl_workload_device_of(workload, op)];
        at->kernels += op->kind == HAUL_OP_KERNEL;
        at->outs += op->kind == HAUL_OP_COPY && op->direction == HAUL_DIRECTION_DTOH;
        if (op->kind != HAUL_OP_COPY || op->direction != HAUL_DIRECTION_HTOD)
            continue;
        rounds *round = &of[study->class_of[i]];
        const hl_project_size_class *one = &study->classes.items[study->class_of[i]];
        if (study->classes.ops[one->first] != i && at->kernels > round->kernels) {
            round->count++;
            round->with_outs += at->outs > round->outs;
        }
        round->kernels = at->kernels;
        round->outs = at->outs;
    }
    free(now);
    return now != NULL;
}

/* Copies of one class, at least two, that are no loop over chunks. All but the first may vanish. */
static void find_candidates(hl_advise_study *study, hl_advise_candidates *out)
{
    rounds *of = calloc(study->classes.count + 1, sizeof *of);
    if (!of || !count_rounds(study, of))
        study->failed = true;
    for (size_t c = 0; !study->failed && c < study->classes.count; c++) {
        const hl_project_size_class *one = &study->classes.items[c];
        /* Equal sizes that come round after round, and each time a result leaves, are a loop over
         * chunks of larger arrays. */
        const bool is_chunked = of[c].count && 2 * of[c].with_outs >= of[c].count;
        if (one->direction != HAUL_DIRECTION_HTOD || one->count < 2 || !one->bytes ||
            one->impossible || one->memory == HAUL_MEMORY_MANAGED || is_chunked)
            continue;
        hl_advise_candidate candidate = {.subject = (uint32_t)c, .variants = 1};
        for (uint32_t k = 1; k < one->count; k++)
            hl_advise_candidate_count(study, &candidate, study->classes.ops[one->first + k]);
        hl_advise_candidates_add(study, out, &candidate);
    }
    free(of);
}

/* Copies of one size before the first kernel of their device fill different buffers; later ones may
 * fill them again. */
static void apply_candidate(hl_advise_study *study, const hl_advise_candidate *candidate,
                            hl_advise_rewrite *plan)
{
    enum { UNTOUCHED, COPIED, COMPUTED };
    const haul_workload *workload = study->workload;
    const hl_project_size_class *one = &study->classes.items[candidate->subject];
    const uint32_t *ops = &study->classes.ops[one->first];
    uint8_t *states = calloc(workload->device_count + 1, 1);
    study->failed |= !states;
    uint32_t k = 0;
    for (uint32_t i = ops[0]; states && k < one->count; i++) {
        uint8_t *at = &states[hl_workload_device_of(workload, &workload->ops[i])];
        if (workload->ops[i].kind == HAUL_OP_KERNEL && *at == COPIED)
            *at = COMPUTED;
        if (i != ops[k])
            continue;
        k++;
        if (*at == COMPUTED) {
            (void)hl_advise_rewrite_claim(plan, i);
            hl_advise_rewrite_leave_out(plan, i, false);
        } else {
            *at = COPIED;
        }
    }
    free(states);
}

static void write_advice(hl_advise_study *study, const hl_advise_candidate *candidate,
                         const hl_advise_effect *effect, haul_advice *advice)
{
    const hl_project_size_class *one = &study->classes.items[candidate->subject];
    double all = 0; /* bytes that go to devices: at least those of the candidate */
    for (size_t c = 0; c < study->classes.count; c++)
        if (study->classes.items[c].direction == HAUL_DIRECTION_HTOD)
            all += (double)study->classes.items[c].bytes * study->classes.items[c].count;
    advice->what = hl_advise_study_text(study, "send once: %s", effect->calls);
    advice->why = hl_advise_study_text(
        study,
        "%s go to the device %u times; the copies after the first kernel take %s, their calls %s "
        "of the host, and are %.3g %% of all bytes that go there",
        hl_advise_study_bytes(study, one->bytes), one->count,
        hl_advise_study_time(study, effect->before_ns),
        hl_advise_study_time(study, effect->calls_ns), 100 * (double)effect->bytes / all);
    advice->assumes =
        "each copy brings the same bytes to the same buffer: a profile records sizes, not contents";
}

const hl_advise_change hl_advise_change_redundant = {
    .word = "redundant transfer",
    .summary = "repeated copies of one size to the device are sent once",
    .certainty = HAUL_CERTAINTY_SPECULATIVE,
    .find = find_candidates,
    .apply = apply_candidate,
    .tell = write_advice,
};
