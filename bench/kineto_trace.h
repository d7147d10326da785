/* A generated trace of PyTorch's profiler, of any size, for benchmarks. */
#ifndef HAUL_BENCH_KINETO_TRACE_H
#define HAUL_BENCH_KINETO_TRACE_H

#include "haul/status.h"

HAUL_BEGIN

/* Writes about `megabytes` of JSON, of rank `rank` where that is not negative. Ends the program
 * where the file cannot be made. */
void kineto_trace_write(const char *path, double megabytes, long rank);

/* Brings a file into the page cache: the disk is not what is measured. */
void kineto_trace_cache(const char *path);

HAUL_END

#endif
