/* Mapped memory, which kernels read and write over the link (CCGrid 2014, section V and Table II).
 */
#include <stdio.h>

#include "measure/copies.h"
#include "measure/mapped_kernel.h"

/* The first kernel has ended before the copy begins, and so many more run beside it. */
enum { COVER = 3 };

typedef struct mapped {
    haul_kernel *kernel;
    haul_buffer *host;
} mapped;

typedef struct mapped_move {
    const mapped *with;
    haul_direction direction; /* of what the kernels move */
    uint64_t bytes;
} mapped_move;

/* A kernel that reads mapped memory, or that writes it. */
static haul_status queue(haul_session *session, const mapped_move *self, haul_event *event,
                         haul_error *error)
{
    const bool is_read = self->direction == HAUL_HTOD;
    const haul_argument arguments[] = {
        {.buffer = is_read ? self->with->host : session->on_device[1]},
        {.buffer = is_read ? session->on_device[1] : self->with->host}};
    haul_launch launch = {.box = {.hi = {(int)(self->bytes / sizeof(float))}},
                          .arguments = arguments,
                          .argument_count = 2};
    launch.mapped_bytes[self->direction] = (double)self->bytes;
    return haul_stream_launch(session->streams[1], self->with->kernel, &launch, event, error);
}

static haul_status try_move(haul_session *session, const void *what, double *seconds,
                            haul_error *error)
{
    haul_event *event = session->events[0];
    HAUL_TRY(queue(session, what, event, error));
    HAUL_TRY(haul_event_wait(event, error));
    return haul_event_seconds(event, event, seconds, error);
}

/* A copy of a quarter of what a kernel moves the other way. */
static haul_status try_against(haul_session *session, const void *what, double *seconds,
                               haul_error *error)
{
    const mapped_move *self = what;
    const haul_way way = {self->direction == HAUL_HTOD ? HAUL_DTOH : HAUL_HTOD, HAUL_PINNED, NULL};
    haul_event *event = session->events[0];
    haul_status status = queue(session, self, session->events[1], error);
    if (!status)
        status = haul_stream_wait_event(session->streams[0], session->events[1], error);
    for (int i = 0; i < COVER && !status; i++)
        status = queue(session, self, NULL, error);
    if (!status)
        status = haul_session_copy(session, way, self->bytes / 4, 0, event, error);
    if (!status)
        status = haul_session_wait(session, error);
    return status ? status : haul_event_seconds(event, event, seconds, error);
}

static haul_status time_move(haul_session *self, const char *what, haul_attempt attempt,
                             const mapped_move *move, haul_point_measured *point, haul_error *error)
{
    char name[96];
    (void)snprintf(name, sizeof name, "%s %s of %llu bytes", haul_direction_text(move->direction),
                   what, (unsigned long long)move->bytes);
    return haul_session_point(self, name, attempt, move, point, error);
}

/* The rate of a kernel by itself, and what a copy the other way keeps of its own beside it. */
static haul_status measure_move(haul_session *self, const mapped *with, haul_direction direction,
                                haul_error *error)
{
    const mapped_move move = {with, direction, self->options.largest_bytes};
    const mapped_move half = {with, direction, move.bytes / 2};
    const haul_way way = {direction == HAUL_HTOD ? HAUL_DTOH : HAUL_HTOD, HAUL_PINNED, NULL};
    haul_copy_curve *curve = haul_copies_curve(self, way);
    haul_point_measured whole, part, alone, beside;
    HAUL_TRY(time_move(self, "by a kernel", try_move, &move, &whole, error));
    HAUL_TRY(time_move(self, "by a kernel", try_move, &half, &part, error));
    HAUL_TRY(haul_copies_measure(self, "", haul_copies_try, (haul_copies){way, move.bytes / 4},
                                 &alone, error));
    HAUL_TRY(time_move(self, "a copy against a kernel", try_against, &move, &beside, error));
    if (whole.seconds > part.seconds)
        haul_session_tell(self, HAUL_DIM_RATE, (double)half.bytes / (whole.seconds - part.seconds),
                          &whole, "mapped memory that a kernel %s",
                          direction == HAUL_HTOD ? "reads" : "writes");
    if (curve && curve->rate_Bps.provenance)
        curve->mapped_rate_Bps = haul_session_found(
            self, curve->rate_Bps.value * haul_copies_keeps(curve, alone.seconds, beside.seconds),
            &beside);
    return HAUL_OK;
}

/* On a CPU mapped memory crosses no link. */
haul_status haul_measure_mapped(haul_session *session, haul_error *error)
{
    mapped with = {NULL, NULL};
    if (haul_device_describe(session->device)->is_host)
        return HAUL_OK;
    haul_status status = haul_buffer_new(session->device, HAUL_BUFFER_MAPPED,
                                         session->options.largest_bytes, &with.host, error);
    if (!status)
        status = haul_kernel_new(session->device, &transmit, &with.kernel, error);
    if (!status)
        status = measure_move(session, &with, HAUL_HTOD, error);
    if (!status)
        status = measure_move(session, &with, HAUL_DTOH, error);
    haul_kernel_free(with.kernel);
    haul_buffer_free(with.host);
    return status;
}
