/* Nsight Systems, `nsys export --type sqlite`. Tables are made when their first row is met, columns
 * come and go with the version, and views of its enumerations may be absent: see
 * docs.nvidia.com/nsight-systems, "SQLite Export Schema Reference". */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "trace/cupti.h"
#include "trace/row_scan.h"
#include "trace/trace_format.h"

#define DEVICE_COLUMNS                                                                             \
    "start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"

static const haul_cupti_format nsys_format = {
    .tables =
        {
            {"CUPTI_ACTIVITY_KIND_MEMCPY",
             HAUL_CUPTI_COPY,
             {DEVICE_COLUMNS, "bytes", "copyKind", "srcKind", "dstKind", "srcDeviceId",
              "dstDeviceId"}},
            {"CUPTI_ACTIVITY_KIND_MEMSET", HAUL_CUPTI_MEMSET, {DEVICE_COLUMNS, "bytes"}},
            {"CUPTI_ACTIVITY_KIND_KERNEL",
             HAUL_CUPTI_KERNEL,
             {DEVICE_COLUMNS, "demangledName|shortName|mangledName|nameId|name", "gridX", "gridY",
              "gridZ", "blockX", "blockY", "blockZ", "registersPerThread", "staticSharedMemory",
              "dynamicSharedMemory"}},
            {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
             HAUL_CUPTI_SYNC,
             {DEVICE_COLUMNS, "syncType|type", "eventId", "eventSyncId"}},
        },
    .events = {"CUPTI_ACTIVITY_KIND_CUDA_EVENT",
               HAUL_CUPTI_SYNC,
               {"timestamp", NULL, "deviceId", "contextId", "streamId", "correlationId",
                "globalPid", NULL, "eventId", "eventSyncId"}},
    .calls = {{"CUPTI_ACTIVITY_KIND_RUNTIME",
               {"start", "end", "correlationId", "nameId", "globalTid", NULL},
               NULL,
               NULL}},
    .thread_has_process = true,
    .pageable = 0,
    .string_table = "StringIds",
    .string_columns = {"id", "value"},
};

static bool sniff(haul_source *source)
{
    static const char *const marks[] = {"StringIds", "META_DATA_EXPORT", "EXPORT_META_DATA",
                                        "TARGET_INFO_SESSION_START_TIME"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (haul_source_has(source, marks[i]))
            return true;
    for (int i = 0; i < HAUL_CUPTI_TABLES && nsys_format.tables[i].name; i++)
        if (haul_source_has_column(source, nsys_format.tables[i].name, "globalPid"))
            return true;
    return false;
}

static haul_status read_version(haul_source *source, haul_trace_version *version, haul_error *error)
{
    static const char *const columns[] = {"name", "value"};
    const char *table =
        haul_source_has(source, "META_DATA_EXPORT") ? "META_DATA_EXPORT" : "EXPORT_META_DATA";
    haul_rows rows;
    haul_status status = haul_rows_begin_texts_if(&rows, source, table, columns, 2, error);
    while (!version->text[0] && haul_rows_step(&rows, &status, error)) {
        size_t length;
        const char *name = haul_rows_text(&rows, 0, &length);
        if (!name || strcmp(name, "EXPORT_SCHEMA_VERSION") != 0)
            continue;
        const char *value = haul_rows_text(&rows, 1, &length);
        snprintf(version->text, sizeof version->text, "%s", value ? value : "");
    }
    haul_rows_end(&rows);
    return status;
}

/* What the profiler says that it lost: haul record in a row of META_DATA_CAPTURE, Nsight Systems in
 * warnings ("Not all CUDA events might have been collected."). */
static bool is_loss(const char *name, const char *text)
{
    if (name)
        return !strcmp(name, "HAUL:INCOMPLETE");
    return strstr(text, "Not all CUDA events") || strstr(text, "CUDA profiling might have not") ||
           strstr(text, "dropped") || strstr(text, "Dropped");
}

enum { MOST_LOSSES = 16, LONGEST_LOSS = 600 };

/* The text as one line: a hostile profile may hold anything. */
static void say_loss(haul_trace_builder *builder, const char *text)
{
    char line[LONGEST_LOSS];
    snprintf(line, sizeof line, "%s", text);
    for (char *at = line; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
    if (builder->losses.count < MOST_LOSSES)
        haul_trace_lost(builder, 0, line);
}

static haul_status read_losses(haul_source *source, haul_trace_builder *builder, haul_error *error)
{
    static const struct {
        const char *table;
        const char *columns[2];
    } tables[] = {{"META_DATA_CAPTURE", {"value", "name"}}, {"DIAGNOSTIC_EVENT", {"text"}}};
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < sizeof tables / sizeof *tables; i++) {
        const bool has_name = tables[i].columns[1] != NULL;
        haul_rows rows;
        status = haul_rows_begin_texts_if(&rows, source, tables[i].table, tables[i].columns,
                                          has_name ? 2 : 1, error);
        while (haul_rows_step(&rows, &status, error)) {
            size_t length;
            const char *text = haul_rows_text(&rows, 0, &length);
            const char *name = has_name ? haul_rows_text(&rows, 1, &length) : NULL;
            if (text && (!has_name || name) && is_loss(name, text))
                say_loss(builder, text);
        }
        haul_rows_end(&rows);
    }
    return status;
}

/* NVTX's ranges and marks. A name is text in the row, or the number of a string. */
static void add_range(haul_trace_builder *builder, const haul_rows *rows)
{
    enum { PUSH_POP = 59, START_END = 60, MARK = 34 };
    const uint64_t thread_id = (uint64_t)haul_rows_int(rows, 5), low = UINT64_C(0xffffff);
    const int64_t type = haul_rows_int(rows, 2), start = haul_rows_int(rows, 0);
    if ((type != PUSH_POP && type != START_END && type != MARK) || !haul_rows_is_int(rows, 0))
        return;
    const haul_workload_thread thread = {.process = thread_id & ~low, .id = thread_id & low};
    size_t length;
    const char *text = haul_rows_text(rows, 3, &length);
    haul_named_range range = {.start_ns = start, .name = HAUL_NONE};
    if (haul_rows_is_int(rows, 4))
        range.name = haul_trace_name(builder, (uint64_t)haul_rows_int(rows, 4) & (INT64_MAX >> 1));
    else if (text && length)
        range.name = haul_trace_text(builder, text, length);
    if (haul_rows_is_int(rows, 1))
        range.dur_ns = haul_trace_duration(start, haul_rows_int(rows, 1));
    range.thread = haul_builder_thread(&builder->built, &thread);
    haul_trace_range(builder, &range);
}

static haul_status read_ranges(haul_source *source, haul_trace_builder *builder, haul_error *error)
{
    static const char *const columns[] = {"start", "end",    "eventType",
                                          "text",  "textId", "globalTid"};
    haul_rows rows;
    haul_status status = haul_rows_begin_texts_if(&rows, source, "NVTX_EVENTS", columns, 6, error);
    while (haul_rows_step(&rows, &status, error))
        add_range(builder, &rows);
    haul_rows_end(&rows);
    return status;
}

/* When the times of the file begin. */
static haul_status read_epoch(haul_source *source, haul_trace_builder *builder, haul_error *error)
{
    static const char *const columns[] = {"utcEpochNs"};
    haul_rows rows;
    haul_status status =
        haul_rows_begin_if(&rows, source, "TARGET_INFO_SESSION_START_TIME", columns, 1, error);
    if (haul_rows_step(&rows, &status, error))
        builder->built.epoch_ns = haul_rows_int(&rows, 0);
    haul_rows_end(&rows);
    return status;
}

/* Which GPU each process's CUDA device is: CUDA_VISIBLE_DEVICES can make two processes call two
 * GPUs by one number. */
static haul_status map_devices(haul_source *source, haul_cupti_devices *devices, haul_error *error)
{
    static const char *const columns[] = {"pid", "cudaId", "gpuId"};
    haul_rows rows;
    haul_status status =
        haul_rows_begin_if(&rows, source, "TARGET_INFO_CUDA_DEVICE", columns, 3, error);
    while (haul_rows_step(&rows, &status, error))
        if (!haul_cupti_devices_map(devices, (uint64_t)haul_rows_int(&rows, 0),
                                    (uint64_t)haul_rows_int(&rows, 1),
                                    (uint64_t)haul_rows_int(&rows, 2)))
            status = haul_fail_no_memory(error);
    haul_rows_end(&rows);
    return status;
}

/* Newest first; TARGET_INFO_CUDA_GPU, of 2020 and 2021, has CUPTI's own names. */
static const haul_device_table device_tables[] = {
    {"TARGET_INFO_GPU",
     {"id", "cuDevice|deviceId|id", "name", "memoryBandwidth", "clockRate", "totalMemory",
      "l2CacheSize", "smCount", "asyncEngines", "computeMajor", "computeMinor"},
     false},
    {"TARGET_INFO_CUDA_GPU",
     {"id", "cuDevice|deviceId|id", "name", "memoryBandwidth|globalMemoryBandwidth",
      "clockRate|coreClockRate", "totalMemory|globalMemorySize", "l2CacheSize",
      "smCount|numMultiprocessors", "asyncEngines|numMemcpyEngines",
      "computeMajor|computeCapabilityMajor", "computeMinor|computeCapabilityMinor"},
     false},
};

static haul_status read(haul_source *source, haul_trace_builder *builder,
                        haul_trace_version *version, haul_error *error)
{
    haul_cupti_devices devices;
    haul_cupti_devices_init(&devices);
    haul_status status = read_version(source, version, error);
    if (!status)
        status = read_losses(source, builder, error);
    if (!status)
        status = map_devices(source, &devices, error);
    if (!status)
        status = read_epoch(source, builder, error);
    if (!status)
        status = read_ranges(source, builder, error);
    if (!status)
        status = haul_cupti_read(&nsys_format, source, &devices, builder, error);
    for (size_t i = 0; !status && i < sizeof device_tables / sizeof *device_tables; i++)
        status = haul_cupti_devices_describe(source, &device_tables[i], builder, error);
    if (!status)
        /* With --cuda-graph-trace=graph a graph is one row. */
        status = haul_cupti_say_rows(source, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", builder,
                                     "graphs recorded whole, without their copies and kernels "
                                     "(record with --cuda-graph-trace=node)",
                                     error);
    haul_cupti_devices_release(&devices);
    return status;
}

const haul_trace_format haul_trace_nsys = {.name = "nsys", .sniff = sniff, .read = read};
