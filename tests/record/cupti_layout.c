/* Holds src/record/cupti_abi.h against the toolkit's headers, for every layout of a record that
 * they declare, as this is compiled. Built where the headers are found. */
#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_version.h>

#include "record/cupti_abi.h"

#if CUPTI_API_VERSION >= 17

#define SAME(type, member, theirs, their_member)                                                   \
    _Static_assert(offsetof(type, member) == offsetof(theirs, their_member) &&                     \
                       sizeof(((type *)0)->member) == sizeof(((theirs *)0)->their_member),         \
                   #type "." #member " is " #theirs "." #their_member)
#define WITHIN(type, theirs)                                                                       \
    _Static_assert(sizeof(type) <= sizeof(theirs) + 4, #type " is the beginning of " #theirs)
#define VALUE(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours " is " #theirs)

VALUE(HL_RECORD_ABI_COPY, CUPTI_ACTIVITY_KIND_MEMCPY);
VALUE(HL_RECORD_ABI_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
VALUE(HL_RECORD_ABI_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER);
VALUE(HL_RECORD_ABI_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME);
VALUE(HL_RECORD_ABI_DEVICE, CUPTI_ACTIVITY_KIND_DEVICE);
VALUE(HL_RECORD_ABI_CONTEXT, CUPTI_ACTIVITY_KIND_CONTEXT);
VALUE(HL_RECORD_ABI_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
VALUE(HL_RECORD_ABI_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
VALUE(HL_RECORD_ABI_PEER_COPY, CUPTI_ACTIVITY_KIND_MEMCPY2);
VALUE(HL_RECORD_ABI_MIGRATION, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
VALUE(HL_RECORD_ABI_EVENT, CUPTI_ACTIVITY_KIND_CUDA_EVENT);
VALUE(HL_RECORD_ABI_SYNC, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
VALUE(HL_RECORD_ABI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
VALUE(HL_RECORD_ABI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
VALUE(HL_RECORD_ABI_MOVED_HTOD, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD);
VALUE(HL_RECORD_ABI_MOVED_DTOH, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH);
VALUE(HL_RECORD_ABI_MOVED_DTOD, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD);
VALUE(HL_RECORD_ABI_SCOPE_ALL_DEVICES,
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES);
VALUE(HL_RECORD_ABI_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
VALUE(HL_RECORD_ABI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
VALUE(HL_RECORD_CUPTI_MAX_LIMIT, CUPTI_ERROR_MAX_LIMIT_REACHED);
VALUE(HL_RECORD_CUPTI_INVALID_PARAMETER, CUPTI_ERROR_INVALID_PARAMETER);
VALUE(HL_RECORD_CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
VALUE(HL_RECORD_CUPTI_NO_PRIVILEGE, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);

#define COPY(theirs)                                                                               \
    SAME(hl_record_abi_copy, kind, theirs, kind);                                                  \
    SAME(hl_record_abi_copy, copy_kind, theirs, copyKind);                                         \
    SAME(hl_record_abi_copy, source_kind, theirs, srcKind);                                        \
    SAME(hl_record_abi_copy, target_kind, theirs, dstKind);                                        \
    SAME(hl_record_abi_copy, flags, theirs, flags);                                                \
    SAME(hl_record_abi_copy, transfer.bytes, theirs, bytes);                                       \
    SAME(hl_record_abi_copy, transfer.start, theirs, start);                                       \
    SAME(hl_record_abi_copy, transfer.end, theirs, end);                                           \
    SAME(hl_record_abi_copy, transfer.device, theirs, deviceId);                                   \
    SAME(hl_record_abi_copy, transfer.context, theirs, contextId);                                 \
    SAME(hl_record_abi_copy, transfer.stream, theirs, streamId);                                   \
    SAME(hl_record_abi_copy, transfer.correlation, theirs, correlationId);                         \
    WITHIN(hl_record_abi_copy, theirs)

COPY(CUpti_ActivityMemcpy);
COPY(CUpti_ActivityMemcpy3);
COPY(CUpti_ActivityMemcpy4);
COPY(CUpti_ActivityMemcpy5);

#define PEER_COPY(theirs)                                                                          \
    SAME(hl_record_abi_peer_copy, copy.copy_kind, theirs, copyKind);                               \
    SAME(hl_record_abi_peer_copy, copy.source_kind, theirs, srcKind);                              \
    SAME(hl_record_abi_peer_copy, copy.target_kind, theirs, dstKind);                              \
    SAME(hl_record_abi_peer_copy, copy.transfer.bytes, theirs, bytes);                             \
    SAME(hl_record_abi_peer_copy, copy.transfer.start, theirs, start);                             \
    SAME(hl_record_abi_peer_copy, copy.transfer.end, theirs, end);                                 \
    SAME(hl_record_abi_peer_copy, copy.transfer.device, theirs, deviceId);                         \
    SAME(hl_record_abi_peer_copy, copy.transfer.context, theirs, contextId);                       \
    SAME(hl_record_abi_peer_copy, copy.transfer.stream, theirs, streamId);                         \
    SAME(hl_record_abi_peer_copy, copy.transfer.source_device, theirs, srcDeviceId);               \
    SAME(hl_record_abi_peer_copy, source_context, theirs, srcContextId);                           \
    SAME(hl_record_abi_peer_copy, target_device, theirs, dstDeviceId);                             \
    SAME(hl_record_abi_peer_copy, target_context, theirs, dstContextId);                           \
    SAME(hl_record_abi_peer_copy, correlation, theirs, correlationId);                             \
    WITHIN(hl_record_abi_peer_copy, theirs)

PEER_COPY(CUpti_ActivityMemcpyPtoP);
PEER_COPY(CUpti_ActivityMemcpyPtoP2);
PEER_COPY(CUpti_ActivityMemcpyPtoP3);
PEER_COPY(CUpti_ActivityMemcpyPtoP4);

#define MEMSET(theirs)                                                                             \
    SAME(hl_record_abi_memset, value, theirs, value);                                              \
    SAME(hl_record_abi_memset, transfer.bytes, theirs, bytes);                                     \
    SAME(hl_record_abi_memset, transfer.start, theirs, start);                                     \
    SAME(hl_record_abi_memset, transfer.end, theirs, end);                                         \
    SAME(hl_record_abi_memset, transfer.device, theirs, deviceId);                                 \
    SAME(hl_record_abi_memset, transfer.context, theirs, contextId);                               \
    SAME(hl_record_abi_memset, transfer.stream, theirs, streamId);                                 \
    SAME(hl_record_abi_memset, transfer.correlation, theirs, correlationId);                       \
    SAME(hl_record_abi_memset, memory_kind, theirs, memoryKind);                                   \
    WITHIN(hl_record_abi_memset, theirs)

MEMSET(CUpti_ActivityMemset);
MEMSET(CUpti_ActivityMemset2);
MEMSET(CUpti_ActivityMemset3);
MEMSET(CUpti_ActivityMemset4);

#define KERNEL(theirs)                                                                             \
    SAME(hl_record_abi_kernel, cache_config, theirs, cacheConfig);                                 \
    SAME(hl_record_abi_kernel, registers_per_thread, theirs, registersPerThread);                  \
    SAME(hl_record_abi_kernel, start, theirs, start);                                              \
    SAME(hl_record_abi_kernel, end, theirs, end);                                                  \
    SAME(hl_record_abi_kernel, device, theirs, deviceId);                                          \
    SAME(hl_record_abi_kernel, context, theirs, contextId);                                        \
    SAME(hl_record_abi_kernel, stream, theirs, streamId);                                          \
    SAME(hl_record_abi_kernel, grid[0], theirs, gridX);                                            \
    SAME(hl_record_abi_kernel, grid[2], theirs, gridZ);                                            \
    SAME(hl_record_abi_kernel, block[0], theirs, blockX);                                          \
    SAME(hl_record_abi_kernel, block[2], theirs, blockZ);                                          \
    SAME(hl_record_abi_kernel, static_shared, theirs, staticSharedMemory);                         \
    SAME(hl_record_abi_kernel, dynamic_shared, theirs, dynamicSharedMemory);                       \
    SAME(hl_record_abi_kernel, local_per_thread, theirs, localMemoryPerThread);                    \
    SAME(hl_record_abi_kernel, local_total, theirs, localMemoryTotal);                             \
    SAME(hl_record_abi_kernel, correlation, theirs, correlationId);                                \
    SAME(hl_record_abi_kernel, grid_id, theirs, gridId);                                           \
    SAME(hl_record_abi_kernel, name, theirs, name);                                                \
    WITHIN(hl_record_abi_kernel, theirs)

KERNEL(CUpti_ActivityKernel3);
KERNEL(CUpti_ActivityKernel4);
KERNEL(CUpti_ActivityKernel5);
KERNEL(CUpti_ActivityKernel6);
KERNEL(CUpti_ActivityKernel7);

SAME(hl_record_abi_call, function, CUpti_ActivityAPI, cbid);
SAME(hl_record_abi_call, start, CUpti_ActivityAPI, start);
SAME(hl_record_abi_call, end, CUpti_ActivityAPI, end);
SAME(hl_record_abi_call, process, CUpti_ActivityAPI, processId);
SAME(hl_record_abi_call, thread, CUpti_ActivityAPI, threadId);
SAME(hl_record_abi_call, correlation, CUpti_ActivityAPI, correlationId);
SAME(hl_record_abi_call, result, CUpti_ActivityAPI, returnValue);
WITHIN(hl_record_abi_call, CUpti_ActivityAPI);

#define DEVICE(theirs)                                                                             \
    SAME(hl_record_abi_device, memory_bandwidth, theirs, globalMemoryBandwidth);                   \
    SAME(hl_record_abi_device, memory_bytes, theirs, globalMemorySize);                            \
    SAME(hl_record_abi_device, l2_bytes, theirs, l2CacheSize);                                     \
    SAME(hl_record_abi_device, warp_threads, theirs, numThreadsPerWarp);                           \
    SAME(hl_record_abi_device, clock_rate, theirs, coreClockRate);                                 \
    SAME(hl_record_abi_device, copy_engines, theirs, numMemcpyEngines);                            \
    SAME(hl_record_abi_device, multiprocessors, theirs, numMultiprocessors);                       \
    SAME(hl_record_abi_device, limits[0], theirs, maxIPC);                                         \
    SAME(hl_record_abi_device, limits[13], theirs, maxGridDimZ);                                   \
    SAME(hl_record_abi_device, major, theirs, computeCapabilityMajor);                             \
    SAME(hl_record_abi_device, minor, theirs, computeCapabilityMinor);                             \
    SAME(hl_record_abi_device, id, theirs, id);                                                    \
    SAME(hl_record_abi_device, uuid, theirs, uuid);                                                \
    SAME(hl_record_abi_device, name, theirs, name);                                                \
    WITHIN(hl_record_abi_device, theirs)

DEVICE(CUpti_ActivityDevice2);
DEVICE(CUpti_ActivityDevice3);
DEVICE(CUpti_ActivityDevice4);

#define CONTEXT(theirs)                                                                            \
    SAME(hl_record_abi_context, context, theirs, contextId);                                       \
    SAME(hl_record_abi_context, device, theirs, deviceId);                                         \
    WITHIN(hl_record_abi_context, theirs)

CONTEXT(CUpti_ActivityContext);

#define SYNC(theirs)                                                                               \
    SAME(hl_record_abi_sync, type, theirs, type);                                                  \
    SAME(hl_record_abi_sync, start, theirs, start);                                                \
    SAME(hl_record_abi_sync, end, theirs, end);                                                    \
    SAME(hl_record_abi_sync, correlation, theirs, correlationId);                                  \
    SAME(hl_record_abi_sync, context, theirs, contextId);                                          \
    SAME(hl_record_abi_sync, stream, theirs, streamId);                                            \
    SAME(hl_record_abi_sync, event, theirs, cudaEventId)

SYNC(CUpti_ActivitySynchronization);

#define EVENT(theirs)                                                                              \
    SAME(hl_record_abi_event, correlation, theirs, correlationId);                                 \
    SAME(hl_record_abi_event, context, theirs, contextId);                                         \
    SAME(hl_record_abi_event, stream, theirs, streamId);                                           \
    SAME(hl_record_abi_event, event, theirs, eventId)

EVENT(CUpti_ActivityCudaEvent);

#define MIGRATION(theirs)                                                                          \
    SAME(hl_record_abi_migration, counter, theirs, counterKind);                                   \
    SAME(hl_record_abi_migration, value, theirs, value);                                           \
    SAME(hl_record_abi_migration, start, theirs, start);                                           \
    SAME(hl_record_abi_migration, end, theirs, end);                                               \
    SAME(hl_record_abi_migration, address, theirs, address);                                       \
    SAME(hl_record_abi_migration, source, theirs, srcId);                                          \
    SAME(hl_record_abi_migration, target, theirs, dstId);                                          \
    SAME(hl_record_abi_migration, stream, theirs, streamId);                                       \
    SAME(hl_record_abi_migration, process, theirs, processId);                                     \
    SAME(hl_record_abi_migration, flags, theirs, flags);                                           \
    WITHIN(hl_record_abi_migration, theirs)

MIGRATION(CUpti_ActivityUnifiedMemoryCounter2);

#define OVERHEAD(theirs)                                                                           \
    SAME(hl_record_abi_overhead, overhead, theirs, overheadKind);                                  \
    SAME(hl_record_abi_overhead, object, theirs, objectKind);                                      \
    SAME(hl_record_abi_overhead, object_id, theirs, objectId);                                     \
    SAME(hl_record_abi_overhead, start, theirs, start);                                            \
    SAME(hl_record_abi_overhead, end, theirs, end);                                                \
    WITHIN(hl_record_abi_overhead, theirs)

OVERHEAD(CUpti_ActivityOverhead);

SAME(hl_record_abi_counter_config, scope, CUpti_ActivityUnifiedMemoryCounterConfig, scope);
SAME(hl_record_abi_counter_config, counter, CUpti_ActivityUnifiedMemoryCounterConfig, kind);
SAME(hl_record_abi_counter_config, device, CUpti_ActivityUnifiedMemoryCounterConfig, deviceId);
SAME(hl_record_abi_counter_config, enable, CUpti_ActivityUnifiedMemoryCounterConfig, enable);

#if CUPTI_API_VERSION >= 18
KERNEL(CUpti_ActivityKernel8);
#endif

#if CUPTI_API_VERSION >= 26
KERNEL(CUpti_ActivityKernel9);
COPY(CUpti_ActivityMemcpy6);
DEVICE(CUpti_ActivityDevice5);
CONTEXT(CUpti_ActivityContext2);
CONTEXT(CUpti_ActivityContext3);
MIGRATION(CUpti_ActivityUnifiedMemoryCounter3);
OVERHEAD(CUpti_ActivityOverhead2);
OVERHEAD(CUpti_ActivityOverhead3);
SYNC(CUpti_ActivitySynchronization2);
SAME(hl_record_abi_sync, sync_id, CUpti_ActivitySynchronization2, cudaEventSyncId);
SAME(hl_record_abi_sync, result, CUpti_ActivitySynchronization2, returnValue);
EVENT(CUpti_ActivityCudaEvent2);
SAME(hl_record_abi_event, device, CUpti_ActivityCudaEvent2, deviceId);
SAME(hl_record_abi_event, time, CUpti_ActivityCudaEvent2, deviceTimestamp);
SAME(hl_record_abi_event, sync_id, CUpti_ActivityCudaEvent2, cudaEventSyncId);
#endif

#if CUPTI_API_VERSION >= 130000
KERNEL(CUpti_ActivityKernel10);
#endif

#if CUPTI_API_VERSION >= 130100
KERNEL(CUpti_ActivityKernel11);
CONTEXT(CUpti_ActivityContext4);
#endif

#if CUPTI_API_VERSION >= 130200
DEVICE(CUpti_ActivityDevice6);
#endif

#if CUPTI_API_VERSION >= 130300
KERNEL(CUpti_ActivityKernel12);
#endif

#if CUPTI_API_VERSION >= 130400
KERNEL(CUpti_ActivityKernel13);
COPY(CUpti_ActivityMemcpy7);
MEMSET(CUpti_ActivityMemset5);
#endif

#if CUPTI_API_VERSION >= 130500
EVENT(CUpti_ActivityCudaEvent3);
SAME(hl_record_abi_event, device, CUpti_ActivityCudaEvent3, deviceId);
SAME(hl_record_abi_event, time, CUpti_ActivityCudaEvent3, deviceTimestamp);
SAME(hl_record_abi_event, sync_id, CUpti_ActivityCudaEvent3, cudaEventSyncId);
#endif

#endif
