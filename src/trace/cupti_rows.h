/* One row of a table of CUPTI's device activities into one operation. For cupti.c. */
#ifndef HAUL_TRACE_CUPTI_ROWS_H
#define HAUL_TRACE_CUPTI_ROWS_H

#include "trace/cupti.h"

/* A table being read, with its next row, and what the ids of the last row stood for. */
typedef struct haul_cupti_lane {
    const haul_cupti_format *format;
    const haul_cupti_table *table;
    const haul_cupti_devices *devices;
    haul_builder *builder;
    haul_rows rows;
    bool more;
    int64_t start_ns; /* of the next row */
    int64_t dur_ns;
    bool has_ids;
    int64_t ids[4]; /* process, device, context, stream */
    uint64_t process;
    uint64_t process_key; /* the upper half of the key of calls */
    uint64_t context;
    uint32_t stream;
} haul_cupti_lane;

/* Finds the row's stream and process; the key of the call that issued it, 0 where it names none. */
uint64_t haul_cupti_row_ids(haul_cupti_lane *lane);

/* Adds the lane's row to the builder. */
void haul_cupti_row_add(haul_cupti_lane *lane);

/* Adds the lane's row, of the table of events. */
void haul_cupti_row_event(haul_cupti_lane *lane);

/* A correlation id of CUPTI, 32 bits wide however it was stored; 0 where it is none. */
uint32_t haul_cupti_correlation(haul_builder *builder, int64_t value);

#endif
