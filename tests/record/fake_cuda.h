/* What fake_cuda keeps for fake_cupti. */
#ifndef HAUL_TESTS_FAKE_CUDA_H
#define HAUL_TESTS_FAKE_CUDA_H

#include <stddef.h>

/* A record of CUPTI. */
typedef struct fake_record {
    _Alignas(8) unsigned char bytes[160];
    size_t size;
} fake_record;

typedef const fake_record *fake_cuda_records_function(size_t *count);

#endif
