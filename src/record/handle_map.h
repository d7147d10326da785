/* What is known of handles (pointers that a runtime gives): a table from a handle to a number. A
 * handle that is given again after its thing is gone replaces what was known, so that the table
 * grows with the addresses in use, not with the things made. */
#ifndef HAUL_RECORD_HANDLE_MAP_H
#define HAUL_RECORD_HANDLE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/records.h"

/* Zero is an empty table. */
typedef struct haul_handle_map {
    haul_records handles;
    uint64_t *values; /* by the handle's number */
    size_t capacity;
} haul_handle_map;

/* Sets the value of a handle, not NULL; forgets all others first where there are too many of them
 * (a million). Without memory nothing is set. */
void haul_handle_map_set(haul_handle_map *self, const void *handle, uint64_t value);
bool haul_handle_map_get(const haul_handle_map *self, const void *handle, uint64_t *value);
void haul_handle_map_release(haul_handle_map *self);

#endif
