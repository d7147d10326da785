/* Rows of a small table by their ids, for joins in memory: no index of a file is trusted. */
#ifndef HAUL_TRACE_ID_MAP_H
#define HAUL_TRACE_ID_MAP_H

#include "workload/builder.h"

enum { HAUL_ID_VALUES = 5 };

typedef struct haul_id_row {
    int64_t id;
    int64_t values[HAUL_ID_VALUES];
} haul_id_row;

/* Zero is empty. */
typedef struct haul_id_map {
    haul_id_row *rows;
    size_t count;
    size_t capacity;
    bool sorted;
} haul_id_map;

/* A lack of memory is kept in `built`. */
void haul_id_map_add(haul_id_map *self, haul_builder *built, const haul_id_row *row);

/* A row of an id; NULL where there is none. */
const haul_id_row *haul_id_map_find(haul_id_map *self, int64_t id);

/* Value number `value` of the row of an id, or `other`. */
int64_t haul_id_map_value(haul_id_map *self, int64_t id, int value, int64_t other);

void haul_id_map_release(haul_id_map *self);

#endif
