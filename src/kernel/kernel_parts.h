/* Shared by the kernel models. */
#ifndef HAUL_KERNEL_PARTS_H
#define HAUL_KERNEL_PARTS_H

#include "cost/range.h"
#include "haul/kernel.h"

/* Cycles of all threads by BSP, counts that have been checked. */
double hl_kernel_cycles(const haul_kernel_counts *counts);

/* Cycles a second of all cores: R P. */
double hl_kernel_issue(const haul_gpu *gpu);

haul_status hl_kernel_counts_check(const haul_kernel_counts *counts, haul_error *error);
haul_status hl_kernel_gpu_check(const haul_machine *machine, haul_error *error);

/* haul_kernel_time of a model that is not NULL. */
haul_status hl_kernel_estimate(const haul_kernel_model *model, const haul_kernel_case *what,
                               haul_estimate *out, haul_error *error);

/* How surely a resource bounds a kernel that keeps this share of its nominal rate busy: 0 to 1. */
double hl_kernel_bound_weight(double share);

/* The least share of the memory's nominal rate that a launch of `each_s` seconds keeps busy, by its
 * bytes, or, where those are not known (0), by its threads; 0 where neither tells. */
double hl_kernel_memory_share(const haul_gpu *gpu, const haul_kernel_launches *launches,
                              double each_s, double bytes);

/* haul_kernel_scale_launches of a kernel that moves `bytes` a launch at the least, where they are
 * known. */
haul_status hl_kernel_scale_unknown(const haul_machine *from, const haul_machine *to,
                                    const haul_kernel_work *work, haul_estimate *out,
                                    haul_error *error);

/* Half the width, in the logarithm, of what holds 90 of 100 kernels that are scaled by what is
 * inside the multiprocessors. */
double hl_kernel_uncertainty_inside(const haul_gpu *from, const haul_gpu *to);

/* The logarithm of the calibration factor (the paper's lambda) at a size, and the uncertainty that
 * the sizes leave in it: half the width, in the logarithm, of an interval that holds 90 of 100
 * cases. `calm`: without conflicts in the source GPU's cache. */
typedef struct hl_kernel_reading {
    double log_calibration;
    double half_width;
} hl_kernel_reading;
hl_kernel_reading hl_kernel_read(const haul_kernel_fit *fit, double size, bool calm);

/* Multiprocessors' time that the blocks take, those that idle in the last wave among it: blocks of
 * the busiest times multiprocessors. Needs both numbers. */
double hl_kernel_filled(const haul_gpu *gpu, double blocks);

/* A matrix product in tiles on a GPU, at its sustained rates. Which tile its library takes is a
 * rule: the fastest of some, or, from 1, always the same of those, where the precision has it. */
enum { HL_KERNEL_FASTEST_TILE, HL_KERNEL_TILE_RULES = 5 };
typedef struct hl_kernel_tiles {
    double in_waves_s; /* the time of whole tiles in whole waves, at least that of the operands in
                        * memory; 0: operands or rates are not known */
    double most_s;     /* what it may take beyond that, where the source took so long */
    double less;       /* the way down, in the logarithm, to the least time of usual tiles, */
    double more;       /* and up to the most: the library chooses */
    bool is_full;      /* a tile for each multiprocessor at least */
    bool is_far;       /* rows of the operands lie far apart */
    bool is_measured;  /* by a product near it in size */
    double of_rule_s[HL_KERNEL_TILE_RULES]; /* in waves, as a library of that rule takes them */
} hl_kernel_tiles;
hl_kernel_tiles hl_kernel_product_s(const haul_gpu *gpu, const haul_kernel_work *work);

/* The same as products that were measured on the machine tell the rule, and correct the time. */
hl_kernel_tiles hl_kernel_product_near_s(const haul_machine *machine, const haul_kernel_work *work);

/* The ratios of the times of a product of which no sizes are known, target by source, that its
 * launch and its time on the source allow: of operands that each block reads from the memory, and
 * that L2 keeps for the others. Returns false where they are not told. */
bool hl_kernel_product_ratios_told(const haul_gpu *from, const haul_gpu *to,
                                   const haul_kernel_work *work, double each_s, double ratios[2]);

/* Operands of a product in fp32 of which no sizes are known, as its launch tells them: sides by the
 * tile in its name and the grid, the inner dimension by the seconds that one launch took beside the
 * launch itself. Zero: not told, as of other makers' libraries on one of the two GPUs. */
haul_operands hl_kernel_product_told(const haul_gpu *from, const haul_gpu *to,
                                     const haul_kernel_work *work, double each_s);

/* The pages that the rows of a tile of operands in fp32 lie in, by as many as slow no GPU; at least
 * 1. */
double hl_kernel_pages_ratio(const haul_operands *of);

/* How much longer the same tile of a product in fp32 takes on `to` because of what fills and
 * empties it, beside the ratio of the rates. */
double hl_kernel_filling_ratio(const haul_gpu *from, const haul_gpu *to, const haul_operands *of);

/* Operands of two bytes an element whose rows begin at odd elements. */
bool hl_kernel_product_is_unaligned(const haul_kernel_work *work);

/* The share of a GPU's product rate that a kernel reaches whose tile is smaller than the usual one,
 * because L2 has to feed it more; 1 where the name tells no tile. */
double hl_kernel_tile_speed(const haul_gpu *gpu, const haul_kernel_kind *kind);

/* How often a kernel's rows cross the device's memory, being read and written: as often as the
 * kernel reads them where no cache holds those at work. `row_bytes`: of one. */
double hl_kernel_row_passes(const haul_gpu *gpu, const haul_kernel_work *work, double row_bytes);

/* Bytes of a row, by the operands or by the recorded time of one launch. Needs the blocks. */
double hl_kernel_row_bytes(const haul_gpu *gpu, const haul_kernel_work *work, double each_s);

#endif
