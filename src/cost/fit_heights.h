/* The least absolute fit of a bent line with given bends. */
#ifndef HAUL_COST_FIT_HEIGHTS_H
#define HAUL_COST_FIT_HEIGHTS_H

#include <stdbool.h>
#include <stddef.h>

#include "haul/machine.h"

/* A measured size: `seconds` seen `weight` times; misses are counted in units of 1 / `scale`. */
typedef struct hl_cost_dot {
    double bytes;
    double seconds;
    double weight;
    double scale;
} hl_cost_dot;

/* Dots ascending in bytes. */
typedef struct hl_cost_cloud {
    const hl_cost_dot *dots;
    size_t count;
    bool rising; /* times may not fall with size */
} hl_cost_cloud;

/* A bent line through (x, y), ascending in x, and its mean weighted absolute miss. */
typedef struct hl_cost_bent {
    size_t count;
    double x[HAUL_MACHINE_CURVE_POINTS];
    double y[HAUL_MACHINE_CURVE_POINTS];
    double loss;
} hl_cost_bent;

/* How far the reweighting goes: `rounds` of it, misses below `floor` counting as equal. */
typedef struct hl_cost_effort {
    int rounds;
    double floor;
} hl_cost_effort;

/* Finds the heights y that make the loss least, at the given x; no height is below `least_s`.
 * Returns false, the bent line undefined, where the dots do not determine a height. */
bool hl_cost_bent_fit(const hl_cost_cloud *cloud, hl_cost_effort effort, hl_cost_bent *bent);

#endif
