/* Each operation's duration on the target. */
#ifndef HAUL_PROJECT_TARGET_TIMES_H
#define HAUL_PROJECT_TARGET_TIMES_H

#include "project/device_work.h"
#include "project/size_class.h"
#include "timeline/predicted_run.h"

typedef struct haul_target_times {
    const haul_workload *workload;
    const haul_size_classes *classes;
    const haul_projection_row *sizes; /* the times of each class */
    const haul_work_scales *scales;
} haul_target_times;

/* Fills durations_ns of op_count: a copy's is the time of its class, a kernel's and memset's its
 * recorded one scaled; the host's operations, and copies that no model predicts, keep theirs. */
void haul_target_times_fill(const haul_target_times *self, haul_bound bound, int64_t *durations_ns);

/* Whether any call lasts as long as it does because its copy does, and yet returns before that has
 * ended: the host then fills the driver's buffers of a copy from pageable memory. */
bool haul_target_times_stages(const haul_workload *workload);

/* Fills call_durations_ns of op_count: such calls are as much longer, while their copy is under
 * way, as the copy is in durations_ns; all others keep theirs, which are in `own_ns`, or where that
 * is NULL as recorded. */
void haul_target_times_calls(const haul_workload *workload, const int64_t *durations_ns,
                             const int64_t *own_ns, int64_t *call_durations_ns);

#endif
