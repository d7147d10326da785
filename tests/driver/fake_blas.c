/* A stand-in for cuBLAS and hipBLAS: products of matrices by columns, right and
 * slow, queued behind what the stream has, and waited for. CMakeLists.txt gives each its vendor's
 * names. */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, NOT_INITIALISED = 1, NO_MEMORY = 3, BAD_VALUE = 7 };

#define CALL(name, parameters)                                                                     \
    __attribute__((visibility("default"))) int name parameters;                                    \
    int name parameters

typedef struct blas {
    void *stream;
    int (*wait)(void *stream);
#ifdef BLAS_HIP
    int (*copy)(uint64_t to, uint64_t from, size_t bytes, int kind, void *stream);
#else
    int (*copy)(uint64_t to, uint64_t from, size_t bytes, void *stream);
#endif
} blas;

static void find(void *driver, const char *name, void *to)
{
    void *found = dlsym(driver, name);
    memcpy(to, &found, sizeof found);
}

CALL(BLAS_CREATE, (void **handle))
{
    void *driver = dlopen(BLAS_DRIVER, RTLD_NOW);
    blas *self = calloc(1, sizeof *self);
    if (driver && self) {
        find(driver, BLAS_WAIT, &self->wait);
        find(driver, BLAS_COPY, &self->copy);
    }
    if (!self || !self->wait || !self->copy) {
        free(self);
        return NOT_INITIALISED;
    }
    *handle = self;
    return OK;
}

CALL(BLAS_DESTROY, (void *handle))
{
    free(handle);
    return OK;
}

CALL(BLAS_SET_STREAM, (void *handle, void *stream))
{
    ((blas *)handle)->stream = stream;
    return OK;
}

/* Between device and host, which the driver tells apart. */
static int copy(const blas *self, uint64_t to, uint64_t from, size_t bytes)
{
#ifdef BLAS_HIP
    enum { BY_ADDRESS = 4 }; /* hipMemcpyDefault */
    const int code = self->copy(to, from, bytes, BY_ADDRESS, self->stream);
#else
    const int code = self->copy(to, from, bytes, self->stream);
#endif
    return code ? code : self->wait(self->stream);
}

/* Half precision, without infinities: the bits of 2^-112 times the value, in single precision. */
static double of_half(uint16_t bits)
{
    const uint32_t single = (uint32_t)(bits & 0x8000) << 16 | (uint32_t)(bits & 0x7fff) << 13;
    float value;
    memcpy(&value, &single, sizeof value);
    return (double)value * 0x1p112;
}

static uint16_t to_half(double value)
{
    int exponent;
    const double fraction = frexp(fabs(value), &exponent);
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    if (value == 0 || exponent < -13)
        return sign;
    return (uint16_t)(sign + ((exponent + 14) << 10) + (lrint(ldexp(fraction, 11)) - 1024));
}

static double value_of(const void *from, size_t bytes, size_t at)
{
    return bytes == 8   ? ((const double *)from)[at]
           : bytes == 4 ? (double)((const float *)from)[at]
                        : of_half(((const uint16_t *)from)[at]);
}

static void set_value(void *to, size_t bytes, size_t at, double value)
{
    if (bytes == 8)
        ((double *)to)[at] = value;
    else if (bytes == 4)
        ((float *)to)[at] = (float)value;
    else
        ((uint16_t *)to)[at] = to_half(value);
}

static int multiply(const blas *self, size_t bytes, const int size[3], const void *alpha,
                    const uint64_t from[2], const int pitch[3], uint64_t to)
{
    const size_t m = (size_t)size[0], n = (size_t)size[1], k = (size_t)size[2];
    const size_t lengths[3] = {(size_t)pitch[0] * k * bytes, (size_t)pitch[1] * n * bytes,
                               (size_t)pitch[2] * n * bytes};
    char *a = malloc(lengths[0]), *b = malloc(lengths[1]), *c = malloc(lengths[2]);
    int code = a && b && c ? OK : NO_MEMORY;
    code = code ? code : copy(self, (uintptr_t)a, from[0], lengths[0]);
    code = code ? code : copy(self, (uintptr_t)b, from[1], lengths[1]);
    code = code ? code : copy(self, (uintptr_t)c, to, lengths[2]);
    for (size_t x = 0; x < n && !code; x++)
        for (size_t y = 0; y < m; y++) {
            double sum = 0;
            for (size_t i = 0; i < k; i++)
                sum += value_of(a, bytes, i * (size_t)pitch[0] + y) *
                       value_of(b, bytes, x * (size_t)pitch[1] + i);
            set_value(c, bytes, x * (size_t)pitch[2] + y, value_of(alpha, bytes, 0) * sum);
        }
    code = code ? code : copy(self, to, (uintptr_t)c, lengths[2]);
    free(a);
    free(b);
    free(c);
    return code;
}

#define PRODUCT(name, bytes)                                                                       \
    CALL(name,                                                                                     \
         (void *handle, int how_a, int how_b, int m, int n, int k, const void *alpha, uint64_t a,  \
          int row_a, uint64_t b, int row_b, const void *beta, uint64_t c, int row_c))              \
    {                                                                                              \
        if (how_a != BLAS_AS_IT_IS || how_b != BLAS_AS_IT_IS || value_of(beta, bytes, 0) != 0 ||   \
            row_a < m || row_b < k || row_c < m)                                                   \
            return BAD_VALUE;                                                                      \
        return multiply(handle, bytes, (int[]){m, n, k}, alpha, (uint64_t[]){a, b},                \
                        (int[]){row_a, row_b, row_c}, c);                                          \
    }

PRODUCT(BLAS_DOUBLE, 8)
PRODUCT(BLAS_SINGLE, 4)
PRODUCT(BLAS_HALF, 2)
