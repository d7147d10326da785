/* Each operation's duration on the target. */
#ifndef HAUL_PROJECT_TARGET_TIMES_H
#define HAUL_PROJECT_TARGET_TIMES_H

#include "project/device_work.h"
#include "project/size_class.h"
#include "timeline/predicted_run.h"

typedef struct hl_project_target_times {
    const haul_workload *workload;
    const hl_project_size_classes *classes;
    const haul_projection_row *sizes; /* the times of each class */
    const hl_project_work_scales *scales;
    const haul_machine *from, *to; /* by whose messages those of ranks are scaled; may be NULL */
} hl_project_target_times;

/* Fills durations_ns of op_count: a copy's is the time of its class, a kernel's and memset's its
 * recorded one scaled, a message's by both machines'; the host's operations, and copies that no
 * model predicts, keep theirs. */
void hl_project_target_times_fill(const hl_project_target_times *self, hl_timeline_bound bound,
                                  int64_t *durations_ns);

/* Whether any call lasts as long as it does because its copy does, and yet returns before that has
 * ended: the host then fills the driver's buffers of a copy from pageable memory. */
bool hl_project_target_times_stages(const haul_workload *workload);

/* Fills call_durations_ns of op_count: such calls are as much longer, while their copy is under
 * way, as the copy is in durations_ns; all others keep theirs, which are in `own_ns`, or where that
 * is NULL as recorded. The part of them that is the host's own takes `host_time` times as long;
 * waits do not. */
void hl_project_target_times_calls(const haul_workload *workload, const int64_t *durations_ns,
                                   const int64_t *own_ns, double host_time,
                                   int64_t *call_durations_ns);

#endif
