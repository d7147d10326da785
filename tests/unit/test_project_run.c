/* The whole run on the target: the timeline of a projection, its device and its waits. */
#include "liner.h"

static int64_t sum_of(const haul_workload *workload, const int64_t *durations_ns, haul_op_kind kind)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].kind == kind)
            sum_ns += durations_ns[i];
    return sum_ns;
}

static void each_operation_gets_its_time_on_the_target(void **state)
{
    (void)state;
    by_hand hand = {0};
    const haul_workload *workload = record(&hand);
    const haul_projection_options elsewhere = {.to = &bare, .from = &liner};
    haul_projection *projection = project(workload, &elsewhere);
    const int64_t copies_ns = sum_of(workload, projection->durations_ns, HAUL_OP_COPY);
    assert_true(projection->low_ns <= projection->timeline->makespan_ns);
    assert_true(projection->timeline->makespan_ns <= projection->high_ns);
    assert_int_equal(projection->target_run.makespan_ns, projection->timeline->makespan_ns);
    assert_int_equal(projection->recorded_run.makespan_ns, projection->replay.recorded_ns);
    CHECK_NEAR(1e-9 * (double)copies_ns, projection->copies.seconds, 1e-6);
    /* no ratio to a GPU of which nothing is known */
    assert_int_equal(sum_of(workload, projection->durations_ns, HAUL_OP_KERNEL), 1000000);
    haul_projection_free(projection);

    haul_machine faster = liner;
    faster.gpu.name = "Liner 2";
    faster.gpu.memory_bandwidth_Bps.value = 4e12;
    const haul_projection_options options = {.to = &faster, .from = &liner};
    projection = project(workload, &options);
    const int64_t kernels_ns = sum_of(workload, projection->durations_ns, HAUL_OP_KERNEL);
    assert_true(kernels_ns < 1000000);
    CHECK_NEAR(1e-9 * (double)kernels_ns, projection->kernels.seconds, 1e-6);
    CHECK_NEAR(1e-9 * (double)sum_of(workload, projection->durations_ns, HAUL_OP_MEMSET),
               projection->memsets.seconds, 1e-3);
    haul_projection_free(projection);
    by_hand_release(&hand);
}

static void the_recorder_gives_back_the_run(void **state)
{
    (void)state;
    by_hand hand = {0};
    const haul_workload *workload = record(&hand);
    const haul_projection_options options = {.to = &liner, .from = &liner};
    haul_projection *projection = project(workload, &options);
    assert_int_equal(projection->release, HAUL_RELEASE_RECORDED);
    assert_true(projection->replay.error == 0);
    assert_non_null(projection->timeline);
    assert_null(projection->run_missing);
    CHECK_NEAR(projection->timeline->makespan_ns, projection->replay.recorded_ns, 1e-4);
    assert_true(has_note(projection, "copy engines"));
    assert_true(has_note(projection, "the change is within the error"));
    haul_projection_free(projection);
    by_hand_release(&hand);
}

/* Ten kernels with a pause behind each but the last, on a GPU with four times the bandwidth: as
 * long after each other as recorded, or, where the host came late, none earlier. */
static void without_calls_pauses_stay_and_the_interval_holds_recorded_starts(void **state)
{
    (void)state;
    enum { COUNT = 10, KERNEL_NS = 1000000, PAUSE_NS = 100000 };
    by_hand hand = {0};
    for (int i = 0; i < COUNT; i++)
        by_hand_add(&hand, HAUL_OP_KERNEL, (int64_t)i * (KERNEL_NS + PAUSE_NS), KERNEL_NS);
    const haul_workload *workload = by_hand_finish(&hand);
    haul_machine faster = liner;
    faster.gpu.name = "Liner 2";
    faster.gpu.memory_bandwidth_Bps.value *= 4;
    const haul_projection_options options = {.to = &faster, .from = &liner};
    haul_projection *projection = project(workload, &options);
    const int64_t kernels_ns = sum_of(workload, projection->durations_ns, HAUL_OP_KERNEL);
    const int64_t run_ns = projection->timeline->makespan_ns;
    assert_true(kernels_ns < (int64_t)COUNT * KERNEL_NS / 2);
    assert_int_equal(run_ns, kernels_ns + (int64_t)(COUNT - 1) * PAUSE_NS);
    assert_int_equal(projection->critical.gaps_ns, (int64_t)(COUNT - 1) * PAUSE_NS);
    assert_int_equal(projection->critical.host_ns, 0);
    assert_true(projection->low_ns < run_ns);
    const int64_t last_ns = (int64_t)(COUNT - 1) * (KERNEL_NS + PAUSE_NS);
    assert_true(projection->high_ns >= last_ns + kernels_ns / COUNT);
    haul_projection_free(projection);
    by_hand_release(&hand);
}

static haul_timeline_device device_on(const haul_workload *workload, const char *name)
{
    haul_machine *machine = NULL;
    haul_error error = {0};
    if (haul_machine_load(name, &machine, &error))
        fail_msg("%s", error.text);
    const haul_projection_options options = {.to = machine, .from = &liner};
    haul_projection *projection = project(workload, &options);
    const haul_timeline_device device = projection->device;
    haul_projection_free(projection);
    haul_machine_free(machine);
    return device;
}

static void room_and_queue_are_the_targets_where_the_recordings_are_known(void **state)
{
    (void)state;
    by_hand hand = {0};
    const haul_workload *workload = record(&hand);
    const haul_timeline_device unknown = device_on(workload, "a100-pcie4");
    assert_int_equal(unknown.copy_engines, 3);
    assert_int_equal(unknown.kernels, 128);
    assert_int_equal(unknown.occupancy.multiprocessors, 0);
    assert_int_equal(unknown.queue_depth, 0);
    for (int d = 0; d < 2; d++) {
        hand.devices[d].compute_major = 7;
        hand.devices[d].multiprocessors = 80;
    }
    const haul_timeline_device known = device_on(workload, "a100-pcie4");
    assert_int_equal(known.occupancy.multiprocessors, 108);
    assert_int_equal(known.queue_depth, 1022);
    const haul_timeline_device other = device_on(workload, "mi300x"); /* its room is not known */
    assert_int_equal(other.occupancy.multiprocessors, 80);
    assert_int_equal(other.queue_depth, 0);
    by_hand_release(&hand);
}

/* Between kernels, or around memsets. */
static int64_t projected_gap(const haul_machine *to, bool of_memsets, bool *is_said)
{
    by_hand hand = {0};
    haul_workload_thread thread = {0};
    const haul_workload *workload = by_hand_row(&hand, &thread, 40, 50000, 1500);
    for (uint32_t i = 1; of_memsets && i < 40; i += 2)
        hand.ops[i].kind = HAUL_OP_MEMSET;
    const haul_projection_options options = {.to = to, .from = &liner};
    haul_projection *projection = project(workload, &options);
    const int64_t gap_ns =
        of_memsets ? projection->device.memory_gap_ns : projection->device.kernel_gap_ns;
    *is_said = has_note(projection, of_memsets ? "around memsets" : "from one kernel to the next");
    haul_projection_free(projection);
    by_hand_release(&hand);
    return gap_ns;
}

static void a_gap_is_the_targets(void **state)
{
    (void)state;
    for (int of_memsets = 0; of_memsets < 2; of_memsets++) {
        bool is_said;
        haul_machine other = liner;
        haul_parameter *gap = of_memsets ? &other.gpu.memory_gap_s : &other.gpu.kernel_gap_s;
        other.gpu.name = "Liner 2";
        assert_int_equal(projected_gap(&other, of_memsets, &is_said), 1500); /* as recorded */
        assert_true(is_said);
        *gap = (haul_parameter){3e-6, HAUL_PROVENANCE_DATASHEET, NULL};
        assert_int_equal(projected_gap(&other, of_memsets, &is_said), 3000);
        assert_false(is_said);
        other.gpu.name = liner.gpu.name;
        assert_int_equal(projected_gap(&other, of_memsets, &is_said), 1500);
        assert_false(is_said);
        *gap = (haul_parameter){4e-6, HAUL_PROVENANCE_ASSUMED, "given with --set"};
        assert_int_equal(projected_gap(&other, of_memsets, &is_said), 4000);
    }
}

static void a_run_that_no_clock_holds_is_said(void **state)
{
    (void)state;
    by_hand hand = {0};
    const haul_workload *workload = record(&hand);
    haul_copy_curve slow_lines[] = {lines[0], lines[1], lines[2]};
    slow_lines[0].rate_Bps.value = 0.1;
    haul_machine slow = liner;
    slow.copies = slow_lines;
    const haul_projection_options options = {.to = &slow, .from = &liner};
    haul_projection *projection = project(workload, &options);
    assert_null(projection->timeline);
    assert_non_null(strstr(projection->run_missing, "a copy"));
    assert_true(projection->low_ns == 0 && projection->high_ns == 0);
    assert_true(projection->copies.seconds > 1e9);
    haul_projection_free(projection);
    by_hand_release(&hand);
}

static void a_run_of_the_host_alone_is_within_its_interval(void **state)
{
    (void)state;
    by_hand hand = {0};
    by_hand_add(&hand, HAUL_OP_SYNC, 15, 1);
    const haul_projection_options options = {.to = &bare, .from = &liner};
    haul_projection *projection = project(by_hand_finish(&hand), &options);
    assert_int_equal(projection->target_run.makespan_ns, 0);
    assert_int_equal(projection->low_ns, 0);
    assert_int_equal(projection->critical.host_ns, 0);
    haul_projection_free(projection);
    by_hand_release(&hand);
}

/* A copy from pageable memory, made when the host has worked for 1 ms; its call returns `after_ns`
 * after its end, or before that when its last bytes are in the driver's buffer. */
static void add_pageable(by_hand *hand, uint64_t bytes, int64_t after_ns, int64_t *now_ns)
{
    const uint32_t at = (uint32_t)hand->workload.op_count;
    const double seconds = 20e-6 + (double)bytes / 4e9;
    *now_ns += 1000000;
    haul_op *op = by_hand_copy(hand, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, bytes,
                               *now_ns + 2000, (int64_t)llround(1e9 * seconds));
    op->thread = 0;
    op->thread_prev = at ? at - 1 : HAUL_NONE;
    op->flags = HAUL_OP_HAS_CALL | (after_ns > 0 ? HAUL_OP_BLOCKS : 0);
    op->call_ns = *now_ns;
    op->call_dur_ns = 2000 + op->dur_ns + after_ns;
    *now_ns += op->call_dur_ns;
}

/* Ten such copies of 1020 us each on a link of twice the rate, where they take 520 us. */
static haul_projection *project_pageable(by_hand *hand, int64_t after_ns)
{
    static haul_workload_thread thread;
    int64_t now_ns = 0;
    for (int i = 0; i < 10; i++)
        add_pageable(hand, 4000000, after_ns, &now_ns);
    by_hand_finish(hand);
    hand->workload.threads = &thread;
    hand->workload.thread_count = 1;
    haul_copy_curve faster_lines[] = {lines[0], lines[1], lines[2]};
    faster_lines[2].rate_Bps.value = 8e9;
    haul_machine faster = liner;
    faster.copies = faster_lines;
    const haul_projection_options options = {.to = &faster, .from = &liner};
    return project(&hand->workload, &options);
}

static void a_faster_link_shortens_the_waits_and_not_the_work_between(void **state)
{
    (void)state;
    by_hand hand = {0};
    haul_projection *projection = project_pageable(&hand, 1000);
    assert_int_equal(projection->release, HAUL_RELEASE_HOST);
    assert_true(projection->replay.error == 0);
    assert_int_equal(projection->replay.recorded_ns, 10 * 1020000 + 9 * (1000000 + 2000 + 1000));
    assert_int_equal(projection->timeline->makespan_ns, 10 * 520000 + 9 * (1000000 + 2000 + 1000));
    assert_null(projection->call_durations_ns);
    haul_projection_free(projection);
    by_hand_release(&hand);
}

/* From its start on the host copies as fast as the link takes the bytes. */
static void a_faster_link_empties_the_drivers_buffer_sooner(void **state)
{
    (void)state;
    by_hand hand = {0};
    haul_projection *projection = project_pageable(&hand, -5000);
    const int64_t recorded_ns = 2000 + 1020000 - 5000, call_ns = 2000 + 1015000 * 52 / 102;
    assert_true(projection->replay.error == 0);
    assert_int_equal(projection->replay.recorded_ns, 9 * (1000000 + recorded_ns) + 1020000);
    for (int i = 0; i < 10; i++)
        assert_true(llabs(projection->call_durations_ns[i] - call_ns) <= 1);
    assert_true(llabs(projection->timeline->makespan_ns - 9 * (1000000 + call_ns) - 520000) <= 9);
    haul_projection_free(projection);
    by_hand_release(&hand);
}

/* A program's own time of a pageable copy, here 270 us, holds the 200 us of staging that the
 * recorded call holds, too: on the machine that recorded it the run takes as long again. */
static void measured_copies_are_not_staged_twice(void **state)
{
    (void)state;
    enum { CALLS = 20, COPY_NS = 70000, STAGED_NS = 200000, KERNEL_NS = 9000, FREE_NS = 5000 };
    static haul_workload_thread thread;
    by_hand hand = {0};
    int64_t now_ns = 0;
    for (uint32_t i = 0; i < CALLS; i++) {
        const bool is_copy = i % 2 == 0;
        const int64_t start_ns = now_ns + FREE_NS + (is_copy ? STAGED_NS : 0);
        haul_op *op = is_copy ? by_hand_copy(&hand, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE,
                                             1000000, start_ns, COPY_NS)
                              : by_hand_add(&hand, HAUL_OP_KERNEL, start_ns, KERNEL_NS);
        op->thread = 0;
        op->thread_prev = i ? i - 1 : HAUL_NONE;
        op->flags = HAUL_OP_HAS_CALL | (is_copy ? HAUL_OP_BLOCKS : 0);
        op->call_ns = now_ns;
        op->call_dur_ns = is_copy ? FREE_NS + STAGED_NS + COPY_NS : FREE_NS;
        now_ns += op->call_dur_ns + INT64_C(2) * KERNEL_NS;
    }
    by_hand_finish(&hand);
    hand.workload.threads = &thread;
    hand.workload.thread_count = 1;
    const haul_projection_options options = {.to = &liner, .from = &liner};
    haul_projection *projection = project(&hand.workload, &options);
    assert_true(projection->self_check.of.score.wape < 0.1);
    CHECK_NEAR(projection->timeline->makespan_ns, projection->replay.recorded_ns, 1e-4);
    haul_projection_free(projection);
    by_hand_release(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operation_gets_its_time_on_the_target),
        cmocka_unit_test(the_recorder_gives_back_the_run),
        cmocka_unit_test(without_calls_pauses_stay_and_the_interval_holds_recorded_starts),
        cmocka_unit_test(room_and_queue_are_the_targets_where_the_recordings_are_known),
        cmocka_unit_test(a_gap_is_the_targets),
        cmocka_unit_test(a_run_that_no_clock_holds_is_said),
        cmocka_unit_test(a_run_of_the_host_alone_is_within_its_interval),
        cmocka_unit_test(a_faster_link_shortens_the_waits_and_not_the_work_between),
        cmocka_unit_test(a_faster_link_empties_the_drivers_buffer_sooner),
        cmocka_unit_test(measured_copies_are_not_staged_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
