/* The simulated device: an exact clock, hostile orders, memory that is the machine's. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "device_kernels.h"
#include "haul/cost.h"
#include "haul/device_test.h"

static haul_error problem;

#define MUST(status)                                                                               \
    do {                                                                                           \
        if ((status) != HAUL_OK)                                                                   \
            fail_msg("%s", problem.text);                                                          \
    } while (0)

typedef struct bench {
    haul_machine *machine;
    haul_device *device;
    haul_stream *streams[3];
    haul_event *events[3];
    haul_buffer *buffers[3];
    haul_buffer *pinned[3];
} bench;

enum { MUCH = 4 << 20 };

static bench set_up(const char *name, const haul_device_options *options)
{
    bench self;
    char device[64];
    snprintf(device, sizeof device, "sim:%s", name);
    MUST(haul_machine_load(name, &self.machine, &problem));
    MUST(haul_device_open(device, options, &self.device, &problem));
    for (int i = 0; i < 3; i++) {
        MUST(haul_stream_new(self.device, &self.streams[i], &problem));
        MUST(haul_event_new(self.device, &self.events[i], &problem));
        MUST(haul_buffer_new(self.device, HAUL_BUFFER_DEVICE, MUCH, &self.buffers[i], &problem));
        MUST(haul_buffer_new(self.device, HAUL_BUFFER_PINNED, MUCH, &self.pinned[i], &problem));
    }
    return self;
}

static void tear_down(bench *self)
{
    for (int i = 0; i < 3; i++) {
        haul_stream_free(self->streams[i]);
        haul_event_free(self->events[i]);
        haul_buffer_free(self->buffers[i]);
        haul_buffer_free(self->pinned[i]);
    }
    haul_device_close(self->device);
    haul_machine_free(self->machine);
}

static void send(bench *self, int stream, int which, uint64_t bytes)
{
    const haul_transfer transfer = {haul_in_buffer(self->buffers[which], 0),
                                    haul_in_buffer(self->pinned[which], 0),
                                    {bytes},
                                    {0},
                                    {0}};
    MUST(haul_stream_copy(self->streams[stream], &transfer, self->events[which], &problem));
}

static void fetch(bench *self, int stream, int which, uint64_t bytes)
{
    const haul_transfer transfer = {haul_in_buffer(self->pinned[which], 0),
                                    haul_in_buffer(self->buffers[which], 0),
                                    {bytes},
                                    {0},
                                    {0}};
    MUST(haul_stream_copy(self->streams[stream], &transfer, self->events[which], &problem));
}

static int64_t ns_of(const bench *self, haul_direction direction, uint64_t bytes)
{
    const haul_copy copy = {bytes, direction, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR};
    haul_estimate estimate;
    MUST(haul_copy_time(self->machine, NULL, &copy, &estimate, &problem));
    return llround(estimate.seconds * 1e9);
}

static void wait_all(bench *self)
{
    for (int i = 0; i < 3; i++)
        MUST(haul_stream_wait(self->streams[i], &problem));
}

static double seconds(bench *self, int from, int to)
{
    double value;
    MUST(haul_event_seconds(self->events[from], self->events[to], &value, &problem));
    return value;
}

/* A GTX 680 has one copy engine: copies of both directions follow each other. */
static void one_engine_serves_both_directions(void **state)
{
    (void)state;
    bench self = set_up("gtx-680", NULL);
    const int64_t before = haul_device_now(self.device);
    send(&self, 0, 0, MUCH);
    fetch(&self, 1, 1, MUCH);
    wait_all(&self);
    assert_int_equal(haul_device_now(self.device) - before,
                     ns_of(&self, HAUL_DIRECTION_HTOD, MUCH) +
                         ns_of(&self, HAUL_DIRECTION_DTOH, MUCH));
    tear_down(&self);
}

static double as_told(void *state, const haul_machine *machine, const haul_kernel *kernel,
                      const haul_launch *launch)
{
    (void)machine, (void)kernel, (void)launch;
    return *(double *)state;
}

static void launch_fill(bench *self, const haul_kernel *kernel, int stream, int which)
{
    const int width = 1;
    const haul_argument arguments[] = {{self->buffers[which], 0, NULL}, {NULL, 0, &width}};
    const haul_launch launch = {.box = {{0}, {1, 8}}, .arguments = arguments, .argument_count = 2};
    MUST(haul_stream_launch(self->streams[stream], kernel, &launch, self->events[which], &problem));
}

/* Copy in, kernel, copy out on one stream beside a copy on another: the timeline's own sum. */
static void a_pipeline_overlaps_exactly(void **state)
{
    (void)state;
    double kernel_s = 1e-3;
    const haul_device_options options = {.kernel_seconds = as_told, .kernel_state = &kernel_s};
    bench self = set_up("k20", &options);
    haul_kernel *kernel;
    MUST(haul_kernel_new(self.device, &number, &kernel, &problem));
    const int64_t in_ns = ns_of(&self, HAUL_DIRECTION_HTOD, MUCH);
    const int64_t before = haul_device_now(self.device);
    send(&self, 0, 0, MUCH);
    launch_fill(&self, kernel, 0, 0);
    send(&self, 1, 1, MUCH);
    wait_all(&self);
    const int64_t took = haul_device_now(self.device) - before;
    const int64_t behind = in_ns > 1000000 ? in_ns : 1000000;
    assert_in_range(took, in_ns + behind - 20000, in_ns + behind);
    assert_true(fabs(seconds(&self, 0, 0) - kernel_s) < 1e-9);
    haul_kernel_free(kernel);
    tear_down(&self);
}

/* In whatever order, an event is waited for; what nothing waits for runs late. */
static void late_work_is_not_seen(void **state)
{
    (void)state;
    const haul_device_options options = {.test = &(haul_device_test){.order = HAUL_ORDER_LATE}};
    bench self = set_up("k20", &options);
    unsigned char *first = haul_buffer_host(self.pinned[0]);
    unsigned char *second = haul_buffer_host(self.pinned[1]);
    const haul_filling one = {self.buffers[0], 0, MUCH, 1}, two = {self.buffers[1], 0, MUCH, 2};
    MUST(haul_stream_fill(self.streams[0], &one, NULL, &problem));
    fetch(&self, 0, 0, MUCH);
    MUST(haul_stream_fill(self.streams[1], &two, NULL, &problem));
    fetch(&self, 1, 1, MUCH);
    assert_int_equal(first[5], 0xcb);
    MUST(haul_event_wait(self.events[1], &problem));
    assert_int_equal(second[5], 2);
    assert_int_equal(first[5], 0xcb);
    MUST(haul_event_wait(self.events[0], &problem));
    assert_int_equal(first[5], 1);
    tear_down(&self);
}

typedef struct journal {
    char text[16];
    int length;
} journal;

typedef struct entry {
    journal *in;
    char letter;
} entry;

static void note(void *state)
{
    const entry *self = state;
    self->in->text[self->in->length++] = self->letter;
}

/* Streams a < c and b < d, and d after a: which legal order, the seed says. */
static void run_randomly(uint64_t seed, journal *all)
{
    const haul_device_options options = {
        .test = &(haul_device_test){.order = HAUL_ORDER_RANDOM, .seed = seed}};
    bench self = set_up("k20", &options);
    entry entries[4] = {{all, 'a'}, {all, 'b'}, {all, 'c'}, {all, 'd'}};
    *all = (journal){.length = 0};
    MUST(haul_stream_call(self.streams[0], note, &entries[0], self.events[0], &problem));
    MUST(haul_stream_call(self.streams[1], note, &entries[1], NULL, &problem));
    MUST(haul_stream_call(self.streams[0], note, &entries[2], NULL, &problem));
    MUST(haul_stream_wait_event(self.streams[1], self.events[0], &problem));
    MUST(haul_stream_call(self.streams[1], note, &entries[3], NULL, &problem));
    wait_all(&self);
    tear_down(&self);
}

static void random_orders_are_legal(void **state)
{
    (void)state;
    bool c_before_d = false, d_before_c = false, b_first = false, a_first = false;
    for (uint64_t seed = 0; seed < 40; seed++) {
        journal all, again;
        run_randomly(seed, &all);
        run_randomly(seed, &again);
        assert_memory_equal(&all, &again, sizeof all);
        assert_int_equal(all.length, 4);
        const char *a = strchr(all.text, 'a'), *b = strchr(all.text, 'b');
        const char *c = strchr(all.text, 'c'), *d = strchr(all.text, 'd');
        assert_true(a && b && c && d && a < c && b < d && a < d);
        *(c < d ? &c_before_d : &d_before_c) = true;
        *(a < b ? &a_first : &b_first) = true;
    }
    assert_true(c_before_d && d_before_c && a_first && b_first);
}

static void only_times_without_data(void **state)
{
    (void)state;
    const haul_device_options options = {.without_data = true};
    bench self = set_up("h200", &options);
    haul_buffer *large;
    const uint64_t bytes = UINT64_C(100) << 30; /* more than this machine has */
    MUST(haul_buffer_new(self.device, HAUL_BUFFER_DEVICE, bytes, &large, &problem));
    static char host[16];
    const haul_transfer transfer = {
        haul_in_buffer(large, 0), haul_in_host(host), {bytes}, {0}, {0}};
    MUST(haul_stream_copy(self.streams[0], &transfer, self.events[0], &problem));
    wait_all(&self);
    assert_true(seconds(&self, 0, 0) > 0.5);
    haul_buffer_free(large);
    tear_down(&self);
}

static void memory_is_the_machines(void **state)
{
    (void)state;
    bench self = set_up("gtx-680", NULL);
    haul_buffer *buffer;
    uint64_t bytes;
    MUST(haul_device_room(self.device, &bytes, &problem));
    assert_int_equal(haul_buffer_new(self.device, HAUL_BUFFER_DEVICE, bytes + 1, &buffer, &problem),
                     HAUL_STATUS_DEVICE_FULL);
    tear_down(&self);
}

static void a_kernel_that_hangs_runs_into_the_limit(void **state)
{
    (void)state;
    double kernel_s = 3600;
    const haul_device_options options = {
        .kernel_seconds = as_told, .kernel_state = &kernel_s, .time_limit_s = 10};
    bench self = set_up("k20", &options);
    haul_kernel *kernel;
    MUST(haul_kernel_new(self.device, &number, &kernel, &problem));
    launch_fill(&self, kernel, 0, 0);
    assert_int_equal(haul_stream_wait(self.streams[0], &problem), HAUL_STATUS_TIMED_OUT);
    assert_string_equal(problem.text, "the simulated device did not end its work within 10 s");
    haul_kernel_free(kernel);
    tear_down(&self);
}

/* A program that polls gets on. */
static void polling_ends(void **state)
{
    (void)state;
    bench self = set_up("k20", NULL);
    bool done = false;
    int polls = 0;
    send(&self, 0, 0, MUCH);
    while (!done) {
        MUST(haul_event_done(self.events[0], &done, &problem));
        polls++;
    }
    assert_in_range(polls, 2, MUCH);
    tear_down(&self);
}

/* GPUs of one file are of one machine, however long the file's name is. */
static void long_names_are_kept(void **state)
{
    (void)state;
    char name[300] = "sim:";
    haul_device *first, *second;
    haul_error error;
    for (size_t at = 4; at < 204; at += 2)
        memcpy(name + at, "./", 3);
    strcat(name, "machines/lassen.yaml");
    assert_int_equal(haul_device_open(name, NULL, &first, &error), HAUL_OK);
    strcat(name, ":1");
    const haul_device_options options = {.beside = first};
    assert_int_equal(haul_device_open(name, &options, &second, &error), HAUL_OK);
    haul_device_close(second);
    haul_device_close(first);
}

static void machines_that_are_not(void **state)
{
    (void)state;
    haul_device *device;
    assert_int_equal(haul_device_open("sim", NULL, &device, &problem), HAUL_STATUS_USAGE);
    assert_int_equal(haul_device_open("sim:nothing-such", NULL, &device, &problem),
                     HAUL_STATUS_BAD_INPUT);
    assert_int_equal(haul_device_open("sim:k20:7", NULL, &device, &problem), HAUL_STATUS_ABSENT);
    assert_int_equal(haul_device_open("abacus", NULL, &device, &problem), HAUL_STATUS_USAGE);
    assert_non_null(strstr(problem.text, "sim"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_engine_serves_both_directions),
        cmocka_unit_test(a_pipeline_overlaps_exactly),
        cmocka_unit_test(late_work_is_not_seen),
        cmocka_unit_test(random_orders_are_legal),
        cmocka_unit_test(only_times_without_data),
        cmocka_unit_test(memory_is_the_machines),
        cmocka_unit_test(a_kernel_that_hangs_runs_into_the_limit),
        cmocka_unit_test(polling_ends),
        cmocka_unit_test(long_names_are_kept),
        cmocka_unit_test(machines_that_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
