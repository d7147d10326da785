#include "operator_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "haul/csv.h"

const struct operator_gpu operator_gpus[OPERATOR_GPUS] = {
    {"Tesla V100-PCIE-32GB", "v100-pcie3", "V100"}, {"NVIDIA A100-PCIE-40GB", "a100-pcie4", "A100"},
    {"Tesla P100-PCIE-16GB", "p100-pcie3", "P100"}, {"Tesla T4", "t4", "T4"},
    {"NVIDIA H100 80GB HBM3", "h100-sxm5", "H100"}, /* docs/measured: nothing was chosen by it */
};

enum { GPU, OP, B, M, N, K, H, KERNEL, GRID_X, GRID_Y, GRID_Z, BLOCK_X, BLOCK_Y, BLOCK_Z, SECONDS };
enum { COLUMNS = SECONDS + 1 };

static const char *const names[COLUMNS] = {"gpu",    "op",      "b",       "m",       "n",
                                           "k",      "h",       "kernel",  "grid_x",  "grid_y",
                                           "grid_z", "block_x", "block_y", "block_z", "seconds"};

static int by_key(const void *a, const void *b)
{
    return strcmp(((const operator_row *)a)->key, ((const operator_row *)b)->key);
}

enum { FP32 = 4 };

static uint64_t count_of(const char *text)
{
    return strtoull(text, NULL, 10);
}

static double product_of(const char *const *texts, int first)
{
    return strtod(texts[first], NULL) * strtod(texts[first + 1], NULL) *
           strtod(texts[first + 2], NULL);
}

/* A row of the file as an operator that one GPU ran. */
static operator_row row_of(const char *const *texts)
{
    operator_row row = {0};
    const bool is_batched = !strcmp(texts[OP], "bmm");
    (void)snprintf(row.key, sizeof row.key, "%s %s %s %s %s %s", texts[OP], texts[B], texts[M],
                   texts[N], texts[K], texts[H]);
    const uint64_t b = count_of(texts[B]), m = count_of(texts[M]), n = count_of(texts[N]);
    const uint64_t k = count_of(texts[K]), h = count_of(texts[H]);
    if (is_batched || !strcmp(texts[OP], "linear")) /* n is the inner size in this data */
        row.operands = (haul_operands){.batch = b,
                                       .rows = m,
                                       .columns = k,
                                       .inner = n,
                                       .bytes = FP32 * b * (m * n + n * k + m * k),
                                       .alignment = 4};
    else if (!strcmp(texts[OP], "softmax") || !strcmp(texts[OP], "ln"))
        row.operands.bytes = 2 * FP32 * b * h;
    for (int g = 0; g < OPERATOR_GPUS; g++)
        if (!strcmp(texts[GPU], operator_gpus[g].in_data))
            row.work[g] = (haul_kernel_work){
                .kind = haul_kernel_kind_of(texts[KERNEL], NULL),
                .launches = {.count = 1,
                             .blocks = product_of(texts, GRID_X),
                             .block = product_of(texts, BLOCK_X)},
                .seconds = strtod(texts[SECONDS], NULL),
            };
    return row;
}

/* Rows of one key become one. */
static void merge(operator_rows *rows)
{
    size_t kept = 0;
    qsort(rows->items, rows->count, sizeof *rows->items, by_key);
    for (size_t i = 0; i < rows->count; i++) {
        operator_row *last = kept ? &rows->items[kept - 1] : NULL;
        if (!last || strcmp(last->key, rows->items[i].key) != 0) {
            rows->items[kept++] = rows->items[i];
            continue;
        }
        for (int g = 0; g < OPERATOR_GPUS; g++)
            if (!(last->work[g].seconds > 0))
                last->work[g] = rows->items[i].work[g];
    }
    rows->count = kept;
}

/* Rows of files, one behind another. */
typedef struct list {
    operator_rows rows;
    size_t capacity;
} list;

static haul_status add_file(list *to, const char *path, haul_error *error)
{
    haul_csv *csv = NULL;
    size_t columns[COLUMNS] = {0};
    const char *const *fields = NULL;
    HAUL_TRY(haul_csv_open(path, &csv, error));
    haul_status status = HAUL_OK;
    for (int c = 0; !status && c < COLUMNS; c++)
        status = haul_csv_find(csv, names[c], &columns[c], error);
    while (!status && !(status = haul_csv_next(csv, &fields, error)) && fields) {
        const char *texts[COLUMNS];
        for (int c = 0; c < COLUMNS; c++)
            texts[c] = fields[columns[c]];
        operator_rows *rows = &to->rows;
        if (!haul_grow(&rows->items, &to->capacity, rows->count + 1, sizeof *rows->items))
            status = haul_fail_no_memory(error);
        else
            rows->items[rows->count++] = row_of(texts);
    }
    haul_csv_close(csv);
    return status;
}

haul_status operator_rows_read(const char *data, operator_rows *out, haul_error *error)
{
    char path[4096];
    list read = {{NULL, 0}, 0};
    (void)snprintf(path, sizeof path, "%s/kernels/modern-ops.csv.gz", data);
    haul_status status = add_file(&read, path, error);
    if (!status)
        status = add_file(&read, MEASURED "/h100-operators.csv.gz", error);
    if (status) {
        free(read.rows.items);
        return status;
    }
    merge(&read.rows);
    *out = read.rows;
    return HAUL_OK;
}
