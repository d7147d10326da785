/* Growth by half: a copy of each item is paid about twice, and at most a third is unused. Pointers
 * are read and written as bytes, for `items` may be of any pointer type. */
#include "base/grow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool resize(void *items, size_t *capacity, size_t wanted, size_t item_size)
{
    void *old;
    memcpy(&old, items, sizeof old);
    void *new = realloc(old, wanted * item_size);
    if (!new)
        return false;
    memcpy(items, &new, sizeof new);
    *capacity = wanted;
    return true;
}

bool haul_grow(void *items, size_t *capacity, size_t needed, size_t item_size)
{
    if (needed <= *capacity)
        return true;
    size_t wanted = *capacity + *capacity / 2 + 16;
    if (wanted < needed)
        wanted = needed;
    if (wanted > SIZE_MAX / 2 / item_size)
        return false;
    return resize(items, capacity, wanted, item_size);
}

void haul_shrink(void *items, size_t *capacity, size_t count, size_t item_size)
{
    if (count && count < *capacity)
        (void)resize(items, capacity, count, item_size);
}
