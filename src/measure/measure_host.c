/* The host's own copies, which stage those of pageable memory. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "measure/session.h"

/* 128 KiB and its copy fit the second-level cache of most server cores; 64 copies of it take long
 * enough for the clock. */
enum { CACHED_BYTES = 128 << 10, CACHED_TIMES = 64, CORES_MOST = 1024 };

typedef struct host_copy {
    uint64_t bytes;
    int times;
    int cores;
} host_copy;

/* A clock that setting the date does not move. */
/* The pages of both buffers are there already (session.c touches them): no page fault is timed. */
static haul_status try_host_copy(hl_measure_session *session, const void *what, double *seconds,
                                 haul_error *error)
{
    (void)error;
    const host_copy *self = what;
    const double begin_s = hl_base_clock_s();
    for (int i = 0; i < self->times; i++)
        memcpy(session->pageable[1], session->pageable[0], self->bytes);
    *seconds = (hl_base_clock_s() - begin_s) / self->times;
    return HAUL_OK;
}

/* All cores copy at once, each a part of its own. */
static haul_status try_all_cores(hl_measure_session *session, const void *what, double *seconds,
                                 haul_error *error)
{
    (void)error;
    const host_copy *self = what;
    const double begin_s = hl_base_clock_s();
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(self->cores)
#endif
    for (int core = 0; core < self->cores; core++) {
        const uint64_t at = (uint64_t)core * self->bytes;
        for (int i = 0; i < self->times; i++)
            memcpy(session->pageable[1] + at, session->pageable[0] + at, self->bytes);
    }
    *seconds = (hl_base_clock_s() - begin_s) / self->times;
    return HAUL_OK;
}

static haul_status measure_all_cores(hl_measure_session *self, int cores, haul_error *error)
{
    const uint64_t share = self->options.largest_bytes / (uint64_t)cores;
    const host_copy large = {share, 1, cores};
    const host_copy small = {share < CACHED_BYTES ? share : CACHED_BYTES, CACHED_TIMES, cores};
    hl_measure_point_measured point;
    haul_status status = hl_measure_session_point(self, "all cores' copy from memory",
                                                  try_all_cores, &large, &point, error);
    if (!status)
        hl_measure_session_tell(self, HAUL_DIM_RATE,
                                (double)cores * (double)large.bytes / point.seconds, &point,
                                "copy of %d cores from memory", cores);
    if (!status)
        status = hl_measure_session_point(self, "all cores' copy from cache", try_all_cores, &small,
                                          &point, error);
    if (!status)
        hl_measure_session_tell(self, HAUL_DIM_RATE,
                                (double)cores * (double)small.bytes / point.seconds, &point,
                                "copy of %d cores from cache", cores);
    return status;
}

/* Pages that are there: what is timed is locking them, and telling the device. */
static haul_status try_pin(hl_measure_session *session, const void *what, double *seconds,
                           haul_error *error)
{
    const uint64_t *bytes = what;
    haul_buffer *pinned;
    const double begin_s = hl_base_clock_s();
    const haul_status status =
        haul_buffer_pin(session->device, session->pageable[0], *bytes, &pinned, error);
    *seconds = hl_base_clock_s() - begin_s;
    if (!status)
        haul_buffer_free(pinned);
    return status;
}

/* The slope between the largest size and half of it; nothing of a device that locks no pages, where
 * twice as many take about the same. */
static haul_status measure_pin(hl_measure_session *self, haul_error *error)
{
    const uint64_t whole = self->options.largest_bytes, half = whole / 2;
    hl_measure_point_measured all, part = {0};
    haul_status status = hl_measure_session_point(self, "page-locking the largest size", try_pin,
                                                  &whole, &all, error);
    if (!status)
        status =
            hl_measure_session_point(self, "page-locking half of it", try_pin, &half, &part, error);
    if (status)
        return hl_measure_is_lacking(status) ? HAUL_OK : status;
    if (all.seconds > 1.5 * part.seconds)
        hl_measure_session_tell(self, HAUL_DIM_SECONDS,
                                (all.seconds - part.seconds) * 0x1p20 / (double)half, &all,
                                "page-locking a MiB");
    return HAUL_OK;
}

/* The two rates and the cores of the host, which scale pageable copies from machine to machine. */
haul_status hl_measure_host(hl_measure_session *session, haul_error *error)
{
    if (haul_device_describe(session->device)->is_simulated)
        return haul_error_set(error, HAUL_STATUS_ABSENT,
                              "a simulated machine has no host to measure");
    /* one core, because the driver stages with one thread: this rate scales pageable copies to
     * other hosts */
    haul_host *host = &session->machine.host;
    const host_copy large = {session->options.largest_bytes, 1, 1};
    const host_copy small = {CACHED_BYTES, CACHED_TIMES, 1};
    hl_measure_point_measured point;
    haul_status status = hl_measure_session_point(session, "one core's copy from memory",
                                                  try_host_copy, &large, &point, error);
    if (!status)
        host->copy_rate_Bps =
            hl_measure_session_found(session, (double)large.bytes / point.seconds, &point);
    if (!status)
        status = hl_measure_session_point(session, "one core's copy from cache", try_host_copy,
                                          &small, &point, error);
    if (!status)
        host->cached_copy_rate_Bps =
            hl_measure_session_found(session, (double)small.bytes / point.seconds, &point);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (cores > 0)
        host->cores =
            (haul_parameter){(double)cores, HAUL_PROVENANCE_MEASURED, "what the system says"};
    if (!status && cores > 1)
        status = measure_all_cores(session, cores < CORES_MOST ? (int)cores : CORES_MOST, error);
    return status ? status : measure_pin(session, error);
}
