/* Copies and fills as a profile has them: wrappers know a call's bytes and pointers, this file
 * which direction and which kinds of memory they stand for. */
#include "record/cl_copies.h"

void hl_record_cl_copy(hl_record_cl_call *call, uint8_t direction, uint64_t bytes,
                       uint8_t source_kind, uint8_t target_kind)
{
    call->effect = HL_RECORD_CL_RECORD;
    call->record = (hl_record){
        .kind = HL_RECORD_COPY,
        .copy = {.bytes = bytes,
                 .copy_kind = direction,
                 .source_kind = source_kind,
                 .target_kind = target_kind,
                 .source_device = HL_RECORD_PROFILE_NO_ID,
                 .target_device = HL_RECORD_PROFILE_NO_ID},
    };
}

/* A read or write that blocks bounds its device's clock from both sides. */
void hl_record_cl_copy_in(hl_record_cl_call *call, uint64_t bytes, const void *host,
                          cl_bool blocking)
{
    call->blocks = blocking;
    if (call->active)
        hl_record_cl_copy(call, HL_RECORD_HTOD, bytes,
                          hl_record_host_ranges_kind(&hl_record_cl_ranges, host), HL_RECORD_DEVICE);
}

void hl_record_cl_copy_out(hl_record_cl_call *call, uint64_t bytes, const void *host,
                           cl_bool blocking)
{
    call->blocks = blocking;
    if (call->active)
        hl_record_cl_copy(call, HL_RECORD_DTOH, bytes, HL_RECORD_DEVICE,
                          hl_record_host_ranges_kind(&hl_record_cl_ranges, host));
}

void hl_record_cl_fill(hl_record_cl_call *call, uint64_t bytes, uint8_t kind)
{
    call->effect = HL_RECORD_CL_RECORD;
    call->record = (hl_record){
        .kind = HL_RECORD_SET,
        .set = {.bytes = bytes, .memory_kind = kind},
    };
}

/* --- memory that the host sees in place: mapped, or moved there by the runtime */

uint8_t hl_record_cl_map_kind(cl_mem memory)
{
    cl_mem_flags flags = 0;
    if (hl_record_cl_runtime.clGetMemObjectInfo(memory, CL_MEM_FLAGS, sizeof flags, &flags, NULL) !=
        CL_SUCCESS)
        return HL_RECORD_UNKNOWN;
    return flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_USE_HOST_PTR) ? HL_RECORD_PINNED
                                                                 : HL_RECORD_PAGEABLE;
}

/* Shared virtual memory moves as CUDA's managed memory does. On PoCL and integrated GPUs the host
 * maps the very memory that the device uses: a copy of that would run at thousands of TB/s. */
static void move(hl_record_cl_call *call, bool to_device, uint64_t bytes, uint8_t kind)
{
    const bool shared = kind == HL_RECORD_MANAGED;
    const uint8_t device = shared ? kind : HL_RECORD_DEVICE;
    if (to_device)
        hl_record_cl_copy(call, shared ? HL_RECORD_UNIFIED_HTOD : HL_RECORD_HTOD, bytes, kind,
                          device);
    else
        hl_record_cl_copy(call, shared ? HL_RECORD_UNIFIED_DTOH : HL_RECORD_DTOH, bytes, device,
                          kind);
    call->effect = HL_RECORD_CL_MOVE;
}

void hl_record_cl_mapped(hl_record_cl_call *call, cl_mem memory, cl_map_flags flags,
                         const void *pointer, uint64_t bytes)
{
    if (!call->active || !pointer)
        return;
    const hl_record_host_range range = {
        .begin = (uintptr_t)pointer,
        .end = (uintptr_t)pointer + bytes,
        .owner = memory ? (const void *)memory : pointer,
        .kind = memory ? hl_record_cl_map_kind(memory) : HL_RECORD_MANAGED,
        .mapped = true,
        .written = flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION),
    };
    /* kept even where nothing is copied: reads into it are reads into pinned memory */
    hl_record_host_ranges_add(&hl_record_cl_ranges, &range);
    if (!(flags & CL_MAP_WRITE_INVALIDATE_REGION))
        move(call, false, bytes, range.kind);
}

void hl_record_cl_unmapped(hl_record_cl_call *call, cl_mem memory, const void *pointer)
{
    hl_record_host_range range;
    const void *owner = memory ? (const void *)memory : pointer;
    if (call->active && hl_record_host_ranges_unmap(&hl_record_cl_ranges, owner, pointer, &range) &&
        range.written)
        move(call, true, range.end - range.begin, range.kind);
}

void hl_record_cl_migrated(hl_record_cl_call *call, cl_mem_migration_flags flags, uint64_t bytes,
                           uint8_t kind)
{
    enum { USER_PREFETCH = 1 }; /* ENUM_CUDA_UNIF_MEM_MIGRATION */
    if (flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED)
        return;
    move(call, !(flags & CL_MIGRATE_MEM_OBJECT_HOST), bytes, kind);
    if (kind == HL_RECORD_MANAGED)
        call->record.copy.migration_cause = USER_PREFETCH;
}

/* A region that the program left out is the runtime's to refuse. */
uint64_t hl_record_cl_volume(const size_t *region)
{
    return region ? (uint64_t)region[0] * region[1] * region[2] : 0;
}
