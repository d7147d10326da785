/* Copies of one size that met different traffic of the other direction took different times: the
 * spread tells how much of its speed a copy loses, without a measurement of copies alone. */
#include "project/contention.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/stats.h"
#include "project/traffic.h"

enum {
    FOLDS = 10,
    SAMPLES = 16384,  /* of one direction and memory: enough for k to within a percent */
    LOSS_LIMIT = 950, /* thousandths of the speed */
};

typedef struct sample {
    double time;
    double share;
    size_t class_id;
} sample;

/* Copies of one direction and memory, those of a class together. A fold holds those whose number
 * leaves it as the remainder; FOLDS is no fold. */
typedef struct sample_set {
    sample *items;
    size_t count;
    double *scratch;
} sample_set;

/* Copies of a class stand together. */
static size_t class_end(const sample_set *set, size_t begin)
{
    size_t end = begin;
    while (end < set->count && set->items[end].class_id == set->items[begin].class_id)
        end++;
    return end;
}

/* The median of what the copies in [begin, end), less those of `fold`, would take alone; negative
 * where none is left. */
static double base_time(const sample_set *set, size_t begin, size_t end, size_t fold, double loss)
{
    size_t count = 0;
    for (size_t i = begin; i < end; i++)
        if (i % FOLDS != fold)
            set->scratch[count++] = set->items[i].time * (1 - loss * set->items[i].share);
    return count ? hl_base_median_of_many(set->scratch, count) : -1;
}

/* t = base / (1 - kx): see contention.h. */
static double error_of(const sample *copy, double base, double loss)
{
    return fabs(base / (1 - loss * copy->share) - copy->time);
}

/* The error of all copies with k = `loss`, each class with the base that suits that k best. */
static double fit_error(const sample_set *set, size_t fold, double loss)
{
    double sum = 0;
    for (size_t begin = 0, end; begin < set->count; begin = end) {
        end = class_end(set, begin);
        const double base = base_time(set, begin, end, fold, loss);
        for (size_t i = begin; i < end; i++)
            if (i % FOLDS != fold)
                sum += error_of(&set->items[i], base, loss);
    }
    return sum;
}

/* The k of least absolute error over all copies but those of `fold`, to 0.001: the best of a grid
 * of tenths, then of hundredths and thousandths about it. */
static double fit_loss(const sample_set *set, size_t fold)
{
    int best = 0; /* thousandths */
    double least = fit_error(set, fold, 0);
    for (int step = 100, low = 0, high = LOSS_LIMIT; step; step /= 10) {
        for (int loss = low; loss <= high; loss += step) {
            const double sum = fit_error(set, fold, loss / 1000.0);
            if (sum < least) {
                least = sum;
                best = loss;
            }
        }
        low = best > step ? best - step : 0;
        high = best + step < LOSS_LIMIT ? best + step : LOSS_LIMIT;
    }
    return best / 1000.0;
}

/* Whether k, fitted without a fold, gains on the copies of the folds over no k by more than twice
 * the standard error of the gain. */
static bool pays(const sample_set *set)
{
    double sum = 0, squares = 0, n = 0;
    for (size_t fold = 0; fold < FOLDS; fold++) {
        const double loss = fit_loss(set, fold);
        for (size_t begin = 0, end; begin < set->count; begin = end) {
            end = class_end(set, begin);
            const double plain = base_time(set, begin, end, fold, 0);
            const double base = base_time(set, begin, end, fold, loss);
            for (size_t i = begin; i < end && base >= 0; i++) {
                const double gained =
                    error_of(&set->items[i], plain, 0) - error_of(&set->items[i], base, loss);
                const bool is_held_out = i % FOLDS == fold;
                sum += is_held_out ? gained : 0;
                squares += is_held_out ? gained * gained : 0;
                n += is_held_out;
            }
        }
    }
    const double mean = sum / n, variance = fmax(0, squares / n - mean * mean);
    return n >= 2 && mean > 2 * sqrt(variance / (n - 1));
}

/* Copies of the classes that have an equal. */
static void gather_samples(const haul_workload *workload, const hl_project_size_classes *classes,
                           const float *share, hl_project_class_range range, sample_set *set)
{
    const hl_project_size_stride stride = hl_project_size_thin(classes, range, SAMPLES);
    set->count = 0;
    for (size_t c = range.begin; c < range.end; c += stride.classes) {
        const hl_project_size_class *self = &classes->items[c];
        if (self->count < 2)
            continue;
        for (size_t k = 0; k < self->count; k += stride.copies) {
            const uint32_t op = classes->ops[self->first + k];
            set->items[set->count++] =
                (sample){(double)workload->ops[op].dur_ns, (double)share[op], c};
        }
    }
}

/* Pinned and pageable copies lose differently, and so do the directions: each is fitted alone, and
 * only where some copy met traffic. */
static haul_status fit_groups(const haul_workload *workload, const hl_project_size_classes *classes,
                              hl_project_contention *self, haul_error *error)
{
    sample_set set = {.items = malloc(2 * (size_t)SAMPLES * sizeof *set.items),
                      .scratch = malloc(2 * (size_t)SAMPLES * sizeof *set.scratch)};
    const bool ready = set.items && set.scratch;
    for (hl_project_class_range range = {0}; ready && range.end < classes->count;) {
        range = hl_project_size_group(classes, range.end);
        uint64_t contended = 0;
        for (size_t c = range.begin; c < range.end; c++)
            for (uint32_t i = 0; i < classes->items[c].count; i++)
                contended += self->share[classes->ops[classes->items[c].first + i]] > 0;
        if (!contended)
            continue;
        const hl_project_size_class *first = &classes->items[range.begin];
        self->contended[first->direction][first->memory] = contended;
        gather_samples(workload, classes, self->share, range, &set);
        if (pays(&set))
            self->loss[first->direction][first->memory] = fit_loss(&set, FOLDS);
    }
    free(set.items);
    free(set.scratch);
    return ready ? HAUL_OK : hl_base_fail_no_memory(error);
}

haul_status hl_project_contention_find(const haul_workload *workload,
                                       const hl_project_size_classes *classes,
                                       hl_project_contention *contention, haul_error *error)
{
    hl_project_contention found = {.share = calloc(workload->op_count + 1, sizeof *found.share)};
    if (!found.share)
        return hl_base_fail_no_memory(error);
    haul_status status = hl_project_traffic_shares(workload, HAUL_DIRECTION_HTOD,
                                                   HAUL_DIRECTION_DTOH, found.share, error);
    if (!status)
        status = hl_project_traffic_shares(workload, HAUL_DIRECTION_DTOH, HAUL_DIRECTION_HTOD,
                                           found.share, error);
    bool any = false;
    for (size_t i = 0; !any && i < workload->op_count; i++)
        any = found.share[i] > 0;
    if (!status && any)
        status = fit_groups(workload, classes, &found, error);
    if (status || !any) {
        free(found.share);
        found.share = NULL;
    }
    if (!status)
        *contention = found;
    return status;
}

void hl_project_contention_release(hl_project_contention *contention)
{
    free(contention->share);
    *contention = (hl_project_contention){0};
}

/* Kinds of memory that are not told apart have no loss of their own. */
double hl_project_contention_speed(const hl_project_contention *contention,
                                   const hl_project_size_class *one, uint32_t op)
{
    if (!contention->share || one->memory >= HAUL_MEMORIES)
        return 1;
    return 1 - contention->loss[one->direction][one->memory] * (double)contention->share[op];
}
