/* libcuda.so.1: devices, contexts, memory. cuda_work_names.c has what is queued. */
#include <stdio.h>
#include <string.h>

#include "driver_names.h"

typedef driver_context *context;

enum { CUDA_VERSION = 12040, WRITE_COMBINED = 4 };

/* --- the driver */

PLAIN(cuInit, (unsigned flags), flags ? DRIVER_INVALID_VALUE : driver_init())
PLAIN(cuDriverGetVersion, (int *version), SET(version, CUDA_VERSION))

static int name_error(int error, const char **name)
{
    static const struct {
        int error;
        const char *name;
    } names[] = {
        {0, "CUDA_SUCCESS"},
        {1, "CUDA_ERROR_INVALID_VALUE"},
        {2, "CUDA_ERROR_OUT_OF_MEMORY"},
        {3, "CUDA_ERROR_NOT_INITIALIZED"},
        {100, "CUDA_ERROR_NO_DEVICE"},
        {101, "CUDA_ERROR_INVALID_DEVICE"},
        {200, "CUDA_ERROR_INVALID_IMAGE"},
        {201, "CUDA_ERROR_INVALID_CONTEXT"},
        {400, "CUDA_ERROR_INVALID_HANDLE"},
        {500, "CUDA_ERROR_NOT_FOUND"},
        {600, "CUDA_ERROR_NOT_READY"},
        {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
        {999, "CUDA_ERROR_UNKNOWN"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].error == error)
            return SET(name, names[i].name);
    *name = NULL;
    return DRIVER_INVALID_VALUE;
}

PLAIN(cuGetErrorName, (int error, const char **name), name_error(error, name))
PLAIN(cuGetErrorString, (int error, const char **text), name_error(error, text))

/* --- devices */

static int name_device(char *name, int size, int device)
{
    snprintf(name, (size_t)size, "%s", driver_device_name());
    return driver_device_check(device);
}

static int identify(unsigned char *uuid, int device)
{
    memset(uuid, 0, 16);
    uuid[0] = 0xab;
    uuid[15] = (unsigned char)device;
    return driver_device_check(device);
}

static int name_bus(char *name, int size, int device)
{
    snprintf(name, (size_t)size, "0000:%02x:00.0", (unsigned)device + 1);
    return driver_device_check(device);
}

CALL(cuDeviceGetCount, (int *count), SET(count, (int)driver.options.devices))
CALL(cuDeviceGet, (int *device, int ordinal),
     driver_device_check(ordinal) ? DRIVER_INVALID_DEVICE : SET(device, ordinal))
CALL(cuDeviceGetName, (char *name, int size, int device), name_device(name, size, device))
CALL(cuDeviceGetUuid, (void *uuid, int device), identify(uuid, device))
CALL(cuDeviceGetPCIBusId, (char *name, int size, int device), name_bus(name, size, device))
CALL(cuDeviceTotalMem_v2, (size_t * bytes, int device),
     driver_device_check(device) ? DRIVER_INVALID_DEVICE : SET(bytes, driver.options.memory_bytes))
CALL(cuDeviceGetAttribute, (int *value, int attribute, int device),
     driver_attribute(value, attribute, device))
CALL(cuDeviceCanAccessPeer, (int *can, int device, int peer), SET(can, device != peer))

/* --- contexts */

CALL(cuCtxCreate_v2, (context * made, unsigned flags, int device),
     flags ? DRIVER_INVALID_VALUE : driver_context_new(made, device))
CALL(cuCtxDestroy_v2, (context which), driver_context_destroy(which))
CALL(cuCtxPushCurrent_v2, (context which), driver_context_push(which))
CALL(cuCtxPopCurrent_v2, (context * which), driver_context_pop(which))
CALL(cuCtxSetCurrent, (context which), driver_set_current(which))
CALL(cuCtxGetCurrent, (context * which), SET(which, driver_current()))
CALL(cuCtxSynchronize, (void), driver_context_wait())
CALL(cuCtxEnablePeerAccess, (context peer, unsigned flags),
     flags ? DRIVER_INVALID_VALUE : driver_peer_enable(peer))
CALL(cuDevicePrimaryCtxRetain, (context * made, int device), driver_primary_retain(made, device))
CALL(cuDevicePrimaryCtxRelease_v2, (int device), driver_primary_release(device))

/* --- memory */

static int tell_device_address(driver_address *device, void *host)
{
    if (driver_memory_at((uintptr_t)host) != DRIVER_PINNED)
        return DRIVER_INVALID_VALUE;
    return SET(device, (uintptr_t)host);
}

typedef struct ipc_handle {
    unsigned char name[64];
} ipc_handle;

CALL(cuMemGetInfo_v2, (size_t * left, size_t *whole), driver_room(left, whole))
CALL(cuMemAlloc_v2, (driver_address * at, size_t bytes), driver_alloc(at, bytes))
CALL(cuMemFree_v2, (driver_address at), driver_free(at))
CALL(cuMemAllocHost_v2, (void **host, size_t bytes), driver_alloc_host(host, bytes, false))
CALL(cuMemHostAlloc, (void **host, size_t bytes, unsigned flags),
     driver_alloc_host(host, bytes, flags &WRITE_COMBINED))
CALL(cuMemFreeHost, (void *host), driver_free_host(host))
CALL(cuMemHostRegister_v2, (void *host, size_t bytes, unsigned flags),
     flags & ~3U ? DRIVER_INVALID_VALUE : driver_register(host, bytes))
CALL(cuMemHostUnregister, (void *host), driver_unregister(host))
CALL(cuMemHostGetDevicePointer_v2, (driver_address * device, void *host, unsigned flags),
     flags ? DRIVER_INVALID_VALUE : tell_device_address(device, host))
CALL(cuMemAllocManaged, (driver_address * at, size_t bytes, unsigned flags),
     flags == 1 ? driver_alloc_managed(at, bytes) : DRIVER_INVALID_VALUE)
CALL(cuPointerGetAttribute, (void *value, int attribute, driver_address at),
     driver_pointer_tell(value, attribute, at))
CALL(cuIpcGetMemHandle, (ipc_handle * handle, driver_address at), driver_export(handle->name, at))
CALL(cuIpcOpenMemHandle_v2, (driver_address * at, ipc_handle handle, unsigned flags),
     flags == 1 ? driver_import(at, handle.name) : DRIVER_INVALID_VALUE)
CALL(cuIpcCloseMemHandle, (driver_address at), driver_import_close(at))
