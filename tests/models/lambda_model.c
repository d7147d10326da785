/* A kernel model that calls what haul/kernel.h declares, lent by the program that loads it: BSP
 * over the lambda of the size. */
#include "haul/kernel.h"

static haul_status time_of(const haul_kernel_case *what, haul_estimate *out, haul_error *error)
{
    double seconds = 0;
    const haul_status status = haul_kernel_bsp(&what->target->gpu, &what->counts, &seconds, error);
    if (status)
        return status;
    seconds /= haul_kernel_fit_calibration(what->fit, what->size);
    *out = (haul_estimate){
        .seconds = seconds,
        .low_s = seconds,
        .high_s = seconds,
        .weakest = HAUL_PROVENANCE_SCALED,
        .model = "by-lambda",
    };
    return HAUL_OK;
}

const haul_kernel_model *haul_kernel_model_entry(void)
{
    static const haul_kernel_model model = {
        .abi = HAUL_KERNEL_MODEL_ABI,
        .name = "by-lambda",
        .summary = "BSP over the lambda of the size",
        .time = time_of,
    };
    return &model;
}
