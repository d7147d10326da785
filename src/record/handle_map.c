#include "record/handle_map.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64, MOST_HANDLES = 1 << 20 };

/* Fibonacci hashing; Knuth, The Art of Computer Programming, 6.4. */
static size_t place_of(const haul_handle_map *self, const void *handle)
{
    const uint64_t mixed = ((uint64_t)(uintptr_t)handle >> 3) * UINT64_C(11400714819323198485);
    size_t at = (size_t)(mixed >> 32) & (self->capacity - 1);
    while (self->slots[at].handle && self->slots[at].handle != handle)
        at = (at + 1) & (self->capacity - 1);
    return at;
}

static bool grow(haul_handle_map *self)
{
    haul_handle_map larger = {.capacity =
                                  self->capacity ? 2 * self->capacity : (size_t)FIRST_CAPACITY};
    larger.slots = calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < self->capacity; i++)
        if (self->slots[i].handle)
            larger.slots[place_of(&larger, self->slots[i].handle)] = self->slots[i];
    larger.count = self->count;
    free(self->slots);
    *self = larger;
    return true;
}

void haul_handle_map_set(haul_handle_map *self, const void *handle, uint64_t value)
{
    if (2 * self->count >= self->capacity) {
        if (self->count >= MOST_HANDLES) {
            memset(self->slots, 0, self->capacity * sizeof *self->slots);
            self->count = 0;
        } else if (!grow(self)) {
            return;
        }
    }
    struct haul_handle_slot *slot = &self->slots[place_of(self, handle)];
    self->count += !slot->handle;
    slot->handle = handle;
    slot->value = value;
}

bool haul_handle_map_get(const haul_handle_map *self, const void *handle, uint64_t *value)
{
    if (!self->count)
        return false;
    const struct haul_handle_slot *slot = &self->slots[place_of(self, handle)];
    if (!slot->handle)
        return false;
    *value = slot->value;
    return true;
}

void haul_handle_map_release(haul_handle_map *self)
{
    free(self->slots);
    *self = (haul_handle_map){0};
}
