/* Seconds since some moment: a clock that setting the date does not move. */
#ifndef HAUL_BASE_CLOCK_H
#define HAUL_BASE_CLOCK_H

#include <time.h>

static inline double hl_base_clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
