/* Loops of as many arrays as a kernel may have. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(tile_many)

HAUL_KERNEL_1D(sixteen_1, tile_many, HAUL_READ(int, u0, 0), HAUL_READ(int, u1, 1),
               HAUL_READ(int, u2, 1), HAUL_READ(int, u3, 0), HAUL_READ(int, u4, 1),
               HAUL_READ(int, u5, 1), HAUL_READ(int, u6, 0), HAUL_READ(int, u7, 1),
               HAUL_READ(int, u8, 1), HAUL_READ(int, u9, 0), HAUL_READ(int, u10, 1),
               HAUL_READ(int, u11, 1), HAUL_READ(int, u12, 0), HAUL_READ(int, u13, 1),
               HAUL_READ(int, u14, 1), HAUL_WRITE(int, v))
{
    HAUL_FOR1 (x)
        HAUL_AT1(v, x) = 1 * HAUL_AT1(u0, x) + 2 * HAUL_AT1(u1, x + 1) + 3 * HAUL_AT1(u2, x - 1) +
                         4 * HAUL_AT1(u3, x) + 5 * HAUL_AT1(u4, x + 1) + 6 * HAUL_AT1(u5, x - 1) +
                         7 * HAUL_AT1(u6, x) + 8 * HAUL_AT1(u7, x + 1) + 9 * HAUL_AT1(u8, x - 1) +
                         10 * HAUL_AT1(u9, x) + 11 * HAUL_AT1(u10, x + 1) +
                         12 * HAUL_AT1(u11, x - 1) + 13 * HAUL_AT1(u12, x) +
                         14 * HAUL_AT1(u13, x + 1) + 15 * HAUL_AT1(u14, x - 1);
}

/* The last of its parameters is hidden: thirteen arrays, a value and two results. */
HAUL_REDUCE_1D(thirteen_1, tile_many, HAUL_READ(int, u0, 0), HAUL_READ(int, u1, 0),
               HAUL_READ(int, u2, 0), HAUL_READ(int, u3, 0), HAUL_READ(int, u4, 0),
               HAUL_READ(int, u5, 0), HAUL_READ(int, u6, 0), HAUL_READ(int, u7, 0),
               HAUL_READ(int, u8, 0), HAUL_READ(int, u9, 0), HAUL_READ(int, u10, 0),
               HAUL_READ(int, u11, 0), HAUL_READ(int, u12, 0), HAUL_VALUE(int, k),
               HAUL_SUM(int, sum), HAUL_MAX(int, most))
{
    HAUL_ROW1(x)
    {
        HAUL_ADD(sum, k * HAUL_AT1(u0, x) + HAUL_AT1(u12, x) - HAUL_AT1(u5, x));
        HAUL_MOST(most, HAUL_AT1(u1, x) + HAUL_AT1(u2, x) + HAUL_AT1(u3, x) + HAUL_AT1(u4, x) +
                            HAUL_AT1(u6, x) + HAUL_AT1(u7, x) + HAUL_AT1(u8, x) + HAUL_AT1(u9, x) +
                            HAUL_AT1(u10, x) + HAUL_AT1(u11, x));
    }
}
