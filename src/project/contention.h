/* Collisions: a copy slows down while its device copies the opposite way, so equal copies differ.
 *
 * A copy that loses the part k of its speed during the share x of its time takes t = base / (1 -
 * kx), where base is what it takes alone. */
#ifndef HAUL_PROJECT_CONTENTION_H
#define HAUL_PROJECT_CONTENTION_H

#include "project/size_class.h"

typedef struct haul_contention_fit {
    float *share; /* x of each operation; NULL where no copies collide */
    /* k, and the copies that collided; k is 0 where it does not explain the copies better than
     * chance would */
    double loss[HAUL_DIRECTIONS][HAUL_MEMORIES];
    uint64_t contended[HAUL_DIRECTIONS][HAUL_MEMORIES];
} haul_contention_fit;

/* Finds the collisions of a workload and fits k for each direction and memory to the spread of
 * equal copies, by least absolute error. k is kept where it lowers the error of copies that were
 * held out of its fit (ten folds) by more than twice the standard error of that gain. Release with
 * haul_contention_fit_release. */
haul_status haul_contention_fit_find(const haul_workload *workload, const haul_size_class *alike,
                                     haul_contention_fit *collisions, haul_error *error);
void haul_contention_fit_release(haul_contention_fit *collisions);

/* 1 - kx of a copy of class `alike_class`; `op` is its place in the workload. */
double haul_contention_speed(const haul_contention_fit *collisions,
                             const haul_size_class_key *alike_class, uint32_t op);

#endif
