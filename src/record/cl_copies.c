#include "record/cl_copies.h"

void haul_cl_copy(haul_cl_call *call, uint8_t direction, uint64_t bytes, uint8_t source_kind,
                  uint8_t target_kind)
{
    call->effect = HAUL_CL_RECORD;
    call->record.kind = HAUL_RECORD_COPY;
    call->record.copy.bytes = bytes;
    call->record.copy.copy_kind = direction;
    call->record.copy.source_kind = source_kind;
    call->record.copy.target_kind = target_kind;
    call->record.copy.source_device = HAUL_PROFILE_NO_ID;
    call->record.copy.target_device = HAUL_PROFILE_NO_ID;
}

void haul_cl_copy_in(haul_cl_call *call, uint64_t bytes, const void *host)
{
    if (call->active)
        haul_cl_copy(call, HAUL_RECORD_HTOD, bytes, haul_host_ranges_kind(&haul_cl_ranges, host),
                     HAUL_RECORD_DEVICE);
}

void haul_cl_copy_out(haul_cl_call *call, uint64_t bytes, const void *host)
{
    if (call->active)
        haul_cl_copy(call, HAUL_RECORD_DTOH, bytes, HAUL_RECORD_DEVICE,
                     haul_host_ranges_kind(&haul_cl_ranges, host));
}

void haul_cl_copy_within(haul_cl_call *call, uint64_t bytes, uint8_t source_kind,
                         uint8_t target_kind)
{
    if (call->active)
        haul_cl_copy(call, HAUL_RECORD_DTOD, bytes, source_kind, target_kind);
}

void haul_cl_fill(haul_cl_call *call, uint64_t bytes, uint8_t kind)
{
    if (!call->active)
        return;
    call->effect = HAUL_CL_RECORD;
    call->record.kind = HAUL_RECORD_SET;
    call->record.set.bytes = bytes;
    call->record.set.memory_kind = kind;
}

uint8_t haul_cl_map_kind(cl_mem memory)
{
    cl_mem_flags flags = 0;
    if (haul_cl_runtime.clGetMemObjectInfo(memory, CL_MEM_FLAGS, sizeof flags, &flags, NULL) !=
        CL_SUCCESS)
        return HAUL_RECORD_UNKNOWN;
    return flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_USE_HOST_PTR) ? HAUL_RECORD_PINNED
                                                                 : HAUL_RECORD_PAGEABLE;
}

void haul_cl_mapped(haul_cl_call *call, cl_mem memory, cl_map_flags flags, const void *pointer,
                    uint64_t bytes)
{
    if (!call->active || !pointer)
        return;
    const haul_host_range range = {
        .begin = (uintptr_t)pointer,
        .end = (uintptr_t)pointer + bytes,
        .owner = memory,
        .kind = haul_cl_map_kind(memory),
        .mapped = true,
        .written = flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION),
    };
    haul_host_ranges_add(&haul_cl_ranges, &range);
    if (!(flags & CL_MAP_WRITE_INVALIDATE_REGION))
        haul_cl_copy(call, HAUL_RECORD_DTOH, bytes, HAUL_RECORD_DEVICE, range.kind);
}

uint64_t haul_cl_volume(const size_t *region)
{
    return region ? (uint64_t)region[0] * region[1] * region[2] : 0;
}
