/* When each device copies in one direction: the union of its copies' intervals. */
#ifndef HAUL_PROJECT_TRAFFIC_H
#define HAUL_PROJECT_TRAFFIC_H

#include "haul/workload.h"

typedef struct haul_traffic_span {
    int64_t start_ns;
    int64_t end_ns;
    uint64_t before_ns; /* the length of the device's earlier spans */
} haul_traffic_span;

typedef struct haul_traffic {
    haul_traffic_span *spans; /* device by device, ascending, disjoint */
    size_t *first;            /* of each device; the last device stands for "unknown" */
    size_t *count;
} haul_traffic;

/* Needs 24 bytes a copy of the direction. Release with haul_traffic_release. */
haul_status haul_traffic_make(const haul_workload *workload, haul_direction direction,
                              haul_traffic *traffic, haul_error *error);
void haul_traffic_release(haul_traffic *traffic);

/* The share of `op`'s time during which its device is busy: 0 to 1. */
double haul_traffic_share(const haul_workload *workload, const haul_traffic *traffic,
                          const haul_op *op);

#endif
