/* The self-check of collectives: a curve over sizes, fitted to a profile's own, beside the spread
 * of equal ones, below which no model of size can go. */
#include "cost/collective_check.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/fail.h"
#include "base/stats.h"

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
    return hl_base_compare_unsigned(x->of.bytes, y->of.bytes);
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
    /* sum |t - median| of those of equal size; `seconds` has room for all. */
    double sum_s = 0;
    for (size_t first = 0, end = 0; first < count; first = end) {
        for (; end < count && items[end].of.bytes == items[first].of.bytes; end++)
            seconds[end - first] = items[end].seconds;
        const double median = hl_base_median(seconds, end - first);
        for (size_t i = first; i < end; i++)
            sum_s += fabs(items[i].seconds - median);
    }
    check->spread = 100 * sum_s / check->time_s;
    return haul_fit_curve(samples, count, POINTS, HAUL_FIT_TIME, &curve, &check->of, error);
}

static size_t gather_collectives(const haul_workload *workload, one *items)
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

/* Room for all collectives of a workload. */
typedef struct checker {
    one *items;
    haul_sample *samples;
    double *seconds;
    haul_collective_check *made;
    size_t count, made_count;
} checker;

static haul_status check_all(checker *self, haul_error *error)
{
    for (size_t first = 0, end = 0; first < self->count; first = end) {
        while (end < self->count && self->items[first].of.kind == self->items[end].of.kind &&
               self->items[first].of.ranks == self->items[end].of.ranks)
            end++;
        HAUL_TRY(check_group(self->items + first, end - first, self->samples, self->seconds,
                             &self->made[self->made_count++], error));
    }
    return HAUL_OK;
}

/* The sums over all rows. */
static haul_collective_check sum_of(const checker *self)
{
    haul_collective_check sum = {0};
    for (size_t i = 0; i < self->made_count; i++) {
        const haul_collective_check *row = &self->made[i];
        sum.count += row->count;
        sum.time_s += row->time_s;
        sum.of.wape += row->of.wape * row->time_s;
        sum.spread += row->spread * row->time_s;
    }
    if (self->made_count) {
        sum.of.wape /= sum.time_s;
        sum.spread /= sum.time_s;
    }
    return sum;
}

haul_status hl_cost_collective_check_make(const haul_workload *workload,
                                          haul_collective_check **checks, size_t *count,
                                          haul_collective_check *all, haul_error *error)
{
    checker self = {.count = gather_collectives(workload, NULL)};
    const size_t room = self.count + 1;
    self.items = malloc(room * sizeof *self.items);
    self.samples = malloc(room * sizeof *self.samples);
    self.seconds = malloc(room * sizeof *self.seconds);
    self.made = malloc(room * sizeof *self.made);
    haul_status status = HAUL_STATUS_NO_MEMORY;
    if (!self.items || !self.samples || !self.seconds || !self.made) {
        (void)hl_base_fail_no_memory(error);
    } else {
        gather_collectives(workload, self.items);
        qsort(self.items, self.count, sizeof *self.items, by_size);
        status = check_all(&self, error);
    }
    free(self.items);
    free(self.samples);
    free(self.seconds);
    if (status) {
        free(self.made);
        return status;
    }
    *checks = self.made;
    *count = self.made_count;
    *all = sum_of(&self);
    return HAUL_OK;
}
