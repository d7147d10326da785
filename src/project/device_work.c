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

/* Kernels that were launched alike, together; the last ones are those of unknown shape. */
typedef struct launch_sum {
    double count;
    double seconds;
} launch_sum;

static launch_sum *sum_launches(const haul_workload *workload, haul_arena *arena)
{
    launch_sum *sums = haul_arena_alloc(arena, (workload->shape_count + 1) * sizeof *sums);
    for (size_t i = 0; sums && i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        if (op->kind != HAUL_OP_KERNEL)
            continue;
        launch_sum *sum =
            &sums[op->shape < workload->shape_count ? op->shape : workload->shape_count];
        sum->count++;
        sum->seconds += 1e-9 * (double)op->dur_ns;
    }
    return sums;
}

static double volume(const uint32_t size[3])
{
    return (double)size[0] * (double)size[1] * (double)size[2];
}

static void add(haul_estimate *sum, const haul_estimate *one)
{
    *sum = (haul_estimate){sum->seconds + one->seconds, sum->low_s + one->low_s,
                           sum->high_s + one->high_s, one->weakest, one->model};
}

static const haul_work_scale unscaled = {1, 1, 1};

static haul_work_scale scale_of(const haul_estimate *carried, double recorded_s)
{
    if (recorded_s <= 0)
        return unscaled;
    return (haul_work_scale){.likely = carried->seconds / recorded_s,
                             .low = carried->low_s / recorded_s,
                             .high = carried->high_s / recorded_s};
}

static haul_status carry_kernels(const haul_workload *workload, const haul_carry_gpus *gpus,
                                 const launch_sum *sums, haul_work_scale *scales,
                                 haul_estimate *out, haul_error *error)
{
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
        const haul_status status = haul_kernel_carry_launches(gpus->from, gpus->to, &launches,
                                                              sums[i].seconds, &one, error);
        if (status)
            return status;
        scales[i] = scale_of(&one, sums[i].seconds);
        add(&total, &one);
    }
    *out = total;
    return HAUL_OK;
}

/* What one run of the carrying works on. */
typedef struct carrying {
    const haul_workload *workload;
    const haul_carry_gpus *gpus;
    const launch_sum *sums;
    haul_work_scale *kernels; /* scales */
    haul_work_scale memsets;
} carrying;

static haul_status carry_both(carrying *self, haul_projection *projection, haul_error *error)
{
    const haul_carry_gpus *gpus = self->gpus;
    if (!gpus->from)
        return haul_fail(error, HAUL_MISSING, "%s", gpus->unknown);
    haul_status status = HAUL_OK;
    if (projection->recorded_kernels_s > 0)
        status = carry_kernels(self->workload, gpus, self->sums, self->kernels,
                               &projection->kernels, error);
    if (!status && projection->recorded_memsets_s > 0)
        status = haul_kernel_carry(gpus->from, gpus->to, projection->recorded_memsets_s,
                                   &projection->memsets, error);
    if (!status)
        self->memsets = scale_of(&projection->memsets, projection->recorded_memsets_s);
    return status;
}

static void keep_all(carrying *self)
{
    for (size_t i = 0; i <= self->workload->shape_count; i++)
        self->kernels[i] = unscaled;
    self->memsets = unscaled;
}

haul_status haul_device_work_carry(const haul_workload *workload, const haul_carry_gpus *gpus,
                                   haul_arena *arena, haul_projection *projection,
                                   haul_work_scales *scales, haul_error *error)
{
    carrying self = {
        .workload = workload,
        .gpus = gpus,
        .sums = sum_launches(workload, arena),
        .kernels = haul_arena_alloc(arena, (workload->shape_count + 1) * sizeof *self.kernels)};
    if (!self.sums || !self.kernels)
        return haul_fail_no_memory(error);
    keep_all(&self);
    projection->recorded_kernels_s = sum_of(workload, HAUL_OP_KERNEL);
    projection->recorded_memsets_s = sum_of(workload, HAUL_OP_MEMSET);
    haul_error cause = {0};
    const haul_status status = carry_both(&self, projection, &cause);
    if (status && status != HAUL_MISSING) {
        if (error)
            *error = cause;
        return status;
    }
    if (status) {
        keep_all(&self);
        projection->kernels = projection->memsets = (haul_estimate){0};
        projection->kernels_missing = haul_arena_string(arena, cause.text);
    }
    if (status && !projection->kernels_missing)
        return haul_fail_no_memory(error);
    *scales = (haul_work_scales){self.kernels, self.memsets};
    return HAUL_OK;
}
