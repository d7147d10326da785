/* Steps of a stencil, and sums of floating-point numbers after them. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(tile_norms)

HAUL_KERNEL_1D(relax_1, tile_norms, HAUL_READ(double, u, 1), HAUL_WRITE(double, v))
{
    HAUL_FOR1 (x)
        HAUL_AT1(v, x) = (HAUL_AT1(u, x - 1) + HAUL_AT1(u, x + 1)) / 3;
}

HAUL_KERNEL_2D(relax_2, tile_norms, HAUL_READ(double, u, 1), HAUL_WRITE(double, v))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(v, x, y) = (HAUL_AT2(u, x, y - 1) + HAUL_AT2(u, x + 1, y)) / 3;
}

HAUL_KERNEL_3D(relax_3, tile_norms, HAUL_READ(double, u, 1), HAUL_WRITE(double, v))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(v, x, y, z) = (HAUL_AT(u, x, y - 1, z) + HAUL_AT(u, x, y, z + 1)) / 3;
}

HAUL_REDUCE_1D(norm_1, tile_norms, HAUL_READ(double, u, 0), HAUL_SUM(double, sum),
               HAUL_MAX(float, most))
{
    HAUL_ROW1(x)
    {
        HAUL_ADD(sum, HAUL_AT1(u, x));
        HAUL_MOST(most, (float)HAUL_AT1(u, x));
    }
}

HAUL_REDUCE_2D(norm_2, tile_norms, HAUL_READ(double, u, 0), HAUL_SUM(double, sum),
               HAUL_MAX(float, most))
{
    HAUL_ROW2(x, y)
    {
        HAUL_ADD(sum, HAUL_AT2(u, x, y));
        HAUL_MOST(most, (float)HAUL_AT2(u, x, y));
    }
}

HAUL_REDUCE_3D(norm_3, tile_norms, HAUL_READ(double, u, 0), HAUL_SUM(double, sum),
               HAUL_MAX(float, most))
{
    HAUL_ROW3(x, y, z)
    {
        HAUL_ADD(sum, HAUL_AT(u, x, y, z));
        HAUL_MOST(most, (float)HAUL_AT(u, x, y, z));
    }
}

HAUL_REDUCE_3D(total_of_3, tile_norms, HAUL_READ(double, u, 0), HAUL_SUM(double, sum))
{
    HAUL_ROW3(x, y, z)
    HAUL_ADD(sum, HAUL_AT(u, x, y, z));
}

HAUL_KERNEL_3D(divide_3, tile_norms, HAUL_UPDATE(double, u, 0), HAUL_READ(double, sum, 0))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(u, x, y, z) = HAUL_AT(u, x, y, z) / HAUL_AT1(sum, 0) + x;
}
