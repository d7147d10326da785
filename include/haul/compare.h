/* Two profiles of one program: on two machines, of two versions.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_COMPARE_H
#define HAUL_COMPARE_H

#include "haul/analysis.h"

HAUL_BEGIN

/* Device operations of one kind, name and size: kernels go by their names, copies by direction and
 * bytes, memsets by bytes. In each profile they are matched in order of start, the first with the
 * first. */
typedef struct haul_compared {
    haul_op_kind kind;
    haul_direction direction; /* copies */
    uint64_t bytes;           /* copies and memsets */
    const char *name;         /* kernels; of a workload that was compared */
    uint64_t matched;
    int64_t a_ns; /* of the matched ones together */
    int64_t b_ns;
    uint64_t only_a; /* unmatched */
    uint64_t only_b;
    int64_t all_a_ns; /* of all, the unmatched ones too */
    int64_t all_b_ns;
    haul_place place; /* where most of its time was called for in the second, else in the first */
} haul_compared;

typedef struct haul_comparison {
    haul_compared *rows; /* the largest difference of times first */
    size_t count;
    uint64_t matched;
    uint64_t only_a;
    uint64_t only_b;
    int64_t a_ns; /* matched ones' total times */
    int64_t b_ns;
} haul_comparison;

/* Compares two workloads, which the rows' names are of. Returns NO_MEMORY. Release with
 * haul_comparison_release. */
HAUL_API haul_status haul_comparison_make(const haul_workload *a, const haul_workload *b,
                                          haul_comparison *comparison, haul_error *error);
HAUL_API void haul_comparison_release(haul_comparison *comparison);

HAUL_END

#endif
