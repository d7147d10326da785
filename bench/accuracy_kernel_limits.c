/* What bounds predictions of matrix products: how alike equal work takes on one GPU, and what a
 * long inner dimension costs. */
#include <math.h>
#include <stdlib.h>

#include "accuracy.h"
#include "base/fail.h"
#include "base/stats.h"
#include "operator_rows.h"

enum { NEAREST = 4 };

/* A product that one GPU ran; sizes are logarithms. */
typedef struct product {
    double size[4];
    double flops_per_s;
    uint64_t inner;
    bool is_batched;
} product;

typedef struct products {
    product *items;
    size_t count;
} products;

static products products_of(const operator_rows *rows, int gpu)
{
    products made = {calloc(rows->count + 1, sizeof *made.items), 0};
    for (size_t i = 0; made.items && i < rows->count; i++) {
        const haul_operands *of = &rows->items[i].operands;
        const double seconds = rows->items[i].work[gpu].seconds;
        if (!of->batch || !(seconds > 0))
            continue;
        const double sizes[4] = {(double)of->batch, (double)of->rows, (double)of->columns,
                                 (double)of->inner};
        product *one = &made.items[made.count++];
        one->flops_per_s = 2 * sizes[0] * sizes[1] * sizes[2] * sizes[3] / seconds;
        one->inner = of->inner;
        one->is_batched = rows->items[i].key[0] == 'b'; /* "bmm ..." */
        for (int d = 0; d < 4; d++)
            one->size[d] = log(sizes[d]);
    }
    return made;
}

static double distance(const product *a, const product *b)
{
    double sum = 0;
    for (int d = 0; d < 4; d++)
        sum += pow(a->size[d] - b->size[d], 2);
    return sum;
}

/* The median rate of the nearest products of the same kind, itself left out. */
static double rate_beside(const products *all, size_t at)
{
    double rates[NEAREST], far[NEAREST];
    int found = 0;
    for (size_t i = 0; i < all->count; i++) {
        const double away = distance(&all->items[i], &all->items[at]);
        if (i == at || all->items[i].is_batched != all->items[at].is_batched ||
            (found == NEAREST && away >= far[NEAREST - 1]))
            continue;
        int place = found < NEAREST ? found++ : NEAREST - 1;
        for (; place > 0 && far[place - 1] > away; place--) {
            far[place] = far[place - 1];
            rates[place] = rates[place - 1];
        }
        far[place] = away;
        rates[place] = all->items[i].flops_per_s;
    }
    return haul_median(rates, (size_t)found);
}

static void write_spread(const products *all, int gpu, FILE *out)
{
    double sums[2] = {0}, counts[2] = {0};
    for (size_t i = 0; i < all->count; i++) {
        const product *one = &all->items[i];
        sums[one->is_batched] += fabs(one->flops_per_s / rate_beside(all, i) - 1);
        counts[one->is_batched]++;
    }
    fprintf(out, "| %s | %.1f %% | %.1f %% |", operator_gpus[gpu].name, 100 * sums[0] / counts[0],
            100 * sums[1] / counts[1]);
}

/* The median rate of linear layers whose inner dimension is within a factor of the root of 2. */
static void write_rates(const products *all, double *room, FILE *out)
{
    enum { LEAST = 1024, MOST = 65536 };
    for (uint64_t inner = LEAST; inner <= MOST; inner *= 4) {
        size_t count = 0;
        for (size_t i = 0; i < all->count; i++)
            if (!all->items[i].is_batched &&
                fabs(log2((double)all->items[i].inner / (double)inner)) <= 0.5)
                room[count++] = 1e-12 * all->items[i].flops_per_s;
        fprintf(out, " %.1f |", count ? haul_median(room, count) : (double)NAN);
    }
    putc('\n', out);
}

static haul_status write_gpu(const operator_rows *rows, int gpu, FILE *out, haul_error *error)
{
    const products all = products_of(rows, gpu);
    double *room = calloc(rows->count + 1, sizeof *room);
    const haul_status status = all.items && room ? HAUL_OK : haul_fail_no_memory(error);
    if (!status) {
        write_spread(&all, gpu, out);
        write_rates(&all, room, out);
    }
    free(room);
    free(all.items);
    return status;
}

static haul_status write(const char *data, FILE *out, haul_error *error)
{
    operator_rows rows;
    haul_status status = operator_rows_read(data, &rows, error);
    if (status)
        return status;
    fprintf(out,
            "## Kernels of profiles: what bounds these errors\n\n"
            "Matrix products of the same data. Spread: the mean error where each is predicted "
            "from the median rate of the %d products nearest in size that the same GPU ran, which "
            "no prediction from another GPU can be expected to go below. Rates: the median of "
            "linear layers in Tflop/s, by their inner dimension.\n\n"
            "| GPU | spread, linear | spread, batched | inner 1024 | 4096 | 16384 | 65536 |\n"
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
            NEAREST);
    for (int g = 0; !status && g < OPERATOR_GPUS; g++)
        status = write_gpu(&rows, g, out, error);
    free(rows.items);
    return status;
}

const accuracy_section accuracy_kernel_limits = {"kernel-limits", write};
