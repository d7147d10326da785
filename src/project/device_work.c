#include "project/device_work.h"

#include "base/fail.h"

static double sum_of(const haul_workload *workload, haul_op_kind kind)
{
    double sum_ns = 0;
    for (size_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].kind == kind)
            sum_ns += (double)workload->ops[i].dur_ns;
    return 1e-9 * sum_ns;
}

static haul_status carry_both(const haul_machine *from, const haul_machine *to,
                              haul_projection *projection, haul_error *error)
{
    haul_status status = HAUL_OK;
    if (projection->recorded_kernels_s > 0)
        status = haul_kernel_carry(from, to, projection->recorded_kernels_s, &projection->kernels,
                                   error);
    if (!status && projection->recorded_memsets_s > 0)
        status = haul_kernel_carry(from, to, projection->recorded_memsets_s, &projection->memsets,
                                   error);
    return status;
}

haul_status haul_device_work_carry(const haul_workload *workload, const haul_carry_gpus *gpus,
                                   haul_arena *arena, haul_projection *projection,
                                   haul_error *error)
{
    projection->recorded_kernels_s = sum_of(workload, HAUL_OP_KERNEL);
    projection->recorded_memsets_s = sum_of(workload, HAUL_OP_MEMSET);
    haul_error cause = {0};
    const haul_status status = gpus->from ? carry_both(gpus->from, gpus->to, projection, &cause)
                                          : haul_fail(&cause, HAUL_MISSING, "%s", gpus->unknown);
    if (status == HAUL_OK)
        return HAUL_OK;
    if (status != HAUL_MISSING) {
        if (error)
            *error = cause;
        return status;
    }
    projection->kernels = projection->memsets = (haul_estimate){0};
    projection->kernels_missing = haul_arena_string(arena, cause.text);
    return projection->kernels_missing ? HAUL_OK : haul_fail_no_memory(error);
}
