/* Recorded programs: profiles read into workloads. The format is found by looking at the file, not
 * at its name. */
#ifndef HAUL_TRACE_H
#define HAUL_TRACE_H

#include "haul/workload.h"

HAUL_BEGIN

/* Reads the profile at `path`. Rows stream: memory is that of the workload (64 bytes an operation,
 * its names, its edges) and a constant. Rows that cannot be right are repaired and counted in
 * `repairs`; what the file lacks is in `missing`. Returns BAD_INPUT where the file is no profile
 * that haul knows, is truncated or corrupt; IO where it cannot be opened. On success the caller
 * owns *workload. */
HAUL_API haul_status haul_trace_load(const char *path, haul_workload **workload, haul_error *error);

HAUL_END

#endif
