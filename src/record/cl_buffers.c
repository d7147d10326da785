/* Wrappers of the calls that move buffers. Each describes its command, then lets the runtime make
 * it: hl_record_cl_end drops the description of one that the runtime refused. */
#include "record/cl_copies.h"
#include "record/cl_layer.h"

// NOLINTBEGIN(readability-function-size): the parameters are OpenCL's

static cl_int read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                          size_t size, void *pointer, cl_uint wait_count, const cl_event *waits,
                          cl_event *event)
{
    HL_RECORD_CL_COMMAND(clEnqueueReadBuffer, hl_record_cl_copy_out(&call, size, pointer, blocking),
                         buffer, blocking, offset, size, pointer);
}

static cl_int write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                           size_t size, const void *pointer, cl_uint wait_count,
                           const cl_event *waits, cl_event *event)
{
    HL_RECORD_CL_COMMAND(clEnqueueWriteBuffer, hl_record_cl_copy_in(&call, size, pointer, blocking),
                         buffer, blocking, offset, size, pointer);
}

/* Of rectangles the bytes within: rows that are skipped on either side are not moved. */
static cl_int read_buffer_rect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                               const size_t *buffer_origin, const size_t *host_origin,
                               const size_t *region, size_t buffer_row_pitch,
                               size_t buffer_slice_pitch, size_t host_row_pitch,
                               size_t host_slice_pitch, void *pointer, cl_uint wait_count,
                               const cl_event *waits, cl_event *event)
{
    HL_RECORD_CL_COMMAND(
        clEnqueueReadBufferRect,
        hl_record_cl_copy_out(&call, hl_record_cl_volume(region), pointer, blocking), buffer,
        blocking, buffer_origin, host_origin, region, buffer_row_pitch, buffer_slice_pitch,
        host_row_pitch, host_slice_pitch, pointer);
}

static cl_int write_buffer_rect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                const size_t *buffer_origin, const size_t *host_origin,
                                const size_t *region, size_t buffer_row_pitch,
                                size_t buffer_slice_pitch, size_t host_row_pitch,
                                size_t host_slice_pitch, const void *pointer, cl_uint wait_count,
                                const cl_event *waits, cl_event *event)
{
    HL_RECORD_CL_COMMAND(
        clEnqueueWriteBufferRect,
        hl_record_cl_copy_in(&call, hl_record_cl_volume(region), pointer, blocking), buffer,
        blocking, buffer_origin, host_origin, region, buffer_row_pitch, buffer_slice_pitch,
        host_row_pitch, host_slice_pitch, pointer);
}

static cl_int copy_buffer(cl_command_queue queue, cl_mem source, cl_mem target,
                          size_t source_offset, size_t target_offset, size_t size,
                          cl_uint wait_count, const cl_event *waits, cl_event *event)
{
    HL_RECORD_CL_COMMAND(
        clEnqueueCopyBuffer,
        hl_record_cl_copy(&call, HL_RECORD_DTOD, size, HL_RECORD_DEVICE, HL_RECORD_DEVICE), source,
        target, source_offset, target_offset, size);
}

static cl_int copy_buffer_rect(cl_command_queue queue, cl_mem source, cl_mem target,
                               const size_t *source_origin, const size_t *target_origin,
                               const size_t *region, size_t source_row_pitch,
                               size_t source_slice_pitch, size_t target_row_pitch,
                               size_t target_slice_pitch, cl_uint wait_count, const cl_event *waits,
                               cl_event *event)
{
    HL_RECORD_CL_COMMAND(clEnqueueCopyBufferRect,
                         hl_record_cl_copy(&call, HL_RECORD_DTOD, hl_record_cl_volume(region),
                                           HL_RECORD_DEVICE, HL_RECORD_DEVICE),
                         source, target, source_origin, target_origin, region, source_row_pitch,
                         source_slice_pitch, target_row_pitch, target_slice_pitch);
}

static cl_int fill_buffer(cl_command_queue queue, cl_mem buffer, const void *pattern,
                          size_t pattern_size, size_t offset, size_t size, cl_uint wait_count,
                          const cl_event *waits, cl_event *event)
{
    HL_RECORD_CL_COMMAND(clEnqueueFillBuffer, hl_record_cl_fill(&call, size, HL_RECORD_DEVICE),
                         buffer, pattern, pattern_size, offset, size);
}

/* The pointer is known only after the call, so a map is described after it. It may be given before
 * the copy has ended: its address does not change. */
static void *map_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                        size_t offset, size_t size, cl_uint wait_count, const cl_event *waits,
                        cl_event *event, cl_int *result)
{
    cl_int unasked = CL_SUCCESS;
    result = result ? result : &unasked;
    hl_record_cl_call call;
    hl_record_cl_enqueue(&call, HL_RECORD_CALL_clEnqueueMapBuffer, queue, wait_count, waits, event);
    call.blocks = blocking;
    void *pointer = hl_record_cl_runtime.clEnqueueMapBuffer(
        queue, buffer, blocking, flags, offset, size, wait_count, waits, call.event, result);
    hl_record_cl_mapped(&call, buffer, flags, pointer, size);
    hl_record_cl_end(&call, *result);
    return pointer;
}

/* Images are unmapped by it too. */
static cl_int unmap(cl_command_queue queue, cl_mem memory, void *pointer, cl_uint wait_count,
                    const cl_event *waits, cl_event *event)
{
    HL_RECORD_CL_COMMAND_MADE(clEnqueueUnmapMemObject,
                              hl_record_cl_unmapped(&call, memory, pointer), memory, pointer);
}

/* An object that the runtime does not know has 0 bytes; the call has failed then. */
static uint64_t size_of(cl_uint count, const cl_mem *memory)
{
    uint64_t bytes = 0;
    for (cl_uint i = 0; memory && i < count; i++) {
        size_t size = 0;
        hl_record_cl_runtime.clGetMemObjectInfo(memory[i], CL_MEM_SIZE, sizeof size, &size, NULL);
        bytes += size;
    }
    return bytes;
}

/* The first object stands for the list: programs migrate what they made alike. */
static cl_int migrate(cl_command_queue queue, cl_uint count, const cl_mem *memory,
                      cl_mem_migration_flags flags, cl_uint wait_count, const cl_event *waits,
                      cl_event *event)
{
    HL_RECORD_CL_COMMAND_MADE(clEnqueueMigrateMemObjects,
                              hl_record_cl_migrated(&call, flags, size_of(count, memory),
                                                    hl_record_cl_map_kind(memory[0])),
                              count, memory, flags);
}

void hl_record_cl_buffers_install(cl_icd_dispatch *layer)
{
    layer->clEnqueueReadBuffer = read_buffer;
    layer->clEnqueueWriteBuffer = write_buffer;
    layer->clEnqueueReadBufferRect = read_buffer_rect;
    layer->clEnqueueWriteBufferRect = write_buffer_rect;
    layer->clEnqueueCopyBuffer = copy_buffer;
    layer->clEnqueueCopyBufferRect = copy_buffer_rect;
    layer->clEnqueueFillBuffer = fill_buffer;
    layer->clEnqueueMapBuffer = map_buffer;
    layer->clEnqueueUnmapMemObject = unmap;
    layer->clEnqueueMigrateMemObjects = migrate;
}

// NOLINTEND(readability-function-size)
