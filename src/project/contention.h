/* Bidirectional contention: a copy slows down while its device copies the other way, so the times
 * of equal copies differ.
 *
 * A copy that loses the part k of its speed during the share x of its time takes t = base / (1 -
 * kx), where base is its time alone. */
#ifndef HAUL_PROJECT_CONTENTION_H
#define HAUL_PROJECT_CONTENTION_H

#include "project/size_class.h"

typedef struct hl_project_contention {
    float *share; /* x of each operation; NULL where there is no contention */
    /* k, and the copies with contention; k is 0 where it explains their times no better than
     * chance */
    double loss[HAUL_DIRECTIONS][HAUL_MEMORIES];
    uint64_t contended[HAUL_DIRECTIONS][HAUL_MEMORIES];
} hl_project_contention;

/* Finds the contention of a workload and fits k for each direction and memory to the spread of
 * equal copies, by least absolute error. k is kept where it lowers the error of copies that were
 * held out of its fit (ten folds) by more than twice the standard error of that gain. Release with
 * hl_project_contention_release. */
haul_status hl_project_contention_find(const haul_workload *workload,
                                       const hl_project_size_classes *classes,
                                       hl_project_contention *contention, haul_error *error);
void hl_project_contention_release(hl_project_contention *contention);

/* 1 - kx of a copy of class `one`; `op` is its place in the workload. */
double hl_project_contention_speed(const hl_project_contention *contention,
                                   const hl_project_size_class *one, uint32_t op);

#endif
