/* Unified memory: what migrations without a call wait for, and when they come on the timeline. */
#include "check.h"

#include "haul/breakdown.h"
#include "haul/timeline.h"
#include "trace/trace_builder.h"
#include "workload_check.h"

/* A round: a launch, a kernel of 1000 ns whose faults bring four pieces in from its start on, a
 * wait of the host, which then touches four pieces, one each 200 ns, and works on. */
enum { ROUNDS = 3, PIECES = 4, ROUND_NS = 3000, KERNEL_NS = 1000 };

static void add_migration(hl_trace_builder *builder, haul_direction direction, int64_t start_ns)
{
    const haul_op op = {.kind = HAUL_OP_COPY,
                        .start_ns = start_ns,
                        .dur_ns = 100,
                        .bytes = 4096,
                        .name = HAUL_NONE,
                        .thread = HAUL_NONE,
                        .stream = 1,
                        .direction = (uint8_t)direction,
                        .detail = HAUL_MEMORY_MANAGED};
    hl_trace_op(builder, &op, 0);
}

static void add_round(hl_trace_builder *builder, uint64_t round)
{
    const int64_t start_ns = (int64_t)round * ROUND_NS;
    const haul_op kernel = {.kind = HAUL_OP_KERNEL,
                            .start_ns = start_ns,
                            .dur_ns = KERNEL_NS,
                            .name = HAUL_NONE,
                            .thread = HAUL_NONE};
    const haul_op wait = {.kind = HAUL_OP_SYNC,
                          .start_ns = start_ns + 10,
                          .dur_ns = KERNEL_NS - 10,
                          .detail = HAUL_SYNC_CONTEXT,
                          .name = HAUL_NONE,
                          .stream = HAUL_NONE,
                          .thread = HAUL_NONE};
    hl_trace_op(builder, &kernel, 1 + 2 * round);
    hl_trace_wait(builder, &wait, 2 + 2 * round,
                  &(hl_trace_host_wait){1, 0, HL_TRACE_NO_ID, HL_TRACE_NO_ID});
    for (int i = 0; i < PIECES; i++) {
        add_migration(builder, HAUL_DIRECTION_HTOD, start_ns + 100 * i);
        add_migration(builder, HAUL_DIRECTION_DTOH, start_ns + KERNEL_NS + 50 + 200 * i);
    }
}

static haul_workload *recording(void)
{
    hl_trace_builder builder;
    hl_trace_init(&builder);
    const uint32_t device = hl_trace_device(&builder, 0, 0);
    for (uint64_t s = 0; s < 2; s++)
        hl_workload_builder_stream(
            &builder.built, &(haul_workload_stream){.device = device, .process = 1, .id = s});
    hl_workload_builder_thread(&builder.built, &(haul_workload_thread){.process = 1, .id = 7});
    hl_workload_builder_shape(&builder.built, &(haul_shape){.grid = {1, 1, 1}});
    for (uint64_t r = 0; r < ROUNDS; r++)
        add_round(&builder, r);
    for (uint64_t r = 0; r < ROUNDS; r++) {
        const int64_t start_ns = (int64_t)r * ROUND_NS;
        hl_trace_call(&builder, &(hl_trace_host_call){start_ns, 10, 1 + 2 * r, HAUL_NONE, 0});
        hl_trace_call(&builder, &(hl_trace_host_call){start_ns + 10, KERNEL_NS - 10, 2 + 2 * r,
                                                      HAUL_NONE, 0});
    }
    haul_workload *workload = NULL;
    haul_error error;
    assert_int_equal(hl_trace_finish(&builder, "test", "none", &workload, &error), HAUL_OK);
    workload_check(workload);
    return workload;
}

static bool is_migration(const haul_op *op, haul_direction direction)
{
    return op->kind == HAUL_OP_COPY && op->direction == direction;
}

/* Those back follow their round's wait, those that a kernel asked for follow none. */
static void the_host_touches_after_its_waits(void **state)
{
    (void)state;
    haul_workload *workload = recording();
    size_t followers = 0;
    for (size_t e = 0; e < workload->edge_count; e++) {
        const haul_op *before = &workload->ops[workload->edges[e].before];
        const haul_op *after = &workload->ops[workload->edges[e].after];
        if (before->kind != HAUL_OP_SYNC)
            continue;
        assert_true(is_migration(after, HAUL_DIRECTION_DTOH));
        assert_int_equal(before->start_ns / ROUND_NS, after->start_ns / ROUND_NS);
        followers++;
    }
    assert_int_equal(followers, ROUNDS * PIECES);
    haul_workload_free(workload);
}

static void the_recording_comes_back(void **state)
{
    (void)state;
    haul_workload *workload = recording();
    haul_replay replay;
    haul_error error;
    assert_int_equal(haul_timeline_replay(workload, HAUL_RELEASE_HOST, &replay, &error), HAUL_OK);
    assert_int_equal(replay.device.migrations, 1);
    assert_int_equal(replay.replayed_ns, replay.recorded_ns);
    assert_true(replay.start_worst_ns == 0);
    haul_workload_free(workload);
}

/* A kernel that is faster moves up what follows it, and the host works as long as it did. */
static void a_faster_kernel_moves_the_faults(void **state)
{
    (void)state;
    enum { SAVED = 400, MOST = 64 };
    haul_workload *workload = recording();
    int64_t durations_ns[MOST];
    assert_true(workload->op_count <= MOST);
    for (size_t i = 0; i < workload->op_count; i++)
        durations_ns[i] =
            workload->ops[i].dur_ns - (workload->ops[i].kind == HAUL_OP_KERNEL ? SAVED : 0);
    const haul_timeline_options options = {
        .device = {.copy_engines = 2, .kernels = 1, .busy_speed = {1, 1}, .migrations = 1},
        .durations_ns = durations_ns,
    };
    haul_timeline *timeline = NULL;
    haul_error error;
    assert_int_equal(haul_timeline_run(workload, &options, &timeline, &error), HAUL_OK);
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        const int64_t rounds = op->start_ns / ROUND_NS + is_migration(op, HAUL_DIRECTION_DTOH);
        assert_int_equal(timeline->ops[i].start_ns, op->start_ns - SAVED * rounds);
    }
    /* The last piece follows the last wait, and that the kernels. */
    haul_critical_path path;
    assert_int_equal(haul_critical_path_make(workload, timeline, &options, &path, &error), HAUL_OK);
    assert_int_equal(path.kernels_ns, ROUNDS * (KERNEL_NS - SAVED));
    haul_timeline_free(timeline);
    haul_workload_free(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_touches_after_its_waits),
        cmocka_unit_test(the_recording_comes_back),
        cmocka_unit_test(a_faster_kernel_moves_the_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
