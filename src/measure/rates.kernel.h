/* Kernels that do nothing but move numbers, or nothing but compute with them. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(haul_rates)

/* STREAM's triad: two numbers are read, one is written. */
HAUL_KERNEL_1D(haul_triad, haul_rates, HAUL_OUT(double, a), HAUL_IN(double, b), HAUL_IN(double, c),
               HAUL_VALUE(double, factor))
{
    HAUL_FOR1 (i)
        a[i] = b[i] + factor * c[i];
}

/* A multiplication and an addition: one instruction of a GPU, two of a host whose library would
 * emulate it. */
#ifdef HAUL_ON_HOST
#define HAUL_STEP(x, m, c) ((x) * (m) + (c))
#else
#define HAUL_STEP(x, m, c) fma(x, m, c)
#endif

/* 16 independent chains a thread, which hide the latency of one. */
HAUL_KERNEL_1D(haul_chains_fp64, haul_rates, HAUL_INOUT(double, x), HAUL_VALUE(int, steps))
{
    HAUL_FOR1 (i) {
        double v[16], sum = 0;
        for (int k = 0; k < 16; k++)
            v[k] = x[i] + k;
        for (int step = 0; step < steps; step++)
            for (int k = 0; k < 16; k++)
                v[k] = HAUL_STEP(v[k], 0.999, 0.001);
        for (int k = 0; k < 16; k++)
            sum += v[k];
        x[i] = sum;
    }
}

HAUL_KERNEL_1D(haul_chains_fp32, haul_rates, HAUL_INOUT(float, x), HAUL_VALUE(int, steps))
{
    HAUL_FOR1 (i) {
        float v[16], sum = 0;
        for (int k = 0; k < 16; k++)
            v[k] = x[i] + (float)k;
        for (int step = 0; step < steps; step++)
            for (int k = 0; k < 16; k++)
                v[k] = HAUL_STEP(v[k], 0.999f, 0.001f);
        for (int k = 0; k < 16; k++)
            sum += v[k];
        x[i] = sum;
    }
}
