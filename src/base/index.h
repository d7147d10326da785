/* The hash table of this project: numbers from 0 by the hash of what they number, which the caller
 * keeps and compares. Inline, so that the comparison is too: readers of profiles look up a few keys
 * for each row. */
#ifndef HAUL_BASE_INDEX_H
#define HAUL_BASE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct hl_base_index_slot {
    uint32_t number; /* + 1; 0: empty */
    uint32_t hash;
} hl_base_index_slot;

/* Open addressing, at most half full. Zero is an empty index. */
typedef struct hl_base_index {
    hl_base_index_slot *slots;
    size_t slot_count; /* a power of two */
    size_t count;
} hl_base_index;

/* Makes room for one more number; false without memory. */
bool hl_base_index_reserve(hl_base_index *index);
void hl_base_index_release(hl_base_index *index);

static inline uint64_t hl_base_hash_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Multiply and fold by words, after wyhash (Wang Yi, public domain), without its 128-bit product.
 */
static inline uint32_t hl_base_hash(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t hash = size, word;
    for (; size >= sizeof word; at += sizeof word, size -= sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = hl_base_hash_word(hash, word);
    }
    if (size) {
        word = 0;
        memcpy(&word, at, size);
        hash = hl_base_hash_word(hash, word);
    }
    return (uint32_t)(hash ^ hash >> 32);
}

/* Whether the number's thing, of those in `of`, is `key`. */
typedef bool (*hl_base_index_same)(const void *of, uint32_t number, const void *key);

/* The slot of `key`, or the empty one where it belongs. Needs: a slot. */
static inline hl_base_index_slot *hl_base_index_find(const hl_base_index *index, uint32_t hash,
                                                     hl_base_index_same is_same, const void *of,
                                                     const void *key)
{
    const size_t mask = index->slot_count - 1;
    size_t at = hash & mask;
    for (; index->slots[at].number; at = (at + 1) & mask)
        if (index->slots[at].hash == hash && is_same(of, index->slots[at].number - 1, key))
            break;
    return &index->slots[at];
}

#endif
