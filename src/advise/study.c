#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advise/study.h"
#include "base/grow.h"
#include "haul/units.h"

enum { CACHED = 4096, TEXT = 1024 };

/* Prices lately asked for, each at a place of its own key. */
typedef struct haul_price_cache {
    haul_copy copies[CACHED];
    double seconds[CACHED];
    enum { NOT_ASKED, PRICED, UNPRICED } known[CACHED];
} haul_price_cache;

static bool list_waits(haul_study *self)
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

haul_status haul_study_init(haul_study *self, haul_error *error)
{
    self->prices = calloc(1, sizeof *self->prices);
    self->gaps = calloc(HAUL_GAPS, sizeof *self->gaps);
    if (!self->prices || !self->gaps || !list_waits(self))
        return haul_fail_no_memory(error);
    return haul_call_groups_make(self->workload, self->durations_ns, &self->groups, error);
}

void haul_study_release(haul_study *self)
{
    haul_call_groups_release(&self->groups);
    free(self->prices);
    free(self->gaps);
    free(self->waited);
    free(self->fetched);
}

static bool same_copy(const haul_copy *a, const haul_copy *b)
{
    return a->bytes == b->bytes && a->direction == b->direction && a->memory == b->memory;
}

static size_t cache_place(const haul_copy *copy)
{
    const uint64_t mixed =
        (copy->bytes * 8 + (uint64_t)copy->direction) * 8 + (uint64_t)copy->memory;
    return (size_t)((mixed * UINT64_C(0x9e3779b97f4a7c15)) >> 52);
}

static haul_gap *find_gap(const haul_study *study, const haul_change *change, const haul_copy *copy)
{
    for (size_t g = 0; g < study->gap_count; g++)
        if (study->gaps[g].direction == copy->direction && study->gaps[g].memory == copy->memory &&
            !strcmp(study->gaps[g].change, change->word))
            return &study->gaps[g];
    return NULL;
}

static void add_gap(haul_study *study, const haul_change *change, const haul_copy *copy,
                    uint64_t copies, const char *figure)
{
    if (study->gap_count < HAUL_GAPS)
        study->gaps[study->gap_count++] =
            (haul_gap){change->word, haul_study_text(study, "%s", figure), copy->direction,
                       copy->memory, copies};
}

/* Asks the model, and keeps what it says; without a price why goes to `missing`. */
static bool ask(haul_study *study, const haul_copy *copy, size_t place, haul_error *missing)
{
    haul_price_cache *cache = study->prices;
    haul_estimate estimate;
    const haul_status status = haul_copy_time(study->machine, NULL, copy, &estimate, missing);
    const bool known = !status && estimate.seconds > 0;
    cache->copies[place] = *copy;
    cache->known[place] = known ? PRICED : UNPRICED;
    cache->seconds[place] = known ? estimate.seconds : 0;
    if (!status && !known)
        haul_fail(missing, HAUL_MISSING, "a copy would take no time");
    return known;
}

bool haul_study_price(haul_study *study, const haul_copy *copy, const haul_change *change,
                      uint64_t copies, double *seconds)
{
    haul_price_cache *cache = study->prices;
    const size_t place = cache_place(copy);
    const bool asked = cache->known[place] != NOT_ASKED && same_copy(&cache->copies[place], copy);
    haul_gap *gap = change ? find_gap(study, change, copy) : NULL;
    haul_error missing = {0};
    bool known = asked && cache->known[place] == PRICED;
    if (!known && (!asked || (change && !gap)))
        known = ask(study, copy, place, &missing);
    if (known)
        *seconds = cache->seconds[place];
    else if (gap)
        gap->copies += copies;
    else if (change)
        add_gap(study, change, copy, copies, missing.text);
    return known;
}

int64_t haul_study_scaled(haul_study *study, int64_t dur_ns, const haul_copy *before,
                          const haul_copy *after)
{
    double before_s = 1, after_s = 1;
    if (!haul_study_price(study, before, NULL, 0, &before_s) ||
        !haul_study_price(study, after, NULL, 0, &after_s))
        return dur_ns;
    const double scaled_ns = (double)dur_ns * after_s / before_s;
    return scaled_ns < 1e18 ? llround(scaled_ns) : dur_ns;
}

haul_copy haul_study_copy(const haul_rewrite *plan, uint32_t op)
{
    const haul_edit *edit = &plan->edits[op];
    const haul_op *copied = &plan->workload->ops[op];
    return (haul_copy){.bytes = edit->bytes,
                       .direction = (haul_direction)copied->direction,
                       .memory = edit->marks & HAUL_EDIT_PINNED ? HAUL_PINNED
                                                                : (haul_memory)copied->detail,
                       .locality = HAUL_NEAR};
}

/* A call that says so in its name returns at once for pinned memory; another when the copy has
 * ended, whereas of pageable memory it returns when the last bytes are staged. What comes to the
 * host has to be waited for by a later call, or nobody could know when it is there. */
static bool is_asynchronous(const haul_study *study, uint32_t op)
{
    const haul_op *copied = &study->workload->ops[op];
    if (!strstr(haul_workload_string(study->workload, copied->name), "Async"))
        return false;
    if (copied->direction == HAUL_HTOD || copied->stream == HAUL_NONE)
        return true;
    const uint32_t waited = study->waited[copied->stream];
    return waited != HAUL_NONE && waited >= op;
}

void haul_study_pin(haul_study *study, haul_rewrite *plan, uint32_t op)
{
    haul_edit *edit = &plan->edits[op];
    const haul_op *copied = &plan->workload->ops[op];
    if (!haul_op_crosses(copied) || copied->detail != HAUL_PAGEABLE ||
        edit->marks & (HAUL_EDIT_PINNED | HAUL_EDIT_GONE))
        return;
    const haul_copy before = haul_study_copy(plan, op);
    edit->marks |= HAUL_EDIT_PINNED | HAUL_EDIT_TOUCHED;
    const haul_copy after = haul_study_copy(plan, op);
    edit->dur_ns = haul_study_scaled(study, edit->dur_ns, &before, &after);
    edit->marks |= is_asynchronous(study, op) ? HAUL_EDIT_FREE : HAUL_EDIT_BLOCKS;
}

bool haul_study_can_pin(haul_study *study, const haul_change *change, haul_direction direction,
                        uint64_t bytes, uint64_t copies)
{
    double seconds;
    const haul_copy pageable = {bytes, direction, HAUL_PAGEABLE, HAUL_NEAR};
    const haul_copy pinned = {bytes, direction, HAUL_PINNED, HAUL_NEAR};
    return haul_study_price(study, &pageable, change, copies, &seconds) &&
           haul_study_price(study, &pinned, change, copies, &seconds);
}

void haul_candidates_add(haul_study *study, haul_candidates *out, const haul_candidate *candidate)
{
    if (candidate->bound_ns <= 0)
        return;
    if (haul_grow(&out->items, &out->capacity, out->count + 1, sizeof *out->items))
        out->items[out->count++] = *candidate;
    else
        study->failed = true;
}

const char *haul_study_text(haul_study *study, const char *format, ...)
{
    char text[TEXT];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *kept = haul_arena_string(study->arena, text);
    study->failed |= !kept;
    return kept ? kept : "";
}

const char *haul_study_time(haul_study *study, int64_t ns)
{
    char text[32];
    return haul_study_text(
        study, "%s",
        haul_quantity_format(1e-9 * (double)ns, HAUL_DIM_SECONDS, 3, text, sizeof text));
}

const char *haul_study_bytes(haul_study *study, uint64_t bytes)
{
    char text[32];
    return haul_study_text(
        study, "%s", haul_quantity_format((double)bytes, HAUL_DIM_BYTES, 4, text, sizeof text));
}

const char *haul_study_pinned_need(haul_study *study, const haul_effect *effect)
{
    if (!effect->pinned)
        return NULL;
    if (effect->pinned_bytes == effect->pinned_largest)
        return haul_study_text(study, "%s of pinned host memory",
                               haul_study_bytes(study, effect->pinned_largest));
    return haul_study_text(study,
                           "pinned host memory: %s where each copy has a buffer of its own, at "
                           "least the %s of the largest",
                           haul_study_bytes(study, effect->pinned_bytes),
                           haul_study_bytes(study, effect->pinned_largest));
}
