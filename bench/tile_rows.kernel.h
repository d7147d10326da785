/* Loops over rows, whose cells follow each other in memory. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(tile_rows)

HAUL_KERNEL_1D(add_rows, tile_rows, HAUL_READ(double, a, 0), HAUL_READ(double, b, 0),
               HAUL_WRITE(double, c))
{
    HAUL_FOR1 (x)
        HAUL_AT1(c, x) = HAUL_AT1(a, x) + HAUL_AT1(b, x);
}

HAUL_REDUCE_1D(sum_rows, tile_rows, HAUL_READ(double, a, 0), HAUL_SUM(double, sum))
{
    HAUL_ROW1(x)
    HAUL_ADD(sum, HAUL_AT1(a, x));
}

/* A row of the product by each index: c = a b, where b is a matrix in one dimension. */
HAUL_KERNEL_1D(multiply_rows, tile_rows, HAUL_READ(double, a, 0), HAUL_ALL(double, b),
               HAUL_WRITE(double, c), HAUL_VALUE(int, n))
{
    HAUL_FOR1 (y) {
        for (int x = 0; x < n; x++)
            HAUL_AT2(c, x, y) = 0;
        for (int k = 0; k < n; k++) {
            const double factor = HAUL_AT2(a, k, y);
            for (int x = 0; x < n; x++)
                HAUL_AT2(c, x, y) += factor * HAUL_AT1(b, k * n + x);
        }
    }
}
