/* Resources of a device beside engines and room, each in a small case whose answer is known. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "by_hand.h"
#include "haul/timeline.h"
#include "timeline/recorded_waits.h"

static const haul_timeline_options plain = {
    .device = {.copy_engines = 2, .kernels = 8, .busy_speed = {1, 1}}};

static haul_timeline *run(const by_hand *self, const haul_timeline_options *options)
{
    haul_timeline *timeline = NULL;
    haul_error error = {0};
    if (haul_timeline_run(&self->workload, options, &timeline, &error))
        fail_msg("%s", error.text);
    return timeline;
}

static haul_op *add_copy(by_hand *self, uint32_t stream, haul_direction direction,
                         haul_memory memory, int64_t dur_ns)
{
    haul_op *op = by_hand_copy(self, direction, memory, 1, 0, dur_ns);
    op->stream = stream;
    return op;
}

static void add_kernel(by_hand *self, uint32_t stream, uint32_t shape, int64_t dur_ns)
{
    haul_op *op = by_hand_add(self, HAUL_OP_KERNEL, 0, dur_ns);
    op->stream = stream;
    op->shape = shape;
}

static const haul_resource *find(const haul_timeline *timeline, haul_resource_kind kind)
{
    for (size_t r = 0; r < timeline->resource_count; r++)
        if (timeline->resources[r].kind == kind)
            return &timeline->resources[r];
    fail_msg("no %s", haul_resource_text(kind));
    return NULL;
}

/* A thread calls kernels of 100 every 5, four for stream 0 and one for stream 1. */
static void make_launches(by_hand *self, haul_workload_thread *thread)
{
    for (uint32_t i = 0; i < 5; i++) {
        haul_op *op = by_hand_add(self, HAUL_OP_KERNEL, 5 * (int64_t)i, 100);
        op->stream = i == 4;
        op->thread = 0;
        op->thread_prev = i ? i - 1 : HAUL_NONE;
        op->call_ns = 5 * (int64_t)i;
        op->call_dur_ns = 5;
        op->flags = HAUL_OP_HAS_CALL;
    }
    by_hand_finish(self);
    self->workload.threads = thread;
    self->workload.thread_count = 1;
}

static void a_full_queue_holds_up_calls(void **state)
{
    (void)state;
    by_hand self = {0};
    haul_workload_thread thread = {0};
    make_launches(&self, &thread);
    haul_timeline_options options = plain;
    options.device.queue_depth = 2;
    haul_timeline *timeline = run(&self, &options);
    /* The third is called when the first has ended, at 100, the fourth at 200, the fifth, of
     * another stream, 5 later; what it waited for is the second, for whose end the fourth's call
     * waited. */
    assert_int_equal(timeline->ops[2].start_ns, 200);
    assert_int_equal(timeline->ops[3].start_ns, 300);
    assert_int_equal(timeline->ops[4].start_ns, 205);
    assert_int_equal(timeline->makespan_ns, 400);
    haul_timeline_free(timeline);
    self.ops[4].dur_ns = 1000;
    timeline = run(&self, &options);
    assert_int_equal(timeline->critical_count, 3);
    assert_int_equal(timeline->critical[0], 0);
    assert_int_equal(timeline->critical[1], 1);
    assert_int_equal(timeline->critical[2], 4);
    assert_int_equal(timeline->critical_ns, 1200);
    haul_timeline_free(timeline);
    options.release = HAUL_RELEASE_RECORDED;
    timeline = run(&self, &options);
    assert_int_equal(timeline->ops[4].start_ns, 20);
    haul_timeline_free(timeline);
    by_hand_release(&self);
}

static void kernels_in_a_row_have_a_gap(void **state)
{
    (void)state;
    by_hand self = {0};
    haul_workload_thread thread = {0};
    make_launches(&self, &thread);
    haul_timeline_options options = plain;
    options.device.kernel_gap_ns = 7;
    haul_timeline *timeline = run(&self, &options);
    for (int i = 0; i < 4; i++)
        assert_int_equal(timeline->ops[i].start_ns, 107 * i);
    assert_int_equal(timeline->ops[4].start_ns, 20); /* another stream */
    assert_int_equal(timeline->critical_count, 4);
    haul_timeline_free(timeline);
    self.ops[1].thread = HAUL_NONE; /* of a graph */
    self.ops[2].thread_prev = 0;
    timeline = run(&self, &options);
    assert_int_equal(timeline->ops[1].start_ns, 100);
    assert_int_equal(timeline->ops[2].start_ns, 207);
    haul_timeline_free(timeline);
    options.device.kernel_gap_ns = -1;
    assert_int_equal(haul_timeline_run(&self.workload, &options, &timeline, NULL),
                     HAUL_STATUS_USAGE);
    by_hand_release(&self);
}

/* Memsets and copies within the device have a gap of their own, before them and behind them. */
static void work_in_the_memory_has_a_gap(void **state)
{
    static const int64_t starts_ns[] = {0, 103, 203, 303, 407};
    (void)state;
    by_hand self = {0};
    haul_workload_thread thread = {0};
    by_hand_row(&self, &thread, 5, 100, 0);
    self.ops[1].kind = HAUL_OP_MEMSET;
    self.ops[2].kind = HAUL_OP_COPY; /* over the link: no gap around it */
    self.ops[2].direction = HAUL_DIRECTION_HTOD;
    haul_timeline_options options = plain;
    options.device.memory_gap_ns = 3;
    options.device.kernel_gap_ns = 4;
    haul_timeline *timeline = run(&self, &options);
    for (int i = 0; i < 5; i++)
        assert_int_equal(timeline->ops[i].start_ns - timeline->ops[0].start_ns, starts_ns[i]);
    haul_timeline_free(timeline);
    self.ops[2].direction = HAUL_DIRECTION_DTOD;
    timeline = run(&self, &options);
    assert_int_equal(timeline->ops[2].start_ns - timeline->ops[1].end_ns, 3);
    assert_int_equal(timeline->ops[3].start_ns - timeline->ops[2].end_ns, 3);
    haul_timeline_free(timeline);
    options.device.memory_gap_ns = -1;
    assert_int_equal(haul_timeline_run(&self.workload, &options, &timeline, NULL),
                     HAUL_STATUS_USAGE);
    by_hand_release(&self);
}

/* Of a row of kernels, or of kernels and memsets in turn. */
static int64_t gap_of_row(uint32_t count, int64_t gap_ns, bool in_turn)
{
    by_hand self = {0};
    haul_workload_thread thread = {0};
    haul_replay replay;
    by_hand_row(&self, &thread, count, 50000, gap_ns);
    for (uint32_t i = 1; in_turn && i < count; i += 2)
        self.ops[i].kind = HAUL_OP_MEMSET;
    assert_int_equal(haul_timeline_replay(&self.workload, HAUL_RELEASE_HOST, &replay, NULL),
                     HAUL_OK);
    const int64_t found_ns = in_turn ? replay.device.memory_gap_ns : replay.device.kernel_gap_ns;
    assert_int_equal(in_turn ? replay.device.kernel_gap_ns : replay.device.memory_gap_ns, 0);
    if (found_ns)
        assert_int_equal(replay.replayed_ns, replay.recorded_ns);
    by_hand_release(&self);
    return found_ns;
}

static void a_replay_finds_the_gap(void **state)
{
    (void)state;
    for (int in_turn = 0; in_turn < 2; in_turn++) {
        assert_int_equal(gap_of_row(40, 1500, in_turn), 1500);
        assert_int_equal(gap_of_row(40, -500, in_turn),
                         0); /* some overlap: programmatic launches */
        assert_int_equal(gap_of_row(40, 11000, in_turn), 0);
        assert_int_equal(gap_of_row(20, 1500, in_turn), 0); /* 19 gaps */
    }
}

static void kernels_start_where_a_block_fits(void **state)
{
    (void)state;
    static const haul_shape shapes[] = {
        {.grid = {6, 1, 1}, .block = {512, 1, 1}}, /* 3/4 of two multiprocessors */
        {.grid = {3, 1, 1}, .block = {512, 1, 1}},
        {.grid = {1, 1, 1}, .block = {512, 2, 1}},
        {.grid = {UINT32_MAX, UINT32_MAX, UINT32_MAX}, .block = {UINT32_MAX, UINT32_MAX, 1}},
    };
    by_hand self = {0};
    add_kernel(&self, 0, 0, 100);
    add_kernel(&self, 1, 1, 200);
    add_kernel(&self, 2, 2, 10);
    add_kernel(&self, 3, 3, 10);
    add_kernel(&self, 4, HAUL_NONE, 10);
    add_kernel(&self, 5, 1, 10);
    by_hand_finish(&self);
    self.workload.shapes = shapes;
    self.workload.shape_count = 4;
    haul_timeline_options options = plain;
    options.device.occupancy = (haul_occupancy){.multiprocessors = 2, .threads = 2048};
    haul_timeline *timeline = run(&self, &options);
    /* Two blocks of the second find room at once, so it has started; the third waits until the
     * second has all of its own; the fourth until half of the device is free, for its first block;
     * of the other device's, the one without a shape takes all. */
    assert_int_equal(timeline->ops[1].start_ns, 0);
    assert_int_equal(timeline->ops[2].start_ns, 100);
    assert_int_equal(timeline->ops[3].start_ns, 110);
    assert_int_equal(timeline->ops[4].start_ns, 0);
    assert_int_equal(timeline->ops[5].start_ns, 10);
    haul_timeline_free(timeline);
    options.device.kernels = 1;
    timeline = run(&self, &options);
    assert_int_equal(timeline->ops[1].start_ns, 100);
    haul_timeline_free(timeline);
    by_hand_release(&self);
}

/* 2^40 places, and a grid of 2^96 blocks. */
static void room_has_no_end_to_overflow(void **state)
{
    (void)state;
    static const haul_shape shape = {.grid = {UINT32_MAX, UINT32_MAX, UINT32_MAX},
                                     .block = {1, 1, 1}};
    by_hand self = {0};
    add_kernel(&self, 0, 0, 10);
    add_kernel(&self, 1, 0, 10);
    by_hand_finish(&self);
    self.workload.shapes = &shape;
    self.workload.shape_count = 1;
    haul_timeline_options options = plain;
    options.device.occupancy =
        (haul_occupancy){.multiprocessors = UINT32_MAX, .threads = UINT32_MAX};
    haul_timeline *timeline = run(&self, &options);
    assert_int_equal(timeline->ops[1].start_ns, 10);
    haul_timeline_free(timeline);
    by_hand_release(&self);
}

static void each_limit_of_a_multiprocessor_counts(void **state)
{
    (void)state;
    static const haul_shape shape = {
        .grid = {2, 1, 1}, .block = {64, 1, 1}, .registers_per_thread = 32, .shared_bytes = 1024};
    static const haul_occupancy rooms[] = {
        {.multiprocessors = 1, .blocks = 3},
        {.multiprocessors = 1, .threads = 3 * 64},
        {.multiprocessors = 1, .registers = 3 * 64 * 32},
        {.multiprocessors = 1, .shared_bytes = 3 * 1024},
        {.multiprocessors = 3, .shared_bytes = 1},
    };
    by_hand self = {0};
    for (uint32_t s = 0; s < 3; s++)
        add_kernel(&self, s, 0, 10);
    by_hand_finish(&self);
    self.workload.shapes = &shape;
    self.workload.shape_count = 1;
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        haul_timeline_options options = plain;
        options.device.occupancy = rooms[i];
        haul_timeline *timeline = run(&self, &options);
        assert_int_equal(timeline->ops[1].start_ns, 0);
        assert_int_equal(timeline->ops[2].start_ns, 10);
        haul_timeline_free(timeline);
    }
    by_hand_release(&self);
}

/* Two devices under one switch; the third copy is of the second device too, the other way. */
static void devices_share_a_link(void **state)
{
    (void)state;
    by_hand self = {0};
    add_copy(&self, 0, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 100);
    add_copy(&self, 4, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 50);
    add_copy(&self, 5, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 100);
    by_hand_finish(&self);
    haul_timeline_options options = plain;
    haul_timeline *timeline = run(&self, &options);
    assert_int_equal(timeline->ops[0].end_ns, 100);
    haul_timeline_free(timeline);
    options.device.link_devices = 2;
    timeline = run(&self, &options);
    assert_int_equal(timeline->ops[1].end_ns, 100);
    assert_int_equal(timeline->ops[0].end_ns, 150);
    assert_int_equal(timeline->ops[2].end_ns, 100);
    haul_timeline_free(timeline);
    options.device.link_copies = 1.25; /* five eighths of the speed for each of two */
    options.device.busy_speed[HAUL_DIRECTION_HTOD] = 0.5;
    timeline = run(&self, &options);
    assert_int_equal(timeline->ops[1].end_ns, 100); /* its own speed is less than its share */
    assert_int_equal(timeline->ops[0].end_ns, 100 + 38);
    haul_timeline_free(timeline);
    by_hand_release(&self);
}

static void pageable_copies_exclude_each_other(void **state)
{
    (void)state;
    by_hand self = {0};
    add_copy(&self, 0, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 30);
    add_copy(&self, 1, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 100);
    add_copy(&self, 2, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE, 100);
    add_copy(&self, 3, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 10);
    add_copy(&self, 4, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 10);
    by_hand_finish(&self);
    haul_timeline_options options = plain;
    haul_timeline *timeline = run(&self, &options);
    assert_int_equal(timeline->makespan_ns, 130);
    haul_timeline_free(timeline);
    options.device.staging = true;
    timeline = run(&self, &options);
    assert_int_equal(timeline->ops[1].start_ns, 30);
    assert_int_equal(timeline->ops[2].start_ns, 130);
    assert_int_equal(timeline->ops[3].start_ns, 0);
    assert_int_equal(timeline->ops[4].start_ns, 0); /* another device's buffer */
    assert_int_equal(timeline->cause[2], 1);
    const haul_resource *staging = find(timeline, HAUL_RESOURCE_STAGING);
    assert_int_equal(staging->ops, 2);
    assert_int_equal(staging->busy_ns, 230);
    assert_int_equal(staging->idle_ns, 0);
    haul_timeline_free(timeline);
    by_hand_release(&self);
}

static void migrations_pass_by_the_engines(void **state)
{
    (void)state;
    by_hand self = {0};
    add_copy(&self, 0, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 100);
    add_copy(&self, 1, HAUL_DIRECTION_HTOD, HAUL_MEMORY_MANAGED, 50);
    add_copy(&self, 2, HAUL_DIRECTION_HTOD, HAUL_MEMORY_MANAGED, 50);
    by_hand_finish(&self);
    haul_timeline_options options = plain;
    haul_timeline *timeline = run(&self, &options);
    assert_int_equal(timeline->ops[1].start_ns, 100);
    haul_timeline_free(timeline);
    options.device.migrations = 1;
    timeline = run(&self, &options);
    /* Half of the link for each until the first migration ends, then for the second. */
    assert_int_equal(timeline->ops[1].end_ns, 100);
    assert_int_equal(timeline->ops[2].start_ns, 100);
    assert_int_equal(timeline->ops[2].end_ns, 200);
    assert_int_equal(timeline->ops[0].end_ns, 200);
    assert_int_equal(find(timeline, HAUL_RESOURCE_MIGRATION)->busy_ns, 200);
    haul_timeline_free(timeline);
    by_hand_release(&self);
}

/* A kernel, a copy before it that holds the device up, and a migration for the kernel. */
static void migrations_answer_faults(void **state)
{
    (void)state;
    by_hand self = {0};
    add_copy(&self, 0, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 30);
    add_kernel(&self, 0, HAUL_NONE, 50);
    add_copy(&self, 1, HAUL_DIRECTION_HTOD, HAUL_MEMORY_MANAGED, 10);
    add_kernel(&self, 2, HAUL_NONE, 50);
    by_hand_finish(&self);
    haul_timeline_options options = plain;
    options.device.migrations = 1;
    haul_timeline *timeline = run(&self, &options);
    assert_int_equal(timeline->ops[1].start_ns, 30);
    assert_int_equal(timeline->ops[2].start_ns, 30);
    assert_int_equal(timeline->cause[2], 1);
    haul_timeline_free(timeline);
    by_hand_release(&self);
}

/* Kernel, copy back, kernel, copy back, on two streams of a device that runs kernels together. */
static void checks_hold_up_later_kernels(void **state)
{
    (void)state;
    by_hand self = {0};
    for (uint32_t s = 0; s < 2; s++) {
        add_kernel(&self, s, HAUL_NONE, 100);
        add_copy(&self, s, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 10);
    }
    by_hand_finish(&self);
    haul_timeline_options options = plain;
    haul_timeline *timeline = run(&self, &options);
    assert_int_equal(timeline->ops[2].start_ns, 0);
    haul_timeline_free(timeline);
    options.device.implicit_sync = true;
    timeline = run(&self, &options);
    assert_int_equal(timeline->ops[1].start_ns, 100);
    assert_int_equal(timeline->ops[2].start_ns, 100);
    assert_int_equal(timeline->cause[2], 0);
    haul_timeline_free(timeline);
    by_hand_release(&self);
}

/* Each of many devices runs its own stream: nobody looks at what the others do. */
static void devices_do_not_look_at_each_other(void **state)
{
    (void)state;
    enum { DEVICES = 20000, OPS = 3 * DEVICES };
    haul_op *ops = calloc(OPS, sizeof *ops);
    haul_workload_stream *streams = calloc(DEVICES, sizeof *streams);
    haul_workload_device *devices = calloc(DEVICES, sizeof *devices);
    assert_true(ops && streams && devices);
    for (uint32_t i = 0; i < OPS; i++) {
        ops[i] = (haul_op){.kind = i / DEVICES == 1 ? HAUL_OP_KERNEL : HAUL_OP_COPY,
                           .direction = i < DEVICES ? HAUL_DIRECTION_HTOD : HAUL_DIRECTION_DTOH,
                           .dur_ns = 100 + i % 1000,
                           .name = HAUL_NONE,
                           .stream = i % DEVICES,
                           .thread = HAUL_NONE,
                           .stream_prev = HAUL_NONE,
                           .thread_prev = HAUL_NONE};
        streams[i % DEVICES].device = i % DEVICES;
    }
    by_hand self = {.workload = {.ops = ops,
                                 .op_count = OPS,
                                 .streams = streams,
                                 .stream_count = DEVICES,
                                 .devices = devices,
                                 .device_count = DEVICES}};
    haul_timeline_options options = plain;
    options.device.implicit_sync = true;
    options.device.migrations = 1;
    haul_timeline *timeline = run(&self, &options);
    assert_int_equal(timeline->makespan_ns, 3 * (100 + 999));
    haul_timeline_free(timeline);
    free(devices);
    free(streams);
    free(ops);
}

/* The first waits for the last, whose call waits until the first has left the queue. */
static void queues_that_never_empty_are_cycles(void **state)
{
    (void)state;
    by_hand self = {0};
    haul_workload_thread thread = {0};
    static const haul_edge edge = {4, 0};
    make_launches(&self, &thread);
    self.workload.edges = &edge;
    self.workload.edge_count = 1;
    haul_timeline_options options = plain;
    haul_timeline *timeline = run(&self, &options);
    haul_timeline_free(timeline);
    options.device.queue_depth = 2;
    haul_error error = {0};
    timeline = NULL;
    assert_int_equal(haul_timeline_run(&self.workload, &options, &timeline, &error),
                     HAUL_STATUS_BAD_INPUT);
    assert_null(timeline);
    assert_string_equal(error.text,
                        "operation 0 waits, through its dependencies, its stream and its thread, "
                        "for operation 4, which waits for it: a cycle");
    by_hand_release(&self);
}

static void more_engines_take_more_peer_copies(void **state)
{
    (void)state;
    by_hand self = {0};
    for (uint32_t s = 0; s < 3; s++)
        add_copy(&self, s, HAUL_DIRECTION_PTOP, HAUL_MEMORY_DEVICE, 10);
    by_hand_finish(&self);
    for (unsigned engines = 1; engines <= 5; engines++) {
        haul_timeline_options options = plain;
        options.device.copy_engines = engines;
        haul_timeline *timeline = run(&self, &options);
        assert_int_equal(timeline->makespan_ns, engines == 5 ? 10 : engines == 4 ? 20 : 30);
        haul_timeline_free(timeline);
    }
    by_hand_release(&self);
}

static void links_that_carry_nothing_are_refused(void **state)
{
    (void)state;
    by_hand self = {0};
    by_hand_finish(&self);
    static const double wrong[] = {-1, (double)NAN};
    for (int i = 0; i < 2; i++) {
        haul_timeline_options options = plain;
        options.device.link_copies = wrong[i];
        haul_timeline *timeline = NULL;
        haul_error error = {0};
        assert_int_equal(haul_timeline_run(&self.workload, &options, &timeline, &error),
                         HAUL_STATUS_USAGE);
        assert_null(timeline);
    }
    by_hand_release(&self);
}

static haul_timeline_device device_of(const char *name)
{
    haul_machine *machine = NULL;
    haul_error error = {0};
    haul_timeline_device device = {0};
    if (haul_machine_load(name, &machine, &error) ||
        haul_timeline_device_of(machine, &device, &error))
        fail_msg("%s", error.text);
    haul_machine_free(machine);
    return device;
}

static void machines_have_the_room_of_their_architecture(void **state)
{
    (void)state;
    const haul_timeline_device a100 = device_of("a100-pcie4"), rtx = device_of("rtx-3080"),
                               mi300x = device_of("mi300x");
    assert_int_equal(a100.kernels, 128);
    assert_int_equal(a100.occupancy.multiprocessors, 108);
    assert_int_equal(a100.occupancy.threads, 2048);
    assert_int_equal(a100.occupancy.shared_bytes, 164 * 1024);
    assert_int_equal(a100.queue_depth, 1022);
    assert_int_equal(rtx.occupancy.threads, 1536);
    assert_int_equal(rtx.occupancy.blocks, 16);
    assert_int_equal(mi300x.kernels, 1);
    assert_int_equal(mi300x.occupancy.multiprocessors, 0);
    assert_int_equal(mi300x.queue_depth, 0);
    assert_false(a100.staging || a100.migrations || a100.link_devices);
}

static haul_timeline_device device_with(const char *gpu)
{
    char yaml[400];
    haul_machine *machine = NULL;
    haul_error error = {0};
    haul_timeline_device device = {0};
    const int length = snprintf(yaml, sizeof yaml,
                                "haul: 1\nname: two\nsummary: a test\nfrom: datasheet\n"
                                "gpu: {copy_engines: 2, %s}\n"
                                "link: {kind: pcie, generation: 3, lanes: 16}\n",
                                gpu);
    if (haul_machine_parse(yaml, (size_t)length, "two.yaml", &machine, &error) ||
        haul_timeline_device_of(machine, &device, &error))
        fail_msg("%s", error.text);
    haul_machine_free(machine);
    return device;
}

static void machines_say_who_shares_a_link(void **state)
{
    (void)state;
    assert_int_equal(device_with("count: 4, per_link: 2").link_devices, 2);
}

/* Rows of an architecture differ by the cores of a multiprocessor: not the queue's depth. */
static void an_architecture_without_cores_has_its_queue(void **state)
{
    (void)state;
    const haul_timeline_device kepler = device_with("architecture: kepler, multiprocessors: 13");
    const haul_timeline_device ampere = device_with("architecture: ampere, multiprocessors: 108");
    assert_int_equal(kepler.queue_depth, 1022);
    assert_int_equal(kepler.occupancy.multiprocessors, 13);
    assert_int_equal(ampere.queue_depth, 1022);
    assert_int_equal(ampere.occupancy.threads, 1536); /* the least of the architecture */
    assert_int_equal(device_with("architecture: cdna3").queue_depth, 0);
    assert_int_equal(device_with("count: 1").queue_depth, 0);
}

/* All called at once: what the recording had in flight no queue of its machine held back. */
static void a_queue_is_as_deep_as_it_was_seen(void **state)
{
    (void)state;
    enum { KERNELS = 3000, KERNEL_NS = 1000 };
    by_hand self = {0};
    haul_workload_thread thread = {0};
    for (uint32_t i = 0; i < KERNELS; i++) {
        haul_op *op =
            by_hand_add(&self, HAUL_OP_KERNEL, KERNELS + (int64_t)i * KERNEL_NS, KERNEL_NS);
        op->shape = HAUL_NONE;
        op->thread = 0;
        op->thread_prev = i ? i - 1 : HAUL_NONE;
        op->call_ns = i;
        op->call_dur_ns = 1;
        op->flags = HAUL_OP_HAS_CALL;
    }
    by_hand_finish(&self);
    self.workload.threads = &thread;
    self.workload.thread_count = 1;
    for (int d = 0; d < 2; d++) {
        self.devices[d].compute_major = 7;
        self.devices[d].multiprocessors = 80;
    }
    haul_replay replay;
    assert_int_equal(haul_timeline_replay(&self.workload, HAUL_RELEASE_HOST, &replay, NULL),
                     HAUL_OK);
    /* the first three end while the others are being called */
    assert_in_range(replay.device.queue_depth, KERNELS - 3, KERNELS);
    assert_true(fabs(replay.error) < 0.1);
    by_hand_release(&self);
}

/* Kernels of 1000, called 1 apart until 1100 are in flight; then each call waits for the end of
 * one, and returns 5 later. */
static void make_held(by_hand *self, haul_workload_thread *thread)
{
    enum { KERNELS = 3000, ROOM = 1100, START = 10000, KERNEL_NS = 1000 };
    int64_t now_ns = 0;
    for (uint32_t i = 0; i < KERNELS; i++) {
        haul_op *op = by_hand_add(self, HAUL_OP_KERNEL, START + (int64_t)i * KERNEL_NS, KERNEL_NS);
        const int64_t end_ns = START + ((int64_t)i - ROOM + 1) * KERNEL_NS;
        const int64_t returned_ns = i < ROOM || end_ns < now_ns ? now_ns + 1 : end_ns + 5;
        op->shape = HAUL_NONE;
        op->thread = 0;
        op->thread_prev = i ? i - 1 : HAUL_NONE;
        op->call_ns = now_ns;
        op->call_dur_ns = returned_ns - now_ns;
        op->flags = HAUL_OP_HAS_CALL;
        now_ns = returned_ns;
    }
    by_hand_finish(self);
    self->workload.threads = thread;
    self->workload.thread_count = 1;
}

static void calls_wait_for_room_no_longer_than_the_device_makes_them(void **state)
{
    (void)state;
    by_hand self = {0};
    haul_workload_thread thread = {0};
    make_held(&self, &thread);
    haul_replay replay;
    hl_timeline_recorded_waits found;
    assert_int_equal(haul_timeline_replay(&self.workload, HAUL_RELEASE_HOST, &replay, NULL),
                     HAUL_OK);
    assert_true(fabs(replay.error) < 0.1);
    assert_in_range(replay.device.queue_depth, 1090, 1101);
    assert_int_equal(hl_timeline_recorded_waits_find(&self.workload, &found, NULL), HAUL_OK);
    assert_non_null(found.call_durations_ns);
    assert_int_equal(found.call_durations_ns[0], 1);
    assert_int_equal(found.call_durations_ns[2000], 5);
    int64_t *half_ns = calloc(self.workload.op_count, sizeof *half_ns);
    assert_non_null(half_ns);
    for (size_t i = 0; i < self.workload.op_count; i++)
        half_ns[i] = self.workload.ops[i].dur_ns / 2;
    const haul_timeline_options options = {.device = replay.device,
                                           .release = HAUL_RELEASE_HOST,
                                           .durations_ns = half_ns,
                                           .call_durations_ns = found.call_durations_ns};
    haul_timeline *timeline = run(&self, &options);
    CHECK_NEAR((double)timeline->makespan_ns, 0.5 * (double)replay.replayed_ns, 1e-3);
    haul_timeline_free(timeline);
    free(half_ns);
    free(found.call_durations_ns);
    by_hand_release(&self);
}

/* The second on the stream is called by another thread, when the first thread has called those
 * behind it: they take no room from it, and that thread's next call is not put off. */
static void who_is_late_finds_room(void **state)
{
    (void)state;
    by_hand self = {0};
    haul_workload_thread threads[2] = {{0}};
    for (uint32_t i = 0; i < 6; i++) {
        const bool is_late = i == 1 || i == 5;
        haul_op *op = by_hand_add(&self, HAUL_OP_KERNEL, 100 * (int64_t)i, 100);
        op->stream = i == 5;
        op->shape = HAUL_NONE;
        op->thread = is_late;
        op->thread_prev = i < 2 ? HAUL_NONE : i == 2 ? 0 : i == 5 ? 1 : i - 1;
        op->call_ns = is_late ? 50 + (int64_t)i : (int64_t)i;
        op->call_dur_ns = 1;
        op->flags = HAUL_OP_HAS_CALL;
    }
    by_hand_finish(&self);
    self.workload.threads = threads;
    self.workload.thread_count = 2;
    haul_timeline_options options = plain;
    options.device.queue_depth = 3;
    haul_timeline *timeline = run(&self, &options);
    assert_int_equal(timeline->ops[5].start_ns, 55);
    assert_int_equal(timeline->ops[4].start_ns, 400);
    haul_timeline_free(timeline);
    by_hand_release(&self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_queue_holds_up_calls),
        cmocka_unit_test(kernels_in_a_row_have_a_gap),
        cmocka_unit_test(work_in_the_memory_has_a_gap),
        cmocka_unit_test(a_replay_finds_the_gap),
        cmocka_unit_test(kernels_start_where_a_block_fits),
        cmocka_unit_test(room_has_no_end_to_overflow),
        cmocka_unit_test(each_limit_of_a_multiprocessor_counts),
        cmocka_unit_test(devices_share_a_link),
        cmocka_unit_test(pageable_copies_exclude_each_other),
        cmocka_unit_test(migrations_pass_by_the_engines),
        cmocka_unit_test(migrations_answer_faults),
        cmocka_unit_test(checks_hold_up_later_kernels),
        cmocka_unit_test(devices_do_not_look_at_each_other),
        cmocka_unit_test(queues_that_never_empty_are_cycles),
        cmocka_unit_test(more_engines_take_more_peer_copies),
        cmocka_unit_test(links_that_carry_nothing_are_refused),
        cmocka_unit_test(machines_say_who_shares_a_link),
        cmocka_unit_test(an_architecture_without_cores_has_its_queue),
        cmocka_unit_test(machines_have_the_room_of_their_architecture),
        cmocka_unit_test(a_queue_is_as_deep_as_it_was_seen),
        cmocka_unit_test(calls_wait_for_room_no_longer_than_the_device_makes_them),
        cmocka_unit_test(who_is_late_finds_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
