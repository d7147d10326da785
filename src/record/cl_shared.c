/* Wrappers of the calls of shared virtual memory. Its copies are those of CUDA's managed memory: a
 * map of what is not fine-grained is a migration to the host, an unmap one back. */
#include "record/cl_copies.h"
#include "record/cl_layer.h"

// NOLINTBEGIN(readability-function-size): the parameters are OpenCL's

/* Before the first queue too, when nothing is recorded yet: programs allocate first. */
static void *svm_alloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment)
{
    void *pointer = hl_record_cl_runtime.clSVMAlloc(context, flags, size, alignment);
    if (pointer)
        hl_record_host_ranges_add(&hl_record_cl_ranges, &(hl_record_host_range){
                                                            .begin = (uintptr_t)pointer,
                                                            .end = (uintptr_t)pointer + size,
                                                            .owner = pointer,
                                                            .kind = HL_RECORD_MANAGED,
                                                        });
    return pointer;
}

static void svm_free(cl_context context, void *pointer)
{
    hl_record_cl_runtime.clSVMFree(context, pointer);
    hl_record_host_ranges_drop(&hl_record_cl_ranges, pointer);
}

/* The ranges go before the memory does: an address that the allocator gives again must not be taken
 * for the old one. */
static cl_int svm_free_queued(cl_command_queue queue, cl_uint count, void *pointers[],
                              void (*free_them)(cl_command_queue, cl_uint, void **, void *),
                              void *context, cl_uint wait_count, const cl_event *waits,
                              cl_event *event)
{
    for (cl_uint i = 0; pointers && i < count; i++)
        hl_record_host_ranges_drop(&hl_record_cl_ranges, pointers[i]);
    return hl_record_cl_runtime.clEnqueueSVMFree(queue, count, pointers, free_them, context,
                                                 wait_count, waits, event);
}

/* Shared memory counts as the device's: between two pageable pointers nothing crosses the link. */
static void record_memcpy(hl_record_cl_call *call, void *target, const void *source, size_t size,
                          cl_bool blocking)
{
    call->blocks = blocking;
    const uint8_t from = hl_record_host_ranges_kind(&hl_record_cl_ranges, source);
    const uint8_t to = hl_record_host_ranges_kind(&hl_record_cl_ranges, target);
    const bool from_shared = from == HL_RECORD_MANAGED, to_shared = to == HL_RECORD_MANAGED;
    uint8_t direction = HL_RECORD_HTOH;
    if (from_shared)
        direction = to_shared ? HL_RECORD_DTOD : HL_RECORD_DTOH;
    else if (to_shared)
        direction = HL_RECORD_HTOD;
    hl_record_cl_copy(call, direction, size, from, to);
}

static cl_int svm_memcpy(cl_command_queue queue, cl_bool blocking, void *target, const void *source,
                         size_t size, cl_uint wait_count, const cl_event *waits, cl_event *event)
{
    HL_RECORD_CL_COMMAND(clEnqueueSVMMemcpy, record_memcpy(&call, target, source, size, blocking),
                         blocking, target, source, size);
}

static cl_int svm_fill(cl_command_queue queue, void *pointer, const void *pattern,
                       size_t pattern_size, size_t size, cl_uint wait_count, const cl_event *waits,
                       cl_event *event)
{
    HL_RECORD_CL_COMMAND(clEnqueueSVMMemFill, hl_record_cl_fill(&call, size, HL_RECORD_MANAGED),
                         pointer, pattern, pattern_size, size);
}

static void svm_mapped(hl_record_cl_call *call, cl_map_flags flags, const void *pointer,
                       size_t size, cl_bool blocking)
{
    call->blocks = blocking;
    hl_record_cl_mapped(call, NULL, flags, pointer, size);
}

/* Fine-grained memory need not be mapped, and what is not mapped is not seen to move. */
static cl_int svm_map(cl_command_queue queue, cl_bool blocking, cl_map_flags flags, void *pointer,
                      size_t size, cl_uint wait_count, const cl_event *waits, cl_event *event)
{
    HL_RECORD_CL_COMMAND_MADE(clEnqueueSVMMap, svm_mapped(&call, flags, pointer, size, blocking),
                              blocking, flags, pointer, size);
}

static cl_int svm_unmap(cl_command_queue queue, void *pointer, cl_uint wait_count,
                        const cl_event *waits, cl_event *event)
{
    HL_RECORD_CL_COMMAND_MADE(clEnqueueSVMUnmap, hl_record_cl_unmapped(&call, NULL, pointer),
                              pointer);
}

static cl_int svm_migrate(cl_command_queue queue, cl_uint count, const void **pointers,
                          const size_t *sizes, cl_mem_migration_flags flags, cl_uint wait_count,
                          const cl_event *waits, cl_event *event)
{
    /* A size of 0, or no sizes, is the whole allocation. */
    uint64_t bytes = 0;
    for (cl_uint i = 0; i < count; i++) {
        hl_record_host_range range;
        if (sizes && sizes[i])
            bytes += sizes[i];
        else if (hl_record_host_ranges_find(&hl_record_cl_ranges, pointers[i], &range))
            bytes += range.end - range.begin;
    }
    HL_RECORD_CL_COMMAND_MADE(clEnqueueSVMMigrateMem,
                              hl_record_cl_migrated(&call, flags, bytes, HL_RECORD_MANAGED), count,
                              pointers, sizes, flags);
}

void hl_record_cl_shared_install(cl_icd_dispatch *layer)
{
    layer->clSVMAlloc = svm_alloc;
    layer->clSVMFree = svm_free;
    layer->clEnqueueSVMFree = svm_free_queued;
    layer->clEnqueueSVMMemcpy = svm_memcpy;
    layer->clEnqueueSVMMemFill = svm_fill;
    layer->clEnqueueSVMMap = svm_map;
    layer->clEnqueueSVMUnmap = svm_unmap;
    layer->clEnqueueSVMMigrateMem = svm_migrate;
}

// NOLINTEND(readability-function-size)
