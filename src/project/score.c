/* AHEAD's measures (IPDPSW 2019, VI.C): WMAPE weighs each copy by its time, and so does WAPE, which
 * does not divide by the number of copies. */
#include "project/score.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/stats.h"

static const double tick_s = 1e-9;

bool haul_scorer_add(haul_scorer *scorer, double measured_s, double predicted_s)
{
    if (!haul_grow(&scorer->relative, &scorer->capacity, scorer->count + 1,
                   sizeof *scorer->relative))
        return false;
    const double error_s = fabs(measured_s - predicted_s);
    scorer->measured_s += measured_s;
    scorer->error_s += error_s;
    scorer->relative[scorer->count++] = error_s / fmax(measured_s, tick_s);
    return true;
}

/* Quantiles are taken in place, which reorders the errors. */
haul_score haul_scorer_finish(haul_scorer *scorer)
{
    if (!scorer->count)
        return (haul_score){0};
    const double wape = 100 * scorer->error_s / fmax(scorer->measured_s, tick_s);
    return (haul_score){
        .count = scorer->count,
        .wmape = wape / (double)scorer->count,
        .wape = wape,
        .median = 100 * haul_quantile_of_many(scorer->relative, scorer->count, 0.5),
        .p90 = 100 * haul_quantile_of_many(scorer->relative, scorer->count, 0.9),
    };
}

void haul_scorer_release(haul_scorer *scorer)
{
    free(scorer->relative);
    *scorer = (haul_scorer){0};
}
