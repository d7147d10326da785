/* Blocks of 16 KiB, newest first, all of them zero: what is allocated needs no clearing. A text
 * longer than a block gets one of its own. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 16 * 1024 };

struct hl_base_arena_block {
    hl_base_arena_block *next;
    /* Bytes of `data`; the header is not counted. */
    size_t size;
    /* The type makes the first byte aligned for anything. */
    max_align_t data[];
};

/* `align`: a power of two. */
static void *alloc_aligned(hl_base_arena *arena, size_t size, size_t align)
{
    /* Half of the range leaves room for rounding up and for the block's own header. */
    if (size > SIZE_MAX / 2) {
        arena->failed = true;
        return NULL;
    }
    size_t begin = (arena->used + align - 1) / align * align;
    /* The rest of the block before is given up: looking for gaps would cost each allocation
     * more than the bytes are worth. */
    if (!arena->head || begin > arena->head->size || arena->head->size - begin < size) {
        const size_t block_size = size > BLOCK_BYTES ? size : BLOCK_BYTES;
        hl_base_arena_block *block = calloc(1, sizeof *block + block_size);
        if (!block) {
            arena->failed = true;
            return NULL;
        }
        *block = (hl_base_arena_block){.next = arena->head, .size = block_size};
        arena->head = block;
        begin = 0;
    }
    arena->used = begin + size;
    return (char *)arena->head->data + begin;
}

void *hl_base_arena_alloc(hl_base_arena *arena, size_t size)
{
    return alloc_aligned(arena, size, _Alignof(max_align_t));
}

char *hl_base_arena_text(hl_base_arena *arena, const char *text, size_t length)
{
    char *copy = alloc_aligned(arena, length + 1, 1); /* a profile has millions */
    if (copy)
        /* The terminator is there: blocks are zeroed. */
        memcpy(copy, text, length);
    return copy;
}

char *hl_base_arena_string(hl_base_arena *arena, const char *text)
{
    return hl_base_arena_text(arena, text, strlen(text));
}

char *hl_base_arena_vformat(hl_base_arena *arena, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    /* The length is found first, so that a text takes what it needs and never a whole block. */
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : hl_base_arena_alloc(arena, (size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, args);
    return text;
}

char *hl_base_arena_format(hl_base_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = hl_base_arena_vformat(arena, format, args);
    va_end(args);
    return text;
}

void hl_base_arena_release(hl_base_arena *arena)
{
    while (arena->head) {
        hl_base_arena_block *next = arena->head->next;
        free(arena->head);
        arena->head = next;
    }
    arena->used = 0;
    arena->failed = false;
}
