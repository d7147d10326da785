/* Growth by half: a copy of each item is paid about twice, and at most a third is unused. Pointers
 * are read and written as bytes, for `items` may be of any pointer type. */
#include "base/grow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool resize(void *items, size_t *capacity, size_t wanted, size_t item_size)
{
    /* A cast to void ** would break the aliasing rules: `items` may be an int ** or a struct x
     * **. */
    void *old;
    memcpy(&old, items, sizeof old);
    void *new = realloc(old, wanted * item_size);
    if (!new)
        return false;
    memcpy(items, &new, sizeof new);
    *capacity = wanted;
    return true;
}

bool hl_base_grow(void *items, size_t *capacity, size_t needed, size_t item_size)
{
    if (needed <= *capacity)
        return true;
    /* 16 more, so that small arrays are not moved at each of their first items. */
    size_t wanted = *capacity + *capacity / 2 + 16;
    /* A first demand may be far above what growth by half would give. */
    if (wanted < needed)
        wanted = needed;
    /* Half of the range: differences of pointers into the array must fit ptrdiff_t. */
    if (wanted > SIZE_MAX / 2 / item_size)
        return false;
    return resize(items, capacity, wanted, item_size);
}

void hl_base_shrink(void *items, size_t *capacity, size_t count, size_t item_size)
{
    /* Never to 0, which C17 leaves open for realloc. A failure leaves the larger array, as good. */
    if (count && count < *capacity)
        (void)resize(items, capacity, count, item_size);
}
