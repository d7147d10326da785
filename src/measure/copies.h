/* Points that are copies. */
#ifndef HAUL_MEASURE_COPIES_H
#define HAUL_MEASURE_COPIES_H

#include "measure/session.h"

typedef struct hl_measure_copy_set {
    hl_measure_way way;
    uint64_t bytes;
} hl_measure_copy_set;

static inline hl_measure_way hl_measure_way_back(hl_measure_way way)
{
    way.direction =
        way.direction == HAUL_DIRECTION_HTOD ? HAUL_DIRECTION_DTOH : HAUL_DIRECTION_HTOD;
    return way;
}

/* The attempt of one copy with nothing else on the device; `what` is a hl_measure_copy_set. */
haul_status hl_measure_copies_try(hl_measure_session *session, const void *what, double *seconds,
                                  haul_error *error);

/* The journal's key: it holds all that the point depends on. */
void hl_measure_copies_name_point(char *name, size_t size, const char *what,
                                  const hl_measure_copy_set *one);

/* Makes a trial of that attempt; `one` must outlive it. */
void hl_measure_copies_name(hl_measure_trial *trial, const char *what,
                            const hl_measure_copy_set *one);

/* Measures a point that depends on `what`, on the kind of copy and on its bytes alone. */
haul_status hl_measure_copies_measure(hl_measure_session *session, const char *what,
                                      hl_measure_attempt attempt, hl_measure_copy_set one,
                                      hl_measure_point_measured *point, haul_error *error);

/* The curve that was measured of a kind of copy, or NULL. */
haul_copy_curve *hl_measure_copies_curve(hl_measure_session *session, hl_measure_way way);

/* Of two copies that are queued at once, the part of the shorter one's time alone that is hidden;
 * the second ends so much after the first. */
double hl_measure_hidden_share(double after_s, const double alone_s[2]);

/* On one engine nothing is hidden; an A100's two hide 0.44, where one direction takes nearly all of
 * the link (11 and 25 GB/s of 25 alone). */
#define HL_MEASURE_HIDDEN_LEAST 0.25

/* The share of its rate that a copy keeps which takes `beside_s` in place of `alone_s`: what slows
 * its bytes does not slow its latency, the curve's. */
double hl_measure_copies_keeps(const haul_copy_curve *curve, double alone_s, double beside_s);

/* The samples of a sweep by size, whose medians are sure to so many percent. */
typedef struct hl_measure_swept {
    const haul_sample *samples;
    size_t count;
    double tolerance;
} hl_measure_swept;

/* Adds to a pageable curve, whose latency is known, how the driver stages its copies: nothing where
 * they do not go that way. */
haul_status hl_measure_find_staging(hl_measure_session *session, hl_measure_way way,
                                    const hl_measure_swept *swept, haul_copy_curve *curve,
                                    haul_error *error);

/* Tells a way's 1/G, between the largest size and half of it, as of `what`. */
haul_status hl_measure_copies_find_rate(hl_measure_session *session, hl_measure_way way,
                                        const char *what, haul_error *error);

/* Copies beside the curves; each adds what it finds to curves, machine and findings. */
haul_status hl_measure_kinds(hl_measure_session *session, haul_error *error);
haul_status hl_measure_mapped(hl_measure_session *session, haul_error *error);
haul_status hl_measure_numa(hl_measure_session *session, haul_error *error);
haul_status hl_measure_peers(hl_measure_session *session, haul_error *error);

#endif
