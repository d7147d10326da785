/* Finding and opening devices of CUDA and HIP. */
#include "device/cuda_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "device/backends.h"
#include "device/cuda_queue.h"

/* Each thread has a current context of its own, so every call begins here. A device that is lost is
 * not touched again: its calls could block for ever. */
haul_status haul_cu_enter(const haul_cu_device *self, haul_error *error)
{
    if (self->node->is_lost)
        return haul_fail(error, HAUL_DEVICE_FAILED,
                         "device '%s' is not used any more: a wait for it ran out of time",
                         self->base.name);
    const int result = self->api.set_current(self->context);
    return result ? haul_cu_fail(&self->api, result, "using the device", error) : HAUL_OK;
}

/* --- what a device is */

static const char *architecture(int major, int minor)
{
    static const struct {
        int capability; /* from here on */
        const char *name;
    } names[] = {{100, "blackwell"}, {90, "hopper"}, {89, "ada"},    {80, "ampere"},
                 {75, "turing"},     {70, "volta"},  {60, "pascal"}, {50, "maxwell"},
                 {30, "kepler"},     {20, "fermi"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (10 * major + minor >= names[i].capability)
            return names[i].name;
    return NULL;
}

/* GPUs before compute capability 3.5 have one queue for all streams (CCGrid 2014, III). */
static int implicit_sync(const haul_cu_device *self, int major, int minor)
{
    return self->api.is_hip ? -1 : 10 * major + minor < 35;
}

static unsigned positive(int value)
{
    return value > 0 ? (unsigned)value : 0;
}

/* Runs after the device was opened; attributes that the driver does not know stay 0. */
static void describe(haul_cu_device *self)
{
    int read[HAUL_CU_GROUP_BYTES + 1], count = 0;
    size_t memory = 0;
    for (haul_cu_attribute i = 0; i <= HAUL_CU_GROUP_BYTES; i++)
        read[i] = haul_cu_read(&self->api, self->number, i);
    self->api.device_count(&count);
    self->api.device_memory(&memory, self->number);
    if (self->api.device_name(self->title, sizeof self->title, self->number))
        snprintf(self->title, sizeof self->title, "a GPU");
    self->managed = read[HAUL_CU_MANAGED_AT_ONCE];
    const int major = read[HAUL_CU_MAJOR], minor = read[HAUL_CU_MINOR];
    self->base.properties = (haul_device_properties){
        .name = self->title,
        .architecture = self->api.is_hip ? NULL : architecture(major, minor),
        .can = HAUL_CAN_COMBINE_WRITES | HAUL_CAN_PIN | HAUL_CAN_SHARE |
               (read[HAUL_CU_MAPS_HOST] ? HAUL_CAN_MAP : 0) |
               (read[HAUL_CU_MANAGED_MEMORY] ? HAUL_CAN_MANAGE : 0) |
               (count > 1 ? HAUL_CAN_REACH_PEERS : 0),
        .memory_bytes = memory,
        .l2_bytes = positive(read[HAUL_CU_L2_BYTES]),
        /* two transfers a clock */
        .memory_bandwidth_Bps =
            2e3 * read[HAUL_CU_MEMORY_CLOCK_KHZ] * read[HAUL_CU_MEMORY_BUS_BITS] / 8,
        .clock_Hz = 1e3 * read[HAUL_CU_CLOCK_KHZ],
        .multiprocessors = positive(read[HAUL_CU_MULTIPROCESSORS]),
        .group_bytes = positive(read[HAUL_CU_GROUP_BYTES]),
        .multiprocessor_bytes = positive(read[HAUL_CU_MULTIPROCESSOR_BYTES]),
        .copy_engines = positive(read[HAUL_CU_COPY_ENGINES]),
        .compute_major = positive(major),
        .compute_minor = positive(minor),
        .implicit_sync = implicit_sync(self, major, minor),
    };
}

/* --- devices beside each other */

/* The driver enables access in one direction: the caller asks for both. Enabled before by someone
 * else in the process is fine. */
static haul_status reach(const haul_cu_device *from, const haul_cu_device *to, haul_error *error)
{
    int can = 0;
    int result = from->api.can_reach(&can, from->number, to->number);
    if (!result && !can)
        return haul_fail(error, HAUL_ABSENT, "GPU %d cannot reach the memory of GPU %d",
                         from->number, to->number);
    if (!result)
        result = from->api.set_current(from->context);
    if (!result)
        result = from->api.reach(to->context, 0);
    if (result && result != HAUL_CU_PEER_ALREADY_ENABLED)
        return haul_cu_fail(&from->api, result, "reaching the memory of another GPU", error);
    return HAUL_OK;
}

/* Devices opened beside each other form a node: any of them may use another's buffers and events,
 * so all settle together. */
static haul_status join_node(haul_cu_device *self, const haul_device *beside, haul_error *error)
{
    haul_status status = HAUL_OK;
    self->node = beside ? ((const haul_cu_device *)beside)->node : calloc(1, sizeof *self->node);
    if (!self->node)
        return haul_fail_no_memory(error);
    for (const haul_cu_device *i = self->node->devices; i && !status; i = i->next) {
        if (i->number == self->number)
            continue;
        status = reach(self, i, error);
        if (!status)
            status = reach(i, self, error);
    }
    if (status)
        return status;
    self->next = self->node->devices;
    self->node->devices = self;
    return HAUL_OK;
}

static void leave_node(const haul_cu_device *self)
{
    haul_cu_device **at = &self->node->devices;
    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    if (!self->node->devices)
        free(self->node);
}

/* --- opening */

static haul_status choose(haul_cu_device *self, const char *which, haul_error *error)
{
    char *end;
    int count = 0;
    const char *kind = self->api.is_hip ? "hip" : "cuda";
    const unsigned long ordinal = strtoul(which, &end, 10);
    if (*end || *which == '-' || *which == '+' || *which == ' ')
        return haul_fail(error, HAUL_USAGE, "a device is '%s:N', not '%s:%.40s'", kind, kind,
                         which);
    int result = self->api.device_count(&count);
    if (!result && ordinal >= (unsigned long)count)
        return haul_fail(error, HAUL_ABSENT, "there is no device '%s:%.40s': the last is %d", kind,
                         which, count - 1);
    if (!result)
        result = self->api.device_get(&self->number, (int)ordinal);
    if (!result)
        result = self->api.retain(&self->context, self->number);
    return result ? haul_cu_fail(&self->api, result, "opening the GPU", error) : HAUL_OK;
}

static haul_status open_device(bool is_hip, const char *which, const haul_device_options *options,
                               haul_device **device, haul_error *error)
{
    haul_cu_device *self = calloc(1, sizeof *self);
    if (!self)
        return haul_fail_no_memory(error);
    haul_status status = haul_cu_load(&self->api, is_hip, error);
    if (!status)
        status = choose(self, which, error);
    if (!status) {
        status = join_node(self, options->beside, error);
        if (status)
            self->api.release(self->number);
    }
    if (status) {
        free(self);
        return status;
    }
    describe(self);
    *device = &self->base;
    return HAUL_OK;
}

static void close_device(haul_device *device)
{
    haul_cu_device *self = (haul_cu_device *)device;
    if (!self->node->is_lost)
        self->api.release(self->number);
    leave_node(self);
    free(self);
}

static unsigned count_devices(bool is_hip)
{
    int count = 0;
    haul_cu_api api;
    if (haul_cu_load(&api, is_hip, NULL) || api.device_count(&count))
        return 0;
    return positive(count);
}

static haul_status open_cuda(const char *which, const haul_device_options *options,
                             haul_device **device, haul_error *error)
{
    return open_device(false, which, options, device, error);
}

static haul_status open_hip(const char *which, const haul_device_options *options,
                            haul_device **device, haul_error *error)
{
    return open_device(true, which, options, device, error);
}

static unsigned count_cuda(void)
{
    return count_devices(false);
}

static unsigned count_hip(void)
{
    return count_devices(true);
}

#define BACKEND(vendor, text)                                                                      \
    const haul_device_backend haul_##vendor##_backend = {                                          \
        .abi = HAUL_DEVICE_ABI,                                                                    \
        .kind = #vendor,                                                                           \
        .summary = (text),                                                                         \
        .count = count_##vendor,                                                                   \
        .open = open_##vendor,                                                                     \
        .close = close_device,                                                                     \
        .room = haul_cu_room,                                                                      \
        .memory_of = haul_cu_memory_of,                                                            \
        .buffer_new = haul_cu_buffer_new,                                                          \
        .buffer_pin = haul_cu_buffer_pin,                                                          \
        .buffer_free = haul_cu_buffer_free,                                                        \
        .buffer_export = haul_cu_buffer_export,                                                    \
        .buffer_import = haul_cu_buffer_import,                                                    \
        .stream_new = haul_cu_stream_new,                                                          \
        .stream_free = haul_cu_stream_free,                                                        \
        .stream_wait = haul_cu_stream_wait,                                                        \
        .event_new = haul_cu_event_new,                                                            \
        .event_free = haul_cu_event_free,                                                          \
        .event_wait = haul_cu_event_wait,                                                          \
        .event_done = haul_cu_event_done,                                                          \
        .event_seconds = haul_cu_event_seconds,                                                    \
        .copy = haul_cu_copy,                                                                      \
        .fill = haul_cu_fill,                                                                      \
        .prefetch = haul_cu_prefetch,                                                              \
        .call = haul_cu_call,                                                                      \
        .record = haul_cu_record,                                                                  \
        .wait_event = haul_cu_wait_event,                                                          \
        .kernel_new = haul_cu_kernel_new,                                                          \
        .kernel_free = haul_cu_kernel_free,                                                        \
        .launch = haul_cu_launch,                                                                  \
    };

BACKEND(cuda, "GPUs of NVIDIA, by CUDA's driver")
BACKEND(hip, "GPUs of AMD, by HIP")
