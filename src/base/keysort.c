/* A natural merge sort: short runs are made by insertion, and two neighbours are merged only where
 * they overlap, so that keys out of order by a little cost a little (the idea of timsort, Peters
 * 2002, without its galloping). */
#include "base/keysort.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { SHORT_RUN = 32 };

typedef struct sorter {
    haul_key *keys;
    haul_key *spare;
    size_t spare_capacity;
    bool failed;
} sorter;

bool haul_keys_sorted(const haul_key *keys, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (keys[i].key < keys[i - 1].key)
            return false;
    return true;
}

static void insert_all(haul_key *keys, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const haul_key key = keys[i];
        size_t at = i;
        for (; at && keys[at - 1].key > key.key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

/* How many of the keys come before a `key` that is put behind its equals (or, `before`, ahead of
 * them). */
static size_t place_of(const haul_key *keys, size_t count, uint64_t key, bool before)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (keys[middle].key < key || (!before && keys[middle].key == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void merge_left(haul_key *out, const haul_key *left, size_t lefts, const haul_key *right,
                       size_t rights)
{
    while (lefts && rights) {
        if (right->key < left->key) {
            *out++ = *right++;
            rights--;
        } else {
            *out++ = *left++;
            lefts--;
        }
    }
    memcpy(out, left, lefts * sizeof *out);
}

/* Both sides end where they are given; the right one is in the spare. */
static void merge_right(haul_key *out_end, const haul_key *left_end, size_t lefts,
                        const haul_key *right_end, size_t rights)
{
    while (lefts && rights) {
        if (right_end[-1].key < left_end[-1].key) {
            *--out_end = *--left_end;
            lefts--;
        } else {
            *--out_end = *--right_end;
            rights--;
        }
    }
    memcpy(out_end - rights, right_end - rights, rights * sizeof *out_end);
}

static void merge(sorter *self, size_t begin, size_t middle, size_t end)
{
    haul_key *keys = self->keys;
    begin += place_of(keys + begin, middle - begin, keys[middle].key, false);
    if (begin == middle)
        return;
    end = middle + place_of(keys + middle, end - middle, keys[middle - 1].key, true);
    const size_t lefts = middle - begin, rights = end - middle;
    const size_t fewer = lefts < rights ? lefts : rights;
    if (!haul_grow(&self->spare, &self->spare_capacity, fewer, sizeof *keys)) {
        self->failed = true;
        return;
    }
    if (lefts <= rights) {
        memcpy(self->spare, keys + begin, lefts * sizeof *keys);
        merge_left(keys + begin, self->spare, lefts, keys + middle, rights);
    } else {
        memcpy(self->spare, keys + middle, rights * sizeof *keys);
        merge_right(keys + end, keys + middle, lefts, self->spare + rights, rights);
    }
}

static size_t at_most(size_t value, size_t limit)
{
    return value < limit ? value : limit;
}

bool haul_keys_sort(haul_key *keys, size_t count)
{
    if (haul_keys_sorted(keys, count))
        return true;
    for (size_t at = 0; at < count; at += SHORT_RUN)
        insert_all(keys + at, at_most(SHORT_RUN, count - at));
    sorter self = {.keys = keys};
    for (size_t width = SHORT_RUN; width < count; width *= 2)
        for (size_t at = 0; at + width < count; at += 2 * width)
            if (keys[at + width].key < keys[at + width - 1].key)
                merge(&self, at, at + width, at + at_most(2 * width, count - at));
    free(self.spare);
    return !self.failed;
}
