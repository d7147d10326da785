/* A value with its uncertainty, and straight lines of them: small values, passed by copy (the shape
 * of UCX's ucs_linear_func: make, apply, add). All are of positive quantities. */
#ifndef HAUL_COST_RANGE_H
#define HAUL_COST_RANGE_H

#include <math.h>

/* low <= mid <= high */
typedef struct hl_cost_range {
    double low;
    double mid;
    double high;
} hl_cost_range;

/* f(x) = c + m x */
typedef struct hl_cost_line {
    hl_cost_range c;
    hl_cost_range m;
} hl_cost_line;

static inline hl_cost_range hl_cost_range_exact(double value)
{
    return (hl_cost_range){value, value, value};
}

/* `mid` and what it becomes by two factors, below <= 1 <= above. */
static inline hl_cost_range hl_cost_range_around(double mid, double below, double above)
{
    return (hl_cost_range){mid * below, mid, mid * above};
}

/* The same factor up and down. */
static inline hl_cost_range hl_cost_range_within(double mid, double factor)
{
    return hl_cost_range_around(mid, 1 / factor, factor);
}

static inline hl_cost_range hl_cost_range_add(hl_cost_range a, hl_cost_range b)
{
    return (hl_cost_range){a.low + b.low, a.mid + b.mid, a.high + b.high};
}

static inline hl_cost_range hl_cost_range_scale(hl_cost_range a, double factor)
{
    return (hl_cost_range){a.low * factor, a.mid * factor, a.high * factor};
}

static inline hl_cost_range hl_cost_range_times(hl_cost_range a, hl_cost_range b)
{
    return (hl_cost_range){a.low * b.low, a.mid * b.mid, a.high * b.high};
}

/* A rate's time per byte, and back: the highest rate is the lowest time. */
static inline hl_cost_range hl_cost_range_inverse(hl_cost_range a)
{
    return (hl_cost_range){1 / a.high, 1 / a.mid, 1 / a.low};
}

static inline hl_cost_range hl_cost_range_max(hl_cost_range a, hl_cost_range b)
{
    return (hl_cost_range){fmax(a.low, b.low), fmax(a.mid, b.mid), fmax(a.high, b.high)};
}

static inline hl_cost_range hl_cost_range_min(hl_cost_range a, hl_cost_range b)
{
    return (hl_cost_range){fmin(a.low, b.low), fmin(a.mid, b.mid), fmin(a.high, b.high)};
}

static inline hl_cost_line hl_cost_line_make(hl_cost_range c, hl_cost_range m)
{
    return (hl_cost_line){c, m};
}

/* The line of a latency in seconds and a rate in units of x a second. */
static inline hl_cost_line hl_cost_line_of_rate(hl_cost_range latency_s, hl_cost_range rate)
{
    return hl_cost_line_make(latency_s, hl_cost_range_inverse(rate));
}

static inline hl_cost_range hl_cost_line_apply(hl_cost_line f, double x)
{
    return hl_cost_range_add(f.c, hl_cost_range_scale(f.m, x));
}

#endif
