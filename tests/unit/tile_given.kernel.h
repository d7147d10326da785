/* The loops of test_tile_given, which has kernels of its own for them. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(tile_given)

HAUL_KERNEL_2D(given_shift, tile_given, HAUL_READ(unsigned, u, 1), HAUL_VALUE(unsigned, k),
               HAUL_WRITE(unsigned, v))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(v, x, y) = 5 * HAUL_AT2(u, x, y) + 3 * HAUL_AT2(u, x + 1, y - 1) + k;
}

HAUL_STENCIL_3D(given_heat, tile_given, HAUL_READ(unsigned, u, 1), HAUL_WRITE(unsigned, v))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(v, x, y, z) = 7 * HAUL_AT(u, x, y, z) + HAUL_AT(u, x - 1, y, z) +
                              3 * HAUL_AT(u, x, y + 1, z) + 5 * HAUL_AT(u, x, y, z - 1);
}

HAUL_REDUCE_2D(given_sum, tile_given, HAUL_READ(unsigned, u, 0), HAUL_SUM(unsigned, sum))
{
    HAUL_ROW2(x, y)
    HAUL_ADD(sum, HAUL_AT2(u, x, y));
}
