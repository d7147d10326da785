/* What the kernel models share. */
#ifndef HAUL_KERNEL_PARTS_H
#define HAUL_KERNEL_PARTS_H

#include "cost/range.h"
#include "haul/kernel.h"

/* Cycles of all threads by BSP, counts that have been checked. */
double haul_kernel_cycles(const haul_kernel_counts *counts);

/* Cycles a second of all cores: R P. */
double haul_kernel_issue(const haul_gpu *gpu);

haul_status haul_kernel_counts_check(const haul_kernel_counts *counts, haul_error *error);
haul_status haul_kernel_gpu_check(const haul_machine *machine, haul_error *error);

/* Half the width, in the logarithm, of what holds 90 of 100 kernels that are scaled by what is
 * inside the multiprocessors. */
double haul_kernel_uncertainty_inside(const haul_gpu *from, const haul_gpu *to);

/* The logarithm of the calibration factor (the paper's lambda) at a size, and the uncertainty that
 * the sizes leave in it: half the width, in the logarithm, of an interval that holds 90 of 100
 * cases. `calm`: without conflicts in the source GPU's cache. */
typedef struct haul_kernel_reading {
    double log_calibration;
    double half_width;
} haul_kernel_reading;
haul_kernel_reading haul_kernel_read(const haul_kernel_fit *fit, double size, bool calm);

#endif
