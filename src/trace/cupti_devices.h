/* What tables about devices say, in files with CUPTI's records. */
#ifndef HAUL_TRACE_CUPTI_DEVICES_H
#define HAUL_TRACE_CUPTI_DEVICES_H

#include "trace/id_map.h"
#include "trace/sqlite_source.h"
#include "trace/trace_builder.h"

/* Known before the operations are read. Zero is empty. */
typedef struct haul_cupti_devices {
    haul_id_map ids;      /* numbers in the device table, by process and id as operations name it */
    haul_id_map contexts; /* ids of devices: some tables' rows name a context and no device */
} haul_cupti_devices;

void haul_cupti_devices_release(haul_cupti_devices *self);

/* Notes what the process of the system's number `pid` calls device `id`. */
void haul_cupti_devices_map(haul_cupti_devices *self, haul_builder *built, uint64_t pid,
                            uint64_t id, uint64_t gpu);

/* What tells apart GPUs that processes call by one number; `process` as operations name it. */
uint64_t haul_cupti_devices_gpu(haul_cupti_devices *self, uint64_t process, uint64_t id);

enum haul_device_column {
    HAUL_DEVICE_ID,   /* in the table */
    HAUL_DEVICE_CUDA, /* as operations name it */
    HAUL_DEVICE_NAME,
    HAUL_DEVICE_BANDWIDTH,
    HAUL_DEVICE_CLOCK,
    HAUL_DEVICE_MEMORY,
    HAUL_DEVICE_L2,
    HAUL_DEVICE_MULTIPROCESSORS,
    HAUL_DEVICE_COPY_ENGINES,
    HAUL_DEVICE_MAJOR,
    HAUL_DEVICE_MINOR,
    HAUL_DEVICE_COLUMNS
};

typedef struct haul_device_table {
    const char *name;
    const char *columns[HAUL_ROW_COLUMNS];
    const char *strings; /* the table of the strings whose numbers the names are, or NULL */
} haul_device_table;

/* Fills in the builder's devices that have no name yet from a table, if it is there. */
haul_status haul_cupti_devices_describe(haul_source *source, const haul_device_table *table,
                                        haul_trace_builder *builder, haul_error *error);

#endif
