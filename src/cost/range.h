/* A value with its uncertainty, and straight lines of them: small values, passed by copy (the shape
 * of UCX's ucs_linear_func: make, apply, add). All are of positive quantities. */
#ifndef HAUL_COST_RANGE_H
#define HAUL_COST_RANGE_H

#include <math.h>

/* low <= mid <= high */
typedef struct haul_range {
    double low;
    double mid;
    double high;
} haul_range;

/* f(x) = c + m x */
typedef struct haul_line {
    haul_range c;
    haul_range m;
} haul_line;

static inline haul_range haul_range_exact(double value)
{
    return (haul_range){value, value, value};
}

/* `mid` and what it becomes by two factors, below <= 1 <= above. */
static inline haul_range haul_range_around(double mid, double below, double above)
{
    return (haul_range){mid * below, mid, mid * above};
}

/* The same factor up and down. */
static inline haul_range haul_range_within(double mid, double factor)
{
    return haul_range_around(mid, 1 / factor, factor);
}

static inline haul_range haul_range_add(haul_range a, haul_range b)
{
    return (haul_range){a.low + b.low, a.mid + b.mid, a.high + b.high};
}

static inline haul_range haul_range_scale(haul_range a, double factor)
{
    return (haul_range){a.low * factor, a.mid * factor, a.high * factor};
}

static inline haul_range haul_range_times(haul_range a, haul_range b)
{
    return (haul_range){a.low * b.low, a.mid * b.mid, a.high * b.high};
}

/* A rate's time per byte, and back: the highest rate is the lowest time. */
static inline haul_range haul_range_inverse(haul_range a)
{
    return (haul_range){1 / a.high, 1 / a.mid, 1 / a.low};
}

static inline haul_range haul_range_max(haul_range a, haul_range b)
{
    return (haul_range){fmax(a.low, b.low), fmax(a.mid, b.mid), fmax(a.high, b.high)};
}

static inline haul_range haul_range_min(haul_range a, haul_range b)
{
    return (haul_range){fmin(a.low, b.low), fmin(a.mid, b.mid), fmin(a.high, b.high)};
}

static inline haul_line haul_line_make(haul_range c, haul_range m)
{
    return (haul_line){c, m};
}

/* The line of a latency in seconds and a rate in units of x a second. */
static inline haul_line haul_line_of_rate(haul_range latency_s, haul_range rate)
{
    return haul_line_make(latency_s, haul_range_inverse(rate));
}

static inline haul_range haul_line_apply(haul_line f, double x)
{
    return haul_range_add(f.c, haul_range_scale(f.m, x));
}

#endif
