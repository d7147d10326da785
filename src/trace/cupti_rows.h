/* One row of a table of CUPTI's device activities into one operation. For cupti.c. */
#ifndef HAUL_TRACE_CUPTI_ROWS_H
#define HAUL_TRACE_CUPTI_ROWS_H

#include "trace/cupti.h"

enum { HL_TRACE_CUPTI_REMEMBERED = 64 };

/* The device, stream and thread that a row's ids stand for. */
typedef struct hl_trace_cupti_place {
    int64_t ids[4]; /* process, device, context, stream */
    uint64_t process;
    uint64_t process_key; /* the upper half of the key of calls */
    uint64_t context;
    uint32_t device;
    uint32_t stream;
    bool known;
} hl_trace_cupti_place;

typedef struct hl_trace_cupti_launch {
    haul_shape shape;
    uint32_t number;
    bool known;
} hl_trace_cupti_launch;

typedef struct hl_trace_cupti_name {
    int64_t id;
    uint32_t number;
    bool known;
} hl_trace_cupti_name;

/* A table being read, with its next row. Rows repeat each other's ids, so what they stood for last
 * is remembered in small tables, by their low bits. */
typedef struct hl_trace_cupti_lane {
    const hl_trace_cupti_format *format;
    const hl_trace_cupti_table *table;
    hl_trace_cupti_devices *devices;
    hl_trace_builder *builder;
    hl_trace_rows rows;
    hl_trace_rows causes; /* of migrations; begun with the first */
    bool more;
    int64_t start_ns; /* of the next row */
    int64_t dur_ns;
    hl_trace_cupti_place places[HL_TRACE_CUPTI_REMEMBERED];
    hl_trace_cupti_launch launches[HL_TRACE_CUPTI_REMEMBERED]; /* by name */
    hl_trace_cupti_name names[HL_TRACE_CUPTI_REMEMBERED];
} hl_trace_cupti_lane;

/* The number of a name, looked up in `names` first. */
uint32_t hl_trace_cupti_name_number(hl_trace_builder *builder, hl_trace_cupti_name *names,
                                    uint64_t name_space, int64_t id);

/* Adds the lane's row to the builder. */
void hl_trace_cupti_row_add(hl_trace_cupti_lane *lane);

/* Adds the lane's row, of the table of events. */
void hl_trace_cupti_row_event(hl_trace_cupti_lane *lane);

/* A correlation id of CUPTI, 32 bits wide however it was stored; 0 where it is none. */
uint32_t hl_trace_cupti_correlation(hl_trace_builder *builder, int64_t value);

#endif
