#include "measure/session.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/stats.h"

enum { ATTEMPTS_LEAST = 5, ATTEMPTS_MOST = 51 };

static const uint64_t usual_largest = UINT64_C(64) << 20;
static const double usual_point_s = 0.1;

/* Three buffers of a size are wanted on the device, and leave room for others. */
static haul_status choose_sizes(haul_session *self, haul_error *error)
{
    uint64_t room;
    const haul_status status = haul_device_room(self->device, &room, error);
    if (status && status != HAUL_ABSENT && status != HAUL_MISSING)
        return status;
    if (!self->options.largest_bytes)
        self->options.largest_bytes = usual_largest;
    if (self->options.largest_bytes < 1 << 20)
        return haul_fail(error, HAUL_USAGE, "copies of 1 MiB at least are measured");
    while (!status && self->options.largest_bytes > (1 << 20) &&
           self->options.largest_bytes > room / 8)
        self->options.largest_bytes /= 2;
    if (!(self->options.point_s > 0))
        self->options.point_s = usual_point_s;
    return HAUL_OK;
}

static haul_status allocate(haul_session *self, haul_error *error)
{
    const uint64_t bytes = self->options.largest_bytes;
    haul_status status = HAUL_OK;
    for (int i = 0; i < HAUL_SESSION_BUFFERS && !status; i++) {
        status =
            haul_buffer_new(self->device, HAUL_BUFFER_DEVICE, bytes, &self->on_device[i], error);
        if (!status)
            status =
                haul_buffer_new(self->device, HAUL_BUFFER_PINNED, bytes, &self->pinned[i], error);
        if (status)
            return status;
        self->pageable[i] = malloc(bytes);
        if (!self->pageable[i])
            return haul_fail_no_memory(error);
        void *pinned = haul_buffer_host(self->pinned[i]);
        if (!pinned || haul_device_describe(self->device)->is_simulated)
            continue;
        memset(pinned, i, bytes); /* so that its pages are there */
        memset(self->pageable[i], i, bytes);
    }
    if (!status && self->options.peer)
        status =
            haul_buffer_new(self->options.peer, HAUL_BUFFER_DEVICE, bytes, &self->on_peer, error);
    return status;
}

haul_status haul_session_begin(haul_session *session, haul_device *device,
                               const haul_measure_options *options, haul_error *error)
{
    *session = (haul_session){.device = device, .options = *options};
    haul_status status = choose_sizes(session, error);
    if (!status && options->journal)
        status = haul_journal_open(&session->journal, options->journal,
                                   haul_device_describe(device)->name, error);
    for (int i = 0; i < HAUL_SESSION_STREAMS && !status; i++)
        status = haul_stream_new(device, &session->streams[i], error);
    for (int i = 0; i < HAUL_SESSION_EVENTS && !status; i++)
        status = haul_event_new(device, &session->events[i], error);
    return status ? status : allocate(session, error);
}

void haul_session_end(haul_session *session)
{
    for (int i = 0; i < HAUL_SESSION_EVENTS; i++)
        haul_event_free(session->events[i]);
    for (int i = 0; i < HAUL_SESSION_STREAMS; i++)
        haul_stream_free(session->streams[i]);
    for (int i = 0; i < HAUL_SESSION_BUFFERS; i++) {
        haul_buffer_free(session->on_device[i]);
        haul_buffer_free(session->pinned[i]);
        free(session->pageable[i]);
    }
    haul_buffer_free(session->on_peer);
    haul_journal_close(&session->journal);
    haul_arena_release(&session->arena);
}

static double clock_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The first attempt warms up what is lazy: pages, caches, drivers. */
static haul_status attempt_all(haul_session *self, haul_attempt attempt, const void *what,
                               haul_point_measured *point, haul_error *error)
{
    double seconds[ATTEMPTS_MOST];
    unsigned count = 0;
    const bool is_exact = haul_device_describe(self->device)->is_simulated;
    const unsigned least = is_exact ? 1 : ATTEMPTS_LEAST;
    haul_status status = is_exact ? HAUL_OK : attempt(self, what, &seconds[0], error);
    const double begin_s = clock_s();
    while (!status && count < (is_exact ? 1 : ATTEMPTS_MOST) &&
           (count < least || clock_s() - begin_s < self->options.point_s))
        status = attempt(self, what, &seconds[count++], error);
    if (status)
        return status;
    haul_sort_doubles(seconds, count);
    point->seconds = haul_quantile_sorted(seconds, count, 0.5);
    point->count = count;
    const double range =
        haul_quantile_sorted(seconds, count, 0.75) - haul_quantile_sorted(seconds, count, 0.25);
    point->spread = point->seconds > 0 ? 100 * range / point->seconds : 0;
    return HAUL_OK;
}

haul_status haul_session_point(haul_session *session, const char *name, haul_attempt attempt,
                               const void *what, haul_point_measured *point, haul_error *error)
{
    session->made.points++;
    const haul_point_measured *kept = haul_journal_find(&session->journal, name);
    if (kept) {
        *point = *kept;
        session->made.points_kept +=
            (size_t)(kept - session->journal.points) < session->journal.from_file;
        return HAUL_OK;
    }
    if (session->options.progress)
        session->options.progress(session->options.progress_state, name);
    haul_point_measured made = {.name = name};
    haul_status status = attempt_all(session, attempt, what, &made, error);
    if (!status)
        status = haul_journal_add(&session->journal, &made, error);
    if (!status)
        *point = made;
    return status;
}

static haul_address host_end(const haul_session *self, haul_memory memory, int stream)
{
    return memory == HAUL_PINNED ? haul_in_buffer(self->pinned[stream], 0)
                                 : haul_in_host(self->pageable[stream]);
}

haul_status haul_session_copy(haul_session *session, haul_way way, uint64_t bytes, int stream,
                              haul_event *event, haul_error *error)
{
    haul_transfer transfer = {.size = {bytes}};
    const haul_address device = haul_in_buffer(session->on_device[stream], 0);
    switch (way.direction) {
    case HAUL_HTOD:
        transfer.to = device;
        transfer.from = host_end(session, way.memory, stream);
        break;
    case HAUL_DTOH:
        transfer.to = host_end(session, way.memory, stream);
        transfer.from = device;
        break;
    case HAUL_PTOP:
        transfer.to = haul_in_buffer(session->on_peer, 0);
        transfer.from = device;
        break;
    default:
        transfer.to = haul_in_buffer(session->on_device[1 - stream], 0);
        transfer.from = device;
    }
    return haul_stream_copy(session->streams[stream], &transfer, event, error);
}

haul_status haul_session_wait(haul_session *session, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (int i = 0; i < HAUL_SESSION_STREAMS && !status; i++)
        status = haul_stream_wait(session->streams[i], error);
    return status;
}

haul_parameter haul_session_found(haul_session *session, double value,
                                  const haul_point_measured *point)
{
    const char *source = haul_arena_format(
        &session->arena, "haul measure, median of %u, spread %.2g %%", point->count, point->spread);
    return (haul_parameter){value, HAUL_MEASURED, source};
}
