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

/* Bytes of an element of a product's operands and result; 0: not known, or not of one width. */
static uint64_t element_bytes(const haul_operands *of)
{
    const double elements = (double)of->batch * ((double)of->rows * (double)of->inner +
                                                 (double)of->inner * (double)of->columns +
                                                 (double)of->rows * (double)of->columns);
    for (uint64_t bytes = 1; bytes <= 8; bytes *= 2)
        if (elements > 0 && (double)of->bytes == (double)bytes * elements)
            return bytes;
    return 0;
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
    const haul_precision told = precision_of_width(self, element_bytes(operands));
    haul_precision longest = HAUL_PRECISION_NONE;
    for (int p = 0; p < HAUL_PRECISIONS; p++)
        if (self->seconds[p] > self->seconds[longest])
            longest = (haul_precision)p;
    return told ? told : longest;
}
