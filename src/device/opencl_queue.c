/* Streams and events of OpenCL: a stream is a queue in order. */
#include <stdlib.h>
#include <time.h>

#include "base/fail.h"
#include "device/backends.h"
#include "device/opencl_device.h"

const cl_event *hl_device_cl_waits(const hl_device_cl_stream *stream)
{
    return stream->wait_count ? stream->waits : NULL;
}

void hl_device_cl_clear_waits(hl_device_cl_stream *stream)
{
    const hl_device_cl_api *api = &hl_device_cl_device_of(&stream->base)->api;
    for (cl_uint i = 0; i < stream->wait_count; i++)
        api->clReleaseEvent(stream->waits[i]);
    stream->wait_count = 0;
}

static void drop_event(const hl_device_cl_api *api, hl_device_cl_event *self)
{
    if (self->first)
        api->clReleaseEvent(self->first);
    if (self->last)
        api->clReleaseEvent(self->last);
}

void hl_device_cl_queued(hl_device_cl_stream *stream, haul_event *event, cl_event first,
                         cl_event last)
{
    const hl_device_cl_api *api = &hl_device_cl_device_of(&stream->base)->api;
    hl_device_cl_event *self = (hl_device_cl_event *)event;
    if (stream->wait_count)
        hl_device_cl_clear_waits(stream);
    if (self) {
        drop_event(api, self);
        self->first = first;
        self->last = last;
        if (first == last)
            api->clRetainEvent(last);
    }
    api->clFlush(stream->queue);
}

haul_status hl_device_cl_wait_for(hl_device_cl_stream *stream, cl_event event, haul_error *error)
{
    const hl_device_cl_api *api = &hl_device_cl_device_of(&stream->base)->api;
    if (stream->wait_count == HL_DEVICE_CL_WAITS) {
        const cl_int code = api->clEnqueueMarkerWithWaitList(stream->queue, stream->wait_count,
                                                             stream->waits, NULL);
        if (code != CL_SUCCESS)
            return hl_device_cl_fail(code, "clEnqueueMarkerWithWaitList", error);
        hl_device_cl_clear_waits(stream);
    }
    api->clRetainEvent(event);
    stream->waits[stream->wait_count++] = event;
    return HAUL_OK;
}

/* With profiling, since events tell times. In order: a stream is first in, first out. */
haul_status hl_device_cl_queue_new(hl_device_cl_device *self, cl_command_queue *queue,
                                   haul_error *error)
{
    cl_int code;
    *queue = self->api.clCreateCommandQueue(self->node->context, self->id,
                                            CL_QUEUE_PROFILING_ENABLE, &code);
    return code == CL_SUCCESS ? HAUL_OK : hl_device_cl_fail(code, "clCreateCommandQueue", error);
}

haul_status hl_device_cl_stream_new(haul_device *device, haul_stream **stream, haul_error *error)
{
    hl_device_cl_stream *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    hl_device_cl_device *owner = (hl_device_cl_device *)device;
    const haul_status status = hl_device_cl_queue_new(owner, &self->queue, error);
    if (status) {
        free(self);
        return status;
    }
    self->next = owner->node->streams;
    owner->node->streams = self;
    *stream = &self->base;
    return HAUL_OK;
}

haul_status hl_device_cl_stream_wrap(haul_device *device, void *queue, haul_stream **stream,
                                     haul_error *error)
{
    hl_device_cl_device *owner = (hl_device_cl_device *)device;
    cl_context context = NULL;
    cl_command_queue own = queue;
    const cl_int code =
        owner->api.clGetCommandQueueInfo(own, CL_QUEUE_CONTEXT, sizeof(cl_context), &context, NULL);
    if (code != CL_SUCCESS || context != owner->node->context)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "a queue of another context of OpenCL: the device's options take it");
    hl_device_cl_stream *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    owner->api.clRetainCommandQueue(own);
    self->queue = own;
    self->next = owner->node->streams;
    owner->node->streams = self;
    *stream = &self->base;
    return HAUL_OK;
}

void hl_device_cl_stream_free(haul_stream *stream)
{
    hl_device_cl_stream *self = (hl_device_cl_stream *)stream;
    const hl_device_cl_api *api = &hl_device_cl_device_of(stream)->api;
    hl_device_cl_node *node = hl_device_cl_device_of(stream)->node;
    hl_device_cl_stream **at = &node->streams;
    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    hl_device_cl_clear_waits(self);
    if (!node->is_lost) {
        api->clFinish(self->queue);
        api->clReleaseCommandQueue(self->queue);
    }
    free(self);
}

/* A negative state is the error of the command itself. */
static haul_status failed_event(const hl_device_cl_device *self, cl_event event, haul_error *error)
{
    cl_int state = CL_COMPLETE;
    self->api.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    return state < 0 ? hl_device_cl_fail(state, "an operation", error) : HAUL_OK;
}

static bool has_ended(const hl_device_cl_device *self, cl_event event, cl_int *code)
{
    cl_int state = CL_COMPLETE;
    *code = self->api.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state,
                                     NULL);
    return *code != CL_SUCCESS || state <= CL_COMPLETE;
}

static haul_status wait_for(const hl_device_cl_device *self, cl_event event, haul_error *error)
{
    if (self->base.options.time_limit_s > 0) {
        /* OpenCL's own waits know no time limit: the state is asked for, ever less often. */
        const int64_t begin_ns = haul_device_now((haul_device *)&self->base);
        const double limit_ns = 1e9 * self->base.options.time_limit_s;
        long pause_ns = 1000;
        cl_int code;
        while (!has_ended(self, event, &code)) {
            if ((double)(haul_device_now((haul_device *)&self->base) - begin_ns) > limit_ns) {
                self->node->is_lost = true;
                return haul_error_set(error, HAUL_STATUS_TIMED_OUT,
                                      "device '%s' did not end its work within %g s",
                                      self->base.name, self->base.options.time_limit_s);
            }
            nanosleep(&(struct timespec){.tv_nsec = pause_ns}, NULL);
            pause_ns = pause_ns < 1000000 ? 2 * pause_ns : pause_ns;
        }
        return code == CL_SUCCESS ? failed_event(self, event, error)
                                  : hl_device_cl_fail(code, "clGetEventInfo", error);
    }
    const cl_int code = self->api.clWaitForEvents(1, &event);
    return code == CL_SUCCESS ? HAUL_OK : hl_device_cl_fail(code, "clWaitForEvents", error);
}

/* A marker takes the stream's waits, so that what follows comes after them. */
haul_status hl_device_cl_record(haul_stream *stream, haul_event *event, haul_error *error)
{
    hl_device_cl_stream *self = (hl_device_cl_stream *)stream;
    cl_event marker;
    const cl_int code = hl_device_cl_device_of(stream)->api.clEnqueueMarkerWithWaitList(
        self->queue, self->wait_count, hl_device_cl_waits(self), &marker);
    if (code != CL_SUCCESS)
        return hl_device_cl_fail(code, "clEnqueueMarkerWithWaitList", error);
    hl_device_cl_queued(self, event, marker, marker);
    return HAUL_OK;
}

/* clFinish serves where nothing else is to be waited for; waits that no command has taken yet need
 * a marker. */
haul_status hl_device_cl_stream_wait(haul_stream *stream, haul_error *error)
{
    hl_device_cl_stream *self = (hl_device_cl_stream *)stream;
    const hl_device_cl_device *device = hl_device_cl_device_of(stream);
    cl_event marker;
    if (!self->wait_count && device->base.options.time_limit_s <= 0) {
        const cl_int finished = device->api.clFinish(self->queue);
        return finished == CL_SUCCESS ? HAUL_OK : hl_device_cl_fail(finished, "clFinish", error);
    }
    const cl_int code = device->api.clEnqueueMarkerWithWaitList(self->queue, self->wait_count,
                                                                hl_device_cl_waits(self), &marker);
    if (code != CL_SUCCESS)
        return hl_device_cl_fail(code, "clEnqueueMarkerWithWaitList", error);
    hl_device_cl_clear_waits(self);
    device->api.clFlush(self->queue);
    const haul_status status = wait_for(device, marker, error);
    device->api.clReleaseEvent(marker);
    return status;
}

haul_status hl_device_cl_wait_event(haul_stream *stream, haul_event *event, haul_error *error)
{
    return hl_device_cl_wait_for((hl_device_cl_stream *)stream, ((hl_device_cl_event *)event)->last,
                                 error);
}

haul_status hl_device_cl_event_new(haul_device *device, haul_event **event, haul_error *error)
{
    (void)device;
    return hl_device_event_alloc(sizeof(hl_device_cl_event), event, error);
}

void hl_device_cl_event_free(haul_event *event)
{
    drop_event(&((hl_device_cl_device *)event->device)->api, (hl_device_cl_event *)event);
    free(event);
}

haul_status hl_device_cl_event_wait(haul_event *event, haul_error *error)
{
    return wait_for((hl_device_cl_device *)event->device, ((hl_device_cl_event *)event)->last,
                    error);
}

haul_status hl_device_cl_event_done(haul_event *event, bool *done, haul_error *error)
{
    const hl_device_cl_device *device = (hl_device_cl_device *)event->device;
    cl_event last = ((hl_device_cl_event *)event)->last;
    cl_int code;
    const bool ended = has_ended(device, last, &code);
    if (code != CL_SUCCESS)
        return hl_device_cl_fail(code, "clGetEventInfo", error);
    const haul_status status = ended ? failed_event(device, last, error) : HAUL_OK;
    if (!status)
        *done = ended;
    return status;
}

haul_status hl_device_cl_event_seconds(haul_event *from, haul_event *to, double *seconds,
                                       haul_error *error)
{
    const hl_device_cl_api *api = &((hl_device_cl_device *)from->device)->api;
    cl_ulong start = 0, end = 0;
    cl_int code =
        api->clGetEventProfilingInfo(((hl_device_cl_event *)from)->first,
                                     CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    if (code == CL_SUCCESS)
        code = api->clGetEventProfilingInfo(((hl_device_cl_event *)to)->last,
                                            CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    if (code != CL_SUCCESS)
        return hl_device_cl_fail(code, "clGetEventProfilingInfo", error);
    *seconds = (double)(int64_t)(end - start) * 1e-9;
    return HAUL_OK;
}
