/* Buffers, and the copies between them. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "device/host_work.h"
#include "device/opencl_device.h"

haul_status hl_device_cl_room(haul_device *device, uint64_t *bytes, haul_error *error)
{
    (void)error;
    const uint64_t all = device->properties.memory_bytes;
    *bytes = all > device->allocated ? all - device->allocated : 0; /* OpenCL tells no more */
    return HAUL_OK;
}

/* Device memory has no address of the host's: only host memory can be found. */
haul_status hl_device_cl_memory_of(haul_device *device, const void *pointer, haul_memory *memory,
                                   haul_error *error)
{
    (void)error;
    const uintptr_t at = (uintptr_t)pointer;
    haul_memory found = HAUL_MEMORY_PAGEABLE;
    for (const hl_device_cl_buffer *buffer = ((hl_device_cl_device *)device)->buffers; buffer;
         buffer = buffer->next) {
        const uintptr_t first = (uintptr_t)buffer->base.host;
        if (first && at >= first && at - first < buffer->base.bytes)
            found = HAUL_MEMORY_PINNED;
    }
    *memory = found;
    return HAUL_OK;
}

/* For as long as the buffer lives: haul_buffer_host is a plain pointer. */
static haul_status map(const hl_device_cl_device *device, hl_device_cl_buffer *self, uint64_t bytes,
                       haul_error *error)
{
    cl_int code;
    self->mapped =
        device->api.clEnqueueMapBuffer(device->maps, self->mem, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                                       0, bytes, 0, NULL, NULL, &code);
    return code == CL_SUCCESS ? HAUL_OK : hl_device_cl_fail(code, "clEnqueueMapBuffer", error);
}

/* The unmapping must have ended before the memory behind it is freed. */
static void release(const hl_device_cl_device *device, hl_device_cl_buffer *self)
{
    if (self->mapped) {
        device->api.clEnqueueUnmapMemObject(device->maps, self->mem, self->mapped, 0, NULL, NULL);
        device->api.clFinish(device->maps);
    }
    device->api.clReleaseMemObject(self->mem);
    free(self->own);
    free(self);
}

/* A buffer in the host's memory at `host`, or, where that is NULL, in memory of its own: all of a
 * CPU's, so that its pages are there. */
static haul_status make_buffer(hl_device_cl_device *device, haul_buffer_kind kind, uint64_t bytes,
                               void *host, haul_buffer **buffer, haul_error *error)
{
    const bool is_own = kind == HAUL_BUFFER_MAPPED || device->is_cpu;
    const cl_mem_flags flags = host || is_own               ? CL_MEM_USE_HOST_PTR
                               : kind == HAUL_BUFFER_PINNED ? CL_MEM_ALLOC_HOST_PTR
                                                            : 0;
    cl_int code;
    hl_device_cl_buffer *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    if (flags & CL_MEM_USE_HOST_PTR && !host) {
        self->own = hl_device_host_pages(bytes);
        if (!self->own) {
            free(self);
            return hl_base_fail_no_memory(error);
        }
        host = self->own;
    }
    self->mem = device->api.clCreateBuffer(device->node->context, CL_MEM_READ_WRITE | flags, bytes,
                                           host, &code);
    if (code != CL_SUCCESS) {
        free(self->own);
        free(self);
        return hl_device_cl_fail(code, "clCreateBuffer", error);
    }
    /* a CPU's memory is the host's as it is; PoCL 3.1 fails where two kernels use a mapped buffer
     */
    const haul_status status =
        kind == HAUL_BUFFER_DEVICE || device->is_cpu ? HAUL_OK : map(device, self, bytes, error);
    if (status) {
        release(device, self);
        return status;
    }
    if (kind != HAUL_BUFFER_DEVICE)
        self->base.host = self->mapped ? self->mapped : host;
    self->base.native = self->mem;
    self->next = device->buffers;
    device->buffers = self;
    *buffer = &self->base;
    return HAUL_OK;
}

haul_status hl_device_cl_buffer_new(haul_device *device, haul_buffer_kind kind, uint64_t bytes,
                                    haul_buffer **buffer, haul_error *error)
{
    hl_device_cl_device *self = (hl_device_cl_device *)device;
    if (bytes > self->allocation_most)
        return haul_error_set(error, HAUL_STATUS_DEVICE_FULL,
                              "%llu bytes do not fit device '%s': %llu in one allocation",
                              (unsigned long long)bytes, device->name,
                              (unsigned long long)self->allocation_most);
    return make_buffer(self, kind, bytes, NULL, buffer, error);
}

haul_status hl_device_cl_buffer_pin(haul_device *device, void *host, uint64_t bytes,
                                    haul_buffer **buffer, haul_error *error)
{
    return make_buffer((hl_device_cl_device *)device, HAUL_BUFFER_PINNED, bytes, host, buffer,
                       error);
}

/* A buffer of another context fails here rather than in the first command that uses it. */
haul_status hl_device_cl_buffer_wrap(haul_device *device, void *memory, uint64_t bytes,
                                     haul_buffer **buffer, haul_error *error)
{
    hl_device_cl_device *owner = (hl_device_cl_device *)device;
    cl_context context = NULL;
    size_t size = 0;
    cl_mem mem = memory;
    cl_int code = owner->api.clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof size, &size, NULL);
    if (code == CL_SUCCESS)
        code =
            owner->api.clGetMemObjectInfo(mem, CL_MEM_CONTEXT, sizeof(cl_context), &context, NULL);
    if (code != CL_SUCCESS || context != owner->node->context || size < bytes)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              code != CL_SUCCESS ? "no buffer of OpenCL"
                              : size < bytes     ? "a buffer of OpenCL of too few bytes"
                                                 : "a buffer of another context of OpenCL: the "
                                                   "device's options take the program's queue");
    hl_device_cl_buffer *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    owner->api.clRetainMemObject(mem);
    self->mem = self->base.native = mem;
    self->next = owner->buffers;
    owner->buffers = self;
    *buffer = &self->base;
    return HAUL_OK;
}

/* OpenCL keeps a buffer until the commands that use it have ended, but not the memory of the host
 * behind it. */
void hl_device_cl_buffer_free(haul_buffer *buffer)
{
    hl_device_cl_device *device = (hl_device_cl_device *)buffer->device;
    hl_device_cl_buffer *self = (hl_device_cl_buffer *)buffer, **at = &device->buffers;
    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    device->frees++;
    if (device->node->is_lost)
        return;
    if (buffer->host || self->own)
        for (const hl_device_cl_stream *stream = device->node->streams; stream;
             stream = stream->next)
            device->api.clFinish(stream->queue);
    release(device, self);
}

/* Buffers that the host can reach are copied as host memory. */
static cl_mem mem_of(const haul_address *address)
{
    const haul_buffer *buffer = address->buffer;
    return buffer && !buffer->host ? ((const hl_device_cl_buffer *)buffer)->mem : NULL;
}

static char *host_of(const haul_address *address)
{
    return address->buffer ? (char *)address->buffer->host + address->offset : address->host;
}

static cl_int copy_flat(hl_device_cl_stream *self, const haul_transfer *transfer, cl_event *event)
{
    const hl_device_cl_api *api = &hl_device_cl_device_of(&self->base)->api;
    const haul_address *to = &transfer->to, *from = &transfer->from;
    cl_mem to_mem = mem_of(to), from_mem = mem_of(from);
    const cl_event *waits = hl_device_cl_waits(self);
    if (to_mem && from_mem)
        return api->clEnqueueCopyBuffer(self->queue, from_mem, to_mem, from->offset, to->offset,
                                        transfer->size[0], self->wait_count, waits, event);
    if (to_mem)
        return api->clEnqueueWriteBuffer(self->queue, to_mem, CL_FALSE, to->offset,
                                         transfer->size[0], host_of(from), self->wait_count, waits,
                                         event);
    return api->clEnqueueReadBuffer(self->queue, from_mem, CL_FALSE, from->offset,
                                    transfer->size[0], host_of(to), self->wait_count, waits, event);
}

/* OpenCL's planes are whole numbers of rows apart, and no less than their rows. */
static bool is_rect(const haul_transfer *transfer)
{
    const uint64_t *to = transfer->to_pitch, *from = transfer->from_pitch;
    return transfer->size[2] == 1 ||
           (to[1] % to[0] == 0 && to[1] / to[0] >= transfer->size[1] && from[1] % from[0] == 0 &&
            from[1] / from[0] >= transfer->size[1]);
}

static cl_int copy_rect(hl_device_cl_stream *self, const haul_transfer *transfer, cl_event *event)
{
    const hl_device_cl_api *api = &hl_device_cl_device_of(&self->base)->api;
    const size_t *to_pitch = transfer->to_pitch, *from_pitch = transfer->from_pitch;
    const size_t plane[2] = {transfer->size[2] == 1 ? 0 : to_pitch[1],
                             transfer->size[2] == 1 ? 0 : from_pitch[1]};
    cl_mem to_mem = mem_of(&transfer->to), from_mem = mem_of(&transfer->from);
    const size_t to_at[3] = {to_mem ? transfer->to.offset : 0};
    const size_t from_at[3] = {from_mem ? transfer->from.offset : 0};
    const cl_event *waits = hl_device_cl_waits(self);
    if (to_mem && from_mem)
        return api->clEnqueueCopyBufferRect(self->queue, from_mem, to_mem, from_at, to_at,
                                            transfer->size, from_pitch[0], plane[1], to_pitch[0],
                                            plane[0], self->wait_count, waits, event);
    if (to_mem)
        return api->clEnqueueWriteBufferRect(
            self->queue, to_mem, CL_FALSE, to_at, from_at, transfer->size, to_pitch[0], plane[0],
            from_pitch[0], plane[1], host_of(&transfer->from), self->wait_count, waits, event);
    return api->clEnqueueReadBufferRect(
        self->queue, from_mem, CL_FALSE, from_at, to_at, transfer->size, from_pitch[0], plane[1],
        to_pitch[0], plane[0], host_of(&transfer->to), self->wait_count, waits, event);
}

static haul_address moved(haul_address address, uint64_t bytes)
{
    if (address.buffer)
        address.offset += bytes;
    else
        address.host = (char *)address.host + bytes;
    return address;
}

/* One command a plane: the first's event and the last's are the operation's. */
static cl_int copy_planes(hl_device_cl_stream *self, const haul_transfer *transfer,
                          cl_event events[2])
{
    const hl_device_cl_api *api = &hl_device_cl_device_of(&self->base)->api;
    cl_int code = CL_SUCCESS;
    for (uint64_t z = 0; z < transfer->size[2] && code == CL_SUCCESS; z++) {
        haul_transfer plane = *transfer;
        cl_event event;
        plane.size[2] = 1;
        plane.to = moved(transfer->to, z * transfer->to_pitch[1]);
        plane.from = moved(transfer->from, z * transfer->from_pitch[1]);
        code = copy_rect(self, &plane, &event);
        if (code != CL_SUCCESS)
            break;
        if (events[1] && events[1] != events[0])
            api->clReleaseEvent(events[1]);
        if (!z)
            events[0] = event;
        events[1] = event;
    }
    return code;
}

/* A copy within the host, as work of the host between two markers. */
typedef struct host_copy {
    void *to;
    const void *from;
    haul_transfer shape;
} host_copy;

static void run_host_copy(void *state)
{
    host_copy *self = state;
    hl_device_host_copy(self->to, self->from, &self->shape);
    free(self);
}

haul_status hl_device_cl_copy(haul_stream *stream, const haul_transfer *transfer, haul_event *event,
                              haul_error *error)
{
    hl_device_cl_stream *self = (hl_device_cl_stream *)stream;
    cl_event events[2] = {NULL, NULL};
    cl_int code;
    if (!mem_of(&transfer->to) && !mem_of(&transfer->from)) {
        host_copy *work = malloc(sizeof *work);
        if (!work)
            return hl_base_fail_no_memory(error);
        *work = (host_copy){host_of(&transfer->to), host_of(&transfer->from), *transfer};
        const haul_status status = hl_device_cl_call(stream, run_host_copy, work, event, error);
        if (status)
            free(work);
        return status; // NOLINT(clang-analyzer-unix.Malloc): run_host_copy frees the work
    }
    if (!transfer->size[0])
        return stream->device->backend->record(stream, event, error);
    if (haul_transfer_is_flat(transfer)) {
        code = copy_flat(self, transfer, event ? events : NULL);
        events[1] = events[0];
    } else if (is_rect(transfer)) {
        code = copy_rect(self, transfer, event ? events : NULL);
        events[1] = events[0];
    } else {
        code = copy_planes(self, transfer, events);
    }
    if (code != CL_SUCCESS)
        return hl_device_cl_fail(code, "copying", error);
    hl_device_cl_queued(self, event, events[0], events[1]);
    return HAUL_OK;
}

haul_status hl_device_cl_fill(haul_stream *stream, const haul_filling *filling, haul_event *event,
                              haul_error *error)
{
    hl_device_cl_stream *self = (hl_device_cl_stream *)stream;
    cl_event filled = NULL;
    const cl_int code = hl_device_cl_device_of(stream)->api.clEnqueueFillBuffer(
        self->queue, ((hl_device_cl_buffer *)filling->buffer)->mem, &filling->value, 1,
        filling->offset, filling->bytes, self->wait_count, hl_device_cl_waits(self),
        event ? &filled : NULL);
    if (code != CL_SUCCESS)
        return hl_device_cl_fail(code, "clEnqueueFillBuffer", error);
    hl_device_cl_queued(self, event, filled, filled);
    return HAUL_OK;
}

/* Work of the host: a marker calls it, and an event of ours holds up what follows until it
 * returned. */
typedef struct host_work {
    void (*function)(void *state);
    void *state;
    const hl_device_cl_api *api;
    cl_event done;
} host_work;

static void CL_CALLBACK run_host_work(cl_event marker, cl_int state, void *data)
{
    host_work *self = data;
    (void)marker;
    if (state == CL_COMPLETE)
        self->function(self->state);
    self->api->clSetUserEventStatus(self->done, state < 0 ? state : CL_COMPLETE);
    self->api->clReleaseEvent(self->done);
    free(self);
}

/* Callbacks of OpenCL must not block and do not hold up the queue: a user event does. */
haul_status hl_device_cl_call(haul_stream *stream, void (*function)(void *state), void *state,
                              haul_event *event, haul_error *error)
{
    hl_device_cl_stream *self = (hl_device_cl_stream *)stream;
    const hl_device_cl_device *device = hl_device_cl_device_of(stream);
    const hl_device_cl_api *api = &device->api;
    cl_int code;
    cl_event marker;
    host_work *work = malloc(sizeof *work);
    if (!work)
        return hl_base_fail_no_memory(error);
    *work = (host_work){function, state, api, api->clCreateUserEvent(device->node->context, &code)};
    if (code == CL_SUCCESS) {
        code = api->clEnqueueMarkerWithWaitList(self->queue, self->wait_count,
                                                hl_device_cl_waits(self), &marker);
        if (code != CL_SUCCESS)
            api->clReleaseEvent(work->done);
    }
    if (code != CL_SUCCESS) {
        free(work);
        return hl_device_cl_fail(code, "clEnqueueMarkerWithWaitList", error);
    }
    hl_device_cl_clear_waits(self);
    const haul_status status = hl_device_cl_wait_for(self, work->done, error);
    api->clSetEventCallback(marker, CL_COMPLETE, run_host_work, work);
    api->clReleaseEvent(marker);
    return status ? status : stream->device->backend->record(stream, event, error);
}
