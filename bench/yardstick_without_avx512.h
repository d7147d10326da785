/* Yardsticks name AVX-512's functions: where the processor has AVX alone, two halves do the same.
 */
#ifndef __AVX512F__
#include <immintrin.h>

typedef double yardstick_pack __attribute__((vector_size(64), aligned(8)));

static inline void yardstick_stream(double *to, yardstick_pack values)
{
    __m256d halves[2];
    __builtin_memcpy(halves, &values, sizeof halves);
    _mm256_stream_pd(to, halves[0]);
    _mm256_stream_pd(to + 4, halves[1]);
}

#define __m512d yardstick_pack
#define _mm512_set1_pd(value) ((yardstick_pack){} + (value))
#define _mm512_loadu_pd(from) (*(const yardstick_pack *)(from))
#define _mm512_add_pd(a, b) ((a) + (b))
#define _mm512_fmadd_pd(a, b, c) ((a) * (b) + (c))
#define _mm512_fnmadd_pd(a, b, c) ((c) - (a) * (b))
#define _mm512_stream_pd yardstick_stream
#endif
