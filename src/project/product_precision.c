#include "project/product_precision.h"

static bool has_precision(const haul_kernel_kind *kind)
{
    return kind->kind == HAUL_KERNEL_CLASS_PRODUCT || kind->kind == HAUL_KERNEL_CLASS_CONVOLUTION ||
           kind->kind == HAUL_KERNEL_CLASS_ATTENTION;
}

void hl_project_precisions_add(hl_project_precisions *self, const haul_kernel_row *row)
{
    if (has_precision(&row->kind) && row->kind.precision)
        self->seconds[row->kind.precision] += row->recorded_s;
}

/* Bytes of an element where `bytes` are those of as many elements; 0 where they are of no width. */
static uint64_t width_of(double bytes, double elements)
{
    for (uint64_t width = 1; width <= 8; width *= 2)
        if (elements > 0 && bytes == (double)width * elements)
            return width;
    return 0;
}

/* Bytes of an element of the operands and the result; 0: not known, or not of one width. Attention
 * reads queries and writes results, and reads keys and values; its gradients are as much again, and
 * five products for two. Where tokens see those before them alone, half of the columns count. */
static uint64_t element_bytes(const haul_kernel_kind *kind, const haul_operands *of)
{
    const double batch = (double)of->batch, rows = (double)of->rows, inner = (double)of->inner;
    const double columns = (double)of->columns, bytes = (double)of->bytes;
    if (kind->kind != HAUL_KERNEL_CLASS_ATTENTION)
        return width_of(bytes, batch * (rows * inner + inner * columns + rows * columns));
    const double of_all = batch * inner * (rows + columns), of_half = batch * inner * 2 * rows;
    const double of_gradients = 2.0 * 2 / 5;
    uint64_t width = width_of(bytes, of_all);
    if (!width)
        width = width_of(bytes, of_half);
    if (!width)
        width = width_of(bytes, of_gradients * of_all);
    return width ? width : width_of(bytes, of_gradients * of_half);
}

/* Of two precisions that are as wide, the one that the program's others took longer in. */
static haul_precision longer(const hl_project_precisions *self, haul_precision usual,
                             haul_precision other)
{
    return self->seconds[other] > self->seconds[usual] ? other : usual;
}

static haul_precision precision_of_width(const hl_project_precisions *self, uint64_t bytes)
{
    switch (bytes) {
    case 1:
        return longer(self, HAUL_PRECISION_FP8, HAUL_PRECISION_INT8);
    case 2:
        return longer(self, HAUL_PRECISION_FP16, HAUL_PRECISION_BF16);
    case 4:
        return longer(self, HAUL_PRECISION_FP32, HAUL_PRECISION_TF32);
    case 8:
        return HAUL_PRECISION_FP64;
    default:
        return HAUL_PRECISION_NONE;
    }
}

haul_precision hl_project_precision_of(const hl_project_precisions *self,
                                       const haul_kernel_kind *kind, const haul_operands *operands)
{
    if (kind->precision || !has_precision(kind))
        return kind->precision;
    const haul_precision told = precision_of_width(self, element_bytes(kind, operands));
    haul_precision longest = HAUL_PRECISION_NONE;
    for (int p = 0; p < HAUL_PRECISIONS; p++)
        if (self->seconds[p] > self->seconds[longest])
            longest = (haul_precision)p;
    return told ? told : longest;
}
