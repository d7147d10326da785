/* When each device copies in one direction: the union of its copies' intervals. */
#ifndef HAUL_PROJECT_BUSY_H
#define HAUL_PROJECT_BUSY_H

#include "haul/workload.h"

typedef struct haul_busy_span {
    int64_t start_ns;
    int64_t end_ns;
    int64_t before_ns; /* the length of the device's earlier spans */
} haul_busy_span;

typedef struct haul_busy {
    haul_busy_span *spans; /* device by device, ascending, disjoint */
    size_t *first;         /* of each device; the last device stands for "unknown" */
    size_t *count;
} haul_busy;

/* Needs 24 bytes a copy of the direction. Release with haul_busy_release. */
haul_status haul_busy_make(const haul_workload *workload, haul_direction direction, haul_busy *busy,
                           haul_error *error);
void haul_busy_release(haul_busy *busy);

/* The share of `op`'s time during which its device is busy: 0 to 1. */
double haul_busy_share(const haul_workload *workload, const haul_busy *busy, const haul_op *op);

#endif
