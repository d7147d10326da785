#include "device/device_shared.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

static const char suffix[] = ".so";
enum { SUFFIX = sizeof suffix - 1, PATH_BYTES = 4096 };

size_t hl_device_shared_path(const char *name)
{
    for (const char *at = strstr(name, suffix); at; at = strstr(at + 1, suffix))
        if (!at[SUFFIX] || at[SUFFIX] == ':')
            return (size_t)(at + SUFFIX - name);
    return 0;
}

static haul_status ask_backend(void *handle, const haul_device_backend **backend, haul_error *error)
{
    void *symbol = dlsym(handle, HAUL_DEVICE_ENTRY);
    haul_device_entry_fn entry;
    if (!symbol)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "no device: the object exports no %s",
                              HAUL_DEVICE_ENTRY);
    /* C has no cast from an object's address to a function's; POSIX says that they are alike */
    memcpy(&entry, &symbol, sizeof entry);
    const haul_device_backend *found = entry();
    /* The functions that the interface calls without asking whether they are there. */
    if (!found)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "%s gave no device", HAUL_DEVICE_ENTRY);
    if (found->abi != HAUL_DEVICE_ABI)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "device has abi %u, this haul has %d: build it against this "
                              "haul/device_backend.h",
                              found->abi, HAUL_DEVICE_ABI);
    const bool has_all = found->kind && *found->kind && found->open && found->close &&
                         found->buffer_new && found->buffer_free && found->stream_new &&
                         found->stream_free && found->stream_wait && found->event_new &&
                         found->event_free && found->event_wait && found->event_done &&
                         found->event_seconds && found->copy && found->record;
    HAUL_TRY(has_all ? HAUL_OK
                     : haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                      "device lacks a kind, or a function of memory, streams, "
                                      "events or copies"));
    *backend = found;
    return HAUL_OK;
}

/* dlopen searches the library path for names without a '/': a file is meant here. */
haul_status hl_device_shared_load(const char *path, size_t length,
                                  const haul_device_backend **backend, haul_error *error)
{
    char place[PATH_BYTES];
    const bool has_folder = memchr(path, '/', length) != NULL;
    if (length + 3 > sizeof place)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "path of %zu bytes is too long",
                              length);
    (void)snprintf(place, sizeof place, "%s%.*s", has_folder ? "" : "./", (int)length, path);
    void *handle = dlopen(place, RTLD_NOW | RTLD_LOCAL);
    const char *why = handle ? NULL : dlerror();
    haul_status status = handle ? ask_backend(handle, backend, error)
                                : haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                                 "cannot load device: %s", why ? why : "refused");
    if (!status)
        return HAUL_OK;
    if (handle)
        dlclose(handle);
    hl_base_error_in_file(error, place);
    return status;
}
