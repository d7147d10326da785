/* Growing arrays on the heap. */
#ifndef HAUL_BASE_GROW_H
#define HAUL_BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for `needed` items of `item_size` bytes in *items (NULL with *capacity 0 to begin
 * with), by half as much again. Returns false without memory, the array untouched. */
bool hl_base_grow(void *items, size_t *capacity, size_t needed, size_t item_size);

/* Gives back what is beyond `count` items. */
void hl_base_shrink(void *items, size_t *capacity, size_t count, size_t item_size);

#endif
