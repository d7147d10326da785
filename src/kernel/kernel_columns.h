/* Columns of tables of launches: names that profilers and people give them, and their units. */
#ifndef HAUL_KERNEL_COLUMNS_H
#define HAUL_KERNEL_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "haul/units.h"

/* Of all threads, unless said. */
typedef enum hl_kernel_counter {
    HL_KERNEL_COUNTER_SIZE,
    HL_KERNEL_COUNTER_SECONDS,
    HL_KERNEL_COUNTER_GRID,       /* blocks: of one dimension or of all, multiplied */
    HL_KERNEL_COUNTER_WORK_ITEMS, /* of the whole launch, as AMD's profilers have a grid */
    HL_KERNEL_COUNTER_BLOCK,      /* threads, where its sides are not known */
    HL_KERNEL_COUNTER_BLOCK_X,
    HL_KERNEL_COUNTER_BLOCK_Y,
    HL_KERNEL_COUNTER_BLOCK_Z,
    HL_KERNEL_COUNTER_WARP_INSTRUCTIONS,
    HL_KERNEL_COUNTER_INSTRUCTIONS,
    HL_KERNEL_COUNTER_WARP_LOADS, /* from global memory */
    HL_KERNEL_COUNTER_LOADS,
    HL_KERNEL_COUNTER_LOAD_TRANSACTIONS,
    HL_KERNEL_COUNTER_LOAD_TRANSACTIONS_EACH, /* of a warp's load */
    HL_KERNEL_COUNTER_WARP_STORES,
    HL_KERNEL_COUNTER_STORES,
    HL_KERNEL_COUNTER_STORE_TRANSACTIONS,
    HL_KERNEL_COUNTER_STORE_TRANSACTIONS_EACH,
    HL_KERNEL_COUNTER_WARP_SHARED_LOADS,
    HL_KERNEL_COUNTER_WARP_SHARED_STORES,
    HL_KERNEL_COUNTER_L1_HITS,
    HL_KERNEL_COUNTER_L1_MISSES,
    HL_KERNEL_COUNTER_L1_RATE, /* hits, of 1 */
    HL_KERNEL_COUNTER_L2_QUERIES,
    HL_KERNEL_COUNTER_L2_HITS,
    HL_KERNEL_COUNTER_L2_RATE,
    HL_KERNEL_COUNTER_MEMORY_BYTES,
    HL_KERNEL_COUNTER_MEMORY_SECTORS,
    HL_KERNEL_COUNTER_MEMORY_BYTES_ALL,
    HL_KERNEL_COUNTER_FLOPS, /* in single precision */
    HL_KERNEL_COUNTER_FLOPS_FP64,
    HL_KERNEL_COUNTER_COUNT
} hl_kernel_counter;

/* The contents of a column. */
typedef enum hl_kernel_column_kind {
    HL_KERNEL_COLUMN_COUNTER,
    HL_KERNEL_COLUMN_GPU,
    HL_KERNEL_COLUMN_KERNEL,
    HL_KERNEL_COLUMN_ACTIVITY, /* "GPU activities", "API calls" */
    HL_KERNEL_COLUMN_LAUNCH,   /* its number */
    HL_KERNEL_COLUMN_METRIC,   /* one a row: its name, unit and value */
    HL_KERNEL_COLUMN_METRIC_UNIT,
    HL_KERNEL_COLUMN_METRIC_VALUE,
    HL_KERNEL_COLUMN_GRID_SIZE, /* "(64, 64, 1)" */
    HL_KERNEL_COLUMN_BLOCK_SIZE,
    HL_KERNEL_COLUMN_WORK_ITEMS,
} hl_kernel_column_kind;

/* Names of a column, or of a metric in a row, and how its values are added to a launch. */
typedef struct hl_kernel_column_rule {
    const char *names; /* lower case, between '|'; in counters' every other character than letters
                        * and digits is a '_' */
    hl_kernel_column_kind kind;
    hl_kernel_counter counter; /* COUNTER: the count that a value is, or is a part of */
    enum {
        HL_KERNEL_WHOLE,
        HL_KERNEL_SUMMAND,
        HL_KERNEL_FACTOR
    } part;                   /* of more than one WHOLE the first counts */
    double scale;             /* 0: as 1 */
    haul_dimension dimension; /* of a value with a unit */
} hl_kernel_column_rule;

/* Finds a name as any profiler writes it ("Global.Load.Transactions",
 * "dram__bytes_read.sum"); NULL where it is of no use here. */
const hl_kernel_column_rule *hl_kernel_column_find(const char *name);

/* The rule of a column of times, for those that hl_kernel_time_rank finds. */
extern const hl_kernel_column_rule hl_kernel_time_column;

/* The value of one `unit` in the dimension's base unit; 0 for an unknown one. */
double hl_kernel_unit_scale(const char *unit, haul_dimension dimension);

/* A column's name that is a time with its unit, as "median_ms" and "Time (us)": the rank of its
 * stem, the first the best, and its scale; -1 for no time. */
int hl_kernel_time_rank(const char *name, double *scale);

#endif
