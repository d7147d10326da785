/* What kernel models read off a GPU. */
#ifndef HAUL_COST_GPUS_H
#define HAUL_COST_GPUS_H

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

/* Of one kernel without work, on the device. */
double haul_gpu_launch(const haul_gpu *gpu);

#endif
