/* A table from handles (pointers that a runtime gives) to numbers. A handle that is given again
 * after its thing is gone replaces what was known, so that the table grows with the addresses in
 * use, not with the things made. */
#ifndef HAUL_RECORD_HANDLE_MAP_H
#define HAUL_RECORD_HANDLE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/records.h"

/* Zero is an empty table. */
typedef struct hl_record_handle_map {
    hl_base_records handles;
    uint64_t *values; /* by the handle's number */
    size_t capacity;
} hl_record_handle_map;

/* Sets the value of a handle, not NULL; forgets all others first where there are too many of them
 * (a million). Without memory nothing is set. */
void hl_record_handle_map_set(hl_record_handle_map *self, const void *handle, uint64_t value);
bool hl_record_handle_map_get(const hl_record_handle_map *self, const void *handle,
                              uint64_t *value);
void hl_record_handle_map_release(hl_record_handle_map *self);

#endif
