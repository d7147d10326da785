/* libamdhip64.so, by the names of HIP: the same driver, whose devices are AMD's. */
#include <stdio.h>

#include <string.h>

#include "driver_names.h"

typedef driver_context *context;
typedef driver_stream *stream;
typedef driver_event *event;

enum { WRITE_COMBINED = 4, COPY_DEFAULT = 4 };

PLAIN(hipInit, (unsigned flags), flags ? DRIVER_INVALID_VALUE : driver_init())
PLAIN(hipDriverGetVersion, (int *version), SET(version, 60032831))
PLAIN(hipRuntimeGetVersion, (int *version), SET(version, 60032831))

DRIVER_VISIBLE const char *hipGetErrorName(int error);
const char *hipGetErrorName(int error)
{
    return error == DRIVER_OUT_OF_MEMORY     ? "hipErrorOutOfMemory"
           : error == DRIVER_NOT_READY       ? "hipErrorNotReady"
           : error == DRIVER_ILLEGAL_ADDRESS ? "hipErrorIllegalAddress"
           : error == DRIVER_NO_DEVICE       ? "hipErrorNoDevice"
           : error == DRIVER_UNKNOWN         ? "hipErrorUnknown"
                                             : "hipError";
}

/* --- devices and contexts */

static int name_device(char *name, int size, int device)
{
    snprintf(name, (size_t)size, "%s", driver_device_name());
    return driver_device_check(device);
}

static int identify(unsigned char *uuid, int device)
{
    memset(uuid, 0,
           16); /* a GPU without a number of its own: its place on the bus is all there is */
    return driver_device_check(device);
}

static int name_bus(char *name, int size, int device)
{
    snprintf(name, (size_t)size, "0000:%02x:00.0", (unsigned)device + 1);
    return driver_device_check(device);
}

/* Flags are none; of a device that is there, and that is not the thread's own. */
static int enable_peer(int peer, unsigned flags)
{
    context made;
    if (flags)
        return DRIVER_INVALID_VALUE;
    if (driver_device_check(peer) || driver_primary_retain(&made, peer))
        return DRIVER_INVALID_DEVICE;
    const int result = driver_peer_enable(made);
    driver_primary_release(peer);
    return result;
}

/* The runtime keeps a device's context for as long as the process lives. */
static int set_device(int device)
{
    driver_context *made;
    if (driver_current() && driver_current()->device == device)
        return DRIVER_OK;
    const int result = driver_primary_retain(&made, device);
    return result ? result : driver_set_current(made);
}

CALL(hipGetDeviceCount, (int *count), SET(count, (int)driver.options.devices))
CALL(hipDeviceGet, (int *device, int ordinal),
     driver_device_check(ordinal) ? DRIVER_INVALID_DEVICE : SET(device, ordinal))
CALL(hipDeviceGetName, (char *name, int size, int device), name_device(name, size, device))
CALL(hipDeviceGetUuid, (void *uuid, int device), identify(uuid, device))
CALL(hipDeviceGetPCIBusId, (char *name, int size, int device), name_bus(name, size, device))
CALL(hipDeviceTotalMem, (size_t * bytes, int device),
     driver_device_check(device) ? DRIVER_INVALID_DEVICE : SET(bytes, driver.options.memory_bytes))
CALL(hipDeviceGetAttribute, (int *value, int attribute, int device),
     driver_hip_attribute(value, attribute, device))
CALL(hipDeviceCanAccessPeer, (int *can, int device, int peer), SET(can, device != peer))
CALL(hipDevicePrimaryCtxRetain, (context * made, int device), driver_primary_retain(made, device))
CALL(hipDevicePrimaryCtxRelease, (int device), driver_primary_release(device))
CALL(hipCtxSetCurrent, (context which), driver_set_current(which))
CALL(hipCtxGetCurrent, (context * which), SET(which, driver_current()))
CALL(hipGetDevice, (int *device), SET(device, driver_current() ? driver_current()->device : 0))
CALL(hipSetDevice, (int device), set_device(device))
CALL(hipCtxSynchronize, (void), driver_context_wait())
/* As in ROCm's sources (CLR, hip_peer.cpp) the context's does nothing, the device's does it. */
CALL(hipCtxEnablePeerAccess, (context peer, unsigned flags), ((void)peer, (void)flags, 0))
CALL(hipDeviceEnablePeerAccess, (int peer, unsigned flags), enable_peer(peer, flags))

/* --- memory */

static int tell_device_address(void **device, void *host)
{
    if (driver_memory_at((uintptr_t)host) != DRIVER_PINNED)
        return DRIVER_INVALID_VALUE;
    return SET(device, host);
}

typedef struct ipc_handle {
    unsigned char name[64];
} ipc_handle;

CALL(hipMemGetInfo, (size_t * left, size_t *whole), driver_room(left, whole))
CALL(hipMalloc, (driver_address * at, size_t bytes), driver_alloc(at, bytes))
CALL(hipFree, (driver_address at), driver_free(at))
CALL(hipHostMalloc, (void **host, size_t bytes, unsigned flags),
     driver_alloc_host(host, bytes, flags &WRITE_COMBINED))
CALL(hipHostFree, (void *host), driver_free_host(host))
CALL(hipHostRegister, (void *host, size_t bytes, unsigned flags),
     flags & ~3U ? DRIVER_INVALID_VALUE : driver_register(host, bytes))
CALL(hipHostUnregister, (void *host), driver_unregister(host))
CALL(hipHostGetDevicePointer, (void **device, void *host, unsigned flags),
     flags ? DRIVER_INVALID_VALUE : tell_device_address(device, host))
CALL(hipMallocManaged, (driver_address * at, size_t bytes, unsigned flags),
     flags == 1 ? driver_alloc_managed(at, bytes) : DRIVER_INVALID_VALUE)
CALL(hipMemPrefetchAsync, (driver_address at, size_t bytes, int device, void *on),
     driver_memory_at(at) == DRIVER_MANAGED && bytes && device >= -1 && on ? DRIVER_OK
                                                                           : DRIVER_INVALID_VALUE)
CALL(hipPointerGetAttribute, (void *value, int attribute, driver_address at),
     driver_pointer_tell(value, attribute, at))
CALL(hipIpcGetMemHandle, (ipc_handle * handle, driver_address at), driver_export(handle->name, at))
CALL(hipIpcOpenMemHandle, (driver_address * at, ipc_handle handle, unsigned flags),
     flags == 1 ? driver_import(at, handle.name) : DRIVER_INVALID_VALUE)
CALL(hipIpcCloseMemHandle, (driver_address at), driver_import_close(at))

/* --- copies and fills */

static int copy_rows(const driver_side *to, const driver_side *from, const size_t *size, void *on)
{
    if (to->pitch < size[0] || from->pitch < size[0])
        return DRIVER_INVALID_VALUE;
    return driver_copy_queue(
        on,
        &(driver_copy){.to = *to, .from = *from, .bytes = size[0], .rows = size[1], .planes = 1});
}

CALL(hipMemcpyAsync, (driver_address to, driver_address from, size_t bytes, int kind, void *on),
     kind == COPY_DEFAULT ? driver_copy_bytes(to, from, bytes, on) : DRIVER_INVALID_VALUE)
CALL(hipMemcpy2DAsync,
     (driver_address to, size_t to_pitch, driver_address from, size_t from_pitch, size_t width,
      size_t height, int kind, void *on),
     kind == COPY_DEFAULT
         ? copy_rows(&(driver_side){.at = to, .pitch = to_pitch},
                     &(driver_side){.at = from, .pitch = from_pitch}, (size_t[]){width, height}, on)
         : DRIVER_INVALID_VALUE)
CALL(hipMemsetD8Async, (driver_address to, unsigned char value, size_t count, void *on),
     driver_fill_queue(on, &(driver_fill){.at = to, .count = count, .value = value, .width = 1}))

/* --- streams, events and kernels */

CALL(hipStreamCreateWithFlags, (stream * made, unsigned flags),
     flags > 1 ? DRIVER_INVALID_VALUE : driver_stream_new(made, !flags))
CALL(hipStreamDestroy, (stream which), driver_stream_destroy(which))
CALL(hipStreamSynchronize, (void *which), driver_stream_wait(which))
CALL(hipStreamQuery, (void *which), driver_stream_query(which))
CALL(hipStreamWaitEvent, (void *which, event for_, unsigned flags),
     flags ? DRIVER_INVALID_VALUE : driver_stream_wait_event(which, for_))
CALL(hipLaunchHostFunc, (void *which, void (*function)(void *state), void *state),
     function ? driver_call_queue(which, function, state) : DRIVER_INVALID_VALUE)
CALL(hipEventCreateWithFlags, (event * made, unsigned flags), driver_event_new(made, flags))
CALL(hipEventDestroy, (event which), driver_event_destroy(which))
CALL(hipEventRecord, (event which, void *on), driver_event_record(which, on))
CALL(hipEventQuery, (event which), driver_event_query(which))
CALL(hipEventSynchronize, (event which), driver_event_wait(which))
CALL(hipEventElapsedTime, (float *ms, event from, event to), driver_event_elapsed(ms, from, to))

CALL(hipModuleLoadData, (driver_module * *module, const void *image),
     driver_module_load(module, image))
CALL(hipModuleUnload, (driver_module * module), driver_module_unload(module))
CALL(hipModuleGetFunction, (driver_function * *function, driver_module *module, const char *name),
     driver_module_function(function, module, name))
CALL(hipModuleLaunchKernel,
     (driver_function * function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
      unsigned bz, unsigned shared, void *on, void **values, void **extra),
     extra ? DRIVER_INVALID_VALUE
     : (unsigned long)gx *bx > 0xffffffffUL
         ? DRIVER_INVALID_CONFIGURATION
         : driver_launch_queue(function, (unsigned[]){gx, gy, gz, bx, by, bz, shared}, on, values))
