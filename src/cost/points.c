/* Curves between measured points: straight, because a copy engine's time is, piece by piece. */
#include "cost/points.h"

#include <math.h>

size_t hl_cost_curve_points(const haul_copy_curve *curve)
{
    if (!curve || curve->points_from.provenance == HAUL_PROVENANCE_NOT_GIVEN)
        return 0;
    const double count = curve->points_from.value;
    return count >= 1 ? (size_t)fmin(count, HAUL_MACHINE_CURVE_POINTS) : 0;
}

/* Seconds a byte; 0 for two points of one size, which no piece has a slope between. */
static double slope(haul_point a, haul_point b)
{
    return b.bytes > a.bytes ? (b.seconds - a.seconds) / (b.bytes - a.bytes) : 0;
}

/* Outside the points a piece that falls is not followed: its slope is noise, and the times that it
 * leads to would fall to 0. */
double hl_cost_curve_seconds(const haul_copy_curve *curve, double bytes)
{
    const size_t count = hl_cost_curve_points(curve);
    const haul_point *points = curve->points;
    const double floor = fmax(curve->latency_s.value, 0);
    if (count == 1) {
        const bool is_beyond = bytes > points[0].bytes && points[0].bytes > 0;
        return fmax(points[0].seconds * (is_beyond ? bytes / points[0].bytes : 1), floor);
    }
    size_t right = 1;
    while (right + 1 < count && bytes > points[right].bytes)
        right++;
    const haul_point a = points[right - 1], b = points[right];
    const bool outside = bytes < a.bytes || bytes > b.bytes;
    const double rise = outside ? fmax(slope(a, b), 0) : slope(a, b);
    const haul_point from = bytes > b.bytes ? b : a;
    return fmax(from.seconds + rise * (bytes - from.bytes), floor);
}

bool hl_cost_curve_rate(const haul_copy_curve *curve, double *rate_Bps)
{
    const size_t count = hl_cost_curve_points(curve);
    if (count < 2)
        return false;
    const haul_point last = curve->points[count - 1];
    const double m = slope(curve->points[count - 2], last);
    if (!(m > 0) || !isfinite(1 / m) || m * last.bytes < last.seconds / 2)
        return false;
    *rate_Bps = 1 / m;
    return true;
}

bool hl_cost_curve_encloses(const haul_copy_curve *curve, double bytes)
{
    const size_t count = hl_cost_curve_points(curve);
    return count && curve->points[0].bytes <= bytes && bytes <= curve->points[count - 1].bytes;
}

bool hl_cost_curve_covers(const haul_copy_curve *curve, double bytes)
{
    double rate;
    const size_t count = hl_cost_curve_points(curve);
    if (!count || hl_cost_curve_encloses(curve, bytes))
        return count > 0;
    return bytes < curve->points[0].bytes ? count > 1 : hl_cost_curve_rate(curve, &rate);
}
