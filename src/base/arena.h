/* An arena: storage of one document, freed at once. */
#ifndef HAUL_BASE_ARENA_H
#define HAUL_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct hl_base_arena_block hl_base_arena_block;

/* Zero is an empty arena. */
typedef struct hl_base_arena {
    hl_base_arena_block *head;
    size_t used; /* of the head block */
    bool failed; /* an allocation did: what was made of the arena may lack something */
} hl_base_arena;

/* `size` zeroed bytes aligned for any type, or NULL. */
void *hl_base_arena_alloc(hl_base_arena *arena, size_t size);

/* A copy of `length` bytes of `text` and a terminator; of a whole string; NULL without memory. */
char *hl_base_arena_text(hl_base_arena *arena, const char *text, size_t length);
char *hl_base_arena_string(hl_base_arena *arena, const char *text);

/* A formatted string. */
char *hl_base_arena_format(hl_base_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *hl_base_arena_vformat(hl_base_arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

void hl_base_arena_release(hl_base_arena *arena);

#endif
