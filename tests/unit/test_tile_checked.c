/* The checked mode: loops that use other cells than they declare are refused on every device before
 * they run, and what a device computes is compared with the host's. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/tile.h"
#include "tile_checked_kernels.h"
#include "tile_must.h"

static const char *const devices[] = {"host", "sim:k40", "opencl:0"};

enum { DEVICES = sizeof devices / sizeof(char *), CELLS = 12 };

/* Words of the message, `|` between them. */
static void must_tell(haul_status got, haul_status expected, const char *words)
{
    char list[160], *rest = list;
    snprintf(list, sizeof list, "%s", words);
    assert_int_equal(got, expected);
    for (const char *word; (word = strtok_r(rest, "|", &rest));)
        if (!strstr(error.text, word))
            fail_msg("'%s' lacks '%s'", error.text, word);
}

static haul_context *open_on(const char *device)
{
    const haul_context_options options = {.check = true, .memory_bytes = 1 << 20};
    haul_context *context = NULL;
    if (haul_context_open(device, &options, &context, &error) != HAUL_STATUS_ABSENT)
        assert_non_null(context);
    return context;
}

typedef struct wrong_loop {
    const haul_kernel_source *kernel;
    haul_array_spec u, v;
    const char *words; /* NULL: nothing is wrong */
} wrong_loop;

static const wrong_loop wrong[] = {
    {&too_far,
     {.size = {4, 5, 6}, .ghost = {1, 1, 1}},
     {.size = {4, 5, 6}},
     "'too_far'|tile_checked_kernels.h line 9|3) uses (|5) of 'u'|declares 1 around"},
    {&other_cell,
     {.size = {4, 5}},
     {.size = {4, 5}},
     "'other_cell'|2) uses (|1) of 'v'|own cell alone"},
    {&too_deep, {.size = {4, 5}}, {.size = {4, 5}}, "'too_deep'|'u'|2 dimensions, not 1"},
    {&past_table, {.size = {6}}, {.size = {CELLS}}, "'past_table'|'table'|ends before"},
    {&even_cells, {.size = {CELLS}}, {.size = {CELLS}}, "'even_cells'|'v'|does not set"},
    {&by_content,
     {.size = {CELLS}, .ghost = {1}},
     {.size = {CELLS}},
     "'by_content' uses an undeclared cell of 'u'|declares 1 around"},
    {&all_ones, {.size = {CELLS}}, {.size = {CELLS}}, NULL},
};

static void test_wrong_loops(void **state)
{
    (void)state;
    for (int d = 0; d < DEVICES; d++)
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            haul_context *context = open_on(devices[d]);
            if (!context)
                continue;
            haul_array *u = array_of(context, wrong[i].u), *v = array_of(context, wrong[i].v);
            must(HAUL_LOOP(context, &error, wrong[i].kernel, u, v));
            const haul_status status = haul_context_wait(context, &error);
            if (wrong[i].words)
                must_tell(status, HAUL_STATUS_USAGE, wrong[i].words);
            else
                must(status);
            haul_array_free(u);
            haul_array_free(v);
            haul_context_close(context);
        }
}

/* Several threads may find a fault at once. */
static void test_wrong_reduction(void **state)
{
    (void)state;
    for (int d = 0; d < DEVICES; d++) {
        haul_context *context = open_on(devices[d]);
        if (!context)
            continue;
        haul_array *u = array_of(context, (haul_array_spec){.size = {5000}, .element_bytes = 8});
        haul_array *sum = array_of(context, (haul_array_spec){.size = {1}, .element_bytes = 8});
        must(HAUL_LOOP(context, &error, &sum_beside, u, sum));
        must_tell(haul_context_wait(context, &error), HAUL_STATUS_USAGE, "'sum_beside'|'u'");
        haul_array_free(u);
        haul_array_free(sum);
        haul_context_close(context);
    }
}

static void test_device_differs(void **state)
{
    (void)state;
    double cells[CELLS];
    haul_context *context = open_on("opencl:0");
    if (!context)
        skip();
    haul_array *u = array_of(context, (haul_array_spec){.size = {CELLS}, .element_bytes = 8});
    haul_array *v = array_of(context, (haul_array_spec){.size = {CELLS}, .element_bytes = 8});
    for (int i = 0; i < 3; i++) {
        must(HAUL_LOOP(context, &error, &nearly_alike, u, v));
        must(haul_array_read(v, cells, &error));
        must(haul_array_swap(u, v, &error));
    }
    must(HAUL_LOOP(context, &error, &not_alike, u, v));
    must_tell(haul_array_read(v, cells, &error), HAUL_STATUS_INTERNAL,
              "cell (5, 0, 0)|it is 5, not 4");
    haul_array_free(u);
    haul_array_free(v);
    haul_context_close(context);
}

/* Discarded values may not be read, until the array is set again. */
static void test_discarded(void **state)
{
    (void)state;
    const unsigned zeros[CELLS] = {0};
    unsigned cells[CELLS];
    for (int d = 0; d < DEVICES; d++) {
        haul_context *context = open_on(devices[d]);
        if (!context)
            continue;
        haul_array *u = array_of(context, (haul_array_spec){.size = {CELLS}});
        haul_array *v = array_of(context, (haul_array_spec){.size = {CELLS}});
        must(HAUL_LOOP(context, &error, &all_ones, u, v));
        haul_array_discard(u);
        must_tell(HAUL_LOOP(context, &error, &all_ones, u, v), HAUL_STATUS_USAGE,
                  "'all_ones' reads 'u', whose values were discarded");
        must(haul_array_write(u, zeros, &error));
        must(HAUL_LOOP(context, &error, &all_ones, u, v));
        must(haul_array_read(v, cells, &error));
        assert_int_equal(cells[0], 0x55555555);
        haul_array_free(u);
        haul_array_free(v);
        haul_context_close(context);
    }
}

/* Without the checked mode too: of a kernel's first loop on the host a cell is checked. */
static void test_sampled(void **state)
{
    (void)state;
    const haul_array_spec spec = {
        .size = {4, 5}, .element_bytes = sizeof(unsigned), .ghost = {1, 2}};
    haul_context *context;
    haul_array *u, *v;
    must(haul_context_open("host", NULL, &context, &error));
    must(haul_array_new(context, &spec, &u, &error));
    must(haul_array_new(context, &spec, &v, &error));
    must(HAUL_LOOP(context, &error, &two_away, u, v));
    must_tell(haul_context_wait(context, &error), HAUL_STATUS_USAGE,
              "'two_away'|cell (0, 0) uses (0, -2) of 'u'|declares 1 around");
    haul_array_free(u);
    haul_array_free(v);
    haul_context_close(context);
}

/* The checked cell is written once. */
static void test_sampled_cells_count_once(void **state)
{
    (void)state;
    enum { LOOPS = 70 };
    const haul_array_spec spec = {.size = {4, 5}, .element_bytes = sizeof(unsigned)};
    unsigned cells[20], expected = 1;
    haul_context *context;
    haul_array *u, *v;
    must(haul_context_open("host", NULL, &context, &error));
    must(haul_array_new(context, &spec, &u, &error));
    must(haul_array_new(context, &spec, &v, &error));
    for (int i = 0; i < 20; i++)
        cells[i] = 1;
    must(haul_array_write(u, cells, &error));
    must(haul_array_write(v, cells, &error));
    for (int i = 0; i < LOOPS; i++) {
        must(HAUL_LOOP(context, &error, &add_up, u, v));
        expected = 2 * expected + 1;
    }
    must(haul_array_read(v, cells, &error));
    for (int i = 0; i < 20; i++)
        assert_int_equal(cells[i], expected);
    haul_array_free(u);
    haul_array_free(v);
    haul_context_close(context);
}

/* A boundary's kernel that declares HAUL_WRITE sets all cells of a face. */
static void test_edges_that_stay_unset(void **state)
{
    (void)state;
    for (int d = 0; d < DEVICES; d++) {
        haul_context *context = open_on(devices[d]);
        if (!context)
            continue;
        haul_array_spec spec = {.size = {CELLS}, .element_bytes = 8, .ghost = {1}};
        spec.boundary_kernel = &low_edge;
        haul_array *u = array_of(context, spec), *v = array_of(context, spec);
        must(HAUL_LOOP(context, &error, &beside, u, v));
        must_tell(haul_context_wait(context, &error), HAUL_STATUS_USAGE,
                  "'low_edge'|'u'|does not set cell (12, 0, 0)");
        haul_array_free(u);
        haul_array_free(v);
        haul_context_close(context);
    }
}

/* Reductions that are run again to see whether cells stay unset count once. */
static void test_values_like_unset_cells(void **state)
{
    enum { MANY = 20000 };
    unsigned got;
    (void)state;
    for (int d = 0; d < DEVICES; d++) {
        haul_context *context = open_on(devices[d]);
        if (!context)
            continue;
        haul_array *u = array_of(context, (haul_array_spec){.size = {MANY}});
        haul_array *v = array_of(context, (haul_array_spec){.size = {MANY}});
        haul_array *sum = array_of(context, (haul_array_spec){.size = {1}});
        for (unsigned round = 0; round < 2; round++) {
            must(HAUL_LOOP(context, &error, &ones_and_sum, u, v, sum));
            must(haul_array_read(sum, &got, &error));
            assert_int_equal(got, MANY);
        }
        haul_array_free(u);
        haul_array_free(v);
        haul_array_free(sum);
        haul_context_close(context);
    }
}

/* Steps of a block run on a part of the arrays together: the first step's first cell is told,
 * though later steps have set it, or left others. */
static void test_unset_among_steps(void **state)
{
    enum { SIZE = 40, STEPS = 12, WRONG = 4, NONE = -1 };
    static const haul_array_spec spec = {
        .size = {SIZE, SIZE, SIZE}, .element_bytes = 8, .ghost = {1, 1, 1}};
    (void)state;
    for (int d = 0; d < DEVICES; d++)
        for (int left = NONE; left < 13; left += 7) {
            haul_context *context = open_on(devices[d]);
            if (!context)
                continue;
            haul_array *u = array_of(context, spec), *v = array_of(context, spec);
            for (int step = 0; step < STEPS; step++) {
                const int in_step = left == NONE || step < WRONG ? NONE : left - (step > WRONG);
                must(HAUL_LOOP(context, &error, &all_but_one, u, v, &in_step));
                must(haul_array_swap(u, v, &error));
            }
            char cell[80];
            snprintf(cell, sizeof cell, "'all_but_one'|'v'|does not set cell (%d, %d, %d)", left,
                     2 * left, 3 * left);
            if (left == NONE)
                must(haul_context_wait(context, &error));
            else
                must_tell(haul_context_wait(context, &error), HAUL_STATUS_USAGE, cell);
            haul_array_free(u);
            haul_array_free(v);
            haul_context_close(context);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_loops),
        cmocka_unit_test(test_wrong_reduction),
        cmocka_unit_test(test_device_differs),
        cmocka_unit_test(test_discarded),
        cmocka_unit_test(test_sampled),
        cmocka_unit_test(test_sampled_cells_count_once),
        cmocka_unit_test(test_edges_that_stay_unset),
        cmocka_unit_test(test_values_like_unset_cells),
        cmocka_unit_test(test_unset_among_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
