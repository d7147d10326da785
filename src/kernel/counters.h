/* What profilers count of a kernel, by whatever name, and the counts of BSP that follow. */
#ifndef HAUL_KERNEL_COUNTERS_H
#define HAUL_KERNEL_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>

#include "haul/kernel.h"
#include "haul/units.h"

/* Of all threads, unless said. */
typedef enum haul_counter {
    HAUL_COUNTER_SIZE,
    HAUL_COUNTER_SECONDS,
    HAUL_COUNTER_GRID,       /* blocks: of one dimension or of all, multiplied */
    HAUL_COUNTER_WORK_ITEMS, /* of the whole launch, as AMD's profilers have a grid */
    HAUL_COUNTER_BLOCK,      /* threads, where its sides are not known */
    HAUL_COUNTER_BLOCK_X,
    HAUL_COUNTER_BLOCK_Y,
    HAUL_COUNTER_BLOCK_Z,
    HAUL_COUNTER_WARP_INSTRUCTIONS,
    HAUL_COUNTER_INSTRUCTIONS,
    HAUL_COUNTER_WARP_LOADS, /* from global memory */
    HAUL_COUNTER_LOADS,
    HAUL_COUNTER_LOAD_TRANSACTIONS,
    HAUL_COUNTER_LOAD_TRANSACTIONS_EACH, /* of a warp's load */
    HAUL_COUNTER_WARP_STORES,
    HAUL_COUNTER_STORES,
    HAUL_COUNTER_STORE_TRANSACTIONS,
    HAUL_COUNTER_STORE_TRANSACTIONS_EACH,
    HAUL_COUNTER_WARP_SHARED_LOADS,
    HAUL_COUNTER_WARP_SHARED_STORES,
    HAUL_COUNTER_L1_HITS,
    HAUL_COUNTER_L1_MISSES,
    HAUL_COUNTER_L1_RATE, /* hits, of 1 */
    HAUL_COUNTER_L2_QUERIES,
    HAUL_COUNTER_L2_HITS,
    HAUL_COUNTER_L2_RATE,
    HAUL_COUNTER_MEMORY_BYTES,
    HAUL_COUNTER_MEMORY_SECTORS,
    HAUL_COUNTER_MEMORY_BYTES_ALL,
    HAUL_COUNTER_FLOPS, /* in single precision */
    HAUL_COUNTER_FLOPS_FP64,
    HAUL_COUNTER_COUNT
} haul_counter;

/* Profilers' names for a counter, or for parts of it, in one dimension and scale. */
typedef struct haul_counter_rule {
    const char *names; /* words; lower case, every other character than letters and digits a '_' */
    haul_counter counter;
    haul_dimension dimension; /* of a value with a unit */
    double scale;
    enum {
        HAUL_WHOLE,
        HAUL_SUMMAND,
        HAUL_FACTOR
    } part; /* of more than one WHOLE the first counts */
} haul_counter_rule;

/* Finds a name as any profiler writes it ("Global.Load.Transactions",
 * "dram__bytes_read.sum"); NULL where it is of no use here. */
const haul_counter_rule *haul_counter_find(const char *name);

/* Values of one launch; NaN: not known. */
typedef struct haul_counters {
    double values[HAUL_COUNTER_COUNT];
} haul_counters;

/* Threads of a block; NaN: not known. */
double haul_counters_block(const haul_counters *counters);

void haul_counters_clear(haul_counters *counters);
void haul_counters_add(haul_counters *counters, const haul_counter_rule *rule, double value);

/* What follows for BSP: false where instructions, loads or stores are not known; the launch, and
 * with it the bytes and flops, are set where they are known. */
bool haul_counters_counts(const haul_counters *counters, haul_kernel_counts *out);

#endif
