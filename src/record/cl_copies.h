/* Records of copies, for the wrappers. Where the call is not recorded, or fails, hl_record_cl_end
 * leaves them out: most may be called before the runtime is. */
#ifndef HAUL_RECORD_CL_COPIES_H
#define HAUL_RECORD_CL_COPIES_H

#include "record/cl_recorder.h"

/* Makes the call's command a copy, or a fill. */
void hl_record_cl_copy(hl_record_cl_call *call, uint8_t direction, uint64_t bytes,
                       uint8_t source_kind, uint8_t target_kind);
void hl_record_cl_fill(hl_record_cl_call *call, uint64_t bytes, uint8_t kind);

/* A copy between the program's memory at `host` and the device. */
void hl_record_cl_copy_in(hl_record_cl_call *call, uint64_t bytes, const void *host,
                          cl_bool blocking);
void hl_record_cl_copy_out(hl_record_cl_call *call, uint64_t bytes, const void *host,
                           cl_bool blocking);

/* The kind of host memory that a mapped object has, by the flags it was made with: pinned where the
 * runtime allocates it for the host, or uses the program's own; else pageable. */
uint8_t hl_record_cl_map_kind(cl_mem memory);

/* After a map of `bytes` at `pointer`, of shared virtual memory where `memory` is NULL: a copy out,
 * unless the program says that it will overwrite all; kept so that its unmap is a copy in where the
 * program may have written. On a device that shares the host's memory neither is a copy. */
void hl_record_cl_mapped(hl_record_cl_call *call, cl_mem memory, cl_map_flags flags,
                         const void *pointer, uint64_t bytes);
void hl_record_cl_unmapped(hl_record_cl_call *call, cl_mem memory, const void *pointer);

/* After a migration of `bytes` of a kind of host memory, HL_RECORD_MANAGED for shared virtual
 * memory. */
void hl_record_cl_migrated(hl_record_cl_call *call, cl_mem_migration_flags flags, uint64_t bytes,
                           uint8_t kind);

uint64_t hl_record_cl_volume(const size_t *region);

#endif
