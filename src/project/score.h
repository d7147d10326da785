/* Error measures of predicted durations: haul_score (AHEAD, VI.C). */
#ifndef HAUL_PROJECT_SCORE_H
#define HAUL_PROJECT_SCORE_H

#include "haul/project.h"

/* Predictions gathered beside measurements, 8 bytes each. Zero is the empty one. */
typedef struct haul_scorer {
    double measured_s;
    double error_s;
    double *relative; /* errors */
    size_t count;
    size_t capacity;
} haul_scorer;

/* Adds one operation. Profiles count whole nanoseconds, so a measured time of 0 counts as 1 where
 * it divides. Returns false without memory. */
bool haul_scorer_add(haul_scorer *scorer, double measured_s, double predicted_s);

/* The score of what was added, in percent; all zero for nothing. Reorders what was gathered. */
haul_score haul_scorer_finish(haul_scorer *scorer);

void haul_scorer_release(haul_scorer *scorer);

#endif
