/* Two profiles of one program, on two machines: the copies of one are paired with those of the
 * other in order of start within their class, for nothing in a profile names the same copy twice.
 */
#include "project/reference.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "haul/units.h"
#include "project/score.h"

/* Marks the directions in which a workload has host copies of a kind of memory it does not know. */
static void mark_unknown(const haul_workload *workload, bool *any_memory)
{
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (op->kind == HAUL_OP_COPY &&
            (op->detail == HAUL_MEMORY_HOST || op->detail == HAUL_MEMORY_UNKNOWN))
            any_memory[op->direction] = true;
    }
}

/* Both lists of classes are in the order of their keys, so one walk meets every pair. */
static void pair_classes(const hl_project_size_classes *mine, const hl_project_size_classes *theirs,
                         const haul_workload *reference, hl_project_reference *pairs)
{
    for (size_t i = 0, j = 0; i < mine->count && j < theirs->count;) {
        const hl_project_size_class *a = &mine->items[i], *b = &theirs->items[j];
        const int order = hl_project_size_class_compare(a, b);
        i += order <= 0;
        j += order >= 0;
        if (order)
            continue;
        const uint32_t count = a->count < b->count ? a->count : b->count;
        for (uint32_t k = 0; k < count; k++)
            pairs->partner_ns[mine->ops[a->first + k]] =
                reference->ops[theirs->ops[b->first + k]].dur_ns;
        pairs->matched += count;
    }
    pairs->unmatched = mine->op_count + theirs->op_count - 2 * pairs->matched;
}

/* Both are classified with the same rule for memory, or their classes would not meet. */
haul_status hl_project_reference_pair(const haul_workload *workload, const haul_workload *reference,
                                      hl_project_reference *pairs, haul_error *error)
{
    hl_project_reference made = {.partner_ns =
                                     malloc((workload->op_count + 1) * sizeof *made.partner_ns)};
    if (!made.partner_ns)
        return hl_base_fail_no_memory(error);
    for (size_t i = 0; i < workload->op_count; i++)
        made.partner_ns[i] = HL_PROJECT_NO_PARTNER;
    mark_unknown(workload, made.any_memory);
    mark_unknown(reference, made.any_memory);
    const hl_project_size_options options = {.any_memory = made.any_memory};
    hl_project_size_classes mine = {0}, theirs = {0};
    haul_status status = hl_project_size_classes_make(workload, &options, &mine, error);
    if (!status)
        status = hl_project_size_classes_make(reference, &options, &theirs, error);
    if (!status) {
        pair_classes(&mine, &theirs, reference, &made);
        *pairs = made;
    } else {
        hl_project_reference_release(&made);
    }
    hl_project_size_classes_release(&mine);
    hl_project_size_classes_release(&theirs);
    return status;
}

void hl_project_reference_release(hl_project_reference *pairs)
{
    free(pairs->partner_ns);
    *pairs = (hl_project_reference){0};
}

haul_status hl_project_reference_score(const hl_project_reference *pairs,
                                       const hl_project_size_classes *classes,
                                       hl_project_class_range range, const double *total_s,
                                       haul_score *score, haul_error *error)
{
    hl_project_scorer scorer = {0};
    bool added = true;
    for (size_t c = range.begin; added && c < range.end; c++) {
        const hl_project_size_class *self = &classes->items[c];
        const double each_s = total_s[c] / self->count; // NOLINT(clang-analyzer-core*)
        for (size_t k = 0; added && !isnan(each_s) && k < self->count; k++) {
            const int64_t partner_ns = pairs->partner_ns[classes->ops[self->first + k]];
            if (partner_ns != HL_PROJECT_NO_PARTNER)
                added = hl_project_scorer_add(&scorer, 1e-9 * (double)partner_ns, each_s);
        }
    }
    if (added)
        *score = hl_project_scorer_finish(&scorer);
    hl_project_scorer_release(&scorer);
    return added ? HAUL_OK : hl_base_fail_no_memory(error);
}

/* --- a projection */

typedef struct comparison {
    const hl_project_size_classes *classes;
    hl_project_notes *notes;
    haul_projection *out;
    hl_project_reference pairs;
} comparison;

/* The rows in `rows` cover the classes in order; those for all sizes cover them once more. */
static haul_status score_rows(const comparison *self, const double *times_s, haul_error *error)
{
    size_t next = 0;
    for (size_t r = 0; r < self->out->row_count; r++) {
        haul_projection_row *row = &self->out->rows[r];
        const bool all = row->decade == HAUL_ANALYSIS_DECADES;
        hl_project_class_range range = {next, next};
        for (uint64_t left = row->count; left; range.end++)
            left -= self->out->sizes[range.end].count;
        HAUL_TRY(hl_project_reference_score(&self->pairs, self->classes, range, times_s,
                                            &row->score, error));
        next = all ? next : range.end;
    }
    for (size_t s = 0; s < self->out->size_count; s++) {
        const hl_project_class_range one = {s, s + 1};
        HAUL_TRY(hl_project_reference_score(&self->pairs, self->classes, one, times_s,
                                            &self->out->sizes[s].score, error));
    }
    return HAUL_OK;
}

/* Rows are scored by the chosen model alone; a model that lacks a parameter has no score at all. */
static haul_status score_models(const comparison *self, haul_error *error)
{
    const hl_project_class_range everything = {0, self->classes->count};
    const haul_projection *out = self->out;
    double *times_s = malloc((out->size_count + 1) * sizeof *times_s); /* NaN: not predicted */
    haul_status status = HAUL_OK;
    if (!times_s)
        return hl_base_fail_no_memory(error);
    for (size_t m = 0; !status && m < out->model_count; m++) {
        if (out->models[m].missing)
            continue;
        for (size_t s = 0; s < out->size_count; s++)
            times_s[s] = out->sizes[s].model_s[m];
        status = hl_project_reference_score(&self->pairs, self->classes, everything, times_s,
                                            &out->models[m].score, error);
        if (!status && !m)
            status = score_rows(self, times_s, error);
    }
    free(times_s);
    return status;
}

/* The predicted time of each class of copies beside the mean of the reference's. */
static haul_status list_pairs(const comparison *self, haul_error *error)
{
    const hl_project_size_classes *classes = self->classes;
    haul_copy_pair *list =
        hl_base_arena_alloc(self->notes->arena, (classes->count + 1) * sizeof *list);
    if (!list)
        return hl_base_fail_no_memory(error);
    self->out->reference_pairs = list;
    for (size_t c = 0; c < classes->count; c++) {
        const haul_projection_row *size = &self->out->sizes[c];
        haul_copy_pair pair = {.direction = size->direction,
                               .memory = size->memory,
                               .bytes = size->copy_bytes,
                               .predicted_s = size->predicted.seconds / (double)size->count};
        double sum_ns = 0;
        for (uint32_t k = 0; k < classes->items[c].count; k++) {
            const int64_t partner_ns =
                self->pairs.partner_ns[classes->ops[classes->items[c].first + k]];
            pair.count += partner_ns != HL_PROJECT_NO_PARTNER;
            sum_ns += partner_ns != HL_PROJECT_NO_PARTNER ? (double)partner_ns : 0;
        }
        pair.measured_s = 1e-9 * sum_ns / (double)pair.count;
        if (pair.count)
            list[self->out->reference_pair_count++] = pair;
    }
    return HAUL_OK;
}

haul_status hl_project_reference_compare(const hl_project_comparison *what, haul_projection *out,
                                         haul_error *error)
{
    comparison self = {.classes = what->classes, .notes = what->notes, .out = out};
    char count[40];
    HAUL_TRY(hl_project_reference_pair(what->workload, what->reference, &self.pairs, error));
    out->matched = self.pairs.matched;
    out->unmatched = self.pairs.unmatched;
    for (int d = 0; d < HAUL_DIRECTIONS; d++)
        if (self.pairs.any_memory[d])
            hl_project_notes_add(
                self.notes,
                "%s copies were paired with the reference by size alone: a profile does "
                "not say which kind of host memory they use",
                haul_direction_text((haul_direction)d));
    if (!out->matched)
        hl_project_notes_add(
            self.notes, "no copy of the reference has the direction, memory and size of a copy of "
                        "the profile: is it the same program?");
    else if (out->unmatched)
        hl_project_notes_add(self.notes,
                             "not scored: %s of the two profiles without a partner in the other",
                             haul_number_of(out->unmatched, "copy", "copies", count, sizeof count));
    haul_status status = score_models(&self, error);
    if (!status)
        status = list_pairs(&self, error);
    hl_project_reference_release(&self.pairs);
    return status;
}
