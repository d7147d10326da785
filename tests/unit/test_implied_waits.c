/* Waits that a profile shows in its times alone. */
#include "check.h"

#include "trace/trace_builder.h"

/* A program made by hand: one context, the default stream 0 and another, one thread. */
typedef struct program {
    hl_trace_builder builder;
    hl_trace_host_call calls[8];
    size_t call_count;
    uint32_t streams[2];
    uint32_t thread;
} program;

static void begin(program *self)
{
    *self = (program){.call_count = 0};
    hl_trace_init(&self->builder);
    const haul_workload_thread thread = {.id = 1};
    self->thread = hl_workload_builder_thread(&self->builder.built, &thread);
    for (unsigned s = 0; s < 2; s++) {
        const haul_workload_stream stream = {
            .device = hl_trace_device(&self->builder, 0, 0), .id = s, .is_default = !s};
        self->streams[s] = hl_workload_builder_stream(&self->builder.built, &stream);
    }
}

static void add_call(program *self, const char *name, int64_t start_ns, int64_t dur_ns)
{
    const uint32_t number = hl_trace_text(&self->builder, name, strlen(name));
    self->calls[self->call_count] = (hl_trace_host_call){.start_ns = start_ns,
                                                         .dur_ns = dur_ns,
                                                         .key = 1 + self->call_count,
                                                         .name = number,
                                                         .thread = self->thread};
    self->call_count++;
}

static void add_kernel(program *self, int stream, int64_t called_ns, int64_t start_ns,
                       int64_t dur_ns)
{
    const haul_op op = {.start_ns = start_ns,
                        .dur_ns = dur_ns,
                        .kind = HAUL_OP_KERNEL,
                        .shape = HAUL_NONE,
                        .name = HAUL_NONE,
                        .stream = self->streams[stream],
                        .thread = HAUL_NONE};
    hl_trace_op(&self->builder, &op, 1 + self->call_count);
    add_call(self, "cudaLaunchKernel", called_ns, 5000);
}

static haul_workload *finish(program *self)
{
    haul_workload *workload = NULL;
    for (size_t i = 0; i < self->call_count; i++)
        hl_trace_call(&self->builder, &self->calls[i]);
    assert_int_equal(hl_trace_finish(&self->builder, "made", "made", &workload, NULL), HAUL_OK);
    return workload;
}

static size_t edges_of(program *self)
{
    haul_workload *workload = finish(self);
    const size_t count = workload->edge_count;
    haul_workload_free(workload);
    return count;
}

/* On either stream, as soon as the other's kernel has ended; not where it merely was so, or where
 * the two have run side by side. */
static void the_default_stream_waits(void **state)
{
    (void)state;
    program self;
    for (int on = 0; on < 2; on++) {
        begin(&self);
        add_kernel(&self, !on, 0, 7000, 1000000);
        add_kernel(&self, on, 10000, 1009000, 20000);
        assert_int_equal(edges_of(&self), 1);
        begin(&self);
        add_kernel(&self, !on, 0, 7000, 1000000);
        add_kernel(&self, on, 1100000, 1107000, 20000); /* called later */
        assert_int_equal(edges_of(&self), 0);
        begin(&self);
        add_kernel(&self, !on, 0, 7000, 1000000);
        add_kernel(&self, on, 10000, 1209000, 20000); /* 200 us later, for a reason of its own */
        assert_int_equal(edges_of(&self), 0);
        begin(&self);
        add_kernel(&self, !on, 0, 7000, 1000000);
        add_kernel(&self, on, 10000, 1009000, 200000);
        add_kernel(&self, !on, 1020000, 1030000, 20000); /* beside it */
        assert_int_equal(edges_of(&self), 0);
    }
}

static haul_workload *wait_by(const char *name, int64_t returned_ns)
{
    program self;
    begin(&self);
    add_kernel(&self, 1, 0, 7000, 1000000);
    add_call(&self, name, 10000, returned_ns - 10000);
    return finish(&self);
}

/* Only a call of such a name, which returned as what it waited for ended. */
static void calls_that_synchronise_wait(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t returned_ns;
        haul_sync_kind kind; /* HAUL_SYNC_UNKNOWN: a call */
    } rows[] = {
        {"cudaDeviceSynchronize", 1010000, HAUL_SYNC_CONTEXT},
        {"cuCtxSynchronize", 1010000, HAUL_SYNC_CONTEXT},
        {"cudaStreamSynchronize_v3020", 1010000, HAUL_SYNC_STREAM},
        {"hipEventSynchronize", 1050000, HAUL_SYNC_EVENT},
        {"cudaDeviceSynchronize", 1500000, HAUL_SYNC_UNKNOWN},
        {"cudaDeviceSynchronize", 900000, HAUL_SYNC_UNKNOWN},
        {"cudaMalloc", 1010000, HAUL_SYNC_UNKNOWN},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        haul_workload *workload = wait_by(rows[r].name, rows[r].returned_ns);
        const bool waits = rows[r].kind != HAUL_SYNC_UNKNOWN;
        assert_int_equal(workload->op_count, 2);
        assert_int_equal(workload->ops[1].kind, waits ? HAUL_OP_SYNC : HAUL_OP_CALL);
        assert_int_equal(workload->edge_count, waits);
        if (waits)
            assert_int_equal(workload->ops[1].detail, rows[r].kind);
        haul_workload_free(workload);
    }
}

/* A launch that returned when its kernel had ended, as with CUDA_LAUNCH_BLOCKING. */
static void launches_may_block(void **state)
{
    (void)state;
    static const struct {
        int64_t dur_ns, call_ns;
        bool blocks;
    } rows[] = {
        {1000000, 1012000, true},  {1000000, 5000, false},
        {1000000, 9000000, false}, {1000000, 995000, true}, /* clocks that differ */
        {30000, 27000, false},    /* it returned before its kernel ended */
        {3000, 12000, false},     /* short, within a call of its own length */
        {1000000, 1500000, false} /* the call went on for other reasons */
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        program self;
        begin(&self);
        add_kernel(&self, 1, 0, 7000, rows[r].dur_ns);
        self.calls[0].dur_ns = rows[r].call_ns;
        haul_workload *workload = finish(&self);
        assert_true(((workload->ops[0].flags & HAUL_OP_BLOCKS) != 0) == rows[r].blocks);
        haul_workload_free(workload);
    }
}

/* Two streams beside the default one, a call between two kernels, each on one of them. */
static size_t edges_with_call(const char *name, int64_t end_ns, int64_t start_ns)
{
    program self;
    begin(&self);
    const haul_workload_stream third = {.device = hl_trace_device(&self.builder, 0, 0), .id = 2};
    self.streams[0] = hl_workload_builder_stream(&self.builder.built, &third);
    add_kernel(&self, 0, 0, 7000, end_ns - 7000);
    if (name)
        add_call(&self, name, 10000, 2000);
    add_kernel(&self, 1, 20000, start_ns, 10000);
    add_kernel(&self, 1, 30000, start_ns + 20000, 10000); /* it follows in any case */
    return edges_of(&self);
}

/* A call that lets a stream wait names neither the stream nor the event. */
static void streams_wait_for_the_stream_used_before(void **state)
{
    (void)state;
    static const char wait[] = "cudaStreamWaitEvent";
    assert_int_equal(edges_with_call(wait, 1000000, 1002000), 1);
    assert_int_equal(edges_with_call("hipStreamWaitEvent", 1000000, 1500000), 1);
    assert_int_equal(edges_with_call(wait, 1000000, 990000), 1); /* clocks that differ */
    assert_int_equal(edges_with_call(wait, 1000000, 500000), 0); /* it ran beside it */
    assert_int_equal(edges_with_call(wait, 15000, 40000), 0);    /* it had ended when called */
    assert_int_equal(edges_with_call("cudaEventRecord", 1000000, 1002000), 0);
    assert_int_equal(edges_with_call(NULL, 1000000, 1002000), 0);
}

/* As PyTorch does with NCCL: an operation between runs beside it, for all that a wait precedes it,
 * and the one behind the second wait starts as it ends. */
static void the_last_wait_of_several_counts(void **state)
{
    (void)state;
    program self;
    begin(&self);
    const haul_workload_stream third = {.device = hl_trace_device(&self.builder, 0, 0), .id = 2};
    self.streams[0] = hl_workload_builder_stream(&self.builder.built, &third);
    add_kernel(&self, 0, 0, 7000, 1000000);
    add_call(&self, "cudaStreamWaitEvent", 10000, 2000);
    add_kernel(&self, 1, 20000, 30000, 10000);
    add_call(&self, "cudaStreamWaitEvent", 30000, 2000);
    add_kernel(&self, 1, 40000, 1009000, 10000);
    haul_workload *workload = finish(&self);
    assert_int_equal(workload->edge_count, 1);
    assert_int_equal(workload->ops[workload->edges[0].after].start_ns, 1009000);
    haul_workload_free(workload);
}

/* Whether a copy of 15 us blocks that starts so long after its call's start, behind a kernel that
 * ends so long before it, and whose call returns so long after its end. */
static bool blocks(int64_t waited_ns, int64_t gap_ns, int64_t after_ns, haul_memory memory)
{
    program self;
    const int64_t dur_ns = 15000;
    begin(&self);
    add_kernel(&self, 0, 0, 10000, 1000000 + waited_ns - gap_ns - 10000);
    const haul_op op = {.start_ns = 1000000 + waited_ns,
                        .dur_ns = dur_ns,
                        .bytes = 4096,
                        .kind = HAUL_OP_COPY,
                        .direction = HAUL_DIRECTION_HTOD,
                        .detail = (uint8_t)memory,
                        .name = HAUL_NONE,
                        .stream = self.streams[0],
                        .thread = HAUL_NONE};
    hl_trace_op(&self.builder, &op, 1 + self.call_count);
    add_call(&self, memory == HAUL_MEMORY_PINNED ? "cudaMemcpyAsync" : "hipMemcpyWithStream",
             1000000, waited_ns + dur_ns + after_ns);
    haul_workload *workload = finish(&self);
    const bool found = workload->ops[1].flags & HAUL_OP_BLOCKS;
    haul_workload_free(workload);
    return found;
}

/* Clocks of host and device are some microseconds apart: a call that waited 36 ms for its copy may
 * return 3 us before the copy's end, as on an MI300X. One that was merely short tells nothing. */
static void copies_block_by_clocks_that_differ(void **state)
{
    (void)state;
    const int64_t waited_ns = 36000000, gap_ns = 3000;
    assert_true(blocks(waited_ns, gap_ns, 40000, HAUL_MEMORY_HOST));
    assert_true(blocks(waited_ns, gap_ns, -3000, HAUL_MEMORY_HOST));
    assert_false(blocks(waited_ns, gap_ns, -10000, HAUL_MEMORY_HOST));
    assert_false(blocks(waited_ns, waited_ns, -3000, HAUL_MEMORY_HOST)); /* the host staged */
    assert_true(blocks(20000, gap_ns, 1000, HAUL_MEMORY_HOST));
    assert_false(blocks(20000, gap_ns, -3000, HAUL_MEMORY_HOST));
    assert_false(blocks(waited_ns, gap_ns, -3000, HAUL_MEMORY_PINNED));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_wait_for_the_stream_used_before),
        cmocka_unit_test(the_last_wait_of_several_counts),
        cmocka_unit_test(the_default_stream_waits),
        cmocka_unit_test(calls_that_synchronise_wait),
        cmocka_unit_test(launches_may_block),
        cmocka_unit_test(copies_block_by_clocks_that_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
