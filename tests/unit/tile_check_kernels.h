/* Loops of the tests of what is joined, refused and told. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(tile_check_kernels)

HAUL_KERNEL_2D(more_2, tile_check_kernels, HAUL_UPDATE(unsigned, u, 0))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(u, x, y) = HAUL_AT2(u, x, y) + 1;
}

HAUL_KERNEL_3D(sum_planes, tile_check_kernels, HAUL_READ(unsigned, u, 0),
               HAUL_UPDATE(unsigned, sums, 0))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT2(sums, x, y) = 3 * HAUL_AT2(sums, x, y) + HAUL_AT(u, x, y, z);
}

HAUL_KERNEL_2D(rows_of_2, tile_check_kernels, HAUL_READ(unsigned, u, 1), HAUL_WRITE(unsigned, v))
{
    HAUL_FOR2 (y, z)
        for (int x = 0; x < 4; x++)
            HAUL_AT(v, x, y, z) = HAUL_AT(u, x, y, z - 1) + HAUL_AT(u, x, y, z + 1);
}

HAUL_KERNEL_1D(rows_of_1, tile_check_kernels, HAUL_READ(unsigned, u, 0), HAUL_WRITE(unsigned, v))
{
    HAUL_FOR1 (y)
        HAUL_AT2(v, 0, y) = HAUL_AT2(u, 0, y);
}

HAUL_KERNEL_1D(near_rows, tile_check_kernels, HAUL_READ(unsigned, u, 1), HAUL_WRITE(unsigned, v))
{
    HAUL_FOR1 (y)
        HAUL_AT2(v, 0, y) = HAUL_AT2(u, 0, y - 1) + HAUL_AT2(u, 0, y + 1);
}

HAUL_KERNEL_3D(same_3, tile_check_kernels, HAUL_READ(unsigned, u, 0), HAUL_WRITE(unsigned, v))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(v, x, y, z) = HAUL_AT(u, x, y, z);
}

HAUL_KERNEL_1D(same_1, tile_check_kernels, HAUL_READ(unsigned, u, 0), HAUL_WRITE(unsigned, v))
{
    HAUL_FOR1 (x)
        HAUL_AT1(v, x) = HAUL_AT1(u, x);
}

HAUL_KERNEL_1D(of_floats, tile_check_kernels, HAUL_UPDATE(float, u, 0))
{
    HAUL_FOR1 (x)
        HAUL_AT1(u, x) = HAUL_AT1(u, x) + 1;
}

HAUL_KERNEL_1D(of_structs, tile_check_kernels, HAUL_UPDATE(haul_rows, u, 0))
{
    HAUL_FOR1 (x)
        HAUL_AT1(u, x).width = 1;
}

HAUL_KERNEL_2D(edge_one, tile_check_kernels, HAUL_UPDATE(unsigned, u, 0))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(u, x, y) = 100;
}

HAUL_KERNEL_2D(edge_other, tile_check_kernels, HAUL_UPDATE(unsigned, u, 0))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(u, x, y) = 200;
}

HAUL_KERNEL_2D(edge_two, tile_check_kernels, HAUL_UPDATE(unsigned, u, 0), HAUL_READ(unsigned, v, 0))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(u, x, y) = HAUL_AT2(v, x, y);
}

HAUL_KERNEL_2D(left_2, tile_check_kernels, HAUL_READ(unsigned, u, 1), HAUL_WRITE(unsigned, v))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(v, x, y) = HAUL_AT2(u, x - 1, y);
}

HAUL_KERNEL_1D(product, tile_check_kernels, HAUL_READ(unsigned, a, 0), HAUL_ALL(unsigned, b),
               HAUL_WRITE(unsigned, c), HAUL_VALUE(int, n))
{
    HAUL_FOR1 (y)
        for (int x = 0; x < n; x++) {
            unsigned sum = 0;
            for (int k = 0; k < n; k++)
                sum += HAUL_AT2(a, k, y) * HAUL_AT2(b, x, k);
            HAUL_AT2(c, x, y) = sum;
        }
}

/* Reads what lies opposite, and the cell beyond the far corner. */
HAUL_KERNEL_2D(turned, tile_check_kernels, HAUL_ALL(unsigned, u), HAUL_WRITE(unsigned, v),
               HAUL_VALUE(int, width), HAUL_VALUE(int, height))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(v, x, y) =
            3 * HAUL_AT2(u, width - 1 - x, height - 1 - y) + HAUL_AT2(u, width, height);
}

HAUL_KERNEL_2D(plus_2, tile_check_kernels, HAUL_READ(unsigned, u, 0), HAUL_WRITE(unsigned, v))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(v, x, y) = HAUL_AT2(u, x, y) + (unsigned)(x + 1000 * y);
}

HAUL_KERNEL_1D(slow_1, tile_check_kernels, HAUL_UPDATE(unsigned, u, 0), HAUL_VALUE(long, turns))
{
    HAUL_FOR1 (x)
        for (long i = 0; i < turns; i++)
            HAUL_AT1(u, x) = 3 * HAUL_AT1(u, x) + 1;
}
