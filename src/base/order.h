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
typedef struct hl_base_keys {
    const void *first;
    size_t stride;
    uint64_t flip;
} hl_base_keys;

/* Makes the order of unsigned numbers that of signed ones. */
#define HL_KEYS_SIGNED (UINT64_C(1) << 63)

static inline uint64_t hl_base_keys_at(const hl_base_keys *keys, uint32_t number)
{
    uint64_t key;
    memcpy(&key, (const char *)keys->first + number * keys->stride, sizeof key);
    return key ^ keys->flip;
}

/* qsort where the things are not in order already, as those of most files are: it takes as much
 * memory again. */
void hl_base_order_items(void *items, size_t count, size_t size,
                         int (*compare)(const void *a, const void *b));

/* Where there are as many as names in a profile: qsort takes 16 bytes for each large item, this
 * none and up to twice the time. Equal items come in any order. */
void hl_base_order_in_place(void *items, size_t count, size_t size,
                            int (*compare)(const void *a, const void *b));

/* Things that qsort put in order by `compare`. */
typedef struct hl_base_sorted {
    const void *items;
    size_t count;
    size_t size;
    int (*compare)(const void *a, const void *b);
} hl_base_sorted;

/* How many of them come before `key`; where `with_equal`, or are equal to it. */
static inline size_t hl_base_sorted_before(hl_base_sorted in, const void *key, bool with_equal)
{
    size_t low = 0, high = in.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = in.compare((const char *)in.items + middle * in.size, key);
        if (order < 0 || (with_equal && !order))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool hl_base_order_sorted(const uint32_t *order, size_t count, const hl_base_keys *keys);

/* Sorts by key; equal keys keep their order. Linear where the keys are in order but for neighbours,
 * n log n at worst. Needs at most half as many numbers again while it runs, nothing where they are
 * in order; returns false without that memory, the numbers then in some order. */
bool hl_base_order_sort(uint32_t *order, size_t count, const hl_base_keys *keys);

/* The first place whose key is not below `key`, galloping from the place `near`: questions that
 * come nearly in order cost little. */
size_t hl_base_order_find(const uint32_t *order, size_t count, const hl_base_keys *keys,
                          uint64_t key, size_t near);

#endif
