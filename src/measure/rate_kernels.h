/* Kernels that run into one limit each. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(hl_measure_rate_kernels)

HAUL_KERNEL_1D(nothing, hl_measure_rate_kernels, HAUL_INOUT(float, x))
{
    HAUL_FOR1 (i)
        if (x[i] > 1e30F)
            x[i] = 0;
}

/* McCalpin's STREAM: two words read and one written. */
HAUL_KERNEL_1D(triad, hl_measure_rate_kernels, HAUL_IN(float, b), HAUL_IN(float, c),
               HAUL_OUT(float, a))
{
    HAUL_FOR1 (i)
        a[i] = b[i] + 3.0F * c[i];
}

/* The same with four indices a thread, `apart` from one another: eight words on their way to each
 * of some 2048 threads of a multiprocessor, where the triad's two are hardly as many bytes as a
 * fast memory delivers in the time that one takes (an H100's: 2.80 of the 3.05 TB/s that other
 * kernels reach). */
HAUL_KERNEL_1D(triad_of_four, hl_measure_rate_kernels, HAUL_IN(float, b), HAUL_IN(float, c),
               HAUL_OUT(float, a), HAUL_VALUE(int, apart))
{
    HAUL_FOR1 (i) {
        const float b0 = b[i], b1 = b[i + apart], b2 = b[i + 2 * apart], b3 = b[i + 3 * apart];
        const float c0 = c[i], c1 = c[i + apart], c2 = c[i + 2 * apart], c3 = c[i + 3 * apart];
        a[i] = b0 + 3.0F * c0;
        a[i + apart] = b1 + 3.0F * c1;
        a[i + 2 * apart] = b2 + 3.0F * c2;
        a[i + 3 * apart] = b3 + 3.0F * c3;
    }
}

/* Reads 2^n words again and again, `stride` apart. */
/* NOLINTNEXTLINE(readability-function-size): two parameters are the macro's */
HAUL_KERNEL_1D(reread, hl_measure_rate_kernels, HAUL_IN(float, x), HAUL_OUT(float, sums),
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
#if defined(HAUL_ON_OPENCL) && defined(HAUL_ROWS)
/* Vectors with names of their own: PoCL's compiler keeps an array of numbers in memory, which takes
 * four times as long, and fuses no mad(). */
#pragma OPENCL FP_CONTRACT ON
#define SUM4(v) ((v).s0 + (v).s1 + (v).s2 + (v).s3)
#define SUM_OF_8(v) SUM4((v).lo + (v).hi)
#define SUM_OF_16(v) SUM_OF_8((v).lo + (v).hi)
#define CHAINS(type, width)                                                                        \
    HAUL_FOR1 (i) {                                                                                \
        typedef type##width lanes;                                                                 \
        const lanes by = (lanes)(x[i]), add = (lanes)((type)1e-3);                                 \
        lanes a = by, b = by + (lanes)((type)1), c = by + (lanes)((type)2);                        \
        lanes d = by + (lanes)((type)3), e = by + (lanes)((type)4), f = by + (lanes)((type)5);     \
        lanes g = by + (lanes)((type)6), h = by + (lanes)((type)7);                                \
        for (int step = 0; step < steps * (16 / width); step++) {                                  \
            a = a * by + add;                                                                      \
            b = b * by + add;                                                                      \
            c = c * by + add;                                                                      \
            d = d * by + add;                                                                      \
            e = e * by + add;                                                                      \
            f = f * by + add;                                                                      \
            g = g * by + add;                                                                      \
            h = h * by + add;                                                                      \
        }                                                                                          \
        const lanes sum = a + b + c + d + e + f + g + h;                                           \
        x[i] = SUM_OF_##width(sum) * (type)0;                                                      \
    }
#else
#if defined(HAUL_ON_HOST) || defined(HAUL_ROWS)
#define WIDE 128
#else
#define WIDE 16
#endif
#define CHAINS(type, width)                                                                        \
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
#endif

HAUL_KERNEL_1D(chains_single, hl_measure_rate_kernels, HAUL_INOUT(float, x),
               HAUL_VALUE(int, steps)){CHAINS(float, 16)}

HAUL_KERNEL_1D(chains_double, hl_measure_rate_kernels, HAUL_INOUT(double, x),
               HAUL_VALUE(int, steps))
{
    CHAINS(double, 8)
}
