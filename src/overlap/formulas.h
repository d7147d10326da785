/* The formulas of van Werkhoven et al. (CCGrid 2014), Figure 7, by their numbers there. `h` are
 * the copies to the device, `d` those back; t_E the kernel's time over all streams; s the streams.
 */
#ifndef HAUL_OVERLAP_FORMULAS_H
#define HAUL_OVERLAP_FORMULAS_H

#include "haul/overlap.h"

/* One direction's copies as a formula takes them: L+o, B G and g. */
typedef struct hl_overlap_leg_times {
    double latency_s;
    double data_s;
    double gap_s;
} hl_overlap_leg_times;

typedef struct hl_overlap_formula {
    hl_overlap_leg_times h;
    hl_overlap_leg_times d;
    double kernel_s; /* t_E */
} hl_overlap_formula;

double hl_overlap_formula_explicit(const hl_overlap_formula *f);
/* implicit synchronisation, one engine; a kernel or copies dominate */
double hl_overlap_formula_sync_kernel(const hl_overlap_formula *f, double s);   /* (1) */
double hl_overlap_formula_sync_transfer(const hl_overlap_formula *f, double s); /* (2) */
/* one engine */
double hl_overlap_formula_one_kernel(const hl_overlap_formula *f, double s);   /* (3) */
double hl_overlap_formula_one_transfer(const hl_overlap_formula *f, double s); /* (4) */
/* two engines; on every device what the hybrid strategy takes */
double hl_overlap_formula_two(const hl_overlap_formula *f, double s); /* (5) */
double hl_overlap_formula_mapped(const hl_overlap_formula *f);        /* (6) */

/* Beyond (6): both directions move at once, each at the rate of a busy link, until the
 * first of them is done. In strategies.c, as what follows. */
double hl_overlap_mapped_both_ways(const haul_overlap_case *self);

/* A strategy's time, by the analytical model or on the timeline. */
typedef double (*hl_overlap_strategy_time)(const haul_overlap_case *self, haul_strategy strategy,
                                           uint32_t streams);

/* Finds the bound of a row, of so many streams. */
void hl_overlap_find_bound(const haul_overlap_case *self, haul_overlap_row *row);

/* The fewest of 1, 2, 4, ... 32 streams whose time, usual_s, is within 5 % of least_s; else the
 * best of them. In strategies.c. */
uint32_t hl_overlap_streams_usual(const haul_overlap_row *row);

/* The time that a strategy is chosen by: mapped memory, whose predictions may be too short, has to
 * be faster by more than these are off. `assumed` is the case's. */
double hl_overlap_claim(unsigned assumed, haul_strategy strategy, double seconds);

/* The best of the rows by that, its gain and its slack. */
void hl_overlap_choose(const haul_overlap_case *self, hl_overlap_strategy_time time,
                       haul_overlap *of);

#endif
