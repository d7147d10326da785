/* Copies of one direction, memory and locality are fitted together, and each in three ways: the
 * two lines of CCGrid 2014 and the bent curve, so that a report can say which serves. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/stats.h"
#include "cost/curve.h"

/* By group, then size, then time. */
static int compare_samples(const void *a, const void *b)
{
    const haul_sample *x = a, *y = b;
    if (x->copy.direction != y->copy.direction)
        return x->copy.direction < y->copy.direction ? -1 : 1;
    if (x->copy.memory != y->copy.memory)
        return x->copy.memory < y->copy.memory ? -1 : 1;
    if (x->copy.locality != y->copy.locality)
        return x->copy.locality < y->copy.locality ? -1 : 1;
    if (x->copy.bytes != y->copy.bytes)
        return x->copy.bytes < y->copy.bytes ? -1 : 1;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

static bool same_group(const haul_copy *a, const haul_copy *b)
{
    return a->direction == b->direction && a->memory == b->memory && a->locality == b->locality;
}

/* Counts sizes of sorted samples and measures their spread. */
static void measure_spread(const haul_sample *samples, size_t count, haul_fit_group *group)
{
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
}

/* Copies of one size tell a rate at most: what of it is latency they do not say. */
static haul_status fit_rate(const haul_sample *samples, size_t count, haul_fit_group *group,
                            haul_error *error)
{
    const double median = (samples[(count - 1) / 2].seconds + samples[count / 2].seconds) / 2;
    const haul_copy *copy = &samples[0].copy;
    group->curve = (haul_copy_curve){
        .direction = copy->direction,
        .memory = copy->memory,
        .locality = copy->locality,
        .rate_Bps = {.value = (double)copy->bytes / fmax(median, 1e-9), .provenance = HAUL_FITTED},
    };
    return haul_curve_score(&group->curve, samples, count, &group->of_curve, error);
}

/* A line that does not fit (two sizes at least, times that grow) is left out. */
static haul_status pardon(haul_status status)
{
    return status == HAUL_MISSING ? HAUL_OK : status;
}

/* The curve must succeed. The two lines of the paper are for comparison, and may be missing. */
static haul_status fit_group(const haul_sample *samples, size_t count, size_t max_points,
                             haul_fit_group *group, haul_error *error)
{
    *group = (haul_fit_group){0};
    measure_spread(samples, count, group);
    haul_status status = group->sizes == 1 && samples[0].copy.bytes
                             ? fit_rate(samples, count, group, error)
                             : haul_fit_curve(samples, count, max_points, HAUL_FIT_RELATIVE,
                                              &group->curve, &group->of_curve, error);
    if (!status)
        status = pardon(
            haul_fit_line_average(samples, count, &group->average, &group->of_average, error));
    if (!status)
        status = pardon(
            haul_fit_line_relative(samples, count, &group->relative, &group->of_relative, error));
    return status;
}

haul_status haul_fit_groups(const haul_samples *samples, size_t max_points, haul_fit_group **groups,
                            size_t *count, haul_error *error)
{
    haul_status status = haul_samples_check(samples->items, samples->count, error);
    if (status)
        return status;
    const size_t count_all = samples->count;
    haul_sample *sorted = malloc(count_all * sizeof *sorted);
    if (!sorted)
        return haul_fail_no_memory(error);
    memcpy(sorted, samples->items, count_all * sizeof *sorted);
    qsort(sorted, count_all, sizeof *sorted, compare_samples);
    size_t found = 1, at = 0;
    for (size_t i = 1; i < count_all; i++)
        found += !same_group(&sorted[i - 1].copy, &sorted[i].copy);
    haul_fit_group *fitted = calloc(found, sizeof *fitted);
    if (!fitted) {
        free(sorted);
        return haul_fail_no_memory(error);
    }
    for (size_t i = 0, end; !status && i < count_all; i = end) {
        for (end = i + 1; end < count_all && same_group(&sorted[i].copy, &sorted[end].copy); end++)
            ;
        status = fit_group(&sorted[i], end - i, max_points, &fitted[at++], error);
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
