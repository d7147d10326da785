/* How many kernels a stream takes before the host has to wait, and what each further operation
 * costs that it queues. */
#include <stdatomic.h>
#include <time.h>

#include "measure/rate_kernels.h"
#include "measure/session.h"

/* CUDA's queues hold about 1000. Twice as many that are taken are no limit. A call that takes
 * longer than STALL_MS waits for the device. */
enum { LAUNCHES_MOST = 2048, STALL_MS = 200 };

typedef struct launches {
    haul_kernel *kernel;
    atomic_uint made;
    unsigned at_stall;
} launches;

/* Holds the stream until no call has returned for a while, on a thread of the device's: the host is
 * then within a call, or has made all. */
static void hold(void *state)
{
    launches *self = state;
    const struct timespec one_ms = {.tv_nsec = 1000000};
    unsigned seen = atomic_load(&self->made);
    for (int quiet_ms = 0; quiet_ms < STALL_MS && seen < LAUNCHES_MOST; quiet_ms++) {
        nanosleep(&one_ms, NULL);
        const unsigned made = atomic_load(&self->made);
        if (made != seen)
            quiet_ms = 0;
        seen = made;
    }
    self->at_stall = seen;
}

static haul_status try_depth(hl_measure_session *session, const void *what, double *depth,
                             haul_error *error)
{
    launches self = {.kernel = *(haul_kernel *const *)what};
    haul_stream *stream = session->streams[0];
    const haul_argument argument = {.buffer = session->on_device[0]};
    const haul_launch launch = {.box = {.hi = {1}}, .arguments = &argument, .argument_count = 1};
    haul_status status = haul_stream_call(stream, hold, &self, NULL, error);
    for (unsigned i = 0; i < LAUNCHES_MOST && !status; i++) {
        status = haul_stream_launch(stream, self.kernel, &launch, NULL, error);
        atomic_fetch_add(&self.made, 1);
    }
    const haul_status ended = haul_stream_wait(stream, error);
    /* the call that holds the stream is an operation of it, too */
    *depth = self.at_stall ? self.at_stall + 1 : 0;
    return status ? status : ended;
}

/* A copy in, a kernel and a copy back, so often, each of a few bytes. */
typedef struct train {
    haul_kernel *kernel;
    int rounds;
} train;

enum { TRAIN_ROUNDS = 64, TRAIN_STEPS = 3, TRAIN_BYTES = 64 };

static haul_status try_queue(hl_measure_session *session, const void *what, double *seconds,
                             haul_error *error)
{
    const train *self = what;
    const haul_argument argument = {.buffer = session->on_device[0]};
    const haul_launch launch = {.box = {.hi = {1}}, .arguments = &argument, .argument_count = 1};
    const hl_measure_way in = {.direction = HAUL_DIRECTION_HTOD, .memory = HAUL_MEMORY_PINNED};
    const hl_measure_way out = {.direction = HAUL_DIRECTION_DTOH, .memory = HAUL_MEMORY_PINNED};
    haul_status status = HAUL_OK;
    const int64_t begin_ns = haul_device_now(session->device);
    for (int step = 0; step < TRAIN_STEPS; step++)
        for (int i = 0; i < self->rounds && !status; i++) {
            const int stream = i % HL_MEASURE_SESSION_STREAMS;
            status = step == 1 ? haul_stream_launch(session->streams[stream], self->kernel, &launch,
                                                    NULL, error)
                               : hl_measure_session_copy(session, step ? out : in, TRAIN_BYTES,
                                                         stream, NULL, error);
        }
    const haul_status ended = hl_measure_session_wait(session, error);
    *seconds = 1e-9 * (double)(haul_device_now(session->device) - begin_ns);
    return status ? status : ended;
}

static haul_status measure_gap(hl_measure_session *session, haul_kernel *kernel, haul_error *error)
{
    const train one = {kernel, 1}, many = {kernel, TRAIN_ROUNDS};
    hl_measure_point_measured alone, all;
    haul_status status =
        hl_measure_session_point(session, "three operations", try_queue, &one, &alone, error);
    if (!status)
        status =
            hl_measure_session_point(session, "many operations", try_queue, &many, &all, error);
    const int more = TRAIN_STEPS * (TRAIN_ROUNDS - 1);
    if (!status && all.seconds > alone.seconds)
        session->machine.gpu.queue_gap_s =
            hl_measure_session_found(session, (all.seconds - alone.seconds) / more, &all);
    return status;
}

/* A simulated device takes calls in no time, and as many as there are. */
haul_status hl_measure_queue(hl_measure_session *session, haul_error *error)
{
    haul_kernel *kernel;
    hl_measure_point_measured depth;
    if (haul_device_describe(session->device)->is_simulated)
        return HAUL_OK;
    HAUL_TRY(haul_kernel_new(session->device, &nothing, &kernel, error));
    haul_status status = hl_measure_session_point(session, "launches before the host waits",
                                                  try_depth, &kernel, &depth, error);
    /* none where the device makes the host's call before it returns */
    if (!status && depth.seconds > 0 && depth.seconds < LAUNCHES_MOST)
        session->machine.gpu.queue_depth = hl_measure_session_found(session, depth.seconds, &depth);
    if (!status)
        status = measure_gap(session, kernel, error);
    haul_kernel_free(kernel);
    return status;
}
