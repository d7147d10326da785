/* A tournament of the actors' events: Knuth, The Art of Computer Programming, volume 3, 5.4.1. */
#include "timeline/event_queue.h"

#include <stdlib.h>

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

/* Of equal times the left one, whose actors have the lower numbers. Without branches: which comes
 * first is as good as random. */
bool hl_timeline_event_queue_grow(hl_timeline_event_queue *self, uint32_t before, uint32_t actors)
{
    size_t leaves = 2;
    while (leaves < actors)
        leaves *= 2;
    int64_t *times = realloc(self->times, leaves * sizeof *times);
    if (!times)
        return false;
    self->times = times;
    uint32_t *winners = realloc(self->winners, 2 * leaves * sizeof *winners);
    if (!winners)
        return false;
    self->winners = winners;
    self->leaves = (uint32_t)leaves;
    for (size_t a = before; a < leaves; a++)
        times[a] = INT64_MAX;
    for (size_t a = 0; a < leaves; a++)
        winners[leaves + a] = (uint32_t)a;
    for (size_t node = leaves - 1; node > 0; node--) {
        const uint32_t left = winners[2 * node], right = winners[2 * node + 1];
        winners[node] = times[right] < times[left] ? right : left;
    }
    return true;
}

void hl_timeline_event_queue_release(hl_timeline_event_queue *self)
{
    free(self->times);
    free(self->winners);
    *self = (hl_timeline_event_queue){0};
}

/* The winner so far stays in hand: only what it meets is loaded, and none of that depends on who
 * won below. A tie goes to the left, which the right one of two pays for with 1 ns. By a mask:
 * compilers make a branch of a choice, and half of these would be mispredicted; of the lesser of
 * two numbers they make none. */
void hl_timeline_event_queue_set(hl_timeline_event_queue *self, uint32_t actor, int64_t time_ns)
{
    uint32_t *winners = self->winners;
    const int64_t *times = self->times;
    self->times[actor] = time_ns;
    for (size_t node = self->leaves + actor; node > 1; node /= 2) {
        const uint32_t other = winners[node ^ 1];
        const int64_t other_ns = times[other];
        const uint32_t loses = -(uint32_t)(other_ns - (int64_t)(node & 1) < time_ns);
        actor ^= (actor ^ other) & loses;
        time_ns = other_ns < time_ns ? other_ns : time_ns;
        winners[node / 2] = actor;
    }
}
