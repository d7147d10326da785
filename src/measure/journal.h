/* Points that have been measured: each a name, a median, a spread and a count. Kept in a file a
 * line each, so that a measurement that was interrupted goes on. */
#ifndef HAUL_MEASURE_JOURNAL_H
#define HAUL_MEASURE_JOURNAL_H

#include <stdio.h>

#include "base/arena.h"
#include "haul/status.h"

typedef struct haul_point_measured {
    const char *name;
    double seconds; /* the median */
    double spread;  /* interquartile range over the median, in percent */
    unsigned count;
} haul_point_measured;

/* Zero is an empty journal without a file. */
typedef struct haul_journal {
    haul_arena arena;
    haul_point_measured *points;
    size_t count;
    size_t capacity;
    size_t from_file; /* the first so many were read */
    FILE *file;
    const char *path;
} haul_journal;

/* Reads the points of the file at `path` and goes on behind them; begins one where there is none.
 * `device` names what is measured. Returns BAD_INPUT for a journal of another device or of another
 * form, IO. A last line that was cut short is dropped. */
haul_status haul_journal_open(haul_journal *journal, const char *path, const char *device,
                              haul_error *error);

/* The point of that name, or NULL. */
const haul_point_measured *haul_journal_find(const haul_journal *journal, const char *name);

/* Adds a point, in the file too, at once. Returns IO, NO_MEMORY. */
haul_status haul_journal_add(haul_journal *journal, const haul_point_measured *point,
                             haul_error *error);

void haul_journal_close(haul_journal *journal);

#endif
