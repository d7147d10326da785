/* Measured rows by the kernel and the machine that they are of, for `haul kernel fit`. */
#ifndef HAUL_CLI_KERNEL_GROUPS_H
#define HAUL_CLI_KERNEL_GROUPS_H

#include <stdint.h>

#include "haul/kernel_file.h"

/* A row's sample, and the block that it was launched in; all 0: not told. */
typedef struct kernel_launch {
    haul_kernel_sample sample;
    int block[3];
} kernel_launch;

/* The rows of one kernel on one machine. Where a size was measured in blocks of several shapes,
 * those are kernels of their own. */
typedef struct kernel_group {
    const char *kernel;
    size_t machine;
    const haul_kernel_file *file; /* NULL: counted by a profiler */
    kernel_launch *launches;
    size_t count;
    size_t capacity;
    char *title; /* the kernel's name and its block's shape, where there are several; or NULL */
} kernel_group;

/* Zero is none. */
typedef struct kernel_groups {
    kernel_group *items;
    size_t count;
    size_t capacity;
    size_t *slots; /* by kernel and machine: 1 + index, 0 none */
    size_t slot_count;
} kernel_groups;

/* The group of a kernel, by its name, on a machine; made where it is not there. NULL without
 * memory. Good until the next one. */
kernel_group *kernel_groups_at(kernel_groups *self, const char *kernel, size_t machine);

/* Adds a launch to a group; false without memory. */
bool kernel_group_add(kernel_group *self, const kernel_launch *launch);

/* Parts the groups in which a size was measured in blocks of several shapes, by the shape; false
 * without memory. Kernels are not found by kernel_groups_at any more. */
bool kernel_groups_part(kernel_groups *self);

void kernel_groups_release(kernel_groups *self);

/* What reports call it. */
static inline const char *kernel_group_title(const kernel_group *self)
{
    return self->title ? self->title : self->kernel;
}

#endif
