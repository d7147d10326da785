/* Finding and opening devices of OpenCL. */
#include "device/opencl_device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "device/backends.h"

enum { PLATFORMS = 16, DEVICES = 64 };

/* The loader and the drivers are not ready before the first list of platforms and devices has been
 * made, and neither guards that: a second thread finds no device, or half of one. The lock is of
 * the process, as they are. */
static pthread_mutex_t listing = PTHREAD_MUTEX_INITIALIZER;

/* All devices, GPUs and accelerators first. */
static cl_uint list_devices(const hl_device_cl_api *api, cl_device_id found[DEVICES])
{
    static const cl_device_type types[] = {CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR |
                                               CL_DEVICE_TYPE_CUSTOM,
                                           CL_DEVICE_TYPE_CPU};
    cl_platform_id platforms[PLATFORMS];
    cl_uint platform_count = 0, count = 0;
    pthread_mutex_lock(&listing);
    if (api->clGetPlatformIDs(PLATFORMS, platforms, &platform_count) != CL_SUCCESS)
        platform_count = 0;
    for (int t = 0; t < 2; t++)
        for (cl_uint i = 0; i < platform_count && i < PLATFORMS; i++) {
            cl_uint more = 0;
            if (count < DEVICES && api->clGetDeviceIDs(platforms[i], types[t], DEVICES - count,
                                                       found + count, &more) == CL_SUCCESS)
                count += more < DEVICES - count ? more : DEVICES - count;
        }
    pthread_mutex_unlock(&listing);
    return count;
}

/* 0 without OpenCL: that is no error when devices are listed. */
static unsigned count_devices(void)
{
    hl_device_cl_api api;
    cl_device_id found[DEVICES];
    return hl_device_cl_load(&api, NULL) ? 0 : list_devices(&api, found);
}

static void read_text(const hl_device_cl_device *self, cl_device_info what, char *text, size_t size)
{
    text[0] = '\0';
    if (self->api.clGetDeviceInfo(self->id, what, size - 1, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    text[size - 1] = '\0';
}

static uint64_t read_number(const hl_device_cl_device *self, cl_device_info what)
{
    uint64_t value = 0; /* little-endian: smaller numbers leave the rest zero */
    if (self->api.clGetDeviceInfo(self->id, what, sizeof value, &value, NULL) != CL_SUCCESS)
        return 0;
    return value;
}

/* CL_DEVICE_UUID_KHR of cl_khr_device_uuid, which headers of before 2020 lack. */
enum { UUID_OF_DEVICE = 0x106a };

/* OpenCL tells neither bandwidth nor copy engines: they stay 0. */
static void describe(hl_device_cl_device *self)
{
    char driver[100], version[100];
    read_text(self, CL_DEVICE_NAME, self->name, sizeof self->name);
    read_text(self, CL_DRIVER_VERSION, driver, sizeof driver);
    read_text(self, CL_DEVICE_VERSION, version, sizeof version);
    snprintf(self->version, sizeof self->version, "%s %s", version, driver);
    hl_device_uuid uuid = {{0}};
    if (self->api.clGetDeviceInfo(self->id, UUID_OF_DEVICE, sizeof uuid, &uuid, NULL) != CL_SUCCESS)
        uuid = (hl_device_uuid){{0}};
    hl_device_uuid_format(&uuid, self->identity);
    self->is_cpu = read_number(self, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU;
    self->group_most = read_number(self, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    self->allocation_most = read_number(self, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    self->base.properties = (haul_device_properties){
        .name = self->name,
        .identity = self->identity,
        .driver = self->version,
        .is_host = self->is_cpu,
        .can = HAUL_DEVICE_CAN_MAP | HAUL_DEVICE_CAN_PIN |
               (self->node->is_split ? HAUL_DEVICE_CAN_REACH_PEERS : 0),
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
static haul_status split_device(const hl_device_cl_api *api, hl_device_cl_node *node,
                                haul_error *error)
{
    const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    cl_device_id whole = node->parts[0];
    const cl_int code =
        api->clCreateSubDevices(whole, equally, HL_DEVICE_CL_PARTS, node->parts, &node->count);
    if (code == CL_SUCCESS)
        return HAUL_OK;
    node->count = 0;
    return haul_error_set(error, HAUL_STATUS_ABSENT, "device 'opencl:%lu' has no parts",
                          node->number);
}

/* A lost node is left as it is: commands that never end still use it. */
static void node_release(const hl_device_cl_api *api, hl_device_cl_node *node)
{
    if (--node->users || node->is_lost)
        return;
    if (node->context)
        api->clReleaseContext(node->context);
    for (cl_uint i = 0; node->is_split && i < node->count; i++)
        api->clReleaseDevice(node->parts[i]);
    free(node);
}

static haul_status node_new(const hl_device_cl_api *api, unsigned long number, bool is_split,
                            hl_device_cl_node **out, haul_error *error)
{
    cl_device_id found[DEVICES];
    cl_int code = CL_SUCCESS;
    const cl_uint count = list_devices(api, found);
    if (!count)
        return haul_error_set(error, HAUL_STATUS_ABSENT,
                              "no OpenCL device: pocl-opencl-icd makes the CPU one");
    if (number >= count)
        return haul_error_set(error, HAUL_STATUS_ABSENT,
                              "there is no device 'opencl:%lu': the last is %u", number, count - 1);
    hl_device_cl_node *node = calloc(1, sizeof *node);
    if (!node)
        return hl_base_fail_no_memory(error);
    *node = (hl_device_cl_node){.number = number, .is_split = is_split, .users = 1, .count = 1};
    node->parts[0] = found[number];
    haul_status status = is_split ? split_device(api, node, error) : HAUL_OK;
    if (!status)
        node->context = api->clCreateContext(NULL, node->count, node->parts, NULL, NULL, &code);
    if (code != CL_SUCCESS)
        status = hl_device_cl_fail(code, "clCreateContext", error);
    if (status)
        node_release(api, node);
    else
        *out = node;
    return status;
}

/* The program's context, in place of one of haul's own. */
static haul_status node_of_queue(const hl_device_cl_api *api, unsigned long number, void *queue,
                                 hl_device_cl_node **out, haul_error *error)
{
    cl_device_id found[DEVICES], id = NULL;
    cl_context context = NULL;
    cl_command_queue own = queue;
    cl_int code =
        api->clGetCommandQueueInfo(own, CL_QUEUE_CONTEXT, sizeof(cl_context), &context, NULL);
    if (code == CL_SUCCESS)
        code = api->clGetCommandQueueInfo(own, CL_QUEUE_DEVICE, sizeof(cl_device_id), &id, NULL);
    if (code != CL_SUCCESS)
        return hl_device_cl_fail(code, "clGetCommandQueueInfo", error);
    if (number >= list_devices(api, found) || found[number] != id)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "the program's queue is not of device 'opencl:%lu'", number);
    hl_device_cl_node *node = calloc(1, sizeof *node);
    if (!node)
        return hl_base_fail_no_memory(error);
    *node = (hl_device_cl_node){.context = context, .number = number, .users = 1, .count = 1};
    node->parts[0] = id;
    api->clRetainContext(context);
    *out = node;
    return HAUL_OK;
}

static haul_status join_node(hl_device_cl_device *self, const haul_device_options *options,
                             unsigned long number, long part, haul_error *error)
{
    const hl_device_cl_device *beside = (const hl_device_cl_device *)options->beside;
    haul_status status = HAUL_OK;
    if (options->queue && (beside || part >= 0)) {
        status = haul_error_set(error, HAUL_STATUS_USAGE,
                                "a queue of the program's is of a whole device that is by itself");
    } else if (options->queue) {
        status = node_of_queue(&self->api, number, options->queue, &self->node, error);
    } else if (!beside) {
        status = node_new(&self->api, number, part >= 0, &self->node, error);
    } else if (part < 0 || !beside->node->is_split || beside->node->number != number) {
        status = haul_error_set(error, HAUL_STATUS_ABSENT,
                                "only parts of one OpenCL device, such as "
                                "'opencl:0.0' and 'opencl:0.1', can be beside each other");
    } else {
        self->node = beside->node;
        self->node->users++;
    }
    if (status)
        return status;
    if (part >= (long)self->node->count) {
        status = haul_error_set(error, HAUL_STATUS_ABSENT, "device 'opencl:%lu' has %u parts",
                                number, self->node->count);
        node_release(&self->api, self->node);
        return status;
    }
    self->id = self->node->parts[part < 0 ? 0 : part];
    return HAUL_OK;
}

static haul_status open_device(const char *which, const haul_device_options *options,
                               haul_device **device, haul_error *error)
{
    unsigned long number;
    long part;
    if (!parse_which(which, &number, &part))
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "an OpenCL device is 'opencl:N', or 'opencl:N.PART', "
                              "not 'opencl:%.40s'",
                              which);
    hl_device_cl_device *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    haul_status status = hl_device_cl_load(&self->api, error);
    if (!status)
        status = join_node(self, options, number, part, error);
    if (!status) {
        status = hl_device_cl_queue_new(self, &self->maps, error);
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
    hl_device_cl_device *self = (hl_device_cl_device *)device;
    if (!self->node->is_lost)
        self->api.clReleaseCommandQueue(self->maps);
    node_release(&self->api, self->node);
    free(self);
}

const haul_device_backend hl_device_opencl_backend = {
    .abi = HAUL_DEVICE_ABI,
    .kind = "opencl",
    .summary = "any OpenCL device, by the installed loader",
    .count = count_devices,
    .open = open_device,
    .close = close_device,
    .room = hl_device_cl_room,
    .memory_of = hl_device_cl_memory_of,
    .buffer_new = hl_device_cl_buffer_new,
    .buffer_pin = hl_device_cl_buffer_pin,
    .buffer_free = hl_device_cl_buffer_free,
    .stream_new = hl_device_cl_stream_new,
    .stream_free = hl_device_cl_stream_free,
    .stream_wait = hl_device_cl_stream_wait,
    .event_new = hl_device_cl_event_new,
    .event_free = hl_device_cl_event_free,
    .event_wait = hl_device_cl_event_wait,
    .event_done = hl_device_cl_event_done,
    .event_seconds = hl_device_cl_event_seconds,
    .copy = hl_device_cl_copy,
    .fill = hl_device_cl_fill,
    .call = hl_device_cl_call,
    .record = hl_device_cl_record,
    .wait_event = hl_device_cl_wait_event,
    .kernel_new = hl_device_cl_kernel_new,
    .kernel_free = hl_device_cl_kernel_free,
    .launch = hl_device_cl_launch,
    .buffer_wrap = hl_device_cl_buffer_wrap,
    .stream_wrap = hl_device_cl_stream_wrap,
    .kernel_wrap = hl_device_cl_kernel_wrap,
    .kernel_load = hl_device_cl_kernel_load,
};
