/* Synthetic exports of Nsight Systems, of any size, for benchmarks. */
#ifndef HAUL_BENCH_SYNTHETIC_H
#define HAUL_BENCH_SYNTHETIC_H

#include <stdbool.h>
#include <stdint.h>

typedef struct synthetic_mix {
    const char *name;
    int64_t copies;
    int64_t kernels;
    bool calls; /* a row of the API for each */
} synthetic_mix;

/* Writes a database with the tables and columns of schema 3.25: 16 streams of 2 GPUs, 200 kernels,
 * copies of 4 KiB to 64 MiB, starts out of order by a few rows as streams finish. Returns false,
 * with SQLite's reason on stderr, where it cannot. */
bool synthetic_write(const char *path, const synthetic_mix *mix);

#endif
