/* The least absolute fit of a bent line with given bends. */
#ifndef HAUL_COST_FIT_HEIGHTS_H
#define HAUL_COST_FIT_HEIGHTS_H

#include <stdbool.h>
#include <stddef.h>

#include "haul/machine.h"

/* A measured size: `seconds` seen `weight` times; misses are counted in units of 1 / `scale`. */
typedef struct haul_dot {
    double bytes;
    double seconds;
    double weight;
    double scale;
} haul_dot;

/* Dots ascending in bytes. */
typedef struct haul_cloud {
    const haul_dot *dots;
    size_t count;
    bool rising; /* times may not fall with size */
} haul_cloud;

/* A bent line through (x, y), ascending in x, and its mean weighted absolute miss. */
typedef struct haul_bent {
    size_t count;
    double x[HAUL_CURVE_POINTS];
    double y[HAUL_CURVE_POINTS];
    double loss;
} haul_bent;

/* How far the reweighting goes: `rounds` of it, misses below `floor` counting as equal. */
typedef struct haul_effort {
    int rounds;
    double floor;
} haul_effort;

/* Finds the heights y that make the loss least, at the given x; no height is below `least_s`.
 * Returns false, the bent line undefined, where the dots do not determine a height. */
bool haul_bent_fit(const haul_cloud *cloud, haul_effort effort, haul_bent *bent);

#endif
