/* Tiled matrix products: by hand, between their bounds, and against 1156 measured on a K40. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

#include "haul/csv.h"
#include "haul/overlap.h"

static double time_of(haul_tiled_product product, haul_tiled_costs costs)
{
    double seconds = -1;
    haul_error error;
    if (haul_tiled_time(&product, &costs, &seconds, &error))
        fail_msg("%s", error.text);
    return seconds;
}

static void test_by_hand(void **state)
{
    (void)state;
    const haul_tiled_costs costs = {1, 1.5, 1, 2, 10};
    const haul_tiled_costs fast = {1, 1.5, 1, 2, 0.1};
    CHECK_NEAR(time_of((haul_tiled_product){8, 8, 8, 8, true, true, true}, costs), 3 + 10 + 1,
               1e-12);
    /* the second tiles of A and B come while the first product runs */
    CHECK_NEAR(time_of((haul_tiled_product){8, 8, 16, 8, true, true, true}, costs), 3 + 20 + 1,
               1e-12);
    CHECK_NEAR(time_of((haul_tiled_product){8, 8, 16, 8, false, false, false}, costs), 20, 1e-12);
    CHECK_NEAR(time_of((haul_tiled_product){8, 8, 16, 8, false, false, true}, costs), 22, 1e-12);
    /* copies bound it: A, B, C to 3; product to 3.1; A' and C's way back slow each other to 5.1,
     * where 0.35 / 0.6 ... of C' is left: it ends at 5.6667 */
    CHECK_NEAR(time_of((haul_tiled_product){16, 8, 8, 8, true, true, true}, fast),
               5.1 + (1 - 0.65 / 1.5) + 0.1 + 1, 1e-12);
    /* 1.5 tiles are one, more are two */
    CHECK_NEAR(time_of((haul_tiled_product){12, 8, 8, 8, true, true, true}, costs),
               1.5 + 1 + 1.5 + 15 + 1.5, 1e-12);
    CHECK_NEAR(time_of((haul_tiled_product){13, 8, 8, 8, true, true, true}, costs),
               3 + 10 + 6.25 + 0.625, 1e-12);
}

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return *seed >> 33;
}

static void test_between_bounds(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < 2000; i++) {
        const double in = 1 + (double)(next(&seed) % 100), out = 1 + (double)(next(&seed) % 100);
        const haul_tiled_costs costs = {in, in * 1.2, out, out * 1.3, (double)(next(&seed) % 200)};
        const haul_tiled_product all = {1 + next(&seed) % 200,
                                        1 + next(&seed) % 200,
                                        1 + next(&seed) % 200,
                                        16 + next(&seed) % 64,
                                        true,
                                        true,
                                        true};
        const double m = (double)all.m, n = (double)all.n, k = (double)all.k;
        const double tile = (double)all.tile;
        const double in_s = in * (m * k + k * n + m * n) / tile / tile;
        const double out_s = out * m * n / tile / tile;
        const double kernel_s = costs.kernel_s * m * n * k / tile / tile / tile;
        const double seconds = time_of(all, costs);
        assert_true(seconds >= fmax(kernel_s, in_s) * (1 - 1e-9));
        assert_true(seconds >= out_s * (1 - 1e-9));
        assert_true(seconds <= (1.3 * (in_s + out_s) + kernel_s) * (1 + 1e-9));
        haul_tiled_product less = all;
        less.a_on_host = false;
        less.b_on_host = next(&seed) % 2;
        assert_true(time_of(less, costs) <= seconds * (1 + 1e-9));
    }
}

static void test_refused(void **state)
{
    (void)state;
    haul_error error;
    double seconds = -1;
    const haul_tiled_costs fine = {1, 1, 1, 1, 1};
    const haul_tiled_product product = {8, 8, 8, 8, true, true, true};
    const haul_tiled_product none = {8, 0, 8, 8, true, true, true};
    const haul_tiled_product many = {UINT64_MAX, UINT64_MAX, UINT64_MAX, 1, true, true, true};
    const haul_tiled_product no_tile = {8, 8, 8, 0, true, true, true};
    const haul_tiled_costs broken[] = {
        {NAN, 1, 1, 1, 1}, {1, 1, -1, 1, 1}, {1, 1, 1, 1, (double)INFINITY}, {1, 0.5, 1, 1, 1}};
    assert_int_equal(haul_tiled_time(&none, &fine, &seconds, &error), HAUL_BAD_INPUT);
    assert_int_equal(haul_tiled_time(&many, &fine, &seconds, &error), HAUL_BAD_INPUT);
    assert_int_equal(haul_tiled_time(&no_tile, &fine, &seconds, &error), HAUL_BAD_INPUT);
    for (int i = 0; i < 4; i++)
        assert_int_equal(haul_tiled_time(&product, &broken[i], &seconds, &error), HAUL_BAD_INPUT);
    assert_true(seconds == -1);
}

/* Columns of a file as numbers; HtoD is 0 and DtoH 1. */
enum { COLUMNS = 8, ROWS = 2000 };

typedef struct data {
    size_t count;
    double rows[ROWS][COLUMNS];
} data;

static double number(const char *text)
{
    return *text == 'D' ? 1 : strtod(text, NULL);
}

static data *load(const char *name, const char *const *columns)
{
    const char *named = getenv("HAUL_DATA");
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s", named && *named ? named : "../shared/data", name);
    haul_csv *csv = NULL;
    haul_error error;
    const haul_status status = haul_csv_open(path, &csv, &error);
    if (status == HAUL_IO) {
        printf("skipped: no '%s'; HAUL_DATA names the folder\n", path);
        skip();
    }
    assert_int_equal(status, HAUL_OK);
    data *self = calloc(1, sizeof *self);
    size_t at[COLUMNS] = {0};
    for (int c = 0; c < COLUMNS && columns[c]; c++)
        assert_int_equal(haul_csv_find(csv, columns[c], &at[c], &error), HAUL_OK);
    const char *const *fields = NULL;
    while (!haul_csv_next(csv, &fields, &error) && fields) {
        assert_true(self->count < ROWS);
        for (int c = 0; c < COLUMNS && columns[c]; c++)
            self->rows[self->count][c] = number(fields[at[c]]);
        self->count++;
    }
    haul_csv_close(csv);
    return self;
}

/* The copies were measured at the bytes of every tile. */
static const double *copy_of(const data *self, double direction, double bytes)
{
    for (size_t i = 0; i < self->count; i++)
        if (self->rows[i][0] == direction && self->rows[i][1] == bytes)
            return self->rows[i];
    fail_msg("no copy of %g bytes", bytes);
    return NULL;
}

static double kernel_time(const data *kernels, double tile)
{
    for (size_t i = 0; i < kernels->count; i++)
        if (kernels->rows[i][0] == tile)
            return kernels->rows[i][1];
    fail_msg("no kernel of %g", tile);
    return 0;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* No number is fitted to the tiled times: kernels of whole tiles and copies alone and against each
 * other are from the other files. One rule is read off them: that the last tile takes a rest of up
 * to half a tile. The times jump where the rest passes a half, and with a rest of 4096 behind a
 * tile of 8192 nothing overlaps, as with one tile; with a tile for each rest the errors are 1.01 %
 * and 7.96 %. The published models of the same runs have medians of 6.5 and 1.5 % and 90th
 * percentiles of 28 and 7.8 %. What is left is too fast where C is copied and little is computed
 * for it: of the 51 runs off by more than 12 % (up to 34 %) k is below a third of m in 38, the
 * others are small. There the measured copies back overlap with hardly anything, which this
 * schedule does not explain. */
static void test_measured(void **state)
{
    (void)state;
    static const char *const of_runs[COLUMNS] = {
        "m", "n", "k", "tile", "a_on_host", "b_on_host", "c_on_host", "measured_s"};
    static const char *const of_kernels[COLUMNS] = {"m", "avg_s"};
    static const char *const of_copies[COLUMNS] = {"direction", "bytes", "alone_s",
                                                   "while_opposite_busy_s"};
    data *runs = load("overlap/k40-dgemm-tiled.csv", of_runs);
    data *kernels = load("overlap/k40-dgemm-kernel.csv", of_kernels);
    data *copies = load("transfers/bidirectional-k40.csv", of_copies);
    double *errors = calloc(runs->count, sizeof *errors);
    for (size_t i = 0; i < runs->count; i++) {
        const double *row = runs->rows[i];
        const double bytes = row[3] * row[3] * 8;
        const double *in = copy_of(copies, 0, bytes);
        const double *out = copy_of(copies, 1, bytes);
        const haul_tiled_costs costs = {
            .in_s = in[2],
            .in_busy_s = in[3],
            .out_s = out[2],
            .out_busy_s = out[3],
            .kernel_s = kernel_time(kernels, row[3]),
        };
        const haul_tiled_product product = {(uint64_t)row[0], (uint64_t)row[1], (uint64_t)row[2],
                                            (uint64_t)row[3], row[4] != 0,      row[5] != 0,
                                            row[6] != 0};
        errors[i] = fabs(time_of(product, costs) / row[7] - 1);
    }
    qsort(errors, runs->count, sizeof *errors, compare);
    const double median = errors[runs->count / 2], p90 = errors[runs->count * 9 / 10];
    printf("%zu runs: median %.2f %%, 90th percentile %.2f %%, worst %.1f %%\n", runs->count,
           100 * median, 100 * p90, 100 * errors[runs->count - 1]);
    assert_true(runs->count > 1000);
    assert_true(median <= 0.014);
    assert_true(p90 <= 0.07);
    free(errors);
    free(copies);
    free(kernels);
    free(runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_between_bounds),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
