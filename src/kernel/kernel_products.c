/* Matrix products that were measured on a machine tell which tiles its library takes, and correct
 * the time of others near them in size. */
#include <math.h>

#include "kernel/gpu_rates.h"
#include "kernel/kernel_parts.h"

/* Log2 distances, squared: so near two products are alike, and so far one says nothing of the
 * other. Neither matters much: with 64 products of each GPU of docs/accuracy/operators.md the error
 * of its others changes by at most half a point between 0.25 and 1, and between 4 and none. */
static const double near_squared = 0.25;
static const double far_squared = 16;
static const double far_weight = 1 / ((16 + 0.25) * (16 + 0.25)); /* of a product so far */

enum { PRODUCTS = 64, FEWEST = 8, SIDES = 4 };

/* Products of one precision, single ones or batches: libraries have kernels for each. */
typedef struct measured_group {
    int count;
    double sides[PRODUCTS][SIDES]; /* batch, rows, columns, inner dimension, as powers of two */
    double misses[HL_KERNEL_TILE_RULES][PRODUCTS]; /* in the logarithm, by the library's rule */
} measured_group;

static double weight_of(const double a[SIDES], const double b[SIDES], double *nearest)
{
    double squared = 0;
    for (int i = 0; i < SIDES; i++)
        squared += (a[i] - b[i]) * (a[i] - b[i]);
    *nearest = fmin(*nearest, squared);
    return 1 / ((squared + near_squared) * (squared + near_squared));
}

/* Adds a measured product as work of which the sizes are known (operands and result once each): how
 * much longer it took than the tiles of a library do, in the logarithm. */
static void add_product(measured_group *self, const haul_gpu *gpu, const haul_product_time *of,
                        const haul_kernel_work *like)
{
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
    const hl_kernel_tiles tiles = hl_kernel_product_s(gpu, &work);
    const double seconds = of->time_s.value;
    const double work_s = fmax(seconds - hl_kernel_gpu_launch(gpu), seconds / 2);
    const int i = self->count++;
    const double sides[SIDES] = {log2(batch), log2(rows), log2(columns), log2(inner)};
    for (int j = 0; j < SIDES; j++)
        self->sides[i][j] = sides[j];
    for (int rule = 0; rule < HL_KERNEL_TILE_RULES; rule++)
        self->misses[rule][i] =
            tiles.in_waves_s > 0 && work_s > 0 ? log(work_s / tiles.of_rule_s[rule]) : 0;
}

/* Each product's miss by each rule, beside the mean of the others' (the near ones most, and none
 * where they are far). */
static void leave_out(const measured_group *self, double left[HL_KERNEL_TILE_RULES][PRODUCTS])
{
    double weights[PRODUCTS], nearest = HUGE_VAL;
    for (int i = 0; i < self->count; i++) {
        weights[i] = far_weight;
        for (int rule = 0; rule < HL_KERNEL_TILE_RULES; rule++)
            left[rule][i] = 0;
        for (int j = 0; j < i; j++) {
            const double weight = weight_of(self->sides[i], self->sides[j], &nearest);
            weights[i] += weight;
            weights[j] += weight;
            for (int rule = 0; rule < HL_KERNEL_TILE_RULES; rule++) {
                left[rule][i] += weight * self->misses[rule][j];
                left[rule][j] += weight * self->misses[rule][i];
            }
        }
    }
    for (int i = 0; i < self->count; i++)
        for (int rule = 0; rule < HL_KERNEL_TILE_RULES; rule++)
            left[rule][i] = fabs(self->misses[rule][i] - left[rule][i] / weights[i]);
}

/* The rule by which each product, left out in turn, is nearest to what the others say of it. The
 * usual one, unless another is nearer by more than chance makes it: two standard errors. */
static int rule_of(const measured_group *self)
{
    double left[HL_KERNEL_TILE_RULES][PRODUCTS], most = 0;
    int best = HL_KERNEL_FASTEST_TILE;
    if (self->count < FEWEST)
        return best;
    leave_out(self, left);
    for (int rule = 0; rule < HL_KERNEL_TILE_RULES; rule++) {
        double nearer = 0, squares = 0;
        for (int i = 0; i < self->count; i++) {
            const double by = left[HL_KERNEL_FASTEST_TILE][i] - left[rule][i];
            nearer += by;
            squares += by * by;
        }
        const double chance = sqrt(fmax(0, squares - nearer * nearer / self->count));
        if (nearer > fmax(most, 2 * chance)) {
            most = nearer;
            best = rule;
        }
    }
    return best;
}

/* A machine whose rates were changed is another than the one that ran the products. */
hl_kernel_tiles hl_kernel_product_near_s(const haul_machine *machine, const haul_kernel_work *work)
{
    const haul_gpu *gpu = &machine->gpu;
    const haul_operands *of = &work->operands;
    hl_kernel_tiles tiles = hl_kernel_product_s(gpu, work);
    if (!machine->product_count || hl_kernel_gpu_is_changed(gpu) || !(tiles.in_waves_s > 0))
        return tiles;
    measured_group groups[2]; /* single products, batches */
    groups[0].count = groups[1].count = 0;
    for (size_t i = 0; i < machine->product_count && i < PRODUCTS; i++)
        if (machine->products[i].precision == work->kind.precision)
            add_product(&groups[machine->products[i].batch.value > 1], gpu, &machine->products[i],
                        work);
    const double sides[SIDES] = {log2((double)of->batch), log2((double)of->rows),
                                 log2((double)of->columns), log2((double)of->inner)};
    double weights = far_weight, sum = 0, nearest = HUGE_VAL;
    int rules[2];
    for (int k = 0; k < 2; k++) {
        rules[k] = rule_of(&groups[k]);
        for (int i = 0; i < groups[k].count; i++) {
            const double weight = weight_of(groups[k].sides[i], sides, &nearest);
            weights += weight;
            sum += weight * groups[k].misses[rules[k]][i];
        }
    }
    if (!(nearest <= far_squared))
        return tiles;
    tiles.in_waves_s = tiles.of_rule_s[rules[of->batch > 1]] * exp(sum / weights);
    tiles.most_s = tiles.in_waves_s;
    tiles.is_measured = true;
    return tiles;
}
