/* Devices and their objects: what is asked of a device is checked here, for all kinds. */
#include "haul/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/folders.h"
#include "device/backends.h"
#include "device/cannot.h"

static const haul_device_backend *const backends[] = {
#define BACKEND_ROW(kind) &haul_##kind##_backend,
    HAUL_BACKENDS(BACKEND_ROW)
#undef BACKEND_ROW
};

enum { BACKENDS = sizeof backends / sizeof(haul_device_backend *) };

static const char *const buffer_kinds[] = {HAUL_BUFFER_LIST(HAUL_ROW_TEXT)};

const char *haul_buffer_kind_text(haul_buffer_kind kind)
{
    return (unsigned)kind < HAUL_BUFFER_KINDS ? buffer_kinds[kind] : "unknown";
}

/* The name is kept as it was asked for, so that messages say what the user wrote. */
haul_status haul_device_open_with(const haul_device_backend *backend, const char *which,
                                  const haul_device_options *options, haul_device **device,
                                  haul_error *error)
{
    const haul_device_options none = {.beside = NULL};
    if (!options)
        options = &none;
    if (backend->abi != HAUL_DEVICE_ABI)
        return haul_fail(error, HAUL_USAGE, "device kind '%s' was built for another libhaul",
                         backend->kind);
    if (options->beside && options->beside->backend != backend)
        return haul_fail(error, HAUL_USAGE, "a device of kind '%s' cannot be beside '%s'",
                         backend->kind, options->beside->name);
    haul_device *made;
    HAUL_TRY(backend->open(which, options, &made, error));
    made->backend = backend;
    made->options = *options;
    snprintf(made->name, sizeof made->name, "%s%s%s", backend->kind, *which ? ":" : "", which);
    *device = made;
    return HAUL_OK;
}

/* The best device: the kinds are listed in that order. The host is always there. */
static haul_status open_first(const haul_device_options *options, haul_device **device,
                              haul_error *error)
{
    for (size_t i = 0; i < BACKENDS; i++)
        if (backends[i]->count && backends[i]->count())
            return haul_device_open_with(backends[i], "0", options, device, error);
    return haul_device_open("host", options, device, error);
}

haul_status haul_device_open(const char *name, const haul_device_options *options,
                             haul_device **device, haul_error *error)
{
    if (!name)
        return open_first(options, device, error);
    const size_t length = strcspn(name, ":");
    for (size_t i = 0; i < BACKENDS; i++) {
        const char *kind = backends[i]->kind;
        if (strlen(kind) == length && !strncmp(kind, name, length))
            return haul_device_open_with(backends[i], name[length] ? name + length + 1 : "",
                                         options, device, error);
    }
    char known[128] = "";
    for (size_t i = 0, used = 0; i < BACKENDS; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 backends[i]->kind);
    return haul_fail(error, HAUL_USAGE, "unknown kind of device '%.100s': the kinds are %s", name,
                     known);
}

void haul_device_close(haul_device *device)
{
    if (device)
        device->backend->close(device);
}

static haul_status list_kind(const haul_device_backend *backend, haul_name_list *list,
                             haul_error *error)
{
    const unsigned count = backend->count ? backend->count() : 0;
    haul_status status = HAUL_OK;
    for (unsigned i = 0; i < count && !status; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s:%u", backend->kind, i);
        status = haul_name_list_add(list, name, error);
    }
    return status;
}

haul_status haul_device_list(char ***names, size_t *count, haul_error *error)
{
    haul_name_list list = {.names = NULL};
    haul_status status = HAUL_OK;
    for (size_t i = 0; i < BACKENDS && !status; i++)
        status = list_kind(backends[i], &list, error);
    if (!status)
        status = haul_name_list_add(&list, "host", error);
    return haul_name_list_hand_over(&list, status, names, count);
}

const haul_device_properties *haul_device_describe(const haul_device *device)
{
    return &device->properties;
}

/* The driver's free memory, or what a limit leaves of it, whichever is less. */
haul_status haul_device_room(haul_device *device, uint64_t *bytes, haul_error *error)
{
    if (!device->backend->room)
        return haul_device_cannot(device, "say how much memory is free", error);
    const haul_status status = device->backend->room(device, bytes, error);
    const uint64_t limit = device->options.memory_limit;
    if (!status && limit) {
        const uint64_t left = limit > device->allocated ? limit - device->allocated : 0;
        *bytes = *bytes < left ? *bytes : left;
    }
    return status;
}

/* A simulated device has a clock of its own. */
int64_t haul_device_now(haul_device *device)
{
    if (device->backend->now)
        return device->backend->now(device);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

haul_status haul_device_memory_of(haul_device *device, const void *pointer, haul_memory *memory,
                                  haul_error *error)
{
    if (!device->backend->memory_of)
        return haul_device_cannot(device, "tell pointers apart", error);
    return device->backend->memory_of(device, pointer, memory, error);
}

haul_status haul_device_cannot(const haul_device *device, const char *what, haul_error *error)
{
    return haul_fail(error, HAUL_ABSENT, "device '%s' cannot %s", device->name, what);
}
