/* Points that have been measured: each a name, a median, spreads and a count. Kept in a file a
 * line each, so that a measurement that was interrupted goes on. */
#ifndef HAUL_MEASURE_JOURNAL_H
#define HAUL_MEASURE_JOURNAL_H

#include <stdio.h>

#include "base/arena.h"
#include "haul/status.h"

typedef struct hl_measure_point_measured {
    const char *name;
    double seconds; /* the median */
    double spread;  /* interquartile range over the median, in percent */
    double drift; /* of medians of rounds seconds apart, around theirs, in percent; 0: one round */
    unsigned count;
} hl_measure_point_measured;

/* Zero is an empty journal without a file. */
typedef struct hl_measure_journal {
    hl_base_arena arena;
    hl_measure_point_measured *points;
    size_t count;
    size_t capacity;
    size_t from_file; /* the first so many were read */
    FILE *file;
    const char *path;
} hl_measure_journal;

/* Reads the points of the file at `path` and goes on behind them; begins one where there is none.
 * `key` says of what the points are, as "NAME; what; what": a part for all that they depend on
 * beside their own names. Returns BAD_INPUT, naming the first part that differs, for a journal of
 * another key or of another form, IO. A last line that was cut short is dropped. */
haul_status hl_measure_journal_open(hl_measure_journal *journal, const char *path, const char *key,
                                    haul_error *error);

/* The point of that name, or NULL. */
const hl_measure_point_measured *hl_measure_journal_find(const hl_measure_journal *journal,
                                                         const char *name);

/* Adds a point, in the file too, at once. Returns IO, NO_MEMORY. */
haul_status hl_measure_journal_add(hl_measure_journal *journal,
                                   const hl_measure_point_measured *point, haul_error *error);

void hl_measure_journal_close(hl_measure_journal *journal);

#endif
