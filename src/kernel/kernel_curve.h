/* The curve of lambda through its knots. */
#ifndef HAUL_KERNEL_CURVE_H
#define HAUL_KERNEL_CURVE_H

#include "haul/kernel.h"

/* Sets the slopes of knots that ascend in size. */
void hl_kernel_curve_bend(haul_kernel_knot *knots, size_t count);

#endif
