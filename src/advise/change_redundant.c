/* Copies to the device that may bring what is there. */
#include "advise/change.h"

static uint32_t device_of(const haul_workload *workload, uint32_t op)
{
    const uint32_t stream = workload->ops[op].stream;
    return stream == HAUL_NONE ? HAUL_NONE : workload->streams[stream].device;
}

/* A device that copies of a group go to. */
typedef struct target {
    uint32_t device;
    bool computed; /* a kernel started there after the first of them */
} target;

enum { TARGETS = 16 };

typedef struct targets {
    target items[TARGETS];
    size_t count;
    uint32_t last; /* up to which operation kernels were looked for */
} targets;

static target *target_of(targets *self, uint32_t device)
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
                         ? target_of(self, device_of(workload, self->last))
                         : NULL;
        if (at)
            at->computed = true;
    }
    self->last = until;
}

/* Copies of one size before the first kernel are of so many buffers; what comes after it may be
 * there. Returns whether `op` may. */
static bool is_again(const haul_study *study, targets *self, uint32_t op)
{
    const uint32_t device = device_of(study->workload, op);
    look_for_kernels(study, self, op);
    const target *at = target_of(self, device);
    if (!at && self->count < TARGETS)
        self->items[self->count++] = (target){.device = device};
    return at && at->computed;
}

/* A copy of no bytes brings nothing, in any case. */
static void find(haul_study *study, haul_candidates *out)
{
    const haul_call_groups *groups = &study->groups;
    for (size_t g = 0; g < groups->count; g++) {
        const haul_call_group *group = &groups->items[g];
        if (group->direction != HAUL_HTOD || group->count < 2 || !group->bytes ||
            group->memory == HAUL_MANAGED)
            continue;
        haul_candidate candidate = {.subject = (uint32_t)g, .variants = 1};
        for (uint32_t k = 1; k < group->count; k++)
            haul_candidate_count(study, &candidate, groups->ops[group->first + k]);
        haul_candidates_add(study, out, &candidate);
    }
}

static void apply(haul_study *study, const haul_candidate *candidate, haul_rewrite *plan)
{
    const haul_call_group *group = &study->groups.items[candidate->subject];
    const uint32_t *ops = &study->groups.ops[group->first];
    targets seen = {.last = ops[0]};
    for (uint32_t k = 0; k < group->count; k++) {
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
    for (size_t g = 0; g < study->groups.count; g++)
        if (study->groups.items[g].direction == HAUL_HTOD)
            all += (double)study->groups.items[g].bytes * study->groups.items[g].count;
    return all > 0 ? 100 * (double)bytes / all : 0;
}

static void tell(haul_study *study, const haul_candidate *candidate, const haul_effect *effect,
                 haul_advice *advice)
{
    const haul_call_group *group = &study->groups.items[candidate->subject];
    advice->what = haul_study_text(study, "send once: %s", effect->calls);
    advice->why =
        haul_study_text(study,
                        "%s go to the device %u times; the copies after the first kernel take %s "
                        "and are %.3g %% of all bytes that go there",
                        haul_study_bytes(study, group->bytes), group->count,
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
