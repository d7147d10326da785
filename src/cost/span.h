/* A value with its doubt, and straight lines of them: small values, passed by copy (the shape of
 * UCX's ucs_linear_func: make, apply, add). All are of positive quantities. */
#ifndef HAUL_COST_SPAN_H
#define HAUL_COST_SPAN_H

#include <math.h>

/* low <= mid <= high */
typedef struct haul_span {
    double low;
    double mid;
    double high;
} haul_span;

/* f(x) = c + m x */
typedef struct haul_line {
    haul_span c;
    haul_span m;
} haul_line;

static inline haul_span haul_span_exact(double value)
{
    return (haul_span){value, value, value};
}

/* `mid` and what it becomes by two factors, below <= 1 <= above. */
static inline haul_span haul_span_around(double mid, double below, double above)
{
    return (haul_span){mid * below, mid, mid * above};
}

/* The same factor up and down. */
static inline haul_span haul_span_within(double mid, double factor)
{
    return haul_span_around(mid, 1 / factor, factor);
}

static inline haul_span haul_span_add(haul_span a, haul_span b)
{
    return (haul_span){a.low + b.low, a.mid + b.mid, a.high + b.high};
}

static inline haul_span haul_span_scale(haul_span a, double factor)
{
    return (haul_span){a.low * factor, a.mid * factor, a.high * factor};
}

static inline haul_span haul_span_times(haul_span a, haul_span b)
{
    return (haul_span){a.low * b.low, a.mid * b.mid, a.high * b.high};
}

/* A rate's time per byte, and back: the highest rate is the lowest time. */
static inline haul_span haul_span_inverse(haul_span a)
{
    return (haul_span){1 / a.high, 1 / a.mid, 1 / a.low};
}

static inline haul_span haul_span_max(haul_span a, haul_span b)
{
    return (haul_span){fmax(a.low, b.low), fmax(a.mid, b.mid), fmax(a.high, b.high)};
}

static inline haul_span haul_span_min(haul_span a, haul_span b)
{
    return (haul_span){fmin(a.low, b.low), fmin(a.mid, b.mid), fmin(a.high, b.high)};
}

static inline haul_line haul_line_make(haul_span c, haul_span m)
{
    return (haul_line){c, m};
}

/* The line of a latency in seconds and a rate in units of x a second. */
static inline haul_line haul_line_of_rate(haul_span latency_s, haul_span rate)
{
    return haul_line_make(latency_s, haul_span_inverse(rate));
}

static inline haul_span haul_line_apply(haul_line f, double x)
{
    return haul_span_add(f.c, haul_span_scale(f.m, x));
}

#endif
