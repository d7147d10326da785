/* Devices as tables describe them, in files with CUPTI's records. */
#ifndef HAUL_TRACE_CUPTI_DEVICES_H
#define HAUL_TRACE_CUPTI_DEVICES_H

#include "trace/id_map.h"
#include "trace/sqlite_rows.h"
#include "trace/trace_builder.h"

/* Known before the operations are read. Zero is empty. */
typedef struct hl_trace_cupti_devices {
    hl_trace_id_map ids; /* numbers in the device table, by process and id as operations name it */
    hl_trace_id_map contexts; /* ids of devices: some tables' rows name a context and no device */
} hl_trace_cupti_devices;

void hl_trace_cupti_devices_release(hl_trace_cupti_devices *self);

/* Notes what the process of the system's number `pid` calls device `id`. */
void hl_trace_cupti_devices_map(hl_trace_cupti_devices *self, hl_workload_builder *built,
                                uint64_t pid, uint64_t id, uint64_t gpu);

/* A key that distinguishes GPUs that processes call by one number; `process` as operations name it.
 */
uint64_t hl_trace_cupti_devices_gpu(hl_trace_cupti_devices *self, uint64_t process, uint64_t id);

enum hl_trace_device_column {
    HL_TRACE_DEVICE_ID,   /* in the table */
    HL_TRACE_DEVICE_CUDA, /* as operations name it */
    HL_TRACE_DEVICE_NAME,
    HL_TRACE_DEVICE_BANDWIDTH,
    HL_TRACE_DEVICE_CLOCK,
    HL_TRACE_DEVICE_MEMORY,
    HL_TRACE_DEVICE_L2,
    HL_TRACE_DEVICE_MULTIPROCESSORS,
    HL_TRACE_DEVICE_COPY_ENGINES,
    HL_TRACE_DEVICE_MAJOR,
    HL_TRACE_DEVICE_MINOR,
    HL_TRACE_DEVICE_COLUMNS
};

typedef struct hl_trace_device_table {
    const char *name;
    const char *columns[HL_TRACE_ROW_COLUMNS];
    const char *strings; /* the table of the strings whose numbers the names are, or NULL */
} hl_trace_device_table;

/* Fills in the builder's devices that have no name yet from a table, if it is there. */
haul_status hl_trace_cupti_devices_describe(hl_trace_source *source,
                                            const hl_trace_device_table *table,
                                            hl_trace_builder *builder, haul_error *error);

#endif
