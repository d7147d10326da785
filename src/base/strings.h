/* A table of strings, each kept once, named by numbers from 0. */
#ifndef HAUL_BASE_STRINGS_H
#define HAUL_BASE_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/index.h"

/* Zero is an empty table. */
typedef struct hl_base_strings {
    hl_base_arena arena;
    const char **texts;
    size_t count;
    size_t capacity;
    hl_base_index index;
} hl_base_strings;

/* The id of `length` bytes of `text`, added where new; UINT32_MAX without memory. The bytes are
 * kept up to the first NUL. */
uint32_t hl_base_strings_add(hl_base_strings *strings, const char *text, size_t length);

void hl_base_strings_release(hl_base_strings *strings);

static inline bool hl_base_ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && !strcmp(text + length - tail, end);
}

#endif
