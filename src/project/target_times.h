/* Each operation's duration on the target. */
#ifndef HAUL_PROJECT_TARGET_TIMES_H
#define HAUL_PROJECT_TARGET_TIMES_H

#include "project/alike.h"
#include "project/device_work.h"

typedef struct haul_target_times {
    const haul_workload *workload;
    const haul_alike *alike;
    const haul_projection_row *sizes; /* the price of each of alike's classes */
    const haul_work_scales *scales;
} haul_target_times;

/* Of an estimate: its value, or an end of its interval. */
typedef enum haul_bound { HAUL_LIKELY, HAUL_LOW, HAUL_HIGH } haul_bound;

/* Fills durations_ns of op_count: a copy's is the price of its class, a kernel's and memset's its
 * recorded one carried; the host's operations and copies without a price keep theirs. */
void haul_target_times_fill(const haul_target_times *self, haul_bound bound, int64_t *durations_ns);

#endif
