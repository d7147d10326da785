/* Records of copies, for the wrappers. */
#ifndef HAUL_RECORD_CL_COPIES_H
#define HAUL_RECORD_CL_COPIES_H

#include "record/cl_recorder.h"

/* Each makes the call's command a copy, or a fill. `host` is the program's memory. */
void haul_cl_copy_in(haul_cl_call *call, uint64_t bytes, const void *host);
void haul_cl_copy_out(haul_cl_call *call, uint64_t bytes, const void *host);
void haul_cl_copy_within(haul_cl_call *call, uint64_t bytes, uint8_t source_kind,
                         uint8_t target_kind);
void haul_cl_fill(haul_cl_call *call, uint64_t bytes, uint8_t kind);

/* A copy between host memory of a kind and the device. */
void haul_cl_copy(haul_cl_call *call, uint8_t direction, uint64_t bytes, uint8_t source_kind,
                  uint8_t target_kind);

/* The kind of host memory that a mapped object has, by the flags it was made with: pinned where the
 * runtime allocates it for the host, or uses the program's own; else pageable. */
uint8_t haul_cl_map_kind(cl_mem memory);

/* After a map of `bytes` at `pointer`: a copy out, unless the program says that it will overwrite
 * all; kept so that its unmap is a copy in where the program may have written. Zero-copy devices
 * take no time for either, and the profile says so. */
void haul_cl_mapped(haul_cl_call *call, cl_mem memory, cl_map_flags flags, const void *pointer,
                    uint64_t bytes);

uint64_t haul_cl_volume(const size_t *region);

#endif
