/* Traces of PyTorch's profiler (Kineto) as workloads: what the accuracy of whole runs needs, not a
 * reader of any such file. */
#ifndef HAUL_BENCH_KINETO_TRACE_H
#define HAUL_BENCH_KINETO_TRACE_H

#include "haul/workload.h"

/* Reads copies, memsets, kernels and calls of the runtime. A wait for a stream is taken as one for
 * the stream that its thread used last: the trace does not name it. Free with haul_workload_free.
 */
haul_status kineto_load(const char *path, haul_workload **workload, haul_error *error);

#endif
