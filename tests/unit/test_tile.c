/* The tile runtime: iterators, plans, files, and what is refused or lost. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/device_test.h"
#include "haul/tile.h"
#include "tile_kernels.h"

/* The paper's shape gives what one loop gives, and as few kernels. */
static void test_tiles(void **state)
{
    (void)state;
    enum { SIZE = 40, COUNT = SIZE * SIZE };
    static const int tile[3] = {7, 3, 0};
    haul_error error;
    haul_context *context;
    haul_array *u, *v, *w;
    unsigned from[COUNT], one[COUNT], other[COUNT];
    const haul_array_spec spec = {
        .size = {SIZE, SIZE}, .element_bytes = sizeof(unsigned), .ghost = {1, 1}, .region = 8};
    const unsigned k = 5;
    for (unsigned i = 0; i < COUNT; i++)
        from[i] = i * i;
    assert_false(haul_context_open("sim:k40", NULL, &context, &error));
    assert_false(haul_array_new(context, &spec, &u, &error));
    assert_false(haul_array_new(context, &spec, &v, &error));
    assert_false(haul_array_new(context, &spec, &w, &error));
    assert_false(haul_array_write(u, from, &error));
    assert_false(HAUL_LOOP(context, &error, &near_2, u, v, &k));
    haul_tiles tiles = haul_tiles_make(w, tile);
    const void *const arguments[] = {u, w, &k};
    for (haul_tiles_reset(&tiles, true); haul_tiles_valid(&tiles); haul_tiles_next(&tiles))
        assert_false(haul_tiles_compute(&tiles, &near_2, arguments, 3, NULL, &error));
    assert_false(haul_array_read(v, one, &error));
    assert_false(haul_array_read(w, other, &error));
    assert_memory_equal(one, other, sizeof one);
    assert_int_equal(haul_context_count(context).passes, 1);
    const haul_box bounds = {{3, 5, 0}, {6, 9, 1}};
    const void *const zeros[] = {u, w, &k};
    for (haul_tiles_reset(&tiles, false); haul_tiles_valid(&tiles); haul_tiles_next(&tiles))
        assert_false(haul_tiles_compute(&tiles, &add_2, zeros, 3, &bounds, &error));
    assert_false(haul_array_read(w, other, &error));
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) {
            const bool is_inside = x >= 3 && x < 6 && y >= 5 && y < 9;
            const unsigned at = (unsigned)(y * SIZE + x), cell = 2 * one[at] + from[at];
            assert_int_equal(other[at], is_inside ? cell + k * (unsigned)(x + 3 * y) : one[at]);
        }
    haul_array_free(u);
    haul_array_free(v);
    haul_array_free(w);
    haul_context_close(context);
}

/* A plan has a line for each operation that was queued. */
static void test_plan(void **state)
{
    (void)state;
    haul_error error;
    haul_context *context;
    haul_array *u, *v;
    char path[] = "/tmp/haul-plan-XXXXXX", line[512];
    const unsigned k = 5;
    const haul_device_options without = {.without_data = true};
    const haul_context_options options = {
        .device_options = &without, .memory_bytes = 60000, .keep_plan = true};
    const haul_array_spec spec = {
        .size = {40, 200}, .element_bytes = sizeof(unsigned), .ghost = {1, 1}};
    assert_false(haul_context_open("sim:k40", &options, &context, &error));
    assert_false(haul_array_new(context, &spec, &u, &error));
    assert_false(haul_array_new(context, &spec, &v, &error));
    for (int i = 0; i < 4; i++) {
        assert_false(HAUL_LOOP(context, &error, &near_2, u, v, &k));
        assert_false(haul_array_swap(u, v, &error));
    }
    const int made = mkstemp(path);
    assert_true(made >= 0);
    const haul_status status = haul_context_plan_write(context, path, &error);
    if (status)
        fail_msg("%s", error.text);
    const haul_context_counts counts = haul_context_count(context);
    uint64_t copies = 0, kernels = 0;
    FILE *file = fdopen(made, "r");
    while (file && fgets(line, sizeof line, file)) {
        copies += strstr(line, "op: HtoD") || strstr(line, "op: DtoH") || strstr(line, "op: DtoD");
        kernels += strstr(line, "op: kernel") != NULL;
    }
    fclose(file);
    remove(path);
    assert_int_equal(copies, counts.copies);
    assert_int_equal(kernels, counts.kernels);
    assert_true(counts.bytes_up > 0 && kernels > 4);
    haul_array_free(u);
    haul_array_free(v);
    haul_context_close(context);
}

typedef struct pair {
    haul_context *context;
    haul_array *u;
    haul_array *v;
} pair;

enum { PAIR = 4000 };

static pair open_pair(const char *device, const haul_context_options *options)
{
    haul_error error;
    pair self;
    const haul_array_spec spec = {.size = {PAIR}, .element_bytes = sizeof(unsigned), .ghost = {1}};
    unsigned cells[PAIR];
    for (unsigned i = 0; i < PAIR; i++)
        cells[i] = i * i;
    if (haul_context_open(device, options, &self.context, &error))
        fail_msg("%s", error.text);
    assert_false(haul_array_new(self.context, &spec, &self.u, &error));
    assert_false(haul_array_new(self.context, &spec, &self.v, &error));
    assert_false(haul_array_write(self.u, cells, &error));
    return self;
}

static void close_pair(pair *self)
{
    haul_array_free(self->u);
    haul_array_free(self->v);
    haul_context_close(self->context);
}

/* A device with less memory than it was thought to have: the arrays get less, and it is said. */
static void test_out_of_memory(void **state)
{
    (void)state;
    haul_error error;
    char *text;
    unsigned got[PAIR];
    const unsigned k = 3;
    const haul_device_options device = {.memory_limit = 20000};
    const haul_context_options options = {.device_options = &device, .memory_bytes = 1000000};
    pair self = open_pair("sim:k40", &options);
    assert_false(HAUL_LOOP(self.context, &error, &near_1, self.u, self.v, &k));
    const haul_status status = haul_array_read(self.v, got, &error);
    if (status)
        fail_msg("%s", error.text);
    for (unsigned i = 1; i + 1 < PAIR; i++)
        assert_int_equal(got[i], 3 * i * i + 5 * (i - 1) * (i - 1) + 7 * (i + 1) * (i + 1) + k);
    assert_true(haul_context_count(self.context).device_bytes <= 20000);
    assert_false(haul_context_explain(self.context, &text, &error));
    assert_non_null(strstr(text, "the device had no"));
    free(text);
    close_pair(&self);
}

static double forever(void *state, const haul_machine *machine, const haul_kernel *kernel,
                      const haul_launch *launch)
{
    (void)state, (void)machine, (void)kernel, (void)launch;
    return 1000;
}

/* A kernel that does not end: what it was to write is lost, what the host had is not. */
static void test_lost(void **state)
{
    (void)state;
    haul_error error;
    unsigned got[PAIR];
    const unsigned k = 3;
    const haul_device_options device = {.kernel_seconds = forever, .time_limit_s = 1};
    const haul_context_options options = {.device_options = &device};
    pair self = open_pair("sim:k40", &options);
    assert_false(HAUL_LOOP(self.context, &error, &near_1, self.u, self.v, &k));
    assert_int_equal(haul_array_read(self.v, got, &error), HAUL_STATUS_TIMED_OUT);
    haul_array *w;
    const haul_array_spec spec = {.size = {PAIR}, .element_bytes = sizeof(unsigned)};
    assert_false(haul_array_new(self.context, &spec, &w, &error));
    assert_false(haul_array_read(w, got, &error));
    haul_array_free(w);
    close_pair(&self);
}

/* A device that is gone: what only it had is lost, and can be set again. */
static void test_set_again(void **state)
{
    (void)state;
    static const unsigned again[PAIR] = {1, 2, 3};
    const unsigned k = 3;
    size_t lost = 0;
    for (uint64_t behind = 20; behind < 60; behind++) {
        haul_error error;
        unsigned got[PAIR];
        const haul_device_options device = {.test = &(haul_device_test){.lost_behind = behind}};
        const haul_context_options options = {.device_options = &device};
        pair self = open_pair("sim:k40", &options);
        bool is_lost = HAUL_LOOP(self.context, &error, &near_1, self.u, self.v, &k);
        for (int i = 0; i < 10 && !is_lost; i++)
            is_lost = haul_context_wait(self.context, &error) ||
                      HAUL_LOOP(self.context, &error, &near_1, self.u, self.v, &k);
        is_lost = haul_array_read(self.v, got, &error) || is_lost;
        if (is_lost && haul_array_write(self.v, again, &error))
            fail_msg("lost behind %d: %s", (int)behind, error.text);
        if (is_lost) {
            assert_false(haul_array_read(self.v, got, &error));
            assert_memory_equal(got, again, sizeof got);
        }
        lost += is_lost;
        close_pair(&self);
    }
    assert_true(lost > 5);
}

/* An array in a file is there again when the file is opened anew. */
static void test_file(void **state)
{
    (void)state;
    haul_error error;
    char path[] = "/tmp/haul-array-XXXXXX";
    const int made = mkstemp(path);
    assert_true(made >= 0);
    haul_array_spec spec = {.size = {30, 40}, .ghost = {1, 1}, .file = path};
    double cells[1200], got[1200] = {0};
    for (int i = 0; i < 1200; i++)
        cells[i] = i;
    for (int round = 0; round < 2; round++) {
        haul_context *context;
        haul_array *array;
        assert_false(haul_context_open("sim:k40", NULL, &context, &error));
        assert_false(haul_array_new(context, &spec, &array, &error));
        assert_false(round ? haul_array_read(array, got, &error)
                           : haul_array_write(array, cells, &error));
        haul_array_free(array);
        spec.size[0] = 300;
        assert_int_equal(haul_array_new(context, &spec, &array, &error), HAUL_STATUS_BAD_INPUT);
        spec.size[0] = 30;
        spec.file = "/dev/full"; /* has no room */
        assert_int_equal(haul_array_new(context, &spec, &array, &error), HAUL_STATUS_IO);
        spec.file = path;
        haul_context_close(context);
    }
    remove(path);
    assert_memory_equal(cells, got, sizeof cells);
}

static void check_refused(haul_status status, const haul_error *error, const char *words)
{
    assert_int_equal(status, HAUL_STATUS_USAGE);
    if (!strstr(error->text, words))
        fail_msg("'%s' lacks '%s'", error->text, words);
}

/* Sizes that do not fit are refused, with a reason; sizes of 0 and 1 are sizes like others. */
static void test_limits(void **state)
{
    (void)state;
    haul_error error;
    haul_context *context;
    haul_array *u = NULL, *v, *small, *empty;
    const unsigned k = 1;
    assert_false(haul_context_open("host", NULL, &context, &error));
    const haul_array_spec huge = {.size = {2000000, 2000000, 2000000}};
    check_refused(haul_array_new(context, &huge, &u, &error), &error, "larger than any memory");
    const haul_array_spec negative = {.size = {4, -1}};
    check_refused(haul_array_new(context, &negative, &u, &error), &error, "size -1");
    const haul_array_spec hole = {.size = {4, 0, 4}};
    check_refused(haul_array_new(context, &hole, &u, &error), &error, "size 0 in dimension 1");
    assert_null(u);
    const haul_array_spec spec = {.size = {9}, .element_bytes = sizeof(unsigned), .ghost = {1}};
    haul_array_spec other = spec;
    assert_false(haul_array_new(context, &spec, &u, &error));
    assert_false(haul_array_new(context, &spec, &v, &error));
    other.size[0] = 1;
    assert_false(haul_array_new(context, &other, &small, &error));
    other.size[0] = 0;
    assert_false(haul_array_new(context, &other, &empty, &error));
    check_refused(HAUL_LOOP(context, &error, &near_1, u, u, &k), &error, "given twice");
    check_refused(HAUL_LOOP(context, &error, &near_1, u, v), &error, "needs an argument");
    check_refused(HAUL_LOOP(context, &error, &near_1, u, v, &k, &k), &error, "3 arguments, not 4");
    check_refused(HAUL_LOOP(context, &error, &wide_1, u, u, v), &error, "cells -2 to 10");
    check_refused(haul_array_swap(u, small, &error), &error, "different shapes");
    haul_region region;
    check_refused(haul_array_access(u, 9, HAUL_USE_READ, &region, &error), &error, "no region 9");
    assert_int_equal(haul_array_regions(empty), 0);
    assert_false(HAUL_LOOP(context, &error, &near_1, u, v, &k));
    assert_false(haul_context_wait(context, &error));
    haul_array_free(u);
    haul_array_free(v);
    haul_array_free(small);
    haul_array_free(empty);
    haul_context_close(context);
}

int main(void)
{
    if (getenv("TILE_TEST"))
        cmocka_set_test_filter(getenv("TILE_TEST"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiles), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_plan),  cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_lost),  cmocka_unit_test(test_set_again),
        cmocka_unit_test(test_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
