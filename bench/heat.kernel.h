/* The heat equation, 7 points: the kernel that the yardsticks solve too. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(heat_file)

HAUL_STENCIL_3D(heat, heat_file, HAUL_READ(double, u, 1), HAUL_WRITE(double, v),
                HAUL_VALUE(double, k))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(v, x, y, z) =
            HAUL_AT(u, x, y, z) +
            k * ((HAUL_AT(u, x - 1, y, z) + HAUL_AT(u, x + 1, y, z)) +
                 (HAUL_AT(u, x, y - 1, z) + HAUL_AT(u, x, y + 1, z)) +
                 (HAUL_AT(u, x, y, z - 1) + HAUL_AT(u, x, y, z + 1)) - 6.0 * HAUL_AT(u, x, y, z));
}

/* Where the material differs from cell to cell. */
HAUL_STENCIL_3D(heat_in, heat_file, HAUL_READ(double, u, 1), HAUL_WRITE(double, v),
                HAUL_READ(double, c, 0), HAUL_VALUE(double, k))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(v, x, y, z) =
            HAUL_AT(u, x, y, z) +
            k * HAUL_AT(c, x, y, z) *
                ((HAUL_AT(u, x - 1, y, z) + HAUL_AT(u, x + 1, y, z)) +
                 (HAUL_AT(u, x, y - 1, z) + HAUL_AT(u, x, y + 1, z)) +
                 (HAUL_AT(u, x, y, z - 1) + HAUL_AT(u, x, y, z + 1)) - 6.0 * HAUL_AT(u, x, y, z));
}

HAUL_REDUCE_3D(energy, heat_file, HAUL_READ(double, u, 0), HAUL_SUM(double, sum))
{
    HAUL_ROW3(x, y, z)
    HAUL_ADD(sum, HAUL_AT(u, x, y, z) * HAUL_AT(u, x, y, z));
}
