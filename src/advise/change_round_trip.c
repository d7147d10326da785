/* round trip: buffers that come to the host and go back, paired by their size and device: a copy to
 * the device with the last copy of its size over that link, where that went to the host and had
 * ended when this was called. A guess, as redundant transfers are. */
#include <stdlib.h>

#include "advise/change.h"
#include "base/grow.h"
#include "base/records.h"
#include "workload/op_class.h"

/* Copies that may be of one buffer. Profiles rarely have addresses. */
typedef struct place_key {
    uint64_t bytes;
    uint64_t device;
} place_key;

/* Both copies vanish. */
static void count(hl_advise_study *study, uint32_t op, hl_advise_candidate *candidate)
{
    if (study->fetched[op] == HAUL_NONE)
        return;
    hl_advise_candidate_count(study, candidate, op);
    hl_advise_candidate_count(study, candidate, study->fetched[op]);
}

static void find_candidates(hl_advise_study *study, hl_advise_candidates *out)
{
    const haul_workload *workload = study->workload;
    hl_base_records keys = {.size = sizeof(place_key)};
    uint32_t *last = NULL; /* of each key, its copy that came last */
    size_t capacity = 0;
    study->fetched = malloc((workload->op_count + 1) * sizeof *study->fetched);
    bool done = study->fetched != NULL;
    for (uint32_t i = 0; done && i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        study->fetched[i] = HAUL_NONE;
        if (!hl_advise_study_crosses(study, i) || !op->bytes || op->detail == HAUL_MEMORY_MANAGED)
            continue;
        const size_t known = keys.count;
        const place_key key = {op->bytes, hl_workload_device_of(workload, op)};
        const uint32_t number = hl_base_records_add(&keys, &key);
        done = number != UINT32_MAX && hl_base_grow(&last, &capacity, keys.count, sizeof *last);
        if (!done)
            break;
        const haul_op *fetch = number < known ? &workload->ops[last[number]] : NULL;
        if (fetch && fetch->direction == HAUL_DIRECTION_DTOH &&
            op->direction == HAUL_DIRECTION_HTOD && op->flags & HAUL_OP_HAS_CALL &&
            op->call_ns >= fetch->start_ns + fetch->dur_ns)
            study->fetched[i] = last[number];
        last[number] = i;
    }
    hl_base_records_release(&keys);
    free(last);
    if (done)
        hl_advise_classes_find(study, count, out);
    else
        study->failed = true;
}

/* A copy back whose fetch was claimed by another class is a conflict, as for all changes. */
static void apply_candidate(hl_advise_study *study, const hl_advise_candidate *candidate,
                            hl_advise_rewrite *plan)
{
    const hl_project_size_class *one = &study->classes.items[candidate->subject];
    for (uint32_t k = 0; k < one->count; k++) {
        const uint32_t back = study->classes.ops[one->first + k];
        const uint32_t fetch = study->fetched[back];
        if (fetch == HAUL_NONE)
            continue;
        (void)hl_advise_rewrite_claim(plan, fetch);
        (void)hl_advise_rewrite_claim(plan, back);
        hl_advise_rewrite_leave_out(plan, fetch, false);
        hl_advise_rewrite_leave_out(plan, back, false);
    }
}

static void write_advice(hl_advise_study *study, const hl_advise_candidate *candidate,
                         const hl_advise_effect *effect, haul_advice *advice)
{
    const hl_project_size_class *one = &study->classes.items[candidate->subject];
    advice->what = hl_advise_study_text(study, "keep on the device: %s", effect->calls);
    advice->why = hl_advise_study_text(
        study, "%s come to the host and as many bytes go back later: %s of copies",
        hl_advise_study_bytes(study, one->bytes), hl_advise_study_time(study, effect->before_ns));
    advice->assumes = "the same bytes go back, and the host does not need them: a profile records "
                      "sizes, not contents";
}

const hl_advise_change hl_advise_change_round_trip = {
    .word = "round trip",
    .summary = "bytes that go to the host and back stay on the device",
    .certainty = HAUL_CERTAINTY_SPECULATIVE,
    .find = find_candidates,
    .apply = apply_candidate,
    .tell = write_advice,
};
