/* The next events: the actors of a timeline by time, each with at most one event. */
#ifndef HAUL_TIMELINE_EVENT_QUEUE_H
#define HAUL_TIMELINE_EVENT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hl_timeline_event_queue_item {
    int64_t time_ns;
    uint32_t actor;
} hl_timeline_event_queue_item;

/* The time of an event that was taken: nothing comes before it. */
static const int64_t hl_timeline_event_taken = INT64_MIN;

typedef struct hl_timeline_event_queue {
    hl_timeline_event_queue_item
        *heap;        /* behind the last, one of INT64_MAX, where a child is looked for */
    uint32_t *places; /* in the heap, by actor; UINT32_MAX where it has no event */
    uint32_t count;
} hl_timeline_event_queue;

bool hl_timeline_event_queue_init(hl_timeline_event_queue *self, uint32_t actors);

/* Makes room for more actors than it was made for, `before`. */
bool hl_timeline_event_queue_grow(hl_timeline_event_queue *self, uint32_t before, uint32_t actors);
void hl_timeline_event_queue_release(hl_timeline_event_queue *self);

/* Gives an actor its event, or moves it. */
void hl_timeline_event_queue_set(hl_timeline_event_queue *self, uint32_t actor, int64_t time_ns);

/* Removes the event that was taken, for its actor got no other. */
void hl_timeline_event_queue_drop_taken(hl_timeline_event_queue *self);

/* When the earliest event is; INT64_MAX where there is none. */
static inline int64_t hl_timeline_event_queue_next_ns(hl_timeline_event_queue *self)
{
    if (self->heap[0].time_ns == hl_timeline_event_taken)
        hl_timeline_event_queue_drop_taken(self);
    return self->heap[0].time_ns;
}

/* Takes the earliest, of equal ones that of the lowest actor. It stays first until its actor gets
 * another, which mostly follows at once: the heap is walked once then. Needs: next_ns was asked,
 * and there is one. */
static inline uint32_t hl_timeline_event_queue_take(hl_timeline_event_queue *self)
{
    self->heap[0].time_ns = hl_timeline_event_taken;
    return self->heap[0].actor;
}

#endif
