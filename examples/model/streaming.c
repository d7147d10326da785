/* A kernel model of one's own: kernels that stream, at three quarters of the board's memory
 * bandwidth. Like a copy model it needs the headers and nothing of libhaul. */
#include <stdio.h>

#include "haul/kernel.h"

static const double reached = 0.75; /* yours to measure */

static haul_status lacks(const char *what, haul_error *error)
{
    if (error) {
        *error = (haul_error){.status = HAUL_STATUS_MISSING};
        snprintf(error->text, sizeof error->text, "streaming: %s", what);
    }
    return HAUL_STATUS_MISSING;
}

static haul_status time_of(const haul_kernel_case *what, haul_estimate *out, haul_error *error)
{
    const double rate = what->target->gpu.memory_bandwidth_Bps.value;
    if (rate <= 0)
        return lacks("the machine has no gpu.memory_bandwidth", error);
    if (what->counts.bytes <= 0)
        return lacks("the kernel does not say its bytes", error);
    const double seconds = what->counts.bytes / (reached * rate);
    *out = (haul_estimate){
        .seconds = seconds,
        .low_s = reached * seconds, /* at the full bandwidth */
        .high_s = 1.5 * seconds,
        .weakest = HAUL_PROVENANCE_DATASHEET,
        .model = "streaming",
    };
    return HAUL_OK;
}

const haul_kernel_model *haul_kernel_model_entry(void)
{
    static const haul_kernel_model model = {
        .abi = HAUL_KERNEL_MODEL_ABI,
        .name = "streaming",
        .summary = "the kernel's bytes at three quarters of the memory's bandwidth",
        .time = time_of,
    };
    return &model;
}
