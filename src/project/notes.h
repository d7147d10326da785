/* The notes of a projection: what its reader must know. */
#ifndef HAUL_PROJECT_NOTES_H
#define HAUL_PROJECT_NOTES_H

#include "base/arena.h"
#include "haul/workload.h"

/* Zero is the empty list. */
typedef struct haul_notes {
    haul_note *items;
    size_t count;
    size_t capacity;
    bool failed; /* memory ran out */
} haul_notes;

/* Adds a note whose text the arena keeps; `count` 0 where counting means nothing. */
void haul_notes_add(haul_notes *notes, haul_arena *arena, uint64_t count, const char *format, ...)
    HAUL_PRINTF(4, 5);

#endif
