/* redundant transfer: copies that may bring bytes that the device has. */
#include <stdlib.h>

#include "advise/change.h"
#include "workload/op_class.h"

/* A device that copies of a group go to. */
typedef struct target {
    size_t device;
    bool computed; /* a kernel started there after the first of them */
} target;

enum { TARGETS = 16 };

typedef struct targets {
    target items[TARGETS];
    size_t count;
    uint32_t last; /* up to which operation kernels were looked for */
} targets;

static target *target_of(targets *self, size_t device)
{
    for (size_t t = 0; t < self->count; t++)
        if (self->items[t].device == device)
            return &self->items[t];
    return NULL;
}

static bool all_computed(const targets *self)
{
    bool all = true;
    for (size_t t = 0; t < self->count; t++)
        all &= self->items[t].computed;
    return all;
}

static void look_for_kernels(const haul_study *study, targets *self, uint32_t until)
{
    const haul_workload *workload = study->workload;
    for (; self->last < until && !all_computed(self); self->last++) {
        target *at = workload->ops[self->last].kind == HAUL_OP_KERNEL
                         ? target_of(self, haul_device_of(workload, &workload->ops[self->last]))
                         : NULL;
        if (at)
            at->computed = true;
    }
    self->last = until;
}

/* Copies of one size before the first kernel fill different buffers; later ones may fill them
 * again. Returns whether `op` may. */
static bool is_again(const haul_study *study, targets *self, uint32_t op)
{
    const size_t device = haul_device_of(study->workload, &study->workload->ops[op]);
    look_for_kernels(study, self, op);
    const target *at = target_of(self, device);
    if (!at && self->count < TARGETS)
        self->items[self->count++] = (target){.device = device};
    return at && at->computed;
}

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

static bool is_first(const haul_study *study, uint32_t op)
{
    return study->classes.ops[study->classes.items[study->class_of[op]].first] == op;
}

static void count_copy(rounds *of, const device_count *now, bool is_first)
{
    if (!is_first && now->kernels > of->kernels) {
        of->count++;
        of->with_outs += now->outs > of->outs;
    }
    of->kernels = now->kernels;
    of->outs = now->outs;
}

static bool count_rounds(const haul_study *study, rounds *of)
{
    const haul_workload *workload = study->workload;
    device_count *now = calloc(workload->device_count + 1, sizeof *now);
    for (uint32_t i = 0; now && i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        device_count *at = &now[haul_device_of(workload, op)];
        at->kernels += op->kind == HAUL_OP_KERNEL;
        at->outs += op->kind == HAUL_OP_COPY && op->direction == HAUL_DTOH;
        if (op->kind == HAUL_OP_COPY && op->direction == HAUL_HTOD)
            count_copy(&of[study->class_of[i]], at, is_first(study, i));
    }
    free(now);
    return now != NULL;
}

/* Equal sizes that come round after round, and each time a result leaves, are a loop over chunks of
 * larger arrays. */
static bool is_chunked(const rounds *of)
{
    return of->count && 2 * of->with_outs >= of->count;
}

static void find(haul_study *study, haul_candidates *out)
{
    rounds *of = calloc(study->classes.count + 1, sizeof *of);
    if (!of || !count_rounds(study, of))
        study->failed = true;
    for (size_t c = 0; !study->failed && c < study->classes.count; c++) {
        const haul_size_class *one = &study->classes.items[c];
        if (one->direction != HAUL_HTOD || one->count < 2 || !one->bytes || one->impossible ||
            one->memory == HAUL_MANAGED || is_chunked(&of[c]))
            continue;
        haul_candidate candidate = {.subject = (uint32_t)c, .variants = 1};
        for (uint32_t k = 1; k < one->count; k++)
            haul_candidate_count(study, &candidate, study->classes.ops[one->first + k]);
        haul_candidates_add(study, out, &candidate);
    }
    free(of);
}

static void apply(haul_study *study, const haul_candidate *candidate, haul_rewrite *plan)
{
    const haul_size_class *one = &study->classes.items[candidate->subject];
    const uint32_t *ops = &study->classes.ops[one->first];
    targets seen = {.last = ops[0]};
    for (uint32_t k = 0; k < one->count; k++) {
        if (!is_again(study, &seen, ops[k]))
            continue;
        (void)haul_rewrite_claim(plan, ops[k]);
        haul_rewrite_leave_out(plan, ops[k], false);
    }
}

/* Of all bytes that go to devices, in percent. */
static double share_of(const haul_study *study, uint64_t bytes)
{
    double all = 0;
    for (size_t c = 0; c < study->classes.count; c++)
        if (study->classes.items[c].direction == HAUL_HTOD)
            all += (double)study->classes.items[c].bytes * study->classes.items[c].count;
    return all > 0 ? 100 * (double)bytes / all : 0;
}

static void tell(haul_study *study, const haul_candidate *candidate, const haul_effect *effect,
                 haul_advice *advice)
{
    const haul_size_class *one = &study->classes.items[candidate->subject];
    advice->what = haul_study_text(study, "send once: %s", effect->calls);
    advice->why =
        haul_study_text(study,
                        "%s go to the device %u times; the copies after the first kernel take %s "
                        "and are %.3g %% of all bytes that go there",
                        haul_study_bytes(study, one->bytes), one->count,
                        haul_study_time(study, effect->before_ns), share_of(study, effect->bytes));
    advice->assumes =
        "each copy brings the same bytes to the same buffer: a profile records sizes, not contents";
}

const haul_change haul_change_redundant = {
    .word = "redundant transfer",
    .summary = "repeated copies of one size to the device are sent once",
    .certainty = HAUL_SPECULATIVE,
    .find = find,
    .apply = apply,
    .tell = tell,
};
