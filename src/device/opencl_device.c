/* Finding and opening devices, queues and events. */
#include "device/opencl_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "device/backends.h"

enum { PLATFORMS = 16, DEVICES = 64 };

/* All devices, GPUs and accelerators first. */
static cl_uint find_devices(const haul_cl_api *api, cl_device_id found[DEVICES])
{
    static const cl_device_type types[] = {CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR |
                                               CL_DEVICE_TYPE_CUSTOM,
                                           CL_DEVICE_TYPE_CPU};
    cl_platform_id platforms[PLATFORMS];
    cl_uint platform_count = 0, count = 0;
    if (api->clGetPlatformIDs(PLATFORMS, platforms, &platform_count) != CL_SUCCESS)
        return 0;
    for (int t = 0; t < 2; t++)
        for (cl_uint i = 0; i < platform_count && i < PLATFORMS; i++) {
            cl_uint more = 0;
            if (count < DEVICES && api->clGetDeviceIDs(platforms[i], types[t], DEVICES - count,
                                                       found + count, &more) == CL_SUCCESS)
                count += more < DEVICES - count ? more : DEVICES - count;
        }
    return count;
}

/* 0 without OpenCL: that is no error when devices are listed. */
static unsigned count_devices(void)
{
    haul_cl_api api;
    cl_device_id found[DEVICES];
    return haul_cl_load(&api, NULL) ? 0 : find_devices(&api, found);
}

static void read_text(const haul_cl_device *self, cl_device_info what, char *text, size_t size)
{
    text[0] = '\0';
    if (self->api.clGetDeviceInfo(self->id, what, size - 1, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    text[size - 1] = '\0';
}

static uint64_t read_number(const haul_cl_device *self, cl_device_info what)
{
    uint64_t value = 0; /* little-endian: smaller numbers leave the rest zero */
    if (self->api.clGetDeviceInfo(self->id, what, sizeof value, &value, NULL) != CL_SUCCESS)
        return 0;
    return value;
}

/* OpenCL tells neither bandwidth nor copy engines: they stay 0. */
static void describe(haul_cl_device *self)
{
    char driver[100], version[100];
    read_text(self, CL_DEVICE_NAME, self->name, sizeof self->name);
    read_text(self, CL_DRIVER_VERSION, driver, sizeof driver);
    read_text(self, CL_DEVICE_VERSION, version, sizeof version);
    snprintf(self->version, sizeof self->version, "%s %s", version, driver);
    self->is_cpu = read_number(self, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU;
    self->group_most = read_number(self, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    self->allocation_most = read_number(self, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    self->base.properties = (haul_device_properties){
        .name = self->name,
        .is_host = self->is_cpu,
        .can = HAUL_CAN_MAP | HAUL_CAN_PIN | (self->node->is_split ? HAUL_CAN_REACH_PEERS : 0),
        .memory_bytes = read_number(self, CL_DEVICE_GLOBAL_MEM_SIZE),
        .l2_bytes = read_number(self, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE),
        .clock_Hz = 1e6 * (double)read_number(self, CL_DEVICE_MAX_CLOCK_FREQUENCY),
        .multiprocessors = (unsigned)read_number(self, CL_DEVICE_MAX_COMPUTE_UNITS),
        .group_bytes = read_number(self, CL_DEVICE_LOCAL_MEM_SIZE),
        .implicit_sync = -1,
    };
}

/* "2" is a device, "2.1" a part of it with one compute unit: parts do not disturb each other. */
static bool parse_which(const char *which, unsigned long *number, long *part)
{
    char *rest;
    *number = 0;
    *part = -1;
    if (!*which)
        return true;
    *number = strtoul(which, &rest, 10);
    if (rest == which || *which == '-' || *number > DEVICES)
        return false;
    if (*rest != '.')
        return !*rest;
    const char *digits = rest + 1;
    *part = strtol(digits, &rest, 10);
    return rest != digits && !*rest && *part >= 0;
}

/* Parts of a CPU share no worker thread: kernel and copy overlap there as on two devices. */
static haul_status split(const haul_cl_api *api, haul_cl_node *node, haul_error *error)
{
    const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    cl_device_id whole = node->parts[0];
    const cl_int code =
        api->clCreateSubDevices(whole, equally, HAUL_CL_PARTS, node->parts, &node->count);
    if (code == CL_SUCCESS)
        return HAUL_OK;
    node->count = 0;
    return haul_fail(error, HAUL_ABSENT, "device 'opencl:%lu' has no parts", node->number);
}

/* A lost node is left as it is: commands that never end still use it. */
static void node_release(const haul_cl_api *api, haul_cl_node *node)
{
    if (--node->users || node->is_lost)
        return;
    if (node->context)
        api->clReleaseContext(node->context);
    for (cl_uint i = 0; node->is_split && i < node->count; i++)
        api->clReleaseDevice(node->parts[i]);
    free(node);
}

static haul_status node_new(const haul_cl_api *api, unsigned long number, bool is_split,
                            haul_cl_node **out, haul_error *error)
{
    cl_device_id found[DEVICES];
    cl_int code = CL_SUCCESS;
    const cl_uint count = find_devices(api, found);
    if (!count)
        return haul_fail(error, HAUL_ABSENT, "no OpenCL device: pocl-opencl-icd makes the CPU one");
    if (number >= count)
        return haul_fail(error, HAUL_ABSENT, "there is no device 'opencl:%lu': the last is %u",
                         number, count - 1);
    haul_cl_node *node = calloc(1, sizeof *node);
    if (!node)
        return haul_fail_no_memory(error);
    *node = (haul_cl_node){.number = number, .is_split = is_split, .users = 1, .count = 1};
    node->parts[0] = found[number];
    haul_status status = is_split ? split(api, node, error) : HAUL_OK;
    if (!status)
        node->context = api->clCreateContext(NULL, node->count, node->parts, NULL, NULL, &code);
    if (code != CL_SUCCESS)
        status = haul_cl_fail(code, "clCreateContext", error);
    if (status)
        node_release(api, node);
    else
        *out = node;
    return status;
}

static haul_status join_node(haul_cl_device *self, const haul_cl_device *beside,
                             unsigned long number, long part, haul_error *error)
{
    haul_status status = HAUL_OK;
    if (!beside) {
        status = node_new(&self->api, number, part >= 0, &self->node, error);
    } else if (part < 0 || !beside->node->is_split || beside->node->number != number) {
        status = haul_fail(error, HAUL_ABSENT,
                           "only parts of one OpenCL device, such as "
                           "'opencl:0.0' and 'opencl:0.1', can be beside each other");
    } else {
        self->node = beside->node;
        self->node->users++;
    }
    if (status)
        return status;
    if (part >= (long)self->node->count) {
        status = haul_fail(error, HAUL_ABSENT, "device 'opencl:%lu' has %u parts", number,
                           self->node->count);
        node_release(&self->api, self->node);
        return status;
    }
    self->id = self->node->parts[part < 0 ? 0 : part];
    return HAUL_OK;
}

/* With profiling, since events tell times. In order: a stream is first in, first out. */
static haul_status make_queue(haul_cl_device *self, cl_command_queue *queue, haul_error *error)
{
    cl_int code;
    *queue = self->api.clCreateCommandQueue(self->node->context, self->id,
                                            CL_QUEUE_PROFILING_ENABLE, &code);
    return code == CL_SUCCESS ? HAUL_OK : haul_cl_fail(code, "clCreateCommandQueue", error);
}

static haul_status open_device(const char *which, const haul_device_options *options,
                               haul_device **device, haul_error *error)
{
    unsigned long number;
    long part;
    if (!parse_which(which, &number, &part))
        return haul_fail(error, HAUL_USAGE,
                         "an OpenCL device is 'opencl:N', or 'opencl:N.PART', "
                         "not 'opencl:%.40s'",
                         which);
    haul_cl_device *self = calloc(1, sizeof *self);
    if (!self)
        return haul_fail_no_memory(error);
    haul_status status = haul_cl_load(&self->api, error);
    if (!status)
        status = join_node(self, (haul_cl_device *)options->beside, number, part, error);
    if (!status) {
        status = make_queue(self, &self->maps, error);
        if (status)
            node_release(&self->api, self->node);
    }
    if (status) {
        free(self);
        return status;
    }
    /* 0 is a kernel's mark for arguments that are not set */
    self->frees = 1;
    describe(self);
    *device = &self->base;
    return HAUL_OK;
}

static void close_device(haul_device *device)
{
    haul_cl_device *self = (haul_cl_device *)device;
    if (!self->node->is_lost)
        self->api.clReleaseCommandQueue(self->maps);
    node_release(&self->api, self->node);
    free(self);
}

static haul_status stream_new(haul_device *device, haul_stream **stream, haul_error *error)
{
    haul_cl_stream *self = calloc(1, sizeof *self);
    if (!self)
        return haul_fail_no_memory(error);
    haul_cl_device *owner = (haul_cl_device *)device;
    const haul_status status = make_queue(owner, &self->queue, error);
    if (status) {
        free(self);
        return status;
    }
    self->next = owner->node->streams;
    owner->node->streams = self;
    *stream = &self->base;
    return HAUL_OK;
}

static void stream_free(haul_stream *stream)
{
    haul_cl_stream *self = (haul_cl_stream *)stream;
    const haul_cl_api *api = &haul_cl_device_of(stream)->api;
    haul_cl_node *node = haul_cl_device_of(stream)->node;
    haul_cl_stream **at = &node->streams;
    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    haul_cl_clear_waits(self);
    if (!node->is_lost) {
        api->clFinish(self->queue);
        api->clReleaseCommandQueue(self->queue);
    }
    free(self);
}

/* A negative state is the error of the command itself. */
static haul_status failed_event(const haul_cl_device *self, cl_event event, haul_error *error)
{
    cl_int state = CL_COMPLETE;
    self->api.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    return state < 0 ? haul_cl_fail(state, "an operation", error) : HAUL_OK;
}

static bool has_ended(const haul_cl_device *self, cl_event event, cl_int *code)
{
    cl_int state = CL_COMPLETE;
    *code = self->api.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state,
                                     NULL);
    return *code != CL_SUCCESS || state <= CL_COMPLETE;
}

/* OpenCL's own waits know no time limit: the state is asked for, ever less often. */
static haul_status wait_with_limit(const haul_cl_device *self, cl_event event, haul_error *error)
{
    const int64_t begin_ns = haul_device_now((haul_device *)&self->base);
    const double limit_ns = 1e9 * self->base.options.time_limit_s;
    long pause_ns = 1000;
    cl_int code;
    while (!has_ended(self, event, &code)) {
        if ((double)(haul_device_now((haul_device *)&self->base) - begin_ns) > limit_ns) {
            self->node->is_lost = true;
            return haul_fail(error, HAUL_TIMED_OUT, "device '%s' did not end its work within %g s",
                             self->base.name, self->base.options.time_limit_s);
        }
        nanosleep(&(struct timespec){.tv_nsec = pause_ns}, NULL);
        pause_ns = pause_ns < 1000000 ? 2 * pause_ns : pause_ns;
    }
    return code == CL_SUCCESS ? failed_event(self, event, error)
                              : haul_cl_fail(code, "clGetEventInfo", error);
}

static haul_status wait_for(const haul_cl_device *self, cl_event event, haul_error *error)
{
    if (self->base.options.time_limit_s > 0)
        return wait_with_limit(self, event, error);
    const cl_int code = self->api.clWaitForEvents(1, &event);
    return code == CL_SUCCESS ? HAUL_OK : haul_cl_fail(code, "clWaitForEvents", error);
}

/* A marker takes the stream's waits, so that what follows comes after them. */
static haul_status record(haul_stream *stream, haul_event *event, haul_error *error)
{
    haul_cl_stream *self = (haul_cl_stream *)stream;
    cl_event marker;
    const cl_int code = haul_cl_device_of(stream)->api.clEnqueueMarkerWithWaitList(
        self->queue, self->wait_count, haul_cl_waits(self), &marker);
    if (code != CL_SUCCESS)
        return haul_cl_fail(code, "clEnqueueMarkerWithWaitList", error);
    haul_cl_queued(self, event, marker, marker);
    return HAUL_OK;
}

/* clFinish serves where nothing else is to be waited for; waits that no command has taken yet need
 * a marker. */
static haul_status stream_wait(haul_stream *stream, haul_error *error)
{
    haul_cl_stream *self = (haul_cl_stream *)stream;
    const haul_cl_device *device = haul_cl_device_of(stream);
    cl_event marker;
    if (!self->wait_count && device->base.options.time_limit_s <= 0) {
        const cl_int finished = device->api.clFinish(self->queue);
        return finished == CL_SUCCESS ? HAUL_OK : haul_cl_fail(finished, "clFinish", error);
    }
    const cl_int code = device->api.clEnqueueMarkerWithWaitList(self->queue, self->wait_count,
                                                                haul_cl_waits(self), &marker);
    if (code != CL_SUCCESS)
        return haul_cl_fail(code, "clEnqueueMarkerWithWaitList", error);
    haul_cl_clear_waits(self);
    device->api.clFlush(self->queue);
    const haul_status status = wait_for(device, marker, error);
    device->api.clReleaseEvent(marker);
    return status;
}

static haul_status event_new(haul_device *device, haul_event **event, haul_error *error)
{
    (void)device;
    return haul_event_alloc(sizeof(haul_cl_event), event, error);
}

static void drop_event(const haul_cl_api *api, haul_cl_event *self)
{
    if (self->first)
        api->clReleaseEvent(self->first);
    if (self->last)
        api->clReleaseEvent(self->last);
}

static void event_free(haul_event *event)
{
    drop_event(&((haul_cl_device *)event->device)->api, (haul_cl_event *)event);
    free(event);
}

static haul_status event_wait(haul_event *event, haul_error *error)
{
    return wait_for((haul_cl_device *)event->device, ((haul_cl_event *)event)->last, error);
}

static haul_status event_done(haul_event *event, bool *done, haul_error *error)
{
    const haul_cl_device *device = (haul_cl_device *)event->device;
    cl_event last = ((haul_cl_event *)event)->last;
    cl_int code;
    const bool ended = has_ended(device, last, &code);
    if (code != CL_SUCCESS)
        return haul_cl_fail(code, "clGetEventInfo", error);
    const haul_status status = ended ? failed_event(device, last, error) : HAUL_OK;
    if (!status)
        *done = ended;
    return status;
}

static haul_status event_seconds(haul_event *from, haul_event *to, double *seconds,
                                 haul_error *error)
{
    const haul_cl_api *api = &((haul_cl_device *)from->device)->api;
    cl_ulong start = 0, end = 0;
    cl_int code = api->clGetEventProfilingInfo(
        ((haul_cl_event *)from)->first, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    if (code == CL_SUCCESS)
        code = api->clGetEventProfilingInfo(((haul_cl_event *)to)->last, CL_PROFILING_COMMAND_END,
                                            sizeof end, &end, NULL);
    if (code != CL_SUCCESS)
        return haul_cl_fail(code, "clGetEventProfilingInfo", error);
    *seconds = (double)(int64_t)(end - start) * 1e-9;
    return HAUL_OK;
}

const cl_event *haul_cl_waits(const haul_cl_stream *stream)
{
    return stream->wait_count ? stream->waits : NULL;
}

void haul_cl_clear_waits(haul_cl_stream *stream)
{
    const haul_cl_api *api = &haul_cl_device_of(&stream->base)->api;
    for (cl_uint i = 0; i < stream->wait_count; i++)
        api->clReleaseEvent(stream->waits[i]);
    stream->wait_count = 0;
}

void haul_cl_queued(haul_cl_stream *stream, haul_event *event, cl_event first, cl_event last)
{
    const haul_cl_api *api = &haul_cl_device_of(&stream->base)->api;
    haul_cl_event *self = (haul_cl_event *)event;
    if (stream->wait_count)
        haul_cl_clear_waits(stream);
    if (self) {
        drop_event(api, self);
        self->first = first;
        self->last = last;
        if (first == last)
            api->clRetainEvent(last);
    }
    api->clFlush(stream->queue);
}

haul_status haul_cl_wait_for(haul_cl_stream *stream, cl_event event, haul_error *error)
{
    const haul_cl_api *api = &haul_cl_device_of(&stream->base)->api;
    if (stream->wait_count == HAUL_CL_WAITS) {
        const cl_int code = api->clEnqueueMarkerWithWaitList(stream->queue, stream->wait_count,
                                                             stream->waits, NULL);
        if (code != CL_SUCCESS)
            return haul_cl_fail(code, "clEnqueueMarkerWithWaitList", error);
        haul_cl_clear_waits(stream);
    }
    api->clRetainEvent(event);
    stream->waits[stream->wait_count++] = event;
    return HAUL_OK;
}

static haul_status wait_event(haul_stream *stream, haul_event *event, haul_error *error)
{
    return haul_cl_wait_for((haul_cl_stream *)stream, ((haul_cl_event *)event)->last, error);
}

const haul_device_backend haul_opencl_backend = {
    .abi = HAUL_DEVICE_ABI,
    .kind = "opencl",
    .summary = "any OpenCL device, by the installed loader",
    .count = count_devices,
    .open = open_device,
    .close = close_device,
    .room = haul_cl_room,
    .memory_of = haul_cl_memory_of,
    .buffer_new = haul_cl_buffer_new,
    .buffer_pin = haul_cl_buffer_pin,
    .buffer_free = haul_cl_buffer_free,
    .stream_new = stream_new,
    .stream_free = stream_free,
    .stream_wait = stream_wait,
    .event_new = event_new,
    .event_free = event_free,
    .event_wait = event_wait,
    .event_done = event_done,
    .event_seconds = event_seconds,
    .copy = haul_cl_copy,
    .fill = haul_cl_fill,
    .call = haul_cl_call,
    .record = record,
    .wait_event = wait_event,
    .kernel_new = haul_cl_kernel_new,
    .kernel_free = haul_cl_kernel_free,
    .launch = haul_cl_launch,
};
