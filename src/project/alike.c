#include "project/alike.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/stats.h"

/* Classes found by hash; `slots` holds class + 1, or 0, and is a power of two long. */
typedef struct finder {
    haul_alike_class *classes;
    size_t count;
    size_t capacity;
    uint32_t *slots;
    size_t slot_count;
} finder;

static size_t hash(uint64_t bytes, unsigned direction, unsigned memory)
{
    uint64_t x = bytes ^ ((uint64_t)direction << 60) ^ ((uint64_t)memory << 56);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9); /* splitmix64 */
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (size_t)(x ^ (x >> 31));
}

static uint32_t *slot_of(const finder *self, const haul_alike_class *key)
{
    size_t at = hash(key->bytes, key->direction, key->memory);
    for (;; at++) {
        uint32_t *slot = &self->slots[at & (self->slot_count - 1)];
        if (!*slot)
            return slot;
        const haul_alike_class *found = &self->classes[*slot - 1];
        if (found->bytes == key->bytes && found->direction == key->direction &&
            found->memory == key->memory)
            return slot;
    }
}

static bool widen(finder *self)
{
    const size_t slot_count = self->slot_count ? 2 * self->slot_count : 256;
    uint32_t *slots = calloc(slot_count, sizeof *slots);
    if (!slots)
        return false;
    free(self->slots);
    self->slots = slots;
    self->slot_count = slot_count;
    for (size_t i = 0; i < self->count; i++)
        *slot_of(self, &self->classes[i]) = (uint32_t)i + 1;
    return true;
}

/* The class of `key`, or NULL without memory. */
static haul_alike_class *find_or_add(finder *self, const haul_alike_class *key)
{
    if (self->slot_count < 2 * (self->count + 1) && !widen(self))
        return NULL;
    uint32_t *slot = slot_of(self, key);
    if (!*slot) {
        if (!haul_grow(&self->classes, &self->capacity, self->count + 1, sizeof *self->classes))
            return NULL;
        self->classes[self->count++] = *key;
        *slot = (uint32_t)self->count;
    }
    return &self->classes[*slot - 1];
}

static haul_alike_class key_of(const haul_op *op, const bool *any_memory)
{
    return (haul_alike_class){.bytes = op->bytes,
                              .direction = op->direction,
                              .memory = any_memory && any_memory[op->direction] ? HAUL_MEMORIES
                                                                                : op->detail};
}

/* Counts each class; class_of[k] becomes the class of the k-th copy. */
static bool count_classes(const haul_workload *workload, const bool *any_memory, finder *found,
                          uint32_t *class_of)
{
    size_t copies = 0;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (op->kind != HAUL_OP_COPY)
            continue;
        const haul_alike_class key = key_of(op, any_memory);
        haul_alike_class *alike_class = find_or_add(found, &key);
        if (!alike_class)
            return false;
        alike_class->count++;
        alike_class->time_ns += (double)op->dur_ns;
        class_of[copies++] = (uint32_t)(alike_class - found->classes);
    }
    return true;
}

static int compare_classes(const void *a, const void *b)
{
    const haul_alike_class *x = a, *y = b;
    if (x->direction != y->direction)
        return x->direction < y->direction ? -1 : 1;
    if (x->memory != y->memory)
        return x->memory < y->memory ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Orders the classes and says where each begins: rank[id] becomes its next free place. */
static void place_classes(finder *found, uint32_t *rank)
{
    for (size_t i = 0; i < found->count; i++)
        found->classes[i].first = (uint32_t)i; /* its old number, while sorting */
    if (found->count)
        qsort(found->classes, found->count, sizeof *found->classes, compare_classes);
    uint32_t first = 0;
    for (size_t i = 0; i < found->count; i++) {
        const uint32_t id = found->classes[i].first;
        found->classes[i].first = first;
        rank[id] = first;
        first += found->classes[i].count;
    }
}

static void place_copies(const haul_workload *workload, const uint32_t *class_of, uint32_t *rank,
                         uint32_t *ops)
{
    size_t copies = 0;
    for (size_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].kind == HAUL_OP_COPY)
            ops[rank[class_of[copies++]]++] = (uint32_t)i;
}

static size_t count_copies(const haul_workload *workload)
{
    size_t count = 0;
    for (size_t i = 0; i < workload->op_count; i++)
        count += workload->ops[i].kind == HAUL_OP_COPY;
    return count;
}

haul_status haul_alike_make(const haul_workload *workload, const bool *any_memory,
                            haul_alike *alike, haul_error *error)
{
    const size_t count = count_copies(workload);
    finder found = {0};
    uint32_t *class_of = calloc(count + 1, sizeof *class_of);
    uint32_t *ops = malloc((count + 1) * sizeof *ops);
    bool made = class_of && ops && count_classes(workload, any_memory, &found, class_of);
    uint32_t *rank = made ? malloc((found.count + 1) * sizeof *rank) : NULL;
    made = rank != NULL;
    if (made) {
        place_classes(&found, rank);
        place_copies(workload, class_of, rank, ops);
        *alike = (haul_alike){found.classes, found.count, ops, count};
    }
    free(rank);
    free(class_of);
    free(found.slots);
    if (made)
        return HAUL_OK;
    free(ops);
    free(found.classes);
    return haul_fail_no_memory(error);
}

void haul_alike_release(haul_alike *alike)
{
    free(alike->classes);
    free(alike->ops);
    *alike = (haul_alike){0};
}

haul_class_range haul_alike_group(const haul_alike *alike, size_t begin)
{
    size_t end = begin;
    while (end < alike->class_count &&
           alike->classes[end].direction == alike->classes[begin].direction &&
           alike->classes[end].memory == alike->classes[begin].memory)
        end++;
    return (haul_class_range){begin, end};
}

double haul_alike_median_ns(const haul_workload *workload, const haul_alike *alike,
                            const haul_alike_class *alike_class, double *scratch)
{
    for (uint32_t i = 0; i < alike_class->count; i++)
        scratch[i] = (double)workload->ops[alike->ops[alike_class->first + i]].dur_ns;
    return haul_median(scratch, alike_class->count);
}

size_t haul_alike_copies(const haul_alike *alike, haul_class_range range)
{
    if (range.begin >= range.end)
        return 0;
    const haul_alike_class *last = &alike->classes[range.end - 1];
    return (size_t)last->first + last->count - alike->classes[range.begin].first;
}

haul_alike_stride haul_alike_thin(const haul_alike *alike, haul_class_range range, size_t limit)
{
    return (haul_alike_stride){.classes = 1 + (range.end - range.begin) / limit,
                               .copies = 1 + haul_alike_copies(alike, range) / limit};
}

size_t haul_alike_largest(const haul_alike *alike)
{
    size_t largest = 0;
    for (size_t i = 0; i < alike->class_count; i++)
        if (alike->classes[i].count > largest)
            largest = alike->classes[i].count;
    return largest;
}
