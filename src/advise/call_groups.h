/* The copies of a workload by call, direction, memory and size. */
#ifndef HAUL_ADVISE_CALL_GROUPS_H
#define HAUL_ADVISE_CALL_GROUPS_H

#include "haul/workload.h"

typedef struct haul_call_group {
    uint64_t bytes; /* of one copy */
    uint32_t name;  /* string id of the call, or HAUL_NONE */
    uint32_t direction;
    uint32_t memory;
    uint32_t first; /* into haul_call_groups.ops */
    uint32_t count;
    int64_t time_ns;
} haul_call_group;

typedef struct haul_call_groups {
    haul_call_group *items; /* by name, direction, memory, bytes */
    size_t count;
    uint32_t *ops; /* group by group, in the workload's order */
} haul_call_groups;

/* Sorts the copies into groups. `durations_ns`, which may be NULL, are those of the operations.
 * Needs 8 bytes an operation while it runs. Release with haul_call_groups_release. */
haul_status haul_call_groups_make(const haul_workload *workload, const int64_t *durations_ns,
                                  haul_call_groups *groups, haul_error *error);
void haul_call_groups_release(haul_call_groups *groups);

/* The end of the groups from `begin` on that share its name, direction and memory. */
size_t haul_call_family(const haul_call_groups *groups, size_t begin);

#endif
