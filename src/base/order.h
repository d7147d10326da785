/* Orders of things by a key in each of them, as lists of their numbers: the things stay where they
 * are. Made for rows of a profile, which are nearly in order already. */
#ifndef HAUL_BASE_ORDER_H
#define HAUL_BASE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Where the keys are: 64 bits at first + number * stride, compared as unsigned numbers after `flip`
 * was exclusive-ored on them. */
typedef struct haul_keys {
    const void *first;
    size_t stride;
    uint64_t flip;
} haul_keys;

/* Makes the order of unsigned numbers that of signed ones. */
#define HAUL_KEYS_SIGNED (UINT64_C(1) << 63)

static inline uint64_t haul_keys_at(const haul_keys *keys, uint32_t number)
{
    uint64_t key;
    memcpy(&key, (const char *)keys->first + number * keys->stride, sizeof key);
    return key ^ keys->flip;
}

bool haul_order_sorted(const uint32_t *order, size_t count, const haul_keys *keys);

/* Sorts by key; equal keys keep their order. Linear where the keys are in order but for neighbours,
 * n log n at worst. Needs at most half as many numbers again while it runs, nothing where they are
 * in order; returns false without that memory, the numbers then in some order. */
bool haul_order_sort(uint32_t *order, size_t count, const haul_keys *keys);

/* The first place whose key is not below `key`, galloping from the place `near`: questions that
 * come nearly in order cost little. */
size_t haul_order_find(const uint32_t *order, size_t count, const haul_keys *keys, uint64_t key,
                       size_t near);

#endif
