/* Error measures of predicted durations: haul_score (AHEAD, VI.C). */
#ifndef HAUL_PROJECT_SCORE_H
#define HAUL_PROJECT_SCORE_H

#include "haul/project.h"

/* Predictions gathered beside measurements, 8 bytes each. Zero is the empty one. */
typedef struct hl_project_scorer {
    double measured_s;
    double error_s;
    double *relative; /* errors */
    size_t count;
    size_t capacity;
} hl_project_scorer;

/* Adds one operation. Profiles count whole nanoseconds, so a measured time of 0 counts as 1 where
 * it divides. Returns false without memory. */
bool hl_project_scorer_add(hl_project_scorer *scorer, double measured_s, double predicted_s);

/* The score of what was added, in percent; all zero for nothing. Reorders what was gathered. */
haul_score hl_project_scorer_finish(hl_project_scorer *scorer);

void hl_project_scorer_release(hl_project_scorer *scorer);

#endif
