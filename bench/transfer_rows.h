/* The rows of transfers/transfers.csv, by group. */
#ifndef HAUL_BENCH_TRANSFER_ROWS_H
#define HAUL_BENCH_TRANSFER_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "haul/fit.h"

/* The copies of one GPU, direction, memory and node, in the order of the file. `node` is "" where
 * the file does not tell one, "near", "far", or "both" for the two taken together. */
typedef struct transfer_group {
    const char *gpu;
    const char *tool;
    const char *node;
    haul_sample *samples;
    size_t count;
    size_t capacity;
    double *ranges; /* of rows that stand for several copies: 100 (max - min) / median */
    size_t range_count;
    size_t range_capacity;
    size_t programs; /* that were measured: sources in a row */
    const char *last_source;
} transfer_group;

/* Zero is none. */
typedef struct transfer_groups {
    haul_arena arena;
    transfer_group *items;
    size_t count;
    size_t capacity;
} transfer_groups;

/* Reads them all, in the order in which they first occur. */
haul_status transfer_groups_read(const char *data, transfer_groups *groups, haul_error *error);
void transfer_groups_release(transfer_groups *groups);

#endif
