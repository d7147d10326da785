/* A tournament of the actors' events: Knuth, The Art of Computer Programming, volume 3, 5.4.1. */
#include "timeline/event_queue.h"

#include <stdlib.h>

bool hl_timeline_event_queue_init(hl_timeline_event_queue *self, uint32_t actors)
{
    *self = (hl_timeline_event_queue){NULL};
    return hl_timeline_event_queue_grow(self, 0, actors);
}

/* The way up of an event that was taken has its time still, and must win wherever another comes. */
static void mark_taken(hl_timeline_event_queue *self)
{
    for (size_t node = self->leaves + self->actors[1]; node > 1; node /= 2)
        self->times[node] = hl_timeline_event_taken;
}

/* Of equal times the left one, whose actors have the lower numbers. */
static void let_meet(hl_timeline_event_queue *self, size_t node)
{
    const size_t left = 2 * node, right = left + 1;
    const size_t first = self->times[right] < self->times[left] ? right : left;
    self->times[node] = self->times[first];
    self->actors[node] = self->actors[first];
}

bool hl_timeline_event_queue_grow(hl_timeline_event_queue *self, uint32_t before, uint32_t actors)
{
    hl_timeline_event_queue made = {.leaves = 2};
    while (made.leaves < actors)
        made.leaves *= 2;
    made.times = malloc(2 * (size_t)made.leaves * sizeof *made.times);
    made.actors = malloc(2 * (size_t)made.leaves * sizeof *made.actors);
    if (!made.times || !made.actors) {
        hl_timeline_event_queue_release(&made);
        return false;
    }
    if (before && self->times[1] == hl_timeline_event_taken)
        mark_taken(self);
    for (uint32_t a = 0; a < made.leaves; a++) {
        made.times[made.leaves + a] = a < before ? self->times[self->leaves + a] : INT64_MAX;
        made.actors[made.leaves + a] = a;
    }
    for (size_t node = made.leaves - 1; node > 0; node--)
        let_meet(&made, node);
    hl_timeline_event_queue_release(self);
    *self = made;
    return true;
}

void hl_timeline_event_queue_release(hl_timeline_event_queue *self)
{
    free(self->times);
    free(self->actors);
    *self = (hl_timeline_event_queue){0};
}

/* The winner so far stays in hand: only what it meets is loaded, and none of that depends on who
 * won below. A tie goes to the left, which the right one of two pays for with 1 ns. Both sides of a
 * choice are in hand before it, so that compilers make no branch of it: half of these would be
 * mispredicted. */
void hl_timeline_event_queue_set(hl_timeline_event_queue *self, uint32_t actor, int64_t time_ns)
{
    if (self->times[1] == hl_timeline_event_taken && self->actors[1] != actor)
        mark_taken(self);
    int64_t *times = self->times;
    uint32_t *actors = self->actors;
    size_t node = self->leaves + actor;
    times[node] = time_ns;
    for (; node > 1; node /= 2) {
        const int64_t other_ns = times[node ^ 1];
        const uint32_t other = actors[node ^ 1];
        const bool loses = other_ns - (int64_t)(node & 1) < time_ns;
        actor = loses ? other : actor;
        time_ns = other_ns < time_ns ? other_ns : time_ns;
        times[node / 2] = time_ns;
        actors[node / 2] = actor;
    }
}
