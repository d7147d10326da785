/* One row of a table of CUPTI's device activities into one operation. For cupti.c. */
#ifndef HAUL_TRACE_CUPTI_ROWS_H
#define HAUL_TRACE_CUPTI_ROWS_H

#include "trace/cupti.h"

enum { HAUL_CUPTI_REMEMBERED = 64 };

/* What the ids of a row stand for. */
typedef struct haul_cupti_place {
    int64_t ids[4]; /* process, device, context, stream */
    uint64_t process;
    uint64_t process_key; /* the upper half of the key of calls */
    uint64_t context;
    uint32_t device;
    uint32_t stream;
    bool known;
} haul_cupti_place;

typedef struct haul_cupti_launch {
    haul_shape shape;
    uint32_t number;
    bool known;
} haul_cupti_launch;

typedef struct haul_cupti_name {
    int64_t id;
    uint32_t number;
    bool known;
} haul_cupti_name;

/* A table being read, with its next row. Rows repeat each other's ids, so what they stood for last
 * is remembered in small tables, by their low bits. */
typedef struct haul_cupti_lane {
    const haul_cupti_format *format;
    const haul_cupti_table *table;
    haul_cupti_devices *devices;
    haul_trace_builder *builder;
    haul_rows rows;
    bool more;
    int64_t start_ns; /* of the next row */
    int64_t dur_ns;
    haul_cupti_place places[HAUL_CUPTI_REMEMBERED];
    haul_cupti_launch launches[HAUL_CUPTI_REMEMBERED]; /* by name */
    haul_cupti_name names[HAUL_CUPTI_REMEMBERED];
} haul_cupti_lane;

/* The number of a name, looked up in `names` first. */
uint32_t haul_cupti_name_number(haul_trace_builder *builder, haul_cupti_name *names,
                                uint64_t name_space, int64_t id);

/* Adds the lane's row to the builder. */
void haul_cupti_row_add(haul_cupti_lane *lane);

/* Adds the lane's row, of the table of events. */
void haul_cupti_row_event(haul_cupti_lane *lane);

/* A correlation id of CUPTI, 32 bits wide however it was stored; 0 where it is none. */
uint32_t haul_cupti_correlation(haul_trace_builder *builder, int64_t value);

#endif
