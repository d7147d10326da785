/* One workload of parts of others: of several processes of a program, or of a window of time. */
#ifndef HAUL_WORKLOAD_JOIN_H
#define HAUL_WORKLOAD_JOIN_H

#include "haul/workload.h"

/* The operations that start in [from_ns, to_ns), and the ranges that touch it.
 */
typedef struct hl_workload_part {
    const haul_workload *of;
    int64_t from_ns; /* before the shift */
    int64_t to_ns;
    const bool *kept; /* of each operation, whether it is taken; NULL: all are */
} hl_workload_part;

typedef struct hl_workload_join_options {
    const char *source; /* of the workload */
    const char *format;
    const char *note;         /* what is missing, NULL for nothing more than the parts lack */
    const int64_t *shifts_ns; /* of each part, to add to its times */
} hl_workload_join_options;

/* Makes a workload of parts, one after the other: a part's workload may be freed as soon as it was
 * added, so that memory holds one copy of what is joined. */
typedef struct hl_workload_joiner hl_workload_joiner;

/* Of ranks, whose devices are told apart by them, or of one part of a profile. NULL without memory.
 */
hl_workload_joiner *hl_workload_joiner_new(bool is_joining);
void hl_workload_joiner_free(hl_workload_joiner *self);

/* Adds the next part, whose texts are copied. An operation whose call is outside of its window
 * loses it. Devices, streams and threads of one part stay apart from those of another. A failure is
 * kept, and returned at the end. */
void hl_workload_joiner_add(hl_workload_joiner *self, const hl_workload_part *part);

/* Once all parts are there; `self` is to be freed afterwards. *orphaned counts operations that lost
 * their call. Returns BAD_INPUT where times or sums go beyond a workload's limits. */
haul_status hl_workload_joiner_finish(hl_workload_joiner *self,
                                      const hl_workload_join_options *options, uint64_t *orphaned,
                                      haul_workload **workload, haul_error *error);

/* A workload of one part. */
haul_status hl_workload_join_one(const hl_workload_part *part, uint64_t *orphaned,
                                 haul_workload **workload, haul_error *error);

#endif
