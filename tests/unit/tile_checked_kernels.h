/* Loops that do not keep to what they declare. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(tile_checked_kernels)

HAUL_KERNEL_3D(too_far, tile_checked_kernels, HAUL_READ(unsigned, u, 1), HAUL_WRITE(unsigned, v))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(v, x, y, z) = HAUL_AT(u, x, y, z == 3 ? z + 2 : z + 1);
}

HAUL_KERNEL_2D(other_cell, tile_checked_kernels, HAUL_READ(unsigned, u, 0), HAUL_WRITE(unsigned, v))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(v, x, y == 2 ? 1 : y) = HAUL_AT2(u, x, y);
}

HAUL_KERNEL_2D(too_deep, tile_checked_kernels, HAUL_READ(unsigned, u, 0), HAUL_WRITE(unsigned, v))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(v, x, y) = HAUL_AT1(u, x);
}

HAUL_KERNEL_1D(past_table, tile_checked_kernels, HAUL_ALL(unsigned, table), HAUL_WRITE(unsigned, v))
{
    HAUL_FOR1 (x)
        HAUL_AT1(v, x) = HAUL_AT1(table, 3 * x);
}

/* An odd cell may by chance hold any value. */
HAUL_KERNEL_1D(even_cells, tile_checked_kernels, HAUL_READ(unsigned, u, 0), HAUL_WRITE(unsigned, v))
{
    HAUL_FOR1 (x)
        if (x % 2 == 0)
            HAUL_AT1(v, x) = HAUL_AT1(u, x);
}

HAUL_KERNEL_1D(all_ones, tile_checked_kernels, HAUL_READ(unsigned, u, 0), HAUL_WRITE(unsigned, v))
{
    HAUL_FOR1 (x)
        HAUL_AT1(v, x) = HAUL_AT1(u, x) + (x % 2 ? 0xffffffffu : 0x55555555u);
}

/* Run again, it uses other cells. */
HAUL_KERNEL_1D(by_content, tile_checked_kernels, HAUL_READ(unsigned, u, 1),
               HAUL_UPDATE(unsigned, v, 0))
{
    HAUL_FOR1 (x)
        HAUL_AT1(v, x) = 1 + HAUL_AT1(u, x + (HAUL_AT1(v, x) ? 0 : 5));
}

/* A device that computes wrongly. */
HAUL_KERNEL_1D(not_alike, tile_checked_kernels, HAUL_READ(double, u, 0), HAUL_WRITE(double, v))
{
    HAUL_FOR1 (x) {
#ifdef HAUL_ON_OPENCL
        HAUL_AT1(v, x) = HAUL_AT1(u, x) + (x == 5 ? 2 : 1);
#else
        HAUL_AT1(v, x) = HAUL_AT1(u, x) + 1;
#endif
    }
}

HAUL_KERNEL_1D(nearly_alike, tile_checked_kernels, HAUL_READ(double, u, 0), HAUL_WRITE(double, v))
{
    HAUL_FOR1 (x) {
#ifdef HAUL_ON_OPENCL
        HAUL_AT1(v, x) = (HAUL_AT1(u, x) + 1) * (1 + 1e-13);
#else
        HAUL_AT1(v, x) = HAUL_AT1(u, x) + 1;
#endif
    }
}

HAUL_REDUCE_1D(sum_beside, tile_checked_kernels, HAUL_READ(double, u, 0), HAUL_SUM(double, sum))
{
    HAUL_ROW1(x)
    HAUL_ADD(sum, HAUL_AT1(u, x + 1));
}

HAUL_KERNEL_2D(two_away, tile_checked_kernels, HAUL_READ(unsigned, u, 1),
               HAUL_UPDATE(unsigned, v, 0))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(v, x, y) += HAUL_AT2(u, x, y - 2) + 1;
}

/* A boundary of which cells stay unset. */
HAUL_KERNEL_1D(low_edge, tile_checked_kernels, HAUL_WRITE(double, u))
{
    HAUL_FOR1 (x)
        if (x < 0)
            HAUL_AT1(u, x) = 1;
}

HAUL_KERNEL_1D(beside, tile_checked_kernels, HAUL_READ(double, u, 1), HAUL_WRITE(double, v))
{
    HAUL_FOR1 (x)
        HAUL_AT1(v, x) = HAUL_AT1(u, x + 1);
}

HAUL_KERNEL_2D(add_up, tile_checked_kernels, HAUL_READ(unsigned, u, 0), HAUL_UPDATE(unsigned, v, 0))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(v, x, y) = 2 * HAUL_AT2(v, x, y) + HAUL_AT2(u, x, y);
}

/* Values that look like cells which stay unset, beside a sum that counts each row once. */
HAUL_REDUCE_1D(ones_and_sum, tile_checked_kernels, HAUL_READ(unsigned, u, 0),
               HAUL_WRITE(unsigned, v), HAUL_SUM(unsigned, sum))
{
    HAUL_ROW1(x)
    {
        HAUL_AT1(v, x) = HAUL_AT1(u, x) + (x % 2 ? 0xffffffffu : 0x55555555u);
        HAUL_ADD(sum, 1);
    }
}

/* Leaves a cell of one step in three unset. */
HAUL_KERNEL_3D(all_but_one, tile_checked_kernels, HAUL_READ(double, u, 1), HAUL_WRITE(double, v),
               HAUL_VALUE(int, left))
{
    HAUL_FOR3 (x, y, z)
        if (x != left || y != 2 * left || z != 3 * left)
            HAUL_AT(v, x, y, z) = HAUL_AT(u, x, y, z - 1) + HAUL_AT(u, x, y - 1, z) + 1;
}
