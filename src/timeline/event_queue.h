/* The next events: the actors of a timeline by time, each with at most one event. */
#ifndef HAUL_TIMELINE_EVENT_QUEUE_H
#define HAUL_TIMELINE_EVENT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The time of an event that was taken: nothing comes before it. */
static const int64_t hl_timeline_event_taken = INT64_MIN / 2;

/* A tournament: leaves are the actors in their order, each node above has the earlier of its two,
 * its time beside its actor. An event's way up is known beforehand, so that the processor loads all
 * of it at once; a heap's depends on each comparison. */
typedef struct hl_timeline_event_queue {
    int64_t *times;   /* by node: the root is 1, the leaves are `leaves` and up; INT64_MAX: none */
    uint32_t *actors; /* by node */
    uint32_t leaves;  /* a power of two */
} hl_timeline_event_queue;

bool hl_timeline_event_queue_init(hl_timeline_event_queue *self, uint32_t actors);

/* Makes room for more actors than it was made for, `before`. */
bool hl_timeline_event_queue_grow(hl_timeline_event_queue *self, uint32_t before, uint32_t actors);
void hl_timeline_event_queue_release(hl_timeline_event_queue *self);

/* Gives an actor its event, or moves it; INT64_MAX: takes it away. */
void hl_timeline_event_queue_set(hl_timeline_event_queue *self, uint32_t actor, int64_t time_ns);

/* When the earliest event is; INT64_MAX where there is none. */
static inline int64_t hl_timeline_event_queue_next_ns(hl_timeline_event_queue *self)
{
    if (self->times[1] == hl_timeline_event_taken)
        hl_timeline_event_queue_set(self, self->actors[1], INT64_MAX);
    return self->times[1];
}

/* Whether an event is at `now_ns` or before. One that was taken keeps its place where none is: its
 * actor mostly gets another before the next instant, and to read what the way up meets takes half
 * the instructions of walking it. */
static inline bool hl_timeline_event_queue_is_due(hl_timeline_event_queue *self, int64_t now_ns)
{
    const int64_t *times = self->times;
    if (times[1] != hl_timeline_event_taken)
        return times[1] <= now_ns;
    int64_t next_ns = INT64_MAX;
    for (size_t node = self->leaves + self->actors[1]; node > 1; node /= 2)
        next_ns = times[node ^ 1] < next_ns ? times[node ^ 1] : next_ns;
    return next_ns <= now_ns && hl_timeline_event_queue_next_ns(self) <= now_ns;
}

/* Takes the earliest, of equal ones that of the lowest actor. It stays first until its actor gets
 * another, which mostly follows at once: the way up is walked once then. Needs: next_ns or is_due
 * was asked, and there is one. */
static inline uint32_t hl_timeline_event_queue_take(hl_timeline_event_queue *self)
{
    self->times[1] = hl_timeline_event_taken;
    return self->actors[1];
}

#endif
