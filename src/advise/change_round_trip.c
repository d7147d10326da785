/* round trip: buffers that come to the host and go back. */
#include <stdlib.h>

#include "advise/change.h"
#include "base/grow.h"
#include "base/records.h"

typedef struct place_key {
    uint64_t bytes;
    uint64_t device;
} place_key;

/* The last copy of so many bytes over the link of each device. */
typedef struct places {
    haul_records keys;
    uint32_t *last;
    size_t capacity;
} places;

/* Replaces the last operation like it, which goes to *before. */
static bool exchange(places *self, const haul_workload *workload, uint32_t op, uint32_t *before)
{
    const haul_op *copy = &workload->ops[op];
    const place_key key = {copy->bytes, copy->stream == HAUL_NONE
                                            ? HAUL_NONE
                                            : workload->streams[copy->stream].device};
    const size_t known = self->keys.count;
    const uint32_t number = haul_records_add(&self->keys, &key);
    if (number == UINT32_MAX ||
        !haul_grow(&self->last, &self->capacity, self->keys.count, sizeof *self->last))
        return false;
    *before = number < known ? self->last[number] : HAUL_NONE;
    self->last[number] = op;
    return true;
}

/* Whether `op` may bring back what `before` fetched: it was called after that had ended. */
static bool brings_back(const haul_workload *workload, uint32_t before, uint32_t op)
{
    if (before == HAUL_NONE)
        return false;
    const haul_op *fetch = &workload->ops[before], *copy = &workload->ops[op];
    return fetch->direction == HAUL_DTOH && copy->direction == HAUL_HTOD &&
           copy->flags & HAUL_OP_HAS_CALL && copy->call_ns >= fetch->start_ns + fetch->dur_ns;
}

static bool pair(haul_study *study)
{
    const haul_workload *workload = study->workload;
    places seen = {.keys.size = sizeof(place_key)};
    study->fetched = malloc((workload->op_count + 1) * sizeof *study->fetched);
    bool done = study->fetched != NULL;
    for (uint32_t i = 0; done && i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        uint32_t before = HAUL_NONE;
        study->fetched[i] = HAUL_NONE;
        if (!haul_study_crosses(study, i) || !op->bytes || op->detail == HAUL_MANAGED)
            continue;
        done = exchange(&seen, workload, i, &before);
        if (brings_back(workload, before, i))
            study->fetched[i] = before;
    }
    haul_records_release(&seen.keys);
    free(seen.last);
    return done;
}

static void count(haul_study *study, uint32_t op, haul_candidate *candidate)
{
    if (study->fetched[op] == HAUL_NONE)
        return;
    haul_candidate_count(study, candidate, op);
    haul_candidate_count(study, candidate, study->fetched[op]);
}

static void find(haul_study *study, haul_candidates *out)
{
    if (pair(study))
        haul_classes_find(study, count, out);
    else
        study->failed = true;
}

static void apply(haul_study *study, const haul_candidate *candidate, haul_rewrite *plan)
{
    const haul_size_class *one = &study->classes.items[candidate->subject];
    for (uint32_t k = 0; k < one->count; k++) {
        const uint32_t back = study->classes.ops[one->first + k];
        const uint32_t fetch = study->fetched[back];
        if (fetch == HAUL_NONE)
            continue;
        (void)haul_rewrite_claim(plan, fetch);
        (void)haul_rewrite_claim(plan, back);
        haul_rewrite_leave_out(plan, fetch, false);
        haul_rewrite_leave_out(plan, back, false);
    }
}

static void tell(haul_study *study, const haul_candidate *candidate, const haul_effect *effect,
                 haul_advice *advice)
{
    const haul_size_class *one = &study->classes.items[candidate->subject];
    advice->what = haul_study_text(study, "keep on the device: %s", effect->calls);
    advice->why = haul_study_text(
        study, "%s come to the host and as many bytes go back later: %s of copies",
        haul_study_bytes(study, one->bytes), haul_study_time(study, effect->before_ns));
    advice->assumes = "the same bytes go back, and the host does not need them: a profile records "
                      "sizes, not contents";
}

const haul_change haul_change_round_trip = {
    .word = "round trip",
    .summary = "bytes that go to the host and back stay on the device",
    .certainty = HAUL_SPECULATIVE,
    .find = find,
    .apply = apply,
    .tell = tell,
};
