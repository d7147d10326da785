/* Sorting numbered keys that are nearly in order already, as rows of a profile are. */
#ifndef HAUL_BASE_KEYSORT_H
#define HAUL_BASE_KEYSORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct haul_key {
    uint64_t key;
    uint32_t index;
} haul_key;

/* The order of signed numbers, kept by unsigned keys. */
static inline uint64_t haul_key_of_signed(int64_t value)
{
    return (uint64_t)value ^ UINT64_C(1) << 63;
}

bool haul_keys_sorted(const haul_key *keys, size_t count);

/* Sorts by key; equal keys keep their order. Linear where the keys are in order but for neighbours,
 * n log n at worst. Needs at most half as many keys again while it runs, nothing where the keys are
 * in order; returns false without that memory, the keys then in some order. */
bool haul_keys_sort(haul_key *keys, size_t count);

#endif
