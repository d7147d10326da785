/* The curve of lambda through its knots. */
#ifndef HAUL_KERNEL_CURVE_H
#define HAUL_KERNEL_CURVE_H

#include "haul/kernel.h"

/* Sets the slopes of knots that ascend in size. */
void haul_kernel_curve_bend(haul_kernel_knot *knots, size_t count);

/* d log lambda / d log N at the largest size, by the sizes of the last octave (least squares of
 * 1 / lambda over 1 / N): up to 1, where nothing of the time grows with the counted work, and not
 * below -1. */
double haul_kernel_curve_growth(const haul_kernel_knot *knots, size_t count);

#endif
