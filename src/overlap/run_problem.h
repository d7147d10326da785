/* A kernel of CCGrid 2014 with its arrays, cut into parts that copies and launches take. */
#ifndef HAUL_OVERLAP_RUN_PROBLEM_H
#define HAUL_OVERLAP_RUN_PROBLEM_H

#include "haul/device.h"
#include "haul/overlap_run.h"

enum { RUN_GROUPS = 3, RUN_ARRAYS = 5, RUN_VALUES = 3 };

/* Arrays of one size and use, one behind another, so that a part of all is one strided copy. */
typedef struct run_group {
    size_t count;
    uint64_t bytes; /* of each */
    bool is_out;
    bool is_whole;     /* every part needs all of it; else each its share */
    haul_buffer *host; /* mapped where the device can, else pinned: the group in each place */
    haul_buffer *device;
    void *expected; /* of an output: what a plain loop gives */
} run_group;

typedef struct run_problem {
    const haul_kernel_source *source;
    run_group groups[RUN_GROUPS]; /* in the order of the kernel's parameters */
    size_t group_count;
    size_t array_count;
    const void *values[RUN_VALUES]; /* into the next two */
    int numbers[RUN_VALUES];
    double step;
    size_t value_count;
    haul_box box;
    int parts;  /* equal shares of the box's outermost direction */
    int before; /* parts before a part whose inputs it reads too */
    uint64_t
        ahead; /* bytes of the next part's inputs that are copied with a part, for it reads them */
    bool reads_first; /* and those of the first part */
    double flops;
    double reads;    /* of each byte in, as far as no cache holds it */
    double scale;    /* inputs lie between 0 and that */
    uint64_t places; /* of the arrays in host memory, with the same data in each */
    uint64_t place;  /* the one that is used now */
} run_problem;

/* Fills all but the buffers. Returns USAGE for an unknown name, or a side that is no multiple of 16
 * from 32 to 4096. */
haul_status hl_overlap_run_problem_init(run_problem *self, const char *name, uint32_t side,
                                        haul_error *error);

/* Where a group begins in its host buffer. */
uint64_t hl_overlap_run_group_at(const run_problem *self, const run_group *of);

/* Makes the buffers; with data also fills the inputs, and computes what is expected. */
haul_status hl_overlap_run_problem_allocate(run_problem *self, haul_device *device, bool has_data,
                                            haul_error *error);
void hl_overlap_run_problem_release(run_problem *self);

/* The largest difference of an output in host memory from what is expected, relative to the largest
 * expected; spoils the output for the next. */
double hl_overlap_run_problem_check(run_problem *self);

/* Bytes of the inputs, or of the outputs. */
uint64_t hl_overlap_run_problem_bytes(const run_problem *self, bool out);

/* Of the inputs those that every part needs. */
uint64_t hl_overlap_run_problem_shared(const run_problem *self);

#endif
