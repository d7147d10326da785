/* Kernels of an ocean model: the equation of state and differences of buoyancy, which van
 * Werkhoven, Maassen, Seinstra and Bal overlap with copies (CCGrid 2014), and mixing where water is
 * lighter than the water above it. The last index is the level, from the surface down. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(ocean_file)

/* Density of sea water in kg/m3 of potential temperature `t` in degrees Celsius, salinity `s` in
 * psu and pressure `p` in dbar, as a quotient of two polynomials: McDougall, Jackett, Wright and
 * Feistel, J. Atmos. Oceanic Technol. 20 (2003), 730-741, Table A1. */
HAUL_FUNCTION double above_of(double t, double s, double p)
{
    return 9.99843699e2 + t * (7.35212840 + t * (-5.45928211e-2 + t * 3.98476704e-4)) +
           s * (2.96938239 - 7.23268813e-3 * t + 2.12382341e-3 * s) +
           p * (1.04004591e-2 + 1.03970529e-7 * t * t + 5.18761880e-6 * s) +
           p * p * (-3.24041825e-8 - 1.23869360e-11 * t * t);
}

HAUL_FUNCTION double below_of(double t, double s, double p)
{
    return 1.0 +
           t * (7.28606739e-3 + t * (-4.60835542e-5 + t * (3.68390573e-7 + t * 1.80809186e-10))) +
           s * (2.14691708e-3 - 9.27062484e-6 * t - 1.78343643e-10 * t * t * t) +
           s * sqrt(s) * (4.76534122e-6 + 1.63410736e-9 * t * t) +
           p * (5.30848875e-6 - 3.03175128e-16 * p * t * t * t - 1.27934137e-17 * p * p * t);
}

HAUL_FUNCTION double density_of(double t, double s, double p)
{
    return above_of(t, s, p) / below_of(t, s, p);
}

/* Density, and how it changes with temperature and salinity, by central differences. */
HAUL_KERNEL_3D(state, ocean_file, HAUL_READ(double, t, 0), HAUL_READ(double, s, 0),
               HAUL_WRITE(double, rho), HAUL_WRITE(double, by_t), HAUL_WRITE(double, by_s),
               HAUL_VALUE(double, dbar))
{
    HAUL_FOR3 (x, y, z) {
        const double a = HAUL_AT(t, x, y, z), b = HAUL_AT(s, x, y, z), p = (z + 1) * dbar;
        HAUL_AT(rho, x, y, z) = density_of(a, b, p);
        HAUL_AT(by_t, x, y, z) = 50 * (density_of(a + 0.01, b, p) - density_of(a - 0.01, b, p));
        HAUL_AT(by_s, x, y, z) = 50 * (density_of(a, b + 0.01, p) - density_of(a, b - 0.01, p));
    }
}

/* The water of the surface, of which every level reads. */
HAUL_KERNEL_3D(keep_surface, ocean_file, HAUL_READ(double, t, 0), HAUL_READ(double, s, 0),
               HAUL_WRITE(double, top_t), HAUL_WRITE(double, top_s))
{
    HAUL_FOR3 (x, y, z) {
        HAUL_AT2(top_t, x, y) = HAUL_AT(t, x, y, z);
        HAUL_AT2(top_s, x, y) = HAUL_AT(s, x, y, z);
    }
}

/* Of each level, and of the level above and the surface brought to its pressure. */
HAUL_KERNEL_3D(buoydiff, ocean_file, HAUL_READ(double, t, 1), HAUL_READ(double, s, 1),
               HAUL_READ(double, top_t, 0), HAUL_READ(double, top_s, 0),
               HAUL_WRITE(double, adjacent), HAUL_WRITE(double, surface), HAUL_VALUE(double, dbar))
{
    HAUL_FOR3 (x, y, z) {
        const double p = (z + 1) * dbar;
        const double here = density_of(HAUL_AT(t, x, y, z), HAUL_AT(s, x, y, z), p);
        const double over = density_of(HAUL_AT(t, x, y, z - 1), HAUL_AT(s, x, y, z - 1), p);
        const double top = density_of(HAUL_AT2(top_t, x, y), HAUL_AT2(top_s, x, y), p);
        HAUL_AT(adjacent, x, y, z) = 9.80616 * (1 - over / here);
        HAUL_AT(surface, x, y, z) = 9.80616 * (1 - top / here);
    }
}

/* Water that is lighter than the level above exchanges a share with it. */
HAUL_KERNEL_3D(stir, ocean_file, HAUL_READ(double, from, 1), HAUL_READ(double, adjacent, 1),
               HAUL_WRITE(double, to), HAUL_VALUE(double, share))
{
    HAUL_FOR3 (x, y, z) {
        const double here = HAUL_AT(from, x, y, z);
        const double up = HAUL_AT(adjacent, x, y, z) < 0 ? HAUL_AT(from, x, y, z - 1) - here : 0;
        const double down =
            HAUL_AT(adjacent, x, y, z + 1) < 0 ? HAUL_AT(from, x, y, z + 1) - here : 0;
        HAUL_AT(to, x, y, z) = here + share * (up + down);
    }
}
