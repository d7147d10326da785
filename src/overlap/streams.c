/* How many streams are useful, by formula (CCGrid 2014, VI). */
#include <math.h>

#include "haul/overlap.h"

/* B G: the bytes alone, as the formulas of section VI have them. */
static double data_s(const haul_overlap_leg *leg)
{
    return leg->bytes * leg->per_byte_s;
}

/* sqrt(work / g): beyond it one more stream costs more gap than it takes off the work that is not
 * hidden. Without a gap there is no end; without work one stream is all. */
static double root(double work_s, double gap_s)
{
    return gap_s > 0 ? fmax(sqrt(work_s / gap_s), 1) : (double)INFINITY;
}

/* The s > 0 with B G + g (s - 1) = (t_E + B G) / s: from there on one engine's copies hide the
 * kernel. The positive root of g s^2 + (B G - g) s - (t_E + B G) = 0, so written that nothing
 * cancels. */
static double crossing(double kernel_s, double moved_s, double gap_s)
{
    const double b = moved_s - gap_s;
    const double c = kernel_s + moved_s;
    const double half = (fabs(b) + sqrt(b * b + 4 * gap_s * c)) / 2;
    if (!(half > 0))
        return (double)INFINITY;
    return b >= 0 ? c / half : half / gap_s;
}

/* For devices with implicit synchronisation the derivatives of (1) and (2); for one engine the
 * solved equation; for two the derivative of the dominant direction's term of (5). Where the kernel
 * dominates, (3) and (5) fall with every stream. */
double haul_overlap_useful_streams(const haul_overlap_case *self, bool kernel_dominates)
{
    const bool more_in = self->in.bytes > self->out.bytes;
    const haul_overlap_leg *larger = more_in ? &self->in : &self->out;
    const haul_overlap_leg *smaller = more_in ? &self->out : &self->in;
    if (self->device == HAUL_IMPLICIT_SYNC)
        return kernel_dominates ? root(data_s(&self->in), self->out.gap_s)
                                : root(self->kernel_s, self->in.gap_s + self->out.gap_s);
    if (kernel_dominates)
        return (double)INFINITY;
    if (self->device == HAUL_ONE_ENGINE)
        return fmax(crossing(self->kernel_s, data_s(smaller), smaller->gap_s), 1);
    return root(data_s(smaller) + self->kernel_s, larger->gap_s);
}

/* Whether the kernel takes longer than the copies that it could hide. */
bool haul_overlap_kernel_dominates(const haul_overlap_case *self)
{
    const double in_s = data_s(&self->in);
    const double out_s = data_s(&self->out);
    switch (self->device) {
    case HAUL_IMPLICIT_SYNC: /* copies back overlap with nothing */
        return self->kernel_s > in_s;
    case HAUL_ONE_ENGINE:
        return self->kernel_s > in_s + out_s;
    default:
        return self->kernel_s > fmax(in_s, out_s);
    }
}
