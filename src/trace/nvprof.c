/* nvprof and the Visual Profiler: CUPTI's activity records, a table a kind, all of them present
 * and most of them empty. Rows of device work name no process. */
#include <stdio.h>

#include "trace/cupti.h"
#include "trace/trace_format.h"

#define DEVICE_COLUMNS "start", "end", "deviceId", "contextId", "streamId", "correlationId", NULL
#define COPY_COLUMNS DEVICE_COLUMNS, "bytes", "copyKind", "srcKind", "dstKind"
#define KERNEL_COLUMNS                                                                             \
    DEVICE_COLUMNS, "name", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",               \
        "registersPerThread", "staticSharedMemory", "dynamicSharedMemory"
#define CALL_COLUMNS "start", "end", "correlationId", "cbid", "threadId", "processId"

/* The calls that move data, launch and wait, from cupti_runtime_cbid.h and cupti_driver_cbid.h. */
static const hl_trace_cupti_call_name runtime_calls[] = {
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
    {206, "cudaMallocManaged"},
    {211, "cudaLaunchKernel"},
    {252, "cudaMemPrefetchAsync"},
    {253, "cudaMemPrefetchAsync"},
    {254, "cudaMemAdvise"},
    {0, NULL},
};
static const hl_trace_cupti_call_name driver_calls[] = {
    {243, "cuMemAlloc"},        {245, "cuMemFree"},
    {271, "cuMemHostAlloc"},    {276, "cuMemcpyHtoD"},
    {277, "cuMemcpyHtoDAsync"}, {278, "cuMemcpyDtoH"},
    {279, "cuMemcpyDtoHAsync"}, {280, "cuMemcpyDtoD"},
    {281, "cuMemcpyDtoDAsync"}, {295, "cuStreamWaitEvent"},
    {305, "cuMemcpy"},          {306, "cuMemcpyAsync"},
    {307, "cuLaunchKernel"},    {0, NULL},
};

static const hl_trace_cupti_format nvprof_format = {
    .tables =
        {
            {"CUPTI_ACTIVITY_KIND_MEMCPY", HL_TRACE_CUPTI_COPY, {COPY_COLUMNS}},
            {"CUPTI_ACTIVITY_KIND_MEMCPY2", /* between devices */
             HL_TRACE_CUPTI_COPY,
             {COPY_COLUMNS, "srcDeviceId", "dstDeviceId"}},
            {"CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER",
             HL_TRACE_CUPTI_MIGRATION,
             {"start", "end", NULL, NULL, "streamId", NULL, NULL, "value", "counterKind", NULL,
              NULL, "srcId", "dstId"}},
            {"CUPTI_ACTIVITY_KIND_MEMSET", HL_TRACE_CUPTI_MEMSET, {DEVICE_COLUMNS, "bytes"}},
            {"CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", HL_TRACE_CUPTI_KERNEL, {KERNEL_COLUMNS}},
            {"CUPTI_ACTIVITY_KIND_KERNEL",
             HL_TRACE_CUPTI_KERNEL,
             {KERNEL_COLUMNS}}, /* serialised */
            {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
             HL_TRACE_CUPTI_SYNC,
             {DEVICE_COLUMNS, "type", "cudaEventId|eventId", "cudaEventSyncId"}},
        },
    .events = {"CUPTI_ACTIVITY_KIND_CUDA_EVENT",
               HL_TRACE_CUPTI_SYNC,
               {"deviceTimestamp", NULL, "deviceId", "contextId", "streamId", "correlationId", NULL,
                NULL, "eventId", "cudaEventSyncId"}},
    .calls = {{"CUPTI_ACTIVITY_KIND_RUNTIME", {CALL_COLUMNS}, "runtime call", runtime_calls},
              {"CUPTI_ACTIVITY_KIND_DRIVER", {CALL_COLUMNS}, "driver call", driver_calls}},
    .pageable = 1,
    .string_table = "StringTable",
    .string_columns = {"_id_", "value"},
};

static const hl_trace_device_table device_table = {
    "CUPTI_ACTIVITY_KIND_DEVICE",
    {"id", "id", "name", "globalMemoryBandwidth", "coreClockRate", "globalMemorySize",
     "l2CacheSize", "numMultiprocessors", "numMemcpyEngines", "computeCapabilityMajor",
     "computeCapabilityMinor"},
    "StringTable"};

/* Any file of nvprof has the table of versions; one cut by hand is known by the first column of its
 * tables, `_id_`. */
static bool sniff_nvprof(hl_trace_source *source)
{
    if (hl_trace_source_has(source, "StringTable") && hl_trace_source_has(source, "Version"))
        return true;
    return hl_trace_cupti_has_column(&nvprof_format, source, "_id_");
}

/* 11 to 22 have been met; columns that came later read as NULL in older ones. */
static void take_version(void *self, const hl_trace_rows *rows)
{
    hl_trace_version *const version = ((hl_trace_cupti_reader *)self)->version;
    if (rows->number == 1)
        snprintf(version->text, sizeof version->text, "%lld",
                 (long long)hl_trace_rows_int(rows, 0));
}

/* Rows of waits have no device, but a context. */
static void take_context(void *self, const hl_trace_rows *rows)
{
    hl_trace_cupti_reader *const of = self;
    hl_trace_id_map_add(
        &of->devices.contexts, &of->builder->built,
        &(hl_trace_id_row){hl_trace_rows_int(rows, 0), {hl_trace_rows_int(rows, 1)}});
}

/* Dynamic parallelism: such kernels run within their parent's time, and no call issued them. */
static void take_nested_kernel(void *self, const hl_trace_rows *rows)
{
    (void)rows;
    hl_trace_missing(((hl_trace_cupti_reader *)self)->builder, 1,
                     "kernels launched by kernels, left out");
}

/* Device rows name no process, so that a file of several is joined by correlation id alone, and
 * says so. */
static haul_status read_nvprof(hl_trace_source *source, hl_trace_builder *builder,
                               hl_trace_version *version, haul_error *error)
{
    static const hl_trace_scan scans[] = {
        {"Version", take_version, {"version"}, false},
        {"CUPTI_ACTIVITY_KIND_CONTEXT", take_context, {"contextId", "deviceId"}, false},
    };
    static const hl_trace_scan nested = {
        "CUPTI_ACTIVITY_KIND_CDP_KERNEL", take_nested_kernel, {"start"}, false};
    hl_trace_cupti_reader self = {.builder = builder, .version = version};
    haul_status status = hl_trace_source_scan(source, "", scans, 2, &self, error);
    if (!status)
        status = hl_trace_cupti_read(&nvprof_format, source, &self.devices, NULL, builder, error);
    if (!status)
        status = hl_trace_cupti_devices_describe(source, &device_table, builder, error);
    if (!status)
        status = hl_trace_source_scan(source, "", &nested, 1, &self, error);
    const haul_workload_thread *const threads = builder->built.threads.items;
    bool several = false;
    for (size_t i = 1; i < builder->built.threads.count; i++)
        several |= threads[i].process != threads[0].process;
    if (several)
        hl_trace_missing(builder, 0,
                         "calls of several processes, joined by correlation id alone: copies "
                         "and kernels name no process");
    hl_trace_cupti_devices_release(&self.devices);
    return status;
}

const hl_trace_format hl_trace_nvprof = {
    .name = "nvprof", .sniff = sniff_nvprof, .read = read_nvprof};
