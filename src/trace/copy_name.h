/* Copies by their names, as profilers without a column for it write them. */
#ifndef HAUL_TRACE_COPY_NAME_H
#define HAUL_TRACE_COPY_NAME_H

#include "haul/workload.h"

/* The direction and the memory that decides the cost, of "Memcpy HtoD (Pinned -> Device)",
 * "CopyHostToDevice", "MEMORY_COPY_HOST_TO_DEVICE" and their like; UNKNOWN where the name does not
 * tell, HAUL_MEMORY_HOST for a host's memory of unknown kind. */
void hl_trace_copy_name_read(const char *name, size_t length, haul_direction *direction,
                             haul_memory *memory);

#endif
