/* Ranges are walked in order of start with a stack of those that are open: what is on its top is
 * the innermost, also where two ranges overlap and neither holds the other. */
#include "workload/range_track.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/intervals.h"

typedef struct track_walk {
    hl_workload_range_track *track;
    const haul_named_range **open;
    size_t depth;
    uint32_t thread;
} track_walk;

static int64_t range_end(const haul_named_range *range)
{
    return hl_base_end_of(range->start_ns, range->dur_ns);
}

static bool add_change(track_walk *self, int64_t time_ns, uint32_t name)
{
    hl_workload_range_track *const track = self->track;
    if (!hl_base_grow(&track->changes, &track->capacity, track->count + 1, sizeof *track->changes))
        return false;
    track->changes[track->count++] = (hl_workload_range_change){time_ns, self->thread, name};
    return true;
}

/* Ranges that have ended by then are closed; the one below goes on where it has not ended. */
static bool close_until(track_walk *self, int64_t time_ns)
{
    bool enough = true;
    while (enough && self->depth && range_end(self->open[self->depth - 1]) <= time_ns) {
        const int64_t end_ns = range_end(self->open[--self->depth]);
        while (self->depth && range_end(self->open[self->depth - 1]) <= end_ns)
            self->depth--;
        enough =
            add_change(self, end_ns, self->depth ? self->open[self->depth - 1]->name : HAUL_NONE);
    }
    return enough;
}

/* Equal starts: the longest first, which holds the others. */
static int compare_times(const haul_named_range *x, const haul_named_range *y)
{
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->dur_ns < y->dur_ns) - (x->dur_ns > y->dur_ns);
}

static int compare_starts(const void *a, const void *b)
{
    return compare_times(a, b);
}

static int compare_threads(const void *a, const void *b)
{
    const haul_named_range *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return compare_times(x, y);
}

bool hl_workload_range_track_fill(hl_workload_range_track *self, haul_named_range *ranges,
                                  size_t count, bool as_one)
{
    // NOLINTNEXTLINE(bugprone-sizeof-expression): pointers to the ranges that are open
    const haul_named_range **open = malloc((count + 1) * sizeof *open);
    track_walk walk = {.track = self, .open = open, .thread = HAUL_NONE};
    bool enough = walk.open;
    if (count)
        qsort(ranges, count, sizeof *ranges, as_one ? compare_starts : compare_threads);
    for (size_t i = 0; enough && i < count; i++) {
        const uint32_t thread = as_one ? HAUL_NONE : ranges[i].thread;
        enough = close_until(&walk, thread == walk.thread ? ranges[i].start_ns : INT64_MAX);
        walk.thread = thread;
        enough = enough && add_change(&walk, ranges[i].start_ns, ranges[i].name);
        walk.open[walk.depth++] = &ranges[i];
    }
    enough = enough && close_until(&walk, INT64_MAX);
    free(walk.open);
    return enough;
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
