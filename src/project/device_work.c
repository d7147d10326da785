#include "project/device_work.h"

#include "base/fail.h"

/* Kernels of one shape together; the last ones are those without a known shape. */
typedef struct launch_sum {
    double count;
    double seconds;
} launch_sum;

static void sum_launches(const haul_workload *workload, launch_sum *sums, haul_projection *out)
{
    const size_t shapes = workload->shape_count;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (op->kind == HAUL_OP_MEMSET)
            out->recorded_memsets_s += 1e-9 * (double)op->dur_ns;
        if (op->kind != HAUL_OP_KERNEL)
            continue;
        launch_sum *sum = &sums[op->shape < shapes ? op->shape : shapes];
        sum->count++;
        sum->seconds += 1e-9 * (double)op->dur_ns;
    }
    for (size_t i = 0; i <= shapes; i++)
        out->recorded_kernels_s += sums[i].seconds;
}

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

static haul_status scale_kernels(const haul_device_work *self, const launch_sum *sums,
                                 haul_work_scale *scales, haul_estimate *out, haul_error *error)
{
    const haul_workload *workload = self->workload;
    haul_estimate total = {0};
    for (size_t i = 0; i <= workload->shape_count; i++) {
        if (sums[i].count <= 0)
            continue;
        haul_kernel_launches launches = {.count = sums[i].count};
        if (i < workload->shape_count) {
            launches.blocks = volume(workload->shapes[i].grid);
            launches.block = volume(workload->shapes[i].block);
        }
        haul_estimate one;
        const haul_status status = haul_kernel_scale_launches(self->from, self->to, &launches,
                                                              sums[i].seconds, &one, error);
        if (status)
            return status;
        scales[i] = scale_of(&one, sums[i].seconds);
        total = (haul_estimate){total.seconds + one.seconds, total.low_s + one.low_s,
                                total.high_s + one.high_s, one.weakest, one.model};
    }
    *out = total;
    return HAUL_OK;
}

static haul_status scale_both(const haul_device_work *self, const launch_sum *sums,
                              haul_projection *out, haul_work_scales *scales, haul_error *error)
{
    if (!self->from)
        return haul_fail(error, HAUL_MISSING, "%s", self->unknown);
    haul_status status = HAUL_OK;
    if (out->recorded_kernels_s > 0)
        status = scale_kernels(self, sums, scales->kernels, &out->kernels, error);
    if (!status && out->recorded_memsets_s > 0)
        status =
            haul_kernel_scale(self->from, self->to, out->recorded_memsets_s, &out->memsets, error);
    if (!status)
        scales->memsets = scale_of(&out->memsets, out->recorded_memsets_s);
    return status;
}

static void keep_all(const haul_workload *workload, haul_work_scales *scales)
{
    for (size_t i = 0; i <= workload->shape_count; i++)
        scales->kernels[i] = unscaled;
    scales->memsets = unscaled;
}

haul_status haul_device_work_scale(const haul_device_work *self, haul_projection *out,
                                   haul_work_scales *scales, haul_error *error)
{
    const size_t count = self->workload->shape_count + 1;
    launch_sum *sums = haul_arena_alloc(self->arena, count * sizeof *sums);
    scales->kernels = haul_arena_alloc(self->arena, count * sizeof *scales->kernels);
    if (!sums || !scales->kernels)
        return haul_fail_no_memory(error);
    sum_launches(self->workload, sums, out);
    keep_all(self->workload, scales);
    haul_error cause = {0};
    const haul_status status = scale_both(self, sums, out, scales, &cause);
    if (status == HAUL_MISSING) {
        keep_all(self->workload, scales);
        out->kernels = out->memsets = (haul_estimate){0};
        out->kernels_missing = haul_arena_string(self->arena, cause.text);
        return out->kernels_missing ? HAUL_OK : haul_fail_no_memory(error);
    }
    if (status && error)
        *error = cause;
    return status;
}
