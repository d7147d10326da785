#include "kernel_scores.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/stats.h"

haul_status kernel_scores_add(kernel_scores *self, kernel_score score, haul_error *error)
{
    if (!haul_grow(&self->items, &self->capacity, self->count + 1, sizeof score))
        return haul_fail_no_memory(error);
    self->items[self->count++] = score;
    return HAUL_OK;
}

void kernel_scores_release(kernel_scores *self)
{
    free(self->items);
    *self = (kernel_scores){0};
}

double kernel_scores_within(const kernel_scores *self, double share)
{
    size_t within = 0;
    for (size_t i = 0; i < self->count; i++)
        within += fabs(self->items[i].ratio - 1) <= share;
    return self->count ? 100.0 * (double)within / (double)self->count : 0;
}

double kernel_scores_held(const kernel_scores *self)
{
    size_t held = 0;
    for (size_t i = 0; i < self->count; i++)
        held += self->items[i].uncertainty <= 1;
    return self->count ? 100.0 * (double)held / (double)self->count : 0;
}

/* Whether a program, or a GPU, had a part in a score: a GPU as source or as target. */
static bool has_part(const kernel_score *score, kernel_left_out what, int group)
{
    return what == LEFT_PROGRAM ? score->program == group
                                : score->source == group || score->board == group;
}

haul_status kernel_scores_held_out(const kernel_scores *self, kernel_left_out what, double *held,
                                   haul_error *error)
{
    enum { GROUPS = 16 };
    double *others = malloc((self->count + 1) * sizeof *others);
    if (!others)
        return haul_fail_no_memory(error);
    size_t inside = 0, tested = 0;
    for (int group = 0; group < GROUPS; group++) {
        size_t count = 0;
        for (size_t i = 0; i < self->count; i++)
            if (!has_part(&self->items[i], what, group))
                others[count++] = self->items[i].uncertainty;
        if (!count || count == self->count)
            continue;
        const double width = haul_quantile_of_many(others, count, 0.9);
        for (size_t i = 0; i < self->count; i++)
            if (has_part(&self->items[i], what, group)) {
                tested++;
                inside += self->items[i].uncertainty <= width;
            }
    }
    free(others);
    *held = tested ? 100.0 * (double)inside / (double)tested : (double)NAN;
    return HAUL_OK;
}

haul_status kernel_scores_error(const kernel_scores *self, kernel_error *out, haul_error *error)
{
    double *errors = malloc((self->count + 1) * sizeof *errors);
    if (!errors)
        return haul_fail_no_memory(error);
    kernel_error sum = {.count = self->count};
    const double count = fmax(1, (double)self->count);
    size_t inside = 0;
    for (size_t i = 0; i < self->count; i++) {
        const kernel_score *score = &self->items[i];
        errors[i] = 100 * fabs(score->ratio - 1);
        sum.mean += errors[i] / count;
        sum.naive += 100 * fabs(score->naive - 1) / count;
        sum.best += 100 * fabs(score->best - 1) / count;
        inside += !score->beyond;
        sum.inside += score->beyond ? 0 : errors[i];
    }
    sum.inside = inside ? sum.inside / (double)inside : 0;
    sum.median = sum.count ? haul_median(errors, sum.count) : 0;
    free(errors);
    *out = sum;
    return HAUL_OK;
}
