/* What bounds predictions of kernels by class: the best factors, how alike equal work takes on one
 * GPU, and what a long inner dimension costs. */
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
    double pages; /* that the rows of a tile's operands lie in; 0: no tile known, or batched */
    uint64_t inner;
    bool is_batched;
} product;

typedef struct products {
    product *items;
    size_t count;
} products;

/* Pages of 2 MiB that the rows of one of `of` operand's panels of `rows` rows lie in, on average.
 */
static double pages_of(uint64_t rows, uint64_t inner, uint64_t of)
{
    enum { PAGE = 2 << 20, BYTES = 4 };
    const uint64_t panels = of > rows ? of / rows : 1;
    double sum = 0;
    for (uint64_t i = 0; i < panels; i++) {
        const uint64_t first = i * rows * inner * BYTES;
        sum += (double)((first + (rows < of ? rows : of) * inner * BYTES - 1) / PAGE -
                        first / PAGE + 1);
    }
    return sum / (double)panels;
}

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
        const unsigned *tile = rows->items[i].work[gpu].kind.tile;
        if (!one->is_batched && tile[0] && tile[1])
            one->pages =
                pages_of(tile[0], of->inner, of->columns) + pages_of(tile[1], of->inner, of->rows);
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

/* The median rate of linear layers by the pages of a tile, between neighbours of `steps`. */
static void write_by_pages(const products *all, double *room, FILE *out)
{
    static const double steps[] = {0, 3, 4, 6, 12, HUGE_VAL};
    for (size_t s = 0; s + 1 < sizeof steps / sizeof *steps; s++) {
        size_t count = 0;
        for (size_t i = 0; i < all->count; i++)
            if (all->items[i].pages > 0 && all->items[i].pages >= steps[s] &&
                all->items[i].pages < steps[s + 1])
                room[count++] = 1e-12 * all->items[i].flops_per_s;
        fprintf(out, " %.1f (%zu) |", count ? haul_median(room, count) : (double)NAN, count);
    }
    putc('\n', out);
}

static haul_status write_gpus(const operator_rows *rows, bool by_pages, FILE *out,
                              haul_error *error)
{
    haul_status status = HAUL_OK;
    double *room = calloc(rows->count + 1, sizeof *room);
    for (int g = 0; !status && g < OPERATOR_GPUS; g++) {
        const products all = products_of(rows, g);
        status = all.items && room ? HAUL_OK : haul_fail_no_memory(error);
        if (!status && by_pages)
            fprintf(out, "| %s |", operator_gpus[g].name);
        if (!status && !by_pages)
            write_spread(&all, g, out);
        if (!status)
            (by_pages ? write_by_pages : write_rates)(&all, room, out);
        free(all.items);
    }
    free(room);
    return status;
}

/* --- the best factors */

/* Predictions of one class between two GPUs: predicted by measured. */
typedef struct ratios {
    double *items;
    size_t count;
} ratios;

static double mean_error(const ratios *of, double factor)
{
    double sum = 0;
    for (size_t i = 0; i < of->count; i++)
        sum += fabs(factor * of->items[i] - 1);
    return sum;
}

/* The least sum of |factor x ratio - 1| over all factors. It is at the reciprocal of a ratio, for
 * between neighbouring reciprocals the sum is a straight line; and it has one valley. */
static double least_error(ratios *of)
{
    size_t low = 0, high = of->count ? of->count - 1 : 0;
    haul_sort_doubles(of->items, of->count);
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (mean_error(of, 1 / of->items[middle]) <= mean_error(of, 1 / of->items[middle + 1]))
            high = middle;
        else
            low = middle + 1;
    }
    return of->count ? mean_error(of, 1 / of->items[low]) : 0;
}

/* Predictions of a pair: by one ratio a class, by name, with sizes. */
enum { ONE_RATIO, BY_NAME, SIZED, WAYS };

static haul_status predict_all(const operator_row *row, int from, int to,
                               haul_machine *const *machines, double seconds[WAYS],
                               haul_error *error)
{
    haul_kernel_work work = row->work[from];
    haul_kernel_prediction one;
    seconds[ONE_RATIO] = work.seconds;
    for (int way = BY_NAME; way < WAYS; way++) {
        work.operands = way == SIZED ? row->operands : (haul_operands){0};
        const haul_status status =
            haul_kernel_predict(machines[from], machines[to], &work, &one, error);
        if (status)
            return status;
        seconds[way] = one.estimate.seconds;
    }
    return HAUL_OK;
}

static haul_status write_best(const operator_rows *rows, int from, int to,
                              haul_machine *const *machines, double *room, FILE *out,
                              haul_error *error)
{
    static const haul_kernel_class kinds[] = {HAUL_KERNEL_CLASS_PRODUCT,
                                              HAUL_KERNEL_CLASS_STREAMING, HAUL_KERNEL_CLASS_ROWS};
    double now[WAYS] = {0}, best[WAYS] = {0}, count = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        ratios by[WAYS];
        for (int way = 0; way < WAYS; way++)
            by[way] = (ratios){room + (size_t)way * rows->count, 0};
        for (size_t i = 0; i < rows->count; i++) {
            const operator_row *row = &rows->items[i];
            double seconds[WAYS];
            if (row->work[from].kind.kind != kinds[k] || !(row->work[from].seconds > 0) ||
                !(row->work[to].seconds > 0))
                continue;
            const haul_status status = predict_all(row, from, to, machines, seconds, error);
            if (status)
                return status;
            for (int way = 0; way < WAYS; way++)
                by[way].items[by[way].count++] = seconds[way] / row->work[to].seconds;
        }
        count += (double)by[ONE_RATIO].count;
        for (int way = 0; way < WAYS; way++) {
            now[way] += mean_error(&by[way], 1);
            best[way] += least_error(&by[way]);
        }
    }
    fprintf(out, "| %s | %s | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n",
            operator_gpus[from].name, operator_gpus[to].name, 100 * best[ONE_RATIO] / count,
            100 * now[BY_NAME] / count, 100 * best[BY_NAME] / count, 100 * now[SIZED] / count,
            100 * best[SIZED] / count);
    return HAUL_OK;
}

static haul_status write_factors(const operator_rows *rows, FILE *out, haul_error *error)
{
    haul_machine *machines[OPERATOR_GPUS] = {NULL};
    haul_status status = HAUL_OK;
    for (int g = 0; !status && g < OPERATOR_GPUS; g++)
        status = haul_machine_load(operator_gpus[g].machine, &machines[g], error);
    double *room = calloc(WAYS * rows->count + 1, sizeof *room);
    if (!status && !room)
        status = haul_fail_no_memory(error);
    for (int from = 0; from < OPERATOR_GPUS; from++)
        for (int to = 0; !status && to < OPERATOR_GPUS; to++)
            if (from != to)
                status = write_best(rows, from, to, machines, room, out, error);
    free(room);
    for (int g = 0; g < OPERATOR_GPUS; g++)
        haul_machine_free(machines[g]);
    return status;
}

/* --- the section */

static haul_status write_tables(const operator_rows *rows, FILE *out, haul_error *error)
{
    fputs("## Kernels of profiles: what bounds these errors\n\n"
          "The same operators with the answer known: each class's predictions times the one factor "
          "that makes their mean error least. First of the source's times themselves, which is the "
          "best that one ratio for each class and pair of GPUs can do; then of haul's predictions. "
          "Where the best one ratio misses a goal, no sustained rates, however exact, reach it by "
          "class alone; where the best factor on haul's predictions misses it, no better rate "
          "helps haul either.\n\n"
          "| from | to | one ratio a class, best | by name | best factor | sizes known | best "
          "factor |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |\n",
          out);
    haul_status status = write_factors(rows, out, error);
    fprintf(out,
            "\nMatrix products. Spread: the mean error where each is predicted "
            "from the median rate of the %d products nearest in size that the same GPU ran, which "
            "no prediction from another GPU can be expected to go below. Rates: the median of "
            "linear layers in Tflop/s, by their inner dimension.\n\n"
            "| GPU | spread, linear | spread, batched | inner 1024 | 4096 | 16384 | 65536 |\n"
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
            NEAREST);
    if (!status)
        status = write_gpus(rows, false, out, error);
    fputs("\nThe same rates by address translation: both operands of these layers have their "
          "inner dimension in a row, so that the rows of a kernel's tile lie as far apart as it is "
          "long. The table is by the pages of 2 MiB that the rows of one tile lie in (in brackets: "
          "layers). From three pages a tile on a P100 slows down, to a third where each row is far "
          "from the next, as a GPU does whose multiprocessors translate few pages at once; that is "
          "why 8192 (three pages) is nearly as fast as 4096 (two), and 7680 (four, since its rows "
          "begin anywhere in a page) a third slower. Its misses were not counted: no P100 was at "
          "hand. The others lose a sixth at most, so that nothing about the P100's loss can be "
          "learnt from them.\n\n"
          "| GPU | 2 pages | 3 | 4 to 5 | 6 to 11 | 12 and more |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: |\n",
          out);
    return status ? status : write_gpus(rows, true, out, error);
}

static haul_status write(const char *data, FILE *out, haul_error *error)
{
    operator_rows rows;
    haul_status status = operator_rows_read(data, &rows, error);
    if (status)
        return status;
    status = write_tables(&rows, out, error);
    free(rows.items);
    return status;
}

const accuracy_section accuracy_kernel_limits = {"kernel-limits", write};
