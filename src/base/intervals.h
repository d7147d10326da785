/* Lengths of unions of intervals that come in order of their starts, and sums that stop at the
 * largest integer: times of a profile may hold anything. */
#ifndef HAUL_BASE_INTERVALS_H
#define HAUL_BASE_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

/* Begin with hl_base_union_begin. */
typedef struct hl_base_union {
    int64_t end; /* of what is covered so far */
    uint64_t covered;
} hl_base_union;

static inline hl_base_union hl_base_union_begin(void)
{
    return (hl_base_union){.end = INT64_MIN};
}

/* Adds [start, end), which starts at or after all intervals added before; an end before the start
 * adds nothing. */
static inline void hl_base_union_add(hl_base_union *self, int64_t start, int64_t end)
{
    const int64_t from = start > self->end ? start : self->end;
    if (end <= from)
        return;
    self->covered += (uint64_t)end - (uint64_t)from;
    self->end = end;
}

/* A time of a recording, in ns: beyond these the span of all times would not fit. Clocks that count
 * from 1970 are at 2^60.6. */
static inline bool hl_base_is_recorded_time(int64_t time_ns)
{
    return time_ns >= -(INT64_C(1) << 60) && time_ns <= INT64_C(1) << 61;
}

/* `start` + `duration` for a duration that is not negative. */
static inline int64_t hl_base_end_of(int64_t start, int64_t duration)
{
    return start > INT64_MAX - duration ? INT64_MAX : start + duration;
}

static inline int64_t hl_base_clamp_ns(uint64_t ns)
{
    return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

/* Sum of two numbers that are not negative. */
static inline int64_t hl_base_add_ns(int64_t a, int64_t b)
{
    return hl_base_clamp_ns((uint64_t)a + (uint64_t)b);
}

static inline uint64_t hl_base_add_bytes(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif
