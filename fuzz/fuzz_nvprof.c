#include "profile_fuzz.h"

#define DEVICE_COLUMNS "start", "end", "deviceId", "contextId", "streamId", "correlationId"
#define KERNEL_COLUMNS                                                                             \
    "_id_", DEVICE_COLUMNS, "name", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",       \
        "registersPerThread", "staticSharedMemory", "dynamicSharedMemory"
#define CALL_COLUMNS "_id_", "cbid", "start", "end", "processId", "threadId", "correlationId"

static const fuzz_table tables[] = {
    {"CUPTI_ACTIVITY_KIND_MEMCPY",
     {"_id_", DEVICE_COLUMNS, "bytes", "copyKind", "srcKind", "dstKind"}},
    {"StringTable", {"_id_", "value"}},
    {"CUPTI_ACTIVITY_KIND_MEMCPY2",
     {"_id_", DEVICE_COLUMNS, "bytes", "copyKind", "srcKind", "dstKind", "srcDeviceId",
      "dstDeviceId"}},
    {"CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER",
     {"counterKind", "value", "start", "end", "srcId", "dstId", "streamId"}},
    {"CUPTI_ACTIVITY_KIND_MEMSET", {DEVICE_COLUMNS, "bytes"}},
    {"CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", {KERNEL_COLUMNS}},
    {"CUPTI_ACTIVITY_KIND_KERNEL", {KERNEL_COLUMNS}},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
     {"type", "start", "end", "correlationId", "contextId", "streamId", "cudaEventId"}},
    {"CUPTI_ACTIVITY_KIND_CUDA_EVENT", {"correlationId", "contextId", "streamId", "eventId"}},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", {CALL_COLUMNS}},
    {"CUPTI_ACTIVITY_KIND_DRIVER", {CALL_COLUMNS}},
    {"CUPTI_ACTIVITY_KIND_CONTEXT", {"contextId", "deviceId"}},
    {"CUPTI_ACTIVITY_KIND_DEVICE",
     {"id", "name", "globalMemoryBandwidth", "coreClockRate", "globalMemorySize", "l2CacheSize",
      "numMultiprocessors", "numMemcpyEngines", "computeCapabilityMajor",
      "computeCapabilityMinor"}},
    {"Version", {"version"}},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read(data, size, tables, sizeof tables / sizeof *tables);
    return 0;
}
