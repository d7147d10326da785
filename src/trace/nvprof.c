/* nvprof and the Visual Profiler: CUPTI's activity records, a table a kind, all of them present
 * and most of them empty. Rows of device work name no process. */
#include <stdio.h>

#include "base/fail.h"
#include "trace/cupti.h"
#include "trace/row_scan.h"
#include "trace/trace_format.h"

#define DEVICE_COLUMNS "start", "end", "deviceId", "contextId", "streamId", "correlationId", NULL
#define COPY_COLUMNS DEVICE_COLUMNS, "bytes", "copyKind", "srcKind", "dstKind"
#define KERNEL_COLUMNS                                                                             \
    DEVICE_COLUMNS, "name", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",               \
        "registersPerThread", "staticSharedMemory", "dynamicSharedMemory"
#define CALL_COLUMNS "start", "end", "correlationId", "cbid", "threadId", "processId"

/* The calls that move data, launch and wait, from cupti_runtime_cbid.h and cupti_driver_cbid.h. */
static const haul_cupti_call_name runtime_calls[] = {
    {13, "cudaLaunch"},
    {20, "cudaMalloc"},
    {22, "cudaFree"},
    {25, "cudaMallocHost"},
    {26, "cudaFreeHost"},
    {27, "cudaHostAlloc"},
    {31, "cudaMemcpy"},
    {32, "cudaMemcpy2D"},
    {39, "cudaMemcpyToSymbol"},
    {40, "cudaMemcpyFromSymbol"},
    {41, "cudaMemcpyAsync"},
    {44, "cudaMemcpy2DAsync"},
    {47, "cudaMemcpyToSymbolAsync"},
    {48, "cudaMemcpyFromSymbolAsync"},
    {49, "cudaMemset"},
    {51, "cudaMemsetAsync"},
    {129, "cudaStreamCreate"},
    {130, "cudaStreamDestroy"},
    {131, "cudaStreamSynchronize"},
    {132, "cudaStreamQuery"},
    {135, "cudaEventRecord"},
    {137, "cudaEventSynchronize"},
    {138, "cudaEventQuery"},
    {144, "cudaMemcpy3D"},
    {145, "cudaMemcpy3DAsync"},
    {147, "cudaStreamWaitEvent"},
    {152, "cudaHostRegister"},
    {153, "cudaHostUnregister"},
    {165, "cudaDeviceSynchronize"},
    {211, "cudaLaunchKernel"},
    {0, NULL},
};
static const haul_cupti_call_name driver_calls[] = {
    {243, "cuMemAlloc"},        {245, "cuMemFree"},
    {271, "cuMemHostAlloc"},    {276, "cuMemcpyHtoD"},
    {277, "cuMemcpyHtoDAsync"}, {278, "cuMemcpyDtoH"},
    {279, "cuMemcpyDtoHAsync"}, {280, "cuMemcpyDtoD"},
    {281, "cuMemcpyDtoDAsync"}, {295, "cuStreamWaitEvent"},
    {305, "cuMemcpy"},          {306, "cuMemcpyAsync"},
    {307, "cuLaunchKernel"},    {0, NULL},
};

static const haul_cupti_format nvprof_format = {
    .tables =
        {
            {"CUPTI_ACTIVITY_KIND_MEMCPY", HAUL_CUPTI_COPY, {COPY_COLUMNS}},
            {"CUPTI_ACTIVITY_KIND_MEMCPY2", /* between devices */
             HAUL_CUPTI_COPY,
             {COPY_COLUMNS, "srcDeviceId", "dstDeviceId"}},
            {"CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER",
             HAUL_CUPTI_MIGRATION,
             {"start", "end", NULL, NULL, "streamId", NULL, NULL, "value", "counterKind", NULL,
              NULL, "srcId", "dstId"}},
            {"CUPTI_ACTIVITY_KIND_MEMSET", HAUL_CUPTI_MEMSET, {DEVICE_COLUMNS, "bytes"}},
            {"CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", HAUL_CUPTI_KERNEL, {KERNEL_COLUMNS}},
            {"CUPTI_ACTIVITY_KIND_KERNEL", HAUL_CUPTI_KERNEL, {KERNEL_COLUMNS}}, /* serialised */
            {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
             HAUL_CUPTI_SYNC,
             {DEVICE_COLUMNS, "type", "cudaEventId|eventId", "cudaEventSyncId"}},
        },
    .events = {"CUPTI_ACTIVITY_KIND_CUDA_EVENT",
               HAUL_CUPTI_SYNC,
               {"deviceTimestamp", NULL, "deviceId", "contextId", "streamId", "correlationId", NULL,
                NULL, "eventId", "cudaEventSyncId"}},
    .calls = {{"CUPTI_ACTIVITY_KIND_RUNTIME", {CALL_COLUMNS}, "runtime call", runtime_calls},
              {"CUPTI_ACTIVITY_KIND_DRIVER", {CALL_COLUMNS}, "driver call", driver_calls}},
    .pageable = 1,
    .string_table = "StringTable",
    .string_columns = {"_id_", "value"},
};

static const haul_device_table device_table = {"CUPTI_ACTIVITY_KIND_DEVICE",
                                               {"id", "id", "name", "globalMemoryBandwidth",
                                                "coreClockRate", "globalMemorySize", "l2CacheSize",
                                                "numMultiprocessors", "numMemcpyEngines",
                                                "computeCapabilityMajor", "computeCapabilityMinor"},
                                               true};

static bool sniff(haul_source *source)
{
    if (haul_source_has(source, "StringTable") && haul_source_has(source, "Version"))
        return true;
    for (int i = 0; i < HAUL_CUPTI_TABLES && nvprof_format.tables[i].name; i++)
        if (haul_source_has_column(source, nvprof_format.tables[i].name, "_id_"))
            return true;
    return false;
}

static haul_status read_version(haul_source *source, haul_trace_version *version, haul_error *error)
{
    static const char *const columns[] = {"version"};
    haul_rows rows;
    haul_status status = haul_rows_begin_if(&rows, source, "Version", columns, 1, error);
    if (haul_rows_step(&rows, &status, error))
        snprintf(version->text, sizeof version->text, "%lld", (long long)haul_rows_int(&rows, 0));
    haul_rows_end(&rows);
    return status;
}

static haul_status map_contexts(haul_source *source, haul_cupti_devices *devices, haul_error *error)
{
    static const char *const columns[] = {"contextId", "deviceId"};
    haul_rows rows;
    haul_status status =
        haul_rows_begin_if(&rows, source, "CUPTI_ACTIVITY_KIND_CONTEXT", columns, 2, error);
    while (haul_rows_step(&rows, &status, error))
        if (!haul_cupti_devices_context(devices, (uint64_t)haul_rows_int(&rows, 0),
                                        haul_rows_int(&rows, 1)))
            status = haul_fail_no_memory(error);
    haul_rows_end(&rows);
    return status;
}

static void say_processes(haul_trace_builder *builder)
{
    const haul_workload_thread *threads = builder->built.threads.items;
    for (size_t i = 1; i < builder->built.threads.count; i++)
        if (threads[i].process != threads[0].process) {
            haul_trace_missing(builder, 0,
                               "calls of several processes, joined by correlation id alone: "
                               "copies and kernels name no process");
            return;
        }
}

static haul_status read(haul_source *source, haul_trace_builder *builder,
                        haul_trace_version *version, haul_error *error)
{
    haul_cupti_devices devices;
    haul_cupti_devices_init(&devices);
    haul_status status = read_version(source, version, error);
    if (!status)
        status = map_contexts(source, &devices, error);
    if (!status)
        status = haul_cupti_read(&nvprof_format, source, &devices, builder, error);
    if (!status)
        status = haul_cupti_devices_describe(source, &device_table, builder, error);
    if (!status)
        status = haul_cupti_say_rows(source, "CUPTI_ACTIVITY_KIND_CDP_KERNEL", builder,
                                     "kernels launched by kernels, left out", error);
    if (!status)
        say_processes(builder);
    haul_cupti_devices_release(&devices);
    return status;
}

const haul_trace_format haul_trace_nvprof = {.name = "nvprof", .sniff = sniff, .read = read};
