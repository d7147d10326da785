/* Memory of the host that was allocated to be read and written by GPUs, over time. */
#ifndef HAUL_TRACE_HOST_MEMORY_H
#define HAUL_TRACE_HOST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct haul_allocation {
    uint64_t address;
    uint64_t bytes; /* 0: what began there is freed */
    int64_t time_ns;
} haul_allocation;

/* Zero is empty; a lack of memory is kept in `failed`. */
typedef struct haul_host_memory {
    haul_allocation *items;
    size_t count;
    size_t capacity;
    bool sorted;
    bool failed;
} haul_host_memory;

void haul_host_memory_add(haul_host_memory *self, uint64_t address, uint64_t bytes,
                          int64_t time_ns);

/* Whether an allocation holds the address at that time. */
bool haul_host_memory_has(haul_host_memory *self, uint64_t address, int64_t time_ns);

void haul_host_memory_release(haul_host_memory *self);

#endif
