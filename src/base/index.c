/* Doubles when half full: with linear probing a look-up then meets 1.5 slots on average (Knuth,
 * The Art of Computer Programming 3, section 6.4). */
#include "base/index.h"

#include <stdlib.h>

bool hl_base_index_reserve(hl_base_index *index)
{
    enum { FIRST = 64 };
    /* At least one slot stays empty always, without which a search for a missing key would not
     * end. */
    if (index->count * 2 < index->slot_count)
        return true;
    /* Always a power of two, so that a mask replaces the remainder. */
    const size_t slot_count = index->slot_count ? index->slot_count * 2 : FIRST;
    hl_base_index_slot *slots = calloc(slot_count, sizeof *slots);
    if (!slots)
        return false;
    /* Slots keep their hashes, so that growing needs neither the keys nor the caller. */
    for (size_t i = 0; i < index->slot_count; i++) {
        size_t at = index->slots[i].hash & (slot_count - 1);
        while (index->slots[i].number && slots[at].number)
            at = (at + 1) & (slot_count - 1);
        if (index->slots[i].number)
            slots[at] = index->slots[i];
    }
    free(index->slots);
    index->slots = slots;
    index->slot_count = slot_count;
    return true;
}

void hl_base_index_release(hl_base_index *index)
{
    free(index->slots);
    *index = (hl_base_index){0};
}
