/* Ranges are walked in order of start with a stack of those that are open: what is on its top is
 * the innermost, also where two ranges overlap and neither holds the other. */
#include "workload/range_track.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/intervals.h"

typedef struct track_walk {
    hl_workload_range_track *track;
    const haul_named_range **open;
    size_t depth, capacity;
    uint32_t thread;
    bool failed;
} track_walk;

static int64_t range_end(const haul_named_range *range)
{
    return hl_base_end_of(range->start_ns, range->dur_ns);
}

static void add_change(track_walk *self, int64_t time_ns, uint32_t name)
{
    hl_workload_range_track *const track = self->track;
    self->failed |=
        !hl_base_grow(&track->changes, &track->capacity, track->count + 1, sizeof *track->changes);
    if (!self->failed)
        track->changes[track->count++] = (hl_workload_range_change){time_ns, self->thread, name};
}

/* Ranges that have ended by then are closed; the one below goes on where it has not ended. */
static void close_until(track_walk *self, int64_t time_ns)
{
    while (!self->failed && self->depth && range_end(self->open[self->depth - 1]) <= time_ns) {
        const int64_t end_ns = range_end(self->open[--self->depth]);
        while (self->depth && range_end(self->open[self->depth - 1]) <= end_ns)
            self->depth--;
        add_change(self, end_ns, self->depth ? self->open[self->depth - 1]->name : HAUL_NONE);
    }
}

/* Ranges come by thread, then in order of start, equal starts the longest first. */
static void enter(track_walk *self, const haul_named_range *range, uint32_t thread)
{
    close_until(self, thread == self->thread ? range->start_ns : INT64_MAX);
    self->thread = thread;
    add_change(self, range->start_ns, range->name);
    // NOLINTBEGIN(bugprone-sizeof-expression): pointers to the ranges that are open
    self->failed |=
        !hl_base_grow(&self->open, &self->capacity, self->depth + 1, sizeof *self->open);
    // NOLINTEND(bugprone-sizeof-expression)
    if (!self->failed)
        self->open[self->depth++] = range;
}

/* A workload's ranges are in order of start: those of a thread need no sorting, which would take
 * their memory twice again. */
static uint32_t *order_ranges(const haul_workload *workload)
{
    size_t *const first = malloc((workload->thread_count + 2) * sizeof *first);
    uint32_t *const order =
        first && workload->range_count
            ? hl_workload_order_by_thread(&workload->ranges->thread, sizeof *workload->ranges, NULL,
                                          workload->range_count, first, workload->thread_count)
            : NULL;
    free(first);
    return order;
}

bool hl_workload_range_track_fill(hl_workload_range_track *self, const haul_workload *workload,
                                  bool (*takes)(const haul_workload *workload,
                                                const haul_named_range *range),
                                  bool as_one)
{
    track_walk walk = {.track = self, .thread = HAUL_NONE};
    uint32_t *const order = as_one ? NULL : order_ranges(workload);
    walk.failed = !order && !as_one && workload->range_count;
    for (size_t i = 0; !walk.failed && i < workload->range_count; i++) {
        const haul_named_range *const range = &workload->ranges[order ? order[i] : i];
        if (!takes || takes(workload, range))
            enter(&walk, range, as_one ? HAUL_NONE : range->thread);
    }
    free(order);
    close_until(&walk, INT64_MAX);
    free(walk.open);
    return !walk.failed;
}

static size_t place_of(const uint32_t *threads, size_t stride, size_t number, size_t thread_count)
{
    uint32_t thread;
    memcpy(&thread, (const char *)threads + number * stride, sizeof thread);
    return thread < thread_count ? thread : thread_count;
}

uint32_t *hl_workload_order_by_thread(const uint32_t *threads, size_t stride,
                                      const uint32_t *numbers, size_t count, size_t *first,
                                      size_t thread_count)
{
    uint32_t *const order = calloc(count + 1, sizeof *order);
    if (!order)
        return NULL;
    memset(first, 0, (thread_count + 2) * sizeof *first);
    for (size_t i = 0; i < count; i++)
        first[place_of(threads, stride, numbers ? numbers[i] : i, thread_count) + 1]++;
    for (size_t t = 0; t <= thread_count; t++)
        first[t + 1] += first[t];
    for (size_t i = 0; i < count; i++) {
        const uint32_t number = numbers ? numbers[i] : (uint32_t)i;
        order[first[place_of(threads, stride, number, thread_count)]++] = number;
    }
    /* each has moved to the beginning of the next */
    memmove(first + 1, first, (thread_count + 1) * sizeof *first);
    first[0] = 0;
    return order;
}

size_t hl_workload_range_track_after(const hl_workload_range_track *self, uint32_t thread,
                                     int64_t time_ns)
{
    size_t low = 0, high = self->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const hl_workload_range_change *const at = &self->changes[middle];
        const bool is_before = at->thread != thread ? at->thread < thread : at->time_ns <= time_ns;
        if (is_before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t hl_workload_range_track_name(const hl_workload_range_track *self, uint32_t thread,
                                      int64_t time_ns)
{
    const size_t after = hl_workload_range_track_after(self, thread, time_ns);
    return after && self->changes[after - 1].thread == thread ? self->changes[after - 1].name
                                                              : HAUL_NONE;
}
