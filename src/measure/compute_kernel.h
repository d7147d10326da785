/* What a program does to data between its copies. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(compute_kernel)

HAUL_KERNEL_1D(count_up, compute_kernel, HAUL_INOUT(float, x))
{
    HAUL_FOR1 (i)
        x[i] += 1;
}
