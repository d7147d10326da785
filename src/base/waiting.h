/* What waits by time: operations for a resource, parts of a profile for their turn. */
#ifndef HAUL_BASE_WAITING_H
#define HAUL_BASE_WAITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* First come, first served; of equal times the lower number. */
typedef struct haul_waiting_item {
    int64_t time_ns;
    uint32_t op;
    uint32_t actor;
} haul_waiting_item;

/* Zero is empty. */
typedef struct haul_waiting {
    haul_waiting_item *heap;
    size_t count;
    size_t capacity;
} haul_waiting;

/* False without memory. */
bool haul_waiting_add(haul_waiting *self, haul_waiting_item item);
haul_waiting_item haul_waiting_take(haul_waiting *self);

#endif
