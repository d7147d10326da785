/* The kinds of devices: opening one, and listing them. */
#include "haul/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/folders.h"
#include "device/backends.h"
#include "device/device_shared.h"

static const haul_device_backend *const backends[] = {
#define BACKEND_ROW(kind) &hl_device_##kind##_backend,
    HL_DEVICE_BACKENDS(BACKEND_ROW)
#undef BACKEND_ROW
};

enum { BACKENDS = sizeof backends / sizeof(haul_device_backend *) };

/* The name is kept as it was asked for, so that messages say what the user wrote. */
haul_status haul_device_open_with(const haul_device_backend *backend, const char *which,
                                  const haul_device_options *options, haul_device **device,
                                  haul_error *error)
{
    const haul_device_options none = {.beside = NULL};
    if (!options)
        options = &none;
    if (backend->abi != HAUL_DEVICE_ABI)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "device kind '%s' was built for another libhaul", backend->kind);
    if (options->beside && options->beside->backend != backend)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "a device of kind '%s' cannot be beside '%s'", backend->kind,
                              options->beside->name);
    haul_device *made;
    HAUL_TRY(backend->open(which, options, &made, error));
    made->backend = backend;
    made->options = *options;
    made->options.test = NULL; /* the caller's, which may go now */
    if (options->test)
        made->test = *options->test;
    made->cache_folder = options->cache_folder ? strdup(options->cache_folder) : NULL;
    made->options.cache_folder = made->cache_folder;
    snprintf(made->name, sizeof made->name, "%s%s%s", backend->kind, *which ? ":" : "", which);
    if (options->cache_folder && !made->cache_folder) {
        haul_device_close(made);
        return hl_base_fail_no_memory(error);
    }
    *device = made;
    return HAUL_OK;
}

haul_status haul_device_open(const char *name, const haul_device_options *options,
                             haul_device **device, haul_error *error)
{
    if (!name) {
        /* The best device: the kinds are listed in that order. The host is always there. */
        for (size_t i = 0; i < BACKENDS; i++)
            if (backends[i]->count && backends[i]->count())
                return haul_device_open_with(backends[i], "0", options, device, error);
        return haul_device_open("host", options, device, error);
    }
    const size_t shared = hl_device_shared_path(name);
    const haul_device_backend *own;
    if (shared) {
        HAUL_TRY(hl_device_shared_load(name, shared, &own, error));
        return haul_device_open_with(own, name[shared] ? name + shared + 1 : "", options, device,
                                     error);
    }
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
    return haul_error_set(error, HAUL_STATUS_USAGE,
                          "unknown kind of device '%.100s': the kinds are %s, or a shared object",
                          name, known);
}

void haul_device_close(haul_device *device)
{
    if (!device)
        return;
    char *folder = device->cache_folder;
    device->backend->close(device);
    free(folder);
}

haul_status haul_device_list(char ***names, size_t *count, haul_error *error)
{
    hl_base_name_list list = {.names = NULL};
    haul_status status = HAUL_OK;
    for (size_t b = 0; b < BACKENDS; b++) {
        const unsigned kind_count = backends[b]->count ? backends[b]->count() : 0;
        for (unsigned i = 0; i < kind_count && !status; i++) {
            char name[64];
            snprintf(name, sizeof name, "%s:%u", backends[b]->kind, i);
            status = hl_base_name_list_add(&list, name, error);
        }
    }
    if (!status)
        status = hl_base_name_list_add(&list, "host", error);
    return hl_base_name_list_hand_over(&list, status, names, count);
}
