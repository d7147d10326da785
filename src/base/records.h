/* A table of records of one size, each kept once, named by numbers from 0. */
#ifndef HAUL_BASE_RECORDS_H
#define HAUL_BASE_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/index.h"

/* Begin with {.size = sizeof(record)}, zero is else an empty table. */
typedef struct hl_base_records {
    size_t size;
    void *items;
    size_t count;
    size_t capacity;
    hl_base_index index;
} hl_base_records;

/* The number of the record equal to `item` byte for byte (so zero its padding), added where new;
 * UINT32_MAX without memory. */
uint32_t hl_base_records_add(hl_base_records *records, const void *item);

/* The number of the record equal to `item`, or UINT32_MAX. */
uint32_t hl_base_records_find(const hl_base_records *records, const void *item);

/* Frees the table but gives its items, `count` of them, to the caller. */
void *hl_base_records_take(hl_base_records *records);
void hl_base_records_release(hl_base_records *records);

#endif
