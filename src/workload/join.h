/* One workload of parts of others: of several processes of a program, or of a window of time. */
#ifndef HAUL_WORKLOAD_JOIN_H
#define HAUL_WORKLOAD_JOIN_H

#include "haul/workload.h"

/* The operations that start in [from_ns, to_ns), and the ranges that touch it. */
typedef struct hl_workload_part {
    const haul_workload *of;
    int64_t shift_ns; /* to add to its times */
    int64_t from_ns;  /* before the shift */
    int64_t to_ns;
    const bool *kept; /* of each operation, whether it is taken; NULL: all are */
} hl_workload_part;

typedef struct hl_workload_join_options {
    const char *source; /* of the workload */
    const char *format;
    const char *note; /* what is missing, NULL for nothing more than the parts lack */
} hl_workload_join_options;

/* Makes a workload of `count` parts, whose texts are copied. An operation whose call is outside of
 * its window loses it: *orphaned counts those. Devices, streams and threads of one part stay apart
 * from those of another. Returns BAD_INPUT where times or sums go beyond a workload's limits. */
haul_status hl_workload_join(const hl_workload_part *parts, size_t count,
                             const hl_workload_join_options *options, uint64_t *orphaned,
                             haul_workload **workload, haul_error *error);

#endif
