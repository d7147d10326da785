/* CCGrid 2014, Figure 7, equation by equation, as they stand there. */
#include "overlap/formulas.h"

#include <math.h>

/* All copies of a direction, s in a row: L+o + B G + g (s - 1) (section V). */
static double whole(hl_overlap_leg_times leg, double s)
{
    return leg.latency_s + leg.data_s + leg.gap_s * (s - 1);
}

/* The one of them that the other direction or the kernel waits for: L+o + B G / s. */
static double chunk(hl_overlap_leg_times leg, double s)
{
    return leg.latency_s + leg.data_s / s;
}

/* L+o + B_hd G_hd + t_E + L+o + B_dh G_dh */
double hl_overlap_formula_explicit(const hl_overlap_formula *f)
{
    return whole(f->h, 1) + f->kernel_s + whole(f->d, 1);
}

/* (1): the kernels of all streams hide all copies in but the first; no copy back starts before the
 * last kernel does. */
double hl_overlap_formula_sync_kernel(const hl_overlap_formula *f, double s)
{
    return chunk(f->h, s) + f->kernel_s + whole(f->d, s);
}

/* (2): the copies in hide all kernels but the last. */
double hl_overlap_formula_sync_transfer(const hl_overlap_formula *f, double s)
{
    return whole(f->h, s) + f->kernel_s / s + whole(f->d, s);
}

/* (3): the kernels hide all copies but the first in and the last back. */
double hl_overlap_formula_one_kernel(const hl_overlap_formula *f, double s)
{
    return chunk(f->h, s) + f->kernel_s + chunk(f->d, s);
}

/* (4): the one engine makes all copies in, then all copies back; or it waits for the last kernel,
 * or the kernels' end waits for it. */
double hl_overlap_formula_one_transfer(const hl_overlap_formula *f, double s)
{
    const double engine = whole(f->h, s) + whole(f->d, s);
    const double in = whole(f->h, s) + f->kernel_s / s + chunk(f->d, s);
    const double out = chunk(f->h, s) + f->kernel_s / s + whole(f->d, s);
    return fmax(engine, fmax(in, out));
}

/* (5): the longest of the three, and one chunk of each of the others. */
double hl_overlap_formula_two(const hl_overlap_formula *f, double s)
{
    const double in = whole(f->h, s) + f->kernel_s / s + chunk(f->d, s);
    const double kernel = chunk(f->h, s) + f->kernel_s + chunk(f->d, s);
    const double out = chunk(f->h, s) + f->kernel_s / s + whole(f->d, s);
    return fmax(kernel, fmax(in, out));
}

/* (6): the longest of the three, and the latencies of the others. */
double hl_overlap_formula_mapped(const hl_overlap_formula *f)
{
    const double in = whole(f->h, 1) + f->d.latency_s;
    const double kernel = f->h.latency_s + f->kernel_s + f->d.latency_s;
    const double out = f->h.latency_s + whole(f->d, 1);
    return fmax(kernel, fmax(in, out));
}
