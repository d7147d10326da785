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

HAUL_STENCIL_2D(near_2, tile_kernels, HAUL_READ(unsigned, u, 1), HAUL_WRITE(unsigned, v),
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

HAUL_STENCIL_3D(near_3, tile_kernels, HAUL_READ(unsigned, u, 1), HAUL_WRITE(unsigned, v),
                HAUL_VALUE(unsigned, k))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(v, x, y, z) = 3 * HAUL_AT(u, x - 1, y - 1, z + 1) + 5 * HAUL_AT(u, x + 1, y, z) +
                              7 * HAUL_AT(u, x, y + 1, z - 1) + 11 * HAUL_AT(u, x, y, z - 1) + k;
}

HAUL_STENCIL_2D(given_2, tile_kernels, HAUL_READ(unsigned, u, 1), HAUL_WRITE(unsigned, v),
                HAUL_READ(unsigned, c, 1), HAUL_VALUE(unsigned, k))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(v, x, y) = HAUL_AT2(c, x, y) * HAUL_AT2(u, x - 1, y + 1) +
                            HAUL_AT2(c, x + 1, y - 1) * HAUL_AT2(u, x, y - 1) +
                            k * (unsigned)(x + 37 * y);
}

HAUL_STENCIL_3D(given_3, tile_kernels, HAUL_READ(unsigned, u, 1), HAUL_WRITE(unsigned, v),
                HAUL_READ(unsigned, c, 1), HAUL_VALUE(unsigned, k))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(v, x, y, z) = HAUL_AT(c, x, y, z) * HAUL_AT(u, x - 1, y - 1, z + 1) +
                              HAUL_AT(c, x + 1, y, z - 1) * HAUL_AT(u, x, y + 1, z) +
                              HAUL_AT(u, x, y, z - 1) + k * (unsigned)(x + 37 * y + 1009 * z);
}

HAUL_KERNEL_3D(edge_3, tile_kernels, HAUL_UPDATE(unsigned, u, 0))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(u, x, y, z) = 5;
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

HAUL_REDUCE_1D(total_1, tile_kernels, HAUL_READ(unsigned, u, 1), HAUL_SUM(unsigned, sum),
               HAUL_MIN(unsigned, least), HAUL_VALUE(unsigned, k), HAUL_MAX(unsigned, most))
{
    HAUL_ROW1(x)
    {
        HAUL_ADD(sum, HAUL_AT1(u, x - 1) + k * HAUL_AT1(u, x + 1));
        HAUL_LEAST(least, HAUL_AT1(u, x));
        HAUL_MOST(most, HAUL_AT1(u, x));
    }
}

HAUL_REDUCE_2D(total_2, tile_kernels, HAUL_READ(unsigned, u, 1), HAUL_SUM(unsigned, sum),
               HAUL_MIN(unsigned, least), HAUL_VALUE(unsigned, k), HAUL_MAX(unsigned, most))
{
    HAUL_ROW2(x, y)
    {
        HAUL_ADD(sum, HAUL_AT2(u, x, y - 1) + k * HAUL_AT2(u, x, y + 1));
        HAUL_LEAST(least, HAUL_AT2(u, x, y));
        HAUL_MOST(most, HAUL_AT2(u, x, y));
    }
}

HAUL_REDUCE_3D(total_3, tile_kernels, HAUL_READ(unsigned, u, 1), HAUL_SUM(unsigned, sum),
               HAUL_MIN(unsigned, least), HAUL_VALUE(unsigned, k), HAUL_MAX(unsigned, most))
{
    HAUL_ROW3(x, y, z)
    {
        HAUL_ADD(sum, HAUL_AT(u, x, y, z - 1) + k * HAUL_AT(u, x, y, z + 1));
        HAUL_LEAST(least, HAUL_AT(u, x, y, z));
        HAUL_MOST(most, HAUL_AT(u, x, y, z));
    }
}

HAUL_KERNEL_1D(beside_1, tile_kernels, HAUL_READ(unsigned, u, 1), HAUL_WRITE(unsigned, v),
               HAUL_ALL(unsigned, t))
{
    HAUL_FOR1 (x)
        HAUL_AT1(v, x) = HAUL_AT1(u, x - 1) + 3 * HAUL_AT1(t, 0);
}

HAUL_KERNEL_1D(fold_back_1, tile_kernels, HAUL_ALL(unsigned, u), HAUL_WRITE(unsigned, v))
{
    HAUL_FOR1 (x)
        HAUL_AT1(v, x) = HAUL_AT1(u, 0) + 5 * HAUL_AT1(u, x / 2);
}

HAUL_KERNEL_2D(beside_2, tile_kernels, HAUL_READ(unsigned, u, 1), HAUL_WRITE(unsigned, v),
               HAUL_READ(unsigned, t, 0))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(v, x, y) = HAUL_AT2(u, x - 1, y) + 3 * HAUL_AT1(t, 0);
}

HAUL_KERNEL_2D(fold_back_2, tile_kernels, HAUL_ALL(unsigned, u), HAUL_WRITE(unsigned, v))
{
    HAUL_FOR2 (x, y)
        HAUL_AT2(v, x, y) = HAUL_AT2(u, 0, 0) + 5 * HAUL_AT2(u, x / 2, y / 2);
}

HAUL_KERNEL_3D(beside_3, tile_kernels, HAUL_READ(unsigned, u, 1), HAUL_WRITE(unsigned, v),
               HAUL_READ(unsigned, t, 0))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(v, x, y, z) = HAUL_AT(u, x - 1, y, z) + 3 * HAUL_AT1(t, 0);
}

HAUL_KERNEL_3D(fold_back_3, tile_kernels, HAUL_ALL(unsigned, u), HAUL_WRITE(unsigned, v))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(v, x, y, z) = HAUL_AT(u, 0, 0, 0) + 5 * HAUL_AT(u, x / 2, y / 2, z / 2);
}

HAUL_REDUCE_3D(plain_3, tile_kernels, HAUL_READ(unsigned, u, 0), HAUL_SUM(unsigned, sum))
{
    HAUL_ROW3(x, y, z)
    HAUL_ADD(sum, HAUL_AT(u, x, y, z));
}

HAUL_REDUCE_1D(sum_1, tile_kernels, HAUL_READ(double, u, 0), HAUL_SUM(double, sum))
{
    HAUL_ROW1(x)
    HAUL_ADD(sum, HAUL_AT1(u, x));
}

HAUL_REDUCE_3D(norms_3, tile_kernels, HAUL_READ(double, u, 0), HAUL_WRITE(double, v),
               HAUL_SUM(double, sum), HAUL_MAX(float, most), HAUL_MIN(int, least))
{
    HAUL_ROW3(x, y, z)
    {
        const double value = HAUL_AT(u, x, y, z);
        HAUL_AT(v, x, y, z) = 2 * value;
        HAUL_ADD(sum, value * value);
        HAUL_MOST(most, (float)value);
        HAUL_LEAST(least, (int)value);
    }
}

HAUL_KERNEL_3D(heat_3, tile_kernels, HAUL_READ(double, u, 1), HAUL_WRITE(double, v))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(v, x, y, z) = HAUL_AT(u, x - 1, y, z) + HAUL_AT(u, x + 1, y, z) -
                              HAUL_AT(u, x, y - 1, z) - HAUL_AT(u, x, y + 1, z) +
                              HAUL_AT(u, x, y, z - 1) + HAUL_AT(u, x, y, z + 1);
}

typedef struct sample {
    double value;
    int count;
} sample;

HAUL_KERNEL_3D(sample_3, tile_kernels, HAUL_READ(sample, u, 1), HAUL_WRITE(sample, v))
{
    HAUL_FOR3 (x, y, z) {
        sample it = HAUL_AT(u, x, y, z);
        it.value += HAUL_AT(u, x - 1, y, z).value - HAUL_AT(u, x, y + 1, z - 1).value;
        it.count += HAUL_AT(u, x + 1, y - 1, z + 1).count;
        HAUL_AT(v, x, y, z) = it;
    }
}

HAUL_KERNEL_3D(sample_edge_3, tile_kernels, HAUL_UPDATE(sample, u, 0))
{
    HAUL_FOR3 (x, y, z) {
        const sample it = {x + 2 * y - z, 7 * x - y};
        HAUL_AT(u, x, y, z) = it;
    }
}

HAUL_REDUCE_3D(sample_least_3, tile_kernels, HAUL_READ(sample, u, 0), HAUL_MIN(int, least))
{
    HAUL_ROW3(x, y, z)
    HAUL_LEAST(least, HAUL_AT(u, x, y, z).count);
}
