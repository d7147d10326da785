/* The kernel as Fortran finds it: a function that gives its address. */
#include "heat.kernel.h"

const haul_kernel_source *heat_kernel(void);

const haul_kernel_source *heat_kernel(void)
{
    return &heat;
}
