/* Texts live in an arena, so that their addresses stay while the table grows. */
#include "base/strings.h"

#include <stdlib.h>

#include "base/grow.h"

typedef struct wanted {
    const char *text;
    size_t length;
} wanted;

static bool is_same(const void *of, uint32_t number, const void *key)
{
    const hl_base_strings *strings = of;
    const wanted *text = key;
    const char *kept = strings->texts[number];
    /* `text` has no NUL within its length, so that equal bytes mean that `kept` is as long at
     * least. */
    return !strncmp(kept, text->text, text->length) && !kept[text->length];
}

uint32_t hl_base_strings_add(hl_base_strings *strings, const char *text, size_t length)
{
    /* Bytes behind a NUL could never be read again: texts are kept as C strings. */
    const wanted key = {text, strnlen(text, length)};
    if (!hl_base_index_reserve(&strings->index))
        return UINT32_MAX;
    const uint32_t hash = hl_base_hash(text, key.length);
    hl_base_index_slot *slot = hl_base_index_find(&strings->index, hash, is_same, strings, &key);
    if (slot->number)
        return slot->number - 1;
    if (strings->count >= UINT32_MAX - 1 ||
        !hl_base_grow(&strings->texts, &strings->capacity, strings->count + 1,
                      sizeof *strings->texts))
        return UINT32_MAX;
    const char *kept = hl_base_arena_text(&strings->arena, text, key.length);
    if (!kept)
        return UINT32_MAX;
    strings->texts[strings->count] = kept;
    *slot = (hl_base_index_slot){(uint32_t)++strings->count, hash};
    strings->index.count++;
    return (uint32_t)(strings->count - 1);
}

void hl_base_strings_release(hl_base_strings *strings)
{
    hl_base_arena_release(&strings->arena);
    free(strings->texts);
    hl_base_index_release(&strings->index);
    *strings = (hl_base_strings){0};
}
