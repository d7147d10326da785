/* The workload and the predictions that all changes share: one cache of copy times, one place where
 * a missing parameter is noted, one rule for pinned memory. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "advise/study.h"
#include "base/grow.h"
#include "cost/time_cache.h"
#include "haul/units.h"

/* The last operation of each stream that a wait of the host waits for, or HAUL_NONE: whether a copy
 * may become asynchronous depends on whether anything waits for it. */
static bool list_waits(hl_advise_study *self)
{
    const haul_workload *workload = self->workload;
    self->waited = malloc((workload->stream_count + 1) * sizeof *self->waited);
    if (!self->waited)
        return false;
    memset(self->waited, 0xff, (workload->stream_count + 1) * sizeof *self->waited);
    for (size_t e = 0; e < workload->edge_count; e++) {
        const uint32_t before = workload->edges[e].before;
        const uint32_t stream = workload->ops[before].stream;
        if (workload->ops[workload->edges[e].after].kind != HAUL_OP_SYNC || stream == HAUL_NONE ||
            !haul_op_on_device(&workload->ops[before]))
            continue;
        if (self->waited[stream] == HAUL_NONE || self->waited[stream] < before)
            self->waited[stream] = before;
    }
    return true;
}

/* Copies are classified by call here, not only by size as for predictions: advice is about calls.
 */
haul_status hl_advise_study_init(hl_advise_study *self, haul_error *error)
{
    const hl_project_size_options by_call = {.by_call = true};
    self->times = calloc(1, sizeof *self->times);
    self->slower_times = calloc(1, sizeof *self->slower_times);
    self->gaps = calloc(HL_ADVISE_GAPS, sizeof *self->gaps);
    if (!self->times || !self->slower_times || !self->gaps || !list_waits(self))
        return hl_base_fail_no_memory(error);
    self->times->machine = self->machine;
    self->slower_times->machine = self->loan->slower;
    HAUL_TRY(hl_project_size_classes_make(self->workload, &by_call, &self->classes, error));
    self->class_of = malloc((self->workload->op_count + 1) * sizeof *self->class_of);
    self->staged_ns = calloc(self->classes.count + 1, sizeof *self->staged_ns);
    if (!self->class_of || !self->staged_ns)
        return hl_base_fail_no_memory(error);
    for (uint32_t c = 0; c < self->classes.count; c++)
        for (uint32_t k = 0; k < self->classes.items[c].count; k++)
            self->class_of[self->classes.ops[self->classes.items[c].first + k]] = c;
    self->impossible =
        hl_project_size_classes_mark_impossible(&self->classes, self->given_link_Bps);
    if (self->is_fitted) {
        /* A curve that was fitted to the profile says nothing of faster copies than it has. */
        for (size_t c = 0; c < self->classes.count; c++) {
            const hl_project_size_class *one = &self->classes.items[c];
            if (!haul_direction_crosses_link(one->direction) || one->impossible)
                continue;
            double *limit = &self->limit_Bps[one->direction][one->memory], sum_ns = 0;
            for (uint32_t k = 0; k < one->count; k++)
                sum_ns += (double)hl_advise_study_dur(self, self->classes.ops[one->first + k]);
            if (sum_ns > 0)
                *limit = fmax(*limit, (double)one->bytes * one->count / (1e-9 * sum_ns));
        }
    }
    return HAUL_OK;
}

void hl_advise_study_release(hl_advise_study *self)
{
    hl_project_size_classes_release(&self->classes);
    free(self->times);
    free(self->slower_times);
    free(self->gaps);
    free(self->class_of);
    free(self->staged_ns);
    free(self->waited);
    free(self->fetched);
}

/* `copies` more copies that a change cannot predict; the model is asked for the reason once. */
static void add_gap(hl_advise_study *study, const hl_advise_change *change, const haul_copy *copy,
                    uint64_t copies)
{
    haul_error missing = {0};
    haul_estimate none;
    for (size_t g = 0; g < study->gap_count; g++) {
        hl_advise_gap *gap = &study->gaps[g];
        if (gap->direction == copy->direction && gap->memory == copy->memory &&
            !strcmp(gap->change, change->word)) {
            gap->copies += copies;
            return;
        }
    }
    if (study->gap_count == HL_ADVISE_GAPS)
        return;
    if (!hl_cost_time_cache_get(study->times, copy, &none, &missing))
        haul_error_set(&missing, HAUL_STATUS_MISSING, "a copy would take no time");
    study->gaps[study->gap_count++] =
        (hl_advise_gap){change->word, hl_advise_study_text(study, "%s", missing.text),
                        copy->direction, copy->memory, copies};
}

/* A lent time has the interval of its model, and the slot of the recording machine may be of an
 * earlier generation than the lender's. */
static double lent_time(hl_advise_study *study, const haul_copy *copy,
                        const haul_estimate *estimate)
{
    haul_estimate slower = {.seconds = 0};
    study->used_loan = true;
    if (study->end == HL_ADVISE_LIKELY)
        return estimate->seconds;
    if (study->end == HL_ADVISE_FAST)
        return estimate->low_s > 0 ? estimate->low_s : estimate->seconds;
    if (study->loan->slower)
        (void)hl_cost_time_cache_get(study->slower_times, copy, &slower, NULL);
    return fmax(estimate->high_s, slower.seconds);
}

/* Programs have few sizes, so nearly every answer comes from the cache. */
bool hl_advise_study_copy_time(hl_advise_study *study, const haul_copy *copy,
                               const hl_advise_change *change, uint64_t copies, double *seconds)
{
    haul_estimate estimate;
    const bool known =
        !hl_cost_time_cache_get(study->times, copy, &estimate, NULL) && estimate.seconds > 0;
    if (known)
        *seconds = haul_direction_crosses_link(copy->direction) &&
                           study->loan->kinds[copy->direction][copy->memory]
                       ? lent_time(study, copy, &estimate)
                       : estimate.seconds;
    else if (change)
        add_gap(study, change, copy, copies);
    return known;
}

/* The recorded time is scaled and not replaced, so that what the model misses of a copy stays in
 * both. */
int64_t hl_advise_study_scaled(hl_advise_study *study, int64_t dur_ns, const haul_copy *before,
                               const haul_copy *after)
{
    double before_s = 1, after_s = 1;
    if (!hl_advise_study_copy_time(study, before, NULL, 0, &before_s) ||
        !hl_advise_study_copy_time(study, after, NULL, 0, &after_s))
        return dur_ns;
    double scaled_ns = (double)dur_ns * after_s / before_s;
    const double limit = haul_direction_crosses_link(after->direction)
                             ? study->limit_Bps[after->direction][after->memory]
                             : 0;
    if (limit > 0)
        scaled_ns = fmax(scaled_ns, 1e9 * (double)after->bytes / limit);
    return scaled_ns < 1e18 ? llround(scaled_ns) : dur_ns;
}

haul_copy hl_advise_study_copy(const hl_advise_rewrite *plan, uint32_t op)
{
    const hl_advise_edit *edit = &plan->edits[op];
    const haul_op *copied = &plan->workload->ops[op];
    return (haul_copy){.bytes = edit->bytes,
                       .direction = (haul_direction)copied->direction,
                       .memory = edit->marks & HL_ADVISE_EDIT_PINNED ? HAUL_MEMORY_PINNED
                                                                     : (haul_memory)copied->detail,
                       .locality = HAUL_LOCALITY_NEAR};
}

/* With pinned memory a call whose name says "Async" returns at once, another when the copy has
 * ended; with pageable memory, when the last bytes are staged. For a copy to the host a later call
 * must wait, or the program could not know when the bytes are there. */
static bool is_asynchronous(const hl_advise_study *study, uint32_t op)
{
    const haul_op *copied = &study->workload->ops[op];
    if (!strstr(haul_workload_string(study->workload, copied->name), "Async"))
        return false;
    if (copied->direction == HAUL_DIRECTION_HTOD || copied->stream == HAUL_NONE)
        return true;
    const uint32_t waited = study->waited[copied->stream];
    return waited != HAUL_NONE && waited >= op;
}

/* 32 MB of pinned memory take 11.6 ms to allocate with CuPy
 * (github.com/rapidsai/dask-cuda/issues/106), 0.38 ms for each MiB. Others saw 1 ms
 * (github.com/kekzl/imp/issues/1653). */
double hl_advise_page_lock_s(double bytes)
{
    return bytes * 11.6e-3 / 32e6;
}

void hl_advise_buffer_lock(const hl_advise_study *study, hl_advise_rewrite *plan, uint32_t op,
                           uint32_t user)
{
    const haul_op *copied = &study->workload->ops[op];
    const hl_project_size_class *one = &study->classes.items[study->class_of[op]];
    uint16_t *marks = &plan->edits[study->classes.ops[one->first]].marks;
    if (*marks & HL_ADVISE_EDIT_LOCKED || copied->detail == HAUL_MEMORY_PINNED)
        return;
    *marks |= HL_ADVISE_EDIT_LOCKED;
    const int64_t lock_ns = llround(fmin(1e9 * hl_advise_page_lock_s((double)one->bytes), 1e17));
    const hl_advise_insert lock = {.op = {.kind = HAUL_OP_CALL, .stream = HAUL_NONE},
                                   .dur_ns = lock_ns,
                                   .call_dur_ns = lock_ns,
                                   .anchor = user,
                                   .place = HL_ADVISE_BEFORE_CALL};
    plan->lock_ns = hl_base_add_ns(plan->lock_ns, lock_ns);
    if (study->workload->ops[user].thread != HAUL_NONE)
        hl_advise_rewrite_insert(plan, &lock);
    else /* no host to do it: the operation starts when its stream is free, and takes longer */
        plan->edits[user].dur_ns = hl_base_add_ns(plan->edits[user].dur_ns, lock_ns);
}

/* Durations first: the memory of the copy before must be the old one. */
void hl_advise_study_pin(hl_advise_study *study, hl_advise_rewrite *plan, uint32_t op)
{
    hl_advise_edit *edit = &plan->edits[op];
    const haul_op *copied = &plan->workload->ops[op];
    /* Of memory whose kind the profile does not tell the copy's time stays, but it has to be
     * pinned: it may not be yet. */
    if (hl_advise_study_crosses(study, op) && copied->detail == HAUL_MEMORY_HOST)
        hl_advise_buffer_lock(study, plan, op, op);
    if (!hl_advise_study_crosses(study, op) || copied->detail != HAUL_MEMORY_PAGEABLE ||
        edit->marks & (HL_ADVISE_EDIT_PINNED | HL_ADVISE_EDIT_GONE))
        return;
    const haul_copy before = hl_advise_study_copy(plan, op);
    edit->marks |= HL_ADVISE_EDIT_PINNED | HL_ADVISE_EDIT_TOUCHED;
    const haul_copy after = hl_advise_study_copy(plan, op);
    edit->dur_ns = hl_advise_study_scaled(study, edit->dur_ns, &before, &after);
    edit->staged_ns = study->staged_ns[study->class_of[op]];
    edit->marks |= is_asynchronous(study, op) ? HL_ADVISE_EDIT_FREE : HL_ADVISE_EDIT_BLOCKS;
    hl_advise_buffer_lock(study, plan, op, op);
}

bool hl_advise_study_can_pin(hl_advise_study *study, const hl_advise_change *change,
                             haul_direction direction, uint64_t bytes, uint64_t copies)
{
    double seconds;
    const haul_copy pageable = {bytes, direction, HAUL_MEMORY_PAGEABLE, HAUL_LOCALITY_NEAR};
    const haul_copy pinned = {bytes, direction, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR};
    return hl_advise_study_copy_time(study, &pageable, change, copies, &seconds) &&
           hl_advise_study_copy_time(study, &pinned, change, copies, &seconds);
}

void hl_advise_candidates_add(hl_advise_study *study, hl_advise_candidates *out,
                              const hl_advise_candidate *candidate)
{
    if (candidate->bound_ns <= 0)
        return;
    if (hl_base_grow(&out->items, &out->capacity, out->count + 1, sizeof *out->items))
        out->items[out->count++] = *candidate;
    else
        study->failed = true;
}

void hl_advise_calls_find(hl_advise_study *study, hl_advise_class_test takes,
                          hl_advise_candidates *out)
{
    const hl_project_size_classes *classes = &study->classes;
    for (size_t begin = 0, end; begin < classes->count; begin = end) {
        end = hl_project_size_group(classes, begin).end;
        hl_advise_candidate candidate = {.subject = (uint32_t)begin, .variants = 1};
        for (size_t c = begin; c < end; c++)
            for (uint32_t k = 0; takes(study, &classes->items[c]) && k < classes->items[c].count;
                 k++)
                hl_advise_candidate_count(study, &candidate,
                                          classes->ops[classes->items[c].first + k]);
        hl_advise_candidates_add(study, out, &candidate);
    }
}

void hl_advise_calls_edit(hl_advise_study *study, const hl_advise_candidate *candidate,
                          hl_advise_class_test takes,
                          void (*edit)(hl_advise_study *study, hl_advise_rewrite *plan,
                                       uint32_t op),
                          hl_advise_rewrite *plan)
{
    const hl_project_size_classes *classes = &study->classes;
    const hl_project_class_range range = hl_project_size_group(classes, candidate->subject);
    for (size_t c = range.begin; c < range.end; c++)
        for (uint32_t k = 0; takes(study, &classes->items[c]) && k < classes->items[c].count; k++)
            edit(study, plan, classes->ops[classes->items[c].first + k]);
}

void hl_advise_classes_find(hl_advise_study *study,
                            void (*count)(hl_advise_study *study, uint32_t op,
                                          hl_advise_candidate *candidate),
                            hl_advise_candidates *out)
{
    for (size_t c = 0; c < study->classes.count; c++) {
        const hl_project_size_class *one = &study->classes.items[c];
        hl_advise_candidate candidate = {.subject = (uint32_t)c, .variants = 1};
        for (uint32_t k = 0; k < one->count; k++)
            count(study, study->classes.ops[one->first + k], &candidate);
        hl_advise_candidates_add(study, out, &candidate);
    }
}

/* States lie one after another; a visitor knows what they are. */
void hl_advise_study_walk(hl_advise_study *study, const hl_advise_stream_walk *walk, void *context)
{
    const haul_workload *workload = study->workload;
    char *states = calloc(workload->stream_count + 1, walk->size);
    study->failed |= !states;
    for (size_t s = 0; states && s < workload->stream_count; s++)
        memcpy(states + s * walk->size, walk->empty, walk->size);
    for (uint32_t i = 0; states && i < workload->op_count; i++)
        if (haul_op_on_device(&workload->ops[i]) && workload->ops[i].stream != HAUL_NONE)
            walk->visit(study, states + workload->ops[i].stream * walk->size, i, context);
    for (size_t s = 0; states && walk->end && s < workload->stream_count; s++)
        walk->end(study, states + s * walk->size, context);
    free(states);
}

const char *hl_advise_study_text(hl_advise_study *study, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *kept = hl_base_arena_vformat(study->arena, format, args);
    va_end(args);
    study->failed |= !kept;
    return kept ? kept : "";
}

const char *hl_advise_study_time(hl_advise_study *study, int64_t ns)
{
    char text[32];
    return hl_advise_study_text(
        study, "%s",
        haul_quantity_format(1e-9 * (double)ns, HAUL_DIM_SECONDS, 3, text, sizeof text));
}

const char *hl_advise_study_bytes(hl_advise_study *study, uint64_t bytes)
{
    char text[32];
    return hl_advise_study_text(
        study, "%s", haul_quantity_format((double)bytes, HAUL_DIM_BYTES, 4, text, sizeof text));
}

const char *hl_advise_study_pinned_need(hl_advise_study *study, const hl_advise_effect *effect)
{
    if (!effect->pinned && effect->locks_ns)
        return hl_advise_study_text(
            study,
            "pinned host memory; the profile does not say whether it is, and "
            "page-locking takes %s once, which is subtracted",
            hl_advise_study_time(study, effect->locks_ns));
    if (!effect->pinned)
        return NULL;
    return hl_advise_study_text(
        study,
        "pinned host memory that the program fills and reads in place, a buffer "
        "for each size (the largest %s); page-locking takes %s once, subtracted",
        hl_advise_study_bytes(study, effect->pinned_largest),
        hl_advise_study_time(study, effect->locks_ns));
}
