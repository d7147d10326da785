/* Nsight Systems, `nsys export --type sqlite`. Tables are made when their first row is met, columns
 * come and go with the version, and views of its enumerations may be absent: see
 * docs.nvidia.com/nsight-systems, "SQLite Export Schema Reference". */
#include <stdio.h>
#include <string.h>

#include "trace/cupti.h"
#include "trace/nsys_mpi.h"
#include "trace/nsys_stacks.h"
#include "trace/nvtx_collectives.h"
#include "trace/own_tables.h"
#include "trace/trace_format.h"

#define DEVICE_COLUMNS                                                                             \
    "start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"

static const hl_trace_cupti_format nsys_format = {
    .tables =
        {
            {"CUPTI_ACTIVITY_KIND_MEMCPY",
             HL_TRACE_CUPTI_COPY,
             {DEVICE_COLUMNS, "bytes", "copyKind", "srcKind", "dstKind", "srcDeviceId",
              "dstDeviceId"}},
            {"CUPTI_ACTIVITY_KIND_MEMSET", HL_TRACE_CUPTI_MEMSET, {DEVICE_COLUMNS, "bytes"}},
            {"CUPTI_ACTIVITY_KIND_KERNEL",
             HL_TRACE_CUPTI_KERNEL,
             {DEVICE_COLUMNS, "demangledName|shortName|mangledName|nameId|name", "gridX", "gridY",
              "gridZ", "blockX", "blockY", "blockZ", "registersPerThread", "staticSharedMemory",
              "dynamicSharedMemory"}},
            {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
             HL_TRACE_CUPTI_SYNC,
             {DEVICE_COLUMNS, "syncType|type", "eventId", "eventSyncId"}},
        },
    /* `timestamp` is 0 in most files: then the call of the record tells when. */
    .events = {"CUPTI_ACTIVITY_KIND_CUDA_EVENT",
               HL_TRACE_CUPTI_SYNC,
               {"timestamp", NULL, "deviceId", "contextId", "streamId", "correlationId",
                "globalPid", NULL, "eventId", "eventSyncId"}},
    .calls = {{"CUPTI_ACTIVITY_KIND_RUNTIME",
               {"start", "end", "correlationId", "nameId", "globalTid", NULL, "callchainId"},
               NULL,
               NULL}},
    .thread_has_process = true,
    .pageable = 0,
    .string_table = "StringIds",
    .string_columns = {"id", "value"},
};

/* Any of the profiler's own tables will do, since each may be absent; so will a table of records
 * with a column that nvprof does not have, of a file that was cut by hand. */
static bool sniff_nsys(hl_trace_source *source)
{
    static const char *const marks[] = {"StringIds", "META_DATA_EXPORT", "EXPORT_META_DATA",
                                        "TARGET_INFO_SESSION_START_TIME"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (hl_trace_source_has(source, marks[i]))
            return true;
    return hl_trace_cupti_has_column(&nsys_format, source, "globalPid");
}

/* Schemas are numbered since 2021; before that the file says nothing. */
static void take_version(void *self, const hl_trace_rows *rows)
{
    hl_trace_version *const version = ((hl_trace_cupti_reader *)self)->version;
    size_t length;
    const char *name = hl_trace_rows_text(rows, 0, &length);
    if (version->text[0] || !name || strcmp(name, "EXPORT_SCHEMA_VERSION") != 0)
        return;
    const char *value = hl_trace_rows_text(rows, 1, &length);
    snprintf(version->text, sizeof version->text, "%s", value ? value : "");
}

/* The profiler names what it lost: haul record in a row of META_DATA_CAPTURE, Nsight Systems in
 * warnings ("Not all CUDA events might have been collected."). */
static void take_loss(void *self, const hl_trace_rows *rows)
{
    static const char *const warnings[] = {"Not all CUDA events", "CUDA profiling might have not",
                                           "dropped", "Dropped"};
    hl_trace_builder *const builder = ((hl_trace_cupti_reader *)self)->builder;
    const bool of_capture = rows->columns == 2;
    size_t length;
    const char *text = hl_trace_rows_text(rows, 0, &length);
    const char *name = of_capture ? hl_trace_rows_text(rows, 1, &length) : NULL;
    bool is_loss = text && name && !strncmp(name, "HAUL:INCOMPLETE", 15);
    for (size_t i = 0; text && !of_capture && i < sizeof warnings / sizeof *warnings; i++)
        is_loss |= strstr(text, warnings[i]) != NULL;
    if (is_loss)
        hl_trace_lost_line(builder, 0, text);
}

/* CUDA_VISIBLE_DEVICES can make two processes call two GPUs by one number. */
static void take_device_id(void *self, const hl_trace_rows *rows)
{
    hl_trace_cupti_reader *const of = self;
    hl_trace_cupti_devices_map(
        &of->devices, &of->builder->built, (uint64_t)hl_trace_rows_int(rows, 0),
        (uint64_t)hl_trace_rows_int(rows, 1), (uint64_t)hl_trace_rows_int(rows, 2));
}

/* When the times of the file begin, since 1970. */
static void take_epoch(void *self, const hl_trace_rows *rows)
{
    if (rows->number == 1)
        ((hl_trace_cupti_reader *)self)->builder->built.epoch_ns = hl_trace_rows_int(rows, 0);
}

static void take_host(void *self, const hl_trace_rows *rows)
{
    size_t length;
    const char *const name = hl_trace_rows_text(rows, 0, &length);
    const bool is_host = name && !strcmp(name, "Hostname");
    const char *const host = is_host ? hl_trace_rows_text(rows, 1, &length) : NULL;
    if (host)
        hl_workload_builder_host(&((hl_trace_cupti_reader *)self)->builder->built, host, length);
}

/* The state of a reader of this file's own tables. */
typedef struct nsys_reader {
    hl_trace_cupti_reader cupti; /* first: functions for rows that nvprof has, too, take it */
    hl_trace_nvtx_collectives collectives;
    hl_trace_nsys_stacks stacks;
    hl_trace_nsys_mpi mpi;
} nsys_reader;

static void take_field(void *self, const hl_trace_rows *rows)
{
    hl_trace_nvtx_take_field(&((nsys_reader *)self)->collectives, rows);
}

/* NVTX's ranges and marks. A name is text in the row, or the number of a string. */
static void take_range(void *self, const hl_trace_rows *rows)
{
    enum { PUSH_POP = 59, START_END = 60, MARK = 34 };
    nsys_reader *const of = self;
    hl_trace_builder *const builder = of->cupti.builder;
    const uint64_t thread_id = (uint64_t)hl_trace_rows_int(rows, 5), low = UINT64_C(0xffffff);
    const int64_t type = hl_trace_rows_int(rows, 2), start = hl_trace_rows_int(rows, 0);
    if ((type != PUSH_POP && type != START_END && type != MARK) || !hl_trace_rows_is_int(rows, 0))
        return;
    const haul_workload_thread thread = {.process = thread_id & ~low, .id = thread_id & low};
    size_t length;
    const char *text = hl_trace_rows_text(rows, 3, &length);
    haul_named_range range = {.start_ns = start, .name = HAUL_NONE};
    if (hl_trace_rows_is_int(rows, 4))
        range.name =
            hl_trace_name(builder, (uint64_t)hl_trace_rows_int(rows, 4) & (INT64_MAX >> 1));
    else if (text && length)
        range.name = hl_trace_text(builder, text, length);
    if (hl_trace_rows_is_int(rows, 1))
        range.dur_ns = hl_trace_duration(start, hl_trace_rows_int(rows, 1));
    range.thread = hl_workload_builder_thread(&builder->built, &thread);
    hl_trace_range(builder, &range);
    const char *payload = hl_trace_rows_text(rows, 6, &length);
    if (payload)
        hl_trace_nvtx_take_payload(&of->collectives, builder, &range, payload, length);
}

/* With --cuda-graph-trace=graph a graph is one row. */
static void take_graph(void *self, const hl_trace_rows *rows)
{
    (void)rows;
    hl_trace_missing(((hl_trace_cupti_reader *)self)->builder, 1,
                     "graphs recorded whole, without their copies and kernels (record with "
                     "--cuda-graph-trace=node)");
}

/* Newest first; TARGET_INFO_CUDA_GPU, of 2020 and 2021, has CUPTI's own names. */
static const hl_trace_device_table device_tables[] = {
    {"TARGET_INFO_GPU",
     {"id", "cuDevice|deviceId|id", "name", "memoryBandwidth", "clockRate", "totalMemory",
      "l2CacheSize", "smCount", "asyncEngines", "computeMajor", "computeMinor"},
     NULL},
    {"TARGET_INFO_CUDA_GPU",
     {"id", "cuDevice|deviceId|id", "name", "memoryBandwidth|globalMemoryBandwidth",
      "clockRate|coreClockRate", "totalMemory|globalMemorySize", "l2CacheSize",
      "smCount|numMultiprocessors", "asyncEngines|numMemcpyEngines",
      "computeMajor|computeCapabilityMajor", "computeMinor|computeCapabilityMinor"},
     NULL},
};

static haul_status read_nsys(hl_trace_source *source, hl_trace_builder *builder,
                             hl_trace_version *version, haul_error *error)
{
    static const hl_trace_scan scans[] = {
        {"META_DATA_EXPORT", take_version, {"name", "value"}, true},
        {"EXPORT_META_DATA", take_version, {"name", "value"}, true}, /* until 2022 */
        {"META_DATA_CAPTURE", take_loss, {"value", "name"}, true},
        {"DIAGNOSTIC_EVENT", take_loss, {"text"}, true},
        {"TARGET_INFO_CUDA_DEVICE", take_device_id, {"pid", "cudaId", "gpuId"}, false},
        {"TARGET_INFO_SESSION_START_TIME", take_epoch, {"utcEpochNs"}, false},
        {"TARGET_INFO_SYSTEM_ENV", take_host, {"name", "value"}, true},
        {"NVTX_PAYLOAD_SCHEMA_ENTRIES",
         take_field,
         {"domainId", "schemaId", "offset", "name"},
         true},
        {"NVTX_EVENTS",
         take_range,
         {"start", "end", "eventType", "text", "textId", "globalTid", "binaryData"},
         true},
    };
    static const hl_trace_scan graphs = {
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", take_graph, {"start"}, false};
    nsys_reader self = {.cupti = {.builder = builder, .version = version},
                        .stacks = {.builder = builder, .lines = HL_TRACE_SOURCE_LINES},
                        .mpi = {.builder = builder}};
    haul_status status =
        hl_trace_source_scan(source, "", scans, sizeof scans / sizeof *scans, &self, error);
    if (!status)
        status = hl_trace_nsys_mpi_read(&self.mpi, source, error);
    if (!status)
        status = hl_trace_nsys_stacks_name(&self.stacks, source, error);
    if (!status)
        status =
            hl_trace_cupti_read(&nsys_format, source, &self.cupti.devices,
                                hl_trace_nsys_stacks_lines(&self.stacks, source), builder, error);
    if (!status)
        hl_trace_nsys_mpi_join(&self.mpi);
    if (!status)
        status = hl_trace_nsys_stacks_join(&self.stacks, source, error);
    if (!status)
        hl_trace_nvtx_join(&self.collectives, builder);
    if (!status)
        status = hl_trace_own_tables_read(source, builder, error);
    for (size_t i = 0; !status && i < sizeof device_tables / sizeof *device_tables; i++)
        status = hl_trace_cupti_devices_describe(source, &device_tables[i], builder, error);
    if (!status)
        status = hl_trace_source_scan(source, "", &graphs, 1, &self, error);
    hl_trace_cupti_devices_release(&self.cupti.devices);
    hl_trace_nvtx_release(&self.collectives);
    hl_trace_nsys_stacks_release(&self.stacks);
    hl_trace_nsys_mpi_release(&self.mpi);
    return status;
}

const hl_trace_format hl_trace_nsys = {.name = "nsys", .sniff = sniff_nsys, .read = read_nsys};
