/* Cells beyond the edges of arrays that loops read in unusual ways, or set themselves. */
#include "check.h"

#include <string.h>

#include "haul/tile.h"
#include "tile_must.h"
#include "tile_script.kernel.h"

static const char *const devices[] = {"host", "sim:k40", "sim:k40,host"};
enum { DEVICES = sizeof devices / sizeof *devices };

static haul_context *open_on(const char *device)
{
    haul_context *context;
    must(haul_context_open(device, NULL, &context, &error));
    return context;
}

/* A loop of two dimensions reads the cells beyond the edges of an array of one. */
static void test_a_table_has_edges(void **state)
{
    (void)state;
    const w4 table[3] = {10, 20, 30}, zeros[35] = {0};
    const script_value all = {.n = {5}, .lo = {-1}};
    w4 cells[35];
    for (int d = 0; d < DEVICES; d++) {
        haul_context *context = open_on(devices[d]);
        haul_array *u = array_of(
            context,
            (haul_array_spec){.size = {3}, .ghost = {1}, .boundary = {HAUL_BOUNDARY_COPY}});
        haul_array *v = array_of(context, (haul_array_spec){.size = {5, 7}});
        must(haul_array_write(u, table, &error));
        must(haul_array_write(v, zeros, &error));
        must(HAUL_LOOP(context, &error, &table_2, u, v, &all));
        must(haul_array_read(v, cells, &error));
        assert_int_equal(cells[0], 3 * 10); /* index 0 of 5 is beyond the first */
        assert_int_equal(cells[3], 3 * 30); /* and 9 % 5 beyond the last */
        haul_array_free(u);
        haul_array_free(v);
        haul_context_close(context);
    }
}

/* Planes beyond the edges that a loop of fewer dimensions has set are values like others. */
static void test_a_loop_of_planes_sets_edges(void **state)
{
    (void)state;
    const haul_array_spec spec = {.size = {2, 3, 12}, .ghost = {0, 0, 2}};
    const haul_box box = {{-1}, {13}};
    const script_value values = {.n = {2, 3}, .k = 7};
    const haul_loop_options options = {.box = &box};
    for (int d = 0; d < DEVICES; d++) {
        haul_context *context = open_on(devices[d]);
        haul_array *u = array_of(context, spec), *v = array_of(context, spec);
        const void *arguments[] = {u, v, &values};
        haul_region region;
        must(haul_loop_queue(context, &sheets_3, arguments, 3, &options, &error));
        haul_array_discard(v);
        must(haul_array_access(v, 0, HAUL_USE_READ, &region, &error));
        const w4 *cells = region.cells;
        assert_int_equal(region.first, -2);
        assert_int_equal(cells[0], 0);
        assert_int_equal(cells[region.plane], 7);
        haul_array_free(u);
        haul_array_free(v);
        haul_context_close(context);
    }
}

/* Loops that set cells beyond the edges themselves, which are then set from the array again: each
 * loop by itself, and all in one pass. */
static void run_back_and_forth(const char *device, bool is_apart, w4 cells[15])
{
    static const haul_boundary copied[3] = {HAUL_BOUNDARY_COPY, HAUL_BOUNDARY_COPY};
    const haul_box box = {{0, 0}, {3, 16}};
    const haul_loop_options options = {.box = &box};
    haul_context *context = open_on(device);
    haul_array_spec spec = {.size = {1, 15}, .ghost = {3, 2}, .region = 1};
    memcpy(spec.boundary, copied, sizeof copied);
    haul_array *u = array_of(context, spec);
    haul_array *v = array_of(context, (haul_array_spec){.size = {6, 17}, .ghost = {1, 1}});
    for (unsigned i = 0; i < 15; i++)
        cells[i] = 1000 * i;
    must(haul_array_write(u, cells, &error));
    for (int i = 0; i < 12; i++) {
        const script_value value = {.d = {i % 3 - 1, 1 - i % 2}, .k = (unsigned)i};
        const void *arguments[] = {i % 2 ? v : u, i % 2 ? u : v, &value};
        must(haul_loop_queue(context, &shift_2_w4, arguments, 3, &options, &error));
        if (is_apart)
            must(haul_context_wait(context, &error));
    }
    must(haul_array_read(u, cells, &error));
    haul_array_free(u);
    haul_array_free(v);
    haul_context_close(context);
}

static void test_edges_set_twice(void **state)
{
    w4 expected[15], cells[15];
    (void)state;
    run_back_and_forth("host", true, expected);
    for (int d = 0; d < DEVICES; d++) {
        run_back_and_forth(devices[d], false, cells);
        assert_memory_equal(cells, expected, sizeof cells);
    }
}

/* A loop in place reads the other end of a periodic array as it was before the loop. */
static void run_in_place(const char *device, uint64_t memory, w4 cells[8 * 61])
{
    const haul_context_options options = {.memory_bytes = memory};
    const script_value value = {.d = {0, -1}, .k = 1};
    haul_array_spec spec = {.size = {8, 61}, .ghost = {1, 1}};
    haul_context *context;
    spec.boundary[1] = HAUL_BOUNDARY_PERIODIC;
    must(haul_context_open(device, &options, &context, &error));
    haul_array *u = array_of(context, spec);
    for (unsigned i = 0; i < 8 * 61; i++)
        cells[i] = 1000 * i;
    must(haul_array_write(u, cells, &error));
    must(haul_context_wait(context, &error));
    must(HAUL_LOOP(context, &error, &chess_2_w4, u, &value));
    must(haul_array_read(u, cells, &error));
    haul_array_free(u);
    haul_context_close(context);
}

static void test_in_place_round_an_array(void **state)
{
    w4 expected[8 * 61], cells[8 * 61];
    (void)state;
    run_in_place("host", 0, expected);
    run_in_place("sim:k40", 1800, cells);
    assert_memory_equal(cells, expected, sizeof cells);
}

/* A pass round one array reads all of another, those beyond its edges too, which a pass round that
 * one has left as they were. */
static void run_all_after_round(const char *device, uint64_t memory, w4 cells[40])
{
    const haul_context_options options = {.memory_bytes = memory};
    const script_value near = {.d = {1}, .k = 1}, all = {.n = {42}, .lo = {-1}, .k = 3};
    const haul_array_spec spec = {
        .size = {40}, .ghost = {1}, .boundary = {HAUL_BOUNDARY_PERIODIC}, .region = 2};
    haul_context *context;
    must(haul_context_open(device, &options, &context, &error));
    haul_array *u = array_of(context, spec), *v = array_of(context, spec);
    for (unsigned i = 0; i < 40; i++)
        cells[i] = 1000 * (i + 1);
    must(haul_array_write(u, cells, &error));
    must(haul_array_write(v, cells, &error));
    must(HAUL_LOOP(context, &error, &shift_1_w4, u, v, &near));
    must(HAUL_LOOP(context, &error, &shift_1_w4, v, u, &near));
    must(HAUL_LOOP(context, &error, &shift_1_w4, u, v, &near));
    must(haul_context_wait(context, &error));
    must(HAUL_LOOP(context, &error, &look_1, u, v, &all));
    must(haul_array_read(v, cells, &error));
    haul_array_free(u);
    haul_array_free(v);
    haul_context_close(context);
}

static void test_all_of_an_array_after_a_pass_round_it(void **state)
{
    w4 expected[40], cells[40];
    (void)state;
    run_all_after_round("host", 0, expected);
    for (uint64_t memory = 220; memory < 320; memory += 20) {
        run_all_after_round("sim:k40", memory, cells);
        assert_memory_equal(cells, expected, sizeof cells);
    }
}

/* A loop without a box goes over the cells of the array that it writes, also where the other has
 * more or fewer: index 6 of u is then beyond its edge, and keeps what it has. */
static void test_a_loop_over_all_of_a_longer_array(void **state)
{
    (void)state;
    const w4 first[6] = {1, 2, 3, 4, 5, 6}, second[7] = {0};
    const script_value here = {.k = 0};
    for (int d = 0; d < DEVICES; d++) {
        haul_context *context = open_on(devices[d]);
        haul_array *u = array_of(context, (haul_array_spec){.size = {6}, .ghost = {2}});
        haul_array *v = array_of(context, (haul_array_spec){.size = {7}, .ghost = {1}});
        haul_region region;
        w4 cells[7];
        must(haul_array_write(u, first, &error));
        must(haul_array_write(v, second, &error));
        for (int i = 0; i < 2; i++) { /* 8 times the value, from one to the other */
            must(HAUL_LOOP(context, &error, &shift_1_w4, u, v, &here));
            must(HAUL_LOOP(context, &error, &shift_1_w4, v, u, &here));
        }
        must(haul_array_read(v, cells, &error));
        for (w4 x = 0; x < 7; x++)
            assert_int_equal(cells[x], x < 6 ? 512 * (x + 1) : 0);
        must(haul_array_access(u, haul_array_regions(u) - 1, HAUL_USE_READ, &region, &error));
        assert_int_equal(((w4 *)region.cells)[5 - region.first], 4096 * 6);
        assert_int_equal(((w4 *)region.cells)[6 - region.first], 0);
        haul_array_free(u);
        haul_array_free(v);
        haul_context_close(context);
    }
}

/* Each tile is a loop by itself: where it reads cells beyond the edges of an array that it changes,
 * those are set from what the tiles before it have left. */
static void test_tiles_change_what_edges_are_set_from(void **state)
{
    (void)state;
    const script_value here = {.k = 10};
    const w4 ones[6] = {1, 1, 1, 1, 1, 1};
    for (int d = 0; d < DEVICES; d++) {
        haul_context *context = open_on(devices[d]);
        haul_array_spec spec = {.size = {8}, .ghost = {2}, .region = 3};
        haul_array *u = array_of(context, spec), *v = array_of(context, spec);
        spec = (haul_array_spec){.size = {6}, .ghost = {2}, .region = 3};
        spec.boundary[0] = HAUL_BOUNDARY_COPY;
        haul_array *w = array_of(context, spec);
        const void *arguments[] = {u, w, v, &here};
        const int size[3] = {2};
        w4 cells[8];
        must(haul_array_write(w, ones, &error));
        haul_tiles tiles = haul_tiles_make(v, size);
        for (haul_tiles_reset(&tiles, true); haul_tiles_valid(&tiles); haul_tiles_next(&tiles))
            must(haul_tiles_compute(&tiles, &pair_1_w4, arguments, 4, NULL, &error));
        must(haul_array_read(v, cells, &error));
        for (int x = 0; x < 8; x++) /* w is 1, and 5 * 1 + 1 after its loop */
            assert_int_equal(cells[x], x < 6 ? 3 * 1 + 10 : 3 * 6 + 10);
        haul_array_free(u);
        haul_array_free(v);
        haul_array_free(w);
        haul_context_close(context);
    }
}

/* A loop that sets all of an array of fewer planes than the first that it writes: the device is not
 * sent what it overwrites, but has the fixed cells beyond the edges. */
static void test_fixed_edges_of_a_shorter_array(void **state)
{
    (void)state;
    const haul_box box = {{0, 0}, {3, 6}};
    const haul_loop_options options = {.box = &box};
    const script_value here = {.k = 1};
    for (int d = 0; d < DEVICES; d++) {
        haul_context *context = open_on(devices[d]);
        haul_array *u = array_of(context, (haul_array_spec){.size = {3, 6}, .ghost = {1, 1}});
        haul_array *w = array_of(context, (haul_array_spec){.size = {4, 9}});
        haul_array *v = array_of(context, (haul_array_spec){.size = {3, 6}, .ghost = {2, 0}});
        haul_region region;
        for (int r = 0; r < haul_array_regions(v); r++) {
            must(haul_array_access(v, r, HAUL_USE_WRITE, &region, &error));
            for (int y = 0; y < region.end - region.first; y++)
                for (int x = -2; x < 5; x++)
                    ((w4 *)region.cells)[y * region.plane + x] = 77;
        }
        const void *arguments[] = {u, w, v, &here};
        must(haul_loop_queue(context, &pair_2_w4, arguments, 4, &options, &error));
        for (int r = 0; r < haul_array_regions(v); r++) {
            must(haul_array_access(v, r, HAUL_USE_READ, &region, &error));
            for (int y = 0; y < region.end - region.first; y++)
                for (int x = -2; x < 5; x++)
                    assert_int_equal(((w4 *)region.cells)[y * region.plane + x],
                                     x < 0 || x > 2 ? 77 : 1);
        }
        haul_array_free(u);
        haul_array_free(w);
        haul_array_free(v);
        haul_context_close(context);
    }
}

/* A loop over an array and the cells beyond its edges, behind the step that sets those from the
 * array: each loop by itself, and all in one pass. */
static double sum_beyond(const char *device, bool is_apart)
{
    const haul_box box = {{0, -1, 0}, {3, 4, 11}};
    const haul_loop_options options = {.box = &box};
    const script_value up = {.d = {0, 1}, .k = 7}, down = {.d = {0, -1}, .k = 31};
    double sum = 0;
    haul_context *context = open_on(device);
    haul_array *arrays[3], *result;
    const haul_array_spec one = {.size = {1}};
    for (int i = 0; i < 3; i++) {
        haul_array_spec spec = {.size = {3, 3, 11}, .ghost = {1, 1, 1}, .region = 1};
        spec.boundary[1] = i ? HAUL_BOUNDARY_FIXED : HAUL_BOUNDARY_COPY;
        must(haul_array_new(context, &spec, &arrays[i], &error));
    }
    must(haul_array_new(context, &one, &result, &error));
    for (int i = 0; i < 4; i++) {
        must(HAUL_LOOP(context, &error, &shift_3_f8, arrays[0], arrays[1], &up));
        if (is_apart)
            must(haul_context_wait(context, &error));
        must(HAUL_LOOP(context, &error, &shift_3_f8, arrays[2 - i % 2], arrays[0], &down));
        if (is_apart)
            must(haul_context_wait(context, &error));
    }
    must(HAUL_LOOP(context, &error, &shift_3_f8, arrays[0], arrays[1], &up));
    if (is_apart)
        must(haul_context_wait(context, &error));
    const void *arguments[] = {arrays[0], result};
    must(haul_loop_queue(context, &sum_3, arguments, 2, &options, &error));
    must(haul_array_read(result, &sum, &error));
    for (int i = 0; i < 3; i++)
        haul_array_free(arrays[i]);
    haul_array_free(result);
    haul_context_close(context);
    return sum;
}

static void test_a_sum_beyond_the_edges(void **state)
{
    (void)state;
    const double expected = sum_beyond("host", true);
    for (int d = 0; d < DEVICES; d++) {
        assert_true(sum_beyond(devices[d], true) == expected);
        assert_true(sum_beyond(devices[d], false) == expected);
    }
}

/* Fails the launch that the count comes to. */
static double fail_one(void *state, const haul_machine *machine, const haul_kernel *kernel,
                       const haul_launch *launch)
{
    (void)machine, (void)kernel, (void)launch;
    return --*(int *)state ? 1e-6 : -1;
}

enum { ROUND = 61 };

static void run_there_and_back(haul_context *context, haul_array *u, haul_array *v, w4 *cells)
{
    const script_value value = {.d = {1}, .k = 1};
    for (unsigned i = 0; i < ROUND; i++)
        cells[i] = 1000 * (i + 1);
    must(haul_array_write(u, cells, &error));
    must(haul_array_write(v, cells, &error));
    must(HAUL_LOOP(context, &error, &shift_1_w4, u, v, &value));
    must(HAUL_LOOP(context, &error, &shift_1_w4, v, u, &value));
    must(haul_array_read(u, cells, &error));
}

/* A pass round an array that fails, and then more memory, so that the array is there as a whole. */
static bool run_after_failure(int launch, w4 *cells)
{
    int left = launch;
    const haul_device_options device = {.kernel_seconds = fail_one, .kernel_state = &left};
    const haul_context_options options = {.device_options = &device, .memory_bytes = 900};
    haul_array_spec spec = {
        .size = {ROUND}, .ghost = {1}, .boundary = {HAUL_BOUNDARY_PERIODIC}, .region = 5};
    const script_value value = {.d = {1}, .k = 1};
    haul_context *context;
    w4 zeros[ROUND] = {0};
    must(haul_context_open("sim:k40", &options, &context, &error));
    haul_array *u = array_of(context, spec), *v = array_of(context, spec);
    haul_array *other = array_of(context, spec);
    haul_array *more = array_of(context, (haul_array_spec){.size = {200}, .region = 5});
    must(haul_array_write(u, zeros, &error));
    haul_status status = HAUL_OK;
    for (int i = 0; i < 4 && !status; i++)
        status = HAUL_LOOP(context, &error, &shift_1_w4, i % 2 ? v : u, i % 2 ? u : v, &value);
    if (!status)
        status = haul_context_wait(context, &error);
    left = -1;
    (void)haul_array_read(u, zeros, NULL);
    (void)haul_array_read(v, zeros, NULL);
    haul_array_free(more);
    haul_array_free(other);
    haul_array *small = array_of(context, (haul_array_spec){.size = {1}});
    run_there_and_back(context, u, v, cells);
    haul_array_free(small);
    haul_array_free(u);
    haul_array_free(v);
    haul_context_close(context);
    return status != HAUL_OK;
}

/* Of each launch that fails the next loops find nothing left. */
static void test_a_failure_in_a_pass_round_an_array(void **state)
{
    (void)state;
    w4 expected[ROUND], cells[ROUND];
    haul_context *context = open_on("host");
    const haul_array_spec spec = {
        .size = {ROUND}, .ghost = {1}, .boundary = {HAUL_BOUNDARY_PERIODIC}};
    haul_array *u = array_of(context, spec), *v = array_of(context, spec);
    run_there_and_back(context, u, v, expected);
    haul_array_free(u);
    haul_array_free(v);
    haul_context_close(context);
    int launch = 1;
    for (; run_after_failure(launch, cells); launch++)
        assert_memory_equal(cells, expected, sizeof cells);
    assert_true(launch > 20); /* the pass is one of many regions */
}

/* --- several loops in a pass on the host, over arrays that are periodic */

enum { ROWS = 37, PLANES = 41, COLUMNS = 7 };

typedef struct round_case {
    int dims;
    haul_boundary planes;
    haul_boundary rows;
} round_case;

/* Each loop by itself, or as many as may be in a pass, of which there are then few. */
static void run_rounds(const round_case *of, bool is_apart, w4 *cells)
{
    enum { LOOPS = 12 };
    const haul_context_options options = {.steps = is_apart ? 1 : 6, .rows = 5};
    const int last = of->dims - 1;
    const haul_kernel_source *kernel = last == 2 ? &shift_3_w4 : &shift_2_w4;
    haul_context *context;
    haul_array_spec spec = {.size = {COLUMNS, ROWS, PLANES}, .ghost = {2, 2, 2}};
    if (last == 1)
        spec = (haul_array_spec){.size = {ROWS, PLANES}, .ghost = {2, 2}};
    spec.boundary[0] = HAUL_BOUNDARY_PERIODIC;
    spec.boundary[last - 1] = of->rows;
    spec.boundary[last] = of->planes;
    must(haul_context_open("host", &options, &context, &error));
    haul_array *u = array_of(context, spec), *v = array_of(context, spec);
    for (unsigned i = 0; i < COLUMNS * ROWS * PLANES; i++)
        cells[i] = 1000003 * i;
    must(haul_array_write(u, cells, &error));
    must(haul_context_wait(context, &error));
    const uint64_t before = haul_context_count(context).passes;
    for (int i = 0; i < LOOPS; i++) {
        const script_value value = {.d = {1 - i % 3, i % 2 ? 1 : -1, 1 - i / 2 % 3},
                                    .k = (unsigned)i};
        const void *arguments[] = {i % 2 ? v : u, i % 2 ? u : v, &value};
        must(haul_loop_queue(context, kernel, arguments, 3, NULL, &error));
    }
    must(haul_array_read(u, cells, &error));
    if (!is_apart)
        assert_int_equal(haul_context_count(context).passes - before, 2);
    haul_array_free(u);
    haul_array_free(v);
    haul_context_close(context);
}

static void test_several_loops_round_an_array(void **state)
{
    static const round_case cases[] = {
        {2, HAUL_BOUNDARY_PERIODIC, HAUL_BOUNDARY_PERIODIC},
        {2, HAUL_BOUNDARY_PERIODIC, HAUL_BOUNDARY_COPY},
        {2, HAUL_BOUNDARY_FIXED, HAUL_BOUNDARY_PERIODIC},
        {3, HAUL_BOUNDARY_PERIODIC, HAUL_BOUNDARY_PERIODIC},
        {3, HAUL_BOUNDARY_PERIODIC, HAUL_BOUNDARY_FIXED},
        {3, HAUL_BOUNDARY_COPY, HAUL_BOUNDARY_PERIODIC},
    };
    static w4 expected[COLUMNS * ROWS * PLANES], cells[COLUMNS * ROWS * PLANES];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_rounds(&cases[i], true, expected);
        run_rounds(&cases[i], false, cells);
        assert_memory_equal(cells, expected, sizeof cells);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_several_loops_round_an_array),
        cmocka_unit_test(test_a_table_has_edges),
        cmocka_unit_test(test_a_failure_in_a_pass_round_an_array),
        cmocka_unit_test(test_a_loop_of_planes_sets_edges),
        cmocka_unit_test(test_edges_set_twice),
        cmocka_unit_test(test_in_place_round_an_array),
        cmocka_unit_test(test_all_of_an_array_after_a_pass_round_it),
        cmocka_unit_test(test_a_loop_over_all_of_a_longer_array),
        cmocka_unit_test(test_tiles_change_what_edges_are_set_from),
        cmocka_unit_test(test_fixed_edges_of_a_shorter_array),
        cmocka_unit_test(test_a_sum_beyond_the_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
