#include "profile_fuzz.h"

#define DEVICE_COLUMNS                                                                             \
    "start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"

static const fuzz_table tables[] = {
    {"StringIds", {"id", "value"}},
    {"CUPTI_ACTIVITY_KIND_MEMCPY",
     {DEVICE_COLUMNS, "bytes", "copyKind", "srcKind", "dstKind", "srcDeviceId", "dstDeviceId"}},
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     {DEVICE_COLUMNS, "demangledName", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",
      "registersPerThread", "staticSharedMemory", "dynamicSharedMemory"}},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", {DEVICE_COLUMNS, "syncType", "eventId", "eventSyncId"}},
    {"CUPTI_ACTIVITY_KIND_CUDA_EVENT",
     {"timestamp", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "eventId",
      "eventSyncId"}},
    {"CUPTI_ACTIVITY_KIND_RUNTIME",
     {"start", "end", "globalTid", "correlationId", "nameId", "callchainId"}},
    {"CUDA_CALLCHAINS", {"id", "symbol", "module", "stackDepth"}},
    {"CUPTI_ACTIVITY_KIND_MEMSET", {DEVICE_COLUMNS, "bytes"}},
    {"TARGET_INFO_GPU",
     {"id", "cuDevice", "name", "memoryBandwidth", "clockRate", "totalMemory", "l2CacheSize",
      "smCount", "asyncEngines", "computeMajor", "computeMinor"}},
    {"TARGET_INFO_CUDA_DEVICE", {"pid", "cudaId", "gpuId"}},
    {"META_DATA_EXPORT", {"name", "value"}},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {"start"}},
    {"TARGET_INFO_SYSTEM_ENV", {"name", "value"}},
    {"HAUL_RANKS", {"deviceId", "rank", "host"}},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read(data, size, tables, sizeof tables / sizeof *tables);
    return 0;
}
