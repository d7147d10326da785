/* Wrappers of the calls of queues, kernels, memory objects and waits: what names and places the
 * commands of the other files, and what the program may ask that the recording changed. */
#include <string.h>

#include "record/cl_copies.h"
#include "record/cl_layer.h"

// NOLINTBEGIN(readability-function-size): the parameters are OpenCL's

/* --- queues */

/* Asks for the times of commands before their queue is released. */
static cl_int release_queue(cl_command_queue queue)
{
    hl_record_cl_collect();
    return hl_record_cl_runtime.clReleaseCommandQueue(queue);
}

static cl_int release_context(cl_context context)
{
    hl_record_cl_collect();
    return hl_record_cl_runtime.clReleaseContext(context);
}

/* Gives `size` bytes as OpenCL's queries do. */
static cl_int answer(const void *value, size_t size, size_t room, void *to, size_t *size_given)
{
    if (to && room < size)
        return CL_INVALID_VALUE;
    if (to && size)
        memcpy(to, value, size);
    if (size_given)
        *size_given = size;
    return CL_SUCCESS;
}

/* Answers with the properties that the program asked for, not with those that it was given. */
static cl_int get_queue_info(cl_command_queue queue, cl_command_queue_info what, size_t size,
                             void *value, size_t *size_given)
{
    hl_record_cl_asked asked;
    const bool changed = what == CL_QUEUE_PROPERTIES || what == CL_QUEUE_PROPERTIES_ARRAY;
    if (!changed || !hl_record_cl_was_forced(queue, &asked))
        return hl_record_cl_runtime.clGetCommandQueueInfo(queue, what, size, value, size_given);
    if (what == CL_QUEUE_PROPERTIES)
        return answer(&asked.properties, sizeof asked.properties, size, value, size_given);
    return answer(asked.list, asked.list_length * sizeof asked.list[0], size, value, size_given);
}

/* A queue that the program made without profiling has none for it. */
static cl_int get_profiling_info(cl_event event, cl_profiling_info what, size_t size, void *value,
                                 size_t *size_given)
{
    cl_command_queue queue = NULL;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): the handle itself
    if (hl_record_cl_runtime.clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue,
                                            NULL) == CL_SUCCESS &&
        queue && hl_record_cl_was_forced(queue, NULL))
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    return hl_record_cl_runtime.clGetEventProfilingInfo(event, what, size, value, size_given);
}

/* --- memory objects */

/* Both calls that make a buffer: `name` is which of them, whose list of properties may be NULL. */
static cl_mem make_buffer(hl_record_cl_call_name name, cl_context context,
                          const cl_mem_properties *properties, cl_mem_flags flags, size_t size,
                          void *host, cl_int *result)
{
    cl_int unasked = CL_SUCCESS;
    result = result ? result : &unasked;
    hl_record_cl_call call;
    hl_record_cl_begin(&call, name, NULL);
    cl_mem buffer = name == HL_RECORD_CALL_clCreateBuffer
                        ? hl_record_cl_runtime.clCreateBuffer(context, flags, size, host, result)
                        : hl_record_cl_runtime.clCreateBufferWithProperties(
                              context, properties, flags, size, host, result);
    if (call.active && buffer && flags & CL_MEM_COPY_HOST_PTR)
        hl_record_cl_copied_at_creation(size);
    if (call.active && buffer && flags & CL_MEM_USE_HOST_PTR)
        hl_record_host_ranges_add(&hl_record_cl_ranges, &(hl_record_host_range){
                                                            .begin = (uintptr_t)host,
                                                            .end = (uintptr_t)host + size,
                                                            .owner = buffer,
                                                            .kind = HL_RECORD_PINNED,
                                                        });
    hl_record_cl_end(&call, *result);
    return buffer;
}

static cl_mem create_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host,
                            cl_int *result)
{
    return make_buffer(HL_RECORD_CALL_clCreateBuffer, context, NULL, flags, size, host, result);
}

static cl_mem create_buffer_listed(cl_context context, const cl_mem_properties *properties,
                                   cl_mem_flags flags, size_t size, void *host, cl_int *result)
{
    return make_buffer(HL_RECORD_CALL_clCreateBufferWithProperties, context, properties, flags,
                       size, host, result);
}

/* The ranges of a buffer go with its last reference. Asked only of objects that have one: most
 * releases cost a load. */
static cl_int release_memory(cl_mem memory)
{
    hl_record_host_range range;
    cl_uint references = 0;
    if (hl_record_host_ranges_find(&hl_record_cl_ranges, memory, &range) &&
        hl_record_cl_runtime.clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof references,
                                                &references, NULL) == CL_SUCCESS &&
        references == 1)
        hl_record_host_ranges_drop(&hl_record_cl_ranges, memory);
    return hl_record_cl_runtime.clReleaseMemObject(memory);
}

/* --- programs and kernels */

static cl_int build_program(cl_program program, cl_uint device_count, const cl_device_id *devices,
                            const char *options, void (*notify)(cl_program, void *), void *context)
{
    hl_record_cl_call call;
    hl_record_cl_begin(&call, HL_RECORD_CALL_clBuildProgram, NULL);
    return hl_record_cl_end(&call, hl_record_cl_runtime.clBuildProgram(
                                       program, device_count, devices, options, notify, context));
}

/* A handle may be that of a kernel that is gone: whatever was known under it is forgotten. */
static cl_kernel create_kernel(cl_program program, const char *name, cl_int *result)
{
    cl_kernel kernel = hl_record_cl_runtime.clCreateKernel(program, name, result);
    hl_record_cl_kernel_made(kernel);
    return kernel;
}

static cl_int create_kernels(cl_program program, cl_uint room, cl_kernel *kernels, cl_uint *count)
{
    cl_uint own_count = 0;
    const cl_int result =
        hl_record_cl_runtime.clCreateKernelsInProgram(program, room, kernels, &own_count);
    for (cl_uint i = 0; result == CL_SUCCESS && kernels && i < own_count; i++)
        hl_record_cl_kernel_made(kernels[i]);
    if (count && result == CL_SUCCESS)
        *count = own_count;
    return result;
}

static cl_kernel clone_kernel(cl_kernel source, cl_int *result)
{
    cl_kernel kernel = hl_record_cl_runtime.clCloneKernel(source, result);
    hl_record_cl_kernel_made(kernel);
    return kernel;
}

/* Groups as CUDA's grid, their size as its block. Where the runtime chooses the groups, each work
 * item is given as a group, so that their number is right. */
static void record_kernel(hl_record_cl_call *call, cl_kernel kernel, cl_uint dimensions,
                          const size_t *global, const size_t *local)
{
    call->effect = HL_RECORD_CL_RECORD;
    call->record.kind = HL_RECORD_KERNEL;
    call->record.kernel.name = hl_record_cl_kernel_name(kernel);
    for (cl_uint i = 0; i < 3; i++) {
        const size_t items = global && i < dimensions ? global[i] : 1;
        const size_t each = local && i < dimensions && local[i] ? local[i] : 1;
        const size_t groups = (items + each - 1) / each;
        call->record.kernel.grid[i] = (uint32_t)(groups < UINT32_MAX ? groups : UINT32_MAX);
        call->record.kernel.block[i] = (uint32_t)(each < UINT32_MAX ? each : UINT32_MAX);
    }
}

static cl_int run_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                         const size_t *offset, const size_t *global, const size_t *local,
                         cl_uint wait_count, const cl_event *waits, cl_event *event)
{
    HL_RECORD_CL_COMMAND_MADE(clEnqueueNDRangeKernel,
                              record_kernel(&call, kernel, dimensions, global, local), kernel,
                              dimensions, offset, global, local);
}

/* OpenCL 1's call for one work item. */
static cl_int run_task(cl_command_queue queue, cl_kernel kernel, cl_uint wait_count,
                       const cl_event *waits, cl_event *event)
{
    HL_RECORD_CL_COMMAND_MADE(clEnqueueTask, record_kernel(&call, kernel, 0, NULL, NULL), kernel);
}

static cl_int run_native(cl_command_queue queue, void (*function)(void *), void *arguments,
                         size_t size, cl_uint memory_count, const cl_mem *memory,
                         const void **places, cl_uint wait_count, const cl_event *waits,
                         cl_event *event)
{
    HL_RECORD_CL_COMMAND(clEnqueueNativeKernel, (void)0, function, arguments, size, memory_count,
                         memory, places);
}

/* --- waits */

static cl_int finish(cl_command_queue queue)
{
    hl_record_cl_call call;
    hl_record_cl_begin(&call, HL_RECORD_CALL_clFinish, queue);
    call.effect = HL_RECORD_CL_FINISH;
    return hl_record_cl_end(&call, hl_record_cl_runtime.clFinish(queue));
}

static cl_int flush(cl_command_queue queue)
{
    hl_record_cl_call call;
    hl_record_cl_begin(&call, HL_RECORD_CALL_clFlush, NULL);
    return hl_record_cl_end(&call, hl_record_cl_runtime.clFlush(queue));
}

/* The events may be of several queues, so the call is on none. */
static cl_int wait_for_events(cl_uint count, const cl_event *events)
{
    hl_record_cl_call call;
    hl_record_cl_begin(&call, HL_RECORD_CALL_clWaitForEvents, NULL);
    call.effect = HL_RECORD_CL_WAIT;
    call.wait_count = count;
    call.waits = events;
    return hl_record_cl_end(&call, hl_record_cl_runtime.clWaitForEvents(count, events));
}

static cl_int marker(cl_command_queue queue, cl_event *event)
{
    hl_record_cl_call call;
    hl_record_cl_enqueue(&call, HL_RECORD_CALL_clEnqueueMarker, queue, 0, NULL, event);
    return hl_record_cl_end(&call, hl_record_cl_runtime.clEnqueueMarker(queue, call.event));
}

static cl_int marker_listed(cl_command_queue queue, cl_uint wait_count, const cl_event *waits,
                            cl_event *event)
{
    hl_record_cl_call call;
    hl_record_cl_enqueue(&call, HL_RECORD_CALL_clEnqueueMarkerWithWaitList, queue, wait_count,
                         waits, event);
    return hl_record_cl_end(&call, hl_record_cl_runtime.clEnqueueMarkerWithWaitList(
                                       queue, wait_count, waits, call.event));
}

/* OpenCL 1's barrier gives no event. */
static cl_int barrier(cl_command_queue queue)
{
    hl_record_cl_call call;
    hl_record_cl_begin(&call, HL_RECORD_CALL_clEnqueueBarrier, queue);
    call.effect = HL_RECORD_CL_BARRIER;
    return hl_record_cl_end(&call, hl_record_cl_runtime.clEnqueueBarrier(queue));
}

static cl_int barrier_listed(cl_command_queue queue, cl_uint wait_count, const cl_event *waits,
                             cl_event *event)
{
    hl_record_cl_call call;
    hl_record_cl_enqueue(&call, HL_RECORD_CALL_clEnqueueBarrierWithWaitList, queue, wait_count,
                         waits, event);
    call.effect = HL_RECORD_CL_BARRIER;
    return hl_record_cl_end(&call, hl_record_cl_runtime.clEnqueueBarrierWithWaitList(
                                       queue, wait_count, waits, call.event));
}

/* OpenCL 1's barrier with a list, without an event of its own. */
static cl_int queue_wait(cl_command_queue queue, cl_uint count, const cl_event *events)
{
    hl_record_cl_call call;
    hl_record_cl_begin(&call, HL_RECORD_CALL_clEnqueueWaitForEvents, queue);
    call.effect = HL_RECORD_CL_BARRIER;
    call.wait_count = count;
    call.waits = events;
    return hl_record_cl_end(&call,
                            hl_record_cl_runtime.clEnqueueWaitForEvents(queue, count, events));
}

/* --- events */

static cl_event create_user_event(cl_context context, cl_int *result)
{
    cl_event event = hl_record_cl_runtime.clCreateUserEvent(context, result);
    hl_record_cl_user_event_made(event);
    return event;
}

void hl_record_cl_objects_install(cl_icd_dispatch *layer)
{
    layer->clCreateCommandQueue = hl_record_cl_make_queue;
    layer->clCreateCommandQueueWithProperties = hl_record_cl_make_queue_listed;
    layer->clReleaseCommandQueue = release_queue;
    layer->clReleaseContext = release_context;
    layer->clGetCommandQueueInfo = get_queue_info;
    layer->clGetEventProfilingInfo = get_profiling_info;
    layer->clCreateBuffer = create_buffer;
    layer->clCreateBufferWithProperties = create_buffer_listed;
    layer->clReleaseMemObject = release_memory;
    layer->clBuildProgram = build_program;
    layer->clCreateUserEvent = create_user_event;
    layer->clCreateKernel = create_kernel;
    layer->clCreateKernelsInProgram = create_kernels;
    layer->clCloneKernel = clone_kernel;
    layer->clEnqueueNDRangeKernel = run_kernel;
    layer->clEnqueueTask = run_task;
    layer->clEnqueueNativeKernel = run_native;
    layer->clFinish = finish;
    layer->clFlush = flush;
    layer->clWaitForEvents = wait_for_events;
    layer->clEnqueueMarker = marker;
    layer->clEnqueueMarkerWithWaitList = marker_listed;
    layer->clEnqueueBarrier = barrier;
    layer->clEnqueueBarrierWithWaitList = barrier_listed;
    layer->clEnqueueWaitForEvents = queue_wait;
}

// NOLINTEND(readability-function-size)
