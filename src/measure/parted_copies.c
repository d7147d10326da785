/* Copies in parts, one on each of several streams, as programs overlap them: whether the machine
 * file predicts their times, too. CCGrid 2014, figures 5 and 6. */
#include <math.h>
#include <stdio.h>

#include "haul/cost.h"
#include "measure/copies.h"

enum { NUMBERS = HAUL_MEASURE_STREAMS_MOST / 2, MOST = 64, HOLD_EVERY = 4 };

_Static_assert((int)MOST <= (int)HL_MEASURE_SESSION_EVENTS, "an event for each part");
_Static_assert(1 << (NUMBERS - 1) == MOST, "1, 2, 4, ... MOST streams");

/* The size of the paper's figures. */
static const uint64_t figure_bytes = UINT64_C(16) << 20;

/* The streams and the event that they wait for until all is queued. */
typedef struct lanes {
    haul_stream *streams[MOST];
    haul_event *begin;
} lanes;

typedef struct parted_copy {
    const lanes *on;
    haul_direction direction;
    uint64_t bytes; /* of all parts */
    uint64_t each_bytes;
    unsigned parts;
} parted_copy;

/* From the start of the part that starts first to the end of the last. */
static haul_status parts_seconds(hl_measure_session *session, unsigned parts, double *seconds,
                                 haul_error *error)
{
    double first_s = (double)INFINITY, last_s = 0;
    for (unsigned i = 0; i < parts; i++) {
        double end_s, took_s;
        HAUL_TRY(haul_event_seconds(session->events[0], session->events[i], &end_s, error));
        HAUL_TRY(haul_event_seconds(session->events[i], session->events[i], &took_s, error));
        first_s = fmin(first_s, end_s - took_s);
        last_s = i ? fmax(last_s, end_s) : end_s;
    }
    *seconds = last_s - first_s;
    return HAUL_OK;
}

static haul_status try_parts(hl_measure_session *session, const void *what, double *seconds,
                             haul_error *error)
{
    const parted_copy *self = what;
    HAUL_TRY(hl_measure_session_compute(session, self->bytes, error));
    for (unsigned i = 0; i <= self->parts / HOLD_EVERY; i++)
        HAUL_TRY(hl_measure_session_hold(session, 0, error));
    HAUL_TRY(haul_stream_record(session->streams[0], self->on->begin, error));
    for (unsigned i = 0; i < self->parts; i++)
        HAUL_TRY(haul_stream_wait_event(self->on->streams[i], self->on->begin, error));
    for (unsigned i = 0; i < self->parts; i++) {
        const haul_address host = haul_in_buffer(session->pinned[0], i * self->each_bytes),
                           device = haul_in_buffer(session->on_device[0], i * self->each_bytes);
        const bool is_in = self->direction == HAUL_DIRECTION_HTOD;
        const haul_transfer part = {
            .to = is_in ? device : host, .from = is_in ? host : device, .size = {self->each_bytes}};
        HAUL_TRY(haul_stream_copy(self->on->streams[i], &part, session->events[i], error));
    }
    for (unsigned i = 0; i < self->parts; i++)
        HAUL_TRY(haul_stream_wait(self->on->streams[i], error));
    return parts_seconds(session, self->parts, seconds, error);
}

/* T = (L+o) + n G + g (s - 1), CCGrid 2014, section V: each part behind the first takes a gap in
 * place of the latency. */
static haul_status predict(const haul_machine *machine, haul_measured_streams *row,
                           haul_error *error)
{
    const haul_copy_curve *curve =
        haul_machine_curve(machine, row->direction, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR);
    const haul_copy part = {row->bytes / row->streams, row->direction, HAUL_MEMORY_PINNED,
                            HAUL_LOCALITY_NEAR};
    haul_estimate alone;
    HAUL_TRY(haul_copy_time(machine, NULL, &part, &alone, error));
    const double chained_s =
        curve->gap_s.provenance ? fmax(curve->latency_s.value - curve->gap_s.value, 0) : 0;
    row->predicted_s = row->streams * alone.seconds - (row->streams - 1) * chained_s;
    return HAUL_OK;
}

static haul_status measure_direction(hl_measure_session *session, const lanes *on,
                                     haul_direction direction, haul_error *error)
{
    hl_measure_trial trials[NUMBERS];
    parted_copy copies[NUMBERS];
    const uint64_t largest = session->options.largest_bytes,
                   bytes = largest < figure_bytes ? largest : figure_bytes;
    for (int i = 0; i < NUMBERS; i++) {
        copies[i] = (parted_copy){.on = on,
                                  .direction = direction,
                                  .bytes = bytes,
                                  .each_bytes = bytes >> i,
                                  .parts = 1U << i};
        trials[i] =
            (hl_measure_trial){.attempt = try_parts, .what = &copies[i], .only_verifies = true};
        (void)snprintf(trials[i].name, sizeof trials[i].name, "in %u streams %s pinned, %llu bytes",
                       copies[i].parts, haul_direction_text(direction),
                       (unsigned long long)copies[i].bytes);
    }
    HAUL_TRY(hl_measure_session_trials(session, trials, NUMBERS, error));
    for (int i = 0; i < NUMBERS; i++) {
        haul_measured_streams row = {.direction = direction,
                                     .streams = copies[i].parts,
                                     .bytes = copies[i].bytes,
                                     .seconds = trials[i].point.seconds,
                                     .spread = trials[i].point.spread};
        HAUL_TRY(predict(session->made.machine, &row, error));
        session->made.streams[session->made.stream_count++] = row;
    }
    return HAUL_OK;
}

haul_status hl_measure_verify_streams(hl_measure_session *session, haul_error *error)
{
    static const haul_direction directions[] = {HAUL_DIRECTION_HTOD, HAUL_DIRECTION_DTOH};
    lanes on = {.begin = NULL};
    haul_status status = haul_event_new(session->device, &on.begin, error);
    for (int i = 0; i < MOST && !status; i++)
        status = haul_stream_new(session->device, &on.streams[i], error);
    for (int d = 0; d < 2 && !status; d++)
        if (hl_measure_copies_curve(session,
                                    (hl_measure_way){directions[d], HAUL_MEMORY_PINNED, NULL}))
            status = measure_direction(session, &on, directions[d], error);
    for (int i = 0; i < MOST; i++)
        haul_stream_free(on.streams[i]);
    haul_event_free(on.begin);
    return hl_measure_is_lacking(status) ? HAUL_OK : status;
}
