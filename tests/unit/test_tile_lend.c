/* Arrays in memory that the program owns, on the host and on the device, and arrays that others use
 * on the device: without copies that need not be, with the results of arrays of haul's own. */
#include "check.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda_device.h"
#include "device/opencl_device.h"
#include "haul/tile.h"
#include "tile_lend.kernel.h"
#include "tile_must.h"

enum { X = 7, Y = 9, EDGE = 1, WIDE = X + 2, HIGH = Y + 2, CELLS = WIDE * HIGH, STEPS = 6 };
#define WIDTH ((size_t)WIDE)

typedef unsigned w4;

static const char *named; /* the device, of a test over a driver's stand-in; else NULL */

static haul_context *open_on(const char *device, uint64_t memory)
{
    const haul_context_options options = {.memory_bytes = memory};
    haul_context *context;
    must(haul_context_open(device, &options, &context, &error));
    return context;
}

static bool is_there(const char *device)
{
    haul_device *found;
    if (haul_device_open(device, NULL, &found, NULL))
        return false;
    haul_device_close(found);
    return true;
}

static haul_array_spec spec_of(haul_boundary boundary)
{
    return (haul_array_spec){.size = {X, Y},
                             .ghost = {EDGE, EDGE},
                             .element_bytes = sizeof(w4),
                             .boundary = {boundary, boundary}};
}

static haul_array *array_in(haul_context *context, haul_boundary boundary, void *cells,
                            void *device_cells)
{
    haul_array_spec spec = spec_of(boundary);
    haul_array *array;
    spec.cells = cells;
    spec.device_cells = device_cells;
    must(haul_array_new(context, &spec, &array, &error));
    return array;
}

/* Numbers in all cells, those beyond the edges too. */
static void fill(w4 cells[CELLS], unsigned by)
{
    for (unsigned i = 0; i < CELLS; i++)
        cells[i] = 1 + i * by;
}

/* Back and forth, as often as `steps` says; one is odd, so that v is written last. */
static void run_loops(haul_context *context, haul_array *u, haul_array *v, int steps)
{
    for (int i = 0; i < steps; i++)
        must(HAUL_LOOP(context, &error, &lend_shift, i % 2 ? v : u, i % 2 ? u : v));
}

/* As the host has it in arrays of its own, whose cells beyond the edges are those of `u` and `v`.
 */
static void expect(haul_boundary boundary, w4 u[CELLS], w4 v[CELLS], int steps)
{
    haul_context *context = open_on("host", 0);
    w4 *cells[2] = {u, v};
    haul_array *arrays[2];
    for (int i = 0; i < 2; i++) {
        haul_array_spec spec = spec_of(boundary);
        haul_region region;
        spec.region = Y;
        must(haul_array_new(context, &spec, &arrays[i], &error));
        must(haul_array_access(arrays[i], 0, HAUL_USE_WRITE, &region, &error));
        for (int y = -1; y <= Y; y++)
            for (int x = -1; x <= X; x++)
                HAUL_CELL2(region, w4, x, y) = cells[i][(y + 1) * WIDE + x + 1];
    }
    run_loops(context, arrays[0], arrays[1], steps);
    for (int i = 0; i < 2; i++) {
        w4 inner[Y][X];
        must(haul_array_read(arrays[i], inner, &error));
        for (int y = 0; y < Y; y++)
            memcpy(cells[i] + (size_t)(y + 1) * WIDE + 1, inner[y], sizeof inner[y]);
        haul_array_free(arrays[i]);
    }
    haul_context_close(context);
}

/* The cells within the edges. */
static void assert_inner(const w4 got[CELLS], const w4 expected[CELLS])
{
    for (int y = 0; y < Y; y++)
        for (int x = 0; x < X; x++)
            if (got[(y + 1) * WIDE + x + 1] != expected[(y + 1) * WIDE + x + 1])
                fail_msg("cell (%d, %d) is %u, not %u", x, y, got[(y + 1) * WIDE + x + 1],
                         expected[(y + 1) * WIDE + x + 1]);
}

/* --- the host's memory */

static void try_host_memory(const char *device, haul_boundary boundary, uint64_t memory)
{
    w4 u[CELLS], v[CELLS], expected[2][CELLS];
    fill(u, 17);
    fill(v, 5);
    memcpy(expected[0], u, sizeof u);
    memcpy(expected[1], v, sizeof v);
    expect(boundary, expected[0], expected[1], STEPS);
    haul_context *context = open_on(device, memory);
    haul_array *a = array_in(context, boundary, u, NULL), *b = array_in(context, boundary, v, NULL);
    haul_region region;
    run_loops(context, a, b, STEPS);
    for (int r = 0; r < haul_array_regions(a); r++) {
        must(haul_array_access(a, r, HAUL_USE_READ, &region, &error));
        assert_ptr_equal(&HAUL_CELL2(region, w4, 0, region.first),
                         &u[(region.first + 1) * WIDE + 1]);
    }
    assert_inner(u, expected[0]);
    haul_array_free(a);
    haul_array_free(b);
    assert_inner(v, expected[1]);
    haul_context_close(context);
}

static void test_memory_of_the_host(void **state)
{
    (void)state;
    const char *const devices[] = {"host", "sim:k40", "opencl:0", named};
    for (int d = 0; d < 4; d++) {
        if (!devices[d] || !is_there(devices[d]))
            continue;
        try_host_memory(devices[d], HAUL_BOUNDARY_FIXED, 0);
        try_host_memory(devices[d], HAUL_BOUNDARY_PERIODIC, 0);
        try_host_memory(devices[d], HAUL_BOUNDARY_FIXED, 14 * WIDTH * sizeof(w4));
        try_host_memory(devices[d], HAUL_BOUNDARY_PERIODIC, 16 * WIDTH * sizeof(w4));
    }
}

/* --- the device's memory */

/* Memory of the device, as its own library gives it. */
typedef struct own_memory {
    haul_context *context;
    haul_device *device; /* of CUDA and HIP: beside the context's, with the same primary context */
    haul_buffer *buffers[2];
    haul_stream *stream; /* the program's */
    hl_device_cl_api cl;
    cl_context cl_context;
    cl_command_queue queue;
    cl_mem mems[2];
    w4 cells[2][CELLS]; /* of sim */
    bool is_cl, is_cu;
} own_memory;

static void open_cl(own_memory *self)
{
    cl_platform_id platform;
    cl_device_id id;
    cl_int code;
    must(hl_device_cl_load(&self->cl, &error));
    assert_int_equal(self->cl.clGetPlatformIDs(1, &platform, NULL), CL_SUCCESS);
    assert_int_equal(self->cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &id, NULL),
                     CL_SUCCESS);
    self->cl_context = self->cl.clCreateContext(NULL, 1, &id, NULL, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    self->queue = self->cl.clCreateCommandQueue(self->cl_context, id, 0, &code);
    assert_int_equal(code, CL_SUCCESS);
    for (int i = 0; i < 2; i++)
        self->mems[i] = self->cl.clCreateBuffer(self->cl_context, CL_MEM_READ_WRITE,
                                                CELLS * sizeof(w4), NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
}

static void open_cu(own_memory *self, const char *device)
{
    must(haul_device_open(device, NULL, &self->device, &error));
    must(haul_stream_new(self->device, &self->stream, &error));
    for (int i = 0; i < 2; i++)
        must(haul_buffer_new(self->device, HAUL_BUFFER_DEVICE, CELLS * sizeof(w4),
                             &self->buffers[i], &error));
}

static void open_memory(own_memory *self, const char *device, bool on_stream)
{
    haul_context_options options = {.memory_bytes = 1000};
    *self = (own_memory){.is_cl = !strncmp(device, "opencl", 6),
                         .is_cu = !strncmp(device, "cuda", 4) || !strncmp(device, "hip", 3)};
    if (self->is_cl)
        open_cl(self);
    if (self->is_cu)
        open_cu(self, device);
    const haul_device_options of_queue = {.queue = self->queue};
    options.device_options = &of_queue;
    if (on_stream)
        options.stream = self->is_cl ? (void *)self->queue
                                     : (void *)((hl_device_cu_stream *)self->stream)->handle;
    must(haul_context_open(device, &options, &self->context, &error));
}

static void *memory_of(own_memory *self, int i)
{
    return self->is_cl   ? (void *)self->mems[i]
           : self->is_cu ? haul_buffer_native(self->buffers[i])
                         : (void *)self->cells[i];
}

/* On the program's stream, without a wait; the host's memory stays until `finish`. */
static void set_memory(own_memory *self, int i, const w4 from[CELLS])
{
    const haul_transfer transfer = {.to = {.buffer = self->buffers[i]},
                                    .from = haul_in_host(from),
                                    .size = {CELLS * sizeof(w4)}};
    if (self->is_cl)
        assert_int_equal(self->cl.clEnqueueWriteBuffer(self->queue, self->mems[i], CL_FALSE, 0,
                                                       CELLS * sizeof(w4), from, 0, NULL, NULL),
                         CL_SUCCESS);
    else if (self->is_cu)
        must(haul_stream_copy(self->stream, &transfer, NULL, &error));
    else
        memcpy(self->cells[i], from, sizeof self->cells[i]);
}

static void get_memory(own_memory *self, int i, w4 to[CELLS])
{
    const haul_transfer transfer = {
        .to = haul_in_host(to), .from = {.buffer = self->buffers[i]}, .size = {CELLS * sizeof(w4)}};
    if (self->is_cl)
        assert_int_equal(self->cl.clEnqueueReadBuffer(self->queue, self->mems[i], CL_FALSE, 0,
                                                      CELLS * sizeof(w4), to, 0, NULL, NULL),
                         CL_SUCCESS);
    else if (self->is_cu)
        must(haul_stream_copy(self->stream, &transfer, NULL, &error));
    else
        memcpy(to, self->cells[i], sizeof self->cells[i]);
}

static void finish(own_memory *self)
{
    if (self->is_cl)
        self->cl.clFinish(self->queue);
    else if (self->is_cu)
        must(haul_stream_wait(self->stream, &error));
}

static void close_memory(own_memory *self)
{
    haul_context_close(self->context);
    for (int i = 0; i < 2; i++) {
        haul_buffer_free(self->buffers[i]);
        if (self->is_cl)
            self->cl.clReleaseMemObject(self->mems[i]);
    }
    haul_stream_free(self->stream);
    haul_device_close(self->device);
    if (self->is_cl) {
        self->cl.clReleaseCommandQueue(self->queue);
        self->cl.clReleaseContext(self->cl_context);
    }
}

/* Both arrays in memory of the program's, and a third, of haul's, beside. */
static void try_device_memory(const char *device, haul_boundary boundary, bool on_stream)
{
    own_memory self;
    w4 first[2][CELLS], expected[2][CELLS], got[2][CELLS];
    for (int i = 0; i < 2; i++) {
        fill(first[i], i ? 5 : 17);
        memcpy(expected[i], first[i], sizeof first[i]);
    }
    expect(boundary, expected[0], expected[1], STEPS);
    open_memory(&self, device, on_stream);
    for (int i = 0; i < 2; i++)
        set_memory(&self, i, first[i]);
    if (!on_stream)
        finish(&self);
    haul_array *a = array_in(self.context, boundary, NULL, memory_of(&self, 0));
    haul_array *b = array_in(self.context, boundary, NULL, memory_of(&self, 1));
    run_loops(self.context, a, b, STEPS);
    must(on_stream ? haul_context_start(self.context, &error)
                   : haul_context_wait(self.context, &error));
    const haul_context_counts counts = haul_context_count(self.context);
    assert_int_equal(counts.bytes_down, 0);
    assert_true(counts.bytes_up < CELLS * sizeof(w4)); /* where edges are, not cells */
    for (int i = 0; i < 2; i++) {
        memset(got[i], 0, sizeof got[i]);
        get_memory(&self, i, got[i]);
    }
    finish(&self);
    assert_inner(got[0], expected[0]);
    assert_inner(got[1], expected[1]);
    /* the host changes a cell: the device's memory has it once the array is freed */
    haul_region region;
    must(haul_array_access(a, 0, HAUL_USE_BOTH, &region, &error));
    assert_int_equal(HAUL_CELL2(region, w4, 2, 0), expected[0][WIDE + 3]);
    HAUL_CELL2(region, w4, 2, 0) = expected[0][WIDE + 3] = 77;
    haul_array_free(a);
    haul_array_free(b);
    get_memory(&self, 0, got[0]);
    finish(&self);
    assert_inner(got[0], expected[0]);
    close_memory(&self);
}

static void test_memory_of_the_device(void **state)
{
    (void)state;
    const char *const devices[] = {"sim:k40", "opencl:0", named};
    for (int d = 0; d < 3; d++)
        for (int on_stream = 0; on_stream < 2; on_stream++) {
            if (!devices[d] || !is_there(devices[d]) || (!d && on_stream))
                continue;
            try_device_memory(devices[d], HAUL_BOUNDARY_FIXED, on_stream);
            try_device_memory(devices[d], HAUL_BOUNDARY_COPY, on_stream);
            try_device_memory(devices[d], HAUL_BOUNDARY_PERIODIC, on_stream);
        }
}

/* Checked loops find what the program's memory on the device holds. */
static void test_checked_memory_of_the_device(void **state)
{
    (void)state;
    static w4 u[CELLS], v[CELLS], expected[2][CELLS], got[X * Y];
    const haul_context_options checked = {.check = true};
    haul_context *context;
    fill(u, 17);
    fill(v, 5);
    memcpy(expected[0], u, sizeof u);
    memcpy(expected[1], v, sizeof v);
    expect(HAUL_BOUNDARY_FIXED, expected[0], expected[1], 1);
    must(haul_context_open("sim:k40", &checked, &context, &error));
    haul_array *a = array_in(context, HAUL_BOUNDARY_FIXED, NULL, u);
    haul_array *b = array_in(context, HAUL_BOUNDARY_FIXED, NULL, v);
    run_loops(context, a, b, 1);
    must(haul_array_read(b, got, &error)); /* and compares it */
    haul_array_free(a);
    haul_array_free(b);
    haul_context_close(context);
    assert_inner(v, expected[1]);
}

/* --- arrays of haul's, used by others on the device */

/* Adds to each cell, by copies: what a library on the device would do. */
static void add_by_copies(haul_device *device, const haul_device_cells *cells, w4 number)
{
    haul_stream *stream;
    w4 row[X];
    must(haul_stream_new(device, &stream, &error));
    for (int y = 0; y < Y; y++) {
        const uint64_t at = (uint64_t)(cells->first + y * cells->plane) * sizeof(w4);
        haul_transfer transfer = {.to = haul_in_host(row),
                                  .from = haul_in_buffer(cells->buffer, at),
                                  .size = {sizeof row}};
        must(haul_stream_copy(stream, &transfer, NULL, &error));
        must(haul_stream_wait(stream, &error));
        for (int x = 0; x < X; x++)
            row[x] += number;
        transfer.to = transfer.from;
        transfer.from = haul_in_host(row);
        must(haul_stream_copy(stream, &transfer, NULL, &error));
        must(haul_stream_wait(stream, &error));
    }
    haul_stream_free(stream);
}

static void add_on_host(const haul_device_cells *cells, w4 number)
{
    for (int y = 0; y < Y; y++)
        for (int x = 0; x < X; x++)
            ((w4 *)cells->memory)[cells->first + y * cells->plane + x] += number;
}

static void try_access(const char *device, haul_boundary boundary)
{
    w4 expected[2][CELLS] = {{0}}, u[Y][X];
    haul_context *context = open_on(device, 0);
    haul_array *a = array_in(context, boundary, NULL, NULL);
    haul_array *b = array_in(context, boundary, NULL, NULL);
    haul_device_cells cells;
    for (int y = 0; y < Y; y++)
        for (int x = 0; x < X; x++)
            u[y][x] = expected[0][(y + 1) * WIDE + x + 1] = (w4)(100 * y + x);
    must(haul_array_write(a, u, &error));
    for (int round = 0; round < 3; round++) {
        run_loops(context, a, b, 2);
        must(haul_array_access_device(a, HAUL_USE_BOTH, &cells, &error));
        assert_int_equal(cells.plane, cells.row);
        if (cells.buffer)
            add_by_copies(haul_context_device(context), &cells, 1000);
        else
            add_on_host(&cells, 1000);
        expect(boundary, expected[0], expected[1], 2);
        for (int i = 0; i < CELLS; i++)
            expected[0][i] += i % WIDE && i % WIDE <= X && i > WIDE && i < CELLS - WIDE ? 1000 : 0;
    }
    run_loops(context, a, b, 1);
    expect(boundary, expected[0], expected[1], 1);
    must(haul_array_read(b, u, &error));
    for (int y = 0; y < Y; y++)
        assert_memory_equal(u[y], expected[1] + (size_t)(y + 1) * WIDE + 1, sizeof u[y]);
    haul_array_free(a);
    haul_array_free(b);
    haul_context_close(context);
}

static void test_access_on_the_device(void **state)
{
    (void)state;
    const char *const devices[] = {"host", "sim:k40", "opencl:0", named};
    for (int d = 0; d < 4; d++)
        if (devices[d] && is_there(devices[d])) {
            try_access(devices[d], HAUL_BOUNDARY_FIXED);
            try_access(devices[d], HAUL_BOUNDARY_PERIODIC);
        }
}

/* --- refusals */

static void test_refusals(void **state)
{
    (void)state;
    w4 cells[CELLS + 1];
    haul_array *array, *own, *lent;
    haul_device_cells given;
    haul_array_spec spec = spec_of(HAUL_BOUNDARY_FIXED);
    haul_context *context = open_on("sim:k40", 300), *host = open_on("host", 0);
    haul_context *team = open_on("host,host", 0), *stream;
    spec.cells = (char *)cells + 1;
    assert_int_equal(haul_array_new(context, &spec, &array, &error), HAUL_STATUS_USAGE);
    spec.cells = cells;
    spec.file = "no-such-file";
    assert_int_equal(haul_array_new(context, &spec, &array, &error), HAUL_STATUS_USAGE);
    spec.file = NULL;
    assert_int_equal(haul_array_new(team, &spec, &array, &error), HAUL_STATUS_USAGE);
    spec.device_cells = cells;
    assert_int_equal(haul_array_new(context, &spec, &array, &error), HAUL_STATUS_USAGE);
    spec.cells = NULL;
    assert_int_equal(haul_array_new(host, &spec, &array, &error), HAUL_STATUS_ABSENT);
    own = array_in(context, HAUL_BOUNDARY_FIXED, NULL, NULL);
    lent = array_in(context, HAUL_BOUNDARY_FIXED, cells, NULL);
    assert_int_equal(haul_array_swap(own, lent, &error), HAUL_STATUS_USAGE);
    assert_int_equal(haul_array_access_device(own, 0, &given, &error), HAUL_STATUS_USAGE);
    assert_int_equal(haul_array_access_device(own, HAUL_USE_READ, &given, &error),
                     HAUL_STATUS_DEVICE_FULL);
    assert_non_null(strstr(error.text, "cannot hold all of an array"));
    const haul_context_options on_stream = {.stream = cells};
    assert_int_equal(haul_context_open("sim:k40", &on_stream, &stream, &error), HAUL_STATUS_ABSENT);
    assert_int_equal(haul_context_open("host,host", &on_stream, &stream, &error),
                     HAUL_STATUS_USAGE);
    haul_buffer *buffer;
    haul_stream *wrapped;
    haul_device *device = haul_context_device(context);
    assert_int_equal(haul_buffer_wrap(device, NULL, 8, &buffer, &error), HAUL_STATUS_USAGE);
    assert_int_equal(haul_stream_wrap(device, NULL, &wrapped, &error), HAUL_STATUS_USAGE);
    assert_int_equal(haul_stream_wrap(device, cells, &wrapped, &error), HAUL_STATUS_ABSENT);
    haul_array_free(own);
    haul_array_free(lent);
    haul_context_close(context);
    haul_context_close(host);
    haul_context_close(team);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_of_the_host),
        cmocka_unit_test(test_memory_of_the_device),
        cmocka_unit_test(test_checked_memory_of_the_device),
        cmocka_unit_test(test_access_on_the_device),
        cmocka_unit_test(test_refusals),
    };
    named = argc > 1 ? argv[1] : NULL;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
