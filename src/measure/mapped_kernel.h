/* Moves data between memory of the device and mapped memory, over the link. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(hl_measure_mapped_kernel)

HAUL_KERNEL_1D(transmit, hl_measure_mapped_kernel, HAUL_IN(float, from), HAUL_OUT(float, to))
{
    HAUL_FOR1 (i)
        to[i] = from[i];
}
