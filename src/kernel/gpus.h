/* What kernel models read off a GPU. */
#ifndef HAUL_KERNEL_GPUS_H
#define HAUL_KERNEL_GPUS_H

#include <stdbool.h>

#include "haul/machine.h"

/* What an architecture's multiprocessor is like, from public microbenchmarks and the CUDA guide. */
typedef struct haul_architecture {
    const char *name;
    double issue_cycles; /* from an instruction to one that needs its result */
    double threads;      /* resident, at most */
} haul_architecture;

/* By the name a machine has for it, or NULL. */
const haul_architecture *haul_architecture_of(const haul_gpu *gpu);

/* The same architecture, by name; false where one has none. */
bool haul_gpu_alike(const haul_gpu *a, const haul_gpu *b);

/* The same GPU, by name. */
bool haul_gpu_same(const haul_gpu *a, const haul_gpu *b);

/* Bytes a second that programs can have of the device's memory at the most; 0: not known. */
double haul_gpu_memory_rate(const haul_gpu *gpu);

/* Single precision, flop/s; 0: not known. */
double haul_gpu_flops(const haul_gpu *gpu);

/* Of what takes a number of cycles, seconds on `to` for one on `from`: by the base clocks where
 * both are known. */
double haul_gpu_clock_ratio(const haul_gpu *from, const haul_gpu *to);

/* Cycles that dependent instructions wait on `to` for one on `from`; 1 where that is not known. */
double haul_gpu_wait_ratio(const haul_gpu *from, const haul_gpu *to);

/* Seconds on `to` for one on `from` of what goes on inside the multiprocessors: by the clock, the
 * blocks of the busiest (`blocks` 0: many), and the cycles that dependent instructions wait. */
double haul_gpu_inside_ratio(const haul_gpu *from, const haul_gpu *to, double blocks);

/* At most a quarter of the threads that the board holds; false where `blocks` is 0. */
bool haul_gpu_has_few(const haul_gpu *gpu, double blocks, double block);

/* Of one kernel without work, on the device. */
double haul_gpu_launch(const haul_gpu *gpu);

#endif
