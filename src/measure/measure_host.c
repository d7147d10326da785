/* The host's own copies, which stage those of pageable memory. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "measure/session.h"

/* 128 KiB and its copy fit the second-level cache of most server cores; 64 copies of it take long
 * enough for the clock. */
enum { CACHED_BYTES = 128 << 10, CACHED_TIMES = 64 };

typedef struct host_copy {
    uint64_t bytes;
    int times;
} host_copy;

/* A clock that setting the date does not move. */
static double clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The pages of both buffers are there already (session.c touches them): no page fault is timed. */
static haul_status try_host_copy(haul_session *session, const void *what, double *seconds,
                                 haul_error *error)
{
    (void)error;
    const host_copy *self = what;
    const double begin_s = clock_s();
    for (int i = 0; i < self->times; i++)
        memcpy(session->pageable[1], session->pageable[0], self->bytes);
    *seconds = (clock_s() - begin_s) / self->times;
    return HAUL_OK;
}

/* The two rates and the cores of the host, which scale pageable copies from machine to machine. */
haul_status haul_measure_host(haul_session *session, haul_error *error)
{
    if (haul_device_describe(session->device)->is_simulated)
        return haul_fail(error, HAUL_ABSENT, "a simulated machine has no host to measure");
    /* one core, because the driver stages with one thread: this rate scales pageable copies to
     * other hosts */
    haul_host *host = &session->machine.host;
    const host_copy large = {session->options.largest_bytes, 1};
    const host_copy small = {CACHED_BYTES, CACHED_TIMES};
    haul_point_measured point;
    haul_status status = haul_session_point(session, "one core's copy from memory", try_host_copy,
                                            &large, &point, error);
    if (!status)
        host->copy_rate_Bps =
            haul_session_found(session, (double)large.bytes / point.seconds, &point);
    if (!status)
        status = haul_session_point(session, "one core's copy from cache", try_host_copy, &small,
                                    &point, error);
    if (!status)
        host->cached_copy_rate_Bps =
            haul_session_found(session, (double)small.bytes / point.seconds, &point);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (cores > 0)
        host->cores = (haul_parameter){(double)cores, HAUL_MEASURED, "what the system says"};
    return status;
}
