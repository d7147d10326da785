#include "base/strings.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* FNV-1a */
static uint64_t hash_text(const char *text, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325U;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3U;
    return hash ^ hash >> 32;
}

static size_t find_slot(const haul_strings *strings, const char *text, size_t length)
{
    size_t at = hash_text(text, length) & (strings->slot_count - 1);
    for (; strings->slots[at]; at = (at + 1) & (strings->slot_count - 1)) {
        const char *kept = strings->texts[strings->slots[at] - 1];
        if (!strncmp(kept, text, length) && !kept[length])
            break;
    }
    return at;
}

static bool grow_slots(haul_strings *strings)
{
    const size_t old_count = strings->slot_count;
    uint32_t *old = strings->slots;
    const size_t new_count = old_count ? old_count * 2 : 64;
    uint32_t *slots = calloc(new_count, sizeof *slots);
    if (!slots)
        return false;
    strings->slots = slots;
    strings->slot_count = new_count;
    for (size_t i = 0; i < old_count; i++) {
        if (!old[i])
            continue;
        const char *text = strings->texts[old[i] - 1];
        slots[find_slot(strings, text, strlen(text))] = old[i];
    }
    free(old);
    return true;
}

uint32_t haul_strings_add(haul_strings *strings, const char *text, size_t length)
{
    length = strnlen(text, length);
    if (strings->count * 2 >= strings->slot_count && !grow_slots(strings))
        return UINT32_MAX;
    const size_t slot = find_slot(strings, text, length);
    if (strings->slots[slot])
        return strings->slots[slot] - 1;
    if (strings->count >= UINT32_MAX - 1 ||
        !haul_grow(&strings->texts, &strings->capacity, strings->count + 1, sizeof *strings->texts))
        return UINT32_MAX;
    const char *kept = haul_arena_text(&strings->arena, text, length);
    if (!kept)
        return UINT32_MAX;
    strings->texts[strings->count] = kept;
    strings->slots[slot] = (uint32_t)++strings->count;
    return (uint32_t)(strings->count - 1);
}

void haul_strings_release(haul_strings *strings)
{
    haul_arena_release(&strings->arena);
    free(strings->texts);
    free(strings->slots);
    *strings = (haul_strings){0};
}
