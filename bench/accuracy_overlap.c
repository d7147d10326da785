/* Copies overlapped with products in tiles, against those measured on a K40. */
#include <math.h>
#include <stdlib.h>

#include "accuracy.h"
#include "base/fail.h"
#include "base/stats.h"
#include "tiled_rows.h"

static const double goal_median = 1.4;
static const double goal_p90 = 7;

/* Errors of some runs, in percent. */
typedef struct errors {
    double items[TILED_RUNS_MOST];
    double sizes[TILED_RUNS_MOST];
    size_t count;
} errors;

static void add(errors *self, double predicted_s, double measured_s)
{
    self->items[self->count] = 100 * (predicted_s / measured_s - 1);
    self->sizes[self->count] = fabs(self->items[self->count]);
    self->count++;
}

static double worst_of(const errors *self)
{
    double worst = 0;
    for (size_t i = 0; i < self->count; i++)
        if (fabs(self->items[i]) > fabs(worst))
            worst = self->items[i];
    return worst;
}

/* A row of a table. */
static void print_errors(const char *name, errors *self, FILE *out)
{
    if (!self->count)
        return;
    const double worst = worst_of(self);
    haul_sort_doubles(self->items, self->count);
    haul_sort_doubles(self->sizes, self->count);
    fprintf(out, "| %s | %zu | %.2f | %.2f | %+.2f | %+.1f |", name, self->count,
            haul_quantile_sorted(self->sizes, self->count, 0.5),
            haul_quantile_sorted(self->sizes, self->count, 0.9),
            haul_quantile_sorted(self->items, self->count, 0.5), worst);
}

static void print_verdict(const errors *self, FILE *out)
{
    const bool reached = haul_quantile_sorted(self->sizes, self->count, 0.5) <= goal_median &&
                         haul_quantile_sorted(self->sizes, self->count, 0.9) <= goal_p90;
    fprintf(out, " %s |\n", reached ? "yes" : "**no**");
}

static haul_status print_schedules(const tiled_runs *runs, errors *self, FILE *out,
                                   haul_error *error)
{
    haul_status status = HAUL_OK;
    for (int s = 0; !status && s < TILED_SCHEDULES; s++) {
        self->count = 0;
        for (size_t i = 0; !status && i < runs->count; i++) {
            double seconds = 0;
            status = tiled_predict(&tiled_schedules[s], &runs->items[i], &seconds, error);
            add(self, seconds, runs->items[i].measured_s);
        }
        print_errors(tiled_schedules[s].name, self, out);
        print_verdict(self, out);
    }
    for (int p = 0; p < TILED_PUBLISHED; p++) {
        self->count = 0;
        for (size_t i = 0; i < runs->count; i++)
            add(self, runs->items[i].published_s[p], runs->items[i].measured_s);
        print_errors(tiled_published[p], self, out);
        print_verdict(self, out);
    }
    return status;
}

static bool is_any(const tiled_run *run)
{
    return run->product.m > 0;
}

static bool has_c_on_device(const tiled_run *run)
{
    return !run->product.c_on_host;
}

/* How many of A and B of a square product lie on the host beside C; none where C does not. */
static int beside_c(const tiled_run *run)
{
    const haul_blocked_product *product = &run->product;
    if (product->m != product->k || !product->c_on_host)
        return -1;
    return product->a_on_host + product->b_on_host;
}

static bool is_c_alone(const tiled_run *run)
{
    return beside_c(run) == 0;
}

static bool is_c_and_one(const tiled_run *run)
{
    return beside_c(run) == 1;
}

static bool is_all_three(const tiled_run *run)
{
    return beside_c(run) == 2;
}

static bool has_short_sum(const tiled_run *run)
{
    return run->product.k < run->product.m;
}

/* Columns of A and C begin at multiples of 256 bytes. */
static bool is_even(const tiled_run *run)
{
    return run->product.m % 32 == 0;
}

static bool has_long_sum_even(const tiled_run *run)
{
    return run->product.k > run->product.m && is_even(run);
}

static bool has_long_sum_odd(const tiled_run *run)
{
    return run->product.k > run->product.m && !is_even(run);
}

static bool is_held(const tiled_run *run)
{
    return run->product.c_on_host && tiled_waits(run);
}

static bool is_let_go(const tiled_run *run)
{
    return run->product.c_on_host && !tiled_waits(run);
}

static bool is_let_go_behind(const tiled_run *run)
{
    const tiled_work work = tiled_work_of(run);
    return is_let_go(run) && work.kernel_s > work.in_s;
}

static bool is_let_go_ahead(const tiled_run *run)
{
    return is_let_go(run) && !is_let_go_behind(run);
}

static const struct {
    const char *name;
    bool (*has)(const tiled_run *run);
} groups[] = {
    {"all", is_any},
    {"m = n = k, C on the device", has_c_on_device},
    {"m = n = k, C on the host", is_c_alone},
    {"m = n = k, C and A or B on the host", is_c_and_one},
    {"m = n = k, all on the host", is_all_three},
    {"k < m = n, all on the host", has_short_sum},
    {"k > m = n, all on the host, m a multiple of 32", has_long_sum_even},
    {"k > m = n, all on the host, m not", has_long_sum_odd},
    {"C on the host, copies back held", is_held},
    {"C on the host, not held, products take less than copies in", is_let_go_ahead},
    {"C on the host, not held, products take longer than copies in", is_let_go_behind},
};

enum { GROUPS = sizeof groups / sizeof *groups, LAST = TILED_SCHEDULES - 1 };

static haul_status print_groups(const tiled_runs *runs, errors *self, FILE *out, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (int g = 0; !status && g < GROUPS; g++) {
        self->count = 0;
        for (size_t i = 0; !status && i < runs->count; i++) {
            double seconds = 0;
            if (!groups[g].has(&runs->items[i]))
                continue;
            status = tiled_predict(&tiled_schedules[LAST], &runs->items[i], &seconds, error);
            add(self, seconds, runs->items[i].measured_s);
        }
        print_errors(groups[g].name, self, out);
        fputc('\n', out);
    }
    return status;
}

/* Where the measured times lie between all at once and nothing at once. */
static void print_bounds(const tiled_runs *runs, FILE *out)
{
    size_t below = 0, above = 0;
    double lowest = INFINITY;
    for (size_t i = 0; i < runs->count; i++) {
        const tiled_run *run = &runs->items[i];
        const tiled_work work = tiled_work_of(run);
        const double full_s = fmax(work.kernel_s, fmax(work.in_s, work.out_s));
        below += run->measured_s < full_s;
        above += run->measured_s > work.in_s + work.kernel_s + work.out_s;
        lowest = fmin(lowest, run->measured_s / full_s);
    }
    fprintf(out,
            "\nBounds of the same figures: %zu of the %zu measured times are below the longest of "
            "products, copies in and copies back (by %.1f %% at most), %zu above the sum of the "
            "three.\n",
            below, runs->count, 100 * (1 - lowest), above);
}

static const char preface[] =
    "## Overlap: products in tiles\n\n"
    "`haul_blocked_time`: C = A B + C in tiles, copies in, products and copies back in three "
    "streams, on the timeline's engine. Data: `overlap/k40-dgemm-tiled.csv` (double precision, "
    "Tesla K40; p-anastas/CoCopeLia_gemm); times of a tile's product from "
    "`overlap/k40-dgemm-kernel.csv`, of its copies, alone and against each other, from "
    "`transfers/bidirectional-k40.csv`; no number is fitted to the tiled times. A tile at the edge "
    "costs its share of a full one. What whole tiles leave of a dimension, a rest, and when C goes "
    "back: the first schedule as plain as can be; the others as the measured program's source has "
    "it. It makes a rest up to half a tile part of the last tile (lib/CoCopeLia_Dgemm.cu), and "
    "holds copies back until all copies in are done where it finds that products take as long as "
    "all copies (CoCoModel_choose_transfer_mode3 in lib/CoCopeLia_Model.cpp). Errors are 100 "
    "(predicted / measured - 1). Goal: a median of 1.4 % and a 90th percentile of 7 %.\n\n"
    "| schedule or model | runs | median of sizes | 90 % | median | worst | reached |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | --- |\n";

static const char group_preface[] = "\nThe last schedule, by shape, by where matrices lie, and by "
                                    "what the program does with copies back:\n\n"
                                    "| runs | number | median of sizes | 90 % | median | worst |\n"
                                    "| --- | ---: | ---: | ---: | ---: | ---: |\n";

static const char reading[] =
    "- Where columns do not begin at multiples of 256 bytes. The other files have such copies "
    "alone and such products alone, and neither is slow: that they run at once is what is left.\n"
    "- Few large tiles with C on the host beside A or B.\n";

static void print_reading(const tiled_runs *runs, errors *self, FILE *out)
{
    self->count = 0;
    for (size_t i = 0; i < runs->count; i++)
        if (is_let_go_behind(&runs->items[i])) {
            const tiled_work work = tiled_work_of(&runs->items[i]);
            add(self, work.kernel_s + work.out_s, runs->items[i].measured_s);
        }
    if (!self->count)
        return;
    fprintf(out,
            "\nWhat is missed, always too fast:\n\n"
            "- Where the program does not hold copies back and products fall behind the copies in. "
            "All products and after them all copies back would take %.1f %% longer than measured, "
            "in the median: they hardly overlapped, though nothing in the program keeps them "
            "apart, and copies both ways do overlap in the other files.\n",
            haul_median(self->items, self->count));
    fputs(reading, out);
}

static haul_status write_all(const tiled_runs *runs, FILE *out, haul_error *error)
{
    errors *scratch = calloc(1, sizeof *scratch);
    if (!scratch)
        return haul_fail_no_memory(error);
    fputs(preface, out);
    haul_status status = print_schedules(runs, scratch, out, error);
    fputs(group_preface, out);
    if (!status)
        status = print_groups(runs, scratch, out, error);
    print_bounds(runs, out);
    print_reading(runs, scratch, out);
    free(scratch);
    return status;
}

static haul_status write_section(const char *data, FILE *out, haul_error *error)
{
    tiled_runs *runs = NULL;
    haul_status status = tiled_runs_read(data, &runs, error);
    if (!status)
        status = write_all(runs, out, error);
    free(runs);
    return status;
}

const accuracy_section accuracy_overlap = {"overlap", write_section};
