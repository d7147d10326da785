/* Allocations and frees are one list of events by address and time: what holds an address at a time
 * is the last event before it that begins at or below it. */
#include "trace/host_memory.h"

#include "base/compare.h"
#include "base/order.h"

#include <stdlib.h>

void hl_trace_host_memory_add(hl_trace_host_memory *self, hl_workload_builder *built,
                              const hl_trace_allocation *allocation)
{
    if (!hl_workload_builder_grow(built, &self->items, &self->capacity, self->count + 1,
                                  sizeof *self->items))
        return;
    self->items[self->count++] = *allocation;
    self->sorted = false;
}

/* By address, then by time. */
static int compare_memory(const void *a, const void *b)
{
    const hl_trace_allocation *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return hl_base_compare_signed(x->time_ns, y->time_ns);
}

/* The number of items that come before an address and time, or are of them. */
static size_t count_before(const hl_trace_host_memory *self, uint64_t address, int64_t time_ns)
{
    const hl_trace_allocation wanted = {.address = address, .time_ns = time_ns};
    return hl_base_sorted_before(
        (hl_base_sorted){self->items, self->count, sizeof *self->items, compare_memory}, &wanted,
        true);
}

/* Allocations that live at one time do not overlap: only the nearest that begin before the address
 * can hold it, of which a few are looked at. */
bool hl_trace_host_memory_has(hl_trace_host_memory *self, uint64_t address, int64_t time_ns)
{
    enum { LOOKED_AT = 16 };
    if (!self->count)
        return false;
    if (!self->sorted)
        qsort(self->items, self->count, sizeof *self->items, compare_memory);
    self->sorted = true;
    size_t place = count_before(self, address, time_ns);
    for (int i = 0; place > 0 && i < LOOKED_AT; i++) {
        /* what was last done to the memory that begins there */
        const hl_trace_allocation *const last = &self->items[place - 1];
        if (last->time_ns <= time_ns && last->bytes)
            return address - last->address < last->bytes;
        if (!last->address)
            return false;
        place = count_before(self, last->address - (last->time_ns <= time_ns), time_ns);
    }
    return false;
}

/* The list may be used again afterwards. */
void hl_trace_host_memory_release(hl_trace_host_memory *self)
{
    free(self->items);
    *self = (hl_trace_host_memory){0};
}
