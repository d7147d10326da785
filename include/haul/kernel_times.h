/* Measured kernels: times, and what a profiler counted, from CSV. */
#ifndef HAUL_KERNEL_TIMES_H
#define HAUL_KERNEL_TIMES_H

#include "haul/kernel.h"

HAUL_BEGIN

/* One launch. What the files do not say is NULL or 0. */
typedef struct haul_kernel_measured {
    const char *gpu;
    const char *kernel; /* without its parameters */
    double size;
    double seconds;
    haul_kernel_counts counts; /* `threads` and `block` also where nothing else was counted */
    bool is_counted;           /* instructions, loads and stores are in `counts` */
    int block[3];              /* its sides; all threads in the first where they are not told */
    const char *file;
    int line;
    int column; /* where its size stands, or would: 1 where the table has no such column */
} haul_kernel_measured;

typedef struct haul_kernel_times {
    haul_kernel_measured *rows;
    size_t count;
} haul_kernel_times;

/* A file, and the size of its launches where it does not say it; 0: not known. */
typedef struct haul_kernel_csv {
    const char *path;
    double size;
} haul_kernel_csv;

/* Reads measured kernels from CSV files, gzipped or not:
 *
 * - times: columns n (or size), a time with its unit in its name (seconds, kernel_s, median_ms
 * ...), and, where there are several, kernel (or program) and gpu; grid_x to block_z where known;
 * - nvprof --csv, with --print-gpu-trace (times), --metrics and --events (counters), or a table of
 *   such metrics, a launch a row. The units that it gives for a column hold to the next such row;
 * - ncu --csv: a metric a row, with its unit.
 *
 * Counters without a time take it from the launches of the same kernel, size and GPU, where those
 * are all of one grid. A time that says another unit than its column, or none where none is known,
 * is BAD_INPUT with line and column, as is one that is not above 0. On success the caller owns
 * *times. */
HAUL_API haul_status haul_kernel_times_load(const haul_kernel_csv *files, size_t count,
                                            haul_kernel_times **times, haul_error *error);

/* The same from one file's `size` bytes in memory, which it changes; `file.path` names them. */
HAUL_API haul_status haul_kernel_times_parse(char *text, size_t size, haul_kernel_csv file,
                                             haul_kernel_times **times, haul_error *error);
HAUL_API void haul_kernel_times_free(haul_kernel_times *times);

HAUL_END

#endif
