/* A kernel that does next to nothing. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(bench_file)

HAUL_KERNEL_1D(touch, bench_file, HAUL_INOUT(int, x))
{
    HAUL_FOR1 (i)
        x[i] += 1;
}
