/* Kernels of tile_cpp: one of ten arrays, and a sum. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(tile_cpp_file)

HAUL_KERNEL_3D(sum_of_nine, tile_cpp_file, HAUL_READ(double, a, 0), HAUL_READ(double, b, 0),
               HAUL_READ(double, c, 0), HAUL_READ(double, d, 0), HAUL_READ(double, e, 0),
               HAUL_READ(double, f, 0), HAUL_READ(double, g, 0), HAUL_READ(double, h, 0),
               HAUL_READ(double, i, 1), HAUL_WRITE(double, sum), HAUL_VALUE(double, k))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(sum, x, y, z) =
            k * (HAUL_AT(a, x, y, z) + HAUL_AT(b, x, y, z) + HAUL_AT(c, x, y, z) +
                 HAUL_AT(d, x, y, z) + HAUL_AT(e, x, y, z) + HAUL_AT(f, x, y, z) +
                 HAUL_AT(g, x, y, z) + HAUL_AT(h, x, y, z) + HAUL_AT(i, x, y, z - 1));
}

HAUL_REDUCE_3D(total, tile_cpp_file, HAUL_READ(double, u, 0), HAUL_SUM(double, sum))
{
    HAUL_ROW3(x, y, z)
    {
        HAUL_ADD(sum, HAUL_AT(u, x, y, z));
    }
}
