/* The API calls of a Kineto trace, kept in few bytes until all operations are read: one that has
 * begun may have issued any of them. */
#include <string.h>

#include "trace/kineto.h"

/* Tells a wide call, whose `key` is its number among those. */
static const uint32_t wide = UINT32_MAX;

/* A duration of 4 s or a key beyond 32 bits stands beside the others. */
static hl_trace_kineto_kept_call pack(hl_trace_kineto_reader *self, const hl_trace_host_call *call,
                                      uint32_t from)
{
    hl_trace_kineto_kept_call kept = {
        .start_ns = {(uint32_t)call->start_ns, (uint32_t)((uint64_t)call->start_ns >> 32)},
        .dur_ns = (uint32_t)call->dur_ns,
        .key = (uint32_t)call->key,
        .from = from};
    if ((call->dur_ns < 0 || call->dur_ns >= wide || call->key > UINT32_MAX) &&
        hl_workload_builder_grow(&self->builder->built, &self->wide_calls,
                                 &self->wide_call_capacity, self->wide_call_count + 1,
                                 sizeof *self->wide_calls)) {
        kept.dur_ns = wide;
        kept.key = (uint32_t)self->wide_call_count;
        self->wide_calls[self->wide_call_count++] = *call;
    }
    return kept;
}

void hl_trace_kineto_keep_call(hl_trace_kineto_reader *self, const hl_trace_host_call *call)
{
    const hl_trace_kineto_caller caller = {call->name, call->thread};
    const hl_trace_kineto_caller *const last = &self->caller;
    if (!self->call_count || last->name != caller.name || last->thread != caller.thread) {
        self->caller = caller;
        self->caller_number = hl_base_records_add(&self->callers, &caller);
    }
    const uint32_t from = self->caller_number;
    hl_workload_builder *const built = &self->builder->built;
    built->failed |= from == HAUL_NONE || self->call_count >= UINT32_MAX;
    if (hl_workload_builder_grow(built, &self->calls, &self->call_capacity, self->call_count + 1,
                                 sizeof *self->calls))
        self->calls[self->call_count++] = pack(self, call, from);
}

static int64_t start_of(const hl_trace_kineto_kept_call *call)
{
    return (int64_t)((uint64_t)call->start_ns[1] << 32 | call->start_ns[0]);
}

hl_trace_host_call hl_trace_kineto_call_at(const hl_trace_kineto_reader *self, size_t place)
{
    const hl_trace_kineto_kept_call *const kept = &self->calls[place];
    const hl_trace_kineto_caller caller =
        ((const hl_trace_kineto_caller *)self->callers.items)[kept->from];
    const bool is_kept_wide = kept->dur_ns == wide;
    return (hl_trace_host_call){
        .start_ns = start_of(kept),
        .dur_ns = is_kept_wide ? self->wide_calls[kept->key].dur_ns : kept->dur_ns,
        .key = is_kept_wide ? self->wide_calls[kept->key].key : kept->key,
        .name = caller.name,
        .thread = caller.thread,
    };
}

void hl_trace_kineto_give_key(hl_trace_kineto_reader *self, size_t place, uint64_t key)
{
    hl_trace_host_call call = hl_trace_kineto_call_at(self, place);
    call.key = key;
    self->calls[place] = pack(self, &call, self->calls[place].from);
}

/* Calls of one start come in an order of their own, so that the file's is of no matter. */
static bool comes_before(const hl_trace_kineto_kept_call *a, const hl_trace_kineto_kept_call *b)
{
    const int64_t x = start_of(a), y = start_of(b);
    if (x != y)
        return x < y;
    return a->key != b->key ? a->key < b->key : a->from < b->from;
}

/* Sorts in place, since a list of their numbers would take a fifth of their memory again: Shell's
 * method, with the gaps of Ciura (2001) and on by 2.25. A step of calls in order is one pass. */
void hl_trace_kineto_sort_calls(hl_trace_kineto_reader *self)
{
    static const size_t least[] = {1, 4, 10, 23, 57, 132, 301, 701};
    enum { LEAST = sizeof least / sizeof *least, STEPS = 40 };
    size_t gaps[STEPS];
    size_t steps = 0;
    bool sorted = true;
    for (size_t i = 1; i < self->call_count && sorted; i++)
        sorted = start_of(&self->calls[i - 1]) <= start_of(&self->calls[i]);
    for (size_t gap = 1; !sorted && steps < STEPS && gap < self->call_count; steps++) {
        gaps[steps] = gap;
        gap = steps + 1 < LEAST ? least[steps + 1] : gap * 9 / 4;
    }
    while (steps-- > 0)
        for (size_t i = gaps[steps]; i < self->call_count; i++) {
            const hl_trace_kineto_kept_call call = self->calls[i];
            size_t at = i;
            for (; at >= gaps[steps] && comes_before(&call, &self->calls[at - gaps[steps]]);
                 at -= gaps[steps])
                self->calls[at] = self->calls[at - gaps[steps]];
            self->calls[at] = call;
        }
}

size_t hl_trace_kineto_first_call(const hl_trace_kineto_reader *self, int64_t start_ns)
{
    size_t low = 0, high = self->call_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (start_of(&self->calls[middle]) < start_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
