/* CUDA's driver and HIP's, of which the names differ and little else. Declared here, looked for at
 * run time: nothing of either is needed to build. tests/device/cuda_declarations.c and
 * hip_declarations.c hold what is declared against the vendors' headers. */
#ifndef HAUL_DEVICE_CUDA_API_H
#define HAUL_DEVICE_CUDA_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/identity.h"
#include "haul/status.h"

/* A context, stream, event, module or function. */
typedef struct hl_device_cu_object *hl_device_cu;
typedef unsigned long long hl_device_cu_address;

typedef struct hl_device_cu_ipc_handle {
    char name[64];
} hl_device_cu_ipc_handle;

/* CUDA_MEMCPY3D */
typedef struct hl_device_cu_side {
    size_t x, y, z, level;
    int type;
    void *host;
    hl_device_cu_address device;
    void *array;
    void *reserved;
    size_t pitch;
    size_t height;
} hl_device_cu_side;

typedef struct hl_device_cu_copy_3d {
    hl_device_cu_side from;
    hl_device_cu_side to;
    size_t width, height, depth;
} hl_device_cu_copy_3d;

/* CUresult, hipError_t */
enum {
    HL_DEVICE_CU_OUT_OF_MEMORY = 2,
    HL_DEVICE_CU_NO_DEVICE = 100,
    HL_DEVICE_CU_NOT_READY = 600,
    HL_DEVICE_CU_PEER_ALREADY_ENABLED = 704,
};

/* Flags, types and kinds: CUDA's numbers and HIP's are the same. */
enum {
    HL_DEVICE_CU_STREAM_NON_BLOCKING = 1,
    HL_DEVICE_CU_HOST_PORTABLE = 1,
    HL_DEVICE_CU_HOST_MAPPED = 2,
    HL_DEVICE_CU_HOST_WRITE_COMBINED = 4,
    HL_DEVICE_CU_ATTACH_GLOBAL = 1,
    HL_DEVICE_CU_IPC_LAZY_PEER = 1,
    HL_DEVICE_CU_CPU = -1, /* the host, to which managed memory is moved */
    HL_DEVICE_CU_TYPE_UNIFIED = 4,
    HL_DEVICE_CUDA_MOST_DYNAMIC = 8, /* of a function: shared memory that a launch may ask for */
    HL_DEVICE_HIP_COPY_DEFAULT = 4,  /* the addresses say where they are */
};

/* CUdevice_attribute, hipDeviceAttribute_t. X(name, CUDA, HIP) */
#define HL_DEVICE_CU_ATTRIBUTES(X)                                                                 \
    X(CLOCK_KHZ, 13, 5)                                                                            \
    X(MULTIPROCESSORS, 16, 63)                                                                     \
    X(INTEGRATED, 18, 16)                                                                          \
    X(MAPS_HOST, 19, 3)                                                                            \
    X(MEMORY_CLOCK_KHZ, 36, 60)                                                                    \
    X(MEMORY_BUS_BITS, 37, 59)                                                                     \
    X(L2_BYTES, 38, 19)                                                                            \
    X(COPY_ENGINES, 40, 2)                                                                         \
    X(MAJOR, 75, 23)                                                                               \
    X(MINOR, 76, 61)                                                                               \
    X(MANAGED_MEMORY, 83, 24)                                                                      \
    X(MANAGED_AT_ONCE, 89, 9)                                                                      \
    X(MULTIPROCESSOR_BYTES, 81, 10002)                                                             \
    X(GROUP_BYTES, 97, 74)

typedef enum hl_device_cu_attribute {
#define HL_DEVICE_CU_ATTRIBUTE(name, cuda, hip) HL_DEVICE_CU_##name,
    HL_DEVICE_CU_ATTRIBUTES(HL_DEVICE_CU_ATTRIBUTE)
#undef HL_DEVICE_CU_ATTRIBUTE
} hl_device_cu_attribute;

/* X(member, CUDA's name, HIP's, parameters) */
#define HL_DEVICE_CU_FUNCTIONS(X)                                                                  \
    X(init, cuInit, hipInit, (unsigned flags))                                                     \
    X(version, cuDriverGetVersion, hipDriverGetVersion, (int *version))                            \
    X(device_count, cuDeviceGetCount, hipGetDeviceCount, (int *count))                             \
    X(device_get, cuDeviceGet, hipDeviceGet, (int *device, int ordinal))                           \
    X(device_name, cuDeviceGetName, hipDeviceGetName, (char *name, int size, int device))          \
    X(device_uuid, cuDeviceGetUuid, hipDeviceGetUuid, (hl_device_uuid * uuid, int device))         \
    X(device_bus, cuDeviceGetPCIBusId, hipDeviceGetPCIBusId, (char *name, int size, int device))   \
    X(device_memory, cuDeviceTotalMem_v2, hipDeviceTotalMem, (size_t * bytes, int device))         \
    X(device_attribute, cuDeviceGetAttribute, hipDeviceGetAttribute,                               \
      (int *value, int attribute, int device))                                                     \
    X(can_reach, cuDeviceCanAccessPeer, hipDeviceCanAccessPeer, (int *can, int device, int peer))  \
    X(retain, cuDevicePrimaryCtxRetain, hipDevicePrimaryCtxRetain,                                 \
      (hl_device_cu * context, int device))                                                        \
    X(release, cuDevicePrimaryCtxRelease_v2, hipDevicePrimaryCtxRelease, (int device))             \
    X(room, cuMemGetInfo_v2, hipMemGetInfo, (size_t * left, size_t * whole))                       \
    X(alloc, cuMemAlloc_v2, hipMalloc, (hl_device_cu_address * at, size_t bytes))                  \
    X(free, cuMemFree_v2, hipFree, (hl_device_cu_address at))                                      \
    X(alloc_host, cuMemHostAlloc, hipHostMalloc, (void **host, size_t bytes, unsigned flags))      \
    X(free_host, cuMemFreeHost, hipHostFree, (void *host))                                         \
    X(pin, cuMemHostRegister_v2, hipHostRegister, (void *host, size_t bytes, unsigned flags))      \
    X(unpin, cuMemHostUnregister, hipHostUnregister, (void *host))                                 \
    X(address_of, cuMemHostGetDevicePointer_v2, hipHostGetDevicePointer,                           \
      (hl_device_cu_address * at, void *host, unsigned flags))                                     \
    X(alloc_managed, cuMemAllocManaged, hipMallocManaged,                                          \
      (hl_device_cu_address * at, size_t bytes, unsigned flags))                                   \
    X(prefetch, cuMemPrefetchAsync, hipMemPrefetchAsync,                                           \
      (hl_device_cu_address at, size_t bytes, int device, hl_device_cu stream))                    \
    X(export_, cuIpcGetMemHandle, hipIpcGetMemHandle,                                              \
      (hl_device_cu_ipc_handle * handle, hl_device_cu_address at))                                 \
    X(import, cuIpcOpenMemHandle_v2, hipIpcOpenMemHandle,                                          \
      (hl_device_cu_address * at, hl_device_cu_ipc_handle handle, unsigned flags))                 \
    X(close_import, cuIpcCloseMemHandle, hipIpcCloseMemHandle, (hl_device_cu_address at))          \
    X(fill, cuMemsetD8Async, hipMemsetD8Async,                                                     \
      (hl_device_cu_address at, unsigned char value, size_t count, hl_device_cu stream))           \
    X(stream_new, cuStreamCreate, hipStreamCreateWithFlags,                                        \
      (hl_device_cu * stream, unsigned flags))                                                     \
    X(stream_free, cuStreamDestroy_v2, hipStreamDestroy, (hl_device_cu stream))                    \
    X(stream_wait, cuStreamSynchronize, hipStreamSynchronize, (hl_device_cu stream))               \
    X(stream_done, cuStreamQuery, hipStreamQuery, (hl_device_cu stream))                           \
    X(stream_wait_event, cuStreamWaitEvent, hipStreamWaitEvent,                                    \
      (hl_device_cu stream, hl_device_cu event, unsigned flags))                                   \
    X(call, cuLaunchHostFunc, hipLaunchHostFunc,                                                   \
      (hl_device_cu stream, void (*function)(void *state), void *state))                           \
    X(event_new, cuEventCreate, hipEventCreateWithFlags, (hl_device_cu * event, unsigned flags))   \
    X(event_free, cuEventDestroy_v2, hipEventDestroy, (hl_device_cu event))                        \
    X(event_record, cuEventRecord, hipEventRecord, (hl_device_cu event, hl_device_cu stream))      \
    X(event_done, cuEventQuery, hipEventQuery, (hl_device_cu event))                               \
    X(event_wait, cuEventSynchronize, hipEventSynchronize, (hl_device_cu event))                   \
    X(event_ms, cuEventElapsedTime, hipEventElapsedTime,                                           \
      (float *ms, hl_device_cu from, hl_device_cu to))                                             \
    X(module_load, cuModuleLoadData, hipModuleLoadData,                                            \
      (hl_device_cu * module, const void *image))                                                  \
    X(module_free, cuModuleUnload, hipModuleUnload, (hl_device_cu module))                         \
    X(module_function, cuModuleGetFunction, hipModuleGetFunction,                                  \
      (hl_device_cu * function, hl_device_cu module, const char *name))                            \
    X(launch, cuLaunchKernel, hipModuleLaunchKernel,                                               \
      (hl_device_cu function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, hl_device_cu stream,             \
       void **values, void **extra))

/* X(member, name, result, parameters): those that are of one vendor. */
#define HL_DEVICE_CUDA_ONLY(X)                                                                     \
    X(cuda_error_name, cuGetErrorName, int, (int error, const char **name))                        \
    X(cuda_copy, cuMemcpyAsync, int,                                                               \
      (hl_device_cu_address to, hl_device_cu_address from, size_t bytes, hl_device_cu stream))     \
    X(cuda_copy_3d, cuMemcpy3DAsync_v2, int,                                                       \
      (const hl_device_cu_copy_3d *copy, hl_device_cu stream))                                     \
    X(cuda_get_current, cuCtxGetCurrent, int, (hl_device_cu * context))                            \
    X(cuda_set_current, cuCtxSetCurrent, int, (hl_device_cu context))                              \
    X(cuda_reach, cuCtxEnablePeerAccess, int, (hl_device_cu context, unsigned flags))              \
    X(cuda_set, cuFuncSetAttribute, int, (hl_device_cu function, int attribute, int value))
/* Likewise, but older drivers lack it: NULL. */
#define HL_DEVICE_CUDA_NEW(X)                                                                      \
    X(cuda_parameter, cuFuncGetParamInfo, int,                                                     \
      (hl_device_cu function, size_t index, size_t * offset, size_t * bytes))
/* hipCtxEnablePeerAccess does nothing but return success (ROCm CLR, hip_peer.cpp). */
#define HL_DEVICE_HIP_ONLY(X)                                                                      \
    X(hip_get_device, hipGetDevice, int, (int *device))                                            \
    X(hip_set_device, hipSetDevice, int, (int device))                                             \
    X(hip_reach, hipDeviceEnablePeerAccess, int, (int device, unsigned flags))                     \
    X(hip_error_name, hipGetErrorName, const char *, (int error))                                  \
    X(hip_copy, hipMemcpyAsync, int,                                                               \
      (hl_device_cu_address to, hl_device_cu_address from, size_t bytes, int kind,                 \
       hl_device_cu stream))                                                                       \
    X(hip_copy_2d, hipMemcpy2DAsync, int,                                                          \
      (hl_device_cu_address to, size_t to_pitch, hl_device_cu_address from, size_t from_pitch,     \
       size_t width, size_t height, int kind, hl_device_cu stream))

typedef struct hl_device_cu_api {
    bool is_hip;
#define HL_DEVICE_CU_MEMBER(member, cuda, hip, parameters) int(*member) parameters;
    HL_DEVICE_CU_FUNCTIONS(HL_DEVICE_CU_MEMBER)
#undef HL_DEVICE_CU_MEMBER
#define HL_DEVICE_CU_MEMBER(member, name, result, parameters) result(*member) parameters;
    HL_DEVICE_CUDA_ONLY(HL_DEVICE_CU_MEMBER)
    HL_DEVICE_CUDA_NEW(HL_DEVICE_CU_MEMBER)
    HL_DEVICE_HIP_ONLY(HL_DEVICE_CU_MEMBER)
#undef HL_DEVICE_CU_MEMBER
} hl_device_cu_api;

/* Loads the driver and begins to use it. Returns ABSENT where there is none, or no device, with
 * what would bring it. */
haul_status hl_device_cu_load(hl_device_cu_api *api, bool is_hip, haul_error *error);

/* 0 where the driver knows no such attribute. */
int hl_device_cu_read(const hl_device_cu_api *api, int device, hl_device_cu_attribute attribute);

/* The driver's own name for a result. */
const char *hl_device_cu_word(const hl_device_cu_api *api, int result);
/* The failure of what was done: DEVICE_FULL or DEVICE_FAILED, with the driver's own name for it. */
haul_status hl_device_cu_fail(const hl_device_cu_api *api, int result, const char *what,
                              haul_error *error);

#endif
