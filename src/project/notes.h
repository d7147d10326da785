/* Notes: sentences that the reader of a result must know. */
#ifndef HAUL_PROJECT_NOTES_H
#define HAUL_PROJECT_NOTES_H

#include "base/arena.h"
#include "haul/workload.h"

/* Begin with {.arena = ...}, which keeps the texts. */
typedef struct hl_project_notes {
    hl_base_arena *arena;
    const char **items;
    size_t count;
    size_t capacity;
    bool failed; /* no memory */
} hl_project_notes;

void hl_project_notes_add(hl_project_notes *notes, const char *format, ...) HAUL_PRINTF(2, 3);

#endif
