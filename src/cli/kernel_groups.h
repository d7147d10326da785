/* Measured rows by the kernel and the machine that they are of, for `haul kernel fit`. */
#ifndef HAUL_CLI_KERNEL_GROUPS_H
#define HAUL_CLI_KERNEL_GROUPS_H

#include "haul/kernel_file.h"

/* A row to fit. */
typedef struct kernel_launch {
    const char *kernel;
    size_t machine;
    const haul_kernel_file *file; /* what it does; NULL: counted by a profiler */
    haul_kernel_sample sample;
    int block[3]; /* that it was launched in; all 0: not told */
    size_t row;   /* its number among all */
} kernel_launch;

/* The rows of one kernel on one machine. Where a size was measured in blocks of several shapes,
 * those are kernels of their own. */
typedef struct kernel_group {
    const char *kernel;
    size_t machine;
    const haul_kernel_file *file;
    const haul_kernel_sample *samples; /* by size */
    size_t count;
    char *title; /* the kernel's name and its block's shape, where there are several; or NULL */
    size_t first_row; /* of the kernel on the machine */
} kernel_group;

/* Zero is none. */
typedef struct kernel_groups {
    kernel_group *items; /* in the order of their first rows */
    size_t count;
    haul_kernel_sample *samples; /* of all */
    size_t sample_count;
} kernel_groups;

/* Groups `count` launches, whose order it changes; false without memory. The caller frees with
 * kernel_groups_release, whatever the outcome. Texts stay the caller's. */
bool kernel_groups_make(kernel_launch *launches, size_t count, kernel_groups *out);
void kernel_groups_release(kernel_groups *self);

/* What reports call it. */
static inline const char *kernel_group_title(const kernel_group *self)
{
    return self->title ? self->title : self->kernel;
}

#endif
