/* What the readers of rocpd's two schemas share. */
#ifndef HAUL_TRACE_ROCPD_H
#define HAUL_TRACE_ROCPD_H

#include "trace/sqlite_source.h"
#include "trace/trace_builder.h"

/* The builder's key of a string, or of a kernel's symbol, of one of a file's sets of tables. */
static inline uint64_t haul_rocpd_name_key(uint64_t space, int64_t id)
{
    return space << 40 | ((uint64_t)id & ((UINT64_C(1) << 40) - 1));
}

/* A number from 0 to 2^32-1, or 0. */
static inline uint32_t haul_rocpd_count(const haul_rows *rows, int column)
{
    const int64_t value = haul_rows_int(rows, column);
    return value >= 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* Gives the names that were met the texts of a table: its columns are the id and the text. */
haul_status haul_rocpd_read_names(haul_source *source, const char *table,
                                  const char *const *columns, uint64_t space,
                                  haul_trace_builder *builder, haul_error *error);

#endif
