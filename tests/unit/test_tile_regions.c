/* The size of regions: arrays of one loop have the same, wherever it runs, and it may change while
 * a program goes over tiles. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "haul/tile.h"
#include "tile_kernels.h"
#include "tile_must.h"

enum { X = 8, Y = 6, Z = 40, CELLS = X * Y * Z };

static const char *const devices[] = {"host", "sim:k40", "host,host"};
enum { DEVICES = sizeof devices / sizeof *devices };

static haul_context *open_on(const char *device)
{
    const haul_context_options options = {.memory_bytes = 60000};
    haul_context *context;
    must(haul_context_open(device, &options, &context, &error));
    return context;
}

static haul_array *array_in_regions(haul_context *context, int region)
{
    haul_array *array;
    const haul_array_spec spec = {
        .size = {X, Y, Z}, .element_bytes = sizeof(unsigned), .ghost = {1, 1, 1}, .region = region};
    must(haul_array_new(context, &spec, &array, &error));
    return array;
}

static void fill(haul_array *array, unsigned value)
{
    unsigned cells[CELLS];
    for (int i = 0; i < CELLS; i++)
        cells[i] = value;
    must(haul_array_write(array, cells, &error));
}

static void must_hold(haul_array *array, unsigned value)
{
    unsigned cells[CELLS];
    must(haul_array_read(array, cells, &error));
    for (int i = 0; i < CELLS; i++)
        if (cells[i] != value)
            fail_msg("cell %d is %u, not %u", i, cells[i], value);
}

static void test_regions_that_differ_are_refused(void **state)
{
    const unsigned k = 0;
    (void)state;
    for (int d = 0; d < DEVICES; d++) {
        haul_context *context = open_on(devices[d]);
        haul_array *arrays[] = {array_in_regions(context, 5), array_in_regions(context, 7),
                                array_in_regions(context, 70), array_in_regions(context, 0)};
        assert_int_equal(HAUL_LOOP(context, &error, &add_3, arrays[0], arrays[1], &k),
                         HAUL_STATUS_USAGE);
        assert_non_null(strstr(error.text, "regions of 5 and of 7"));
        must(HAUL_LOOP(context, &error, &add_3, arrays[0], arrays[3], &k));
        assert_int_equal(HAUL_LOOP(context, &error, &add_3, arrays[1], arrays[3], &k),
                         HAUL_STATUS_USAGE);
        must(haul_context_wait(context, &error));
        for (int i = 0; i < 4; i++)
            haul_array_free(arrays[i]);
        haul_context_close(context);
    }
}

/* Loops of one pass have regions of one size: these are of two. */
static void test_loops_may_differ(void **state)
{
    const unsigned k = 0;
    (void)state;
    for (int d = 0; d < DEVICES; d++) {
        haul_context *context = open_on(devices[d]);
        haul_array *arrays[] = {array_in_regions(context, 5), array_in_regions(context, 5),
                                array_in_regions(context, 7), array_in_regions(context, 7)};
        for (unsigned i = 0; i < 4; i++)
            fill(arrays[i], i);
        must(HAUL_LOOP(context, &error, &add_3, arrays[0], arrays[1], &k));
        must(HAUL_LOOP(context, &error, &add_3, arrays[2], arrays[3], &k));
        must_hold(arrays[1], 2);
        must_hold(arrays[3], 8);
        for (int i = 0; i < 4; i++)
            haul_array_free(arrays[i]);
        haul_context_close(context);
    }
}

/* The array that does not say has been on the device, in regions of the model's choice. */
static void test_a_region_is_taken_over(void **state)
{
    const unsigned k = 0;
    haul_region region = {.first = 0};
    (void)state;
    for (int d = 0; d < DEVICES; d++) {
        haul_context *context = open_on(devices[d]);
        haul_array *u = array_in_regions(context, 0), *v = array_in_regions(context, 0),
                   *w = array_in_regions(context, 6);
        fill(u, 1);
        fill(v, 2);
        fill(w, 3);
        must(HAUL_LOOP(context, &error, &add_3, u, v, &k));
        must(haul_context_wait(context, &error));
        must(HAUL_LOOP(context, &error, &add_3, v, w, &k));
        must_hold(w, 11);
        must_hold(v, 5);
        must_hold(u, 1);
        must(haul_array_access(v, 1, HAUL_USE_READ, &region, &error));
        assert_int_equal(region.first, 6);
        assert_int_equal(region.end, 12);
        haul_array_free(u);
        haul_array_free(v);
        haul_array_free(w);
        haul_context_close(context);
    }
}

/* The loops of the first tiles run, and the model chooses other regions: each cell still has its
 * turn once. */
static void test_tiles_while_regions_change(void **state)
{
    static const int size[3] = {3, 2, 0};
    const unsigned k = 0;
    (void)state;
    for (int when = 1; when < 6; when++)
        for (int d = 0; d < DEVICES; d++) {
            haul_context *context = open_on(devices[d]);
            haul_array *u = array_in_regions(context, 0), *v = array_in_regions(context, 0);
            const void *arguments[] = {u, v, &k};
            fill(u, 1);
            fill(v, 1);
            haul_tiles tiles = haul_tiles_make(v, size);
            int tile = 0;
            for (haul_tiles_reset(&tiles, true); haul_tiles_valid(&tiles);
                 haul_tiles_next(&tiles)) {
                must(haul_tiles_compute(&tiles, &add_3, arguments, 3, NULL, &error));
                if (++tile == when)
                    must(haul_context_wait(context, &error));
            }
            must_hold(v, 3);
            haul_array_free(u);
            haul_array_free(v);
            haul_context_close(context);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regions_that_differ_are_refused),
        cmocka_unit_test(test_loops_may_differ),
        cmocka_unit_test(test_a_region_is_taken_over),
        cmocka_unit_test(test_tiles_while_regions_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
