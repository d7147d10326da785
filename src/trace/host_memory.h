/* Memory of the host that was allocated to be read and written by GPUs, over time. */
#ifndef HAUL_TRACE_HOST_MEMORY_H
#define HAUL_TRACE_HOST_MEMORY_H

#include "workload/builder.h"

typedef struct hl_trace_allocation {
    uint64_t address;
    uint64_t bytes; /* 0: what began there is freed */
    int64_t time_ns;
} hl_trace_allocation;

/* Zero is empty. */
typedef struct hl_trace_host_memory {
    hl_trace_allocation *items;
    size_t count;
    size_t capacity;
    bool sorted;
} hl_trace_host_memory;

/* A lack of memory is kept in `built`. */
void hl_trace_host_memory_add(hl_trace_host_memory *self, hl_workload_builder *built,
                              const hl_trace_allocation *allocation);

/* Whether an allocation holds the address at that time. */
bool hl_trace_host_memory_has(hl_trace_host_memory *self, uint64_t address, int64_t time_ns);

void hl_trace_host_memory_release(hl_trace_host_memory *self);

#endif
