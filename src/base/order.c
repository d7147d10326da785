/* A natural merge sort: short runs are made by insertion, and two neighbours are merged only where
 * they overlap, so that what is out of order by a little costs a little (the idea of timsort,
 * Peters 2002, without its galloping). */
#include "base/order.h"

#include <stdlib.h>

#include "base/grow.h"

enum { SHORT_RUN = 32 };

typedef struct sorter {
    uint32_t *order;
    const hl_base_keys *keys;
    uint32_t *spare;
    size_t spare_capacity;
    bool failed;
} sorter;

void hl_base_order_items(void *items, size_t count, size_t size,
                         int (*compare)(const void *a, const void *b))
{
    const char *at = items;
    size_t sorted = 1;
    for (; sorted < count && compare(at, at + size) <= 0; sorted++)
        at += size;
    if (sorted < count)
        qsort(items, count, size, compare);
}

static void swap_items(char *a, char *b, size_t size)
{
    char held[64];
    for (size_t done = 0; done < size; done += sizeof held) {
        const size_t part = size - done < sizeof held ? size - done : sizeof held;
        memcpy(held, a + done, part);
        memcpy(a + done, b + done, part);
        memcpy(b + done, held, part);
    }
}

/* Moves the item at `root` down to its place in a heap of which the last is the first item. */
static void sift_down(const hl_base_sorted *in, char *items, size_t root, size_t count)
{
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count &&
            in->compare(items + child * in->size, items + (child + 1) * in->size) < 0)
            child++;
        if (in->compare(items + root * in->size, items + child * in->size) >= 0)
            return;
        swap_items(items + root * in->size, items + child * in->size, in->size);
    }
}

void hl_base_order_in_place(void *items, size_t count, size_t size,
                            int (*compare)(const void *a, const void *b))
{
    const hl_base_sorted in = {items, count, size, compare};
    char *const first = items;
    for (size_t i = count / 2; i; i--)
        sift_down(&in, first, i - 1, count);
    for (size_t end = count; end > 1; end--) {
        swap_items(first, first + (end - 1) * size, size);
        sift_down(&in, first, 0, end - 1);
    }
}

bool hl_base_order_sorted(const uint32_t *order, size_t count, const hl_base_keys *keys)
{
    /* Asked first: most profiles are in order, and then nothing is allocated. */
    for (size_t i = 1; i < count; i++)
        if (hl_base_keys_at(keys, order[i]) < hl_base_keys_at(keys, order[i - 1]))
            return false;
    return true;
}

static void insert_all(uint32_t *order, size_t count, const hl_base_keys *keys)
{
    for (size_t i = 1; i < count; i++) {
        const uint32_t number = order[i];
        const uint64_t key = hl_base_keys_at(keys, number);
        size_t at = i;
        /* Strictly above, so that equal keys keep their order; likewise in the merges below. */
        for (; at && hl_base_keys_at(keys, order[at - 1]) > key; at--)
            order[at] = order[at - 1];
        order[at] = number;
    }
}

/* How many come before a `key` that is put behind its equals (or, `before`, ahead of them). */
static size_t place_of(const uint32_t *order, size_t count, const hl_base_keys *keys, uint64_t key,
                       bool before)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const uint64_t there = hl_base_keys_at(keys, order[middle]);
        if (there < key || (!before && there == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The right side is in the spare, the left one where it was; filled from the end. */
static void merge_down(const sorter *self, size_t begin, size_t rights, size_t end)
{
    uint32_t *out = self->order + end;
    const uint32_t *right = self->spare + rights;
    const uint32_t *left_begin = self->order + begin, *left = out - rights;
    while (left > left_begin && right > self->spare)
        /* From the end, so that nothing is overwritten before it was read. */
        *--out = hl_base_keys_at(self->keys, right[-1]) < hl_base_keys_at(self->keys, left[-1])
                     ? *--left
                     : *--right;
    const size_t rest = (size_t)(right - self->spare);
    memcpy(out - rest, self->spare, rest * sizeof *out);
}

static void merge(sorter *self, size_t begin, size_t middle, size_t end)
{
    uint32_t *order = self->order;
    /* Items of the left side not above the right side's first are in place already, as are those of
     * the right side not below the left side's last: in nearly sorted rows that is almost all. */
    begin += place_of(order + begin, middle - begin, self->keys,
                      hl_base_keys_at(self->keys, order[middle]), false);
    end = middle + place_of(order + middle, end - middle, self->keys,
                            hl_base_keys_at(self->keys, order[middle - 1]), true);
    const size_t lefts = middle - begin, rights = end - middle;
    /* The smaller side is copied out, which bounds the spare by half of the numbers. */
    const size_t fewer = lefts < rights ? lefts : rights;
    if (!hl_base_grow(&self->spare, &self->spare_capacity, fewer, sizeof *order)) {
        self->failed = true;
        return;
    }
    if (lefts <= rights) {
        memcpy(self->spare, order + begin, lefts * sizeof *order);
        /* The left side is in the spare, the right one where it was. */
        uint32_t *out = self->order + begin;
        const uint32_t *left = self->spare, *left_end = left + lefts;
        const uint32_t *right = out + lefts, *right_end = self->order + end;
        while (left < left_end && right < right_end)
            *out++ = hl_base_keys_at(self->keys, *right) < hl_base_keys_at(self->keys, *left)
                         ? *right++
                         : *left++;
        memcpy(out, left, (size_t)(left_end - left) * sizeof *out);
    } else {
        memcpy(self->spare, order + middle, rights * sizeof *order);
        merge_down(self, begin, rights, end);
    }
}

static size_t at_most(size_t value, size_t limit)
{
    return value < limit ? value : limit;
}

bool hl_base_order_sort(uint32_t *order, size_t count, const hl_base_keys *keys)
{
    if (hl_base_order_sorted(order, count, keys))
        return true;
    for (size_t at = 0; at < count; at += SHORT_RUN)
        insert_all(order + at, at_most(SHORT_RUN, count - at), keys);
    sorter self = {.order = order, .keys = keys};
    for (size_t width = SHORT_RUN; width < count; width *= 2)
        for (size_t at = 0; at + width < count; at += 2 * width)
            /* Neighbours that do not overlap need no merge: sorted stretches cost one comparison a
             * run. */
            if (hl_base_keys_at(keys, order[at + width]) <
                hl_base_keys_at(keys, order[at + width - 1]))
                merge(&self, at, at + width, at + at_most(2 * width, count - at));
    free(self.spare);
    return !self.failed;
}

size_t hl_base_order_find(const uint32_t *order, size_t count, const hl_base_keys *keys,
                          uint64_t key, size_t near)
{
    size_t low = near < count ? near : count, high = low, step = 1;
    /* Steps double from the place of the last answer, so that a question nearby costs a few
     * steps. */
    while (high < count && hl_base_keys_at(keys, order[high]) < key) {
        low = high + 1;
        high = count - high > step ? high + step : count;
        step *= 2;
    }
    for (step = 1; low && hl_base_keys_at(keys, order[low - 1]) >= key; step *= 2) {
        high = low - 1;
        low = low > step ? low - step : 0;
    }
    return low + place_of(order + low, high - low, keys, key, true);
}
