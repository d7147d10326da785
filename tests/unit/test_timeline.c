/* The timeline: its laws over random workloads, the slow way of doing the same, and small cases
 * whose answer is known. */
#include "check.h"

#include "by_hand.h"
#include "naive_timeline.h"
#include "timeline/stream_gap.h"

static drawn_workload drawn;
static naive slow;

static const haul_timeline_options plain = {
    .device = {.copy_engines = 2, .kernels = 1, .busy_speed = {1, 1}}};

static haul_timeline *run(const haul_workload *workload, const haul_timeline_options *options)
{
    haul_timeline *timeline = NULL;
    haul_error error = {0};
    if (haul_timeline_run(workload, options, &timeline, &error))
        fail_msg("%s", error.text);
    return timeline;
}

/* In a third of the runs calls take another time than in the workload. */
static const int64_t *draw_calls(unsigned seed)
{
    static int64_t calls_ns[DRAWN_OPS];
    for (uint32_t i = 0; i < drawn.workload.op_count; i++)
        calls_ns[i] = draw(12);
    return seed % 3 ? NULL : calls_ns;
}

static void equals_the_slow_way(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < SWEEP(10000); seed++) {
        srand(seed);
        draw_workload(&drawn, 1 + draw(seed % 10 ? 30 : 80), draw(3));
        haul_timeline_options options = draw_options();
        options.call_durations_ns = draw_calls(seed);
        naive_run(&slow, &drawn.workload, &options);
        haul_timeline *timeline = run(&drawn.workload, &options);
        for (uint32_t i = 0; i < drawn.workload.op_count; i++)
            if (timeline->ops[i].start_ns != slow.ops[i].start ||
                timeline->ops[i].end_ns != slow.ops[i].end)
                fail_msg("seed %u, operation %u: %ld-%ld, the slow way %ld-%ld", seed, i,
                         (long)timeline->ops[i].start_ns, (long)timeline->ops[i].end_ns,
                         (long)slow.ops[i].start, (long)slow.ops[i].end);
        haul_timeline_free(timeline);
    }
}

static bool on_device(uint32_t op)
{
    return haul_op_on_device(&drawn.ops[op]);
}

static void check_order(const haul_timeline *timeline)
{
    int64_t ends[DRAWN_STREAMS + 1] = {0};
    for (uint32_t i = 0; i < timeline->op_count; i++) {
        const haul_span *span = &timeline->ops[i];
        const uint32_t stream =
            drawn.ops[i].stream == HAUL_NONE ? DRAWN_STREAMS : drawn.ops[i].stream;
        assert_true(span->start_ns >= 0 && span->end_ns >= span->start_ns);
        if (!on_device(i))
            continue;
        assert_true(span->start_ns >= ends[stream]);
        ends[stream] = span->end_ns;
    }
    for (size_t e = 0; e < drawn.workload.edge_count; e++) {
        const haul_edge *edge = &drawn.edges[e];
        const haul_span *after = &timeline->ops[edge->after];
        assert_true(timeline->ops[edge->before].end_ns <=
                    (on_device(edge->after) ? after->start_ns : after->end_ns));
    }
}

/* An operation that holds the resource; the staging buffer is held by pageable copies, while they
 * wait for their engine too. */
static bool holds(const naive *view, uint32_t op, const haul_resource *resource)
{
    const uint32_t device = resource->device == HAUL_NONE ? 2 : resource->device;
    if (!on_device(op) || naive_device(view, &drawn.ops[op]) != device)
        return false;
    if (resource->kind == HAUL_RESOURCE_STAGING)
        return naive_is_of_host(&drawn.ops[op], HAUL_MEMORY_PAGEABLE);
    return naive_server(view, &drawn.ops[op]) % HAUL_RESOURCES == resource->kind;
}

/* At most so many intervals of one resource at once, whose union is its busy time. */
static void check_resource(const haul_timeline *timeline, const haul_resource *resource,
                           const haul_timeline_options *options)
{
    const naive view = {.w = &drawn.workload, .o = options};
    const int64_t end_ns = timeline->start_ns + timeline->makespan_ns;
    const unsigned most = naive_capacity(&view, resource->kind);
    int64_t busy_ns = 0;
    for (int64_t t = timeline->start_ns; t < end_ns; t++) {
        unsigned running = 0;
        for (uint32_t i = 0; i < timeline->op_count; i++)
            running += timeline->ops[i].start_ns <= t && t < timeline->ops[i].end_ns &&
                       holds(&view, i, resource);
        assert_true(running <= most);
        busy_ns += running > 0;
    }
    assert_true(busy_ns == resource->busy_ns ||
                (resource->kind == HAUL_RESOURCE_STAGING && busy_ns < resource->busy_ns));
    assert_int_equal(resource->busy_ns + resource->idle_ns, timeline->makespan_ns);
    assert_true(resource->idle_ns >= 0);
}

/* An operation starts at the very instant at which what it waited for last ended, or started, or,
 * with implicit synchronisation, had all of its blocks started; or after the gap. */
static void check_causes(const haul_timeline *timeline, const haul_timeline_options *options)
{
    for (uint32_t i = 0; i < timeline->op_count; i++) {
        const uint32_t cause = timeline->cause[i];
        if (!on_device(i) || cause == HAUL_NONE)
            continue;
        assert_true(cause < timeline->op_count && cause != i);
        const haul_span before = timeline->ops[cause];
        const int64_t start_ns = timeline->ops[i].start_ns;
        const bool in_waves =
            options->device.implicit_sync && drawn.ops[cause].kind == HAUL_OP_KERNEL;
        const int64_t gap_ns =
            hl_timeline_gap_of(&options->device, &drawn.ops[cause], &drawn.ops[i]);
        assert_true(before.end_ns == start_ns || before.start_ns == start_ns ||
                    before.end_ns + gap_ns == start_ns ||
                    (in_waves && before.start_ns < start_ns && start_ns < before.end_ns));
    }
}

static void check_critical(const haul_timeline *timeline)
{
    assert_true(timeline->critical_ns <= timeline->makespan_ns + timeline->start_ns);
    assert_true(timeline->critical_count > 0 || timeline->op_count == 0);
    if (!timeline->critical_count)
        return;
    const haul_span *last = &timeline->ops[timeline->critical[timeline->critical_count - 1]];
    assert_int_equal(last->end_ns, timeline->start_ns + timeline->makespan_ns);
}

static void laws_hold(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 600; seed++) {
        srand(seed);
        draw_workload(&drawn, 1 + draw(150), draw(3));
        const haul_timeline_options options = draw_options();
        haul_timeline *timeline = run(&drawn.workload, &options);
        check_order(timeline);
        for (size_t r = 0; r < timeline->resource_count; r++)
            check_resource(timeline, &timeline->resources[r], &options);
        check_causes(timeline, &options);
        check_critical(timeline);
        haul_timeline *again = run(&drawn.workload, &options);
        assert_memory_equal(timeline->ops, again->ops, timeline->op_count * sizeof *timeline->ops);
        haul_timeline_free(again);
        haul_timeline_free(timeline);
    }
}

/* `streams` times: a copy in, a kernel, a copy out, called for one kind after another. */
static const haul_workload *pipeline(by_hand *self, unsigned streams, int64_t in_ns,
                                     int64_t kernel_ns, int64_t out_ns)
{
    for (unsigned s = 0; s < streams; s++)
        by_hand_copy(self, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1, 0, in_ns)->stream = s;
    for (unsigned s = 0; s < streams; s++)
        by_hand_add(self, HAUL_OP_KERNEL, 1, kernel_ns)->stream = s;
    for (unsigned s = 0; s < streams; s++)
        by_hand_copy(self, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 1, 2, out_ns)->stream = s;
    return by_hand_finish(self);
}

static int64_t makespan(unsigned streams, int64_t in_ns, int64_t kernel_ns, int64_t out_ns,
                        const haul_timeline_options *options)
{
    by_hand self = {0};
    haul_timeline *timeline = run(pipeline(&self, streams, in_ns, kernel_ns, out_ns), options);
    const int64_t makespan_ns = timeline->makespan_ns;
    haul_timeline_free(timeline);
    by_hand_release(&self);
    return makespan_ns;
}

/* Calls are simulated ahead of their time: an operation that is called as the one before it ends
 * waited for its call all the same, and one called sooner for that one. */
static void a_call_at_the_end_before_is_what_an_operation_waited_for(void **state)
{
    (void)state;
    by_hand self = {0};
    haul_workload_thread thread = {0};
    haul_timeline_options options = plain;
    (void)by_hand_row(&self, &thread, 4, 10, 0);
    self.ops[1].call_ns = 10;
    self.ops[2].call_ns = 19;
    self.ops[3].call_ns = 40;
    for (int by_host = 0; by_host < 2; by_host++) {
        options.release = by_host ? HAUL_RELEASE_HOST : HAUL_RELEASE_RECORDED;
        haul_timeline *timeline = run(&self.workload, &options);
        assert_int_equal(timeline->ops[2].start_ns, 20);
        assert_int_equal(timeline->ops[3].start_ns, 40);
        assert_true(timeline->cause[1] == HAUL_NONE);
        assert_int_equal(timeline->cause[2], 1);
        assert_true(timeline->cause[3] == HAUL_NONE);
        haul_timeline_free(timeline);
    }
    by_hand_release(&self);
}

/* CCGrid 2014, section IV, with four streams: Figures 1 to 3. */
static void pipelines_are_those_of_the_paper(void **state)
{
    (void)state;
    haul_timeline_options options = plain;
    assert_int_equal(makespan(4, 10, 40, 10, &options), 10 + 160 + 10);
    assert_int_equal(makespan(4, 40, 10, 10, &options), 160 + 10 + 10);
    assert_int_equal(makespan(4, 10, 10, 40, &options), 10 + 10 + 160);
    options.device.copy_engines = 1;
    assert_int_equal(makespan(4, 10, 40, 10, &options), 10 + 160 + 10);
    assert_int_equal(makespan(4, 40, 10, 40, &options), 160 + 160);
    options.device.implicit_sync = true;
    /* Nothing comes back before all blocks of the last kernel have started: where nobody knows
     * them, before it has ended. */
    assert_int_equal(makespan(4, 10, 40, 10, &options), 10 + 160 + 4 * 10);
    assert_int_equal(makespan(4, 10, 40, 40, &options), 10 + 160 + 4 * 40);
    assert_int_equal(makespan(4, 40, 10, 40, &options), 160 + 10 + 160);
}

static void copies_slow_each_other(void **state)
{
    (void)state;
    by_hand self = {0};
    by_hand_copy(&self, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1, 0, 100)->stream = 0;
    by_hand_copy(&self, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 1, 0, 50)->stream = 1;
    haul_timeline_options options = plain;
    options.device.busy_speed[HAUL_DIRECTION_HTOD] = 0.5;
    options.device.busy_speed[HAUL_DIRECTION_DTOH] = 0.25;
    haul_timeline *timeline = run(by_hand_finish(&self), &options);
    /* Both until the first has done all its 100 at half speed, at 200; the other has 50 * 1 left to
     * do less 200 * 0.25. */
    assert_int_equal(timeline->ops[0].end_ns, 200);
    assert_int_equal(timeline->ops[1].end_ns, 200);
    haul_timeline_free(timeline);
    options.device.busy_speed[HAUL_DIRECTION_HTOD] = 0.8;
    timeline = run(&self.workload, &options);
    assert_int_equal(timeline->ops[0].end_ns, 125);
    assert_int_equal(timeline->ops[1].end_ns, 125 + 50 - 31);
    haul_timeline_free(timeline);
    by_hand_release(&self);
}

static void chained_copies_save_their_latency(void **state)
{
    (void)state;
    haul_timeline_options options = plain;
    options.device.chained_ns[HAUL_DIRECTION_HTOD] = 3;
    assert_int_equal(makespan(4, 10, 1, 1, &options), 10 + 3 * 7 + 1 + 1);
    /* Copies back come out at 11, 18, 25 and 32, each finds the engine idle. */
    options.device.chained_ns[HAUL_DIRECTION_DTOH] = 1;
    assert_int_equal(makespan(4, 10, 1, 2, &options), 10 + 3 * 7 + 1 + 2);
    options.device.chained_ns[HAUL_DIRECTION_HTOD] = 0;
    assert_int_equal(makespan(4, 1, 1, 10, &options), 1 + 1 + 10 + 3 * 9);
}

/* A thread that launches at 5 each, waits, and launches again. */
static void threads_launch_and_wait(void **state)
{
    (void)state;
    by_hand self = {0};
    haul_workload_thread thread = {0};
    static const int64_t calls_ns[] = {0, 5, 10, 25};
    for (int i = 0; i < 4; i++) {
        haul_op *op = by_hand_add(&self, i == 2 ? HAUL_OP_SYNC : HAUL_OP_KERNEL, calls_ns[i], 5);
        op->thread = 0;
        op->thread_prev = i ? (uint32_t)i - 1 : HAUL_NONE;
        op->call_ns = calls_ns[i];
        op->call_dur_ns = 5;
        op->flags = HAUL_OP_HAS_CALL;
    }
    by_hand_finish(&self);
    const haul_edge edge = {1, 2};
    const int64_t durations_ns[] = {100, 100, 0, 100};
    self.workload.threads = &thread;
    self.workload.thread_count = 1;
    self.workload.edges = &edge;
    self.workload.edge_count = 1;
    haul_timeline_options options = plain;
    options.durations_ns = durations_ns;
    haul_timeline *timeline = run(&self.workload, &options);
    /* The wait went on for 5 after the end of what it waited for; then 10 passed to the call. */
    assert_int_equal(timeline->ops[1].end_ns, 200);
    assert_int_equal(timeline->ops[2].start_ns, 10);
    assert_int_equal(timeline->ops[2].end_ns, 205);
    assert_int_equal(timeline->ops[3].start_ns, 215);
    assert_int_equal(timeline->critical_count, 4);
    assert_int_equal(timeline->critical_ns, 305);
    assert_int_equal(timeline->makespan_ns, 315);
    haul_timeline_free(timeline);
    options.release = HAUL_RELEASE_RECORDED;
    timeline = run(&self.workload, &options);
    assert_int_equal(timeline->ops[3].start_ns, 205);
    haul_timeline_free(timeline);
    by_hand_release(&self);
}

/* A call that blocks returns when the copy has ended; one that does not, at once. */
static void blocking_calls_return_late(void **state)
{
    (void)state;
    for (int blocks = 0; blocks < 2; blocks++) {
        by_hand self = {0};
        haul_workload_thread thread = {0};
        for (int64_t i = 0; i < 2; i++) {
            haul_op *op =
                by_hand_copy(&self, (haul_direction)i, HAUL_MEMORY_PAGEABLE, 1, 10 * i, 5);
            op->stream = (uint32_t)i;
            op->thread = 0;
            op->thread_prev = i ? 0 : HAUL_NONE;
            op->call_ns = 10 * i;
            op->call_dur_ns = 8;
            op->flags = (uint8_t)(HAUL_OP_HAS_CALL | (blocks ? HAUL_OP_BLOCKS : 0));
        }
        by_hand_finish(&self);
        const int64_t durations_ns[] = {50, 50};
        self.workload.threads = &thread;
        self.workload.thread_count = 1;
        haul_timeline_options options = plain;
        options.durations_ns = durations_ns;
        options.device.issue_ns[HAUL_OP_COPY] = 1;
        haul_timeline *timeline = run(&self.workload, &options);
        assert_int_equal(timeline->ops[1].start_ns, blocks ? 1 + 50 + 3 + 2 + 1 : 11);
        haul_timeline_free(timeline);
        by_hand_release(&self);
    }
}

static void check_error(const haul_workload *workload, const haul_timeline_options *options,
                        haul_status expected, const char *text)
{
    haul_timeline *timeline = NULL;
    haul_error error = {0};
    assert_int_equal(haul_timeline_run(workload, options, &timeline, &error), expected);
    assert_null(timeline);
    assert_string_equal(error.text, text);
}

typedef void (*spoiler)(by_hand *self);

static void spoil_stream(by_hand *self)
{
    self->ops[1].stream = 99;
}
static void spoil_thread(by_hand *self)
{
    self->ops[2].thread = 1;
}
static void spoil_duration(by_hand *self)
{
    self->ops[0].dur_ns = -1;
}
static void spoil_start(by_hand *self)
{
    self->ops[0].start_ns = INT64_MIN;
}
static void spoil_kind(by_hand *self)
{
    self->ops[0].kind = 77;
}
static void spoil_order(by_hand *self)
{
    static haul_workload_thread thread;
    self->workload.threads = &thread;
    self->workload.thread_count = 1;
    self->ops[0].thread = self->ops[1].thread = 0;
}
static void spoil_edges(by_hand *self)
{
    static const haul_edge edges[] = {{1, 0}};
    self->workload.edges = edges;
    self->workload.edge_count = 1;
}
static void spoil_edge_end(by_hand *self)
{
    static const haul_edge edges[] = {{1, 30}};
    self->workload.edges = edges;
    self->workload.edge_count = 1;
}
static void spoil_self(by_hand *self)
{
    static const haul_edge edges[] = {{1, 1}};
    self->workload.edges = edges;
    self->workload.edge_count = 1;
}
static void spoil_sum(by_hand *self)
{
    for (int i = 0; i < 3; i++)
        self->ops[i].dur_ns = INT64_C(1) << 61;
}

static void bad_input_is_named(void **state)
{
    (void)state;
    static const struct {
        spoiler spoil;
        const char *text;
    } cases[] = {
        {spoil_stream, "operation 1, a kernel, is on a stream that does not exist"},
        {spoil_thread, "operation 2, a copy, is of a thread that does not exist"},
        {spoil_duration, "operation 0, a copy, has a duration that is negative or beyond 2^61 ns"},
        {spoil_start, "operation 0, a copy, has a time beyond 2^61 ns"},
        {spoil_kind, "operation 0, unknown, is of no kind"},
        {spoil_order, "operation 1, a kernel, is the second first of its thread"},
        {spoil_edges, "operation 0 waits, through its dependencies, its stream and its thread, "
                      "for operation 1, which waits for it: a cycle"},
        {spoil_edge_end, "edge 0 joins operations 1 and 30 of 3"},
        {spoil_self, "operation 1, a kernel, waits for itself"},
        {spoil_sum, "operation 2, a copy, takes the timeline beyond 2^62 ns"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        by_hand self = {0};
        pipeline(&self, 1, 10, 20, 30);
        cases[i].spoil(&self);
        check_error(&self.workload, &plain, HAUL_STATUS_BAD_INPUT, cases[i].text);
        by_hand_release(&self);
    }
}

/* Times that are allowed each, and whose sum is beyond any integer. */
static void a_call_that_returns_too_late_is_named(void **state)
{
    (void)state;
    const int64_t far_ns = INT64_C(1) << 61;
    haul_timeline_options host = plain;
    host.release = HAUL_RELEASE_HOST;
    by_hand self = {0};
    static haul_workload_thread thread;
    pipeline(&self, 1, 0, 20, 30);
    self.workload.threads = &thread;
    self.workload.thread_count = 1;
    self.ops[0].thread = self.ops[1].thread = 0;
    self.ops[0].flags = HAUL_OP_BLOCKS;
    self.ops[0].start_ns = self.ops[2].start_ns = -far_ns;
    self.ops[0].call_ns = self.ops[0].call_dur_ns = far_ns;
    self.ops[1].thread_prev = 0;
    check_error(&self.workload, &host, HAUL_STATUS_BAD_INPUT,
                "operation 1, a kernel, takes the timeline beyond 2^62 ns");
    host.device.issue_on_return[HAUL_OP_COPY] = true;
    host.device.issue_ns[HAUL_OP_COPY] = far_ns;
    self.ops[0].flags = 0;
    check_error(&self.workload, &host, HAUL_STATUS_BAD_INPUT,
                "operation 0, a copy, takes the timeline beyond 2^62 ns");
    by_hand_release(&self);
}

static void calls_in_a_circle_are_named(void **state)
{
    (void)state;
    by_hand self = {0};
    static haul_workload_thread thread;
    pipeline(&self, 1, 10, 20, 30);
    self.workload.threads = &thread;
    self.workload.thread_count = 1;
    self.ops[1].thread = self.ops[2].thread = 0;
    self.ops[1].thread_prev = 2;
    self.ops[2].thread_prev = 1;
    check_error(&self.workload, &plain, HAUL_STATUS_BAD_INPUT,
                "operation 1, a kernel, is never called: the calls before it on its thread form a "
                "cycle");
    by_hand_release(&self);
}

static int compare_edges(const void *a, const void *b)
{
    const haul_edge *x = a, *y = b;
    return (x->after > y->after) - (x->after < y->after);
}

/* Edges between any two operations: mostly cycles. */
static void cycles_end_in_an_error(void **state)
{
    (void)state;
    unsigned cycles = 0;
    for (unsigned seed = 0; seed < 1000; seed++) {
        srand(seed);
        draw_workload(&drawn, 2 + draw(60), 0);
        const uint32_t count = (uint32_t)drawn.workload.op_count;
        for (uint32_t e = 0; e < 3; e++)
            drawn.edges[e] = (haul_edge){draw(count), draw(count)};
        qsort(drawn.edges, 3, sizeof *drawn.edges, compare_edges);
        drawn.workload.edge_count = 3;
        const haul_timeline_options options = draw_options();
        haul_timeline *timeline = NULL;
        haul_error error = {0};
        const haul_status status = haul_timeline_run(&drawn.workload, &options, &timeline, &error);
        assert_true(status == HAUL_OK || status == HAUL_STATUS_BAD_INPUT);
        assert_true(status == HAUL_OK || strstr(error.text, "operation") != NULL);
        cycles += status == HAUL_STATUS_BAD_INPUT;
        haul_timeline_free(timeline);
    }
    assert_in_range(cycles, 200, 990);
}

static haul_status negative(void *state, const haul_workload *workload, size_t op, int64_t *dur_ns,
                            haul_error *error)
{
    (void)state, (void)workload, (void)op, (void)error;
    *dur_ns = -5;
    return HAUL_OK;
}

static void absent_resources_are_named(void **state)
{
    (void)state;
    by_hand self = {0};
    pipeline(&self, 1, 10, 20, 30);
    haul_timeline_options options = plain;
    options.device.copy_engines = 0;
    check_error(&self.workload, &options, HAUL_STATUS_ABSENT,
                "operation 0, a copy, needs a copy engine, and the device has none");
    options = plain;
    options.device.kernels = 0;
    check_error(&self.workload, &options, HAUL_STATUS_ABSENT,
                "operation 1, a kernel, needs a device that runs kernels");
    options = plain;
    options.duration = negative;
    check_error(&self.workload, &options, HAUL_STATUS_BAD_INPUT,
                "operation 0, a copy, is given a duration that is negative or beyond 2^61 ns");
    options = plain;
    options.device.busy_speed[1] = 0;
    check_error(&self.workload, &options, HAUL_STATUS_USAGE,
                "a busy speed lies in (0, 1], not at 0");
    by_hand_release(&self);
}

static void nothing_takes_no_time(void **state)
{
    (void)state;
    by_hand self = {0};
    haul_timeline *timeline = run(by_hand_finish(&self), &plain);
    assert_int_equal(timeline->makespan_ns, 0);
    assert_int_equal(timeline->critical_count, 0);
    haul_timeline_free(timeline);
    assert_int_equal(makespan(4, 0, 0, 0, &plain), 0);
    haul_timeline_free(NULL);
    by_hand_release(&self);
}

static void machines_become_devices(void **state)
{
    (void)state;
    haul_machine *machine = NULL;
    haul_error error;
    haul_timeline_device device;
    assert_int_equal(haul_machine_load("k20", &machine, &error), HAUL_OK);
    assert_int_equal(haul_timeline_device_of(machine, &device, &error), HAUL_OK);
    assert_int_equal(device.copy_engines, 2);
    assert_false(device.implicit_sync);
    assert_true(device.busy_speed[0] > 0.5 && device.busy_speed[0] <= 1);
    haul_machine_free(machine);
    assert_int_equal(haul_machine_load("gtx-680", &machine, &error), HAUL_OK);
    assert_int_equal(haul_timeline_device_of(machine, &device, &error), HAUL_OK);
    assert_int_equal(device.copy_engines, 1);
    assert_true(device.implicit_sync);
    haul_machine_free(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_slow_way),
        cmocka_unit_test(laws_hold),
        cmocka_unit_test(pipelines_are_those_of_the_paper),
        cmocka_unit_test(a_call_at_the_end_before_is_what_an_operation_waited_for),
        cmocka_unit_test(copies_slow_each_other),
        cmocka_unit_test(chained_copies_save_their_latency),
        cmocka_unit_test(threads_launch_and_wait),
        cmocka_unit_test(blocking_calls_return_late),
        cmocka_unit_test(bad_input_is_named),
        cmocka_unit_test(a_call_that_returns_too_late_is_named),
        cmocka_unit_test(calls_in_a_circle_are_named),
        cmocka_unit_test(cycles_end_in_an_error),
        cmocka_unit_test(absent_resources_are_named),
        cmocka_unit_test(nothing_takes_no_time),
        cmocka_unit_test(machines_become_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
