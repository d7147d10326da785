/* A binary heap by actor, whose events move. */
#include "timeline/event_queue.h"

#include <stdlib.h>
#include <string.h>

static const hl_timeline_event_queue_item none = {INT64_MAX, UINT32_MAX};

bool hl_timeline_event_queue_init(hl_timeline_event_queue *self, uint32_t actors)
{
    hl_timeline_event_queue made = {NULL};
    if (!hl_timeline_event_queue_grow(&made, 0, actors)) {
        hl_timeline_event_queue_release(&made);
        return false;
    }
    *self = made;
    return true;
}

bool hl_timeline_event_queue_grow(hl_timeline_event_queue *self, uint32_t before, uint32_t actors)
{
    hl_timeline_event_queue_item *heap = realloc(self->heap, ((size_t)actors + 1) * sizeof *heap);
    if (!heap)
        return false;
    self->heap = heap;
    heap[self->count] = none;
    uint32_t *places = realloc(self->places, ((size_t)actors + 1) * sizeof *places);
    if (!places)
        return false;
    self->places = places;
    memset(places + before, 0xff, ((size_t)actors + 1 - before) * sizeof *places);
    return true;
}

void hl_timeline_event_queue_release(hl_timeline_event_queue *self)
{
    free(self->heap);
    free(self->places);
    *self = (hl_timeline_event_queue){0};
}

static bool is_before(hl_timeline_event_queue_item a, hl_timeline_event_queue_item b)
{
    /* without branches: which comes first is as good as random */
    return (a.time_ns < b.time_ns) | ((a.time_ns == b.time_ns) & (a.actor < b.actor));
}

/* The place of each actor is kept, for its event may move. */
static void put_item(hl_timeline_event_queue *self, uint32_t place,
                     hl_timeline_event_queue_item item)
{
    self->heap[place] = item;
    self->places[item.actor] = place;
}

/* The item is held in hand and written once, at its final place. */
static void rise(hl_timeline_event_queue *self, uint32_t place, hl_timeline_event_queue_item item)
{
    while (place && is_before(item, self->heap[(place - 1) / 2])) {
        put_item(self, place, self->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put_item(self, place, item);
}

static void sink(hl_timeline_event_queue *self, uint32_t place, hl_timeline_event_queue_item item)
{
    for (uint32_t child; (child = 2 * place + 1) < self->count; place = child) {
        child += is_before(self->heap[child + 1], self->heap[child]);
        if (!is_before(self->heap[child], item))
            break;
        put_item(self, place, self->heap[child]);
    }
    put_item(self, place, item);
}

void hl_timeline_event_queue_set(hl_timeline_event_queue *self, uint32_t actor, int64_t time_ns)
{
    const hl_timeline_event_queue_item item = {time_ns, actor};
    const uint32_t place = self->places[actor];
    if (place == UINT32_MAX) {
        self->heap[++self->count] = none;
        rise(self, self->count - 1, item);
    } else if (is_before(item, self->heap[place]))
        rise(self, place, item);
    else
        sink(self, place, item);
}

void hl_timeline_event_queue_drop_taken(hl_timeline_event_queue *self)
{
    self->places[self->heap[0].actor] = UINT32_MAX;
    const hl_timeline_event_queue_item last = self->heap[--self->count];
    self->heap[self->count] = none;
    if (self->count)
        sink(self, 0, last);
}
