/* Kernels that run into one limit each. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(rate_kernels)

HAUL_KERNEL_1D(nothing, rate_kernels, HAUL_INOUT(float, x))
{
    HAUL_FOR1 (i)
        if (x[i] > 1e30F)
            x[i] = 0;
}

/* McCalpin's STREAM: two words read and one written. */
HAUL_KERNEL_1D(triad, rate_kernels, HAUL_IN(float, b), HAUL_IN(float, c), HAUL_OUT(float, a))
{
    HAUL_FOR1 (i)
        a[i] = b[i] + 3.0F * c[i];
}

/* Reads 2^n words again and again, `stride` apart. */
HAUL_KERNEL_1D(reread, rate_kernels, HAUL_IN(float, x), HAUL_OUT(float, sums),
               HAUL_VALUE(int, steps), HAUL_VALUE(int, stride), HAUL_VALUE(int, mask))
{
    HAUL_FOR1 (i) {
        float sum = 0;
        int at = i;
        for (int step = 0; step < steps; step++) {
            at = (at + stride) & mask;
            sum += x[at];
        }
        sums[i] = sum;
    }
}

/* Multiply-adds that do not wait for each other: as many as a CPU's vector registers hold, or a
 * GPU's registers of one thread. A step is 128 of them. */
#if defined(HAUL_ON_HOST) || defined(HAUL_ROWS)
#define WIDE 128
#else
#define WIDE 16
#endif
#define CHAINS(type)                                                                               \
    HAUL_FOR1 (i) {                                                                                \
        const type by = x[i], add = (type)1e-3;                                                    \
        type v[WIDE], sum = 0;                                                                     \
        for (int j = 0; j < WIDE; j++)                                                             \
            v[j] = by + (type)j;                                                                   \
        for (int step = 0; step < steps * (128 / WIDE); step++)                                    \
            for (int j = 0; j < WIDE; j++)                                                         \
                v[j] = HAUL_MULTIPLY_ADD(v[j], by, add);                                           \
        for (int j = 0; j < WIDE; j++)                                                             \
            sum += v[j];                                                                           \
        x[i] = sum * (type)0;                                                                      \
    }

HAUL_KERNEL_1D(chains_single, rate_kernels, HAUL_INOUT(float, x),
               HAUL_VALUE(int, steps)){CHAINS(float)}

HAUL_KERNEL_1D(chains_double, rate_kernels, HAUL_INOUT(double, x), HAUL_VALUE(int, steps))
{
    CHAINS(double)
}
