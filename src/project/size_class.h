/* Size classes: a workload's copies of one direction, memory and size. A model gives them one time;
 * the spread of their durations is beyond any model of size alone. */
#ifndef HAUL_PROJECT_SIZE_CLASS_H
#define HAUL_PROJECT_SIZE_CLASS_H

#include "haul/cost.h"

typedef struct hl_project_size_class {
    uint64_t bytes; /* of one copy */
    double time_ns; /* sum of durations */
    uint32_t name;  /* string id of the call; HAUL_NONE where calls are not told apart */
    uint32_t first; /* into hl_project_size_classes.ops */
    uint32_t count;
    uint8_t direction;
    uint8_t memory;  /* HAUL_MEMORIES where kinds of memory are not told apart */
    bool impossible; /* see hl_project_size_classes_mark_impossible */
} hl_project_size_class;

typedef struct hl_project_size_classes {
    hl_project_size_class *items; /* by name, direction, memory, bytes */
    size_t count;
    uint32_t *ops; /* the workload's copies, class by class, in order of start */
    size_t op_count;
} hl_project_size_classes;

/* The classes begin to end - 1. */
typedef struct hl_project_class_range {
    size_t begin;
    size_t end;
} hl_project_class_range;

typedef struct hl_project_size_options {
    const bool *any_memory; /* NULL, or of each direction whether its kinds of memory are one */
    bool by_call;           /* tell calls of different names apart */
} hl_project_size_options;

/* Sorts the copies of a workload into classes, in time and memory proportional to the operations (8
 * bytes each while it runs, 4 afterwards). `options` may be NULL. Release with
 * hl_project_size_classes_release. */
haul_status hl_project_size_classes_make(const haul_workload *workload,
                                         const hl_project_size_options *options,
                                         hl_project_size_classes *classes, haul_error *error);
void hl_project_size_classes_release(hl_project_size_classes *classes);

/* Marks the classes of copies between host and device that ran faster than anything moves bytes,
 * and so moved none, as maps of host memory may. Their rate, a microsecond allowed for the clock,
 * is above `link_Bps` (where that is positive); or above 1 TB/s, which no link to a host has
 * (NVLink-C2C: 450 GB/s each way); or above 10 GB/s and ten times that of another kind of memory,
 * in the direction and decade of sizes. Returns how many copies these are. */
uint64_t hl_project_size_classes_mark_impossible(hl_project_size_classes *classes, double link_Bps);

/* A negative, zero or positive number: name, direction, memory, then bytes. */
int hl_project_size_class_compare(const void *a, const void *b);

/* The classes from `begin` on that share its name, direction and memory. */
hl_project_class_range hl_project_size_group(const hl_project_size_classes *classes, size_t begin);

/* One copy of a class. */
static inline haul_copy hl_project_size_class_copy(const hl_project_size_class *one)
{
    return (haul_copy){one->bytes, (haul_direction)one->direction, (haul_memory)one->memory,
                       HAUL_LOCALITY_NEAR};
}

/* The median duration of a class in nanoseconds; `scratch` has room for its count. */
double hl_project_size_class_median_ns(const haul_workload *workload,
                                       const hl_project_size_classes *classes,
                                       const hl_project_size_class *one, double *scratch);

/* Every how many classes, and every how many copies of one, to take so that the classes of a range
 * give at most 2 * `limit` samples, at least one of each class that is taken. */
typedef struct hl_project_size_stride {
    size_t classes;
    size_t copies;
} hl_project_size_stride;
hl_project_size_stride hl_project_size_thin(const hl_project_size_classes *classes,
                                            hl_project_class_range range, size_t limit);

size_t hl_project_size_copies(const hl_project_size_classes *classes, hl_project_class_range range);

/* The most copies that a class has. */
size_t hl_project_size_largest(const hl_project_size_classes *classes);

/* Says in a filled error which of the profile's copies it is about. */
void hl_project_size_class_blame(const hl_project_size_class *one, haul_error *error);

#endif
