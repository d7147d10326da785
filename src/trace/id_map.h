/* Rows of a small table by their ids, for joins in memory: no index of a file is trusted. */
#ifndef HAUL_TRACE_ID_MAP_H
#define HAUL_TRACE_ID_MAP_H

#include "workload/builder.h"

enum { HL_TRACE_ID_VALUES = 5 };

typedef struct hl_trace_id_row {
    int64_t id;
    int64_t values[HL_TRACE_ID_VALUES];
} hl_trace_id_row;

/* Zero is empty. */
typedef struct hl_trace_id_map {
    hl_trace_id_row *rows;
    size_t count;
    size_t capacity;
    bool sorted;
} hl_trace_id_map;

/* A lack of memory is kept in `built`. */
void hl_trace_id_map_add(hl_trace_id_map *self, hl_workload_builder *built,
                         const hl_trace_id_row *row);

/* A row of an id; NULL where there is none. */
const hl_trace_id_row *hl_trace_id_map_find(hl_trace_id_map *self, int64_t id);

/* Value number `value` of the row of an id, or `other`. */
int64_t hl_trace_id_map_value(hl_trace_id_map *self, int64_t id, int value, int64_t other);

void hl_trace_id_map_release(hl_trace_id_map *self);

#endif
