/* Predictions beside what was measured, and how they are summed up. */
#ifndef HAUL_BENCH_KERNEL_SCORES_H
#define HAUL_BENCH_KERNEL_SCORES_H

#include "haul/kernel.h"

/* One prediction. `doubt` is |log (measured / predicted)| over the half width of the stated
 * interval: up to 1 it held. */
typedef struct kernel_score {
    int program;
    int board; /* predicted */
    int source;
    int model;    /* by haul_kernel_model_at */
    double ratio; /* predicted / measured */
    double uncertainty;
    bool beyond;  /* the size is outside those measured on the source GPU */
    double naive; /* predicted / measured by R P alone */
    double best;  /* by the best of R P, bandwidth and clock, with hindsight */
} kernel_score;

typedef struct kernel_scores {
    kernel_score *items;
    size_t count;
    size_t capacity;
} kernel_scores;

haul_status kernel_scores_add(kernel_scores *self, kernel_score score, haul_error *error);
void kernel_scores_release(kernel_scores *self);

/* In percent: of ratios within `share` of 1, and of intervals that held. */
double kernel_scores_within(const kernel_scores *self, double share);
double kernel_scores_held(const kernel_scores *self);

/* The latter with the intervals' width fitted anew for each program (or GPU, as source and as
 * target) to the scores that it had no part in, of those that it had: what the stated coverage is
 * worth for a new one. NaN where all scores are of one pair of GPUs. */
typedef enum kernel_left_out { LEFT_PROGRAM, LEFT_BOARD } kernel_left_out;
haul_status kernel_scores_held_out(const kernel_scores *self, kernel_left_out what, double *held,
                                   haul_error *error);

/* Mean and median of 100 |ratio - 1|, and the mean over the scores that are not beyond. */
typedef struct kernel_error {
    size_t count;
    double mean;
    double median;
    double naive;  /* mean */
    double best;   /* mean */
    double inside; /* mean */
} kernel_error;
haul_status kernel_scores_error(const kernel_scores *self, kernel_error *out, haul_error *error);

#endif
