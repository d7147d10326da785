/* A bent line through few points. The heights at given bends are a small linear problem; the bends
 * are searched: every pair of a few dozen sizes, then one more bend at a time at the size where it
 * helps most, each set of bends then moved freely between the sizes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/fail.h"
#include "cost/curve.h"
#include "cost/fit_heights.h"

enum {
    CANDIDATES = 32,   /* sizes at which a bend is tried */
    BEAM = 8,          /* sets of bends that are kept on the way to more */
    POLISHED = 4,      /* of them, moved freely */
    SEARCH_DOTS = 512, /* of which the search sees at most so many */
    PATIENCE = 4,      /* bends tried in a row that do not pay */
};

static const hl_cost_effort coarse = {.rounds = 5, .floor = 2e-3};
static const hl_cost_effort middle = {.rounds = 8, .floor = 1e-3};
static const hl_cost_effort fine = {.rounds = 40, .floor = 1e-7};

/* Sets of bends, best first. */
typedef struct bend_beam {
    hl_cost_bent items[CANDIDATES];
    size_t count;
    size_t limit;
} bend_beam;

/* By time too: equal sizes then have their median in the middle. */
static int compare_dots(const void *a, const void *b)
{
    const hl_cost_dot *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return hl_base_compare_reals(x->seconds, y->seconds);
}

/* Sorted dots of the samples, a dot each, with the scale that `weight` asks for. */
static void make_dots(const haul_sample *samples, size_t count, haul_fit_weight weight,
                      hl_cost_dot *dots)
{
    for (size_t i = 0; i < count; i++)
        dots[i] = (hl_cost_dot){
            .bytes = (double)samples[i].copy.bytes, .seconds = samples[i].seconds, .weight = 1};
    qsort(dots, count, sizeof *dots, compare_dots);
    double total = 0; /* summed in order of size, so that the samples' order is of no account */
    for (size_t i = 0; i < count; i++)
        total += dots[i].seconds;
    for (size_t i = 0; i < count; i++) {
        const double unit = weight == HAUL_FIT_TIME ? total / (double)count : dots[i].seconds;
        dots[i].scale = 1 / fmax(unit, 1e-9);
    }
}

/* One dot a size, into `sizes`; returns how many. */
static size_t merge_sizes(const hl_cost_dot *dots, size_t count, hl_cost_dot *sizes)
{
    size_t merged = 0;
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && dots[end].bytes == dots[i].bytes; end++)
            ;
        const hl_cost_dot *lower = &dots[(i + end - 1) / 2], *upper = &dots[(i + end) / 2];
        sizes[merged] = *lower; /* the median: the middle of two where they halve the size */
        sizes[merged].seconds = (lower->seconds + upper->seconds) / 2;
        sizes[merged].scale = 2 / (1 / lower->scale + 1 / upper->scale);
        sizes[merged++].weight = (double)(end - i);
    }
    return merged;
}

/* Thins dots for the search, in place: neighbours are merged, so many that about SEARCH_DOTS equal
 * shares of the sizes' logarithms remain. Returns how many remain. */
static size_t thin_dots(hl_cost_dot *sizes, size_t count)
{
    if (count <= SEARCH_DOTS)
        return count;
    const double start = log1p(sizes[0].bytes);
    const double step = (log1p(sizes[count - 1].bytes) - start) / SEARCH_DOTS;
    size_t thinned = 0;
    for (size_t i = 0, end; i < count; i = end) {
        const double share = floor((log1p(sizes[i].bytes) - start) / step);
        double weight = 0;
        for (end = i; end < count && floor((log1p(sizes[end].bytes) - start) / step) == share;
             end++)
            weight += sizes[end].weight;
        const size_t middle_at = i + (end - i) / 2;
        sizes[thinned] = sizes[middle_at];
        sizes[thinned++].weight = weight;
    }
    return thinned;
}

/* Inserts by loss; the worst falls out of a full beam. Two ways of growing lead to the same set of
 * bends: it is kept once. */
static void beam_offer(bend_beam *beam, const hl_cost_bent *bent)
{
    size_t at = beam->count;
    while (at > 0 && bent->loss < beam->items[at - 1].loss)
        at--;
    if (at == beam->limit)
        return;
    for (size_t i = 0; i < beam->count; i++)
        if (!memcmp(beam->items[i].x, bent->x, bent->count * sizeof *bent->x))
            return;
    if (beam->count < beam->limit)
        beam->count++;
    memmove(&beam->items[at + 1], &beam->items[at], (beam->count - 1 - at) * sizeof *beam->items);
    beam->items[at] = *bent;
}

/* `bent` with one more bend at x; false where there is one. */
static bool with_bend(const hl_cost_bent *bent, double x, hl_cost_bent *out)
{
    size_t at = 0;
    while (at < bent->count && bent->x[at] < x)
        at++;
    if (!at || at == bent->count || bent->x[at] == x)
        return false;
    *out = *bent;
    memmove(&out->x[at + 1], &bent->x[at], (bent->count - at) * sizeof *bent->x);
    out->x[at] = x;
    out->count++;
    return true;
}

/* Candidates are spread by rank, so that they are dense where sizes were measured densely. */
static void grow_beam(const hl_cost_cloud *cloud, const bend_beam *from, bend_beam *to)
{
    double candidates[CANDIDATES]; /* evenly by rank, without the first and the last */
    const size_t inner = cloud->count - 2;
    const size_t count = inner < CANDIDATES ? inner : CANDIDATES;
    for (size_t i = 0; i < count; i++)
        candidates[i] = cloud->dots[1 + (count > 1 ? i * (inner - 1) / (count - 1) : 0)].bytes;
    for (size_t i = 0; i < from->count; i++)
        for (size_t j = 0; j < count; j++) {
            hl_cost_bent bent;
            if (with_bend(&from->items[i], candidates[j], &bent) &&
                hl_cost_bent_fit(cloud, coarse, &bent))
                beam_offer(to, &bent);
        }
}

/* Moves each bend for as long as it helps, by smaller and smaller shares. */
static void polish(const hl_cost_cloud *cloud, hl_cost_bent *bent)
{
    if (!hl_cost_bent_fit(cloud, middle, bent))
        return;
    for (double share = 0.4; share > 0.002;) {
        bool helped = false;
        for (size_t k = 0; k < 2 * (bent->count - 2); k++) {
            const size_t at = 1 + k / 2;
            hl_cost_bent other = *bent;
            const double here = log1p(bent->x[at]);
            const double there = log1p(bent->x[k % 2 ? at + 1 : at - 1]);
            other.x[at] = expm1(here + share * (there - here));
            const bool apart = other.x[at] > other.x[at - 1] && other.x[at] < other.x[at + 1];
            if (apart && hl_cost_bent_fit(cloud, middle, &other) &&
                other.loss < bent->loss * (1 - 1e-6)) {
                *bent = other;
                helped = true;
            }
        }
        if (!helped)
            share /= 2;
    }
}

/* Bayes' criterion for misses that are spread as Laplace's law: what one more bend, two figures
 * more, must gain. A mean miss of 1e-4 is as good as none. Of straight lines with noise it takes 97
 * in 100 for straight from 100 samples on, Akaike's 1 in 3; on the halves of
 * docs/accuracy/copies.md the two differ in one group of 33. */
static double criterion(const hl_cost_bent *bent, double samples)
{
    return 2 * samples * log(fmax(bent->loss, 1e-4)) + 2 * (double)bent->count * log(samples);
}

/* The curve to find: at most `points` points; with `samples` not 0, as few as serve so many. */
typedef struct bend_aim {
    size_t points;
    double samples;
} bend_aim;

/* Finds the bends. Needs: more sizes than points. Returns false without memory. */
static bool search(const hl_cost_cloud *cloud, bend_aim aim, hl_cost_bent *best)
{
    bend_beam *beams = calloc(2, sizeof *beams);
    if (!beams)
        return false;
    bend_beam *now = &beams[0], *next = &beams[1];
    const double last = cloud->dots[cloud->count - 1].bytes;
    *best = (hl_cost_bent){.count = 2, .x = {0, last}};
    if (aim.points == 1)
        *best = (hl_cost_bent){.count = 1, .x = {last}};
    if (!hl_cost_bent_fit(cloud, middle, best))
        best->loss = HUGE_VAL;
    *now = (bend_beam){.count = 1, .limit = 1, .items = {*best}};
    for (size_t points = 3; points <= aim.points && points <= best->count + PATIENCE; points++) {
        next->count = 0;
        next->limit = points == 3 ? CANDIDATES : BEAM;
        grow_beam(cloud, now, next);
        /* Later bends grow from the head of the beam, polished; the best is kept. */
        for (size_t i = 0; i < next->count && i < POLISHED; i++) {
            hl_cost_bent bent = next->items[i];
            polish(cloud, &bent);
            if (aim.samples > 0 ? criterion(&bent, aim.samples) < criterion(best, aim.samples)
                                : bent.loss < best->loss)
                *best = bent;
            if (next->limit == BEAM)
                next->items[i] = bent;
        }
        bend_beam *const swap = now;
        now = next;
        next = swap;
    }
    free(beams);
    return true;
}

/* Fits all dots; `sizes` is room for as many. Returns false without memory. */
static bool fit_dots(const hl_cost_cloud *whole, bend_aim aim, hl_cost_dot *sizes,
                     hl_cost_bent *bent)
{
    const size_t all = merge_sizes(whole->dots, whole->count, sizes);
    if (all <= aim.points) {
        /* A line through one dot a size, made to rise where it must. */
        const hl_cost_cloud cloud = {.dots = sizes, .count = all, .rising = whole->rising};
        *bent = (hl_cost_bent){.count = all};
        bool rises = true;
        for (size_t i = 0; i < all; i++) {
            bent->x[i] = sizes[i].bytes;
            bent->y[i] = fmax(sizes[i].seconds, 1e-9);
            rises = rises && (!i || bent->y[i] >= bent->y[i - 1]);
        }
        if (whole->rising && !rises)
            (void)hl_cost_bent_fit(&cloud, fine, bent);
        return true;
    }
    /* a bend that few sizes stand for follows their noise, and what lies beyond follows the bend */
    if (whole->rising && aim.points > (all + 1) / 2)
        aim.points = (all + 1) / 2;
    const hl_cost_cloud seen = {
        .dots = sizes, .count = thin_dots(sizes, all), .rising = whole->rising};
    if (!search(&seen, aim, bent))
        return false;
    hl_cost_bent last = *bent;
    if (hl_cost_bent_fit(whole, fine, &last))
        *bent = last;
    return true;
}

/* The contract's parameters: NOLINTNEXTLINE(readability-function-size) */
haul_status haul_fit_curve(const haul_sample *samples, size_t count, size_t max_points,
                           haul_fit_weight weight, haul_copy_curve *curve,
                           haul_residuals *residuals, haul_error *error)
{
    HAUL_TRY(hl_cost_samples_check(samples, count, error));
    if (max_points < 1 || max_points > HAUL_MACHINE_CURVE_POINTS)
        return haul_error_set(error, HAUL_STATUS_USAGE, "expected 1 to %d points a curve, not %zu",
                              HAUL_MACHINE_CURVE_POINTS, max_points);
    hl_cost_dot *dots = calloc(2 * count, sizeof *dots);
    if (!dots)
        return hl_base_fail_no_memory(error);
    make_dots(samples, count, weight, dots);
    const bool rising = weight == HAUL_FIT_RELATIVE;
    const hl_cost_cloud whole = {.dots = dots, .count = count, .rising = rising};
    const bend_aim aim = {.points = max_points, .samples = rising ? (double)count : 0};
    hl_cost_bent bent = {0};
    const bool found = fit_dots(&whole, aim, dots + count, &bent);
    free(dots);
    if (!found)
        return hl_base_fail_no_memory(error);
    const haul_copy *copy = &samples[0].copy;
    haul_copy_curve fitted = {
        .direction = copy->direction,
        .memory = copy->memory,
        .locality = copy->locality,
        .points_from = {.value = (double)bent.count, .provenance = HAUL_PROVENANCE_FITTED},
    };
    for (size_t i = 0; i < bent.count; i++)
        fitted.points[i] = (haul_point){bent.x[i], bent.y[i]};
    return hl_cost_curve_keep(&fitted, samples, count, curve, residuals, error);
}
