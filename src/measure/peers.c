/* Several GPUs: copies between each two, the link that they share, and engines for peer copies. */
#include <math.h>
#include <stdio.h>

#include "haul/device_backend.h"
#include "measure/copies.h"

/* COVER copies of a peer outlast one of the device of a quarter of its size. */
enum { STREAMS = 32, COVER = 4 };

/* Of its rate, what a copy keeps at most beside one of a GPU on the same link: half of it in
 * theory. */
static const double shared_share = 0.75;

/* Copies that take less than so many times as long as one are at once. */
static const double at_once = 1.5;

typedef struct pair {
    haul_device *devices[2];
    haul_buffer *buffers[2];
    haul_stream *stream; /* of the first */
    haul_stream *other;  /* of the second */
    haul_event *event;   /* of the first */
    uint64_t bytes;
} pair;

static haul_status try_between(hl_measure_session *session, const void *what, double *seconds,
                               haul_error *error)
{
    const pair *self = what;
    (void)session;
    const haul_transfer transfer = {.to = haul_in_buffer(self->buffers[1], 0),
                                    .from = haul_in_buffer(self->buffers[0], 0),
                                    .size = {self->bytes}};
    HAUL_TRY(haul_stream_copy(self->stream, &transfer, self->event, error));
    HAUL_TRY(haul_event_wait(self->event, error));
    return haul_event_seconds(self->event, self->event, seconds, error);
}

static haul_status time_between(hl_measure_session *self, const pair *two,
                                hl_measure_point_measured *point, haul_error *error)
{
    char name[96];
    (void)snprintf(name, sizeof name, "%.30s to %.30s, %llu bytes", two->devices[0]->name,
                   two->devices[1]->name, (unsigned long long)two->bytes);
    return hl_measure_session_point(self, name, try_between, two, point, error);
}

/* Pairs of peers; those of the device itself have a curve where it is the first, or are found here
 * as well. */
static haul_status measure_pair(hl_measure_session *self, pair *two, haul_error *error)
{
    hl_measure_point_measured all, half;
    two->bytes = self->options.largest_bytes;
    haul_status status = haul_stream_new(two->devices[0], &two->stream, error);
    if (!status)
        status = haul_event_new(two->devices[0], &two->event, error);
    if (!status)
        status = time_between(self, two, &all, error);
    two->bytes /= 2;
    if (!status)
        status = time_between(self, two, &half, error);
    if (!status && all.seconds > half.seconds)
        hl_measure_session_tell(self, HAUL_DIM_RATE,
                                (double)two->bytes / (all.seconds - half.seconds), &all,
                                "%.30s to %.30s", two->devices[0]->name, two->devices[1]->name);
    haul_event_free(two->event);
    haul_stream_free(two->stream);
    return status;
}

/* A copy to the device while the peer is sent others. */
static haul_status try_shared(hl_measure_session *session, const void *what, double *seconds,
                              haul_error *error)
{
    const pair *self = what;
    haul_event *event = session->events[0];
    const haul_transfer to_peer = {.to = haul_in_buffer(self->buffers[1], 0),
                                   .from = haul_in_buffer(session->pinned[1], 0),
                                   .size = {session->options.largest_bytes}};
    const hl_measure_way way = {HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, NULL};
    for (int i = 0; i < COVER; i++)
        HAUL_TRY(haul_stream_copy(self->other, &to_peer, NULL, error));
    HAUL_TRY(hl_measure_session_copy(session, way, self->bytes, 0, event, error));
    HAUL_TRY(hl_measure_session_wait(session, error));
    HAUL_TRY(haul_stream_wait(self->other, error));
    return haul_event_seconds(event, event, seconds, error);
}

/* Measures the share of its rate that the device keeps while peers copy too. */
static haul_status measure_share(hl_measure_session *self, size_t peer, bool *is_shared,
                                 haul_error *error)
{
    const hl_measure_way way = {HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, NULL};
    pair two = {.devices = {self->device, self->options.peers[peer]},
                .buffers = {NULL, self->on_peers[peer]},
                .bytes = self->options.largest_bytes / 4};
    char name[96];
    hl_measure_point_measured alone, beside;
    (void)snprintf(name, sizeof name, "HtoD pinned beside copies to %.30s, %llu bytes",
                   two.devices[1]->name, (unsigned long long)two.bytes);
    haul_status status = haul_stream_new(two.devices[1], &two.other, error);
    if (!status)
        status = hl_measure_copies_measure(self, "", hl_measure_copies_try,
                                           (hl_measure_copy_set){way, two.bytes}, &alone, error);
    if (!status)
        status = hl_measure_session_point(self, name, try_shared, &two, &beside, error);
    haul_stream_free(two.other);
    if (status)
        return status;
    const double share = alone.seconds / beside.seconds;
    *is_shared = share < shared_share;
    hl_measure_session_tell(self, HAUL_DIM_NUMBER, fmin(1, share), &beside,
                            "share of its rate beside copies to %.30s", two.devices[1]->name);
    return HAUL_OK;
}

/* --- engines */

/* Peer copies on streams of their own, and before them, where asked, a copy back to the host. */
typedef struct crowd {
    haul_stream *streams[STREAMS];
    haul_event *events[STREAMS];
    int count;
    bool has_back;
    uint64_t bytes;
} crowd;

static haul_status queue_crowd(hl_measure_session *session, const crowd *self, haul_error *error)
{
    const hl_measure_way back = {HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, NULL};
    const haul_transfer transfer = {.to = haul_in_buffer(session->on_peers[0], 0),
                                    .from = haul_in_buffer(session->on_device[1], 0),
                                    .size = {self->bytes}};
    haul_status status = self->has_back ? hl_measure_session_copy(session, back, self->bytes, 0,
                                                                  session->events[0], error)
                                        : HAUL_OK;
    for (int i = 0; i < self->count && !status; i++)
        status = haul_stream_copy(self->streams[i], &transfer, self->events[i], error);
    return status;
}

/* From the start of the first, which is queued first, to the end of the last. */
static haul_status try_crowd(hl_measure_session *session, const void *what, double *seconds,
                             haul_error *error)
{
    const crowd *self = what;
    haul_event *first = self->has_back ? session->events[0] : self->events[0];
    haul_status status = queue_crowd(session, self, error);
    if (!status)
        status = haul_event_wait(first, error);
    if (!status)
        status = haul_event_seconds(first, first, seconds, error);
    for (int i = 0; i < self->count && !status; i++) {
        double until_s = 0;
        status = haul_event_wait(self->events[i], error);
        if (!status)
            status = haul_event_seconds(first, self->events[i], &until_s, error);
        *seconds = fmax(*seconds, until_s);
    }
    return status;
}

static haul_status time_crowd(hl_measure_session *self, crowd *of, int count, bool has_back,
                              hl_measure_point_measured *point, haul_error *error)
{
    char name[96];
    of->count = count;
    of->has_back = has_back;
    (void)snprintf(name, sizeof name, "%d peer copies at once%s, %llu bytes each", count,
                   has_back ? " and one to the host" : "", (unsigned long long)of->bytes);
    return hl_measure_session_point(self, name, try_crowd, of, point, error);
}

/* A copy to the host and one to a peer at once. */
typedef struct beside_back {
    const crowd *all;
    double alone_s[2];
} beside_back;

static haul_status try_hidden(hl_measure_session *session, const void *what, double *hidden,
                              haul_error *error)
{
    const beside_back *self = what;
    haul_event *back = session->events[0], *peer = self->all->events[0];
    double back_s, peer_s;
    HAUL_TRY(queue_crowd(session, self->all, error));
    HAUL_TRY(haul_event_wait(back, error));
    HAUL_TRY(haul_event_wait(peer, error));
    HAUL_TRY(haul_event_seconds(back, back, &back_s, error));
    HAUL_TRY(haul_event_seconds(back, peer, &peer_s, error));
    *hidden = hl_measure_hidden_share(peer_s - back_s, self->alone_s);
    return HAUL_OK;
}

/* Two engines are busy with a copy each way; peer copies beside one of them have further ones. */
static haul_status count_engines(hl_measure_session *self, crowd *all, haul_error *error)
{
    hl_measure_point_measured more;
    bool is_third = false;
    double alone_s = 0;
    int count = 1;
    /* A peer copy may have another engine than the copies to the host. */
    const hl_measure_way way = {HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, NULL};
    hl_measure_point_measured back, one, hidden;
    char name[96];
    HAUL_TRY(hl_measure_copies_measure(self, "", hl_measure_copies_try,
                                       (hl_measure_copy_set){way, all->bytes}, &back, error));
    HAUL_TRY(time_crowd(self, all, 1, false, &one, error));
    all->has_back = true;
    const beside_back both = {all, {back.seconds, one.seconds}};
    (void)snprintf(name, sizeof name, "hidden share of a copy to the host and one to a peer");
    HAUL_TRY(hl_measure_session_point(self, name, try_hidden, &both, &hidden, error));
    is_third = hidden.seconds > HL_MEASURE_HIDDEN_LEAST;
    alone_s = one.seconds;
    if (!is_third)
        return HAUL_OK;
    while (count < STREAMS) {
        HAUL_TRY(time_crowd(self, all, count + 1, false, &more, error));
        if (more.seconds > at_once * alone_s)
            break;
        count++;
    }
    self->machine.gpu.copy_engines =
        (haul_parameter){2 + count, HAUL_PROVENANCE_MEASURED,
                         "haul measure: peer copies at once, beside one to the host; so many at "
                         "least"};
    return HAUL_OK;
}

/* One engine for both directions leaves nothing to find. */
static haul_status measure_engines(hl_measure_session *self, haul_error *error)
{
    crowd all = {.bytes = self->options.largest_bytes / 4};
    haul_status status = HAUL_OK;
    if (self->machine.gpu.copy_engines.value < 2)
        return HAUL_OK;
    for (int i = 0; i < STREAMS && !status; i++) {
        status = haul_stream_new(self->device, &all.streams[i], error);
        if (!status)
            status = haul_event_new(self->device, &all.events[i], error);
    }
    if (!status)
        status = count_engines(self, &all, error);
    for (int i = 0; i < STREAMS; i++) {
        haul_event_free(all.events[i]);
        haul_stream_free(all.streams[i]);
    }
    return status;
}

haul_status hl_measure_peers(hl_measure_session *session, haul_error *error)
{
    if (!session->options.peer_count)
        return HAUL_OK;
    /* Each two, in the order in which they were named. */
    const size_t count = session->options.peer_count;
    haul_status status = HAUL_OK;
    for (size_t i = 0; i <= count; i++)
        for (size_t j = i + 1; j <= count && !status; j++) {
            pair two = {.devices = {i ? session->options.peers[i - 1] : session->device,
                                    session->options.peers[j - 1]},
                        .buffers = {i ? session->on_peers[i - 1] : session->on_device[0],
                                    session->on_peers[j - 1]}};
            status = measure_pair(session, &two, error);
        }
    HAUL_TRY(status);
    unsigned on_link = 1;
    for (size_t i = 0; i < count; i++) {
        bool is_shared = false;
        HAUL_TRY(measure_share(session, i, &is_shared, error));
        on_link += is_shared;
    }
    session->machine.gpu.per_link =
        (haul_parameter){on_link, HAUL_PROVENANCE_MEASURED,
                         "haul measure: GPUs whose copies at once slow each other"};
    return measure_engines(session, error);
}
