/* Mapped memory, which kernels read and write over the link (CCGrid 2014, section V and Table II).
 */
#include <stdio.h>

#include "measure/copies.h"
#include "measure/mapped_kernel.h"

/* The first has ended before what is timed begins, and so many more run beside it: four times as
 * many until they outlast it. */
enum { COVER = 3, COVER_FACTOR = 4, COVER_MOST = 768 };

typedef struct mapped {
    haul_kernel *kernel;
    haul_buffer *host;
} mapped;

typedef struct mapped_move {
    const mapped *with;
    haul_direction direction; /* of what the kernels move */
    uint64_t bytes;
    int covers;
} mapped_move;

/* A kernel that reads mapped memory, or that writes it. */
static haul_status queue(hl_measure_session *session, const mapped_move *self, haul_event *event,
                         haul_error *error)
{
    const bool is_read = self->direction == HAUL_DIRECTION_HTOD;
    const haul_argument arguments[] = {
        {.buffer = is_read ? self->with->host : session->on_device[1]},
        {.buffer = is_read ? session->on_device[1] : self->with->host}};
    haul_launch launch = {.box = {.hi = {(int)(self->bytes / sizeof(float))}},
                          .arguments = arguments,
                          .argument_count = 2};
    launch.mapped_bytes[self->direction] = (double)self->bytes;
    return haul_stream_launch(session->streams[1], self->with->kernel, &launch, event, error);
}

static haul_status try_move(hl_measure_session *session, const void *what, double *seconds,
                            haul_error *error)
{
    haul_event *event = session->events[0];
    HAUL_TRY(queue(session, what, event, error));
    HAUL_TRY(haul_event_wait(event, error));
    return haul_event_seconds(event, event, seconds, error);
}

/* The pinned copies that go against the kernels of a move. */
static hl_measure_way way_against(const mapped_move *self)
{
    return (hl_measure_way){self->direction == HAUL_DIRECTION_HTOD ? HAUL_DIRECTION_DTOH
                                                                   : HAUL_DIRECTION_HTOD,
                            HAUL_MEMORY_PINNED, NULL};
}

/* The second stream's kernels, or the first stream's copies, `covers` of them behind one that has
 * ended; then on the other stream a quarter as much of the other, whose time it is. The last cover
 * has the third event. */
static haul_status try_beside(hl_measure_session *session, const mapped_move *self, bool is_copy,
                              double *seconds, haul_error *error)
{
    const hl_measure_way way = way_against(self);
    const mapped_move part = {self->with, self->direction, self->bytes / 4, 0};
    haul_event *const event = session->events[0], *const begun = session->events[1];
    for (int i = 0; i <= self->covers; i++) {
        haul_event *const end = i == 0 ? begun : i == self->covers ? session->events[2] : NULL;
        HAUL_TRY(is_copy ? queue(session, self, end, error)
                         : hl_measure_session_copy(session, way, self->bytes, 0, end, error));
    }
    HAUL_TRY(haul_stream_wait_event(session->streams[is_copy ? 0 : 1], begun, error));
    HAUL_TRY(is_copy ? hl_measure_session_copy(session, way, part.bytes, 0, event, error)
                     : queue(session, &part, event, error));
    HAUL_TRY(hl_measure_session_wait(session, error));
    return haul_event_seconds(event, event, seconds, error);
}

static haul_status try_copy_beside(hl_measure_session *session, const void *what, double *seconds,
                                   haul_error *error)
{
    return try_beside(session, what, true, seconds, error);
}

static haul_status try_move_beside(hl_measure_session *session, const void *what, double *seconds,
                                   haul_error *error)
{
    return try_beside(session, what, false, seconds, error);
}

/* Directions may differ much in speed, and the slower one be slowed to a fraction. */
static haul_status choose_covers(hl_measure_session *session, hl_measure_attempt attempt,
                                 mapped_move *move, haul_error *error)
{
    double timed_s = 1, covered_s = 0;
    for (move->covers = COVER; move->covers <= COVER_MOST; move->covers *= COVER_FACTOR) {
        HAUL_TRY(attempt(session, move, &timed_s, error));
        HAUL_TRY(haul_event_seconds(session->events[0], session->events[2], &covered_s, error));
        if (covered_s >= timed_s)
            return HAUL_OK;
    }
    move->covers = COVER_MOST;
    return HAUL_OK;
}

static haul_status time_move(hl_measure_session *self, const char *what, hl_measure_attempt attempt,
                             const mapped_move *move, hl_measure_point_measured *point,
                             haul_error *error)
{
    char name[96];
    (void)snprintf(name, sizeof name, "%s %s of %llu bytes", haul_direction_text(move->direction),
                   what, (unsigned long long)move->bytes);
    return hl_measure_session_point(self, name, attempt, move, point, error);
}

/* The rate of a kernel by itself. */
static haul_status measure_move(hl_measure_session *self, const mapped *with,
                                haul_direction direction, haul_error *error)
{
    const mapped_move move = {with, direction, self->options.largest_bytes, 0};
    const mapped_move half = {with, direction, move.bytes / 2, 0};
    hl_measure_point_measured whole, part;
    HAUL_TRY(time_move(self, "by a kernel", try_move, &move, &whole, error));
    HAUL_TRY(time_move(self, "by a kernel", try_move, &half, &part, error));
    if (whole.seconds > part.seconds)
        hl_measure_session_tell(self, HAUL_DIM_RATE,
                                (double)half.bytes / (whole.seconds - part.seconds), &whole,
                                "mapped memory that a kernel %s",
                                direction == HAUL_DIRECTION_HTOD ? "reads" : "writes");
    return HAUL_OK;
}

static void keep_rate(hl_measure_session *self, haul_direction direction,
                      const hl_measure_point_measured *alone,
                      const hl_measure_point_measured *beside)
{
    haul_copy_curve *curve =
        hl_measure_copies_curve(self, (hl_measure_way){direction, HAUL_MEMORY_PINNED, NULL});
    if (curve && curve->rate_Bps.provenance)
        curve->mapped_rate_Bps = hl_measure_session_found(
            self,
            curve->rate_Bps.value * hl_measure_copies_keeps(curve, alone->seconds, beside->seconds),
            beside);
}

/* The two of a hybrid: copies in beside kernels that write mapped memory, and these beside copies
 * in. Neither need be slowed as the other is: an H100's copies keep a seventh, and the times of
 * hybrids there say that its writes keep nearly all. */
static haul_status measure_against(hl_measure_session *self, const mapped *with, haul_error *error)
{
    mapped_move move = {with, HAUL_DIRECTION_DTOH, self->options.largest_bytes, 0};
    const mapped_move part = {with, HAUL_DIRECTION_DTOH, move.bytes / 4, 0};
    hl_measure_point_measured copied, moved, copied_beside, moved_beside;
    HAUL_TRY(hl_measure_copies_measure(self, "", hl_measure_copies_try,
                                       (hl_measure_copy_set){way_against(&move), part.bytes},
                                       &copied, error));
    HAUL_TRY(time_move(self, "by a kernel", try_move, &part, &moved, error));
    HAUL_TRY(choose_covers(self, try_copy_beside, &move, error));
    HAUL_TRY(
        time_move(self, "a copy against a kernel", try_copy_beside, &move, &copied_beside, error));
    HAUL_TRY(choose_covers(self, try_move_beside, &move, error));
    HAUL_TRY(time_move(self, "by a kernel against copies", try_move_beside, &move, &moved_beside,
                       error));
    keep_rate(self, HAUL_DIRECTION_HTOD, &copied, &copied_beside);
    keep_rate(self, HAUL_DIRECTION_DTOH, &moved, &moved_beside);
    return HAUL_OK;
}

/* On a CPU mapped memory crosses no link. */
haul_status hl_measure_mapped(hl_measure_session *session, haul_error *error)
{
    mapped with = {NULL, NULL};
    if (haul_device_describe(session->device)->is_host)
        return HAUL_OK;
    haul_status status = haul_buffer_new(session->device, HAUL_BUFFER_MAPPED,
                                         session->options.largest_bytes, &with.host, error);
    if (!status)
        status = haul_kernel_new(session->device, &transmit, &with.kernel, error);
    if (!status)
        status = measure_move(session, &with, HAUL_DIRECTION_HTOD, error);
    if (!status)
        status = measure_move(session, &with, HAUL_DIRECTION_DTOH, error);
    if (!status)
        status = measure_against(session, &with, error);
    haul_kernel_free(with.kernel);
    haul_buffer_free(with.host);
    return status;
}
