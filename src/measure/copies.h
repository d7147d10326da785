/* Points that are copies. */
#ifndef HAUL_MEASURE_COPIES_H
#define HAUL_MEASURE_COPIES_H

#include "measure/session.h"

typedef struct haul_copies {
    haul_way way;
    uint64_t bytes;
} haul_copies;

static inline haul_way haul_way_back(haul_way way)
{
    way.direction = way.direction == HAUL_HTOD ? HAUL_DTOH : HAUL_HTOD;
    return way;
}

/* The attempt of one copy with nothing else on the device; `what` is a haul_copies. */
haul_status haul_copies_try(haul_session *session, const void *what, double *seconds,
                            haul_error *error);

/* Makes a trial of that attempt; `one` must outlive it. */
void haul_copies_name(haul_trial *trial, const char *what, const haul_copies *one);

/* Measures a point that depends on `what`, on the kind of copy and on its bytes alone. */
haul_status haul_copies_measure(haul_session *session, const char *what, haul_attempt attempt,
                                haul_copies one, haul_point_measured *point, haul_error *error);

/* The curve that was measured of a kind of copy, or NULL. */
haul_copy_curve *haul_copies_curve(haul_session *session, haul_way way);

/* The share of its rate that a copy keeps which takes `beside_s` in place of `alone_s`: what slows
 * its bytes does not slow its latency, the curve's. */
double haul_copies_keeps(const haul_copy_curve *curve, double alone_s, double beside_s);

/* Adds to a pageable curve, whose latency is known, how the driver stages its copies: nothing where
 * they do not go that way. `samples` are those of the sweep, by size. */
haul_status haul_find_staging(haul_session *session, haul_way way, const haul_sample *samples,
                              size_t count, haul_copy_curve *curve, haul_error *error);

/* Tells a way's 1/G, between the largest size and half of it, as of `what`. */
haul_status haul_copies_find_rate(haul_session *session, haul_way way, const char *what,
                                  haul_error *error);

/* Copies beside the curves; each adds what it finds to curves, machine and findings. */
haul_status haul_measure_kinds(haul_session *session, haul_error *error);
haul_status haul_measure_mapped(haul_session *session, haul_error *error);
haul_status haul_measure_numa(haul_session *session, haul_error *error);
haul_status haul_measure_peers(haul_session *session, haul_error *error);

#endif
