/* Ranges of host memory that are not pageable, or that are mapped: what a pointer lies in. */
#ifndef HAUL_RECORD_HOST_RANGES_H
#define HAUL_RECORD_HOST_RANGES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct haul_host_range {
    uintptr_t begin, end;
    const void *owner; /* the memory object, or the pointer of shared virtual memory */
    uint8_t kind;      /* HAUL_RECORD_PINNED, ... */
    bool mapped;       /* goes when it is unmapped, else when its owner is released */
    bool written;      /* mapped so that the host may write it */
} haul_host_range;

typedef struct haul_host_ranges {
    pthread_mutex_t lock;
    atomic_size_t count;
    haul_host_range *items;
    size_t capacity;
} haul_host_ranges;

void haul_host_ranges_add(haul_host_ranges *self, const haul_host_range *range);

/* The kind of memory at `pointer`: that of the newest range around it, HAUL_RECORD_PAGEABLE where
 * there is none. */
uint8_t haul_host_ranges_kind(haul_host_ranges *self, const void *pointer);

/* Takes out the newest mapped range of `owner` that begins at `pointer`. */
bool haul_host_ranges_unmap(haul_host_ranges *self, const void *owner, const void *pointer,
                            haul_host_range *range);

/* Finds the range, not a mapped one, of `owner`; drops all of it. */
bool haul_host_ranges_find(haul_host_ranges *self, const void *owner, haul_host_range *range);
void haul_host_ranges_drop(haul_host_ranges *self, const void *owner);

#endif
