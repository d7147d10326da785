/* The formulas of van Werkhoven et al. (CCGrid 2014), Figure 7, by their numbers there. `h` are
 * the copies to the device, `d` those back; t_E the kernel's time over all streams; s the streams.
 */
#ifndef HAUL_OVERLAP_FORMULAS_H
#define HAUL_OVERLAP_FORMULAS_H

#include "haul/overlap.h"

/* One direction's copies as a formula takes them: L+o, B G and g. */
typedef struct haul_leg_times {
    double latency_s;
    double data_s;
    double gap_s;
} haul_leg_times;

typedef struct haul_formula {
    haul_leg_times h;
    haul_leg_times d;
    double kernel_s; /* t_E */
} haul_formula;

double haul_formula_explicit(const haul_formula *f);
/* implicit synchronisation, one engine; a kernel or copies dominate */
double haul_formula_sync_kernel(const haul_formula *f, double s);   /* (1) */
double haul_formula_sync_transfer(const haul_formula *f, double s); /* (2) */
/* one engine */
double haul_formula_one_kernel(const haul_formula *f, double s);   /* (3) */
double haul_formula_one_transfer(const haul_formula *f, double s); /* (4) */
/* two engines; on every device what the hybrid strategy takes */
double haul_formula_two(const haul_formula *f, double s); /* (5) */
double haul_formula_mapped(const haul_formula *f);        /* (6) */

/* What (6) leaves out: both directions move at once, each at the rate of a busy link, until the
 * first of them is done. In strategies.c, as what follows. */
double haul_overlap_mapped_both_ways(const haul_overlap_case *self);

/* A strategy's time, by the analytical model or on the timeline. */
typedef double (*haul_strategy_time)(const haul_overlap_case *self, haul_strategy strategy,
                                     uint32_t streams);

/* What a row, of so many streams, is bound by. */
void haul_overlap_find_bound(const haul_overlap_case *self, haul_overlap_row *row);

/* The best of the rows, its gain and its slack. */
void haul_overlap_choose(const haul_overlap_case *self, haul_strategy_time time, haul_overlap *of);

#endif
