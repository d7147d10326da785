#include "base/records.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Multiply and fold by words, after wyhash (Wang Yi, public domain), without its 128-bit product.
 */
static uint64_t hash_bytes(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t hash = size;
    while (size) {
        uint64_t word = 0;
        const size_t part = size < sizeof word ? size : sizeof word;
        memcpy(&word, at, part);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
        at += part;
        size -= part;
    }
    return hash ^ hash >> 32;
}

static const void *item_at(const haul_records *records, size_t number)
{
    return (const char *)records->items + number * records->size;
}

static size_t find_slot(const haul_records *records, const void *item)
{
    const size_t mask = records->slot_count - 1;
    size_t at = hash_bytes(item, records->size) & mask;
    for (; records->slots[at]; at = (at + 1) & mask)
        if (!memcmp(item_at(records, records->slots[at] - 1), item, records->size))
            break;
    return at;
}

static bool grow_slots(haul_records *records)
{
    const size_t new_count = records->slot_count ? records->slot_count * 2 : 64;
    uint32_t *slots = calloc(new_count, sizeof *slots);
    if (!slots)
        return false;
    free(records->slots);
    records->slots = slots;
    records->slot_count = new_count;
    for (size_t i = 0; i < records->count; i++)
        slots[find_slot(records, item_at(records, i))] = (uint32_t)(i + 1);
    return true;
}

uint32_t haul_records_find(const haul_records *records, const void *item)
{
    if (!records->slot_count)
        return UINT32_MAX;
    const uint32_t slot = records->slots[find_slot(records, item)];
    return slot ? slot - 1 : UINT32_MAX;
}

uint32_t haul_records_add(haul_records *records, const void *item)
{
    if (records->count * 2 >= records->slot_count && !grow_slots(records))
        return UINT32_MAX;
    const size_t slot = find_slot(records, item);
    if (records->slots[slot])
        return records->slots[slot] - 1;
    if (records->count >= UINT32_MAX - 1 ||
        !haul_grow(&records->items, &records->capacity, records->count + 1, records->size))
        return UINT32_MAX;
    memcpy((char *)records->items + records->count * records->size, item, records->size);
    records->slots[slot] = (uint32_t)++records->count;
    return (uint32_t)(records->count - 1);
}

void *haul_records_take(haul_records *records)
{
    void *items = records->items;
    records->items = NULL;
    haul_records_release(records);
    return items;
}

void haul_records_release(haul_records *records)
{
    free(records->items);
    free(records->slots);
    *records = (haul_records){.size = records->size};
}
