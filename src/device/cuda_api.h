/* CUDA's driver and HIP's, of which the names differ and little else. Declared here, looked for at
 * run time: nothing of either is needed to build. tests/device/cuda_declarations.c and
 * hip_declarations.c hold what is declared against the vendors' headers. */
#ifndef HAUL_DEVICE_CUDA_API_H
#define HAUL_DEVICE_CUDA_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "haul/status.h"

/* A context, stream, event, module or function. */
typedef struct haul_cu_object *haul_cu;
typedef unsigned long long haul_cu_address;

typedef struct haul_cu_ipc_handle {
    char name[64];
} haul_cu_ipc_handle;

/* CUDA_MEMCPY3D */
typedef struct haul_cu_side {
    size_t x, y, z, level;
    int type;
    void *host;
    haul_cu_address device;
    void *array;
    void *reserved;
    size_t pitch;
    size_t height;
} haul_cu_side;

typedef struct haul_cu_copy_3d {
    haul_cu_side from;
    haul_cu_side to;
    size_t width, height, depth;
} haul_cu_copy_3d;

/* CUresult, hipError_t */
enum {
    HAUL_CU_OUT_OF_MEMORY = 2,
    HAUL_CU_NO_DEVICE = 100,
    HAUL_CU_NOT_READY = 600,
    HAUL_CU_PEER_ALREADY_ENABLED = 704,
};

/* Flags, types and kinds: CUDA's numbers and HIP's are the same. */
enum {
    HAUL_CU_STREAM_NON_BLOCKING = 1,
    HAUL_CU_HOST_PORTABLE = 1,
    HAUL_CU_HOST_MAPPED = 2,
    HAUL_CU_HOST_WRITE_COMBINED = 4,
    HAUL_CU_ATTACH_GLOBAL = 1,
    HAUL_CU_IPC_LAZY_PEER = 1,
    HAUL_CU_CPU = -1, /* the host, to which managed memory is moved */
    HAUL_CU_TYPE_UNIFIED = 4,
    HAUL_CUDA_MOST_DYNAMIC = 8, /* of a function: shared memory that a launch may ask for */
    HAUL_HIP_COPY_DEFAULT = 4,  /* the addresses say where they are */
};

/* CUdevice_attribute, hipDeviceAttribute_t. X(name, CUDA, HIP) */
#define HAUL_CU_ATTRIBUTES(X)                                                                      \
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

typedef enum haul_cu_attribute {
#define HAUL_CU_ATTRIBUTE(name, cuda, hip) HAUL_CU_##name,
    HAUL_CU_ATTRIBUTES(HAUL_CU_ATTRIBUTE)
#undef HAUL_CU_ATTRIBUTE
} haul_cu_attribute;

/* X(member, CUDA's name, HIP's, parameters) */
#define HAUL_CU_FUNCTIONS(X)                                                                       \
    X(init, cuInit, hipInit, (unsigned flags))                                                     \
    X(version, cuDriverGetVersion, hipDriverGetVersion, (int *version))                            \
    X(device_count, cuDeviceGetCount, hipGetDeviceCount, (int *count))                             \
    X(device_get, cuDeviceGet, hipDeviceGet, (int *device, int ordinal))                           \
    X(device_name, cuDeviceGetName, hipDeviceGetName, (char *name, int size, int device))          \
    X(device_memory, cuDeviceTotalMem_v2, hipDeviceTotalMem, (size_t * bytes, int device))         \
    X(device_attribute, cuDeviceGetAttribute, hipDeviceGetAttribute,                               \
      (int *value, int attribute, int device))                                                     \
    X(can_reach, cuDeviceCanAccessPeer, hipDeviceCanAccessPeer, (int *can, int device, int peer))  \
    X(retain, cuDevicePrimaryCtxRetain, hipDevicePrimaryCtxRetain,                                 \
      (haul_cu * context, int device))                                                             \
    X(release, cuDevicePrimaryCtxRelease_v2, hipDevicePrimaryCtxRelease, (int device))             \
    X(set_current, cuCtxSetCurrent, hipCtxSetCurrent, (haul_cu context))                           \
    X(reach, cuCtxEnablePeerAccess, hipCtxEnablePeerAccess, (haul_cu context, unsigned flags))     \
    X(room, cuMemGetInfo_v2, hipMemGetInfo, (size_t * left, size_t * whole))                       \
    X(alloc, cuMemAlloc_v2, hipMalloc, (haul_cu_address * at, size_t bytes))                       \
    X(free, cuMemFree_v2, hipFree, (haul_cu_address at))                                           \
    X(alloc_host, cuMemHostAlloc, hipHostMalloc, (void **host, size_t bytes, unsigned flags))      \
    X(free_host, cuMemFreeHost, hipHostFree, (void *host))                                         \
    X(pin, cuMemHostRegister_v2, hipHostRegister, (void *host, size_t bytes, unsigned flags))      \
    X(unpin, cuMemHostUnregister, hipHostUnregister, (void *host))                                 \
    X(address_of, cuMemHostGetDevicePointer_v2, hipHostGetDevicePointer,                           \
      (haul_cu_address * at, void *host, unsigned flags))                                          \
    X(alloc_managed, cuMemAllocManaged, hipMallocManaged,                                          \
      (haul_cu_address * at, size_t bytes, unsigned flags))                                        \
    X(prefetch, cuMemPrefetchAsync, hipMemPrefetchAsync,                                           \
      (haul_cu_address at, size_t bytes, int device, haul_cu stream))                              \
    X(export_, cuIpcGetMemHandle, hipIpcGetMemHandle,                                              \
      (haul_cu_ipc_handle * handle, haul_cu_address at))                                           \
    X(import, cuIpcOpenMemHandle_v2, hipIpcOpenMemHandle,                                          \
      (haul_cu_address * at, haul_cu_ipc_handle handle, unsigned flags))                           \
    X(close_import, cuIpcCloseMemHandle, hipIpcCloseMemHandle, (haul_cu_address at))               \
    X(fill, cuMemsetD8Async, hipMemsetD8Async,                                                     \
      (haul_cu_address at, unsigned char value, size_t count, haul_cu stream))                     \
    X(stream_new, cuStreamCreate, hipStreamCreateWithFlags, (haul_cu * stream, unsigned flags))    \
    X(stream_free, cuStreamDestroy_v2, hipStreamDestroy, (haul_cu stream))                         \
    X(stream_wait, cuStreamSynchronize, hipStreamSynchronize, (haul_cu stream))                    \
    X(stream_done, cuStreamQuery, hipStreamQuery, (haul_cu stream))                                \
    X(stream_wait_event, cuStreamWaitEvent, hipStreamWaitEvent,                                    \
      (haul_cu stream, haul_cu event, unsigned flags))                                             \
    X(call, cuLaunchHostFunc, hipLaunchHostFunc,                                                   \
      (haul_cu stream, void (*function)(void *state), void *state))                                \
    X(event_new, cuEventCreate, hipEventCreateWithFlags, (haul_cu * event, unsigned flags))        \
    X(event_free, cuEventDestroy_v2, hipEventDestroy, (haul_cu event))                             \
    X(event_record, cuEventRecord, hipEventRecord, (haul_cu event, haul_cu stream))                \
    X(event_done, cuEventQuery, hipEventQuery, (haul_cu event))                                    \
    X(event_wait, cuEventSynchronize, hipEventSynchronize, (haul_cu event))                        \
    X(event_ms, cuEventElapsedTime, hipEventElapsedTime, (float *ms, haul_cu from, haul_cu to))    \
    X(module_load, cuModuleLoadData, hipModuleLoadData, (haul_cu * module, const void *image))     \
    X(module_free, cuModuleUnload, hipModuleUnload, (haul_cu module))                              \
    X(module_function, cuModuleGetFunction, hipModuleGetFunction,                                  \
      (haul_cu * function, haul_cu module, const char *name))                                      \
    X(launch, cuLaunchKernel, hipModuleLaunchKernel,                                               \
      (haul_cu function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,      \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, haul_cu stream, void **values,   \
       void **extra))

/* X(member, name, result, parameters): those that are of one vendor. */
#define HAUL_CUDA_ONLY(X)                                                                          \
    X(cuda_error_name, cuGetErrorName, int, (int error, const char **name))                        \
    X(cuda_copy, cuMemcpyAsync, int,                                                               \
      (haul_cu_address to, haul_cu_address from, size_t bytes, haul_cu stream))                    \
    X(cuda_copy_3d, cuMemcpy3DAsync_v2, int, (const haul_cu_copy_3d *copy, haul_cu stream))        \
    X(cuda_set, cuFuncSetAttribute, int, (haul_cu function, int attribute, int value))
#define HAUL_HIP_ONLY(X)                                                                           \
    X(hip_error_name, hipGetErrorName, const char *, (int error))                                  \
    X(hip_copy, hipMemcpyAsync, int,                                                               \
      (haul_cu_address to, haul_cu_address from, size_t bytes, int kind, haul_cu stream))          \
    X(hip_copy_2d, hipMemcpy2DAsync, int,                                                          \
      (haul_cu_address to, size_t to_pitch, haul_cu_address from, size_t from_pitch, size_t width, \
       size_t height, int kind, haul_cu stream))

typedef struct haul_cu_api {
    bool is_hip;
#define HAUL_CU_MEMBER(member, cuda, hip, parameters) int(*member) parameters;
    HAUL_CU_FUNCTIONS(HAUL_CU_MEMBER)
#undef HAUL_CU_MEMBER
#define HAUL_CU_MEMBER(member, name, result, parameters) result(*member) parameters;
    HAUL_CUDA_ONLY(HAUL_CU_MEMBER)
    HAUL_HIP_ONLY(HAUL_CU_MEMBER)
#undef HAUL_CU_MEMBER
} haul_cu_api;

/* Loads the driver and begins to use it. Returns ABSENT where there is none, or no device, with
 * what would bring it. */
haul_status haul_cu_load(haul_cu_api *api, bool is_hip, haul_error *error);

/* 0 where the driver knows no such attribute. */
int haul_cu_read(const haul_cu_api *api, int device, haul_cu_attribute attribute);

/* The failure of what was done: DEVICE_FULL or DEVICE_FAILED, with the driver's own name for it. */
haul_status haul_cu_fail(const haul_cu_api *api, int result, const char *what, haul_error *error);

#endif
