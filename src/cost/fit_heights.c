/* The heights of a bent line at given bends: least absolute misses by reweighted least squares,
 * whose equations are tridiagonal, since a dot touches only the two heights around it. */
#include "cost/fit_heights.h"

#include <math.h>

/* No copy is faster than this: the finest that profilers tell. */
static const double least_s = 1e-9;

/* Normal equations of the hat functions: tridiagonal, since a dot touches two neighbours. */
typedef struct equations {
    double diagonal[HAUL_MACHINE_CURVE_POINTS];
    double beside[HAUL_MACHINE_CURVE_POINTS]; /* [i] couples i and i + 1 */
    double right[HAUL_MACHINE_CURVE_POINTS];
} equations;

/* Which unknown each height is: heights that would fall with size share one. */
typedef struct tie_map {
    size_t of[HAUL_MACHINE_CURVE_POINTS];
    size_t count;
} tie_map;

/* The piece that holds `bytes`, from the last one on: dots ascend, so one pass serves all. Sizes
 * beyond the last bend belong to the last piece. */
static size_t piece_of(const hl_cost_bent *bent, double bytes, size_t piece)
{
    while (piece + 2 < bent->count && bytes > bent->x[piece + 1])
        piece++;
    return piece;
}

/* How far along its piece a size lies; outside 0 to 1 beyond the ends. */
static double share_of(const hl_cost_bent *bent, double bytes, size_t piece)
{
    if (bent->count == 1)
        return 0;
    return (bytes - bent->x[piece]) / (bent->x[piece + 1] - bent->x[piece]);
}

static double miss_of(const hl_cost_bent *bent, const hl_cost_dot *dot, size_t piece, double share)
{
    const double right = bent->count > 1 ? share * bent->y[piece + 1] : 0;
    return fabs(dot->seconds - (1 - share) * bent->y[piece] - right) * dot->scale;
}

/* Both heights around a dot may be tied into one unknown: then its two hat functions add to 1. */
static void add_dot(equations *sums, const tie_map *ties, size_t piece, double share, double weight,
                    double seconds)
{
    const size_t a = ties->of[piece];
    const size_t b = share != 0 ? ties->of[piece + 1] : a;
    if (a == b) {
        sums->diagonal[a] += weight;
        sums->right[a] += weight * seconds;
        return;
    }
    sums->diagonal[a] += weight * (1 - share) * (1 - share);
    sums->diagonal[b] += weight * share * share;
    sums->beside[a] += weight * share * (1 - share);
    sums->right[a] += weight * (1 - share) * seconds;
    sums->right[b] += weight * share * seconds;
}

/* Weighing each dot by 1 / |its last miss| makes least squares into least absolute misses; the
 * first round (`floor` 0) weighs all alike. */
static void sum_equations(const hl_cost_cloud *cloud, const hl_cost_bent *bent, const tie_map *ties,
                          double floor, equations *sums)
{
    *sums = (equations){0};
    size_t piece = 0;
    for (size_t i = 0; i < cloud->count; i++) {
        const hl_cost_dot *dot = &cloud->dots[i];
        piece = piece_of(bent, dot->bytes, piece);
        const double share = share_of(bent, dot->bytes, piece);
        double weight = dot->weight * dot->scale * dot->scale;
        if (floor > 0)
            weight /= fmax(miss_of(bent, dot, piece, share), floor);
        add_dot(sums, ties, piece, share, weight, dot->seconds);
    }
}

/* Elimination without pivoting: a sum of squares is positive definite. A pivot that has lost all
 * its digits means a height that no dot determines. */
static bool solve(equations *sums, size_t count, double *unknowns)
{
    for (size_t i = 0; i < count; i++) {
        const double whole = sums->diagonal[i];
        if (i) {
            const double factor = sums->beside[i - 1] / sums->diagonal[i - 1];
            sums->diagonal[i] -= factor * sums->beside[i - 1];
            sums->right[i] -= factor * sums->right[i - 1];
        }
        if (!(sums->diagonal[i] > 1e-13 * whole))
            return false;
    }
    for (size_t i = count; i-- > 0;) {
        const double known = i + 1 < count ? sums->beside[i] * unknowns[i + 1] : 0;
        unknowns[i] = (sums->right[i] - known) / sums->diagonal[i];
    }
    return true;
}

/* Ties each height that falls to the one before it. Returns whether any did. */
static bool tie_falls(const hl_cost_bent *bent, tie_map *ties)
{
    bool tied = false;
    size_t now = 0, before = 0;
    for (size_t i = 1; i < bent->count; i++) {
        const size_t own = ties->of[i];
        const bool falls = own != before && bent->y[i] < bent->y[i - 1];
        tied |= falls;
        now += own != before && !falls;
        ties->of[i] = now;
        before = own;
    }
    ties->count = now + 1;
    return tied;
}

static bool fit_once(const hl_cost_cloud *cloud, const tie_map *ties, double floor, bool pinned,
                     hl_cost_bent *bent)
{
    equations sums;
    double unknowns[HAUL_MACHINE_CURVE_POINTS] = {0};
    sum_equations(cloud, bent, ties, floor, &sums);
    /* a weight that outdoes all dots, in place of an equation less: the system stays tridiagonal */
    if (pinned) {
        const double weight = 1e9 * sums.diagonal[0];
        sums.diagonal[0] += weight;
        sums.right[0] += weight * least_s;
    }
    if (!solve(&sums, ties->count, unknowns))
        return false;
    for (size_t i = 0; i < bent->count; i++)
        bent->y[i] = unknowns[ties->of[i]];
    return true;
}

/* Iteratively reweighted least squares. Heights below the least and heights that fall lose their
 * freedom one after another; with each, the round is repeated. */
bool hl_cost_bent_fit(const hl_cost_cloud *cloud, hl_cost_effort effort, hl_cost_bent *bent)
{
    tie_map ties = {.count = bent->count};
    for (size_t i = 0; i < bent->count; i++)
        ties.of[i] = i;
    bool pinned = false; /* the first height, at least_s */
    double floor = 0;
    for (int round = 0; round < effort.rounds; round++) {
        if (!fit_once(cloud, &ties, floor, pinned, bent))
            return false;
        const bool low = !pinned && bent->y[0] < least_s;
        pinned |= low;
        if ((cloud->rising && tie_falls(bent, &ties)) || low)
            round--; /* again, with one freedom less */
        /* a floor that comes down by and by finds the least, where a low one at once would stick to
         * the dots that the first round happened to pass near */
        floor = floor > 0 ? fmax(effort.floor, floor / 2) : fmax(effort.floor, 1e-2);
    }
    for (size_t i = 0; i < bent->count; i++)
        bent->y[i] = fmax(bent->y[i], least_s);
    double off = 0, total = 0;
    size_t piece = 0;
    for (size_t i = 0; i < cloud->count; i++) {
        const hl_cost_dot *dot = &cloud->dots[i];
        piece = piece_of(bent, dot->bytes, piece);
        off += dot->weight * miss_of(bent, dot, piece, share_of(bent, dot->bytes, piece));
        total += dot->weight;
    }
    bent->loss = off / total;
    return true;
}
