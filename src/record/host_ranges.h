/* Ranges of host memory that are not pageable, or that are mapped: what a pointer lies in. */
#ifndef HAUL_RECORD_HOST_RANGES_H
#define HAUL_RECORD_HOST_RANGES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hl_record_host_range {
    uintptr_t begin, end;
    const void *owner; /* the memory object, or the pointer of shared virtual memory */
    uint8_t kind;      /* HL_RECORD_PINNED, ... */
    bool mapped;       /* goes when it is unmapped, else when its owner is released */
    bool written;      /* mapped so that the host may write it */
} hl_record_host_range;

typedef struct hl_record_host_ranges {
    pthread_mutex_t lock;
    atomic_size_t count;
    hl_record_host_range *items;
    size_t capacity;
} hl_record_host_ranges;

void hl_record_host_ranges_add(hl_record_host_ranges *self, const hl_record_host_range *range);

/* The kind of memory at `pointer`: that of the newest range around it, HL_RECORD_PAGEABLE where
 * there is none. */
uint8_t hl_record_host_ranges_kind(hl_record_host_ranges *self, const void *pointer);

/* Takes out the newest mapped range of `owner` that begins at `pointer`. */
bool hl_record_host_ranges_unmap(hl_record_host_ranges *self, const void *owner,
                                 const void *pointer, hl_record_host_range *range);

/* Finds the range, not a mapped one, of `owner`; drops all of it. */
bool hl_record_host_ranges_find(hl_record_host_ranges *self, const void *owner,
                                hl_record_host_range *range);
void hl_record_host_ranges_drop(hl_record_host_ranges *self, const void *owner);

#endif
