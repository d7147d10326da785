/* Most programs have a few ranges or none, and every copy asks: so the list is plain, and a program
 * that has none pays one relaxed load. */
#include "record/host_ranges.h"

#include <string.h>

#include "base/grow.h"
#include "record/profile_writer.h"

/* Programs keep few ranges, so they are looked through; more than this are not kept. */
enum { MOST_RANGES = 4096 };

/* Without memory, or beyond the limit, a pointer counts as pageable. */
void hl_record_host_ranges_add(hl_record_host_ranges *self, const hl_record_host_range *range)
{
    pthread_mutex_lock(&self->lock);
    const size_t count = self->count;
    if (count < MOST_RANGES &&
        hl_base_grow(&self->items, &self->capacity, count + 1, sizeof *self->items)) {
        self->items[count] = *range;
        self->count = count + 1;
    }
    pthread_mutex_unlock(&self->lock);
}

/* From the newest on: a map of a buffer lies in the buffer's own range. */
uint8_t hl_record_host_ranges_kind(hl_record_host_ranges *self, const void *pointer)
{
    const uintptr_t at = (uintptr_t)pointer;
    uint8_t kind = HL_RECORD_PAGEABLE;
    if (!atomic_load_explicit(&self->count, memory_order_relaxed))
        return kind;
    pthread_mutex_lock(&self->lock);
    for (size_t i = self->count; i-- > 0;)
        if (at >= self->items[i].begin && at < self->items[i].end) {
            kind = self->items[i].kind;
            break;
        }
    pthread_mutex_unlock(&self->lock);
    return kind;
}

/* With the lock held. */
static void take_out(hl_record_host_ranges *self, size_t at)
{
    const size_t count = self->count;
    memmove(self->items + at, self->items + at + 1, (count - at - 1) * sizeof *self->items);
    self->count = count - 1;
}

/* The newest range of `owner` that is mapped at `pointer`, or, for NULL, that is not mapped. */
static bool find_range(hl_record_host_ranges *self, const void *owner, const void *pointer,
                       hl_record_host_range *range)
{
    bool found = false;
    if (!atomic_load_explicit(&self->count, memory_order_relaxed))
        return false;
    pthread_mutex_lock(&self->lock);
    for (size_t i = self->count; !found && i-- > 0;) {
        *range = self->items[i];
        found = range->owner == owner &&
                (pointer ? range->mapped && range->begin == (uintptr_t)pointer : !range->mapped);
        if (found && pointer)
            take_out(self, i);
    }
    pthread_mutex_unlock(&self->lock);
    return found;
}

bool hl_record_host_ranges_unmap(hl_record_host_ranges *self, const void *owner,
                                 const void *pointer, hl_record_host_range *range)
{
    return pointer && find_range(self, owner, pointer, range);
}

bool hl_record_host_ranges_find(hl_record_host_ranges *self, const void *owner,
                                hl_record_host_range *range)
{
    return find_range(self, owner, NULL, range);
}

void hl_record_host_ranges_drop(hl_record_host_ranges *self, const void *owner)
{
    if (!atomic_load_explicit(&self->count, memory_order_relaxed))
        return;
    pthread_mutex_lock(&self->lock);
    for (size_t i = self->count; i-- > 0;)
        if (self->items[i].owner == owner)
            take_out(self, i);
    pthread_mutex_unlock(&self->lock);
}
