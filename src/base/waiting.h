/* A queue by time: operations for a resource, parts of a profile for their turn. */
#ifndef HAUL_BASE_WAITING_H
#define HAUL_BASE_WAITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* First come, first served; of equal times the lower number. */
typedef struct hl_base_waiting_item {
    int64_t time_ns;
    uint32_t op;
    uint32_t actor;
} hl_base_waiting_item;

/* Zero is empty. */
typedef struct hl_base_waiting {
    hl_base_waiting_item *heap;
    size_t count;
    size_t capacity;
} hl_base_waiting;

/* False without memory. */
bool hl_base_waiting_add(hl_base_waiting *self, hl_base_waiting_item item);
hl_base_waiting_item hl_base_waiting_take(hl_base_waiting *self);

#endif
