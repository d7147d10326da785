/* Kernels are scaled by their launch shape, since that decides whether a kernel fills the GPU; all
 * launches of a shape share one factor. */
#include "project/device_work.h"

#include "base/fail.h"

/* Kernels of one shape together; the last ones are those without a known shape. */
typedef struct launch_sum {
    double count;
    double seconds;
} launch_sum;

static double volume(const uint32_t size[3])
{
    return (double)size[0] * (double)size[1] * (double)size[2];
}

static const haul_work_scale unscaled = {1, 1, 1};

static haul_work_scale scale_of(const haul_estimate *scaled, double recorded_s)
{
    if (recorded_s <= 0)
        return unscaled;
    return (haul_work_scale){.likely = scaled->seconds / recorded_s,
                             .low = scaled->low_s / recorded_s,
                             .high = scaled->high_s / recorded_s};
}

static void keep_all(const haul_workload *workload, haul_work_scales *scales)
{
    for (size_t i = 0; i <= workload->shape_count; i++)
        scales->kernels[i] = unscaled;
    scales->memsets = unscaled;
}

/* Also with no kernels and no memsets the source GPU must be known, so that the note says so. */
static haul_status scale_all(const haul_device_work *self, const launch_sum *sums,
                             haul_projection *out, haul_work_scales *scales, haul_error *error)
{
    const haul_workload *workload = self->workload;
    if (!self->from)
        return haul_fail(error, HAUL_MISSING, "%s", self->unknown);
    for (size_t i = 0; out->recorded_kernels_s > 0 && i <= workload->shape_count; i++) {
        haul_kernel_launches launches = {.count = sums[i].count};
        haul_estimate one, *total = &out->kernels;
        if (sums[i].count <= 0)
            continue;
        if (i < workload->shape_count) {
            launches.blocks = volume(workload->shapes[i].grid);
            launches.block = volume(workload->shapes[i].block);
        }
        const haul_status status = haul_kernel_scale_launches(self->from, self->to, &launches,
                                                              sums[i].seconds, &one, error);
        if (status)
            return status;
        scales->kernels[i] = scale_of(&one, sums[i].seconds);
        *total = (haul_estimate){total->seconds + one.seconds, total->low_s + one.low_s,
                                 total->high_s + one.high_s, one.weakest, one.model};
    }
    const haul_status status =
        out->recorded_memsets_s > 0
            ? haul_kernel_scale(self->from, self->to, out->recorded_memsets_s, &out->memsets, error)
            : HAUL_OK;
    if (!status)
        scales->memsets = scale_of(&out->memsets, out->recorded_memsets_s);
    return status;
}

haul_status haul_device_work_scale(const haul_device_work *self, haul_projection *out,
                                   haul_work_scales *scales, haul_error *error)
{
    const haul_workload *workload = self->workload;
    const size_t shapes = workload->shape_count;
    launch_sum *sums = haul_arena_alloc(self->arena, (shapes + 1) * sizeof *sums);
    scales->kernels = haul_arena_alloc(self->arena, (shapes + 1) * sizeof *scales->kernels);
    if (!sums || !scales->kernels)
        return haul_fail_no_memory(error);
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        const double time_s = 1e-9 * (double)op->dur_ns;
        if (op->kind == HAUL_OP_MEMSET)
            out->recorded_memsets_s += time_s;
        if (op->kind != HAUL_OP_KERNEL)
            continue;
        launch_sum *sum = &sums[op->shape < shapes ? op->shape : shapes];
        sum->count++;
        sum->seconds += time_s;
    }
    for (size_t i = 0; i <= shapes; i++)
        out->recorded_kernels_s += sums[i].seconds;
    keep_all(workload, scales);
    haul_error cause = {0};
    const haul_status status = scale_all(self, sums, out, scales, &cause);
    if (status == HAUL_MISSING) {
        keep_all(workload, scales);
        out->kernels = out->memsets = (haul_estimate){0};
        out->kernels_missing = haul_arena_string(self->arena, cause.text);
        return out->kernels_missing ? HAUL_OK : haul_fail_no_memory(error);
    }
    if (status && error)
        *error = cause;
    return status;
}
