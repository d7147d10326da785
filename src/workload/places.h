/* Where in the program groups of operations were called for, found for many groups. */
#ifndef HAUL_WORKLOAD_PLACES_H
#define HAUL_WORKLOAD_PLACES_H

#include "haul/analysis.h"

/* The ranges of all operations, string ids; NULL where the profile has none. The other origins are
 * the workload's own. Zero is empty. */
typedef struct hl_workload_origins {
    const haul_workload *workload;
    uint32_t *ranges;
} hl_workload_origins;

/* Whether the profile tells any. */
bool hl_workload_has_origins(const haul_workload *workload);

/* The origin of each operation, op_count string ids, which the caller frees. Returns NO_MEMORY. In
 * work_groups.c. */
haul_status hl_workload_op_origins(const haul_workload *workload, haul_group_by by,
                                   uint32_t **names, haul_error *error);

/* Release it with hl_workload_origins_release, whatever the outcome. Returns NO_MEMORY. */
haul_status hl_workload_origins_make(const haul_workload *workload, hl_workload_origins *self,
                                     haul_error *error);
void hl_workload_origins_release(hl_workload_origins *self);

/* As haul_places_find. */
haul_status hl_workload_places_find(const hl_workload_origins *self, const uint32_t *groups,
                                    size_t count, haul_place *places, haul_error *error);

#endif
