/* A binary heap: what waits never moves. */
#include "base/waiting.h"

#include "base/grow.h"

static bool is_served_before(const hl_base_waiting_item *a, const hl_base_waiting_item *b)
{
    return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->op < b->op);
}

/* The item is held in hand and written once, at its final place. */
bool hl_base_waiting_add(hl_base_waiting *self, hl_base_waiting_item item)
{
    if (self->count == self->capacity &&
        !hl_base_grow(&self->heap, &self->capacity, self->count + 1, sizeof *self->heap))
        return false;
    size_t place = self->count++;
    for (; place && is_served_before(&item, &self->heap[(place - 1) / 2]); place = (place - 1) / 2)
        self->heap[place] = self->heap[(place - 1) / 2];
    self->heap[place] = item;
    return true;
}

hl_base_waiting_item hl_base_waiting_take(hl_base_waiting *self)
{
    const hl_base_waiting_item first = self->heap[0], last = self->heap[--self->count];
    size_t place = 0;
    for (size_t child; (child = 2 * place + 1) < self->count; place = child) {
        if (child + 1 < self->count && is_served_before(&self->heap[child + 1], &self->heap[child]))
            child++;
        if (!is_served_before(&self->heap[child], &last))
            break;
        self->heap[place] = self->heap[child];
    }
    if (self->count)
        self->heap[place] = last;
    return first;
}
