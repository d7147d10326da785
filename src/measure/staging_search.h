/* Where the time of staged copies bends, jumps and steps. */
#ifndef HAUL_MEASURE_STAGING_SEARCH_H
#define HAUL_MEASURE_STAGING_SEARCH_H

#include "measure/copies.h"

enum { HL_MEASURE_STAGED_SIZES = 192 };

/* The clock's rounding of a time. */
#define HL_MEASURE_ROUNDING_S 1e-9

/* Time of a copy: at_s + bytes * per_byte_s. */
typedef struct hl_measure_line {
    double at_s;
    double per_byte_s;
} hl_measure_line;

static inline double hl_measure_line_at(hl_measure_line line, double bytes)
{
    return line.at_s + line.per_byte_s * bytes;
}

/* Copies of a kind, by size, and what is found of them. */
typedef struct hl_measure_staged {
    hl_measure_session *session;
    hl_measure_way way;
    haul_sample samples[HL_MEASURE_STAGED_SIZES];
    size_t count;
    double tolerance;         /* relative, that a copy may be off a line */
    double judged;            /* relative, that a copy may be off the staging found */
    hl_measure_line lines[3]; /* up to the threshold, from cache, from memory */
    size_t first, second;     /* the samples at which the second and the third begin */
    double threshold;         /* bytes; 0: none */
    double flat;              /* bytes; copies from the threshold on take as long up to it */
    double cache;             /* bytes; 0: not seen */
    double chunk, gap_s;      /* 0: no steps were seen */
} hl_measure_staged;

/* The time of a copy of so many bytes, measured now. */
haul_status hl_measure_staged_time(hl_measure_staged *self, uint64_t bytes, double *seconds,
                                   haul_error *error);

/* Fits the lines, measures further sizes where they change, and counts chunks. Returns with `first`
 * 0 where copies of all sizes lie on one line, or on none. */
haul_status hl_measure_staged_search(hl_measure_staged *self, double latency_s, haul_error *error);

/* The same with no threshold, behind a search that counted the chunks: fits a line from cache and
 * one from memory. Returns with `second` 0 where copies lie on none. */
haul_status hl_measure_staged_search_whole(hl_measure_staged *self, haul_error *error);

/* The time of a sample without the gaps of its chunks. */
double hl_measure_staged_smooth(const hl_measure_staged *self, const haul_sample *sample);

/* Adds a measured size, in order. */
haul_status hl_measure_staged_add(hl_measure_staged *self, uint64_t bytes, haul_error *error);

/* Least squares of relative errors over samples [begin, end), without the gaps of chunks; with
 * `fixed` through that time at no bytes. */
hl_measure_line hl_measure_staged_fit(const hl_measure_staged *self, size_t begin, size_t end,
                                      const double *fixed);

/* Two sizes between which something changes. */
typedef struct hl_measure_between {
    uint64_t low;
    uint64_t high;
} hl_measure_between;

/* The size up to which copies are nearer to line `a` than to `b`; without `b` as near as the
 * tolerance. */
haul_status hl_measure_staged_find_end(hl_measure_staged *self, hl_measure_between between,
                                       const hl_measure_line *a, const hl_measure_line *b,
                                       double *end, haul_error *error);

/* Whether copies above the threshold take as long as one of its size, and up to where. */
haul_status hl_measure_staged_find_flat(hl_measure_staged *self, haul_error *error);

/* The threshold where two lines meet there: surer than where a copy leaves the first. */
haul_status hl_measure_staged_meet(hl_measure_staged *self, haul_error *error);

/* The chunks' size and gap, by steps in time among copies above the threshold. */
haul_status hl_measure_staged_find_chunk(hl_measure_staged *self, haul_error *error);

/* A machine of what the session has found, with this curve for this kind of copies: the caller's.
 */
haul_status hl_measure_staged_machine(const hl_measure_staged *self, const haul_copy_curve *curve,
                                      haul_machine **out, haul_error *error);

/* Notes the curve's parameters of staging that the copies do not tell to within 1 %. */
haul_status hl_measure_staged_note_hidden(const hl_measure_staged *of, const haul_copy_curve *curve,
                                          haul_error *error);

#endif
