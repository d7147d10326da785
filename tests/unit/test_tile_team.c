/* Several devices as one context: what a program sees of them beside its results, which the random
 * programs of test_tile_random compare. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "haul/device_test.h"
#include "haul/tile.h"
#include "tile_kernels.h"

enum { PLANES = 24, CELLS = 4 * 5 * PLANES, STEPS = 10 };

static const haul_array_spec shape = {
    .size = {4, 5, PLANES}, .element_bytes = sizeof(unsigned), .ghost = {1, 1, 1}};

static haul_context *open_on(const char *devices)
{
    haul_context *context;
    haul_error error = {.text = ""};
    if (haul_context_open(devices, NULL, &context, &error))
        fail_msg("%s", error.text);
    return context;
}

/* A stencil back and forth over what the host wrote. */
static void run_steps(haul_context *context, haul_array *arrays[2], unsigned *cells)
{
    const unsigned k = 3;
    for (int i = 0; i < 2; i++)
        assert_int_equal(haul_array_new(context, &shape, &arrays[i], NULL), HAUL_OK);
    for (unsigned c = 0; c < CELLS; c++)
        cells[c] = 7 * c;
    assert_int_equal(haul_array_write(arrays[0], cells, NULL), HAUL_OK);
    for (int step = 0; step < STEPS; step++) {
        assert_int_equal(HAUL_LOOP(context, NULL, &near_3, arrays[0], arrays[1], &k), HAUL_OK);
        assert_int_equal(haul_array_swap(arrays[0], arrays[1], NULL), HAUL_OK);
    }
    assert_int_equal(haul_array_read(arrays[0], cells, NULL), HAUL_OK);
}

static void run_on_host(unsigned expected[CELLS])
{
    haul_array *arrays[2];
    haul_context *context = open_on("host");
    run_steps(context, arrays, expected);
    haul_array_free(arrays[0]);
    haul_array_free(arrays[1]);
    haul_context_close(context);
}

static void test_results_are_those_of_one_device(void **state)
{
    static const char *const lists[] = {"host,host", "sim:lassen:*", "sim:k40,host,sim:k40",
                                        "sim:p100-pcie3,sim:k40"};
    unsigned expected[CELLS], cells[CELLS];
    haul_array *arrays[2];
    (void)state;
    haul_context *context;
    run_on_host(expected);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        context = open_on(lists[i]);
        run_steps(context, arrays, cells);
        assert_memory_equal(cells, expected, sizeof cells);
        assert_true(haul_context_count(context).exchanges > 0);
        assert_int_equal(haul_context_count(context).loops, STEPS);
        haul_array_free(arrays[0]);
        haul_array_free(arrays[1]);
        haul_context_close(context);
    }
}

/* With the neighbours' planes for several loops ghost planes come once for all of them. */
static void test_several_loops_between_exchanges(void **state)
{
    static const char *const lists[] = {"host,host", "sim:k40,sim:k40,sim:k40", "sim:k40,host"};
    unsigned expected[CELLS], cells[CELLS];
    haul_array *arrays[2];
    (void)state;
    haul_context *context;
    run_on_host(expected);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        uint64_t exchanges[2];
        for (unsigned many = 0; many < 2; many++) {
            const haul_context_options options = {.exchange_steps = many ? 5 : 1};
            assert_int_equal(haul_context_open(lists[i], &options, &context, NULL), HAUL_OK);
            run_steps(context, arrays, cells);
            assert_memory_equal(cells, expected, sizeof cells);
            exchanges[many] = haul_context_count(context).exchanges;
            haul_array_free(arrays[0]);
            haul_array_free(arrays[1]);
            haul_context_close(context);
        }
        /* the second array's edges are the host's, too, and come with the first's once */
        assert_in_range(exchanges[1] * STEPS, 1, 3 * exchanges[0]);
    }
}

/* Arrays that stream, over devices that run work late or in another order: planes for neighbours
 * are put aside, sent and taken while passes run. Loops are cut into queues of several lengths. */
static void test_exchanges_while_passes_run(void **state)
{
    enum { LONG = 160, ALL = 4 * 5 * LONG, LOOPS = 40 };
    static const char *const lists[] = {"host", "sim:k40,sim:k40,sim:k40", "sim:k40,sim:k40"};
    static unsigned expected[ALL], cells[ALL];
    haul_array_spec spec = shape;
    (void)state;
    spec.size[2] = LONG;
    for (unsigned run = 0; run < 9; run++) {
        const haul_device_options device = {
            .test = &(haul_device_test){.order = (haul_order)(run % 3), .seed = run}};
        const haul_context_options options = {.device_options = run ? &device : NULL,
                                              .memory_bytes = 70000,
                                              .region = 2,
                                              .exchange_steps = 3 + run % 4};
        haul_context *context;
        haul_array *arrays[2];
        const char *on = lists[run ? 1 + run % 2 : 0];
        assert_int_equal(haul_context_open(on, &options, &context, NULL), HAUL_OK);
        for (int i = 0; i < 2; i++)
            assert_int_equal(haul_array_new(context, &spec, &arrays[i], NULL), HAUL_OK);
        for (unsigned c = 0; c < ALL; c++)
            cells[c] = 7 * c;
        assert_int_equal(haul_array_write(arrays[0], cells, NULL), HAUL_OK);
        for (unsigned step = 0; step < LOOPS; step++) {
            const unsigned k = 3 + step;
            assert_int_equal(HAUL_LOOP(context, NULL, &near_3, arrays[0], arrays[1], &k), HAUL_OK);
            assert_int_equal(haul_array_swap(arrays[0], arrays[1], NULL), HAUL_OK);
            if (step % 17 == run)
                assert_int_equal(haul_context_start(context, NULL), HAUL_OK);
        }
        assert_int_equal(haul_array_read(arrays[0], run ? cells : expected, NULL), HAUL_OK);
        if (run)
            assert_memory_equal(cells, expected, sizeof cells);
        /* with the planes that are put aside */
        assert_true(haul_context_count(context).device_bytes <= (3 - run % 2) * 70000);
        haul_array_free(arrays[0]);
        haul_array_free(arrays[1]);
        haul_context_close(context);
    }
}

/* Neighbours' planes are in no region but their own. */
static void test_regions_are_the_arrays(void **state)
{
    unsigned cells[CELLS];
    haul_array *arrays[2];
    haul_region region;
    int end = -1;
    (void)state;
    haul_context *context = open_on("sim:k40,sim:k40,host");
    run_steps(context, arrays, cells);
    const int regions = haul_array_regions(arrays[0]);
    for (int i = 0; i < regions; i++) {
        assert_int_equal(haul_array_access(arrays[0], i, HAUL_USE_READ, &region, NULL), HAUL_OK);
        assert_int_equal(region.first, end);
        const int first = i ? region.first : 0;
        const unsigned *cell =
            (const unsigned *)region.cells + (int64_t)(first - region.first) * region.plane;
        assert_int_equal(*cell, cells[(size_t)first * 20]);
        end = region.end;
    }
    assert_int_equal(end, PLANES + 1);
    assert_int_equal(haul_array_access(arrays[0], regions, HAUL_USE_READ, &region, NULL),
                     HAUL_STATUS_USAGE);
    haul_array_free(arrays[0]);
    haul_array_free(arrays[1]);
    haul_context_close(context);
}

static void test_arrays_are_saved_and_loaded(void **state)
{
    unsigned cells[CELLS], loaded[CELLS];
    haul_array *arrays[2];
    char path[] = "/tmp/haul-team-XXXXXX";
    (void)state;
    const int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    haul_context *context = open_on("host,sim:k40");
    run_steps(context, arrays, cells);
    assert_int_equal(haul_array_save(arrays[0], path, NULL), HAUL_OK);
    assert_int_equal(haul_array_load(arrays[1], path, NULL), HAUL_OK);
    assert_int_equal(haul_array_read(arrays[1], loaded, NULL), HAUL_OK);
    assert_memory_equal(loaded, cells, sizeof cells);
    (void)remove(path);
    haul_array_free(arrays[0]);
    haul_array_free(arrays[1]);
    haul_context_close(context);
}

static void test_simulated_devices_have_one_clock(void **state)
{
    unsigned cells[CELLS];
    haul_array *arrays[2];
    (void)state;
    haul_context *context = open_on("sim:k40,sim:k40");
    const int64_t begin_ns = haul_device_now(haul_context_device(context));
    run_steps(context, arrays, cells);
    assert_true(haul_device_now(haul_context_device(context)) > begin_ns);
    char *text;
    assert_int_equal(haul_context_explain(context, &text, NULL), HAUL_OK);
    assert_non_null(strstr(text, "2 devices"));
    assert_non_null(strstr(text, "device 1: sim:k40"));
    free(text);
    haul_array_free(arrays[0]);
    haul_array_free(arrays[1]);
    haul_context_close(context);
}

/* Nanoseconds of steps back and forth, and of reading what they give. */
static int64_t simulated_ns(bool without_data, unsigned *cells)
{
    const haul_device_options device = {.without_data = without_data};
    const haul_context_options options = {.device_options = &device};
    const unsigned k = 3;
    haul_context *context;
    haul_array *arrays[2];
    assert_int_equal(haul_context_open("sim:k40,sim:k40", &options, &context, NULL), HAUL_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(haul_array_new(context, &shape, &arrays[i], NULL), HAUL_OK);
    const int64_t begin_ns = haul_device_now(haul_context_device(context));
    for (int step = 0; step < STEPS; step++) {
        assert_int_equal(HAUL_LOOP(context, NULL, &near_3, arrays[0], arrays[1], &k), HAUL_OK);
        assert_int_equal(haul_array_swap(arrays[0], arrays[1], NULL), HAUL_OK);
    }
    assert_int_equal(haul_array_read(arrays[0], cells, NULL), HAUL_OK);
    const int64_t took_ns = haul_device_now(haul_context_device(context)) - begin_ns;
    assert_true(haul_context_count(context).exchanges > 0);
    haul_array_free(arrays[0]);
    haul_array_free(arrays[1]);
    haul_context_close(context);
    return took_ns;
}

/* Problems that fit no memory at hand take the time that they would. */
static void test_time_without_data(void **state)
{
    unsigned cells[CELLS];
    (void)state;
    const int64_t took_ns = simulated_ns(false, cells);
    assert_true(took_ns > 0);
    assert_int_equal(simulated_ns(true, NULL), took_ns);
}

/* The first region of the second device begins where the first one's planes end. */
static void test_faster_devices_have_more_planes(void **state)
{
    unsigned cells[CELLS];
    haul_array *arrays[2];
    haul_region region = {.first = 0};
    (void)state;
    const haul_context_options options = {.region = PLANES};
    haul_context *context;
    assert_int_equal(haul_context_open("sim:p100-pcie3,sim:k40", &options, &context, NULL),
                     HAUL_OK);
    run_steps(context, arrays, cells);
    assert_int_equal(haul_array_regions(arrays[0]), 2);
    assert_int_equal(haul_array_access(arrays[0], 1, HAUL_USE_READ, &region, NULL), HAUL_OK);
    assert_in_range(region.first, PLANES / 2 + 1, PLANES - 1);
    haul_array_free(arrays[0]);
    haul_array_free(arrays[1]);
    haul_context_close(context);
}

/* One device alone has a loop that uses the array: all run what is queued, for it waits for them.
 */
static void test_freeing_does_not_wait_for_ever(void **state)
{
    unsigned cells[CELLS];
    haul_array *arrays[2], *last;
    const haul_box box = {{0, 0, PLANES - 2}, {4, 5, PLANES}};
    const haul_loop_options options = {.box = &box};
    const unsigned k = 3;
    (void)state;
    haul_context *context = open_on("host,host");
    run_steps(context, arrays, cells);
    assert_int_equal(haul_array_new(context, &shape, &last, NULL), HAUL_OK);
    const void *arguments[] = {arrays[1], last, &k};
    assert_int_equal(HAUL_LOOP(context, NULL, &near_3, arrays[0], arrays[1], &k), HAUL_OK);
    assert_int_equal(haul_loop_queue(context, &near_3, arguments, 3, &options, NULL), HAUL_OK);
    haul_array_free(last);
    haul_array_free(arrays[0]);
    haul_array_free(arrays[1]);
    haul_context_close(context);
}

/* A loop over no cells says what elements its arrays have, and may not read what was discarded: on
 * several devices, where a part of a loop may have no cells, as on one. */
static void test_loops_over_no_cells(void **state)
{
    static const char *const lists[] = {"host", "sim:k40", "sim:k40,host"};
    const haul_box none = {{1, 1, 4}, {1, 4, 8}};
    const haul_loop_options options = {.box = &none};
    const haul_context_options checked = {.check = true};
    char path[] = "/tmp/haul-no-cells-XXXXXX";
    const unsigned k = 3;
    (void)state;
    close(mkstemp(path));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        haul_context *context;
        haul_array *u, *v, *whole;
        haul_array_spec known = shape;
        known.element = HAUL_ELEMENT_INTEGER;
        assert_int_equal(haul_context_open(lists[i], &checked, &context, NULL), HAUL_OK);
        assert_int_equal(haul_array_new(context, &shape, &u, NULL), HAUL_OK);
        assert_int_equal(haul_array_new(context, &shape, &v, NULL), HAUL_OK);
        assert_int_equal(haul_array_new(context, &known, &whole, NULL), HAUL_OK);
        const void *arguments[] = {u, v, &k};
        assert_int_equal(haul_loop_queue(context, &near_3, arguments, 3, &options, NULL), HAUL_OK);
        assert_int_equal(haul_array_save(u, path, NULL), HAUL_OK);
        assert_int_equal(haul_array_load(whole, path, NULL), HAUL_OK);
        haul_array_discard(u);
        for (int round = 0; round < 2; round++)
            assert_int_equal(haul_loop_queue(context, &near_3, arguments, 3, &options, NULL),
                             HAUL_STATUS_USAGE);
        haul_array_discard(v); /* which no cell's loop sets again */
        arguments[0] = whole;
        assert_int_equal(haul_loop_queue(context, &near_3, arguments, 3, &options, NULL), HAUL_OK);
        assert_int_equal(HAUL_LOOP(context, NULL, &near_3, v, u, &k), HAUL_STATUS_USAGE);
        haul_array_free(u);
        haul_array_free(v);
        haul_array_free(whole);
        haul_context_close(context);
    }
    (void)remove(path);
}

/* A reduction and the loops around it are one pass of each device; its result is put together when
 * a loop reads it, also one that has no cells on some devices. */
static void test_reductions_end_no_pass(void **state)
{
    (void)state;
    haul_context *context = open_on("sim:k40,sim:k40,sim:k40");
    const haul_array_spec single = {.size = {1}, .element_bytes = sizeof(unsigned)};
    haul_array *u, *v, *results[3];
    assert_int_equal(haul_array_new(context, &shape, &u, NULL), HAUL_OK);
    assert_int_equal(haul_array_new(context, &shape, &v, NULL), HAUL_OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(haul_array_new(context, &single, &results[i], NULL), HAUL_OK);
    static unsigned cells[CELLS];
    unsigned sum = 0;
    const unsigned k = 3;
    for (unsigned c = 0; c < CELLS; c++)
        sum += cells[c] = 7 * c;
    assert_int_equal(haul_array_write(u, cells, NULL), HAUL_OK);
    assert_int_equal(haul_array_write(v, cells, NULL), HAUL_OK);
    uint64_t before = 0;
    for (int round = 0; round < 2; round++) { /* in the first one arrays come to the devices */
        before = haul_context_count(context).passes;
        assert_int_equal(HAUL_LOOP(context, NULL, &add_3, u, v, &k), HAUL_OK);
        assert_int_equal(HAUL_LOOP(context, NULL, &plain_3, v, results[0]), HAUL_OK);
        assert_int_equal(HAUL_LOOP(context, NULL, &plain_3, u, results[1]), HAUL_OK);
        assert_int_equal(HAUL_LOOP(context, NULL, &add_3, u, v, &k), HAUL_OK);
        assert_int_equal(haul_context_wait(context, NULL), HAUL_OK);
    }
    assert_int_equal(haul_context_count(context).passes - before, 3);
    const haul_box one = {{0, 0, 0}, {1, 1, 1}};
    const haul_loop_options options = {.box = &one};
    const void *const beside[] = {u, v, results[2]};
    assert_int_equal(HAUL_LOOP(context, NULL, &plain_3, u, results[2]), HAUL_OK);
    assert_int_equal(haul_loop_queue(context, &beside_3, beside, 3, &options, NULL), HAUL_OK);
    assert_int_equal(haul_array_read(v, cells, NULL), HAUL_OK);
    assert_true(cells[0] == 3 * sum);
    haul_array_free(u);
    haul_array_free(v);
    for (int i = 0; i < 3; i++) {
        unsigned result = 0;
        assert_int_equal(haul_array_read(results[i], &result, NULL), HAUL_OK);
        assert_true(!i || result == sum);
        haul_array_free(results[i]);
    }
    haul_context_close(context);
}

/* Loops one after another over planes before the array's first alone: those of a boundary's kernel,
 * of two arrays, where a device has that end alone, and those of the program. */
static void test_loops_below_the_first_plane(void **state)
{
    static const char *const lists[] = {"host", "host,host", "sim:k40,sim:k40"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        haul_context *context = open_on(lists[i]);
        haul_array *arrays[3];
        haul_region region;
        for (int a = 0; a < 3; a++)
            assert_int_equal(haul_array_new(context, &shape, &arrays[a], NULL), HAUL_OK);
        const unsigned k = 3;
        const haul_box box = {{0, 0, -1}, {4, 5, 0}};
        const haul_loop_options below = {.box = &box};
        for (int a = 1; a < 3; a++) {
            const void *const two[] = {arrays[0], arrays[a], &k};
            assert_int_equal(haul_loop_queue(context, &add_3, two, 3, &below, NULL), HAUL_OK);
        }
        for (int a = 1; a < 3; a++) {
            assert_int_equal(haul_array_access(arrays[a], 0, HAUL_USE_READ, &region, NULL),
                             HAUL_OK);
            assert_true(HAUL_CELL(region, unsigned, 3, 4, -1) == k * (3 + 3 * 4 - 7));
        }
        for (int a = 0; a < 3; a++)
            haul_array_free(arrays[a]);
        haul_context_close(context);
    }
}

static void test_refused(void **state)
{
    const haul_array_spec in_file = {.size = {9}, .file = "/tmp/haul-team-never"};
    haul_context *context;
    haul_array *array;
    haul_error error;
    (void)state;
    assert_int_equal(haul_context_open("host,,host", NULL, &context, &error), HAUL_STATUS_USAGE);
    assert_int_equal(haul_context_open("host,none", NULL, &context, &error), HAUL_STATUS_USAGE);
    context = open_on("host,host");
    assert_int_equal(haul_array_new(context, &in_file, &array, &error), HAUL_STATUS_USAGE);
    assert_non_null(strstr(error.text, "file"));
    haul_context_close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_are_those_of_one_device),
        cmocka_unit_test(test_several_loops_between_exchanges),
        cmocka_unit_test(test_exchanges_while_passes_run),
        cmocka_unit_test(test_regions_are_the_arrays),
        cmocka_unit_test(test_arrays_are_saved_and_loaded),
        cmocka_unit_test(test_simulated_devices_have_one_clock),
        cmocka_unit_test(test_time_without_data),
        cmocka_unit_test(test_faster_devices_have_more_planes),
        cmocka_unit_test(test_freeing_does_not_wait_for_ever),
        cmocka_unit_test(test_loops_over_no_cells),
        cmocka_unit_test(test_reductions_end_no_pass),
        cmocka_unit_test(test_loops_below_the_first_plane),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
