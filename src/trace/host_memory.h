/* Memory of the host that was allocated to be read and written by GPUs, over time. */
#ifndef HAUL_TRACE_HOST_MEMORY_H
#define HAUL_TRACE_HOST_MEMORY_H

#include "workload/builder.h"

typedef struct haul_allocation {
    uint64_t address;
    uint64_t bytes; /* 0: what began there is freed */
    int64_t time_ns;
} haul_allocation;

/* Zero is empty. */
typedef struct haul_host_memory {
    haul_allocation *items;
    size_t count;
    size_t capacity;
    bool sorted;
} haul_host_memory;

/* A lack of memory is kept in `built`. */
void haul_host_memory_add(haul_host_memory *self, haul_builder *built,
                          const haul_allocation *allocation);

/* Whether an allocation holds the address at that time. */
bool haul_host_memory_has(haul_host_memory *self, uint64_t address, int64_t time_ns);

void haul_host_memory_release(haul_host_memory *self);

#endif
