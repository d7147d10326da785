/* The self-check of a profile's collectives. */
#ifndef HAUL_COST_COLLECTIVE_CHECK_H
#define HAUL_COST_COLLECTIVE_CHECK_H

#include "haul/collective_time.h"

/* Sets *checks to the rows of a workload, which the caller frees, and *all to what they are
 * together. Rows are none where no size is known. Returns NO_MEMORY. */
haul_status hl_cost_collective_check_make(const haul_workload *workload,
                                          haul_collective_check **checks, size_t *count,
                                          haul_collective_check *all, haul_error *error);

#endif
