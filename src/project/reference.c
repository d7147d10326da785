#include "project/reference.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "project/score.h"

/* Marks the directions in which a workload has host copies of a kind of memory it does not know. */
static void mark_unknown(const haul_workload *workload, bool *any_memory)
{
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (op->kind == HAUL_OP_COPY &&
            (op->detail == HAUL_HOST || op->detail == HAUL_MEMORY_UNKNOWN))
            any_memory[op->direction] = true;
    }
}

static int compare_keys(const haul_size_class_key *a, const haul_size_class_key *b)
{
    if (a->direction != b->direction)
        return a->direction < b->direction ? -1 : 1;
    if (a->memory != b->memory)
        return a->memory < b->memory ? -1 : 1;
    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* Both lists of classes are in the order of their keys, so one walk meets every pair. */
static void pair_classes(const haul_size_class *mine, const haul_size_class *theirs,
                         const haul_workload *truth, haul_reference *pairs)
{
    for (size_t i = 0, j = 0; i < mine->class_count && j < theirs->class_count;) {
        const haul_size_class_key *a = &mine->classes[i], *b = &theirs->classes[j];
        const int order = compare_keys(a, b);
        i += order <= 0;
        j += order >= 0;
        if (order)
            continue;
        const uint32_t count = a->count < b->count ? a->count : b->count;
        for (uint32_t k = 0; k < count; k++)
            pairs->partner_ns[mine->ops[a->first + k]] =
                truth->ops[theirs->ops[b->first + k]].dur_ns;
        pairs->matched += count;
    }
    pairs->unmatched = mine->op_count + theirs->op_count - 2 * pairs->matched;
}

haul_status haul_reference_pair(const haul_workload *workload, const haul_workload *truth,
                                haul_reference *pairs, haul_error *error)
{
    haul_reference made = {.partner_ns =
                               malloc((workload->op_count + 1) * sizeof *made.partner_ns)};
    if (!made.partner_ns)
        return haul_fail_no_memory(error);
    for (size_t i = 0; i < workload->op_count; i++)
        made.partner_ns[i] = HAUL_NO_PARTNER;
    mark_unknown(workload, made.any_memory);
    mark_unknown(truth, made.any_memory);
    haul_size_class mine = {0}, theirs = {0};
    haul_status status = haul_size_class_make(workload, made.any_memory, &mine, error);
    if (!status)
        status = haul_size_class_make(truth, made.any_memory, &theirs, error);
    if (!status) {
        pair_classes(&mine, &theirs, truth, &made);
        *pairs = made;
    } else {
        haul_reference_release(&made);
    }
    haul_size_class_release(&mine);
    haul_size_class_release(&theirs);
    return status;
}

void haul_reference_release(haul_reference *pairs)
{
    free(pairs->partner_ns);
    *pairs = (haul_reference){0};
}

haul_status haul_reference_score(const haul_reference *pairs, const haul_size_class *alike,
                                 haul_class_range range, const double *price_s, haul_score *score,
                                 haul_error *error)
{
    haul_scorer scorer = {0};
    bool added = true;
    for (size_t c = range.begin; added && c < range.end; c++) {
        const haul_size_class_key *self = &alike->classes[c];
        const double price = price_s[c] / self->count;
        for (size_t k = 0; added && !isnan(price) && k < self->count; k++) {
            const int64_t partner_ns = pairs->partner_ns[alike->ops[self->first + k]];
            if (partner_ns != HAUL_NO_PARTNER)
                added = haul_scorer_add(&scorer, 1e-9 * (double)partner_ns, price);
        }
    }
    if (added)
        *score = haul_scorer_finish(&scorer);
    haul_scorer_release(&scorer);
    return added ? HAUL_OK : haul_fail_no_memory(error);
}
