/* Multiply-adds in half precision, in pairs where the device has them. A file of its own: a device
 * without halves does not compile it. */
#include "haul/kernel_source.h"

HAUL_KERNEL_FILE(hl_measure_half_kernel)

#if defined(HAUL_ON_OPENCL)
#ifndef cl_khr_fp16
#error the device has no half precision
#endif
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define HALF_PAIR half2
#define HALF_OF(number) ((half2)((half)(number)))
#define HALF_NEXT(v, by, add) v = fma(v, by, add)
#define HALF_SUM(v) ((float)(v).x + (float)(v).y)
#elif defined(__CUDA_ARCH__)
#if __CUDA_ARCH__ < 530
#error the device has no half precision
#endif
/* PTX: the type __half is of a header that NVRTC need not find. 0x3c00 is 1, a pair of them here.
 */
#define HALF_PAIR unsigned
#define HALF_OF(number) (0x3c003c00u + (unsigned)(number))
#define HALF_NEXT(v, by, add)                                                                      \
    asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(v) : "r"(by), "r"(add))
#define HALF_SUM(v) ((float)(v))
#elif defined(__HIPCC_RTC__) || defined(__HIPCC__)
typedef _Float16 half_pair __attribute__((ext_vector_type(2)));
#define HALF_PAIR half_pair
#define HALF_OF(number) ((half_pair)((_Float16)(number)))
#define HALF_NEXT(v, by, add)                                                                      \
    do {                                                                                           \
        _Pragma("clang fp contract(fast)") v = v * by + add;                                       \
    } while (0)
#define HALF_SUM(v) ((float)(v).x + (float)(v).y)
#elif defined(HAUL_ON_HOST)
#define HALF_PAIR float /* no CPU is measured in halves */
#define HALF_OF(number) ((float)(number))
#define HALF_NEXT(v, by, add) v = v * by + add
#define HALF_SUM(v) (v)
#else
#error the device has no half precision
#endif

enum { PAIRS = 16 };

/* A step is 64 multiply-adds of pairs, as many as one of rate_kernels.h has of numbers. */
HAUL_KERNEL_1D(chains_half, hl_measure_half_kernel, HAUL_INOUT(float, x), HAUL_VALUE(int, steps))
{
    HAUL_FOR1 (i) {
        const HALF_PAIR by = HALF_OF(x[i]), add = HALF_OF(1);
        HALF_PAIR v[PAIRS];
        float sum = 0;
        for (int j = 0; j < PAIRS; j++)
            v[j] = HALF_OF(j);
        for (int step = 0; step < steps * (64 / PAIRS); step++)
            for (int j = 0; j < PAIRS; j++)
                HALF_NEXT(v[j], by, add);
        for (int j = 0; j < PAIRS; j++)
            sum += HALF_SUM(v[j]);
        x[i] = sum * 0.0F;
    }
}
