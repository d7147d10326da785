/* Kernels on another GPU, by name and launch shape: all launches of a name and shape share one
 * factor. A shape decides whether a kernel fills the GPU, a name what bounds it. */
#include "project/device_work.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/fail.h"
#include "base/grow.h"
#include "base/index.h"
#include "kernel/gpu_rates.h"
#include "project/product_precision.h"
#include "project/row_places.h"
#include "project/same_launches.h"
#include "workload/places.h"

static bool is_group(const void *of, uint32_t number, const void *key)
{
    const hl_project_launch_group *at = &((const hl_project_launch_groups *)of)->items[number],
                                  *sought = key;
    return at->name == sought->name && at->shape == sought->shape;
}

static uint32_t shape_of(const hl_project_launch_groups *self, const haul_op *op)
{
    return op->shape < self->workload->shape_count ? op->shape : HAUL_NONE;
}

static uint32_t hash_of(uint32_t name, uint32_t shape)
{
    const uint32_t words[] = {name, shape};
    return hl_base_hash(words, sizeof words);
}

uint32_t hl_project_launch_groups_find(const hl_project_launch_groups *self, const haul_op *op)
{
    const hl_project_launch_group sought = {.name = op->name, .shape = shape_of(self, op)};
    const uint32_t hash = hash_of(sought.name, sought.shape);
    return hl_base_index_find(&self->index, hash, is_group, self, &sought)->number - 1;
}

/* The group of a name and shape, which is made where there is none; HAUL_NONE without memory. */
static uint32_t group_of(hl_project_launch_groups *self, uint32_t name, uint32_t shape)
{
    const hl_project_launch_group sought = {.name = name, .shape = shape};
    if (!hl_base_index_reserve(&self->index) ||
        !hl_base_grow(&self->items, &self->capacity, self->count + 1, sizeof *self->items))
        return HAUL_NONE;
    const uint32_t hash = hash_of(name, shape);
    hl_base_index_slot *slot = hl_base_index_find(&self->index, hash, is_group, self, &sought);
    if (!slot->number) {
        self->items[self->count++] = sought;
        *slot = (hl_base_index_slot){(uint32_t)self->count, hash};
        self->index.count++;
    }
    return slot->number - 1;
}

static bool add_launch(hl_project_launch_groups *self, const haul_op *op, uint32_t *last)
{
    const uint32_t shape = shape_of(self, op);
    const hl_project_launch_group *before = *last != HAUL_NONE ? &self->items[*last] : NULL;
    if (!before || before->name != op->name || before->shape != shape)
        *last = group_of(self, op->name, shape);
    if (*last == HAUL_NONE)
        return false;
    self->items[*last].count++;
    const double seconds = 1e-9 * (double)op->dur_ns;
    hl_project_launch_group *group = &self->items[*last];
    group->seconds += seconds;
    return true;
}

static haul_status group_kernels(const haul_workload *workload, hl_project_launch_groups *out,
                                 haul_error *error)
{
    uint32_t last = HAUL_NONE;
    out->workload = workload;
    for (size_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].kind == HAUL_OP_KERNEL && !add_launch(out, &workload->ops[i], &last))
            return hl_base_fail_no_memory(error);
    return HAUL_OK;
}

static void release(hl_project_launch_groups *self)
{
    hl_base_index_release(&self->index);
    free(self->items);
}

void hl_project_work_scales_release(hl_project_work_scales *self)
{
    release(&self->groups);
}

/* A row for each name, with its class; groups learn their row. */
static haul_status make_rows(const hl_project_device_work *self, hl_project_launch_groups *groups,
                             haul_projection *out, haul_error *error)
{
    hl_project_launch_groups names = {0}; /* one group a name */
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < groups->count; i++) {
        groups->items[i].row = group_of(&names, groups->items[i].name, HAUL_NONE);
        if (groups->items[i].row == HAUL_NONE)
            status = hl_base_fail_no_memory(error);
    }
    out->kernel_rows =
        hl_base_arena_alloc(self->arena, (names.count + 1) * sizeof *out->kernel_rows);
    if (!out->kernel_rows) {
        release(&names);
        return hl_base_fail_no_memory(error);
    }
    for (size_t i = 0; !status && i < names.count; i++) {
        const uint32_t name = names.items[i].name;
        haul_kernel_row *row = &out->kernel_rows[out->kernel_row_count++];
        *row = (haul_kernel_row){.bound = HAUL_KERNEL_BOUNDS};
        row->name = name == HAUL_NONE ? "" : haul_workload_string(self->workload, name);
        row->kind = haul_kernel_kind_of(row->name, self->classes);
        row->as = row->kind.kind;
    }
    for (size_t i = 0; !status && i < groups->count; i++) {
        haul_kernel_row *row = &out->kernel_rows[groups->items[i].row];
        row->count += groups->items[i].count;
        row->recorded_s += groups->items[i].seconds;
    }
    release(&names);
    return status;
}

static double volume(const uint32_t size[3])
{
    return (double)size[0] * (double)size[1] * (double)size[2];
}

static hl_project_work_scale scale_of(const haul_estimate *scaled, double recorded_s)
{
    if (recorded_s <= 0)
        return (hl_project_work_scale){1, 1, 1};
    return (hl_project_work_scale){.likely = scaled->seconds / recorded_s,
                                   .low = scaled->low_s / recorded_s,
                                   .high = scaled->high_s / recorded_s};
}

static void add_estimate(haul_estimate *sum, const haul_estimate *one)
{
    sum->seconds += one->seconds;
    sum->low_s += one->low_s;
    sum->high_s += one->high_s;
    sum->weakest = haul_provenance_weaker(sum->weakest, one->weakest);
    sum->model = !sum->model || sum->model == one->model ? one->model : "class";
}

/* Flops and bytes of what is counted, or of products in fp32 whose operands are known: those in
 * other precisions have other peaks than the roofline that these are for. */
static void add_counted(haul_kernel_row *row, const haul_kernel_work *work,
                        const hl_project_launch_group *group, double predicted_s)
{
    const haul_operands *of = &work->operands;
    const bool is_product =
        row->kind.kind == HAUL_KERNEL_CLASS_PRODUCT && row->kind.precision == HAUL_PRECISION_FP32;
    double flops = work->flops, bytes = work->bytes;
    if (!(flops > 0) && !(bytes > 0) && is_product) {
        flops = 2 * (double)of->batch * (double)of->rows * (double)of->columns * (double)of->inner;
        bytes = (double)of->bytes;
    }
    if (!(flops > 0) || !(bytes > 0))
        return;
    row->flops += flops * (double)group->count;
    row->bytes += bytes * (double)group->count;
    row->counted_s += group->seconds;
    row->counted_predicted_s += predicted_s;
}

/* Collectives keep their recorded time: the ratio of the two machines' links was further from
 * public profiles of one program on two machines than that. Its interval reaches to the ratio, for
 * the recorded time is transfer and waiting for other ranks in shares that one profile does not
 * tell.
 */
static haul_status scale_collective(const hl_project_device_work *self,
                                    const hl_project_launch_group *group, haul_estimate *estimate,
                                    haul_projection *out, haul_error *error)
{
    const haul_op like = {.kind = HAUL_OP_KERNEL, .name = group->name, .shape = group->shape};
    const haul_communication of = haul_communication_of(self->workload, &like);
    haul_estimate there, here;
    haul_error cause;
    haul_status status = haul_collective_time(self->from, &of, &there, &cause);
    if (!status)
        status = haul_collective_time(self->to, &of, &here, &cause);
    if (status == HAUL_STATUS_NO_MEMORY)
        return hl_base_fail_no_memory(error);
    if (status) {
        if (!out->collectives_missing)
            out->collectives_missing = hl_base_arena_string(self->arena, cause.text);
        return out->collectives_missing ? HAUL_OK : hl_base_fail_no_memory(error);
    }
    const double ratio = here.seconds / there.seconds;
    out->keeps_collectives |= fabs(ratio - 1) > 1e-9;
    estimate->low_s *= fmin(1, ratio);
    estimate->high_s *= fmax(1, ratio);
    estimate->weakest = haul_provenance_weaker(estimate->weakest, here.weakest);
    return HAUL_OK;
}

/* By a rate of products or by the nominal peak: a machine file may have either alone. */
static bool has_tf32(const haul_gpu *gpu)
{
    return gpu->product_flops[HAUL_PRECISION_TF32].provenance ||
           gpu->tensor_flops[HAUL_PRECISION_TF32].provenance;
}

/* Whether a library uses TF32 for products in fp32 is the program's to say (PyTorch did so by
 * default up to 1.11), and a GPU that has none does not tell it. A product that ran in fp32 on one
 * that has it did so at the program's will. */
static bool may_be_tf32(const hl_project_device_work *self, const haul_kernel_work *work)
{
    return work->kind.kind == HAUL_KERNEL_CLASS_PRODUCT &&
           work->kind.precision == HAUL_PRECISION_FP32 && !has_tf32(&self->from->gpu) &&
           has_tf32(&self->to->gpu);
}

/* Finds the sum of the kernels' times were they in TF32. */
static haul_status add_tf32(const hl_project_device_work *self, const haul_kernel_work *given,
                            const haul_kernel_prediction *in_fp32, haul_projection *out,
                            haul_error *error)
{
    haul_kernel_work work = *given;
    haul_kernel_prediction other;
    work.kind.precision = HAUL_PRECISION_TF32;
    HAUL_TRY(haul_kernel_predict(self->from, self->to, &work, &other, error));
    out->tf32_gain_s += in_fp32->estimate.seconds - other.estimate.seconds;
    return HAUL_OK;
}

/* Sums over all groups. */
typedef struct work_sums {
    hl_project_precisions precisions;
    double lacking_s[HAUL_PRECISIONS]; /* recorded, in precisions that the target lacks */
    haul_kernel_sum classes[HAUL_KERNEL_CLASSES];
} work_sums;

static haul_status predict_group(const hl_project_device_work *self,
                                 const hl_project_launch_group *group, haul_projection *out,
                                 work_sums *sums, hl_project_work_scale *scale, haul_error *error)
{
    const haul_workload *workload = self->workload;
    haul_kernel_row *row = &out->kernel_rows[group->row];
    haul_kernel_work work = {
        .kind = row->kind, .launches = {.count = (double)group->count}, .seconds = group->seconds};
    if (group->shape != HAUL_NONE) {
        const haul_shape *shape = &workload->shapes[group->shape];
        work.launches.blocks = volume(shape->grid);
        work.launches.block = volume(shape->block);
        work.launches.shared_bytes = shape->shared_bytes;
        for (int i = 0; i < 3; i++)
            work.launches.grid[i] = shape->grid[i];
        if (group->operands)
            work.operands = workload->operands[group->operands - 1];
    }
    work.kind.precision = hl_project_precision_of(&sums->precisions, &row->kind, &work.operands);
    if (self->tf32 && may_be_tf32(self, &work))
        work.kind.precision = HAUL_PRECISION_TF32;
    /* A source that lacks the precision did not run in it either: a name or an option says so. */
    if (!hl_kernel_gpu_lacks(&self->from->gpu, work.kind.precision) &&
        hl_kernel_gpu_lacks(&self->to->gpu, work.kind.precision))
        sums->lacking_s[work.kind.precision] += group->seconds;
    if (self->counters)
        haul_kernel_times_find(self->counters, row->name, &work.launches, &work.flops, &work.bytes);
    out->counters_match |= self->counters && (work.flops > 0 || work.bytes > 0);
    haul_kernel_prediction one;
    HAUL_TRY(haul_kernel_predict(self->from, self->to, &work, &one, error));
    if (row->kind.kind == HAUL_KERNEL_CLASS_COLLECTIVE) {
        HAUL_TRY(scale_collective(self, group, &one.estimate, out, error));
    }
    if (!self->tf32 && may_be_tf32(self, &work))
        HAUL_TRY(add_tf32(self, &work, &one, out, error));
    *scale = scale_of(&one.estimate, group->seconds);
    add_counted(row, &work, group, one.estimate.seconds);
    if (group->seconds >= row->most_s) {
        row->most_s = group->seconds;
        row->as = one.kind;
        row->bound = one.bound;
    }
    add_estimate(&row->predicted, &one.estimate);
    haul_kernel_sum_add(&sums->classes[row->kind.kind], &one);
    return HAUL_OK;
}

/* Kernels of a class miss partly together, those of different classes apart. The scales end where
 * the sum does, so that the whole run does. */
static void combine_classes(haul_projection *out, const haul_kernel_sum *sums,
                            hl_project_work_scales *scales, size_t count)
{
    double squared[2] = {0}, all[2] = {0};
    for (size_t i = 0; i < out->kernel_row_count; i++) {
        const haul_kernel_row *row = &out->kernel_rows[i];
        haul_kernel_class_sum *sum = &out->kernel_classes[row->kind.kind];
        sum->count += row->count;
        sum->recorded_s += row->recorded_s;
        add_estimate(&sum->predicted, &row->predicted);
        add_estimate(&out->kernels, &row->predicted);
    }
    for (int c = 0; c < HAUL_KERNEL_CLASSES; c++) {
        /* The class's ends, with its kernels' correlation; `squared` and `all` are of the sum of
         * all classes: half widths down and up, squared where classes miss apart and as if all
         * missed together.
         */
        haul_estimate *of = &out->kernel_classes[c].predicted;
        const double down = sqrt(haul_kernel_sum_squared(&sums[c], 0));
        const double up = sqrt(haul_kernel_sum_squared(&sums[c], 1));
        all[0] += of->seconds - of->low_s;
        all[1] += of->high_s - of->seconds;
        squared[0] += down * down;
        squared[1] += up * up;
        of->low_s = of->seconds - down;
        of->high_s = of->seconds + up;
    }
    const double low = all[0] > 0 ? sqrt(squared[0]) / all[0] : 1;
    const double high = all[1] > 0 ? sqrt(squared[1]) / all[1] : 1;
    out->kernels.low_s = out->kernels.seconds - sqrt(squared[0]);
    out->kernels.high_s = out->kernels.seconds + sqrt(squared[1]);
    for (size_t i = 0; i < count; i++) {
        hl_project_work_scale *scale = &scales->kernels[i];
        scale->low = scale->likely - low * (scale->likely - scale->low);
        scale->high = scale->likely + high * (scale->high - scale->likely);
    }
}

static int by_time(const void *a, const void *b)
{
    const haul_kernel_row *x = a, *y = b;
    const double of_x = fmax(x->recorded_s, x->predicted.seconds);
    const double of_y = fmax(y->recorded_s, y->predicted.seconds);
    return hl_base_compare_reals(of_y, of_x);
}

/* Sums the times of the reference's kernels by the class that their names tell. */
static haul_status sum_reference(const hl_project_device_work *self, haul_projection *out,
                                 haul_error *error)
{
    hl_project_launch_groups groups = {0};
    const haul_status status = group_kernels(self->reference, &groups, error);
    for (size_t i = 0; !status && i < groups.count; i++) {
        const uint32_t id = groups.items[i].name;
        const char *name = id == HAUL_NONE ? "" : haul_workload_string(self->reference, id);
        const haul_kernel_class kind = haul_kernel_kind_of(name, self->classes).kind;
        out->kernel_classes[kind].reference_s += groups.items[i].seconds;
    }
    release(&groups);
    return status;
}

static int longest_first(const void *a, const void *b)
{
    const haul_lacking *x = a, *y = b;
    return hl_base_compare_reals(y->recorded_s, x->recorded_s);
}

static haul_status predict_all(const hl_project_device_work *self,
                               const hl_project_launch_groups *groups, haul_projection *out,
                               hl_project_work_scales *scales, haul_error *error)
{
    work_sums sums = {0};
    if (!self->from)
        return haul_error_set(error, HAUL_STATUS_MISSING, "%s", self->unknown);
    out->peak_flops = self->from->gpu.fp32_flops.value;
    out->peak_Bps = self->from->gpu.memory_bandwidth_Bps.value;
    out->target_peak_flops = self->to->gpu.fp32_flops.value;
    out->target_peak_Bps = self->to->gpu.memory_bandwidth_Bps.value;
    for (size_t i = 0; i < out->kernel_row_count; i++)
        hl_project_precisions_add(&sums.precisions, &out->kernel_rows[i]);
    for (size_t i = 0; i < groups->count; i++)
        HAUL_TRY(predict_group(self, &groups->items[i], out, &sums, &scales->kernels[i], error));
    if (out->recorded_memsets_s > 0)
        HAUL_TRY(
            haul_kernel_scale(self->from, self->to, out->recorded_memsets_s, &out->memsets, error));
    for (int p = 0; p < HAUL_PRECISIONS; p++)
        if (sums.lacking_s[p] > 0)
            out->lacking[out->lacking_count++] = (haul_lacking){
                (haul_precision)p, hl_kernel_gpu_used_precision(&self->to->gpu, (haul_precision)p),
                sums.lacking_s[p]};
    qsort(out->lacking, out->lacking_count, sizeof *out->lacking, longest_first);
    combine_classes(out, sums.classes, scales, groups->count);
    scales->memsets = scale_of(&out->memsets, out->recorded_memsets_s);
    return HAUL_OK;
}

/* Before the rows are sorted, which groups number. */
static haul_status find_places(const haul_workload *workload,
                               const hl_project_launch_groups *groups, haul_projection *out,
                               haul_error *error)
{
    if (!hl_workload_has_origins(workload))
        return HAUL_OK;
    uint32_t *rows = malloc((workload->op_count + 1) * sizeof *rows);
    if (!rows)
        return hl_base_fail_no_memory(error);
    for (size_t i = 0; i < workload->op_count; i++)
        rows[i] = workload->ops[i].kind == HAUL_OP_KERNEL
                      ? groups->items[hl_project_launch_groups_find(groups, &workload->ops[i])].row
                      : HAUL_NONE;
    const haul_status status = hl_project_row_places_find(workload, rows, out, error);
    free(rows);
    return status;
}

haul_status hl_project_device_work_scale(const hl_project_device_work *self, haul_projection *out,
                                         hl_project_work_scales *scales, haul_error *error)
{
    const haul_workload *workload = self->workload;
    hl_project_launch_groups *groups = &scales->groups;
    HAUL_TRY(group_kernels(workload, groups, error));
    HAUL_TRY(hl_project_same_launches_share(groups, error));
    HAUL_TRY(make_rows(self, groups, out, error));
    HAUL_TRY(find_places(workload, groups, out, error));
    scales->kernels =
        hl_base_arena_alloc(self->arena, (groups->count + 1) * sizeof *scales->kernels);
    if (!scales->kernels)
        return hl_base_fail_no_memory(error);
    for (size_t i = 0; i < out->kernel_row_count; i++)
        out->recorded_kernels_s += out->kernel_rows[i].recorded_s;
    for (size_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].kind == HAUL_OP_MEMSET)
            out->recorded_memsets_s += 1e-9 * (double)workload->ops[i].dur_ns;
    haul_error cause = {0};
    haul_status status = predict_all(self, groups, out, scales, &cause);
    if (status == HAUL_STATUS_MISSING) {
        /* Nothing is known: all times are kept. */
        for (size_t i = 0; i < groups->count; i++)
            scales->kernels[i] = (hl_project_work_scale){1, 1, 1};
        scales->memsets = (hl_project_work_scale){1, 1, 1};
        out->kernels = out->memsets = (haul_estimate){0};
        for (size_t i = 0; i < out->kernel_row_count; i++)
            out->kernel_rows[i].predicted = (haul_estimate){0};
        out->kernels_missing = hl_base_arena_string(self->arena, cause.text);
        return out->kernels_missing ? HAUL_OK : hl_base_fail_no_memory(error);
    }
    if (status && error)
        *error = cause;
    if (!status && self->reference)
        status = sum_reference(self, out, error);
    qsort(out->kernel_rows, out->kernel_row_count, sizeof *out->kernel_rows, by_time);
    return status;
}
