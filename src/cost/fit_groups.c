/* Copies of one direction, memory and locality are fitted together, and each in three ways: the
 * two lines of CCGrid 2014 and the bent curve, so that a report can say which serves. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/fail.h"
#include "base/stats.h"
#include "cost/curve.h"

/* By group, then condition, size and time. */
static int compare_samples(const void *a, const void *b)
{
    const haul_sample *x = a, *y = b;
    if (x->copy.direction != y->copy.direction)
        return x->copy.direction < y->copy.direction ? -1 : 1;
    if (x->copy.memory != y->copy.memory)
        return x->copy.memory < y->copy.memory ? -1 : 1;
    if (x->copy.locality != y->copy.locality)
        return x->copy.locality < y->copy.locality ? -1 : 1;
    if (x->condition != y->condition)
        return x->condition < y->condition ? -1 : 1;
    if (x->copy.bytes != y->copy.bytes)
        return x->copy.bytes < y->copy.bytes ? -1 : 1;
    return hl_base_compare_reals(x->seconds, y->seconds);
}

static bool same_group(const haul_copy *a, const haul_copy *b)
{
    return a->direction == b->direction && a->memory == b->memory && a->locality == b->locality;
}

static double median_of(const haul_sample *sorted, size_t count)
{
    return (sorted[(count - 1) / 2].seconds + sorted[count / 2].seconds) / 2;
}

/* Copies of one size tell a rate at most: what of it is latency they do not say. */
static haul_status fit_rate(const haul_sample *samples, size_t count, haul_fit_group *group,
                            haul_error *error)
{
    const double median = median_of(samples, count);
    const haul_copy *copy = &samples[0].copy;
    group->curve = (haul_copy_curve){
        .direction = copy->direction,
        .memory = copy->memory,
        .locality = copy->locality,
        .rate_Bps = {.value = (double)copy->bytes / fmax(median, 1e-9),
                     .provenance = HAUL_PROVENANCE_FITTED},
    };
    return hl_cost_curve_score(&group->curve, samples, count, &group->of_curve, error);
}

/* A line that does not fit (two sizes at least, times that grow) is left out. */
static haul_status pardon(haul_status status)
{
    return status == HAUL_STATUS_MISSING ? HAUL_OK : status;
}

/* The curve must succeed. The two lines of the paper are for comparison, and may be missing. */
static haul_status fit_group(const haul_sample *samples, size_t count, size_t max_points,
                             haul_fit_group *group, haul_error *error)
{
    *group = (haul_fit_group){0};
    /* The samples are sorted: those of one size are neighbours, and tell its spread. */
    double off = 0, total = 0;
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && samples[end].copy.bytes == samples[i].copy.bytes; end++)
            ;
        const size_t last = i + end - 1;
        const double median = (samples[last / 2].seconds + samples[(last + 1) / 2].seconds) / 2;
        for (size_t k = i; k < end; k++) {
            off += fabs(samples[k].seconds - median);
            total += samples[k].seconds;
        }
        group->sizes++;
    }
    group->floor = 100 * off / fmax(total, 1e-9);
    HAUL_TRY(group->sizes == 1 && samples[0].copy.bytes
                 ? fit_rate(samples, count, group, error)
                 : haul_fit_curve(samples, count, max_points, HAUL_FIT_RELATIVE, &group->curve,
                                  &group->of_curve, error));
    HAUL_TRY(
        pardon(haul_fit_line_average(samples, count, &group->average, &group->of_average, error)));
    return pardon(
        haul_fit_line_relative(samples, count, &group->relative, &group->of_relative, error));
}

/* The largest size tells the rate best. Traffic the other way can slow a copy, never speed it up:
 * what is above the rate of copies alone is the measurement's noise. */
static haul_parameter rate_of(const haul_sample *samples, size_t count, const haul_fit_group *group)
{
    size_t first = count - 1;
    while (first > 0 && samples[first - 1].copy.bytes == samples[count - 1].copy.bytes)
        first--;
    const double latency_s = fmax(group->relative.latency_s.value, 0);
    const double median_s = median_of(samples + first, count - first);
    const double alone = group->relative.rate_Bps.value > 0 ? group->relative.rate_Bps.value
                                                            : group->curve.rate_Bps.value;
    const double bytes = (double)samples[first].copy.bytes;
    const double found = bytes / fmax(median_s - fmin(latency_s, median_s / 2), 1e-9);
    return (haul_parameter){alone > 0 ? fmin(found, alone) : found, HAUL_PROVENANCE_FITTED, NULL};
}

/* Samples of one condition other than alone. */
static haul_status fit_condition(const haul_sample *samples, size_t count, haul_fit_group *group,
                                 haul_error *error)
{
    const haul_condition condition = samples[0].condition;
    group->of_condition[condition] = count;
    if (condition == HAUL_CONDITION_GAP) {
        /* they are sorted by bytes, which mean nothing to a gap */
        double *gaps = malloc(count * sizeof *gaps);
        if (!gaps)
            return hl_base_fail_no_memory(error);
        for (size_t i = 0; i < count; i++)
            gaps[i] = samples[i].seconds;
        group->curve.gap_s =
            (haul_parameter){hl_base_median(gaps, count), HAUL_PROVENANCE_FITTED, NULL};
        free(gaps);
        return HAUL_OK;
    }
    if (!samples[count - 1].copy.bytes)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "copies of no bytes tell no rate");
    *(condition == HAUL_CONDITION_BUSY ? &group->curve.busy_rate_Bps
                                       : &group->curve.mapped_rate_Bps) =
        rate_of(samples, count, group);
    return HAUL_OK;
}

/* Copies that ran alone come first; those under other conditions add their rates to that curve. */
static haul_status fit_all(const haul_sample *samples, size_t count, size_t max_points,
                           haul_fit_group *group, haul_error *error)
{
    haul_status status = HAUL_OK;
    const haul_copy *copy = &samples[0].copy;
    *group = (haul_fit_group){.curve = {.direction = copy->direction,
                                        .memory = copy->memory,
                                        .locality = copy->locality}};
    for (size_t i = 0, end; !status && i < count; i = end) {
        for (end = i + 1; end < count && samples[end].condition == samples[i].condition; end++)
            ;
        if (samples[i].condition == HAUL_CONDITION_ALONE) {
            status = fit_group(&samples[i], end - i, max_points, group, error);
            group->of_condition[HAUL_CONDITION_ALONE] = end - i;
        } else {
            status = fit_condition(&samples[i], end - i, group, error);
        }
    }
    return status;
}

haul_status haul_fit_groups(const haul_samples *samples, size_t max_points, haul_fit_group **groups,
                            size_t *count, haul_error *error)
{
    HAUL_TRY(hl_cost_samples_check(samples->items, samples->count, error));
    const size_t count_all = samples->count;
    haul_sample *sorted = malloc(count_all * sizeof *sorted);
    if (!sorted)
        return hl_base_fail_no_memory(error);
    memcpy(sorted, samples->items, count_all * sizeof *sorted);
    qsort(sorted, count_all, sizeof *sorted, compare_samples);
    size_t found = 1, at = 0;
    for (size_t i = 1; i < count_all; i++)
        found += !same_group(&sorted[i - 1].copy, &sorted[i].copy);
    haul_fit_group *fitted = calloc(found, sizeof *fitted);
    if (!fitted) {
        free(sorted);
        return hl_base_fail_no_memory(error);
    }
    haul_status status = HAUL_OK;
    for (size_t i = 0, end; !status && i < count_all; i = end) {
        for (end = i + 1; end < count_all && same_group(&sorted[i].copy, &sorted[end].copy); end++)
            ;
        status = fit_all(&sorted[i], end - i, max_points, &fitted[at++], error);
    }
    free(sorted);
    if (status) {
        free(fitted);
        return status;
    }
    *groups = fitted;
    *count = found;
    return HAUL_OK;
}

void haul_fit_groups_free(haul_fit_group *groups)
{
    free(groups);
}
