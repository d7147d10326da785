/* Blocks of 16 KiB, newest first, all of them zero: what is allocated needs no clearing. A text
 * longer than a block gets one of its own. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 16 * 1024 };

struct haul_arena_block {
    haul_arena_block *next;
    /* Bytes of `data`; the header is not counted. */
    size_t size;
    /* The type makes the first byte aligned for anything. */
    max_align_t data[];
};

void *haul_arena_alloc(haul_arena *arena, size_t size)
{
    const size_t align = _Alignof(max_align_t);
    /* Half of the range leaves room for rounding up and for the block's own header. */
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + align - 1) / align * align;
    /* What is left of the block before is given up: looking for gaps would cost each allocation
     * more than the bytes are worth. */
    if (!arena->head || arena->head->size - arena->used < size) {
        const size_t block_size = size > BLOCK_BYTES ? size : BLOCK_BYTES;
        haul_arena_block *block = calloc(1, sizeof *block + block_size);
        if (!block)
            return NULL;
        *block = (haul_arena_block){.next = arena->head, .size = block_size};
        arena->head = block;
        arena->used = 0;
    }
    void *data = (char *)arena->head->data + arena->used;
    arena->used += size;
    return data;
}

char *haul_arena_text(haul_arena *arena, const char *text, size_t length)
{
    char *copy = haul_arena_alloc(arena, length + 1);
    if (copy)
        /* The terminator is there: blocks are zeroed. */
        memcpy(copy, text, length);
    return copy;
}

char *haul_arena_string(haul_arena *arena, const char *text)
{
    return haul_arena_text(arena, text, strlen(text));
}

char *haul_arena_vformat(haul_arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    /* The length is found first, so that a text takes what it needs and never a whole block. */
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : haul_arena_alloc(arena, (size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, args);
    return text;
}

char *haul_arena_format(haul_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = haul_arena_vformat(arena, format, args);
    va_end(args);
    return text;
}

void haul_arena_release(haul_arena *arena)
{
    while (arena->head) {
        haul_arena_block *next = arena->head->next;
        free(arena->head);
        arena->head = next;
    }
    arena->used = 0;
}
