/* Curves fitted to half of the rows of transfers.csv, tested on the other half. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accuracy.h"
#include "base/fail.h"
#include "base/grow.h"
#include "base/stats.h"
#include "cost/curve.h"
#include "transfer_rows.h"

enum { POINTS = 4, LEAST_ROWS = 8 };

/* Relative errors in percent. */
typedef struct miss_pair {
    double median;
    double p90;
} miss_pair;

/* One halving of a group: rows 1, 3, 5 ... are fitted, rows 2, 4, 6 ... tested. */
typedef struct halves {
    haul_sample *fitted;
    haul_sample *tested;
    size_t fit_count;
    size_t test_count;
    double *errors; /* room for those tested */
} halves;

/* What a halving gives. */
typedef struct trial {
    miss_pair line;
    miss_pair curve;
    miss_pair interpolated; /* straight between the medians of all fitted sizes */
    size_t outside;         /* tested rows smaller or larger than all that are fitted */
} trial;

typedef struct group_result {
    const transfer_group *group;
    size_t sizes;
    miss_pair spread;      /* of rows of equal size about their median */
    size_t repeated;       /* rows whose size others have too */
    miss_pair near_spread; /* the same of rows whose sizes differ by at most 1 % */
    size_t near_repeated;
    double range; /* of the copies behind one row: median of 100 (max - min) / median */
    double step;  /* median ratio of neighbouring sizes */
    bool coarse;  /* the clock was of whole microseconds */
    double median_s;
    trial by_file;
    trial by_size;
} group_result;

/* The tested rows of one kind of memory, and the groups. */
typedef struct row_pool {
    const char *name;
    double goal;
    double *errors;
    size_t count;
    size_t capacity;
    double *medians;
    size_t groups;
    size_t group_capacity;
    size_t reached;
    size_t reachable; /* by straight lines between all fitted sizes */
} row_pool;

static int compare_samples(const void *a, const void *b)
{
    const haul_sample *x = a, *y = b;
    if (x->copy.bytes != y->copy.bytes)
        return x->copy.bytes < y->copy.bytes ? -1 : 1;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

static miss_pair miss_of(double *errors, size_t count)
{
    haul_sort_doubles(errors, count);
    return (miss_pair){haul_quantile_sorted(errors, count, 0.5),
                       haul_quantile_sorted(errors, count, 0.9)};
}

static haul_status make_halves(const haul_sample *samples, size_t count, halves *out,
                               haul_error *error)
{
    const size_t half = count / 2 + 1;
    haul_sample *rows = calloc(2 * half, sizeof *rows);
    double *errors = calloc(half, sizeof *errors);
    if (!rows || !errors) {
        free(rows);
        free(errors);
        return haul_fail_no_memory(error);
    }
    *out = (halves){.fitted = rows, .tested = rows + half, .errors = errors};
    for (size_t i = 0; i < count; i++)
        if (i % 2)
            out->tested[out->test_count++] = samples[i];
        else
            out->fitted[out->fit_count++] = samples[i];
    return HAUL_OK;
}

static void release_halves(halves *self)
{
    free(self->fitted);
    free(self->errors);
}

/* Errors of a curve on the tested rows, in their order. */
static void measure_errors(const halves *self, const haul_copy_curve *curve)
{
    for (size_t i = 0; i < self->test_count; i++) {
        const haul_sample *row = &self->tested[i];
        const double seconds = haul_fitted_seconds(curve, (double)row->copy.bytes);
        self->errors[i] = 100 * fabs(seconds - row->seconds) / row->seconds;
    }
}

/* Sorts samples and leaves one a size, with the median; returns how many. */
static size_t merge_sizes(haul_sample *samples, size_t count)
{
    size_t merged = 0;
    qsort(samples, count, sizeof *samples, compare_samples);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && samples[end].copy.bytes == samples[i].copy.bytes; end++)
            ;
        const size_t last = i + end - 1;
        samples[merged] = samples[i];
        samples[merged++].seconds =
            (samples[last / 2].seconds + samples[(last + 1) / 2].seconds) / 2;
    }
    return merged;
}

static double interpolate(const haul_sample *sizes, size_t count, double bytes)
{
    if (count == 1)
        return sizes[0].seconds;
    size_t right = 1;
    while (right + 1 < count && bytes > (double)sizes[right].copy.bytes)
        right++;
    const double start = (double)sizes[right - 1].copy.bytes, end = (double)sizes[right].copy.bytes;
    const double share = (bytes - start) / (end - start);
    return sizes[right - 1].seconds + share * (sizes[right].seconds - sizes[right - 1].seconds);
}

/* Merges the fitted rows. */
static miss_pair miss_of_interpolation(halves *self)
{
    const size_t sizes = merge_sizes(self->fitted, self->fit_count);
    for (size_t i = 0; i < self->test_count; i++) {
        const haul_sample *row = &self->tested[i];
        const double seconds = interpolate(self->fitted, sizes, (double)row->copy.bytes);
        self->errors[i] = 100 * fabs(seconds - row->seconds) / row->seconds;
    }
    return miss_of(self->errors, self->test_count);
}

static haul_status pool_errors(row_pool *self, const double *errors, size_t count,
                               haul_error *error)
{
    if (!haul_grow(&self->errors, &self->capacity, self->count + count, sizeof *errors))
        return haul_fail_no_memory(error);
    memcpy(self->errors + self->count, errors, count * sizeof *errors);
    self->count += count;
    return HAUL_OK;
}

static size_t count_outside(const halves *self)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < self->fit_count; i++) {
        const uint64_t bytes = self->fitted[i].copy.bytes;
        least = bytes < least ? bytes : least;
        most = bytes > most ? bytes : most;
    }
    size_t outside = 0;
    for (size_t i = 0; i < self->test_count; i++)
        outside += self->tested[i].copy.bytes < least || self->tested[i].copy.bytes > most;
    return outside;
}

/* `into` may be NULL. */
static haul_status try_halves(halves *self, trial *out, row_pool *into, haul_error *error)
{
    haul_copy_curve line, curve;
    haul_status status = haul_fit_line_relative(self->fitted, self->fit_count, &line, NULL, error);
    if (!status)
        status = haul_fit_curve(self->fitted, self->fit_count, POINTS, HAUL_FIT_RELATIVE, &curve,
                                NULL, error);
    if (status)
        return status;
    out->outside = count_outside(self);
    measure_errors(self, &line);
    out->line = miss_of(self->errors, self->test_count);
    measure_errors(self, &curve);
    if (into)
        status = pool_errors(into, self->errors, self->test_count, error);
    out->curve = miss_of(self->errors, self->test_count);
    out->interpolated = miss_of_interpolation(self);
    return status;
}

/* Whether a clock of whole microseconds wrote all times: the median of an even number of copies may
 * have half of one. */
static bool has_coarse_clock(const haul_sample *samples, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fabs(remainder(samples[i].seconds, 0.5e-6)) > 1e-9)
            return false;
    return true;
}

/* The spread about their median of sorted samples whose sizes differ by at most `share`; returns
 * how many have others beside them. */
static size_t measure_spread(haul_sample *sorted, size_t count, double share, double *errors,
                             miss_pair *out)
{
    size_t repeated = 0;
    for (size_t i = 0, end; i < count; i = end) {
        const double most = (double)sorted[i].copy.bytes * (1 + share);
        for (end = i + 1; end < count && (double)sorted[end].copy.bytes <= most; end++)
            ;
        const size_t start = repeated;
        for (size_t k = i; end - i > 1 && k < end; k++)
            errors[repeated++] = sorted[k].seconds;
        if (repeated == start)
            continue;
        const double median = haul_median(errors + start, repeated - start);
        for (size_t k = start; k < repeated; k++)
            errors[k] = 100 * fabs(errors[k] - median) / median;
    }
    if (repeated)
        *out = miss_of(errors, repeated);
    return repeated;
}

/* Between distinct sizes, zero left out; 1 where there are no two. */
static double median_step(const haul_sample *sorted, size_t count, double *ratios)
{
    size_t steps = 0;
    for (size_t i = 1; i < count; i++)
        if (sorted[i - 1].copy.bytes && sorted[i].copy.bytes != sorted[i - 1].copy.bytes)
            ratios[steps++] = (double)sorted[i].copy.bytes / (double)sorted[i - 1].copy.bytes;
    return steps ? haul_median(ratios, steps) : 1;
}

/* What the rows tell of themselves; `sorted` and `errors` are as long as the group. */
static void describe(const transfer_group *group, haul_sample *sorted, double *errors,
                     group_result *out)
{
    const size_t count = group->count;
    out->coarse = has_coarse_clock(sorted, count);
    out->repeated = measure_spread(sorted, count, 0, errors, &out->spread);
    out->near_repeated = measure_spread(sorted, count, 0.01, errors, &out->near_spread);
    for (size_t i = 0; i < count; i++) {
        out->sizes += !i || sorted[i].copy.bytes != sorted[i - 1].copy.bytes;
        errors[i] = sorted[i].seconds;
    }
    out->median_s = haul_median(errors, count);
    out->step = median_step(sorted, count, errors);
    if (group->range_count)
        out->range = haul_median(group->ranges, group->range_count);
}

static haul_status try_samples(const haul_sample *samples, size_t count, trial *out, row_pool *into,
                               haul_error *error)
{
    halves halved = {0};
    haul_status status = make_halves(samples, count, &halved, error);
    if (status)
        return status;
    status = try_halves(&halved, out, into, error);
    release_halves(&halved);
    return status;
}

static haul_status try_group(const transfer_group *group, row_pool *into, group_result *out,
                             haul_error *error)
{
    *out = (group_result){.group = group};
    haul_status status = try_samples(group->samples, group->count, &out->by_file, into, error);
    if (status)
        return status;
    haul_sample *sorted = calloc(group->count, sizeof *sorted);
    double *errors = calloc(group->count, sizeof *errors);
    if (sorted && errors) {
        memcpy(sorted, group->samples, group->count * sizeof *sorted);
        qsort(sorted, group->count, sizeof *sorted, compare_samples);
        describe(group, sorted, errors, out);
        status = try_samples(sorted, group->count, &out->by_size, NULL, error);
    } else {
        status = haul_fail_no_memory(error);
    }
    free(sorted);
    free(errors);
    return status;
}

static void print_miss(miss_pair miss, FILE *out)
{
    fprintf(out, " %.2f / %.1f |", miss.median, miss.p90);
}

static void print_copy(const transfer_group *group, FILE *out)
{
    const haul_copy *copy = &group->samples[0].copy;
    fprintf(out, "%s%s%s | %s %s", group->gpu, *group->node ? ", " : "", group->node,
            haul_direction_text(copy->direction), haul_memory_text(copy->memory));
}

static void print_row(const group_result *result, FILE *out)
{
    fputs("| ", out);
    print_copy(result->group, out);
    fprintf(out, " | %zu | %zu |", result->group->count, result->sizes);
    print_miss(result->by_file.line, out);
    print_miss(result->by_file.curve, out);
    print_miss(result->by_file.interpolated, out);
    print_miss(result->by_size.line, out);
    print_miss(result->by_size.curve, out);
    print_miss(result->by_size.interpolated, out);
    if (result->repeated)
        print_miss(result->spread, out);
    else
        fputs(" - |", out);
    fputc('\n', out);
}

/* Why a group misses, from its numbers. */
static void print_cause(const group_result *result, double goal, FILE *out)
{
    const double half_tick = 100 * 0.5e-6 / result->median_s;
    const size_t tested = result->group->count / 2;
    fputs("- ", out);
    print_copy(result->group, out);
    fprintf(out, ": %.2f %%;", result->by_file.curve.median);
    if (result->coarse && half_tick > goal)
        fprintf(out, " its clock ticks in 1 us, half of it is %.1f %% of the median time;",
                half_tick);
    if (result->repeated && result->spread.median > goal && result->group->programs > 1)
        fprintf(out, " rows of one size, from %zu programs, lie %.1f %% from their median;",
                result->group->programs, result->spread.median);
    else if (result->near_repeated && result->near_spread.median > goal)
        fprintf(out, " rows whose sizes differ by less than 1 %% lie %.1f %% from their median;",
                result->near_spread.median);
    if (result->range > goal)
        fprintf(out, " the copies behind a row range over %.0f %% of its time;", result->range);
    if (tested < 10)
        fprintf(out, " only %zu rows are tested;", tested);
    if (result->by_file.outside > 1)
        fprintf(out, " %zu of %zu tested rows are larger or smaller than all fitted;",
                result->by_file.outside, tested);
    if (result->step >= 1.5 && result->range <= goal)
        fprintf(out, " sizes lie a factor of %.3g apart, and every second is fitted;",
                result->step);
    fprintf(out, " straight lines between all fitted sizes give %.2f %%",
            result->by_file.interpolated.median);
    if (result->by_file.interpolated.median <= goal)
        fprintf(out, ": %d points are too few for its shape", POINTS);
    fputs("\n", out);
}

static row_pool *pool_of(const transfer_group *group, row_pool *pools)
{
    const haul_memory memory = group->samples[0].copy.memory;
    if (!strcmp(group->node, "both"))
        return NULL;
    return memory == HAUL_PINNED ? &pools[0] : memory == HAUL_PAGEABLE ? &pools[1] : NULL;
}

static haul_status count_group(row_pool *self, const group_result *result, haul_error *error)
{
    if (!haul_grow(&self->medians, &self->group_capacity, self->groups + 1, sizeof(double)))
        return haul_fail_no_memory(error);
    const double median = result->by_file.curve.median;
    self->medians[self->groups++] = median;
    self->reached += median <= self->goal;
    self->reachable += result->by_file.interpolated.median <= self->goal;
    return HAUL_OK;
}

static void print_pool(row_pool *self, FILE *out)
{
    if (!self->groups)
        return;
    const miss_pair rows = miss_of(self->errors, self->count);
    fprintf(
        out,
        "- %s: goal %.1f %%, reached by %zu of %zu groups (by %zu with straight lines between all "
        "fitted sizes); median of the groups %.2f %%; over all %zu tested rows median %.2f %%, "
        "90th percentile %.1f %%.\n",
        self->name, self->goal, self->reached, self->groups, self->reachable,
        haul_median(self->medians, self->groups), self->count, rows.median, rows.p90);
}

static void print_heads(FILE *out)
{
    fprintf(out,
            "## Copies: curves fitted to half of the rows, tested on the other half\n\n"
            "Data: `transfers/transfers.csv`, each GPU, direction and kind of memory on its own, "
            "groups of at least %d rows; `near` and `far` are the two NUMA nodes of the V100's "
            "node, `both` is what comes of mixing them. Rows 1, 3, 5, ... are fitted and rows 2, "
            "4, 6, ... tested, in the order of the file and again sorted by size. Relative error "
            "in percent, median / 90th percentile, of a line (weighted least squares), of a "
            "curve of at most %d points (`haul machine fit`: %d figures) and, as the bound for "
            "any curve, of straight lines between the medians of all fitted sizes. Last column: "
            "how far rows of one size lie from their median, where a size has several.\n\n"
            "| GPU | copies | rows | sizes | line | curve | interpolation | sorted: line | curve | "
            "interpolation | equal sizes |\n"
            "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
            LEAST_ROWS, POINTS, 2 * POINTS);
}

static haul_status write_all(const transfer_groups *groups, group_result *results, row_pool *pools,
                             FILE *out, haul_error *error)
{
    print_heads(out);
    for (size_t i = 0; i < groups->count; i++) {
        const transfer_group *group = &groups->items[i];
        if (group->count < LEAST_ROWS)
            continue;
        row_pool *into = pool_of(group, pools);
        haul_status status = try_group(group, into, &results[i], error);
        if (!status && into)
            status = count_group(into, &results[i], error);
        if (status)
            return status;
        print_row(&results[i], out);
    }
    fputs("\n", out);
    for (int i = 0; i < 2; i++)
        print_pool(&pools[i], out);
    fputs("\nGroups that miss their goal in the order of the file, and what their numbers say:\n\n",
          out);
    for (size_t i = 0; i < groups->count; i++) {
        const row_pool *into = results[i].group ? pool_of(results[i].group, pools) : NULL;
        if (into && results[i].by_file.curve.median > into->goal)
            print_cause(&results[i], into->goal, out);
    }
    return HAUL_OK;
}

static haul_status write_section(const char *data, FILE *out, haul_error *error)
{
    transfer_groups groups;
    haul_status status = transfer_groups_read(data, &groups, error);
    if (status)
        return status;
    row_pool pools[] = {{.name = "pinned", .goal = 0.5}, {.name = "pageable", .goal = 3}};
    group_result *results = calloc(groups.count + 1, sizeof *results);
    status = results ? write_all(&groups, results, pools, out, error) : haul_fail_no_memory(error);
    for (int i = 0; i < 2; i++) {
        free(pools[i].errors);
        free(pools[i].medians);
    }
    free(results);
    transfer_groups_release(&groups);
    return status;
}

const accuracy_section accuracy_transfers = {.name = "transfers", .write = write_section};
