/* The self-check of collectives: a curve over sizes, fitted to a profile's own, beside the spread
 * of equal ones, below which no model of size can go. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/stats.h"
#include "haul/collective_time.h"

enum { POINTS = 8 };

typedef struct one {
    haul_communication of;
    double seconds;
} one;

static int by_size(const void *a, const void *b)
{
    const one *x = a, *y = b;
    if (x->of.kind != y->of.kind)
        return x->of.kind < y->of.kind ? -1 : 1;
    if (x->of.ranks != y->of.ranks)
        return x->of.ranks < y->of.ranks ? -1 : 1;
    return (x->of.bytes > y->of.bytes) - (x->of.bytes < y->of.bytes);
}

static bool is_group(const one *a, const one *b)
{
    return a->of.kind == b->of.kind && a->of.ranks == b->of.ranks;
}

/* sum |t - median| of those of equal size; `seconds` has room for all. */
static double spread_s(const one *items, size_t count, double *seconds)
{
    double sum_s = 0;
    for (size_t first = 0, end = 0; first < count; first = end) {
        for (; end < count && items[end].of.bytes == items[first].of.bytes; end++)
            seconds[end - first] = items[end].seconds;
        const double median = haul_median(seconds, end - first);
        for (size_t i = first; i < end; i++)
            sum_s += fabs(items[i].seconds - median);
    }
    return sum_s;
}

static haul_status check_group(const one *items, size_t count, haul_sample *samples,
                               double *seconds, haul_collective_check *check, haul_error *error)
{
    haul_copy_curve curve;
    *check = (haul_collective_check){
        .kind = items[0].of.kind, .ranks = items[0].of.ranks, .count = count};
    for (size_t i = 0; i < count; i++) {
        samples[i] =
            (haul_sample){.copy = {.bytes = items[i].of.bytes}, .seconds = items[i].seconds};
        check->time_s += items[i].seconds;
    }
    check->spread = 100 * spread_s(items, count, seconds) / check->time_s;
    return haul_fit_curve(samples, count, POINTS, HAUL_FIT_TIME, &curve, &check->of, error);
}

static size_t gather(const haul_workload *workload, one *items)
{
    size_t count = 0;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (!haul_op_is_collective(op) || op->dur_ns <= 0)
            continue;
        const haul_communication of = haul_communication_of(workload, op);
        if (of.bytes && items)
            items[count] = (one){of, 1e-9 * (double)op->dur_ns};
        count += of.bytes > 0;
    }
    return count;
}

static haul_status check_all(const one *items, size_t count, haul_sample *samples, double *seconds,
                             haul_collective_check *made, size_t *made_count, haul_error *error)
{
    haul_status status = HAUL_OK;
    *made_count = 0;
    for (size_t first = 0, end = 0; !status && first < count; first = end) {
        while (end < count && is_group(&items[first], &items[end]))
            end++;
        status = check_group(items + first, end - first, samples, seconds, &made[(*made_count)++],
                             error);
    }
    return status;
}

haul_status haul_collective_check_make(const haul_workload *workload,
                                       haul_collective_check **checks, size_t *count,
                                       haul_collective_check *all, haul_error *error)
{
    const size_t found = gather(workload, NULL);
    one *items = malloc((found + 1) * sizeof *items);
    haul_sample *samples = malloc((found + 1) * sizeof *samples);
    double *seconds = malloc((found + 1) * sizeof *seconds);
    haul_collective_check *made = malloc((found + 1) * sizeof *made), sum = {0};
    size_t made_count = 0;
    haul_status status = HAUL_NO_MEMORY;
    if (!items || !samples || !seconds || !made) {
        (void)haul_fail_no_memory(error);
    } else {
        gather(workload, items);
        qsort(items, found, sizeof *items, by_size);
        status = check_all(items, found, samples, seconds, made, &made_count, error);
    }
    free(items);
    free(samples);
    free(seconds);
    if (status) {
        free(made);
        return status;
    }
    for (size_t i = 0; i < made_count; i++) {
        sum.count += made[i].count;
        sum.time_s += made[i].time_s;
        sum.of.wape += made[i].of.wape * made[i].time_s;
        sum.spread += made[i].spread * made[i].time_s;
    }
    if (made_count) {
        sum.of.wape /= sum.time_s;
        sum.spread /= sum.time_s;
    }
    *checks = made;
    *count = made_count;
    *all = sum;
    return HAUL_OK;
}
