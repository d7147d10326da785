/* Weights that are added to the cells that a map says: integers by any thread, and floating-point
 * numbers in order. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(scatter_file)

HAUL_KERNEL_1D(add_whole, scatter_file, HAUL_READ(int, map, 0), HAUL_READ(double, weight, 0),
               HAUL_SCATTER(long, sums))
{
    HAUL_FOR1 (x)
        HAUL_ADD_AT1(sums, HAUL_AT1(map, x), 1048576 * HAUL_AT1(weight, x));
}

HAUL_KERNEL_1D(add_ordered, scatter_file, HAUL_READ(int, map, 0), HAUL_READ(double, weight, 0),
               HAUL_SCATTER(double, sums))
{
    HAUL_FOR1 (x)
        HAUL_ADD_AT1(sums, HAUL_AT1(map, x), HAUL_AT1(weight, x));
}
