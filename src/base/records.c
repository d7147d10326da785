/* Records are compared as bytes: their padding has to be cleared. */
#include "base/records.h"

#include <stdlib.h>

#include "base/grow.h"

static bool is_same(const void *of, uint32_t number, const void *key)
{
    const haul_records *records = of;
    return !memcmp((const char *)records->items + number * records->size, key, records->size);
}

uint32_t haul_records_find(const haul_records *records, const void *item)
{
    if (!records->count)
        return UINT32_MAX;
    const uint32_t hash = haul_hash(item, records->size);
    const haul_index_slot *slot = haul_index_find(&records->index, hash, is_same, records, item);
    return slot->number ? slot->number - 1 : UINT32_MAX;
}

uint32_t haul_records_add(haul_records *records, const void *item)
{
    if (!haul_index_reserve(&records->index))
        return UINT32_MAX;
    /* By all bytes, padding included. */
    const uint32_t hash = haul_hash(item, records->size);
    haul_index_slot *slot = haul_index_find(&records->index, hash, is_same, records, item);
    if (slot->number)
        return slot->number - 1;
    /* UINT32_MAX is the answer for "none", and slots hold the number plus one. */
    if (records->count >= UINT32_MAX - 1 ||
        !haul_grow(&records->items, &records->capacity, records->count + 1, records->size))
        return UINT32_MAX;
    memcpy((char *)records->items + records->count * records->size, item, records->size);
    *slot = (haul_index_slot){(uint32_t)++records->count, hash};
    records->index.count++;
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
    haul_index_release(&records->index);
    /* The size stays: a released table can be filled again. */
    *records = (haul_records){.size = records->size};
}
