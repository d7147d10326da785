/* Loops that add to cells of their choice. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(tile_scatter)

HAUL_KERNEL_3D(smooth_3, tile_scatter, HAUL_READ(int, u, 1), HAUL_WRITE(int, v))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(v, x, y, z) = (HAUL_AT(u, x, y, z - 1) + HAUL_AT(u, x, y, z + 1) + x) % 1000;
}

HAUL_KERNEL_3D(histogram_3, tile_scatter, HAUL_READ(int, u, 0), HAUL_SCATTER(unsigned, counts),
               HAUL_VALUE(int, bins))
{
    HAUL_FOR3 (x, y, z)
        HAUL_ADD_AT1(counts, HAUL_AT(u, x, y, z) % bins, 1);
}

/* A plane of the sums over z, and of all but the last cell the next one's, negative. */
HAUL_KERNEL_3D(sheet_3, tile_scatter, HAUL_READ(int, u, 0), HAUL_SCATTER(int, sums))
{
    HAUL_FOR3 (x, y, z) {
        HAUL_ADD_AT2(sums, x, y, HAUL_AT(u, x, y, z));
        if (x)
            HAUL_ADD_AT2(sums, x - 1, y, -HAUL_AT(u, x, y, z));
    }
}

/* Weights of more than 32 bits, to where a map says. */
HAUL_KERNEL_1D(deposit_1, tile_scatter, HAUL_READ(int, map, 0), HAUL_READ(unsigned, weight, 0),
               HAUL_SCATTER(long, sums))
{
    HAUL_FOR1 (x)
        HAUL_ADD_AT1(sums, HAUL_AT1(map, x), 4294967296.0 * HAUL_AT1(weight, x));
}

HAUL_KERNEL_1D(before_1, tile_scatter, HAUL_READ(int, u, 0), HAUL_SCATTER(int, sums))
{
    HAUL_FOR1 (x)
        HAUL_ADD_AT1(sums, x - 1, HAUL_AT1(u, x));
}

/* Floating-point values, whose sums depend on the order of cells. */
HAUL_KERNEL_1D(mass_1, tile_scatter, HAUL_READ(double, m, 0), HAUL_READ(int, map, 0),
               HAUL_SCATTER(double, sums))
{
    HAUL_FOR1 (x)
        HAUL_ADD_AT1(sums, HAUL_AT1(map, x), HAUL_AT1(m, x));
}

HAUL_KERNEL_2D(mass_2, tile_scatter, HAUL_READ(double, m, 0), HAUL_READ(int, map, 0),
               HAUL_SCATTER(double, sums))
{
    HAUL_FOR2 (x, y)
        HAUL_ADD_AT1(sums, HAUL_AT2(map, x, y), HAUL_AT2(m, x, y));
}

/* Both sums, and a cell of the array beside. */
HAUL_KERNEL_3D(mass_3, tile_scatter, HAUL_UPDATE(double, m, 0), HAUL_READ(int, map, 0),
               HAUL_SCATTER(double, sums), HAUL_SCATTER(float, rough))
{
    HAUL_FOR3 (x, y, z) {
        HAUL_ADD_AT1(sums, HAUL_AT(map, x, y, z), HAUL_AT(m, x, y, z));
        HAUL_ADD_AT1(rough, HAUL_AT(map, x, y, z), 3 * HAUL_AT(m, x, y, z));
        HAUL_AT(m, x, y, z) = HAUL_AT(m, x, y, z) / 3;
    }
}

HAUL_KERNEL_3D(blend_3, tile_scatter, HAUL_READ(double, m, 1), HAUL_WRITE(double, n))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(n, x, y, z) = HAUL_AT(m, x, y, z - 1) + HAUL_AT(m, x, y, z + 1) / 7;
}
