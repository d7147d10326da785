/* Points that are copies: how one is attempted, named and measured. */
#include "measure/copies.h"

#include <math.h>
#include <stdio.h>

/* T = (L+o) + n G, with the other direction idle. A pageable copy is the host's work too, which
 * must not be done while the stream is held. */
haul_status hl_measure_copies_try(hl_measure_session *session, const void *what, double *seconds,
                                  haul_error *error)
{
    const hl_measure_copy_set *one = what;
    haul_event *event = session->events[0];
    HAUL_TRY(hl_measure_session_compute(session, one->bytes, error));
    if (one->way.memory != HAUL_MEMORY_PAGEABLE)
        HAUL_TRY(hl_measure_session_hold(session, 0, error));
    HAUL_TRY(hl_measure_session_copy(session, one->way, one->bytes, 0, event, error));
    HAUL_TRY(haul_event_wait(event, error));
    return haul_event_seconds(event, event, seconds, error);
}

/* The name is the journal's key: it holds all that the point depends on. */
void hl_measure_copies_name_point(char *name, size_t size, const char *what,
                                  const hl_measure_copy_set *one)
{
    snprintf(name, size, "%s%s%s %s, %llu bytes", what, *what ? " " : "",
             haul_direction_text(one->way.direction), haul_memory_text(one->way.memory),
             (unsigned long long)one->bytes);
}

void hl_measure_copies_name(hl_measure_trial *trial, const char *what,
                            const hl_measure_copy_set *one)
{
    hl_measure_copies_name_point(trial->name, sizeof trial->name, what, one);
    trial->attempt = hl_measure_copies_try;
    trial->what = one;
}

haul_status hl_measure_copies_measure(hl_measure_session *session, const char *what,
                                      hl_measure_attempt attempt, hl_measure_copy_set one,
                                      hl_measure_point_measured *point, haul_error *error)
{
    char name[96];
    hl_measure_copies_name_point(name, sizeof name, what, &one);
    return hl_measure_session_point(session, name, attempt, &one, point, error);
}

haul_copy_curve *hl_measure_copies_curve(hl_measure_session *session, hl_measure_way way)
{
    for (size_t i = 0; i < session->curve_count; i++)
        if (session->curves[i].direction == way.direction &&
            session->curves[i].memory == way.memory)
            return &session->curves[i];
    return NULL;
}

/* Both copies are queued at once, so that the one that ends first takes its time alone at least. */
double hl_measure_hidden_share(double after_s, const double alone_s[2])
{
    const double last_alone_s = after_s >= 0 ? alone_s[1] : alone_s[0];
    return (last_alone_s - fabs(after_s)) / fmin(alone_s[0], alone_s[1]);
}

double hl_measure_copies_keeps(const haul_copy_curve *curve, double alone_s, double beside_s)
{
    const double latency_s = curve->latency_s.value < alone_s ? curve->latency_s.value : 0;
    return fmin(1, (alone_s - latency_s) / (beside_s - latency_s));
}

haul_status hl_measure_copies_find_rate(hl_measure_session *session, hl_measure_way way,
                                        const char *what, haul_error *error)
{
    const uint64_t bytes = session->options.largest_bytes, half_bytes = bytes / 2;
    hl_measure_point_measured all, half;
    haul_status status = hl_measure_copies_measure(session, what, hl_measure_copies_try,
                                                   (hl_measure_copy_set){way, bytes}, &all, error);
    if (!status)
        status = hl_measure_copies_measure(session, what, hl_measure_copies_try,
                                           (hl_measure_copy_set){way, half_bytes}, &half, error);
    if (!status && all.seconds > half.seconds)
        hl_measure_session_tell(session, HAUL_DIM_RATE,
                                (double)half_bytes / (all.seconds - half.seconds), &all, "%s %s",
                                haul_direction_text(way.direction), what);
    return status;
}
