/* The kernels that CCGrid 2014 overlaps with copies, each one source for the host, OpenCL and CUDA.
 */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(hl_overlap_paper_kernels)

/* Density of sea water in kg/m3 of potential temperature `t` in degrees Celsius, salinity `s` in
 * psu and pressure `p` in dbar, as a quotient of two polynomials: McDougall, Jackett, Wright and
 * Feistel, J. Atmos. Oceanic Technol. 20 (2003), 730-741, Table A1. */
#define ABOVE(t, s, p)                                                                             \
    (9.99843699e2 + (t) * (7.35212840 + (t) * (-5.45928211e-2 + (t)*3.98476704e-4)) +              \
     (s) * (2.96938239 - 7.23268813e-3 * (t) + 2.12382341e-3 * (s)) +                              \
     (p) * (1.04004591e-2 + 1.03970529e-7 * (t) * (t) + 5.18761880e-6 * (s)) +                     \
     (p) * (p) * (-3.24041825e-8 - 1.23869360e-11 * (t) * (t)))
#define BELOW(t, s, p)                                                                             \
    (1.0 +                                                                                         \
     (t) * (7.28606739e-3 + (t) * (-4.60835542e-5 + (t) * (3.68390573e-7 + (t)*1.80809186e-10))) + \
     (s) * (2.14691708e-3 - 9.27062484e-6 * (t)-1.78343643e-10 * (t) * (t) * (t)) +                \
     (s)*sqrt(s) * (4.76534122e-6 + 1.63410736e-9 * (t) * (t)) +                                   \
     (p) * (5.30848875e-6 -                                                                        \
            3.03175128e-16 * (p) * (t) * (t) * (t)-1.27934137e-17 * (p) * (p) * (t)))
#define DENSITY(t, s, p) (ABOVE(t, s, p) / BELOW(t, s, p))

// NOLINTBEGIN(readability-function-size): the parameters are the kernels' own
/* Of each level k the pressure is (k + 1) * step dbar. The derivatives are those of the quotient.
 */
HAUL_KERNEL_3D(state, hl_overlap_paper_kernels, HAUL_IN(double, t), HAUL_IN(double, s),
               HAUL_OUT(double, rho), HAUL_OUT(double, by_t), HAUL_OUT(double, by_s),
               HAUL_VALUE(int, width), HAUL_VALUE(int, height), HAUL_VALUE(double, step))
{
    HAUL_FOR3 (x, y, z) {
        const int i = (z * height + y) * width + x;
        const double a = t[i], b = s[i], p = (z + 1) * step;
        const double below = BELOW(a, b, p), density = ABOVE(a, b, p) / below;
        const double above_t = 7.35212840 - 2 * 5.45928211e-2 * a + 3 * 3.98476704e-4 * a * a -
                               7.23268813e-3 * b + 2 * a * p * (1.03970529e-7 - 1.23869360e-11 * p);
        const double above_s =
            2.96938239 - 7.23268813e-3 * a + 2 * 2.12382341e-3 * b + 5.18761880e-6 * p;
        const double below_t = 7.28606739e-3 - 2 * 4.60835542e-5 * a + 3 * 3.68390573e-7 * a * a +
                               4 * 1.80809186e-10 * a * a * a -
                               b * (9.27062484e-6 + 3 * 1.78343643e-10 * a * a) +
                               2 * 1.63410736e-9 * a * b * sqrt(b) -
                               p * p * (3 * 3.03175128e-16 * a * a + 1.27934137e-17 * p);
        const double below_s = 2.14691708e-3 - 9.27062484e-6 * a - 1.78343643e-10 * a * a * a +
                               1.5 * sqrt(b) * (4.76534122e-6 + 1.63410736e-9 * a * a);
        rho[i] = density;
        by_t[i] = (above_t - density * below_t) / below;
        by_s[i] = (above_s - density * below_s) / below;
    }
}

/* Differences of buoyancy between level k and water of level k - 1, and of the surface, that is
 * brought to the pressure of k: levels 1, k - 1 and k are read. */
HAUL_KERNEL_3D(buoydiff, hl_overlap_paper_kernels, HAUL_IN(double, t), HAUL_IN(double, s),
               HAUL_OUT(double, adjacent), HAUL_OUT(double, surface), HAUL_VALUE(int, width),
               HAUL_VALUE(int, height), HAUL_VALUE(double, step))
{
    HAUL_FOR3 (x, y, z) {
        const int first = y * width + x, i = z * height * width + first;
        const int above = z > 0 ? i - height * width : i;
        const double p = (z + 1) * step, here = DENSITY(t[i], s[i], p);
        adjacent[i] = 9.80616 * (1 - DENSITY(t[above], s[above], p) / here);
        surface[i] = 9.80616 * (1 - DENSITY(t[first], s[first], p) / here);
    }
}

HAUL_KERNEL_2D(product, hl_overlap_paper_kernels, HAUL_IN(float, a), HAUL_IN(float, b),
               HAUL_OUT(float, c), HAUL_VALUE(int, length), HAUL_VALUE(int, width))
{
    HAUL_FOR2 (x, y) {
        float sum = 0;
        for (int k = 0; k < length; k++)
            sum += a[y * length + k] * b[k * width + x];
        c[y * width + x] = sum;
    }
}

/* Rows and columns beyond the first and the last are taken for those. */
HAUL_FUNCTION int nearest_of(int index, int count)
{
    return index < 0 ? 0 : index < count ? index : count - 1;
}

HAUL_KERNEL_2D(convolution, hl_overlap_paper_kernels, HAUL_IN(float, in), HAUL_IN(float, filter),
               HAUL_OUT(float, out), HAUL_VALUE(int, width), HAUL_VALUE(int, height))
{
    HAUL_FOR2 (x, y) {
        float sum = 0;
        for (int j = -2; j <= 2; j++)
            for (int i = -2; i <= 2; i++) {
                const int row = nearest_of(y + j, height);
                const int column = nearest_of(x + i, width);
                sum += filter[5 * j + i + 12] * in[row * width + column];
            }
        out[y * width + x] = sum;
    }
}

/* A sparse matrix with `each` elements a row (ELLPACK) times a vector. */
HAUL_KERNEL_1D(sparse, hl_overlap_paper_kernels, HAUL_IN(float, values), HAUL_IN(int, columns),
               HAUL_IN(float, vector), HAUL_OUT(float, out), HAUL_VALUE(int, each))
{
    HAUL_FOR1 (y) {
        float sum = 0;
        for (int i = 0; i < each; i++)
            sum += values[y * each + i] * vector[columns[y * each + i]];
        out[y] = sum;
    }
}

// NOLINTEND(readability-function-size)
