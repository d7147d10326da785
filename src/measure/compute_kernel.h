/* The work on data between a program's copies. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(hl_measure_compute_kernel)

HAUL_KERNEL_2D(count_up, hl_measure_compute_kernel, HAUL_INOUT(float, x), HAUL_VALUE(int, width))
{
    HAUL_FOR2 (column, row)
        x[row * width + column] += 1;
}
