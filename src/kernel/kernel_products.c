/* Matrix products that were measured on a machine correct the time of others near them in size. */
#include <math.h>

#include "kernel/gpu_rates.h"
#include "kernel/kernel_parts.h"

/* Log2 distances, squared: so near two products are alike, and so far one says nothing of the
 * other. Neither matters much: with 64 products of each GPU of docs/accuracy/operators.md the error
 * of its others changes by at most half a point between 0.25 and 1, and between 4 and none. */
static const double near_squared = 0.25;
static const double far_squared = 16;

static double apart(double a, uint64_t b)
{
    const double steps = log2(a / (double)b);
    return steps * steps;
}

static double weight_of(double squared)
{
    return 1 / ((squared + near_squared) * (squared + near_squared));
}

/* How much longer the measured product took than its tiles do, in the logarithm. */
static double miss_of(const haul_machine *machine, const haul_product_time *of,
                      const haul_kernel_work *like)
{
    /* A measured product as work of which the sizes are known. Operands and result once each. */
    static const double bytes_of[HAUL_PRECISIONS] = {
        [HAUL_PRECISION_FP64] = 8, [HAUL_PRECISION_FP32] = 4, [HAUL_PRECISION_TF32] = 4,
        [HAUL_PRECISION_FP16] = 2, [HAUL_PRECISION_BF16] = 2, [HAUL_PRECISION_FP8] = 1,
        [HAUL_PRECISION_INT8] = 1, [HAUL_PRECISION_FP4] = 0.5};
    const double batch = of->batch.value, rows = of->rows.value, columns = of->columns.value;
    const double inner = of->inner.value;
    const double elements = batch * (rows * inner + inner * columns + rows * columns);
    haul_kernel_work work = {.kind = like->kind};
    work.operands = (haul_operands){
        .batch = (uint64_t)batch,
        .rows = (uint64_t)rows,
        .columns = (uint64_t)columns,
        .inner = (uint64_t)inner,
        .bytes = (uint64_t)fmin(bytes_of[of->precision] * elements, (double)(UINT64_MAX / 2))};
    const double seconds = of->time_s.value;
    const double tiles_s = hl_kernel_product_s(&machine->gpu, &work).in_waves_s;
    const double work_s = fmax(seconds - hl_kernel_gpu_launch(&machine->gpu), seconds / 2);
    return tiles_s > 0 && work_s > 0 ? log(work_s / tiles_s) : 0;
}

/* The mean of the measured products' misses, the near ones' most, and of none where all are far. A
 * machine whose rates were changed is another than the one that ran them. */
hl_kernel_tiles hl_kernel_product_near_s(const haul_machine *machine, const haul_kernel_work *work)
{
    hl_kernel_tiles tiles = hl_kernel_product_s(&machine->gpu, work);
    const bool is_other = hl_kernel_gpu_is_changed(&machine->gpu);
    double weights = weight_of(far_squared), sum = 0, nearest = HUGE_VAL;
    for (size_t i = 0; !is_other && tiles.in_waves_s > 0 && i < machine->product_count; i++) {
        const haul_product_time *of = &machine->products[i];
        if (of->precision != work->kind.precision)
            continue;
        const double squared = apart(of->batch.value, work->operands.batch) +
                               apart(of->rows.value, work->operands.rows) +
                               apart(of->columns.value, work->operands.columns) +
                               apart(of->inner.value, work->operands.inner);
        nearest = fmin(nearest, squared);
        weights += weight_of(squared);
        sum += weight_of(squared) * miss_of(machine, of, work);
    }
    if (!(nearest <= far_squared))
        return tiles;
    tiles.in_waves_s *= exp(sum / weights);
    tiles.most_s = tiles.in_waves_s;
    tiles.is_measured = true;
    return tiles;
}
