/* The notes of a projection: what its reader must know. */
#ifndef HAUL_PROJECT_NOTES_H
#define HAUL_PROJECT_NOTES_H

#include "base/arena.h"
#include "haul/workload.h"

/* Zero is the empty list. */
typedef struct haul_notes {
    const char **items;
    size_t count;
    size_t capacity;
    bool failed; /* memory ran out */
} haul_notes;

/* Adds a note whose text the arena keeps. */
void haul_notes_add(haul_notes *notes, haul_arena *arena, const char *format, ...)
    HAUL_PRINTF(3, 4);

#endif
