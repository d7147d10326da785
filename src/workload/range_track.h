/* The innermost range of each thread over time. */
#ifndef HAUL_WORKLOAD_RANGE_TRACK_H
#define HAUL_WORKLOAD_RANGE_TRACK_H

#include <stdbool.h>
#include <stddef.h>

#include "haul/workload.h"

/* From `time_ns` on, the thread is in the range of that name; HAUL_NONE: in none. */
typedef struct hl_workload_range_change {
    int64_t time_ns;
    uint32_t thread;
    uint32_t name;
} hl_workload_range_change;

/* In order of thread, then time. Zero is an empty track. */
typedef struct hl_workload_range_track {
    hl_workload_range_change *changes;
    size_t count;
    size_t capacity;
} hl_workload_range_track;

/* Fills an empty track with the ranges of a workload that `takes` (NULL: all): by thread, or, where
 * `as_one`, as those of one thread HAUL_NONE. Returns false without memory. Release it with
 * free(changes). */
bool hl_workload_range_track_fill(hl_workload_range_track *self, const haul_workload *workload,
                                  bool (*takes)(const haul_workload *workload,
                                                const haul_named_range *range),
                                  bool as_one);

/* The number of the first change of a later time or a later thread. The one before it, where it is
 * of the thread, holds at that time. */
size_t hl_workload_range_track_after(const hl_workload_range_track *self, uint32_t thread,
                                     int64_t time_ns);

/* The name of the range that the thread is in at that time, or HAUL_NONE. */
uint32_t hl_workload_range_track_name(const hl_workload_range_track *self, uint32_t thread,
                                      int64_t time_ns);

/* `count` numbers of things by their thread, those of none last, else in the order in which they
 * were. The thread of number i stands at `threads` + i * `stride` bytes; `numbers` is NULL for 0 to
 * count - 1. `first`, of thread_count + 2, is set to where the things of each thread begin. Returns
 * NULL without memory. */
uint32_t *hl_workload_order_by_thread(const uint32_t *threads, size_t stride,
                                      const uint32_t *numbers, size_t count, size_t *first,
                                      size_t thread_count);

#endif
