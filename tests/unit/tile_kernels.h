/* Loops for random programs: each reads as far as it says, and no two cells alike. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(tile_kernels)

HAUL_KERNEL_1D(near_1, tile_kernels, HAUL_READ(unsigned, u, 1), HAUL_WRITE(unsigned, v),
               HAUL_VALUE(unsigned, k))
{
    HAUL_FOR1 (x)
        HAUL_AT1(v, x) = 3 * HAUL_AT1(u, x) + 5 * HAUL_AT1(u, x - 1) + 7 * HAUL_AT1(u, x + 1) + k;
}

HAUL_KERNEL_1D(wide_1, tile_kernels, HAUL_READ(unsigned, u, 2), HAUL_READ(unsigned, w, 0),
               HAUL_WRITE(unsigned, v))
{
    HAUL_FOR1 (x)
        HAUL_AT1(v, x) = HAUL_AT1(u, x - 2) + 11 * HAUL_AT1(u, x + 2) + HAUL_AT1(w, x);
}

HAUL_KERNEL_1D(add_1, tile_kernels, HAUL_READ(unsigned, u, 0), HAUL_UPDATE(unsigned, v, 0),
               HAUL_VALUE(unsigned, k))
{
    HAUL_FOR1 (x)
        HAUL_AT1(v, x) = 2 * HAUL_AT1(v, x) + HAUL_AT1(u, x) + k * (unsigned)x;
}

HAUL_KERNEL_2D(near_2, tile_kernels, HAUL_READ(unsigned, u, 1), HAUL_WRITE(unsigned, v),
               HAUL_VALUE(unsigned, k))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(v, x, y) = 3 * HAUL_AT2(u, x - 1, y - 1) + 5 * HAUL_AT2(u, x + 1, y) +
                            7 * HAUL_AT2(u, x - 1, y + 1) + 11 * HAUL_AT2(u, x, y - 1) + k;
}

HAUL_KERNEL_2D(wide_2, tile_kernels, HAUL_READ(unsigned, u, 2), HAUL_READ(unsigned, w, 0),
               HAUL_WRITE(unsigned, v))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(v, x, y) = HAUL_AT2(u, x - 2, y - 2) + 11 * HAUL_AT2(u, x + 2, y) +
                            13 * HAUL_AT2(u, x + 1, y + 2) + HAUL_AT2(w, x, y);
}

HAUL_KERNEL_2D(add_2, tile_kernels, HAUL_READ(unsigned, u, 0), HAUL_UPDATE(unsigned, v, 0),
               HAUL_VALUE(unsigned, k))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(v, x, y) = 2 * HAUL_AT2(v, x, y) + HAUL_AT2(u, x, y) + k * (unsigned)(x + 3 * y);
}

HAUL_KERNEL_3D(near_3, tile_kernels, HAUL_READ(unsigned, u, 1), HAUL_WRITE(unsigned, v),
               HAUL_VALUE(unsigned, k))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(v, x, y, z) = 3 * HAUL_AT(u, x - 1, y - 1, z + 1) + 5 * HAUL_AT(u, x + 1, y, z) +
                              7 * HAUL_AT(u, x, y + 1, z - 1) + 11 * HAUL_AT(u, x, y, z - 1) + k;
}

HAUL_KERNEL_3D(wide_3, tile_kernels, HAUL_READ(unsigned, u, 2), HAUL_READ(unsigned, w, 0),
               HAUL_WRITE(unsigned, v))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(v, x, y, z) = HAUL_AT(u, x - 2, y - 2, z + 2) + 11 * HAUL_AT(u, x + 2, y, z - 2) +
                              13 * HAUL_AT(u, x + 1, y + 2, z) + HAUL_AT(w, x, y, z);
}

HAUL_KERNEL_3D(add_3, tile_kernels, HAUL_READ(unsigned, u, 0), HAUL_UPDATE(unsigned, v, 0),
               HAUL_VALUE(unsigned, k))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(v, x, y, z) =
            2 * HAUL_AT(v, x, y, z) + HAUL_AT(u, x, y, z) + k * (unsigned)(x + 3 * y + 7 * z);
}
