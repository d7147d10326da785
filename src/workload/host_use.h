/* Time of the host's threads in calls. */
#ifndef HAUL_WORKLOAD_HOST_USE_H
#define HAUL_WORKLOAD_HOST_USE_H

#include "haul/analysis.h"

/* Follows each thread through its calls; needs 4 bytes an operation. Fills *use but wait_ns;
 * returns NO_MEMORY, *use untouched. */
haul_status hl_workload_host_use_sum(const haul_workload *workload, haul_host_use *use,
                                     haul_error *error);

#endif
