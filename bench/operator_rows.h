/* Operators of PyTorch on several GPUs: kernels/modern-ops.csv.gz, and docs/measured of the
 * sources. */
#ifndef HAUL_BENCH_OPERATOR_ROWS_H
#define HAUL_BENCH_OPERATOR_ROWS_H

#include "haul/kernel.h"

enum { OPERATOR_GPUS = 5 };

/* The machine of each GPU, and its name in tables. */
extern const struct operator_gpu {
    const char *in_data;
    const char *machine;
    const char *name;
} operator_gpus[OPERATOR_GPUS];

/* One operator and size, on each GPU that ran it; `seconds` 0: it did not. */
typedef struct operator_row {
    char key[96];
    haul_kernel_work work[OPERATOR_GPUS]; /* by name and launch alone */
    haul_operands operands; /* of products, softmax and normalisation of layers; else zero */
} operator_row;

typedef struct operator_rows {
    operator_row *items;
    size_t count;
} operator_rows;

/* On success the caller frees out->items. */
haul_status operator_rows_read(const char *data, operator_rows *out, haul_error *error);

#endif
