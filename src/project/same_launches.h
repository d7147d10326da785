/* Sizes of operands that some launches share with others that are alike. */
#ifndef HAUL_PROJECT_SAME_LAUNCHES_H
#define HAUL_PROJECT_SAME_LAUNCHES_H

#include "project/device_work.h"

/* Fills the groups' operands: those of their own shapes, or, where no operator is known, as in a
 * CUDA graph or before a trace's window, those of the launches of the same kernel, grid and block
 * that take as long. Returns NO_MEMORY. */
haul_status hl_project_same_launches_share(hl_project_launch_groups *groups, haul_error *error);

#endif
