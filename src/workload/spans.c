/* Spans of a thread are walked in order of start with those that are open: each was entered within
 * the one that was the innermost then, also where the two overlap and neither holds the other. */
#include "workload/spans.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/grow.h"
#include "base/intervals.h"
#include "base/order.h"

/* 78 hours around the first span, 4 s, and 65,536 names around the first one's. */
typedef struct packed_span {
    uint32_t start_low;
    uint16_t start_high;
    uint16_t name;
    uint32_t dur_ns;
} packed_span;

static_assert(sizeof(packed_span) == 12, "without padding");

enum { START_BITS = 48, NAME_BITS = 16 };

/* Differences are unsigned, and moved so that a half of the range is below the first one. */
static bool pack_span(const hl_workload_spans *self, const haul_named_range *span, packed_span *to)
{
    const uint64_t start = (uint64_t)span->start_ns - (uint64_t)self->first.start_ns +
                           (UINT64_C(1) << (START_BITS - 1));
    const uint32_t name = span->name - self->first.name + (UINT32_C(1) << (NAME_BITS - 1));
    *to = (packed_span){(uint32_t)start, (uint16_t)(start >> 32), (uint16_t)name,
                        (uint32_t)span->dur_ns};
    return !(start >> START_BITS) && !(name >> NAME_BITS) && span->dur_ns >= 0 &&
           span->dur_ns <= UINT32_MAX;
}

static uint64_t packed_start(const packed_span *span)
{
    return (uint64_t)span->start_high << 32 | span->start_low;
}

static inline haul_named_range span_at(const hl_workload_spans *self, uint32_t thread,
                                       size_t number)
{
    const hl_workload_span_list *const list = &self->threads[thread];
    if (list->is_wide) {
        haul_named_range span = ((const haul_named_range *)list->items)[number];
        span.thread = thread;
        return span;
    }
    const packed_span *const span = (const packed_span *)list->items + number;
    const uint64_t start = packed_start(span) - (UINT64_C(1) << (START_BITS - 1));
    return (haul_named_range){
        .thread = thread,
        .start_ns = (int64_t)((uint64_t)self->first.start_ns + start),
        .dur_ns = span->dur_ns,
        .name = self->first.name + span->name - (UINT32_C(1) << (NAME_BITS - 1)),
    };
}

haul_named_range hl_workload_spans_at(const hl_workload_spans *self, uint32_t thread, size_t number)
{
    return span_at(self, thread, number);
}

/* A thread whose next span does not fit keeps all of them as they are from then on. */
static bool widen_list(hl_workload_spans *self, uint32_t thread)
{
    hl_workload_span_list *const list = &self->threads[thread];
    haul_named_range *const wide = malloc((list->count + 1) * sizeof *wide);
    if (!wide)
        return false;
    for (size_t i = 0; i < list->count; i++)
        wide[i] = span_at(self, thread, i);
    free(list->items);
    list->items = wide;
    list->capacity = list->count + 1;
    list->is_wide = true;
    return true;
}

bool hl_workload_spans_add(hl_workload_spans *self, const haul_named_range *span)
{
    packed_span packed;
    if (span->thread == HAUL_NONE)
        return true;
    if (!self->count)
        self->first = *span;
    if (span->thread >= self->thread_count) {
        const size_t count = (size_t)span->thread + 1;
        if (!hl_base_grow(&self->threads, &self->thread_capacity, count, sizeof *self->threads))
            return false;
        memset(self->threads + self->thread_count, 0,
               (count - self->thread_count) * sizeof *self->threads);
        self->thread_count = count;
    }
    hl_workload_span_list *const list = &self->threads[span->thread];
    const bool fits = pack_span(self, span, &packed);
    if (!fits && !list->is_wide && !widen_list(self, span->thread))
        return false;
    const size_t size = list->is_wide ? sizeof *span : sizeof packed;
    if (list->count == list->capacity &&
        !hl_base_grow(&list->items, &list->capacity, list->count + 1, size))
        return false;
    char *const place = (char *)list->items + list->count * size;
    if (list->is_wide)
        memcpy(place, span, sizeof *span);
    else
        memcpy(place, &packed, sizeof packed);
    list->count++;
    self->count++;
    return true;
}

/* Equal starts: the longest first, which holds the others. */
static int compare_packed(const void *a, const void *b)
{
    const packed_span *const x = a, *const y = b;
    const uint64_t p = packed_start(x), q = packed_start(y);
    if (p != q)
        return p < q ? -1 : 1;
    return hl_base_compare_signed(y->dur_ns, x->dur_ns);
}

static int compare_wide(const void *a, const void *b)
{
    const haul_named_range *const x = a, *const y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return hl_base_compare_signed(y->dur_ns, x->dur_ns);
}

struct hl_workload_span_place {
    size_t first; /* of the thread's, among all */
    size_t next;
    int64_t next_ns; /* its start; INT64_MAX behind the last */
    int64_t end_ns;  /* of the one that is open */
    uint32_t open;   /* the innermost, HAUL_NONE for none */
    uint32_t name;   /* its own */
};

static int64_t start_of(const hl_workload_spans *self, uint32_t thread, size_t number)
{
    return number < self->threads[thread].count ? span_at(self, thread, number).start_ns
                                                : INT64_MAX;
}

static void open_span(const hl_workload_spans *self, struct hl_workload_span_place *at,
                      uint32_t thread, uint32_t number)
{
    at->open = number;
    at->name = HAUL_NONE;
    at->end_ns = INT64_MAX;
    if (number == HAUL_NONE)
        return;
    const haul_named_range span = span_at(self, thread, number);
    at->name = span.name;
    at->end_ns = hl_base_end_of(span.start_ns, span.dur_ns);
}

bool hl_workload_span_walk_begin(hl_workload_span_walk *self, hl_workload_spans *spans)
{
    size_t first = 0;
    *self = (hl_workload_span_walk){spans, calloc(spans->thread_count + 1, sizeof *self->threads),
                                    malloc((spans->count + 1) * sizeof *self->outer)};
    if (!self->threads || !self->outer || spans->count >= HAUL_NONE)
        return false;
    for (uint32_t t = 0; t < spans->thread_count; t++) {
        const hl_workload_span_list *const list = &spans->threads[t];
        hl_base_order_items(list->items, list->count,
                            list->is_wide ? sizeof(haul_named_range) : sizeof(packed_span),
                            list->is_wide ? compare_wide : compare_packed);
        self->threads[t] = (struct hl_workload_span_place){.first = first};
        self->threads[t].next_ns = start_of(spans, t, 0);
        open_span(spans, &self->threads[t], t, HAUL_NONE);
        first += spans->threads[t].count;
    }
    return true;
}

void hl_workload_span_walk_end(hl_workload_span_walk *self)
{
    free(self->threads);
    free(self->outer);
}

static void leave_until(const hl_workload_span_walk *self, struct hl_workload_span_place *at,
                        uint32_t thread, int64_t time_ns)
{
    while (at->open != HAUL_NONE && at->end_ns <= time_ns)
        open_span(self->spans, at, thread, self->outer[at->first + at->open]);
}

uint32_t hl_workload_span_walk_name(hl_workload_span_walk *self, uint32_t thread, int64_t time_ns)
{
    if (thread >= self->spans->thread_count)
        return HAUL_NONE;
    struct hl_workload_span_place *const at = &self->threads[thread];
    while (at->next_ns <= time_ns && at->next < self->spans->threads[thread].count) {
        leave_until(self, at, thread, at->next_ns);
        self->outer[at->first + at->next] = at->open;
        open_span(self->spans, at, thread, (uint32_t)at->next++);
        at->next_ns = start_of(self->spans, thread, at->next);
    }
    leave_until(self, at, thread, time_ns);
    return at->name;
}

/* Calls in order of time: a span's end is met once, however deep spans lie in each other. */
bool hl_workload_spans_name_ops(hl_workload_spans *self, const haul_op *ops, size_t op_count,
                                uint32_t *names)
{
    hl_workload_span_walk walk = {NULL};
    uint32_t *const order = malloc((op_count + 1) * sizeof *order);
    const hl_base_keys times = {op_count ? &ops->call_ns : NULL, sizeof *ops, HL_KEYS_SIGNED};
    size_t calls = 0;
    for (uint32_t i = 0; order && i < op_count; i++)
        if (ops[i].flags & HAUL_OP_HAS_CALL && ops[i].thread < self->thread_count)
            order[calls++] = i;
    const bool done = order && hl_base_order_sort(order, calls, &times) &&
                      hl_workload_span_walk_begin(&walk, self);
    for (size_t i = 0; done && i < calls; i++) {
        const haul_op *const op = &ops[order[i]];
        names[order[i]] = hl_workload_span_walk_name(&walk, op->thread, op->call_ns);
    }
    hl_workload_span_walk_end(&walk);
    free(order);
    return done;
}

void hl_workload_spans_release(hl_workload_spans *self)
{
    for (size_t t = 0; t < self->thread_count; t++)
        free(self->threads[t].items);
    free(self->threads);
    *self = (hl_workload_spans){0};
}
