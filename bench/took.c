#include "took.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static double read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double cpu_s(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

double wall_s(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024;
}

void stop(const haul_error *error)
{
    char text[1200];
    fprintf(stderr, "%s\n", haul_error_format(error, text, sizeof text));
    exit(1);
}

void stop_at(haul_status status, const haul_error *error)
{
    if (status == HAUL_STATUS_ABSENT)
        exit(77);
    if (status)
        stop(error);
}
