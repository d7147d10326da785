/* The roofline with a link (CCGrid 2014, III.A). */
#include <math.h>

#include "haul/overlap.h"

/* x / bytes, in flop/s or flop/B; what moves nothing is not bounded by moving it. */
static double over(double flops, double bytes)
{
    return bytes > 0 ? flops / bytes : (double)INFINITY;
}

static double kernel_bound(const haul_roofline *self, const haul_roofline_work *work)
{
    return fmin(self->peak_flops, self->memory_Bps * over(work->flops, work->memory_bytes));
}

double haul_data_intensity(const haul_roofline_work *work)
{
    return over(work->flops, work->link_bytes);
}

/* min(peak, memory bandwidth x operational intensity, link bandwidth x data intensity) */
double haul_roofline_full_overlap(const haul_roofline *self, const haul_roofline_work *work)
{
    return fmin(kernel_bound(self, work), self->link_Bps * haul_data_intensity(work));
}

/* flops / (link bytes / link bandwidth + flops / the kernel's own roofline) */
double haul_roofline_no_overlap(const haul_roofline *self, const haul_roofline_work *work)
{
    const double kernel_s = work->flops / kernel_bound(self, work);
    return work->flops / (work->link_bytes / self->link_Bps + kernel_s);
}

/* min(peak, link bandwidth x operational intensity): each access of the kernel crosses the link */
double haul_roofline_mapped(const haul_roofline *self, const haul_roofline_work *work)
{
    return fmin(self->peak_flops, self->link_Bps * over(work->flops, work->memory_bytes));
}
