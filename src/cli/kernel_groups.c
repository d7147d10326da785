#include "cli/kernel_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- by kernel and machine */

static uint64_t hash_of(const char *kernel, size_t machine)
{
    uint64_t hash = UINT64_C(14695981039346656037) ^ machine; /* FNV-1a */
    for (; *kernel; kernel++)
        hash = (hash ^ (unsigned char)*kernel) * UINT64_C(1099511628211);
    return hash ^ hash >> 32;
}

/* The slot of a kernel on a machine, or the free one where it would stand. */
static size_t slot_of(const kernel_groups *self, const char *kernel, size_t machine)
{
    const size_t mask = self->slot_count - 1;
    size_t at = (size_t)hash_of(kernel, machine) & mask;
    for (; self->slots[at]; at = (at + 1) & mask) {
        const kernel_group *known = &self->items[self->slots[at] - 1];
        if (known->machine == machine && !strcmp(known->kernel, kernel))
            break;
    }
    return at;
}

/* Room for one more; slots at most half full. */
static bool grow(kernel_groups *self)
{
    if (self->count < self->capacity)
        return true;
    const size_t capacity = self->capacity ? 2 * self->capacity : 16;
    kernel_group *items = realloc(self->items, capacity * sizeof *items);
    if (!items)
        return false;
    self->items = items;
    self->capacity = capacity;
    size_t *slots = calloc(2 * capacity, sizeof *slots);
    if (!slots)
        return false;
    free(self->slots);
    self->slots = slots;
    self->slot_count = 2 * capacity;
    for (size_t i = 0; i < self->count; i++)
        slots[slot_of(self, items[i].kernel, items[i].machine)] = i + 1;
    return true;
}

kernel_group *kernel_groups_at(kernel_groups *self, const char *kernel, size_t machine)
{
    size_t at = self->slot_count ? slot_of(self, kernel, machine) : 0;
    if (self->slot_count && self->slots[at])
        return &self->items[self->slots[at] - 1];
    if (!grow(self))
        return NULL;
    at = slot_of(self, kernel, machine);
    kernel_group *made = &self->items[self->count++];
    self->slots[at] = self->count;
    *made = (kernel_group){.kernel = kernel, .machine = machine};
    return made;
}

bool kernel_group_add(kernel_group *self, const kernel_launch *launch)
{
    if (self->count == self->capacity) {
        const size_t capacity = self->capacity ? 2 * self->capacity : 8;
        kernel_launch *grown = realloc(self->launches, capacity * sizeof *grown);
        if (!grown)
            return false;
        self->launches = grown;
        self->capacity = capacity;
    }
    self->launches[self->count++] = *launch;
    return true;
}

/* --- by the block's shape */

static int compare_blocks(const int *a, const int *b)
{
    for (int i = 0; i < 3; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* Equal ones stay as they were read. */
static int in_file(const haul_kernel_sample *a, const haul_kernel_sample *b)
{
    const int by_file = strcmp(a->file, b->file);
    return by_file ? by_file : (a->line > b->line) - (a->line < b->line);
}

static int by_size(const void *a, const void *b)
{
    const kernel_launch *x = a, *y = b;
    if (x->sample.size != y->sample.size)
        return x->sample.size < y->sample.size ? -1 : 1;
    const int blocks = compare_blocks(x->block, y->block);
    return blocks ? blocks : in_file(&x->sample, &y->sample);
}

static int by_block(const void *a, const void *b)
{
    const kernel_launch *x = a, *y = b;
    const int blocks = compare_blocks(x->block, y->block);
    return blocks ? blocks : by_size(a, b);
}

static bool has_mixed_size(const kernel_group *self)
{
    for (size_t i = 1; i < self->count; i++)
        if (self->launches[i].sample.size == self->launches[i - 1].sample.size &&
            compare_blocks(self->launches[i].block, self->launches[i - 1].block) != 0)
            return true;
    return false;
}

/* "matMul in blocks of 16x16"; NULL without memory. */
static char *title_of(const char *kernel, const int block[3])
{
    enum { SHAPE = 64 };
    const size_t size = strlen(kernel) + SHAPE;
    char *title = malloc(size);
    if (!title)
        return NULL;
    if (!block[0])
        (void)snprintf(title, size, "%s in unknown blocks", kernel);
    else if (block[2] > 1)
        (void)snprintf(title, size, "%s in blocks of %dx%dx%d", kernel, block[0], block[1],
                       block[2]);
    else if (block[1] > 1)
        (void)snprintf(title, size, "%s in blocks of %dx%d", kernel, block[0], block[1]);
    else
        (void)snprintf(title, size, "%s in blocks of %d", kernel, block[0]);
    return title;
}

/* Adds the launches of one shape as a group; false without memory. */
static bool add_part(kernel_groups *to, const kernel_group *of, size_t first, size_t count)
{
    if (!grow(to))
        return false;
    kernel_group *made = &to->items[to->count];
    *made = *of;
    made->count = made->capacity = count;
    made->launches = malloc(count * sizeof *made->launches);
    made->title = title_of(of->kernel, of->launches[first].block);
    to->count++;
    if (!made->launches || !made->title)
        return false;
    memcpy(made->launches, of->launches + first, count * sizeof *made->launches);
    return true;
}

static bool part_group(kernel_groups *to, kernel_group *of)
{
    qsort(of->launches, of->count, sizeof *of->launches, by_block);
    bool done = true;
    for (size_t first = 0, next; done && first < of->count; first = next) {
        for (next = first + 1; next < of->count; next++)
            if (compare_blocks(of->launches[next].block, of->launches[first].block) != 0)
                break;
        done = add_part(to, of, first, next - first);
    }
    free(of->launches);
    of->launches = NULL;
    return done;
}

bool kernel_groups_part(kernel_groups *self)
{
    kernel_groups parted = {0};
    bool done = true;
    for (size_t i = 0; done && i < self->count; i++) {
        kernel_group *of = &self->items[i];
        qsort(of->launches, of->count, sizeof *of->launches, by_size);
        if (has_mixed_size(of)) {
            done = part_group(&parted, of);
        } else if ((done = grow(&parted))) {
            parted.items[parted.count++] = *of;
            of->launches = NULL;
        }
    }
    kernel_groups_release(self);
    *self = parted;
    return done;
}

void kernel_groups_release(kernel_groups *self)
{
    for (size_t i = 0; i < self->count; i++) {
        free(self->items[i].launches);
        free(self->items[i].title);
    }
    free(self->items);
    free(self->slots);
    *self = (kernel_groups){0};
}
