/* Finding and opening devices of CUDA and HIP. */
#include "device/cuda_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "device/backends.h"
#include "device/cuda_queue.h"

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

static unsigned positive(int value)
{
    return value > 0 ? (unsigned)value : 0;
}

/* By UUID, which parts of one GPU have apart (MIG), else by its place on the bus. */
static void identify(hl_device_cu_device *self)
{
    hl_device_uuid uuid = {{0}};
    int version = 0;
    if (self->api.device_uuid(&uuid, self->number))
        uuid = (hl_device_uuid){{0}};
    hl_device_uuid_format(&uuid, self->identity);
    if (!*self->identity &&
        self->api.device_bus(self->identity, sizeof self->identity, self->number))
        self->identity[0] = '\0';
    self->api.version(&version);
    snprintf(self->version, sizeof self->version, "%d", version);
}

/* Runs after the device was opened; attributes that the driver does not know stay 0. */
static void describe(hl_device_cu_device *self)
{
    int read[HL_DEVICE_CU_GROUP_BYTES + 1], count = 0;
    size_t memory = 0;
    for (hl_device_cu_attribute i = 0; i <= HL_DEVICE_CU_GROUP_BYTES; i++)
        read[i] = hl_device_cu_read(&self->api, self->number, i);
    self->api.device_count(&count);
    self->api.device_memory(&memory, self->number);
    if (self->api.device_name(self->title, sizeof self->title, self->number))
        snprintf(self->title, sizeof self->title, "a GPU");
    identify(self);
    self->managed = read[HL_DEVICE_CU_MANAGED_AT_ONCE];
    const int major = read[HL_DEVICE_CU_MAJOR], minor = read[HL_DEVICE_CU_MINOR];
    /* Two transfers a clock. Not of HIP, which tells the clock of the memory's controller: HBM3 and
     * GDDR6 move more than two a clock of it (github.com/openxla/xla, pull request 44746), so that
     * the product is no peak. */
    const double doubled =
        2e3 * read[HL_DEVICE_CU_MEMORY_CLOCK_KHZ] * read[HL_DEVICE_CU_MEMORY_BUS_BITS] / 8;
    /* GPUs before compute capability 3.5 have one queue for all streams (CCGrid 2014, III). */
    self->base.properties = (haul_device_properties){
        .name = self->title,
        .architecture = self->api.is_hip ? NULL : architecture(major, minor),
        .identity = self->identity,
        .driver = self->version,
        .count = positive(count),
        .can = HAUL_DEVICE_CAN_COMBINE_WRITES | HAUL_DEVICE_CAN_PIN | HAUL_DEVICE_CAN_SHARE |
               (read[HL_DEVICE_CU_MAPS_HOST] ? HAUL_DEVICE_CAN_MAP : 0) |
               (read[HL_DEVICE_CU_MANAGED_MEMORY] ? HAUL_DEVICE_CAN_MANAGE : 0) |
               (count > 1 ? HAUL_DEVICE_CAN_REACH_PEERS : 0),
        .memory_bytes = memory,
        .l2_bytes = positive(read[HL_DEVICE_CU_L2_BYTES]),
        .memory_bandwidth_Bps = self->api.is_hip ? 0 : doubled,
        .clock_Hz = 1e3 * read[HL_DEVICE_CU_CLOCK_KHZ],
        .multiprocessors = positive(read[HL_DEVICE_CU_MULTIPROCESSORS]),
        .group_bytes = positive(read[HL_DEVICE_CU_GROUP_BYTES]),
        .multiprocessor_bytes = positive(read[HL_DEVICE_CU_MULTIPROCESSOR_BYTES]),
        .copy_engines = positive(read[HL_DEVICE_CU_COPY_ENGINES]),
        .compute_major = positive(major),
        .compute_minor = positive(minor),
        .implicit_sync = self->api.is_hip ? -1 : 10 * major + minor < 35,
    };
}

/* --- devices beside each other */

/* The driver enables access in one direction: the caller asks for both. Enabled before by someone
 * else in the process is fine. */
static haul_status reach(const hl_device_cu_device *from, const hl_device_cu_device *to,
                         haul_error *error)
{
    HL_DEVICE_CU_VISIT(from);
    int can = 0;
    int result = from->api.can_reach(&can, from->number, to->number);
    if (!result && !can)
        return haul_error_set(error, HAUL_STATUS_ABSENT, "GPU %d cannot reach the memory of GPU %d",
                              from->number, to->number);
    if (!result)
        result = from->api.is_hip ? from->api.hip_set_device(from->number)
                                  : from->api.cuda_set_current(from->context);
    if (!result)
        result = from->api.is_hip ? from->api.hip_reach(to->number, 0)
                                  : from->api.cuda_reach(to->context, 0);
    if (result && result != HL_DEVICE_CU_PEER_ALREADY_ENABLED)
        return hl_device_cu_fail(&from->api, result, "reaching the memory of another GPU", error);
    return HAUL_OK;
}

/* Devices opened beside each other form a node: any of them may use another's buffers and events,
 * so all settle together. */
static haul_status join_node(hl_device_cu_device *self, const haul_device *beside,
                             haul_error *error)
{
    haul_status status = HAUL_OK;
    self->node =
        beside ? ((const hl_device_cu_device *)beside)->node : calloc(1, sizeof *self->node);
    if (!self->node)
        return hl_base_fail_no_memory(error);
    for (const hl_device_cu_device *i = self->node->devices; i && !status; i = i->next) {
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

/* --- opening */

/* Whether the device of that number has the UUID or the place on the bus: of a UUID the beginning
 * is enough, as elsewhere with NVIDIA. */
static bool is_meant(const hl_device_cu_device *self, int number, const char *which)
{
    hl_device_uuid uuid;
    char text[HL_DEVICE_IDENTITY_BYTES] = "";
    if (!self->api.device_uuid(&uuid, number))
        hl_device_uuid_format(&uuid, text);
    if (*text && !strncasecmp(text, which, strlen(which)))
        return true;
    return !self->api.device_bus(text, sizeof text, number) && !strcasecmp(text, which);
}

/* "GPU-" or "MIG-" begins a UUID, and only places on the bus have a ':'. */
static haul_status find_by_identity(hl_device_cu_device *self, const char *which, haul_error *error)
{
    const char *kind = self->api.is_hip ? "hip" : "cuda";
    int count = 0, found = 0;
    int result = self->api.device_count(&count);
    for (int i = 0; i < count && !result; i++) {
        int number;
        result = self->api.device_get(&number, i);
        if (result || !is_meant(self, number, which))
            continue;
        self->number = number;
        found++;
    }
    if (result)
        return hl_device_cu_fail(&self->api, result, "looking for the GPU", error);
    if (found > 1)
        return haul_error_set(error, HAUL_STATUS_USAGE, "%d devices are '%s:%.50s...'", found, kind,
                              which);
    return found ? HAUL_OK
                 : haul_error_set(error, HAUL_STATUS_ABSENT, "there is no device '%s:%.50s'", kind,
                                  which);
}

static haul_status find_by_number(hl_device_cu_device *self, const char *which, haul_error *error)
{
    char *end;
    int count = 0;
    const char *kind = self->api.is_hip ? "hip" : "cuda";
    const unsigned long ordinal = strtoul(which, &end, 10);
    if (*end || *which == '-' || *which == '+' || *which == ' ')
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "a device is '%s:N', '%s:UUID' or '%s:' and its place on the bus, "
                              "not '%s:%.40s'",
                              kind, kind, kind, kind, which);
    int result = self->api.device_count(&count);
    if (!result && ordinal >= (unsigned long)count)
        return haul_error_set(error, HAUL_STATUS_ABSENT,
                              "there is no device '%s:%.40s': the last is %d", kind, which,
                              count - 1);
    if (!result)
        result = self->api.device_get(&self->number, (int)ordinal);
    return result ? hl_device_cu_fail(&self->api, result, "opening the GPU", error) : HAUL_OK;
}

static haul_status choose_device(hl_device_cu_device *self, const char *which, haul_error *error)
{
    const bool is_identity =
        !strncasecmp(which, "GPU-", 4) || !strncasecmp(which, "MIG-", 4) || strchr(which, ':');
    HAUL_TRY(is_identity ? find_by_identity(self, which, error)
                         : find_by_number(self, which, error));
    const int result = self->api.retain(&self->context, self->number);
    return result ? hl_device_cu_fail(&self->api, result, "opening the GPU", error) : HAUL_OK;
}

static haul_status open_device(bool is_hip, const char *which, const haul_device_options *options,
                               haul_device **device, haul_error *error)
{
    hl_device_cu_device *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    haul_status status = hl_device_cu_load(&self->api, is_hip, error);
    if (!status)
        status = choose_device(self, which, error);
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
    hl_device_cu_device *self = (hl_device_cu_device *)device;
    if (!self->node->is_lost)
        self->api.release(self->number);
    hl_device_cu_device **at = &self->node->devices;
    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    if (!self->node->devices)
        free(self->node);
    free(self);
}

static unsigned count_devices(bool is_hip)
{
    int count = 0;
    hl_device_cu_api api;
    if (hl_device_cu_load(&api, is_hip, NULL) || api.device_count(&count))
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
    const haul_device_backend hl_device_##vendor##_backend = {                                     \
        .abi = HAUL_DEVICE_ABI,                                                                    \
        .kind = #vendor,                                                                           \
        .summary = (text),                                                                         \
        .count = count_##vendor,                                                                   \
        .open = open_##vendor,                                                                     \
        .close = close_device,                                                                     \
        .room = hl_device_cu_room,                                                                 \
        .memory_of = hl_device_cu_memory_of,                                                       \
        .buffer_new = hl_device_cu_buffer_new,                                                     \
        .buffer_pin = hl_device_cu_buffer_pin,                                                     \
        .buffer_free = hl_device_cu_buffer_free,                                                   \
        .buffer_export = hl_device_cu_buffer_export,                                               \
        .buffer_import = hl_device_cu_buffer_import,                                               \
        .stream_new = hl_device_cu_stream_new,                                                     \
        .stream_free = hl_device_cu_stream_free,                                                   \
        .stream_wait = hl_device_cu_stream_wait,                                                   \
        .event_new = hl_device_cu_event_new,                                                       \
        .event_free = hl_device_cu_event_free,                                                     \
        .event_wait = hl_device_cu_event_wait,                                                     \
        .event_done = hl_device_cu_event_done,                                                     \
        .event_seconds = hl_device_cu_event_seconds,                                               \
        .copy = hl_device_cu_copy,                                                                 \
        .fill = hl_device_cu_fill,                                                                 \
        .prefetch = hl_device_cu_prefetch,                                                         \
        .call = hl_device_cu_call,                                                                 \
        .record = hl_device_cu_record,                                                             \
        .wait_event = hl_device_cu_wait_event,                                                     \
        .kernel_new = hl_device_cu_kernel_new,                                                     \
        .kernel_free = hl_device_cu_kernel_free,                                                   \
        .launch = hl_device_cu_launch,                                                             \
        .buffer_wrap = hl_device_cu_buffer_wrap,                                                   \
        .stream_wrap = hl_device_cu_stream_wrap,                                                   \
        .kernel_wrap = hl_device_cu_kernel_wrap,                                                   \
        .kernel_load = hl_device_cu_kernel_load,                                                   \
    };

BACKEND(cuda, "GPUs of NVIDIA, by CUDA's driver")
BACKEND(hip, "GPUs of AMD, by HIP")
