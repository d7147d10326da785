/* The loops of the examples: one text for the host, OpenCL, CUDA and HIP. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(loops_file)

/* The wave equation with two time levels: the level before becomes the level after. */
HAUL_KERNEL_3D(wave, loops_file, HAUL_READ(double, now, 1), HAUL_UPDATE(double, other, 0),
               HAUL_VALUE(double, c))
{
    HAUL_FOR3 (x, y, z)
        HAUL_AT(other, x, y, z) =
            2 * HAUL_AT(now, x, y, z) - HAUL_AT(other, x, y, z) +
            c * (HAUL_AT(now, x - 1, y, z) + HAUL_AT(now, x + 1, y, z) + HAUL_AT(now, x, y - 1, z) +
                 HAUL_AT(now, x, y + 1, z) + HAUL_AT(now, x, y, z - 1) + HAUL_AT(now, x, y, z + 1) -
                 6 * HAUL_AT(now, x, y, z));
}

typedef struct weights {
    float at[5][5];
} weights;

HAUL_KERNEL_2D(convolve, loops_file, HAUL_READ(float, from, 2), HAUL_WRITE(float, to),
               HAUL_VALUE(weights, filter))
{
    HAUL_FOR2 (x, y) {
        float sum = 0;
        for (int j = -2; j <= 2; j++)
            for (int i = -2; i <= 2; i++)
                sum += filter.at[j + 2][i + 2] * HAUL_AT2(from, x + i, y + j);
        HAUL_AT2(to, x, y) = sum;
    }
}

typedef struct row_length {
    int cells;
} row_length;

/* Reductions: one number of all cells. */
HAUL_REDUCE_3D(total, loops_file, HAUL_READ(double, u, 0), HAUL_SUM(double, sum),
               HAUL_MAX(double, most))
{
    HAUL_ROW3(x, y, z)
    {
        HAUL_ADD(sum, HAUL_AT(u, x, y, z));
        HAUL_MOST(most, HAUL_AT(u, x, y, z));
    }
}

/* Each row's sum, by an inner loop of the kernel's own. */
HAUL_KERNEL_2D(sum_rows, loops_file, HAUL_READ(double, u, 0), HAUL_WRITE(double, sums),
               HAUL_VALUE(row_length, length))
{
    HAUL_FOR2 (y, z) {
        double sum = 0;
        for (int x = 0; x < length.cells; x++)
            sum += HAUL_AT(u, x, y, z);
        HAUL_AT2(sums, y, z) = sum;
    }
}
