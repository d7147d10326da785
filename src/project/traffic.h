/* When a device copies the other way. */
#ifndef HAUL_PROJECT_TRAFFIC_H
#define HAUL_PROJECT_TRAFFIC_H

#include "haul/workload.h"

/* For each copy of `direction` sets share[its operation] to the share of its time, 0 to 1, during
 * which its device copied in the direction `opposite`; other elements are left alone. Operations
 * whose device is not known count as those of one more device. Time in proportion to the
 * operations; needs 24 bytes a copy of `opposite` while it runs. */
haul_status hl_project_traffic_shares(const haul_workload *workload, haul_direction direction,
                                      haul_direction opposite, float *share, haul_error *error);

#endif
