/* Where the time of staged copies bends, jumps and steps. */
#ifndef HAUL_MEASURE_STAGING_SEARCH_H
#define HAUL_MEASURE_STAGING_SEARCH_H

#include "measure/copies.h"

enum { HL_MEASURE_STAGED_SIZES = 128 };

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
    hl_measure_line lines[3]; /* up to the threshold, from cache, from memory */
    size_t first, second;     /* the samples at which the second and the third begin */
    double threshold;         /* bytes; 0: none */
    double cache;             /* bytes; 0: not seen */
    double chunk, gap_s;      /* 0: no steps were seen */
} hl_measure_staged;

/* The time of a copy of so many bytes, measured now. */
haul_status hl_measure_staged_time(hl_measure_staged *self, uint64_t bytes, double *seconds,
                                   haul_error *error);

/* Fits the lines, measures further sizes where they change, and counts chunks. Returns with `first`
 * 0 where copies of all sizes lie on one line, or on none. */
haul_status hl_measure_staged_search(hl_measure_staged *self, double latency_s, haul_error *error);

/* The chunks' size and gap, by steps in time among copies above the threshold. */
haul_status hl_measure_staged_find_chunk(hl_measure_staged *self, haul_error *error);

#endif
