/* An arena: storage of one document, freed at once. */
#ifndef HAUL_BASE_ARENA_H
#define HAUL_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

typedef struct haul_arena_block haul_arena_block;

/* Zero is an empty arena. */
typedef struct haul_arena {
    haul_arena_block *head;
    size_t used; /* of the head block */
} haul_arena;

/* `size` zeroed bytes aligned for any type, or NULL. */
void *haul_arena_alloc(haul_arena *arena, size_t size);

/* A copy of `length` bytes of `text` and a terminator; of a whole string; NULL without memory. */
char *haul_arena_text(haul_arena *arena, const char *text, size_t length);
char *haul_arena_string(haul_arena *arena, const char *text);

/* A formatted string. */
char *haul_arena_format(haul_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *haul_arena_vformat(haul_arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

void haul_arena_release(haul_arena *arena);

#endif
