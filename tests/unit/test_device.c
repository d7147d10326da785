/* The duties of every device, on each that is present. Without arguments: all; else those named. */
#include "check.h"
#include "haul/device_backend.h"
#include "haul/device_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_kernels.h"

typedef struct fixture {
    const char *name;
    haul_device *device;
    haul_stream *stream;
    haul_error error;
} fixture;

/* Fails with the error's text. */
#define MUST(fixture, status)                                                                      \
    do {                                                                                           \
        if ((status) != HAUL_OK)                                                                   \
            fail_msg("%s", (fixture)->error.text);                                                 \
    } while (0)

static haul_buffer *allocate(fixture *self, haul_buffer_kind kind, uint64_t bytes)
{
    haul_buffer *buffer;
    MUST(self, haul_buffer_new(self->device, kind, bytes, &buffer, &self->error));
    return buffer;
}

static void copy(fixture *self, haul_stream *stream, haul_address to, haul_address from,
                 uint64_t bytes, haul_event *event)
{
    const haul_transfer transfer = {.to = to, .from = from, .size = {bytes}};
    MUST(self, haul_stream_copy(stream, &transfer, event, &self->error));
}

/* A device may leave functions out: then it says so, and the duties that need them are not asked.
 */
static bool has_kernels(fixture *self)
{
    haul_kernel *kernel;
    if (self->device->backend->kernel_new)
        return true;
    assert_int_equal(haul_kernel_new(self->device, &scale, &kernel, &self->error),
                     HAUL_STATUS_ABSENT);
    return false;
}

static haul_kernel *compile(fixture *self, const haul_kernel_source *source)
{
    haul_kernel *kernel;
    MUST(self, haul_kernel_new(self->device, source, &kernel, &self->error));
    return kernel;
}

static void launch(fixture *self, const haul_kernel *kernel, haul_box box,
                   const haul_argument *arguments, size_t count)
{
    const haul_launch given = {.box = box, .arguments = arguments, .argument_count = count};
    MUST(self, haul_stream_launch(self->stream, kernel, &given, NULL, &self->error));
}

static void finish(fixture *self)
{
    MUST(self, haul_stream_wait(self->stream, &self->error));
}

static haul_event *event_of(fixture *self)
{
    haul_event *event;
    MUST(self, haul_event_new(self->device, &event, &self->error));
    return event;
}

enum { BYTES = 100003 };

static void number_bytes(unsigned char *bytes, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)((i + seed) * 2654435761u >> 13);
}

static void test_flat_copies(void **state)
{
    fixture *self = *state;
    unsigned char *there = malloc(BYTES), *back = calloc(1, BYTES);
    number_bytes(there, BYTES, 1);
    haul_buffer *a = allocate(self, HAUL_BUFFER_DEVICE, BYTES);
    haul_buffer *b = allocate(self, HAUL_BUFFER_DEVICE, BYTES);
    haul_buffer *pinned = allocate(self, HAUL_BUFFER_PINNED, BYTES);
    copy(self, self->stream, haul_in_buffer(a, 0), haul_in_host(there), BYTES, NULL);
    copy(self, self->stream, haul_in_buffer(b, 0), haul_in_buffer(a, 0), BYTES, NULL);
    copy(self, self->stream, haul_in_buffer(pinned, 1), haul_in_buffer(b, 1), BYTES - 1, NULL);
    copy(self, self->stream, haul_in_buffer(a, 5), haul_in_buffer(pinned, 10), 20, NULL);
    copy(self, self->stream, haul_in_host(back), haul_in_buffer(a, 0), BYTES, NULL);
    copy(self, self->stream, haul_in_host(back), haul_in_buffer(a, 0), 0, NULL);
    finish(self);
    assert_memory_equal((char *)haul_buffer_host(pinned) + 1, there + 1, BYTES - 1);
    memmove(there + 5, there + 10, 20);
    assert_memory_equal(back, there, BYTES);
    assert_null(haul_buffer_host(a));
    assert_int_equal(haul_buffer_bytes(a), BYTES);
    haul_buffer_free(a);
    haul_buffer_free(b);
    haul_buffer_free(pinned);
    free(there);
    free(back);
}

enum { ROWS = 5, PLANES = 3, ROW = 12, PITCH = 20, PLANE = 130 };

/* A box goes to the device with one shape of rows and planes and comes back with another. */
static void test_boxes(void **state)
{
    fixture *self = *state;
    unsigned char there[PLANES * PLANE], back[PLANES * PLANE] = {0};
    number_bytes(there, sizeof there, 7);
    haul_buffer *buffer = allocate(self, HAUL_BUFFER_DEVICE, 7 + PLANES * ROWS * ROW);
    const haul_transfer in = {
        .to = haul_in_buffer(buffer, 7),
        .from = haul_in_host(there),
        .size = {ROW, ROWS, PLANES},
        .from_pitch = {PITCH, PLANE},
    };
    haul_transfer out = in;
    out.to = haul_in_host(back);
    out.from = in.to;
    out.to_pitch[0] = PITCH;
    out.to_pitch[1] = PLANE;
    out.from_pitch[0] = out.from_pitch[1] = 0;
    MUST(self, haul_stream_copy(self->stream, &in, NULL, &self->error));
    MUST(self, haul_stream_copy(self->stream, &out, NULL, &self->error));
    finish(self);
    for (int z = 0; z < PLANES; z++)
        for (int i = 0; i < PLANE; i++) {
            const bool is_inside = i / PITCH < ROWS && i % PITCH < ROW;
            assert_int_equal(back[z * PLANE + i], is_inside ? there[z * PLANE + i] : 0);
        }
    haul_buffer_free(buffer);
}

static void test_fill(void **state)
{
    fixture *self = *state;
    unsigned char back[64];
    haul_buffer *buffer = allocate(self, HAUL_BUFFER_DEVICE, sizeof back);
    const haul_filling all = {buffer, 0, sizeof back, 1}, some = {buffer, 3, 50, 200};
    MUST(self, haul_stream_fill(self->stream, &all, NULL, &self->error));
    MUST(self, haul_stream_fill(self->stream, &some, NULL, &self->error));
    copy(self, self->stream, haul_in_host(back), haul_in_buffer(buffer, 0), sizeof back, NULL);
    finish(self);
    for (size_t i = 0; i < sizeof back; i++)
        assert_int_equal(back[i], i >= 3 && i < 53 ? 200 : 1);
    haul_buffer_free(buffer);
}

enum { COUNT = 1000 };

static void test_loop_1d(void **state)
{
    fixture *self = *state;
    if (!has_kernels(self))
        skip();
    float x[COUNT], y[COUNT];
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)i;
    haul_buffer *from = allocate(self, HAUL_BUFFER_DEVICE, sizeof x);
    haul_buffer *to = allocate(self, HAUL_BUFFER_DEVICE, sizeof y);
    haul_kernel *kernel = compile(self, &scale);
    float by = 3;
    /* y[i] of the kernel is y[i + 2] of the buffer */
    haul_argument arguments[] = {{from, 0, NULL}, {to, 2 * sizeof *y, NULL}, {NULL, 0, &by}};
    copy(self, self->stream, haul_in_buffer(from, 0), haul_in_host(x), sizeof x, NULL);
    copy(self, self->stream, haul_in_buffer(to, 0), haul_in_host(x), sizeof x, NULL);
    launch(self, kernel, (haul_box){{10}, {COUNT - 20}}, arguments, 3);
    by = 99; /* values were read */
    launch(self, kernel, (haul_box){{10}, {10}}, arguments, 3);
    copy(self, self->stream, haul_in_host(y), haul_in_buffer(to, 0), sizeof y, NULL);
    finish(self);
    for (int i = 0; i < COUNT; i++)
        assert_true(y[i] == (i >= 12 && i < COUNT - 18 ? 3 * x[i - 2] : x[i]));
    haul_kernel_free(kernel);
    haul_buffer_free(from);
    haul_buffer_free(to);
}

enum { WIDTH = 37, HEIGHT = 23 };

static void test_loop_2d(void **state)
{
    fixture *self = *state;
    if (!has_kernels(self))
        skip();
    int back[HEIGHT][WIDTH], width = WIDTH;
    haul_buffer *to = allocate(self, HAUL_BUFFER_DEVICE, sizeof back);
    haul_kernel *kernel = compile(self, &number);
    const haul_argument arguments[] = {{to, 0, NULL}, {NULL, 0, &width}};
    const haul_filling zero = {to, 0, sizeof back, 0};
    MUST(self, haul_stream_fill(self->stream, &zero, NULL, &self->error));
    launch(self, kernel, (haul_box){{1, 2}, {WIDTH - 1, HEIGHT}}, arguments, 2);
    copy(self, self->stream, haul_in_host(back), haul_in_buffer(to, 0), sizeof back, NULL);
    finish(self);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const bool is_set = x >= 1 && x < WIDTH - 1 && y >= 2 && (x + y) % 7 != 3;
            assert_int_equal(back[y][x], is_set ? 1000 * y + x : 0);
        }
    haul_kernel_free(kernel);
    haul_buffer_free(to);
}

static void test_loop_3d(void **state)
{
    fixture *self = *state;
    if (!has_kernels(self))
        skip();
    static int field[5][7][33], back[5][7][33];
    const test_shape shape = {33, 7, 2.5};
    for (int i = 0; i < 5 * 7 * 33; i++)
        field[i / (7 * 33)][i / 33 % 7][i % 33] = i;
    haul_buffer *buffer = allocate(self, HAUL_BUFFER_DEVICE, sizeof field);
    haul_kernel *kernel = compile(self, &blend);
    const haul_argument arguments[] = {{buffer, 0, NULL}, {NULL, 0, &shape}};
    copy(self, self->stream, haul_in_buffer(buffer, 0), haul_in_host(field), sizeof field, NULL);
    launch(self, kernel, (haul_box){{1, 1, 1}, {32, 6, 5}}, arguments, 2);
    copy(self, self->stream, haul_in_host(back), haul_in_buffer(buffer, 0), sizeof field, NULL);
    finish(self);
    for (int z = 0; z < 5; z++)
        for (int y = 0; y < 7; y++)
            for (int x = 0; x < 33; x++) {
                const bool is_set = x >= 1 && x < 32 && y >= 1 && y < 6 && z >= 1;
                const int more = is_set ? (int)(2.5 * (x + 10 * y + 100 * z)) : 0;
                assert_int_equal(back[z][y][x], field[z][y][x] + more);
            }
    haul_kernel_free(kernel);
    haul_buffer_free(buffer);
}

static void test_groups(void **state)
{
    fixture *self = *state;
    if (!has_kernels(self))
        skip();
    enum { GROUPS = 3 * 5 * 16 };
    int x[GROUPS], y[GROUPS];
    for (int i = 0; i < GROUPS; i++)
        x[i] = 7 * i;
    haul_buffer *from = allocate(self, HAUL_BUFFER_DEVICE, sizeof x);
    haul_buffer *to = allocate(self, HAUL_BUFFER_DEVICE, sizeof y);
    haul_kernel *kernel = compile(self, &turn);
    const haul_argument arguments[] = {{from, 0, NULL}, {to, 0, NULL}};
    copy(self, self->stream, haul_in_buffer(from, 0), haul_in_host(x), sizeof x, NULL);
    launch(self, kernel, (haul_box){{0}, {3, 5}}, arguments, 2);
    copy(self, self->stream, haul_in_host(y), haul_in_buffer(to, 0), sizeof y, NULL);
    finish(self);
    for (int i = 0; i < GROUPS; i++)
        assert_int_equal(y[i], x[i / 16 * 16 + 15 - i % 16] + 100 * (i % 16));
    haul_kernel_free(kernel);
    haul_buffer_free(from);
    haul_buffer_free(to);
}

/* A chain over two streams: each waits for the other's event before it doubles. */
static void test_events_order_streams(void **state)
{
    fixture *self = *state;
    if (!has_kernels(self))
        skip();
    enum { STEPS = 20 };
    float x = 1, two = 2;
    haul_stream *streams[2] = {self->stream, NULL};
    haul_event *events[2] = {event_of(self), event_of(self)};
    MUST(self, haul_stream_new(self->device, &streams[1], &self->error));
    haul_buffer *buffers[2] = {allocate(self, HAUL_BUFFER_DEVICE, sizeof x),
                               allocate(self, HAUL_BUFFER_DEVICE, sizeof x)};
    haul_kernel *kernel = compile(self, &scale);
    copy(self, streams[0], haul_in_buffer(buffers[0], 0), haul_in_host(&x), sizeof x, events[1]);
    for (int i = 0; i < STEPS; i++) {
        const haul_argument arguments[] = {
            {buffers[i % 2], 0, NULL}, {buffers[1 - i % 2], 0, NULL}, {NULL, 0, &two}};
        const haul_launch given = {.box = {{0}, {1}}, .arguments = arguments, .argument_count = 3};
        MUST(self, haul_stream_wait_event(streams[i % 2], events[1 - i % 2], &self->error));
        MUST(self, haul_stream_launch(streams[i % 2], kernel, &given, events[i % 2], &self->error));
    }
    MUST(self, haul_event_wait(events[(STEPS - 1) % 2], &self->error));
    bool done = false;
    MUST(self, haul_event_done(events[0], &done, &self->error));
    assert_true(done);
    copy(self, self->stream, haul_in_host(&x), haul_in_buffer(buffers[STEPS % 2], 0), sizeof x,
         NULL);
    finish(self);
    assert_true(x == 1048576);
    for (int i = 0; i < 2; i++) {
        haul_buffer_free(buffers[i]);
        haul_event_free(events[i]);
    }
    haul_kernel_free(kernel);
    haul_stream_free(streams[1]);
}

static void test_event_times(void **state)
{
    fixture *self = *state;
    enum { MUCH = 8 << 20 };
    haul_buffer *pinned = allocate(self, HAUL_BUFFER_PINNED, MUCH);
    haul_buffer *buffer = allocate(self, HAUL_BUFFER_DEVICE, MUCH);
    haul_event *first = event_of(self), *second = event_of(self), *point = event_of(self);
    haul_event *never = event_of(self);
    double one = -1, other = -1, both = -1, still = -1, reverse = 1;
    memset(haul_buffer_host(pinned), 1, MUCH);
    copy(self, self->stream, haul_in_buffer(buffer, 0), haul_in_buffer(pinned, 0), MUCH, first);
    copy(self, self->stream, haul_in_buffer(pinned, 0), haul_in_buffer(buffer, 0), MUCH, second);
    MUST(self, haul_stream_record(self->stream, point, &self->error));
    MUST(self, haul_event_wait(point, &self->error));
    MUST(self, haul_event_seconds(first, first, &one, &self->error));
    MUST(self, haul_event_seconds(second, second, &other, &self->error));
    MUST(self, haul_event_seconds(first, second, &both, &self->error));
    MUST(self, haul_event_seconds(second, point, &still, &self->error));
    MUST(self, haul_event_seconds(second, first, &reverse, &self->error));
    assert_true(one > 0 && other > 0 && both >= (one + other) * 0.999);
    assert_true(still >= other * 0.999 && reverse <= 1e-6);
    assert_int_equal(haul_event_seconds(never, first, &one, &self->error), HAUL_STATUS_USAGE);
    MUST(self, haul_event_wait(never, &self->error));
    haul_event_free(first);
    haul_event_free(second);
    haul_event_free(point);
    haul_event_free(never);
    haul_buffer_free(pinned);
    haul_buffer_free(buffer);
}

static void count_call(void *state)
{
    ++*(int *)state;
}

static void test_host_calls(void **state)
{
    fixture *self = *state;
    int calls = 0;
    if (!self->device->backend->call) {
        assert_int_equal(haul_stream_call(self->stream, count_call, &calls, NULL, &self->error),
                         HAUL_STATUS_ABSENT);
        skip();
    }
    for (int i = 0; i < 3; i++)
        MUST(self, haul_stream_call(self->stream, count_call, &calls, NULL, &self->error));
    finish(self);
    assert_int_equal(calls, 3);
}

/* Memory that host and device use: what the host wrote the kernel reads, and the reverse. */
static void test_memory_of_both(void **state)
{
    fixture *self = *state;
    if (!has_kernels(self))
        skip();
    static const struct {
        haul_buffer_kind kind;
        unsigned needs;
    } kinds[] = {{HAUL_BUFFER_MAPPED, HAUL_DEVICE_CAN_MAP},
                 {HAUL_BUFFER_MANAGED, HAUL_DEVICE_CAN_MANAGE}};
    const unsigned can = haul_device_describe(self->device)->can;
    haul_kernel *kernel = compile(self, &scale);
    const float by = 4;
    for (size_t k = 0; k < 2; k++) {
        haul_buffer *x, *y;
        if (!(can & kinds[k].needs)) {
            assert_int_equal(haul_buffer_new(self->device, kinds[k].kind, COUNT, &x, &self->error),
                             HAUL_STATUS_ABSENT);
            continue;
        }
        x = allocate(self, kinds[k].kind, COUNT * sizeof(float));
        y = allocate(self, kinds[k].kind, COUNT * sizeof(float));
        const haul_argument arguments[] = {{x, 0, NULL}, {y, 0, NULL}, {NULL, 0, &by}};
        for (int i = 0; i < COUNT; i++)
            ((float *)haul_buffer_host(x))[i] = (float)i;
        if (kinds[k].kind == HAUL_BUFFER_MANAGED)
            MUST(self, haul_stream_prefetch(self->stream, x, false, NULL, &self->error));
        launch(self, kernel, (haul_box){{0}, {COUNT}}, arguments, 3);
        finish(self);
        for (int i = 0; i < COUNT; i++)
            assert_true(((float *)haul_buffer_host(y))[i] == 4 * (float)i);
        haul_buffer_free(x);
        haul_buffer_free(y);
    }
    haul_kernel_free(kernel);
}

static void test_kinds_of_pointers(void **state)
{
    fixture *self = *state;
    int local = 0;
    haul_memory memory;
    if (!self->device->backend->memory_of) {
        assert_int_equal(haul_device_memory_of(self->device, &local, &memory, &self->error),
                         HAUL_STATUS_ABSENT);
        skip();
    }
    haul_buffer *pinned = allocate(self, HAUL_BUFFER_PINNED, 64);
    MUST(self, haul_device_memory_of(self->device, &local, &memory, &self->error));
    assert_int_equal(memory, HAUL_MEMORY_PAGEABLE);
    MUST(self, haul_device_memory_of(self->device, (char *)haul_buffer_host(pinned) + 63, &memory,
                                     &self->error));
    assert_int_equal(memory, HAUL_MEMORY_PINNED);
    haul_buffer_free(pinned);
    if (!(haul_device_describe(self->device)->can & HAUL_DEVICE_CAN_PIN))
        return;
    char *own = calloc(1, 8192);
    MUST(self, haul_buffer_pin(self->device, own, 8192, &pinned, &self->error));
    MUST(self, haul_device_memory_of(self->device, own + 100, &memory, &self->error));
    assert_int_equal(memory, HAUL_MEMORY_PINNED);
    assert_ptr_equal(haul_buffer_host(pinned), own);
    haul_buffer_free(pinned);
    MUST(self, haul_device_memory_of(self->device, own + 100, &memory, &self->error));
    assert_int_equal(memory, HAUL_MEMORY_PAGEABLE);
    free(own);
}

static void test_wrong_use(void **state)
{
    fixture *self = *state;
    haul_error *error = &self->error;
    char host[16] = "";
    const float by = 1;
    haul_buffer *buffer = allocate(self, HAUL_BUFFER_DEVICE, 16), *none;
    haul_kernel *kernel = has_kernels(self) ? compile(self, &scale) : NULL;
    haul_transfer transfer = {haul_in_buffer(buffer, 8), haul_in_host(host), {9}, {0}, {0}};
    assert_int_equal(haul_stream_copy(self->stream, &transfer, NULL, error), HAUL_STATUS_USAGE);
    transfer = (haul_transfer){haul_in_buffer(buffer, 0), haul_in_host(host), {8, 3}, {0}, {0}};
    assert_int_equal(haul_stream_copy(self->stream, &transfer, NULL, error), HAUL_STATUS_USAGE);
    transfer.size[1] = UINT64_MAX;
    assert_int_equal(haul_stream_copy(self->stream, &transfer, NULL, error), HAUL_STATUS_USAGE);
    transfer = (haul_transfer){haul_in_buffer(buffer, 0), haul_in_host(host), {8, 2}, {4}, {0}};
    assert_int_equal(haul_stream_copy(self->stream, &transfer, NULL, error), HAUL_STATUS_USAGE);
    const haul_filling filling = {buffer, 1, 16, 0};
    assert_int_equal(haul_stream_fill(self->stream, &filling, NULL, error), HAUL_STATUS_USAGE);
    const haul_argument arguments[] = {{buffer, 0, NULL}, {buffer, 2, NULL}, {NULL, 0, &by}};
    haul_launch given = {.box = {{0}, {1}}, .arguments = arguments, .argument_count = 3};
    for (; kernel && given.argument_count > 1; given.argument_count--)
        assert_int_equal(haul_stream_launch(self->stream, kernel, &given, NULL, error),
                         HAUL_STATUS_USAGE);
    assert_int_equal(haul_buffer_new(self->device, HAUL_BUFFER_DEVICE, 0, &none, error),
                     HAUL_STATUS_USAGE);
    assert_int_equal(haul_buffer_new(self->device, HAUL_BUFFER_DEVICE, UINT64_MAX, &none, error),
                     HAUL_STATUS_USAGE);
    haul_kernel_free(kernel);
    haul_buffer_free(buffer);
}

static void test_out_of_memory(void **state)
{
    fixture *self = *state;
    haul_buffer *buffer;
    uint64_t before, after;
    MUST(self, haul_device_room(self->device, &before, &self->error));
    assert_true(before > 0);
    assert_int_equal(
        haul_buffer_new(self->device, HAUL_BUFFER_DEVICE, (uint64_t)1 << 60, &buffer, &self->error),
        HAUL_STATUS_DEVICE_FULL);
    MUST(self, haul_device_room(self->device, &after, &self->error));
    assert_true(after > before / 2);
}

/* Two devices of one node: a copy between them, in the order that an event of the one gives the
 * other's stream. */
static void test_peers(void **state)
{
    fixture *self = *state;
    char name[64];
    if (!(haul_device_describe(self->device)->can & HAUL_DEVICE_CAN_REACH_PEERS))
        skip();
    snprintf(name, sizeof name, "%s", self->name);
    char *last = &name[strlen(name) - 1];
    if (*last == '0' && last[-1] == ':')
        *last = '1'; /* "cuda:0": the next GPU; else the same again */
    fixture other = {.name = name};
    const haul_device_options options = {.beside = self->device};
    int there[64], back[64] = {0};
    for (int i = 0; i < 64; i++)
        there[i] = i * i;
    MUST(self, haul_device_open(name, &options, &other.device, &self->error));
    MUST(self, haul_stream_new(other.device, &other.stream, &self->error));
    haul_buffer *here = allocate(self, HAUL_BUFFER_DEVICE, sizeof there);
    haul_buffer *away = allocate(&other, HAUL_BUFFER_DEVICE, sizeof there);
    haul_event *event = event_of(self);
    copy(self, self->stream, haul_in_buffer(here, 0), haul_in_host(there), sizeof there, NULL);
    copy(self, self->stream, haul_in_buffer(away, 0), haul_in_buffer(here, 0), sizeof there, event);
    MUST(self, haul_stream_wait_event(other.stream, event, &self->error));
    copy(&other, other.stream, haul_in_host(back), haul_in_buffer(away, 0), sizeof there, NULL);
    finish(&other);
    assert_memory_equal(there, back, sizeof there);
    haul_event_free(event);
    haul_buffer_free(here);
    haul_buffer_free(away);
    haul_stream_free(other.stream);
    haul_device_close(other.device);
}

/* Page-locked memory is the host's: a device that was opened by itself copies from another's. */
static void test_pinned_memory_of_another(void **state)
{
    fixture *self = *state;
    fixture other = {.name = self->name};
    int back[64] = {0};
    MUST(self, haul_device_open(self->name, NULL, &other.device, &self->error));
    MUST(self, haul_stream_new(other.device, &other.stream, &self->error));
    haul_buffer *pinned = allocate(self, HAUL_BUFFER_PINNED, sizeof back);
    haul_buffer *away = allocate(&other, HAUL_BUFFER_DEVICE, sizeof back);
    int *there = haul_buffer_host(pinned);
    for (int i = 0; i < 64; i++)
        there[i] = i * i;
    copy(&other, other.stream, haul_in_buffer(away, 0), haul_in_buffer(pinned, 0), sizeof back,
         NULL);
    copy(&other, other.stream, haul_in_host(back), haul_in_buffer(away, 0), sizeof back, NULL);
    finish(&other);
    assert_memory_equal(there, back, sizeof back);
    haul_buffer_free(away);
    haul_buffer_free(pinned);
    haul_stream_free(other.stream);
    haul_device_close(other.device);
}

static int open_fixture(fixture *self, const char *name, const haul_device_options *options)
{
    haul_error *error = &self->error;
    if (haul_device_open(name, options, &self->device, error) ||
        haul_stream_new(self->device, &self->stream, error)) {
        fprintf(stderr, "%s: %s\n", name, error->text);
        return 1;
    }
    return 0;
}

static int run_with(const char *name, const haul_device_options *options)
{
    fixture self = {.name = name};
    if (open_fixture(&self, name, options))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_flat_copies, &self),
        cmocka_unit_test_prestate(test_boxes, &self),
        cmocka_unit_test_prestate(test_fill, &self),
        cmocka_unit_test_prestate(test_loop_1d, &self),
        cmocka_unit_test_prestate(test_loop_2d, &self),
        cmocka_unit_test_prestate(test_loop_3d, &self),
        cmocka_unit_test_prestate(test_groups, &self),
        cmocka_unit_test_prestate(test_events_order_streams, &self),
        cmocka_unit_test_prestate(test_event_times, &self),
        cmocka_unit_test_prestate(test_host_calls, &self),
        cmocka_unit_test_prestate(test_memory_of_both, &self),
        cmocka_unit_test_prestate(test_kinds_of_pointers, &self),
        cmocka_unit_test_prestate(test_peers, &self),
        cmocka_unit_test_prestate(test_pinned_memory_of_another, &self),
        cmocka_unit_test_prestate(test_wrong_use, &self),
        cmocka_unit_test_prestate(test_out_of_memory, &self),
    };
    printf("%s: %s\n", name, haul_device_describe(self.device)->name);
    fflush(stdout);
    const int failed = cmocka_run_group_tests_name(name, tests, NULL, NULL);
    haul_stream_free(self.stream);
    haul_device_close(self.device);
    return failed;
}

static int run_on(const char *name)
{
    return run_with(name, NULL);
}

static bool has_parts(void)
{
    haul_device *device;
    const bool has = !haul_device_open("opencl:0.1", NULL, &device, NULL);
    if (has)
        haul_device_close(device);
    return has;
}

int main(int argc, char **argv)
{
    char **names;
    size_t count;
    haul_error error;
    int failed = 0;
    for (int i = 1; i < argc; i++)
        failed += run_on(argv[i]);
    if (argc > 1)
        return failed;
    if (haul_device_list(&names, &count, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        failed += run_on(names[i]);
        if (!strcmp(names[i], "opencl:0") && has_parts())
            failed += run_on("opencl:0.0");
    }
    haul_names_free(names, count);
    failed += run_on("sim:lassen:0");
    for (haul_order order = HAUL_ORDER_LATE; order <= HAUL_ORDER_RANDOM; order++)
        for (uint64_t seed = 0; seed < 3; seed++)
            failed += run_with(
                "sim:lassen:0",
                &(haul_device_options){.test = &(haul_device_test){.order = order, .seed = seed}});
    return failed;
}
