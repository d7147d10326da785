/* AHEAD's measures (IPDPSW 2019, VI.C): WMAPE weighs each copy by its time, and so does WAPE, which
 * does not divide by the number of copies. */
#include "project/score.h"

#include <math.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/stats.h"

static const double tick_s = 1e-9;

bool hl_project_scorer_add(hl_project_scorer *scorer, double measured_s, double predicted_s)
{
    if (!hl_base_grow(&scorer->relative, &scorer->capacity, scorer->count + 1,
                      sizeof *scorer->relative))
        return false;
    const double error_s = fabs(measured_s - predicted_s);
    scorer->measured_s += measured_s;
    scorer->error_s += error_s;
    scorer->relative[scorer->count++] = error_s / fmax(measured_s, tick_s);
    return true;
}

/* Quantiles are taken in place, which reorders the errors. */
haul_score hl_project_scorer_finish(hl_project_scorer *scorer)
{
    if (!scorer->count)
        return (haul_score){0};
    const double wape = 100 * scorer->error_s / fmax(scorer->measured_s, tick_s);
    return (haul_score){
        .count = scorer->count,
        .wmape = wape / (double)scorer->count,
        .wape = wape,
        .median = 100 * hl_base_quantile_of_many(scorer->relative, scorer->count, 0.5),
        .p90 = 100 * hl_base_quantile_of_many(scorer->relative, scorer->count, 0.9),
    };
}

void hl_project_scorer_release(hl_project_scorer *scorer)
{
    free(scorer->relative);
    *scorer = (hl_project_scorer){0};
}
