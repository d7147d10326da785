/* Where the time of a run goes: against counting every nanosecond, and on small cases. */
#include "check.h"

#include "by_hand.h"
#include "drawn_workload.h"
#include "haul/breakdown.h"
#include "timeline/driver_call.h"

static drawn_workload drawn;

static haul_breakdown breakdown_of(const haul_workload *workload, const haul_span *spans)
{
    haul_breakdown breakdown;
    assert_int_equal(haul_breakdown_make(workload, spans, &breakdown, NULL), HAUL_OK);
    return breakdown;
}

/* Operations that run in the nanosecond from `t` on: bit 0 kernels and memsets, bits 1 to 3 copies.
 */
static unsigned running_at(const haul_workload *workload, const haul_span *spans, int64_t t)
{
    unsigned mask = 0;
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        const int64_t start_ns = spans ? spans[i].start_ns : op->start_ns;
        const int64_t end_ns = spans ? spans[i].end_ns : op->start_ns + op->dur_ns;
        if (!haul_op_on_device(op) || t < start_ns || t >= end_ns)
            continue;
        const unsigned direction = op->direction < 2 ? op->direction : 2;
        mask |= op->kind == HAUL_OP_COPY ? 2U << direction : 1U;
    }
    return mask;
}

static haul_breakdown count_all(const haul_workload *workload, const haul_span *spans,
                                int64_t start_ns, int64_t end_ns)
{
    haul_breakdown counted = {.makespan_ns = end_ns - start_ns};
    for (int64_t t = start_ns; t < end_ns; t++) {
        const unsigned mask = running_at(workload, spans, t), copies = mask >> 1;
        const bool several = (copies & (copies - 1)) != 0;
        counted.kernels_ns += mask == 1;
        counted.hidden_ns += (mask & 1) && copies;
        counted.both_ways_ns += !(mask & 1) && several;
        counted.exposed_ns += !(mask & 1) && copies && !several;
        counted.idle_ns += !mask;
    }
    return counted;
}

static void expect_equal(const haul_breakdown *a, const haul_breakdown *b)
{
    assert_int_equal(a->makespan_ns, b->makespan_ns);
    assert_int_equal(a->kernels_ns, b->kernels_ns);
    assert_int_equal(a->hidden_ns, b->hidden_ns);
    assert_int_equal(a->both_ways_ns, b->both_ways_ns);
    assert_int_equal(a->exposed_ns, b->exposed_ns);
    assert_int_equal(a->idle_ns, b->idle_ns);
}

static int64_t sum_of(const haul_critical_path *path)
{
    int64_t sum_ns =
        path->kernels_ns + path->memsets_ns + path->messages_ns + path->gaps_ns + path->host_ns;
    for (int d = 0; d < HAUL_DIRECTIONS; d++)
        sum_ns += path->copies_ns[d];
    return sum_ns;
}

static void check_path(const haul_timeline *timeline)
{
    haul_critical_path path;
    assert_int_equal(haul_critical_path_make(&drawn.workload, timeline, NULL, &path, NULL),
                     HAUL_OK);
    assert_int_equal(sum_of(&path), timeline->makespan_ns);
    assert_true(path.host_ns >= 0 && path.gaps_ns >= 0);
    assert_true(haul_critical_path_host(&path) >= 0);
    int64_t largest_ns = 0;
    for (size_t i = 0; i < path.largest_count; i++) {
        assert_true(!i || path.largest[i].time_ns <= path.largest[i - 1].time_ns);
        largest_ns += path.largest[i].time_ns;
    }
    assert_true(largest_ns <= timeline->makespan_ns - path.host_ns);
}

static void equals_the_count_of_nanoseconds(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 500; seed++) {
        srand(seed);
        draw_workload(&drawn, 2 + draw(60), draw(3));
        drawn.ops[0].kind = HAUL_OP_KERNEL; /* one at least is a device's */
        const haul_timeline_options options = draw_options();
        haul_timeline *timeline = NULL;
        haul_error error = {0};
        if (haul_timeline_run(&drawn.workload, &options, &timeline, &error))
            fail_msg("%s", error.text);
        const int64_t end_ns = timeline->start_ns + timeline->makespan_ns;
        const haul_breakdown counted =
            count_all(&drawn.workload, timeline->ops, timeline->start_ns, end_ns);
        const haul_breakdown made = breakdown_of(&drawn.workload, timeline->ops);
        expect_equal(&made, &counted);
        check_path(timeline);
        haul_timeline_free(timeline);

        const haul_breakdown recorded = breakdown_of(&drawn.workload, NULL);
        const haul_breakdown recount = count_all(&drawn.workload, NULL, drawn.ops[0].start_ns,
                                                 drawn.ops[0].start_ns + recorded.makespan_ns);
        expect_equal(&recorded, &recount);
    }
}

static void each_moment_has_one_part(void **state)
{
    (void)state;
    by_hand hand = {0};
    by_hand_add(&hand, HAUL_OP_KERNEL, 100, 10);
    by_hand_copy(&hand, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1, 105, 10);
    by_hand_copy(&hand, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 1, 112, 8);
    by_hand_add(&hand, HAUL_OP_MEMSET, 125, 5);
    by_hand_add(&hand, HAUL_OP_SYNC, 0, 500); /* the host's */
    const haul_breakdown made = breakdown_of(by_hand_finish(&hand), NULL);
    const haul_breakdown expected = {.makespan_ns = 30,
                                     .kernels_ns = 5 + 5,
                                     .hidden_ns = 5,
                                     .both_ways_ns = 3,
                                     .exposed_ns = 2 + 5,
                                     .idle_ns = 5};
    expect_equal(&made, &expected);
    by_hand_release(&hand);
}

/* A copy in 10, a kernel 20 behind it, a wait of the host for the kernel that ends 5 later, and
 * after 3 more another kernel of 7. */
static void the_host_has_what_is_left(void **state)
{
    (void)state;
    by_hand hand = {0};
    haul_workload_thread thread = {0};
    const haul_edge edge = {1, 2};
    by_hand_copy(&hand, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1, 0, 10)->call_ns = 0;
    by_hand_add(&hand, HAUL_OP_KERNEL, 10, 20)->call_ns = 1;
    by_hand_add(&hand, HAUL_OP_SYNC, 10, 25)->call_ns = 10;
    by_hand_add(&hand, HAUL_OP_KERNEL, 38, 7)->call_ns = 38;
    by_hand_finish(&hand);
    for (uint32_t i = 0; i < 4; i++) {
        hand.ops[i].thread = 0;
        hand.ops[i].thread_prev = i ? i - 1 : HAUL_NONE;
        hand.ops[i].flags = HAUL_OP_HAS_CALL;
    }
    hand.workload.threads = &thread;
    hand.workload.thread_count = 1;
    hand.workload.edges = &edge;
    hand.workload.edge_count = 1;
    const haul_timeline_options options = {
        .device = {.copy_engines = 2, .kernels = 1, .busy_speed = {1, 1}}};
    haul_timeline *timeline = NULL;
    assert_int_equal(haul_timeline_run(&hand.workload, &options, &timeline, NULL), HAUL_OK);
    haul_critical_path path;
    assert_int_equal(haul_critical_path_make(&hand.workload, timeline, NULL, &path, NULL), HAUL_OK);
    assert_int_equal(timeline->makespan_ns, 45);
    assert_int_equal(path.copies_ns[HAUL_DIRECTION_HTOD], 10);
    assert_int_equal(path.kernels_ns, 27);
    assert_int_equal(path.host_ns, 8);
    assert_int_equal(path.largest_count, 2);
    assert_int_equal(path.largest[0].kind, HAUL_OP_KERNEL);
    assert_int_equal(path.largest[0].count, 2);
    haul_timeline_free(timeline);
    by_hand_release(&hand);
}

/* A pageable copy that runs from 20 to 105 of its call, which returns at 100, when the last piece
 * is staged; the call of a kernel 5 later. The path waits for the calls alone. */
static void a_copy_that_runs_in_its_own_call_is_a_copy(void **state)
{
    (void)state;
    by_hand hand = {0};
    haul_workload_thread thread = {0};
    by_hand_add(&hand, HAUL_OP_KERNEL, 0, 1)->call_ns = 0;
    haul_op *copy = by_hand_copy(&hand, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 1, 30, 85);
    copy->call_ns = 10;
    copy->call_dur_ns = 100;
    copy->stream = 1;
    by_hand_add(&hand, HAUL_OP_KERNEL, 115, 7)->call_ns = 115;
    by_hand_finish(&hand);
    for (uint32_t i = 0; i < 3; i++) {
        hand.ops[i].thread = 0;
        hand.ops[i].thread_prev = i ? i - 1 : HAUL_NONE;
        hand.ops[i].flags = HAUL_OP_HAS_CALL;
    }
    hand.workload.threads = &thread;
    hand.workload.thread_count = 1;
    const haul_timeline_options options = {.device = {.copy_engines = 2,
                                                      .kernels = 1,
                                                      .busy_speed = {1, 1},
                                                      .issue_ns = {[HAUL_OP_COPY] = 20}}};
    haul_timeline *timeline = NULL;
    haul_critical_path path;
    assert_int_equal(haul_timeline_run(&hand.workload, &options, &timeline, NULL), HAUL_OK);
    assert_int_equal(haul_critical_path_make(&hand.workload, timeline, NULL, &path, NULL), HAUL_OK);
    assert_int_equal(path.copies_ns[HAUL_DIRECTION_HTOD], 80);
    assert_int_equal(path.kernels_ns, 7);
    assert_int_equal(path.copies_ns[HAUL_DIRECTION_HTOD] + path.kernels_ns + path.host_ns,
                     timeline->makespan_ns);
    assert_int_equal(path.largest[0].kind, HAUL_OP_COPY);
    haul_timeline_free(timeline);
    by_hand_release(&hand);
}

static void gaps_between_kernels_are_not_the_hosts(void **state)
{
    (void)state;
    by_hand hand = {0};
    haul_workload_thread thread = {0};
    const haul_workload *workload = by_hand_row(&hand, &thread, 10, 100, 0);
    const haul_timeline_options options = {
        .device = {.kernels = 1, .busy_speed = {1, 1}, .kernel_gap_ns = 7}};
    haul_timeline *timeline = NULL;
    haul_critical_path path;
    assert_int_equal(haul_timeline_run(workload, &options, &timeline, NULL), HAUL_OK);
    assert_int_equal(haul_critical_path_make(workload, timeline, NULL, &path, NULL), HAUL_OK);
    assert_int_equal(path.kernels_ns, 1000);
    assert_int_equal(path.gaps_ns, 63);
    assert_int_equal(path.host_ns, 0);
    haul_timeline_free(timeline);
    by_hand_release(&hand);
}

static void calls_of_the_driver_have_their_work(void **state)
{
    static const struct {
        const char *call;
        haul_driver_work work;
    } calls[] = {
        {"cudaHostAlloc_v3020", HAUL_DRIVER_WORK_PAGE_LOCK},
        {"cudaMallocHost", HAUL_DRIVER_WORK_PAGE_LOCK},
        {"cuMemHostRegister_v2", HAUL_DRIVER_WORK_PAGE_LOCK},
        {"hipHostFree", HAUL_DRIVER_WORK_PAGE_LOCK},
        {"cudaMallocManaged_v6000", HAUL_DRIVER_WORK_ALLOCATE},
        {"cudaFree", HAUL_DRIVER_WORK_ALLOCATE},
        {"cuMemAlloc_v2", HAUL_DRIVER_WORK_ALLOCATE},
        {"hipMalloc", HAUL_DRIVER_WORK_ALLOCATE},
        {"cuModuleLoadDataEx", HAUL_DRIVER_WORK_LOAD},
        {"cuLibraryLoadData", HAUL_DRIVER_WORK_LOAD},
        {"clBuildProgram", HAUL_DRIVER_WORK_LOAD},
        {"cuInit", HAUL_DRIVER_WORK_SETUP},
        {"cudaStreamCreateWithFlags", HAUL_DRIVER_WORK_SETUP},
        {"cudaEventRecord", HAUL_DRIVER_WORKS},
        {"cudaEventQuery", HAUL_DRIVER_WORKS},
        {"cudaMemGetInfo", HAUL_DRIVER_WORKS},
        {"malloc", HAUL_DRIVER_WORKS},
        {"", HAUL_DRIVER_WORKS},
    };
    (void)state;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        assert_int_equal(hl_timeline_driver_work_of(calls[i].call), calls[i].work);
}

static void nothing_takes_no_time(void **state)
{
    (void)state;
    by_hand hand = {0};
    const haul_breakdown made = breakdown_of(by_hand_finish(&hand), NULL);
    assert_int_equal(made.makespan_ns, 0);
    by_hand_release(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_count_of_nanoseconds),
        cmocka_unit_test(each_moment_has_one_part),
        cmocka_unit_test(the_host_has_what_is_left),
        cmocka_unit_test(a_copy_that_runs_in_its_own_call_is_a_copy),
        cmocka_unit_test(gaps_between_kernels_are_not_the_hosts),
        cmocka_unit_test(calls_of_the_driver_have_their_work),
        cmocka_unit_test(nothing_takes_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
