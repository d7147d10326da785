/* Records of copies, for the wrappers. Where the call is not recorded, or fails, haul_cl_end leaves
 * them out: most may be called before the runtime is. */
#ifndef HAUL_RECORD_CL_COPIES_H
#define HAUL_RECORD_CL_COPIES_H

#include "record/cl_recorder.h"

/* Makes the call's command a copy, or a fill. */
void haul_cl_copy(haul_cl_call *call, uint8_t direction, uint64_t bytes, uint8_t source_kind,
                  uint8_t target_kind);
void haul_cl_fill(haul_cl_call *call, uint64_t bytes, uint8_t kind);

/* A copy between the program's memory at `host` and the device. */
void haul_cl_copy_in(haul_cl_call *call, uint64_t bytes, const void *host, cl_bool blocking);
void haul_cl_copy_out(haul_cl_call *call, uint64_t bytes, const void *host, cl_bool blocking);

/* The kind of host memory that a mapped object has, by the flags it was made with: pinned where the
 * runtime allocates it for the host, or uses the program's own; else pageable. */
uint8_t haul_cl_map_kind(cl_mem memory);

/* After a map of `bytes` at `pointer`, of shared virtual memory where `memory` is NULL: a copy out,
 * unless the program says that it will overwrite all; kept so that its unmap is a copy in where the
 * program may have written. On a device that shares the host's memory neither is a copy. */
void haul_cl_mapped(haul_cl_call *call, cl_mem memory, cl_map_flags flags, const void *pointer,
                    uint64_t bytes);
void haul_cl_unmapped(haul_cl_call *call, cl_mem memory, const void *pointer);

/* After a migration of `bytes` of a kind of host memory, HAUL_RECORD_MANAGED for shared virtual
 * memory. */
void haul_cl_migrated(haul_cl_call *call, cl_mem_migration_flags flags, uint64_t bytes,
                      uint8_t kind);

uint64_t haul_cl_volume(const size_t *region);

#endif
