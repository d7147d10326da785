/* The lambdas of HiPC 2015, Table II, from the authors' own measurements. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accuracy.h"
#include "base/fail.h"
#include "haul/csv.h"
#include "haul/kernel.h"
#include "kernel_rows.h"

enum { BOARDS = 3, KERNELS = 4, SIZES_MOST = 32, SUBARRAY = 3, TILED = 2, FROM = 256 };

static const char *const boards[BOARDS] = {"gt-630", "gtx-660", "gtx-680"};
static const char *const kernels[KERNELS] = {
    "matMul-Gm-Un-SP",
    "matMul-Gm-SP",
    "matMul-Sm-Un-SP",
    "SubSeqMax",
};
static const char *const titles[KERNELS] = {
    "matrix product, #1 global, not coalesced",
    "matrix product, #2 global",
    "matrix product, #3 shared, not coalesced",
    "maximum subarray",
};
static const double published[BOARDS][KERNELS] = {
    {3.5, 37, 22, 1.1},
    {4.8, 21, 20, 0.61},
    {4.15, 24, 20, 0.76},
};

typedef struct measured {
    haul_kernel_sample samples[SIZES_MOST];
    size_t count;
} measured;

/* What the authors count (their scripts, which differ from the paper): 2N global loads in all
 * matrix products, tiled or not, 2N shared ones where tiled, two cycles a step (one on the GT 630),
 * hits in L2 for 2 % of the loads; and, on the GT 630 alone, whose L1 caches global loads, hits in
 * it for 10 %. Maximum subarray: 4096 threads, 100 cycles, a global and a shared load an element.
 */
static haul_kernel_counts counts_of(int board, int kernel, double n)
{
    enum { THREADS = 4096, BLOCK = 128, TILE = 16 };
    const double l1 = board ? 0 : 0.1;
    haul_kernel_counts counts = {.threads = n * n, .block = TILE * TILE};
    counts.comp = board ? 2 * n : n;
    counts.loads_global = 2 * n;
    counts.stores_global = 1;
    counts.l2_hits = 0.02 * counts.loads_global;
    if (kernel == TILED)
        counts.loads_shared = 2 * n + 1;
    if (kernel == SUBARRAY) {
        const double elements = n / THREADS;
        counts = (haul_kernel_counts){.threads = THREADS,
                                      .block = BLOCK,
                                      .comp = 100 * elements,
                                      .loads_global = elements,
                                      .loads_shared = elements};
    }
    counts.l1_hits = l1 * counts.loads_global;
    return counts;
}

static int place_of(const char *name, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(name, names[i]))
            return i;
    return -1;
}

static haul_status read_rows(haul_csv *csv, measured rows[BOARDS][KERNELS], haul_error *error)
{
    static const char *const names[] = {"gpu", "kernel", "n", "median_ms"};
    size_t columns[4];
    haul_status status = HAUL_OK;
    for (int i = 0; i < 4 && status == HAUL_OK; i++)
        status = haul_csv_find(csv, names[i], &columns[i], error);
    const char *const *fields = NULL;
    while (status == HAUL_OK) {
        status = haul_csv_next(csv, &fields, error);
        if (status || !fields)
            break;
        const int b = place_of(fields[columns[0]], boards, BOARDS);
        const int k = place_of(fields[columns[1]], kernels, KERNELS);
        const double n = strtod(fields[columns[2]], NULL);
        if (b < 0 || k < 0 || n < FROM || rows[b][k].count == SIZES_MOST)
            continue;
        rows[b][k].samples[rows[b][k].count++] = (haul_kernel_sample){
            .size = n,
            .seconds = strtod(fields[columns[3]], NULL) / 1e3,
            .counts = counts_of(b, k, n),
        };
    }
    return status;
}

/* Lambda as the paper has it: without a launch, at the largest size. */
static double lambda_of(const haul_machine *machine, const haul_kernel_sample *sample)
{
    double bsp = 0;
    if (haul_kernel_bsp(&machine->gpu, &sample->counts, &bsp, NULL))
        return 0;
    return bsp / sample->seconds;
}

typedef struct published_row {
    const char *board;
    const char *title;
    double lambda;
} published_row;

static void print_kernel(const haul_machine *machine, const published_row *row,
                         const haul_kernel_sample *samples, size_t count, FILE *out)
{
    double least = HUGE_VAL;
    double most = 0;
    double sum = 0;
    double last = 0;
    const double table = row->lambda;
    for (size_t i = 0; i < count; i++) {
        last = lambda_of(machine, &samples[i]);
        least = fmin(least, last);
        most = fmax(most, last);
        sum += last / table;
    }
    if (!count)
        return;
    const double off = 100 * (last / table - 1);
    fprintf(out, "| %s | %s | %.3g | %.3g | %s%+.0f %%%s | %.3g to %.3g | %.2f to %.2f | %.2f |\n",
            row->board, row->title, table, last, fabs(off) > 10 ? "**" : "", off,
            fabs(off) > 10 ? "**" : "", least, most, least / table, most / table,
            sum / (double)count);
}

static haul_status print_all(measured rows[BOARDS][KERNELS], FILE *out, haul_error *error)
{
    for (int b = 0; b < BOARDS; b++) {
        haul_machine *machine = NULL;
        const haul_status status = haul_machine_load(boards[b], &machine, error);
        if (status)
            return status;
        for (int k = 0; k < KERNELS; k++)
            print_kernel(machine, &(published_row){boards[b], titles[k], published[b][k]},
                         rows[b][k].samples, rows[b][k].count, out);
        haul_machine_free(machine);
    }
    return HAUL_OK;
}

/* The later measurements of the same programs, with the counts of the kernel files. */
static haul_status print_later(const char *data, FILE *out, haul_error *error)
{
    enum { LATER_BOARDS = 3, LATER_PROGRAMS = 5 };
    static const struct {
        const char *title;
        int program;                 /* of kernel_programs */
        double lambda[LATER_BOARDS]; /* gtx-680, gtx-titan, k40 */
    } programs[LATER_PROGRAMS] = {
        {"matrix product, #1 global, not coalesced", 4, {4.15, 4.5, 4.65}},
        {"matrix product, #2 global", 1, {24, 22, 24}},
        {"matrix product, #3 shared, not coalesced", 3, {20, 18, 19.5}},
        {"matrix product, #4 shared", 2, {72, 52, 65}},
        {"maximum subarray", 8, {0.76, 0.55, 0.52}},
    };
    kernel_rows *rows = NULL;
    const haul_status status = kernel_rows_read(data, &rows, error);
    if (status)
        return status;
    for (int b = 0; b < LATER_BOARDS; b++)
        for (int p = 0; p < LATER_PROGRAMS; p++) {
            const kernel_series *of = &rows->series[programs[p].program][b];
            print_kernel(rows->machines[b],
                         &(published_row){kernel_boards[b].machine, programs[p].title,
                                          programs[p].lambda[b]},
                         of->samples, of->count, out);
        }
    kernel_rows_free(rows);
    return HAUL_OK;
}

static const char heads[] =
    "## Kernels: the published lambdas\n\n"
    "Data: `kernels/bsp-measured.csv` (HiPC 2015; three of the four products were published), N "
    "from 256, as the paper's plots have them. Lambda is read at the largest size: that is where "
    "Table II's figures come out. Counts are those of the authors' scripts, which differ from the "
    "paper: 2N global loads in the tiled products too, 2N shared ones, two cycles a step but on "
    "the GT 630, R = 1058 MHz for the GTX 680, hits in L2 for 2 % of the loads. Of L1 the paper "
    "says that the GT 630 uses it, between 65 % and 10 % in product #1; 10 % is taken for all its "
    "kernels. Predicted / measured with Table II's lambda: the paper reports 0.9 to 1.1 for the "
    "products and 0.95 to 1.05 for the subarray, but for small sizes.\n\n"
    "| GPU | kernel | Table II | fitted | difference | by size | predicted / measured | mean |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- |\n";

static const char tails[] =
    "\nGoal: within 10 %. Product #1 on the GT 630 misses where hits in L1 are held at 10 %: they "
    "fall with N, so one lambda serves no two sizes; 3.5 at N = 8192 takes 20 %, at N = 1024 54 %, "
    "both within the range the paper names. Product #1 on the GTX 680 is 4.15 at the largest size "
    "only, 5 at the others. The maximum subarray's smallest sizes take longer than their elements "
    "account for.\n";

static const char later[] =
    "\nThe same programs in `kernels/gpuperfpredict-times.csv`, other measurements: with the "
    "fourth "
    "product, and the Titan and the K40. Counts are the kernel files', so that `haul kernel fit` "
    "of "
    "the largest size's rows gives the same but for the launch.\n\n"
    "| GPU | kernel | Table II | fitted | difference | by size | predicted / measured | mean |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- |\n";

static haul_status write_section(const char *data, FILE *out, haul_error *error)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/kernels/bsp-measured.csv", data);
    measured(*rows)[KERNELS] = calloc(BOARDS, sizeof *rows);
    if (!rows)
        return haul_fail_no_memory(error);
    haul_csv *csv = NULL;
    haul_status status = haul_csv_open(path, &csv, error);
    if (status == HAUL_OK)
        status = read_rows(csv, rows, error);
    haul_csv_close(csv);
    if (status == HAUL_OK) {
        fputs(heads, out);
        status = print_all(rows, out, error);
        fputs(tails, out);
        fputs(later, out);
    }
    free(rows);
    return status ? status : print_later(data, out, error);
}

const accuracy_section accuracy_kernel_published = {"kernel-published", write_section};
