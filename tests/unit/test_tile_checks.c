/* Programs of tiles that are easily run wrongly: loops that may not become one, failures that no
 * call could return, and what is refused. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "haul/tile.h"
#include "tile_check_kernels.h"
#include "tile_kernels.h"
#include "tile_must.h"

static const char *const devices[] = {"host", "sim:k40", "opencl:0"};

enum { DEVICES = sizeof devices / sizeof(char *) };

static void must_refuse(haul_status status, const char *words)
{
    assert_int_equal(status, HAUL_STATUS_USAGE);
    if (!strstr(error.text, words))
        fail_msg("'%s' lacks '%s'", error.text, words);
}

static haul_context *open_on(const char *device, const haul_context_options *options)
{
    haul_context *context = NULL;
    if (haul_context_open(device, options, &context, &error) != HAUL_STATUS_ABSENT)
        assert_non_null(context);
    return context;
}

static haul_array *new_array(haul_context *context, haul_array_spec spec)
{
    haul_array *array;
    if (!spec.element_bytes)
        spec.element_bytes = sizeof(unsigned);
    must(haul_array_new(context, &spec, &array, &error));
    return array;
}

static haul_status loop_over(haul_context *context, const haul_kernel_source *kernel, haul_box box,
                             haul_array *u, haul_array *v)
{
    const haul_loop_options options = {.box = &box};
    const void *const arguments[] = {u, v};
    return haul_loop_queue(context, kernel, arguments, v ? 2 : 1, &options, &error);
}

/* The same loop twice counts twice, in whatever way its box is given. */
static void test_same_box(void **state)
{
    (void)state;
    enum { WIDTH = 6, HEIGHT = 7 };
    static const haul_box boxes[] = {{{0}, {WIDTH, HEIGHT, 0}},
                                     {{0}, {WIDTH, HEIGHT, 1}},
                                     {{0, 0, 1}, {WIDTH, HEIGHT, 2}},
                                     {{0, 0, 5}, {WIDTH, HEIGHT, 3}}};
    for (int d = 0; d < DEVICES; d++) {
        unsigned cells[HEIGHT * WIDTH];
        haul_context *context = open_on(devices[d], NULL);
        if (!context)
            continue;
        haul_array *u = new_array(context, (haul_array_spec){.size = {WIDTH, HEIGHT}});
        must(HAUL_LOOP(context, &error, &more_2, u));
        for (int i = 0; i < 4; i++)
            must(loop_over(context, &more_2, boxes[i], u, NULL));
        must(haul_array_read(u, cells, &error));
        for (int i = 0; i < WIDTH * HEIGHT; i++)
            assert_int_equal(cells[i], 5);
        haul_array_free(u);
        haul_context_close(context);
    }
}

/* Planes are added to a smaller array one after another, in their order. */
static void test_plane_by_plane(void **state)
{
    (void)state;
    enum { SIZE = 40, PLANES = 12 };
    static unsigned cells[PLANES][SIZE][SIZE];
    unsigned sums[SIZE][SIZE];
    for (int i = 0; i < PLANES * SIZE * SIZE; i++)
        (&cells[0][0][0])[i] = (unsigned)(i * i);
    for (int d = 0; d < DEVICES; d++) {
        haul_context *context = open_on(devices[d], NULL);
        if (!context)
            continue;
        haul_array *u = new_array(context, (haul_array_spec){.size = {SIZE, SIZE, PLANES}});
        haul_array *v = new_array(context, (haul_array_spec){.size = {SIZE, SIZE}});
        must(haul_array_write(u, cells, &error));
        for (int z = 0; z < PLANES; z++)
            must(loop_over(context, &sum_planes, (haul_box){{0, 0, z}, {SIZE, SIZE, z + 1}}, u, v));
        must(haul_array_read(v, sums, &error));
        for (int y = 0; y < SIZE; y++)
            for (int x = 0; x < SIZE; x++) {
                unsigned sum = 0;
                for (int z = 0; z < PLANES; z++)
                    sum = 3 * sum + cells[z][y][x];
                assert_int_equal(sums[y][x], sum);
            }
        haul_array_free(u);
        haul_array_free(v);
        haul_context_close(context);
    }
}

typedef struct failing {
    haul_context *context;
    haul_array *u;
    haul_array *v;
    haul_array *w;
} failing;

enum { CELLS = 40 };

/* Loops u to v and v to w, which will fail when they run: no memory is small enough. */
static failing open_failing(void)
{
    const haul_context_options options = {.memory_bytes = 2};
    const haul_array_spec spec = {.size = {CELLS}};
    unsigned cells[CELLS];
    for (unsigned i = 0; i < CELLS; i++)
        cells[i] = i;
    failing self = {.context = open_on("sim:k40", &options)};
    self.u = new_array(self.context, spec);
    self.v = new_array(self.context, spec);
    self.w = new_array(self.context, spec);
    must(haul_array_write(self.u, cells, &error));
    must(HAUL_LOOP(self.context, &error, &same_1, self.u, self.v));
    must(HAUL_LOOP(self.context, &error, &same_1, self.v, self.w));
    return self;
}

static void close_failing(failing *self)
{
    haul_array_free(self->u);
    haul_array_free(self->v);
    haul_array_free(self->w);
    haul_context_close(self->context);
}

static void must_be_full(haul_status status)
{
    assert_int_equal(status, HAUL_STATUS_DEVICE_FULL);
    assert_non_null(strstr(error.text, "hold no row"));
}

/* An error of a call that returns no status is returned by the next one that does, and by the
 * first that reads an array that was to be written. */
static void test_kept_failure(void **state)
{
    (void)state;
    unsigned cells[CELLS];
    failing self = open_failing();
    haul_array_free(self.u);
    self.u = NULL;
    must_be_full(haul_context_wait(self.context, &error));
    must(haul_context_wait(self.context, &error));
    must_be_full(haul_array_read(self.v, cells, &error));
    must_be_full(haul_array_read(self.w, cells, &error));
    must(haul_array_read(self.w, cells, &error)); /* told: it has what it had */
    close_failing(&self);

    self = open_failing();
    assert_int_equal(haul_array_regions(self.v), 0);
    must_be_full(HAUL_LOOP(self.context, &error, &same_1, self.u, self.w));
    must_be_full(HAUL_LOOP(self.context, &error, &same_1, self.v, self.w));
    must(haul_array_write(self.w, cells, &error)); /* anew */
    must(haul_array_read(self.w, cells, &error));
    close_failing(&self);

    self = open_failing();
    must_be_full(haul_array_read(self.v, cells, &error));
    must(haul_array_read(self.v, cells, &error));
    must(haul_array_read(self.u, cells, &error));
    assert_int_equal(cells[CELLS - 1], CELLS - 1);
    must_be_full(haul_array_read(self.w, cells, &error));
    close_failing(&self);
}

static double forever(void *state, const haul_machine *machine, const haul_kernel *kernel,
                      const haul_launch *launch)
{
    (void)state, (void)machine, (void)kernel, (void)launch;
    return 1000;
}

/* Loops that were begun, and whose failure is seen when an array that they use is freed. */
static void test_failure_at_free(void **state)
{
    (void)state;
    static const haul_device_options device = {.kernel_seconds = forever, .time_limit_s = 1};
    const haul_context_options options = {.device_options = &device};
    unsigned cells[CELLS] = {0};
    haul_context *context = open_on("sim:k40", &options);
    haul_array *u = new_array(context, (haul_array_spec){.size = {CELLS}});
    haul_array *v = new_array(context, (haul_array_spec){.size = {CELLS}});
    haul_array *w = new_array(context, (haul_array_spec){.size = {CELLS}});
    must(haul_array_write(u, cells, &error));
    must(HAUL_LOOP(context, &error, &same_1, u, v));
    must(haul_context_start(context, &error));
    haul_array_free(u);
    assert_int_equal(haul_context_wait(context, &error), HAUL_STATUS_TIMED_OUT);
    haul_array_free(v);
    must(haul_array_read(w, cells, &error));
    haul_array_free(w);
    haul_context_close(context);
}

/* On the host's memory too, a loop that takes longer than it may is given up, and what it uses. */
static void check_limit(const char *device, bool on_host)
{
    static const haul_device_options within = {.time_limit_s = 0.2};
    static const haul_context_options options = {.device_options = &within};
    const haul_loop_options here = {.on_host = on_host};
    const long few = 10, many = 4000000000; /* some seconds a cell */
    unsigned cells[CELLS] = {0};
    haul_context *context = open_on(device, &options);
    haul_array *u = new_array(context, (haul_array_spec){.size = {CELLS}});
    haul_array *v = new_array(context, (haul_array_spec){.size = {CELLS}});
    const void *const quick[] = {u, &few}, *const slow[] = {u, &many};
    must(haul_loop_queue(context, &slow_1, quick, 2, &here, &error));
    must(haul_array_read(u, cells, &error));
    assert_int_equal(cells[CELLS - 1], 29524); /* (3^10 - 1) / 2 */
    must(haul_loop_queue(context, &slow_1, slow, 2, &here, &error));
    assert_int_equal(haul_context_wait(context, &error), HAUL_STATUS_TIMED_OUT);
    assert_int_equal(haul_array_read(u, cells, &error), HAUL_STATUS_TIMED_OUT);
    assert_int_equal(haul_array_read(u, cells, &error), HAUL_STATUS_DEVICE_FAILED);
    must(haul_array_write(v, cells, &error));
    must(haul_array_read(v, cells, &error));
    haul_array_free(u);
    haul_array_free(v);
    haul_context_close(context);
}

static void test_limit(void **state)
{
    (void)state;
    check_limit("host", false);
    check_limit("sim:k40", true);
}

/* Halos and boxes of loops of fewer dimensions than their arrays, and arrays of other sizes. */
static void test_outside(void **state)
{
    (void)state;
    for (int d = 0; d < DEVICES; d++) {
        haul_context *context = open_on(devices[d], NULL);
        if (!context)
            continue;
        haul_array *u = new_array(context, (haul_array_spec){.size = {4, 50}});
        haul_array *v = new_array(context, (haul_array_spec){.size = {4, 50}});
        must_refuse(loop_over(context, &rows_of_1, (haul_box){{-500}, {100000}}, u, v),
                    "cells -500 to 99999");
        must_refuse(loop_over(context, &near_rows, (haul_box){{0}, {50}}, u, v), "cells -1 to 50");
        must(loop_over(context, &near_rows, (haul_box){{1}, {49}}, u, v));
        haul_array *flat = new_array(context, (haul_array_spec){.size = {10, 10, 5}});
        haul_array *deep = new_array(context, (haul_array_spec){.size = {10, 10, 5000}});
        must_refuse(HAUL_LOOP(context, &error, &same_3, flat, deep), "cells 0 to 4999");
        must(loop_over(context, &same_3, (haul_box){{0}, {10, 10, 5}}, flat, deep));
        must_refuse(HAUL_LOOP(context, &error, &rows_of_2, flat, deep), "cells");
        must(haul_context_wait(context, &error));
        haul_array_free(u);
        haul_array_free(v);
        haul_array_free(flat);
        haul_array_free(deep);
        haul_context_close(context);
    }
}

static void test_specs(void **state)
{
    (void)state;
    haul_context *context = open_on("host", NULL);
    haul_array *u;
    haul_array_spec spec = {
        .size = {8, 8}, .element_bytes = sizeof(unsigned), .boundary_kernel = &edge_two};
    must_refuse(haul_array_new(context, &spec, &u, &error), "edge_two");
    spec.boundary_kernel = &more_2;
    spec.size[2] = 8;
    must_refuse(haul_array_new(context, &spec, &u, &error), "more_2");
    spec.size[2] = 0;
    spec.element_bytes = 8;
    must_refuse(haul_array_new(context, &spec, &u, &error), "more_2");
    double cells[5]; /* its one dimension is the first */
    spec = (haul_array_spec){.size = {5, 0}, .ghost = {1, 1}};
    must(haul_array_new(context, &spec, &u, &error));
    must(haul_array_read(u, cells, &error));
    haul_array_free(u);
    spec = (haul_array_spec){.size = {8192, 8192, 8192}}; /* 4.4 TB */
    assert_int_equal(haul_array_new(context, &spec, &u, &error), HAUL_STATUS_NO_MEMORY);
    assert_non_null(strstr(error.text, "memory"));
    u = new_array(context, (haul_array_spec){.size = {8}});
    haul_region region;
    must_refuse(haul_array_access(u, 0, (haul_use)77, &region, &error), "77");
    must_refuse(haul_array_access(u, 0, (haul_use)0, &region, &error), "0");
    haul_array_free(u);
    haul_context_close(context);
    for (unsigned fused = 0; fused < 101; fused++) {
        const haul_context_options options = {.fused = fused};
        const bool is_fine = fused <= 7 && (fused % 2 || !fused);
        const haul_status status = haul_context_open("host", &options, &context, &error);
        assert_int_equal(status, is_fine ? HAUL_OK : HAUL_STATUS_USAGE);
        if (!status)
            haul_context_close(context);
    }
}

/* Elements of one size are not of one type. */
static void test_types(void **state)
{
    (void)state;
    haul_context *context = open_on("host", NULL);
    haul_array *u = new_array(context, (haul_array_spec){.size = {8}});
    haul_array *v = new_array(context, (haul_array_spec){.size = {8}});
    must(HAUL_LOOP(context, &error, &same_1, u, v));
    must_refuse(HAUL_LOOP(context, &error, &of_floats, u), "floating");
    haul_array *w = new_array(context, (haul_array_spec){.size = {8}, .element_bytes = 24});
    must(HAUL_LOOP(context, &error, &of_structs, w));
    haul_array_free(u);
    haul_array_free(v);
    haul_array_free(w);
    haul_context_close(context);
}

/* Values and arrays as the compiler knows them. What it does not know is taken as it is. */
static void test_argument_types(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        haul_context *context = open_on(d ? "sim:k40,host" : "host", NULL);
        const haul_array_spec spec = {.size = {6, 5}, .ghost = {1, 1}};
        haul_array *u = new_array(context, spec), *v = new_array(context, spec);
        const unsigned number = 3;
        const float real = 3;
        const long wide = 3;
        const struct {
            unsigned number;
        } packed = {3};
        const void *any = &number;
        must_refuse(HAUL_LOOP(context, &error, &near_2, u, v, &real),
                    "'k' of kernel 'near_2' takes an integer of 4 bytes, but the argument is a "
                    "floating-point number of 4");
        must_refuse(HAUL_LOOP(context, &error, &near_2, u, v, &wide), "is an integer of 8");
        must_refuse(HAUL_LOOP(context, &error, &near_2, u, v, u),
                    "'k' of kernel 'near_2' is a value, the argument an array");
        must_refuse(HAUL_LOOP(context, &error, &near_2, u, &number, &number),
                    "'v' of kernel 'near_2' is an array, the argument none");
        must_refuse(HAUL_LOOP(context, &error, &near_2, u, v), "needs an argument");
        must_refuse(HAUL_LOOP(context, &error, &near_2, u, v, &number, &number), "arguments");
        must(HAUL_LOOP(context, &error, &near_2, u, v, &number));
        must(HAUL_LOOP(context, &error, &near_2, u, v, any));
        must(HAUL_LOOP(context, &error, &near_2, u, v, (const unsigned char *)&number));
        must(HAUL_LOOP(context, &error, &near_2, u, v, &packed));
        must(HAUL_LOOP(context, &error, &near_2, (const void *)u, (const haul_array *)v, &number));
        haul_array_free(u);
        haul_array_free(v);
        haul_context_close(context);
    }
}

/* Each array keeps its boundary's kernel and its file. */
static void test_swap_kernel(void **state)
{
    (void)state;
    enum { SIZE = 6 };
    unsigned cells[SIZE][SIZE];
    for (int d = 0; d < DEVICES; d++) {
        haul_context *context = open_on(devices[d], NULL);
        if (!context)
            continue;
        haul_array_spec spec = {
            .size = {SIZE, SIZE}, .ghost = {1, 1}, .boundary_kernel = &edge_one};
        haul_array *u = new_array(context, spec);
        spec.boundary_kernel = &edge_other;
        haul_array *v = new_array(context, spec);
        haul_array *w =
            new_array(context, (haul_array_spec){.size = {SIZE, SIZE}, .ghost = {1, 1}});
        for (int i = 0; i < 3; i++) {
            must(HAUL_LOOP(context, &error, &left_2, u, w));
            must(haul_array_read(w, cells, &error));
            assert_int_equal(cells[2][0], 100);
            must(HAUL_LOOP(context, &error, &left_2, v, w));
            must(haul_array_read(w, cells, &error));
            assert_int_equal(cells[2][0], 200);
            must(haul_array_swap(u, v, &error));
        }
        haul_array_free(u);
        haul_array_free(v);
        haul_array_free(w);
        haul_context_close(context);
    }
}

static void test_swap_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/haul-swap-XXXXXX", paths[2][64];
    double cells[2][8];
    haul_array *arrays[2], *plain;
    assert_non_null(mkdtemp(folder));
    for (int swaps = 0; swaps < 3; swaps++) {
        haul_context *context = open_on("sim:k40", NULL);
        for (int i = 0; i < 2; i++) {
            snprintf(paths[i], sizeof paths[i], "%s/%d", folder, i);
            haul_array_spec spec = {.size = {8}, .file = paths[i]};
            for (int x = 0; x < 8; x++)
                cells[i][x] = 10 * i + x;
            must(haul_array_new(context, &spec, &arrays[i], &error));
            must(haul_array_write(arrays[i], cells[i], &error));
        }
        must(haul_array_new(context, &(haul_array_spec){.size = {8}}, &plain, &error));
        must_refuse(haul_array_swap(arrays[0], plain, &error), "file");
        for (int i = 0; i < swaps; i++)
            must(haul_array_swap(arrays[i % 2], arrays[(i + 1) % 2], &error));
        for (int i = 0; i < 2; i++)
            haul_array_free(arrays[i]);
        haul_array_free(plain);
        for (int i = 0; i < 2; i++) {
            double got[8];
            haul_array_spec spec = {.size = {8}, .file = paths[i]};
            must(haul_array_new(context, &spec, &arrays[i], &error));
            must(haul_array_read(arrays[i], got, &error));
            assert_memory_equal(got, cells[(i + swaps) % 2], sizeof got);
            haul_array_free(arrays[i]);
            remove(paths[i]);
        }
        haul_context_close(context);
    }
    assert_int_equal(remove(folder), 0); /* nothing else is left there */
}

enum { N = 60 };

static void multiply(unsigned a[N][N], unsigned b[N][N], unsigned c[N][N])
{
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            c[y][x] = 0;
            for (int k = 0; k < N; k++)
                c[y][x] += a[y][k] * b[k][x];
        }
}

/* A product of matrices: one is read anywhere, and stays while the others stream. One that streamed
 * before comes to stay; one that the device cannot hold is refused with its size. */
static void check_product(const char *device, uint64_t memory_bytes, bool is_full)
{
    static unsigned cells[2][N][N], right[N][N], got[N][N];
    const haul_context_options options = {.memory_bytes = memory_bytes, .host_share = -1};
    const int n = N;
    haul_context *context = open_on(device, &options);
    if (!context)
        return;
    haul_array *arrays[4];
    for (int i = 0; i < 4; i++)
        arrays[i] = new_array(context, (haul_array_spec){.size = {N, N}, .region = 2});
    for (int i = 0; i < 2 * N * N; i++)
        (&cells[0][0][0])[i] = (unsigned)(i * i);
    must(haul_array_write(arrays[0], cells[0], &error));
    must(haul_array_write(arrays[3], cells[1], &error));
    must(HAUL_LOOP(context, &error, &plus_2, arrays[3], arrays[1]));
    must(haul_context_wait(context, &error));
    must(HAUL_LOOP(context, &error, &product, arrays[0], arrays[1], arrays[2], &n));
    must(HAUL_LOOP(context, &error, &product, arrays[2], arrays[2], arrays[3], &n));
    const haul_status status = haul_array_read(arrays[3], got, &error);
    for (int i = 0; i < N * N; i++)
        cells[1][i / N][i % N] += (unsigned)(i % N + 1000 * (i / N));
    if (is_full) {
        assert_int_equal(status, HAUL_STATUS_DEVICE_FULL);
        assert_non_null(strstr(error.text, "'product' reads all of an array of"));
        must(haul_array_read(arrays[1], got, &error)); /* as it was, wherever it is */
        assert_memory_equal(got, cells[1], sizeof got);
    } else {
        must(status);
        multiply(cells[0], cells[1], right);
        multiply(right, right, cells[0]);
        assert_memory_equal(got, cells[0], sizeof got);
    }
    for (int i = 0; i < 4; i++)
        haul_array_free(arrays[i]);
    haul_context_close(context);
}

static void test_read_all(void **state)
{
    (void)state;
    for (int d = 0; d < DEVICES; d++) {
        const bool is_host = !strcmp(devices[d], "host");
        check_product(devices[d], 0, false);
        check_product(devices[d], 45000, false); /* of 64 KB, 15 to 16 an array */
        check_product(devices[d], 40000, false);
        check_product(devices[d], 12000, !is_host);
    }
}

/* Loops that read all of what the loops beside them change, with cells beyond its edges. */
static void test_read_all_changing(void **state)
{
    (void)state;
    enum { WIDTH = 200, HEIGHT = 300, STEPS = 9 };
    static unsigned cells[HEIGHT][WIDTH], next[HEIGHT][WIDTH];
    const int width = WIDTH, height = HEIGHT;
    const haul_array_spec spec = {.size = {WIDTH, HEIGHT},
                                  .ghost = {1, 1},
                                  .boundary = {HAUL_BOUNDARY_COPY, HAUL_BOUNDARY_COPY}};
    for (int d = 0; d < DEVICES; d++) {
        haul_context *context = open_on(devices[d], NULL);
        if (!context)
            continue;
        haul_array *u = new_array(context, spec), *v = new_array(context, spec);
        memset(cells, 0, sizeof cells);
        for (int i = 0; i < STEPS; i++) {
            must(HAUL_LOOP(context, &error, &plus_2, u, v));
            must(HAUL_LOOP(context, &error, &plus_2, v, u));
            must(HAUL_LOOP(context, &error, &turned, u, v, &width, &height));
            must(HAUL_LOOP(context, &error, &plus_2, v, u));
            for (int y = 0; y < HEIGHT; y++)
                for (int x = 0; x < WIDTH; x++)
                    cells[y][x] += 2 * (unsigned)(x + 1000 * y);
            for (int y = 0; y < HEIGHT; y++)
                for (int x = 0; x < WIDTH; x++)
                    next[y][x] = 3 * cells[HEIGHT - 1 - y][WIDTH - 1 - x] +
                                 cells[HEIGHT - 1][WIDTH - 1] + (unsigned)(x + 1000 * y);
            memcpy(cells, next, sizeof cells);
        }
        must(haul_array_read(u, next, &error));
        assert_memory_equal(cells, next, sizeof cells);
        haul_array_free(u);
        haul_array_free(v);
        haul_context_close(context);
    }
}

/* However many arrays a context has. */
static void test_explain(void **state)
{
    (void)state;
    enum { ARRAYS = 60 };
    haul_array *arrays[ARRAYS];
    char *text;
    haul_context *context = open_on("sim:k40", NULL);
    for (int i = 0; i < ARRAYS; i++)
        arrays[i] = new_array(context, (haul_array_spec){.size = {1000 + i / 2}});
    for (int i = 0; i < ARRAYS; i++)
        must(HAUL_LOOP(context, &error, &same_1, arrays[i], arrays[i ^ 1]));
    must(haul_context_wait(context, &error));
    must(haul_context_explain(context, &text, &error));
    int lines = 0;
    for (const char *at = text; (at = strstr(at, "array of")); at++)
        lines++;
    assert_int_equal(lines, ARRAYS);
    assert_non_null(strstr(text, "last pass"));
    free(text);
    for (int i = 0; i < ARRAYS; i++)
        haul_array_free(arrays[i]);
    haul_context_close(context);
}

/* A box that goes on beyond the edges reads there what the boundary says, though its kernel reads
 * no neighbours; so does a kernel over rows. */
static void test_read_beyond(void **state)
{
    (void)state;
    enum { COUNT = 8 };
    const unsigned given[COUNT] = {11, 12, 13, 14, 15, 16, 17, 18};
    for (int d = 0; d < DEVICES; d++) {
        haul_context *context = open_on(devices[d], NULL);
        haul_region region;
        if (!context)
            continue;
        haul_array_spec spec = {.size = {COUNT}, .ghost = {1}};
        haul_array *v = new_array(context, spec);
        spec.boundary[0] = HAUL_BOUNDARY_PERIODIC;
        haul_array *u = new_array(context, spec);
        must(haul_array_write(u, given, &error));
        must(loop_over(context, &same_1, (haul_box){{-1}, {COUNT + 1}}, u, v));
        must(haul_array_access(v, 0, HAUL_USE_READ, &region, &error));
        assert_int_equal(((const unsigned *)region.cells)[-1 - region.first], given[COUNT - 1]);
        haul_array_free(u);
        haul_array_free(v);
        haul_context_close(context);
    }
}

static void write_file(const char *path, const char *line, size_t cells)
{
    FILE *out = fopen(path, "wb");
    const size_t length = strlen(line);
    assert_non_null(out);
    fprintf(out, "\x93NUMPY\x01%c%c%c%s", 0, (int)(length & 255), (int)(length >> 8), line);
    for (size_t i = 0; i < cells; i++)
        fwrite(&i, 4, 1, out);
    fclose(out);
}

/* Files that are not the array's leave it as it is. */
static void check_bad_files(haul_array *u, const char *path)
{
    static const struct {
        const char *line;
        size_t cells;
        haul_status status;
    } files[] = {
        {"{'shape': (3, 2), 'fortran_order': False, 'descr': '<u4'}", 6, HAUL_OK},
        {"{'descr': '<u4', 'fortran_order': False, 'shape': (3, 2)}", 5, HAUL_STATUS_BAD_INPUT},
        {"{'descr': '<u4', 'fortran_order': False, 'shape': (3, 2)}", 7, HAUL_STATUS_BAD_INPUT},
        {"{'descr': '<u4', 'fortran_order': True, 'shape': (3, 2)}", 6, HAUL_STATUS_BAD_INPUT},
        {"{'descr': '<u4', 'fortran_order': False, 'shape': (2, 3)}", 6, HAUL_STATUS_BAD_INPUT},
        {"{'descr': '<u4', 'fortran_order': False, 'shape': (6,)}", 6, HAUL_STATUS_BAD_INPUT},
        {"{'descr': '>u4', 'fortran_order': False, 'shape': (3, 2)}", 6, HAUL_STATUS_BAD_INPUT},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)}", 6, HAUL_STATUS_BAD_INPUT},
        {"{'descr': '<u8', 'fortran_order': False, 'shape': (3, 2)}", 6, HAUL_STATUS_BAD_INPUT},
        {"{'descr': [('x', '<u4')], 'fortran_order': False, 'shape': (3, 2)}", 6,
         HAUL_STATUS_BAD_INPUT},
        {"{'descr': '<u4', 'fortran_order': False, 'shape': (3, 2", 6, HAUL_STATUS_BAD_INPUT},
        {"", 6, HAUL_STATUS_BAD_INPUT},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        unsigned cells[6];
        write_file(path, files[i].line, files[i].cells);
        if (haul_array_load(u, path, &error) != files[i].status)
            fail_msg("%s: %s", files[i].line, error.text);
        must(haul_array_read(u, cells, &error));
        assert_int_equal(cells[1], 1);
    }
    assert_int_equal(haul_array_load(u, "/nowhere/u.npy", &error), HAUL_STATUS_IO);
}

/* The file that numpy.load opens: its header, then the cells by rows; an older file is replaced. */
static void test_save(void **state)
{
    (void)state;
    static const char header[] = "{'descr': '<i4', 'fortran_order': False, 'shape': (3, 2,), }";
    const unsigned given[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    unsigned cells[6];
    char path[] = "/tmp/haul-save-XXXXXX", got[512];
    const int file = mkstemp(path);
    assert_true(file >= 0 && write(file, "old", 3) == 3);
    close(file);
    for (int d = 0; d < DEVICES; d++) {
        haul_context *context = open_on(devices[d], NULL);
        if (!context)
            continue;
        haul_array *u = new_array(context, (haul_array_spec){.size = {2, 3},
                                                             .ghost = {1, 1},
                                                             .region = 2,
                                                             .element = HAUL_ELEMENT_INTEGER});
        must(haul_array_write(u, given, &error));
        must(HAUL_LOOP(context, &error, &more_2, u));
        must(haul_array_save(u, path, &error));
        FILE *in = fopen(path, "rb");
        assert_non_null(in);
        assert_int_equal(fread(got, 1, sizeof got, in), 128 + sizeof given);
        fclose(in);
        assert_memory_equal(got, "\x93NUMPY\1\0\x76\0", 10);
        assert_memory_equal(got + 10, header, strlen(header));
        assert_int_equal(got[127], '\n');
        for (unsigned i = 0; i < 6; i++) {
            unsigned cell;
            memcpy(&cell, got + 128 + sizeof cell * i, sizeof cell);
            assert_int_equal(cell, i + 2);
        }
        assert_int_equal(haul_array_save(u, "/nowhere/u.npy", &error), HAUL_STATUS_IO);
        must(HAUL_LOOP(context, &error, &more_2, u));
        must(haul_array_load(u, path, &error));
        must(HAUL_LOOP(context, &error, &more_2, u));
        must(haul_array_read(u, cells, &error));
        for (unsigned i = 0; i < 6; i++)
            assert_int_equal(cells[i], i + 3);
        check_bad_files(u, path);
        haul_array_free(u);
        haul_context_close(context);
    }
    remove(path);
}

int main(void)
{
    if (getenv("TILE_TEST"))
        cmocka_set_test_filter(getenv("TILE_TEST"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_beyond),  cmocka_unit_test(test_save),
        cmocka_unit_test(test_same_box),     cmocka_unit_test(test_plane_by_plane),
        cmocka_unit_test(test_kept_failure), cmocka_unit_test(test_failure_at_free),
        cmocka_unit_test(test_outside),      cmocka_unit_test(test_specs),
        cmocka_unit_test(test_types),        cmocka_unit_test(test_argument_types),
        cmocka_unit_test(test_swap_kernel),  cmocka_unit_test(test_swap_file),
        cmocka_unit_test(test_explain),      cmocka_unit_test(test_limit),
        cmocka_unit_test(test_read_all),     cmocka_unit_test(test_read_all_changing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
