/* The tile runtime: reductions, arrays whose planes are too large, passes round periodic arrays,
 * and times beside those that the model and the plan predict. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/device_test.h"
#include "haul/simulate.h"
#include "haul/tile.h"
#include "tile_kernels.h"

static double sum_of(const char *device, const haul_context_options *options, bool on_host)
{
    enum { N = 5000 };
    haul_error error;
    haul_context *context;
    haul_array *u, *sum;
    double cells[N], got = 0;
    const haul_array_spec spec = {.size = {N}}, one = {.size = {1}};
    const haul_loop_options where = {.on_host = on_host};
    for (int i = 0; i < N; i++)
        cells[i] = 1.0 / (i + 1);
    assert_false(haul_context_open(device, options, &context, &error));
    assert_false(haul_array_new(context, &spec, &u, &error));
    assert_false(haul_array_new(context, &one, &sum, &error));
    assert_false(haul_array_write(u, cells, &error));
    const void *const arguments[] = {u, sum};
    for (int i = 0; i < 2; i++) { /* there and back */
        double last = got;
        assert_false(haul_loop_queue(context, &sum_1, arguments, 2, &where, &error));
        if (haul_array_read(sum, &got, &error))
            fail_msg("%s", error.text);
        assert_true(!i || got == last);
    }
    const double whole = got;
    const haul_box none = {{3}, {3}};
    const haul_loop_options empty = {.box = &none};
    assert_false(haul_loop_queue(context, &sum_1, arguments, 2, &empty, &error));
    assert_false(haul_array_read(sum, &got, &error) || got != 0);
    haul_array_free(u);
    haul_array_free(sum);
    haul_context_close(context);
    return whole;
}

static const char *const devices[] = {"host", "sim:k40", "opencl:0"};

/* A sum has the same bits whatever the order of copies and kernels. */
static void test_sum(void **state)
{
    (void)state;
    double first = 0;
    for (unsigned i = 0; i < 4; i++) {
        const haul_device_options device = {
            .test = &(haul_device_test){.order = (haul_order)(i % 3), .seed = i}};
        const haul_context_options options = {
            .device_options = &device, .memory_bytes = 25000, .region = 500};
        const double sum = sum_of("sim:k40", &options, false);
        assert_true(!i || sum == first);
        first = sum;
    }
    double exact = 0;
    for (int i = 5000; i > 0; i--)
        exact += 1.0 / i;
    assert_true(fabs(first - exact) < 1e-12);
    assert_true(fabs(sum_of("host", NULL, false) - exact) < 1e-12);
    assert_true(fabs(sum_of("sim:k40", NULL, true) - exact) < 1e-12);
}

/* Reductions of three types beside an array that is written, on every device. */
static void test_reductions(void **state)
{
    (void)state;
    enum { X = 70, Y = 9, Z = 30, N = X * Y * Z };
    haul_error error;
    haul_context *context;
    haul_array *u, *v, *sum, *most, *least;
    static double cells[N], twice[N];
    const haul_array_spec spec = {.size = {X, Y, Z}, .region = 3}, one = {.size = {1}},
                          small = {.size = {1}, .element_bytes = 4}, two = {.size = {2}};
    const haul_context_options options = {.memory_bytes = 200000};
    for (int i = 0; i < N; i++)
        cells[i] = i % 100 - 40;
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
        if (haul_context_open(devices[d], &options, &context, &error))
            continue;
        double total = 0;
        float highest = 0;
        int lowest = 0;
        assert_false(haul_array_new(context, &spec, &u, &error));
        assert_false(haul_array_new(context, &spec, &v, &error));
        assert_false(haul_array_new(context, &one, &sum, &error));
        assert_false(haul_array_new(context, &small, &most, &error));
        assert_false(haul_array_new(context, &small, &least, &error));
        assert_false(haul_array_write(u, cells, &error));
        if (HAUL_LOOP(context, &error, &norms_3, u, v, sum, most, least) ||
            haul_array_read(sum, &total, &error))
            fail_msg("%s: %s", devices[d], error.text);
        assert_false(haul_array_read(most, &highest, &error));
        assert_false(haul_array_read(least, &lowest, &error));
        assert_false(haul_array_read(v, twice, &error));
        double expected = 0;
        for (int i = 0; i < N; i++) {
            expected += cells[i] * cells[i];
            assert_true(twice[i] == 2 * cells[i]);
        }
        assert_true(total == expected); /* of whole numbers, so exact */
        assert_true(highest == 59 && lowest == -40);
        haul_array_free(sum);
        assert_false(haul_array_new(context, &two, &sum, &error));
        assert_int_equal(HAUL_LOOP(context, &error, &norms_3, u, v, sum, most, least),
                         HAUL_STATUS_USAGE);
        assert_non_null(strstr(error.text, "one element"));
        haul_array *const all[] = {u, v, sum, most, least};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            haul_array_free(all[i]);
        haul_context_close(context);
    }
}

/* An array after `steps` loops, and how often it went over the link. */
static double run_near_3(const char *device, const haul_context_options *options,
                         const haul_array_spec *spec, int steps, unsigned *cells, char **text)
{
    haul_error error;
    haul_context *context;
    haul_array *u, *v;
    const unsigned k = 7;
    const size_t count = (size_t)spec->size[0] * (size_t)spec->size[1] * (size_t)spec->size[2];
    for (size_t i = 0; i < count; i++)
        cells[i] = (unsigned)(i * i);
    if (haul_context_open(device, options, &context, &error))
        return -1;
    assert_false(haul_array_new(context, spec, &u, &error));
    assert_false(haul_array_new(context, spec, &v, &error));
    assert_false(haul_array_write(u, cells, &error));
    for (int i = 0; i < steps; i++) {
        assert_false(HAUL_LOOP(context, &error, &near_3, u, v, &k));
        assert_false(haul_array_swap(u, v, &error));
    }
    if (haul_array_read(u, cells, &error))
        fail_msg("%s: %s", device, error.text);
    const haul_context_counts counts = haul_context_count(context);
    assert_false(haul_context_explain(context, text, &error));
    haul_array_free(u);
    haul_array_free(v);
    haul_context_close(context);
    return (double)(counts.bytes_up + counts.bytes_down) / (double)counts.host_bytes;
}

/* Planes of 150 kB in 60 kB of device memory: rows are cut too, and several steps run a pass. */
static void test_columns(void **state)
{
    (void)state;
    enum { X = 60, Y = 300, Z = 10, N = X * Y * Z, STEPS = 8 };
    static unsigned expected[N], got[N];
    const haul_array_spec spec = {
        .size = {X, Y, Z}, .element_bytes = sizeof(unsigned), .ghost = {1, 1, 1}};
    const haul_context_options options = {.memory_bytes = 100000};
    char *text;
    (void)run_near_3("host", NULL, &spec, STEPS, expected, &text);
    free(text);
    for (size_t d = 1; d < sizeof devices / sizeof *devices; d++) {
        const double times = run_near_3(devices[d], &options, &spec, STEPS, got, &text);
        if (times < 0)
            continue;
        assert_memory_equal(expected, got, sizeof got);
        assert_non_null(strstr(text, "cut in columns of"));
        free(text);
        print_message("%s: the arrays went over the link %.1f times\n", devices[d], times);
        assert_true(times < 2.0 * STEPS); /* fewer than without time blocking */
    }
}

/* Loops over arrays of as many planes, but fewer or more rows, in the same columns. Returns false
 * where the device is not there. */
static bool run_rows(const char *device, const haul_context_options *options, bool is_few_first,
                     unsigned *cells)
{
    enum { X = 60, PLANES = 10, FEW = 40, MANY = 300 };
    haul_context *context;
    haul_array *arrays[4];
    haul_error error;
    const unsigned k = 3;
    if (haul_context_open(device, options, &context, &error))
        return false;
    for (int i = 0; i < 4; i++) {
        const haul_array_spec spec = {.size = {X, i < 2 ? FEW : MANY, PLANES},
                                      .element_bytes = sizeof(unsigned),
                                      .region = 2};
        assert_false(haul_array_new(context, &spec, &arrays[i], &error));
    }
    for (int i = 0; i < 6; i++) {
        haul_array **of = &arrays[i % 2 == is_few_first ? 2 : 0];
        assert_false(HAUL_LOOP(context, &error, &add_3, of[i / 2 % 2], of[!(i / 2 % 2)], &k));
    }
    for (int i = 0; i < 4; i++) {
        if (haul_array_read(arrays[i], cells, &error))
            fail_msg("%s: %s", device, error.text);
        cells += X * PLANES * (i < 2 ? FEW : MANY);
        haul_array_free(arrays[i]);
    }
    haul_context_close(context);
    return true;
}

static void test_columns_of_different_rows(void **state)
{
    enum { CELLS = 2 * 60 * 10 * (40 + 300) };
    static unsigned expected[CELLS], got[CELLS];
    (void)state;
    for (int order = 0; order < 2; order++) {
        assert_true(run_rows("host", NULL, order, expected));
        for (size_t d = 1; d < sizeof devices / sizeof *devices; d++)
            for (uint64_t kilobytes = 60; kilobytes < 200; kilobytes += 20) {
                const haul_context_options options = {.memory_bytes = kilobytes * 1000};
                if (run_rows(devices[d], &options, order, got))
                    assert_memory_equal(expected, got, sizeof got);
            }
    }
}

/* Periodic edges in all dimensions, in two thirds of the memory: a pass goes round the array, with
 * several steps, and moves little more than with fixed edges. */
static void test_periodic(void **state)
{
    (void)state;
    enum { X = 20, Y = 30, Z = 200, N = X * Y * Z, STEPS = 40 };
    static unsigned expected[N], got[N];
    haul_array_spec spec = {
        .size = {X, Y, Z},
        .element_bytes = sizeof(unsigned),
        .ghost = {1, 1, 1},
        .boundary = {HAUL_BOUNDARY_PERIODIC, HAUL_BOUNDARY_PERIODIC, HAUL_BOUNDARY_PERIODIC}};
    const haul_context_options options = {.memory_bytes = 1000000, .region = 7};
    char *text;
    (void)run_near_3("host", NULL, &spec, STEPS, expected, &text);
    free(text);
    for (size_t d = 1; d < sizeof devices / sizeof *devices; d++) {
        const double times = run_near_3(devices[d], &options, &spec, STEPS, got, &text);
        if (times < 0)
            continue;
        free(text);
        assert_memory_equal(expected, got, sizeof got);
        print_message("%s: the arrays went over the link %.1f times\n", devices[d], times);
        assert_true(times < STEPS / 4.0);
    }
}

/* The workload that a context kept, on the machine that it ran on. */
static double simulated_s(haul_context *context, const char *machine)
{
    char folder[] = "/tmp/haul-plan-XXXXXX", path[64];
    haul_error error;
    haul_schedule *schedule;
    haul_simulation *simulation;
    haul_machine *on;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/plan.csv", folder);
    assert_false(haul_context_plan_write(context, path, &error));
    if (haul_schedule_load(path, &schedule, &error) || haul_machine_load(machine, &on, &error) ||
        haul_simulation_make(schedule, on, NULL, &simulation, &error))
        fail_msg("%s", error.text);
    const double seconds = (double)simulation->timeline->makespan_ns * 1e-9;
    haul_simulation_free(simulation);
    haul_schedule_free(schedule);
    haul_machine_free(on);
    remove(path);
    remove(folder);
    return seconds;
}

/* Heat out of core on simulated machines, without data: what the model says, what the plan says on
 * the same machine, and what the device's clock says. Passes round periodic arrays end before the
 * next ones begin, of which the model says less. */
static void test_predicted(void **state)
{
    (void)state;
    static const struct {
        const char *machine;
        int size;
        int steps;
        uint64_t megabytes;
        haul_boundary edge;
    } problems[] = {{"k40", 1024, 192, 6000, HAUL_BOUNDARY_FIXED},
                    {"a100-sxm4", 512, 1000, 1000, HAUL_BOUNDARY_FIXED},
                    {"h200", 512, 1000, 1000, HAUL_BOUNDARY_FIXED},
                    {"k40", 512, 500, 1000, HAUL_BOUNDARY_PERIODIC},
                    {"a100-sxm4", 512, 500, 1000, HAUL_BOUNDARY_PERIODIC},
                    {"h200", 512, 500, 1000, HAUL_BOUNDARY_PERIODIC}};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        const int size = problems[i].size;
        haul_error error;
        haul_context *context;
        haul_array *u, *v;
        char device[32];
        const haul_device_options without = {.without_data = true};
        const haul_context_options options = {.device_options = &without,
                                              .memory_bytes = problems[i].megabytes * 1000000,
                                              .keep_plan = true};
        const haul_boundary edge = problems[i].edge;
        const haul_array_spec spec = {
            .size = {size, size, size}, .ghost = {1, 1, 1}, .boundary = {edge, edge, edge}};
        const bool is_round = edge == HAUL_BOUNDARY_PERIODIC;
        snprintf(device, sizeof device, "sim:%s", problems[i].machine);
        assert_false(haul_context_open(device, &options, &context, &error));
        assert_false(haul_array_new(context, &spec, &u, &error));
        assert_false(haul_array_new(context, &spec, &v, &error));
        const int64_t begin = haul_device_now(haul_context_device(context));
        for (int step = 0; step < problems[i].steps; step++) {
            assert_false(HAUL_LOOP(context, &error, &heat_3, u, v));
            assert_false(haul_array_swap(u, v, &error));
        }
        assert_false(haul_array_read(u, NULL, &error));
        const double took = (double)(haul_device_now(haul_context_device(context)) - begin) * 1e-9;
        const haul_context_counts counts = haul_context_count(context);
        const double plan = simulated_s(context, problems[i].machine);
        print_message("%s: %.4f s; model %.4f s, bound %.4f s, plan %.4f s\n", device, took,
                      counts.predicted_s, counts.bound_s, plan);
        assert_true(fabs(counts.predicted_s / took - 1) < (is_round ? 0.1 : 0.05));
        assert_true(counts.bound_s / took > (is_round ? 0.8 : 0.95) &&
                    counts.bound_s / took < 1.01);
        assert_true(fabs(plan / took - 1) < 0.01);
        haul_array_free(u);
        haul_array_free(v);
        haul_context_close(context);
    }
}

/* The host's threads take regions beside the device, in several steps a pass. Without being told
 * they take none of a device that is all of the host's own cores. */
static void test_shared(void **state)
{
    (void)state;
    enum { X = 10, Y = 16, Z = 120, N = X * Y * Z, STEPS = 20 };
    static unsigned expected[N], got[N];
    const haul_array_spec spec = {
        .size = {X, Y, Z}, .element_bytes = sizeof(unsigned), .ghost = {1, 1, 1}};
    haul_error error;
    haul_context *context;
    char *text;
    (void)run_near_3("host", NULL, &spec, STEPS, expected, &text);
    free(text);
    for (size_t d = 1; d < sizeof devices / sizeof *devices; d++)
        for (int i = -1; i < 4; i++) {
            const haul_context_options options = {
                .memory_bytes = 300000, .region = 5, .host_share = 0.3 * i, .steps = 8};
            if (run_near_3(devices[d], &options, &spec, STEPS, got, &text) < 0)
                continue;
            assert_memory_equal(expected, got, sizeof got);
            assert_true((i > 0) == (strstr(text, "the host's threads took") != NULL));
            free(text);
        }
    const haul_context_options wrong = {.host_share = 1.5}, none = {.host_share = NAN};
    assert_int_equal(haul_context_open("host", &wrong, &context, &error), HAUL_STATUS_USAGE);
    assert_int_equal(haul_context_open("host", &none, &context, &error), HAUL_STATUS_USAGE);
}

/* A loop over a range of planes moves the regions that it touches, and no others. */
static void test_range(void **state)
{
    (void)state;
    enum { SIZE = 3000 };
    haul_error error;
    haul_context *context;
    haul_array *u, *v;
    const unsigned k = 0;
    static unsigned got[SIZE];
    const haul_array_spec spec = {
        .size = {SIZE}, .element_bytes = sizeof(unsigned), .ghost = {1}, .region = 100};
    const haul_context_options options = {.memory_bytes = 16000};
    assert_false(haul_context_open("sim:k40", &options, &context, &error));
    assert_false(haul_array_new(context, &spec, &u, &error));
    assert_false(haul_array_new(context, &spec, &v, &error));
    for (unsigned i = 0; i < SIZE; i++)
        got[i] = 1;
    assert_false(haul_array_write(u, got, &error));
    const int ranges[][2] = {{2950, 2960}, {1090, 1201}, {0, 1}, {699, 700}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const haul_box box = {{ranges[i][0], 0, 0}, {ranges[i][1], 1, 1}};
        const haul_loop_options over = {.box = &box};
        const void *const arguments[] = {u, v, &k};
        assert_false(haul_loop_queue(context, &near_1, arguments, 3, &over, &error));
        assert_false(haul_context_wait(context, &error));
    }
    const haul_context_counts counts = haul_context_count(context);
    /* 1 + 3 + 1 + 2 regions of two arrays, two of them with a plane beyond an edge */
    assert_true(counts.bytes_up == (14 * 100 + 4) * sizeof(unsigned));
    assert_false(haul_array_read(v, got, &error));
    for (int i = 0; i < SIZE; i++) {
        bool is_in = false;
        for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
            is_in = is_in || (i >= ranges[r][0] && i < ranges[r][1]);
        assert_int_equal(got[i], !is_in ? 0 : i ? 15 : 10);
    }
    haul_array_free(u);
    haul_array_free(v);
    haul_context_close(context);
}

enum { SAMPLES = 17 };

/* Structures, cells beyond the edges by a kernel of the program, and their least count. */
static int run_samples(const char *device, uint64_t memory_bytes, sample *cells)
{
    haul_error error;
    haul_context *context;
    haul_array *u, *v, *least;
    int result;
    const haul_context_options options = {.memory_bytes = memory_bytes};
    const haul_array_spec spec = {.size = {SAMPLES, SAMPLES, SAMPLES},
                                  .element_bytes = sizeof(sample),
                                  .ghost = {1, 1, 1},
                                  .boundary_kernel = &sample_edge_3};
    const haul_array_spec one = {.size = {1}, .element_bytes = sizeof(int)};
    for (int i = 0; i < SAMPLES * SAMPLES * SAMPLES; i++)
        cells[i] = (sample){i % 91, 1000 + i % 57};
    if (haul_context_open(device, &options, &context, &error))
        return -1;
    assert_false(haul_array_new(context, &spec, &u, &error));
    assert_false(haul_array_new(context, &spec, &v, &error));
    assert_false(haul_array_new(context, &one, &least, &error));
    assert_false(haul_array_write(u, cells, &error));
    for (int i = 0; i < 5; i++) {
        assert_false(HAUL_LOOP(context, &error, &sample_3, u, v));
        assert_false(haul_array_swap(u, v, &error));
    }
    assert_false(HAUL_LOOP(context, &error, &sample_least_3, u, least));
    if (haul_array_read(u, cells, &error) || haul_array_read(least, &result, &error))
        fail_msg("%s: %s", device, error.text);
    haul_array_free(u);
    haul_array_free(v);
    haul_array_free(least);
    haul_context_close(context);
    return result;
}

/* In all of the memory, in regions, and in columns, where reductions are the host's. */
static void test_samples(void **state)
{
    (void)state;
    enum { N = SAMPLES * SAMPLES * SAMPLES };
    static sample expected[N], got[N];
    const int least = run_samples("host", 0, expected);
    for (size_t d = 1; d < sizeof devices / sizeof *devices; d++)
        for (uint64_t memory = 0; memory <= 160000; memory += 80000) {
            const int result = run_samples(devices[d], memory == 80000 ? 45000 : memory, got);
            if (result < 0)
                continue;
            assert_int_equal(result, least);
            for (int i = 0; i < N; i++)
                assert_true(got[i].value == expected[i].value && got[i].count == expected[i].count);
        }
}

enum { LONG = 4000 };

typedef struct pair {
    haul_context *context;
    haul_array *u;
    haul_array *v;
} pair;

static pair open_pair(const char *device, const haul_context_options *options)
{
    static unsigned cells[LONG];
    haul_error error;
    pair self;
    const haul_array_spec spec = {.size = {LONG}, .element_bytes = sizeof(unsigned), .ghost = {1}};
    for (unsigned i = 0; i < LONG; i++)
        cells[i] = i * i;
    if (haul_context_open(device, options, &self.context, &error) ||
        haul_array_new(self.context, &spec, &self.u, &error) ||
        haul_array_new(self.context, &spec, &self.v, &error) ||
        haul_array_write(self.u, cells, &error) || haul_array_write(self.v, cells, &error))
        fail_msg("%s", error.text);
    return self;
}

static void close_pair(pair *self)
{
    haul_array_free(self->u);
    haul_array_free(self->v);
    haul_context_close(self->context);
}

static void check_squares(haul_array *array)
{
    static unsigned got[LONG];
    haul_error error;
    if (haul_array_read(array, got, &error))
        fail_msg("%s", error.text);
    for (unsigned i = 0; i < LONG; i++)
        assert_int_equal(got[i], i * i);
}

static double fails_behind(void *state, const haul_machine *machine, const haul_kernel *kernel,
                           const haul_launch *launch)
{
    (void)machine, (void)kernel;
    return launch->box.hi[0] > *(const int *)state ? -1 : 1e-6;
}

/* A kernel that fails on one region: it is named, what the host had stays, and the context goes on
 * when the kernel no longer fails. */
static void test_failed_region(void **state)
{
    (void)state;
    haul_error error;
    static unsigned got[LONG];
    const unsigned k = 3;
    int behind = 2500;
    const haul_device_options device = {.kernel_seconds = fails_behind, .kernel_state = &behind};
    const haul_context_options options = {
        .device_options = &device, .memory_bytes = 20000, .region = 400};
    pair self = open_pair("sim:k40", &options);
    assert_false(HAUL_LOOP(self.context, &error, &near_1, self.u, self.v, &k));
    assert_int_equal(haul_context_wait(self.context, &error), HAUL_STATUS_USAGE);
    assert_non_null(strstr(error.text, "kernel 'near_1', planes "));
    check_squares(self.u);
    behind = LONG;
    assert_false(HAUL_LOOP(self.context, &error, &near_1, self.u, self.v, &k));
    assert_false(haul_array_read(self.v, got, &error));
    for (unsigned i = 1; i + 1 < LONG; i++)
        assert_int_equal(got[i], 3 * i * i + 5 * (i - 1) * (i - 1) + 7 * (i + 1) * (i + 1) + k);
    close_pair(&self);
}

/* A device that disappears while loops run: an array that they only read is as it was. */
static void check_lost(const char *device)
{
    haul_error error;
    const unsigned k = 3;
    const haul_context_options options = {.memory_bytes = 20000, .region = 400};
    pair self = open_pair(device, &options);
    haul_status status = HAUL_OK;
    for (int i = 0; i < 100 && !status; i++) {
        status = HAUL_LOOP(self.context, &error, &near_1, self.u, self.v, &k);
        if (!status)
            status = haul_context_wait(self.context, &error);
    }
    assert_true(status);
    print_message("%s\n", error.text);
    check_squares(self.u);
    close_pair(&self);
}

/* Arrays of one cell, or of none, on every device. */
static void test_small(void **state)
{
    (void)state;
    const unsigned k = 3;
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++)
        for (int size = 0; size < 2; size++) {
            haul_error error;
            haul_context *context;
            haul_array *u, *v;
            unsigned cell = 5, expected = size ? 3 * 5 + 12 * 5 + k : 0, got = 0;
            const haul_array_spec spec = {.size = {size},
                                          .element_bytes = sizeof(unsigned),
                                          .ghost = {3},
                                          .boundary = {HAUL_BOUNDARY_COPY}};
            if (haul_context_open(devices[d], NULL, &context, &error))
                continue;
            assert_false(haul_array_new(context, &spec, &u, &error));
            assert_false(haul_array_new(context, &spec, &v, &error));
            assert_false(haul_array_write(u, &cell, &error));
            assert_false(HAUL_LOOP(context, &error, &near_1, u, v, &k));
            if (haul_array_read(v, &got, &error))
                fail_msg("%s: %s", devices[d], error.text);
            assert_int_equal(got, expected);
            haul_array_free(u);
            haul_array_free(v);
            haul_context_close(context);
        }
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        check_lost(argv[1]);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum),      cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_columns),  cmocka_unit_test(test_columns_of_different_rows),
        cmocka_unit_test(test_periodic), cmocka_unit_test(test_predicted),
        cmocka_unit_test(test_shared),   cmocka_unit_test(test_range),
        cmocka_unit_test(test_samples),  cmocka_unit_test(test_failed_region),
        cmocka_unit_test(test_small)};
    if (getenv("TILE_TEST"))
        cmocka_set_test_filter(getenv("TILE_TEST"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
