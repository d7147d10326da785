/* Shared by the readers of AMD's formats. */
#ifndef HAUL_TRACE_ROCPD_H
#define HAUL_TRACE_ROCPD_H

#include "trace/sqlite_rows.h"
#include "trace/trace_builder.h"

/* The builder's key of a string, or of a kernel's symbol, of one of a file's sets of tables. */
static inline uint64_t hl_trace_rocpd_name_key(uint64_t space, int64_t id)
{
    return space << 40 | ((uint64_t)id & ((UINT64_C(1) << 40) - 1));
}

/* A number from 0 to 2^32-1, or 0. */
static inline uint32_t hl_trace_rocpd_count(int64_t value)
{
    return value >= 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* The shape of a kernel that starts grid[i] work items in blocks of block[i]: rocprofiler counts a
 * grid in items where CUDA counts blocks. */
uint32_t hl_trace_rocpd_shape(hl_workload_builder *built, const int64_t *block, const int64_t *grid,
                              int64_t shared_bytes);

/* A row of an id and a text, with what the text tells of a copy. */
typedef struct hl_trace_rocpd_word {
    int64_t id;
    const char *text; /* NULL where the row has none */
    size_t length;
    haul_direction direction;
    haul_memory memory;
} hl_trace_rocpd_word;

hl_trace_rocpd_word hl_trace_rocpd_word_read(const hl_trace_rows *rows);

#endif
