/* Records are compared as bytes: their padding has to be cleared. */
#include "base/records.h"

#include <stdlib.h>

#include "base/grow.h"

static bool is_same(const void *of, uint32_t number, const void *key)
{
    const hl_base_records *records = of;
    return !memcmp((const char *)records->items + number * records->size, key, records->size);
}

uint32_t hl_base_records_find(const hl_base_records *records, const void *item)
{
    if (!records->count)
        return UINT32_MAX;
    const uint32_t hash = hl_base_hash(item, records->size);
    const hl_base_index_slot *slot =
        hl_base_index_find(&records->index, hash, is_same, records, item);
    return slot->number ? slot->number - 1 : UINT32_MAX;
}

uint32_t hl_base_records_add(hl_base_records *records, const void *item)
{
    if (!hl_base_index_reserve(&records->index))
        return UINT32_MAX;
    /* By all bytes, padding included. */
    const uint32_t hash = hl_base_hash(item, records->size);
    hl_base_index_slot *slot = hl_base_index_find(&records->index, hash, is_same, records, item);
    if (slot->number)
        return slot->number - 1;
    /* UINT32_MAX is the answer for "none", and slots hold the number plus one. */
    if (records->count >= UINT32_MAX - 1 ||
        !hl_base_grow(&records->items, &records->capacity, records->count + 1, records->size))
        return UINT32_MAX;
    memcpy((char *)records->items + records->count * records->size, item, records->size);
    *slot = (hl_base_index_slot){(uint32_t)++records->count, hash};
    records->index.count++;
    return (uint32_t)(records->count - 1);
}

void *hl_base_records_take(hl_base_records *records)
{
    void *items = records->items;
    records->items = NULL;
    hl_base_records_release(records);
    return items;
}

void hl_base_records_release(hl_base_records *records)
{
    free(records->items);
    hl_base_index_release(&records->index);
    /* The size stays: a released table can be filled again. */
    *records = (hl_base_records){.size = records->size};
}
