/* Copies that are alike: of the same direction, memory and size. A model gives them one price, and
 * how their durations differ is what no model of the size alone can explain. */
#ifndef HAUL_PROJECT_SIZE_CLASS_H
#define HAUL_PROJECT_SIZE_CLASS_H

#include "haul/workload.h"

typedef struct haul_size_class_key {
    uint64_t bytes;
    double time_ns; /* sum of durations */
    uint32_t first; /* into haul_size_class.ops */
    uint32_t count;
    uint8_t direction;
    uint8_t memory; /* HAUL_MEMORIES where kinds of memory are taken together */
} haul_size_class_key;

typedef struct haul_size_class {
    haul_size_class_key *classes; /* by direction, memory, bytes */
    size_t class_count;
    uint32_t *ops; /* the workload's copies, class by class, in order of start */
    size_t op_count;
} haul_size_class;

/* The classes begin to end - 1. */
typedef struct haul_class_range {
    size_t begin;
    size_t end;
} haul_class_range;

/* Sorts the copies of a workload into classes: time and memory in proportion to the operations (8
 * bytes each while it runs, 4 afterwards). In a direction d where `any_memory` (which may be NULL)
 * holds any_memory[d], kinds of memory are not told apart. Release with haul_size_class_release. */
haul_status haul_size_class_make(const haul_workload *workload, const bool *any_memory,
                                 haul_size_class *alike, haul_error *error);
void haul_size_class_release(haul_size_class *alike);

/* The classes from `begin` on that share its direction and memory. */
haul_class_range haul_size_class_group(const haul_size_class *alike, size_t begin);

/* The median duration of a class in nanoseconds; `scratch` has room for its count. */
double haul_size_class_median_ns(const haul_workload *workload, const haul_size_class *alike,
                                 const haul_size_class_key *alike_class, double *scratch);

/* Every how many classes, and every how many copies of one, to take so that the classes of
 * a range give at most 2 * `limit` samples, at least one of each class that is taken. */
typedef struct haul_size_class_stride {
    size_t classes;
    size_t copies;
} haul_size_class_stride;
haul_size_class_stride haul_size_class_thin(const haul_size_class *alike, haul_class_range range,
                                            size_t limit);

size_t haul_size_class_copies(const haul_size_class *alike, haul_class_range range);

/* Copies of the largest class. */
size_t haul_size_class_largest(const haul_size_class *alike);

/* Says of which copies an error speaks that is already filled. */
void haul_size_class_blame(const haul_size_class_key *alike_class, haul_error *error);

#endif
