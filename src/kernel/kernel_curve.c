/* Lambda by size. A kernel's lambda is a constant where one resource bounds it at every size; where
 * caches, waves or launches change it bends, slowly, in the logarithm of the size. They do not tell
 * its course outside the sizes measured: it stays as it is at the nearest, which does better than
 * its slope dying away, or work of one order less going on (docs/kernel-models.md). */
#include "kernel/kernel_curve.h"

#include <math.h>

#include "kernel/kernel_parts.h"

/* Half widths that hold 90 of 100 cases: a + b (how much lambda moves between the sizes around) +
 * c (how far outside, in the logarithm). Fitted as log |measured / predicted| of ten programs on
 * five GPUs (gpuperfpredict), three sizes drawn at random or near the ends and in the middle;
 * docs/accuracy/kernels.md has the coverage with a program or a GPU left out. */
static const double width_least = 0.025;
static const double width_bend = 0.3;
static const double width_outside = 0.25;
/* One size tells nothing of the bend: by the distance from it. */
static const double width_one = 0.06;
static const double width_distance = 0.07;

/* Fritsch and Carlson, 1980: a slope that keeps the curve between its points. */
static double inner_slope(const haul_kernel_knot *k)
{
    const double h0 = k[0].log_size - k[-1].log_size;
    const double h1 = k[1].log_size - k[0].log_size;
    const double d0 = (k[0].log_calibration - k[-1].log_calibration) / h0;
    const double d1 = (k[1].log_calibration - k[0].log_calibration) / h1;
    if (d0 * d1 <= 0)
        return 0;
    const double w0 = 2 * h1 + h0;
    const double w1 = h1 + 2 * h0;
    return (w0 + w1) / (w0 / d0 + w1 / d1);
}

/* At an end: of the parabola through the three nearest points, held as the inner ones are. */
static double end_slope(const haul_kernel_knot *end, const haul_kernel_knot *next,
                        const haul_kernel_knot *third)
{
    const double h0 = next->log_size - end->log_size;
    const double h1 = third->log_size - next->log_size;
    const double d0 = (next->log_calibration - end->log_calibration) / h0;
    const double d1 = (third->log_calibration - next->log_calibration) / h1;
    const double slope = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    if (slope * d0 <= 0)
        return 0;
    if (d0 * d1 <= 0 && fabs(slope) > 3 * fabs(d0))
        return 3 * d0;
    return slope;
}

/* A plain cubic spline would overshoot between knots that conflict in the cache, to values of
 * lambda that no size has shown: these slopes keep each piece between its knots. */
void hl_kernel_curve_bend(haul_kernel_knot *knots, size_t count)
{
    if (count < 2)
        return;
    if (count == 2) {
        const double slope = (knots[1].log_calibration - knots[0].log_calibration) /
                             (knots[1].log_size - knots[0].log_size);
        knots[0].slope = knots[1].slope = slope;
        return;
    }
    for (size_t i = 1; i + 1 < count; i++)
        knots[i].slope = inner_slope(&knots[i]);
    knots[0].slope = end_slope(&knots[0], &knots[1], &knots[2]);
    const size_t last = count - 1;
    knots[last].slope = end_slope(&knots[last], &knots[last - 1], &knots[last - 2]);
}

/* Hermite's cubic between two knots. */
static double between(const haul_kernel_knot *k, double x)
{
    const double h = k[1].log_size - k[0].log_size;
    const double u = (x - k[0].log_size) / h;
    const double v = 1 - u;
    return v * v * (1 + 2 * u) * k[0].log_calibration + u * v * v * h * k[0].slope +
           u * u * (1 + 2 * v) * k[1].log_calibration - u * u * v * h * k[1].slope;
}

/* The largest step of log lambda between neighbours, in this piece and those beside it. */
static double bend_around(const haul_kernel_fit *fit, size_t piece)
{
    const size_t first = piece > 0 ? piece - 1 : 0;
    const size_t last = piece + 2 < fit->count ? piece + 2 : fit->count - 1;
    double most = 0;
    for (size_t i = first; i < last; i++)
        most = fmax(most, fabs(fit->knots[i + 1].log_calibration - fit->knots[i].log_calibration));
    return most;
}

/* The interval is as wide as lambda is uneven around the size, and wider the further the size is
 * from those measured. */
hl_kernel_reading hl_kernel_read(const haul_kernel_fit *fit, double size, bool calm)
{
    const double x = log(size);
    const haul_kernel_knot *first = &fit->knots[0];
    const haul_kernel_knot *last = &fit->knots[fit->count - 1];
    if (fit->count == 1)
        return (hl_kernel_reading){first->log_calibration,
                                   width_one + width_distance * fabs(x - first->log_size)};
    /* The knot that the size follows, of all but the last. */
    size_t piece = 0;
    size_t high = fit->count - 1;
    while (high - piece > 1) {
        const size_t middle = piece + (high - piece) / 2;
        if (fit->knots[middle].log_size <= x)
            piece = middle;
        else
            high = middle;
    }
    const double outside = fmax(0, fmax(first->log_size - x, x - last->log_size));
    const haul_kernel_knot *k = &fit->knots[piece];
    double value;
    /* log_calm is the best of several neighbours already: a straight line between them is enough */
    if (calm) {
        const double u = (x - k[0].log_size) / (k[1].log_size - k[0].log_size);
        value = k[0].log_calm + fmin(fmax(u, 0), 1) * (k[1].log_calm - k[0].log_calm);
    } else if (outside > 0) {
        value = x < first->log_size ? first->log_calibration : last->log_calibration;
    } else {
        value = between(k, x);
    }
    return (hl_kernel_reading){value, width_least + width_bend * bend_around(fit, piece) +
                                          width_outside * outside};
}

double haul_kernel_fit_calibration(const haul_kernel_fit *fit, double size)
{
    return exp(hl_kernel_read(fit, size, false).log_calibration);
}
