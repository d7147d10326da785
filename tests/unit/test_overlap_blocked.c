/* Tiled matrix products: by hand, between their bounds, beside a second derivation, and against
 * 1156 measured on a K40. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/stats.h"
#include "blocked_player.h"
#include "tiled_rows.h"

static double time_of(haul_blocked_product product, haul_blocked_costs costs)
{
    double seconds = -1;
    haul_error error;
    if (haul_blocked_time(&product, &costs, &seconds, &error))
        fail_msg("%s", error.text);
    return seconds;
}

static void test_by_hand(void **state)
{
    (void)state;
    const haul_blocked_costs costs = {1, 1.5, 1, 2, 10, 0};
    const haul_blocked_costs fast = {1, 1.5, 1, 2, 0.1, 0};
    CHECK_NEAR(
        time_of((haul_blocked_product){8, 8, 8, 8, true, true, true, 0, false, 0, false}, costs),
        3 + 10 + 1, 1e-9);
    /* the second tiles of A and B come while the first product runs */
    CHECK_NEAR(
        time_of((haul_blocked_product){8, 8, 16, 8, true, true, true, 0, false, 0, false}, costs),
        3 + 20 + 1, 1e-9);
    CHECK_NEAR(time_of((haul_blocked_product){8, 8, 16, 8, false, false, false, 0, false, 0, false},
                       costs),
               20, 1e-9);
    CHECK_NEAR(
        time_of((haul_blocked_product){8, 8, 16, 8, false, false, true, 0, false, 0, false}, costs),
        22, 1e-9);
    /* copies bound it: A, B, C to 3; product to 3.1; A' and C's way back slow each other to 5.1,
     * where 0.35 / 0.6 ... of C' is left: it ends at 5.6667 */
    CHECK_NEAR(
        time_of((haul_blocked_product){16, 8, 8, 8, true, true, true, 0, false, 0, false}, fast),
        5.1 + (1 - 0.65 / 1.5) + 0.1 + 1, 1e-9);
}

static void test_edges(void **state)
{
    (void)state;
    const haul_blocked_costs costs = {1, 1.5, 1, 2, 10, 0};
    const haul_blocked_product half = {12, 8, 8, 8, true, true, true, 0, false, 0, false};
    haul_blocked_product joined = half;
    joined.edge_alone = 0.5;
    CHECK_NEAR(time_of(half, costs), 3 + 10 + 5 + 0.5, 1e-9);
    CHECK_NEAR(time_of(joined, costs), 1.5 + 1 + 1.5 + 15 + 1.5, 1e-9);
    joined.m = 13; /* more than half is a tile of its own */
    CHECK_NEAR(time_of(joined, costs), 3 + 10 + 6.25 + 0.625, 1e-9);
    joined.m = 15;
    joined.edge_alone = 1;
    CHECK_NEAR(time_of(joined, costs), 1.875 + 1 + 1.875 + 18.75 + 1.875, 1e-9);
    joined.m = 3; /* less than one tile is one at any share */
    CHECK_NEAR(time_of(joined, costs), 0.375 + 1 + 0.375 + 3.75 + 0.375, 1e-9);
}

/* A, B, C and the second A, C come to 5; the products are short. C goes back from 3.1 where it may,
 * and the copies in are slower by it. */
static void test_held_back(void **state)
{
    (void)state;
    const haul_blocked_costs costs = {1, 1.5, 1, 2, 0.1, 0};
    haul_blocked_product product = {16, 8, 8, 8, true, true, true, 0, false, 0, false};
    product.out_after_in = true;
    CHECK_NEAR(time_of(product, costs), 5 + 2, 1e-9);
    product.c_on_host = false;
    CHECK_NEAR(time_of(product, costs), 3 + 0.1, 1e-9);
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
    for (int i = 0; i < SWEEP(2000); i++) {
        const double in = 1 + (double)(next(&seed) % 100), out = 1 + (double)(next(&seed) % 100);
        const haul_blocked_costs costs = {in, in * 1.2, out, out * 1.3, (double)(next(&seed) % 200),
                                          0};
        const haul_blocked_product all = {1 + next(&seed) % 200,
                                          1 + next(&seed) % 200,
                                          1 + next(&seed) % 200,
                                          16 + next(&seed) % 64,
                                          true,
                                          true,
                                          true,
                                          0,
                                          false,
                                          0,
                                          false};
        const double m = (double)all.m, n = (double)all.n, k = (double)all.k;
        const double tile = (double)all.tile;
        const double in_s = in * (m * k + k * n + m * n) / tile / tile;
        const double out_s = out * m * n / tile / tile;
        const double kernel_s = costs.kernel_s * m * n * k / tile / tile / tile;
        const double seconds = time_of(all, costs);
        assert_true(seconds >= fmax(kernel_s, in_s) * (1 - 1e-9));
        assert_true(seconds >= out_s * (1 - 1e-9));
        assert_true(seconds <= (1.3 * (in_s + out_s) + kernel_s) * (1 + 1e-9));
        haul_blocked_product less = all;
        less.a_on_host = false;
        less.b_on_host = next(&seed) % 2;
        assert_true(time_of(less, costs) <= seconds * (1 + 1e-9));
    }
}

/* The timeline's time and the player's differ by what rounding to nanoseconds adds up to. */
static void test_second_derivation(void **state)
{
    (void)state;
    static player second;
    uint64_t seed = 11;
    for (int i = 0; i < SWEEP(2000); i++) {
        const double in = 0.1 + 1e-3 * (double)(next(&seed) % 1000);
        const double out = 0.1 + 1e-3 * (double)(next(&seed) % 1000);
        const haul_blocked_costs costs = {in,
                                          in * (1 + 1e-3 * (double)(next(&seed) % 900)),
                                          out,
                                          out * (1 + 1e-3 * (double)(next(&seed) % 900)),
                                          1e-3 * (double)(next(&seed) % 2000),
                                          0};
        const haul_blocked_product product = {.m = 1 + next(&seed) % 300,
                                              .n = 1 + next(&seed) % 300,
                                              .k = 1 + next(&seed) % 300,
                                              .tile = 16 + next(&seed) % 100,
                                              .a_on_host = next(&seed) % 2,
                                              .b_on_host = next(&seed) % 2,
                                              .c_on_host = next(&seed) % 4 > 0,
                                              .edge_alone = 0.25 * (double)(next(&seed) % 5),
                                              .out_after_in = next(&seed) % 3 == 0};
        const double seconds = time_of(product, costs);
        assert_true(fabs(seconds - player_time(&second, &product, &costs)) <= 1e-5);
    }
}

static void test_workload(void **state)
{
    (void)state;
    const haul_blocked_product product = {16, 16, 16, 8, true, false, true, 0, false, 0, false};
    const haul_blocked_costs costs = {1, 2, 1, 4, 10, 0};
    haul_workload *workload = NULL;
    haul_timeline_device device;
    haul_error error;
    assert_int_equal(haul_blocked_workload(&product, &costs, &workload, &device, &error), HAUL_OK);
    assert_int_equal(workload->op_count, 4 + 4 + 8 + 4);
    assert_int_equal(workload->stream_count, 3);
    assert_int_equal(workload->device_count, 1);
    assert_true(device.busy_speed[HAUL_DIRECTION_HTOD] == 0.5 &&
                device.busy_speed[HAUL_DIRECTION_DTOH] == 0.25);
    assert_string_equal(haul_workload_string(workload, workload->ops[0].name), "A");
    assert_int_equal(workload->repair_count + workload->missing_count, 0);
    haul_workload_free(workload);
}

static void test_refused(void **state)
{
    (void)state;
    haul_error error;
    double seconds = -1;
    const haul_blocked_costs fine = {1, 1, 1, 1, 1, 0};
    const haul_blocked_product product = {8, 8, 8, 8, true, true, true, 0, false, 0, false};
    const haul_blocked_product none = {8, 0, 8, 8, true, true, true, 0, false, 0, false};
    const haul_blocked_product many = {UINT64_MAX, UINT64_MAX, UINT64_MAX, 1, true, true,
                                       true,       0,          false,      0, false};
    const haul_blocked_product long_sum = {
        8, 8, 8 * HAUL_OVERLAP_PRODUCTS_MOST + 1, 8, 0, 0, 0, 0, 0, 0, false};
    const haul_blocked_product share = {8, 8, 8, 8, true, true, true, 1.5, false, 0, false};
    const haul_blocked_product no_share = {8, 8, 8, 8, true, true, true, NAN, false, 0, false};
    const haul_blocked_product no_tile = {8, 8, 8, 0, true, true, true, 0, false, 0, false};
    const haul_blocked_costs broken[] = {{NAN, 1, 1, 1, 1, 0},
                                         {1, 1, -1, 1, 1, 0},
                                         {1, 1, 1, 1, (double)INFINITY, 0},
                                         {1, 0.5, 1, 1, 1, 0},
                                         {1, 1, 1, 1, 1e12, 0}};
    assert_int_equal(haul_blocked_time(&none, &fine, &seconds, &error), HAUL_STATUS_BAD_INPUT);
    assert_int_equal(haul_blocked_time(&many, &fine, &seconds, &error), HAUL_STATUS_BAD_INPUT);
    assert_int_equal(haul_blocked_time(&long_sum, &fine, &seconds, &error), HAUL_STATUS_BAD_INPUT);
    assert_int_equal(haul_blocked_time(&share, &fine, &seconds, &error), HAUL_STATUS_BAD_INPUT);
    assert_int_equal(haul_blocked_time(&no_share, &fine, &seconds, &error), HAUL_STATUS_BAD_INPUT);
    assert_int_equal(haul_blocked_time(&no_tile, &fine, &seconds, &error), HAUL_STATUS_BAD_INPUT);
    for (int i = 0; i < 5; i++)
        assert_int_equal(haul_blocked_time(&product, &broken[i], &seconds, &error),
                         HAUL_STATUS_BAD_INPUT);
    assert_true(seconds == -1);
}

/* Each schedule's distance from the bound; asked for are 1.4 % and 7 %, which the plain one misses.
 */
static const struct {
    double median;
    double p90;
} reached[TILED_SCHEDULES] = {{0.0102, 0.0798}, {0.0072, 0.0557}, {0.0072, 0.0557}};

/* No number is fitted to the tiled times: kernels of whole tiles and copies alone and against each
 * other are from the other files, and the second and third schedules' rules from the program that
 * was measured. */
static void test_measured(void **state)
{
    (void)state;
    const char *named = getenv("HAUL_DATA");
    const char *data = named && *named ? named : "../shared/data";
    tiled_runs *runs = NULL;
    haul_error error;
    const haul_status status = tiled_runs_read(data, &runs, &error);
    if (status == HAUL_STATUS_IO) {
        printf("skipped: %s; HAUL_DATA names the folder\n", error.text);
        skip();
    }
    assert_int_equal(status, HAUL_OK);
    assert_int_equal(runs->count, 1156);
    double *errors = calloc(runs->count, sizeof *errors);
    for (int s = 0; s < TILED_SCHEDULES; s++) {
        for (size_t i = 0; i < runs->count; i++) {
            double seconds = 0;
            if (tiled_predict(&tiled_schedules[s], &runs->items[i], &seconds, &error))
                fail_msg("%s", error.text);
            errors[i] = fabs(seconds / runs->items[i].measured_s - 1);
        }
        hl_base_sort_doubles(errors, runs->count);
        const double median = hl_base_quantile_sorted(errors, runs->count, 0.5);
        const double p90 = hl_base_quantile_sorted(errors, runs->count, 0.9);
        printf("%s: median %.2f %%, 90th percentile %.2f %%, worst %.1f %%\n",
               tiled_schedules[s].name, 100 * median, 100 * p90, 100 * errors[runs->count - 1]);
        assert_true(median <= reached[s].median);
        assert_true(p90 <= reached[s].p90);
    }
    free(errors);
    free(runs);
}

static double stencil_time(uint64_t rows, unsigned queue_depth, bool back_at_once,
                           const haul_blocked_costs *costs)
{
    const haul_blocked_stencil stencil = {.rows = rows,
                                          .columns = 1,
                                          .tile_rows = 1,
                                          .tile_columns = 1,
                                          .queue_depth = queue_depth,
                                          .back_at_once = back_at_once};
    haul_timeline_options options = {.release = HAUL_RELEASE_HOST};
    haul_workload *workload = NULL;
    haul_timeline *timeline = NULL;
    haul_error error;
    if (haul_blocked_stencil_workload(&stencil, costs, &workload, &options.device, &error) ||
        haul_timeline_run(workload, &options, &timeline, &error))
        fail_msg("%s", error.text);
    const double seconds = 1e-9 * (double)timeline->makespan_ns;
    haul_timeline_free(timeline);
    haul_workload_free(workload);
    return seconds;
}

/* Copies of 2 s each way, kernels of 3 s: in, three kernels, back. With a queue of one and all
 * copies back last, the first of them is called when the last kernel is: at 2 + 2 * 3 s. */
static void test_stencil(void **state)
{
    (void)state;
    const haul_blocked_costs costs = {2, 2, 2, 2, 3, 0};
    CHECK_NEAR(stencil_time(3, 0, false, &costs), 2 + 3 * 3 + 2, 1e-9);
    CHECK_NEAR(stencil_time(3, 0, true, &costs), 2 + 3 * 3 + 2, 1e-9);
    /* the second copy back waits at 5 for the first, to 7, and the third copy in behind it */
    CHECK_NEAR(stencil_time(3, 1, true, &costs), 7 + 2 + 3 + 2, 1e-9);
    const haul_blocked_costs slow_back = {2, 2, 4, 4, 3, 0};
    CHECK_NEAR(stencil_time(3, 0, false, &slow_back), 2 + 3 + 3 * 4, 1e-9);
    CHECK_NEAR(stencil_time(3, 1, false, &slow_back), 2 + 2 * 3 + 3 * 4, 1e-9);
    const haul_blocked_costs one_engine = {2, 2, 2, 2, 0, 1};
    CHECK_NEAR(stencil_time(3, 0, false, &one_engine), 3 * 2 + 3 * 2, 1e-9);
}

/* Rows of 1 KB with a pitch are a fifth slower than one block of as many bytes. */
static void test_short_rows(void **state)
{
    (void)state;
    haul_machine *machine = NULL;
    haul_blocked_costs block, rows;
    haul_error error;
    const haul_blocked_tile whole = {1024, 1000, 1000, 1e-3}, pitched = {1024, 1000, 9000, 1e-3};
    if (haul_machine_load("k40", &machine, &error) ||
        haul_blocked_costs_of(machine, &whole, &whole, &block, &error) ||
        haul_blocked_costs_of(machine, &pitched, &whole, &rows, &error))
        fail_msg("%s", error.text);
    assert_true(rows.in_s > 1.19 * block.in_s && rows.in_s < 1.2 * block.in_s);
    assert_true(rows.out_s == block.out_s && rows.in_busy_s >= rows.in_s);
    haul_machine_free(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),           cmocka_unit_test(test_edges),
        cmocka_unit_test(test_held_back),         cmocka_unit_test(test_between_bounds),
        cmocka_unit_test(test_second_derivation), cmocka_unit_test(test_workload),
        cmocka_unit_test(test_refused),           cmocka_unit_test(test_measured),
        cmocka_unit_test(test_stencil),           cmocka_unit_test(test_short_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
