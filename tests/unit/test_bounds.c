/* The least time of runs whose schedule is known. */
#include "check.h"

#include "by_hand.h"
#include "timeline/predicted_run.h"

static const haul_timeline_device device = {
    .copy_engines = 1, .kernels = 128, .busy_speed = {1, 1}};

static hl_timeline_predicted_run run_of(const haul_workload *workload, haul_release release)
{
    hl_timeline_predicted_run run;
    haul_error error = {0};
    const haul_timeline_options options = {.device = device, .release = release};
    if (hl_timeline_predicted_run_make(workload, &options, NULL, &run, &error))
        fail_msg("%s", error.text);
    return run;
}

/* Kernels of one stream follow each other. */
static void a_stream_is_busy_for_its_sum(void **state)
{
    (void)state;
    by_hand made = {.ops = NULL};
    haul_workload_thread thread = {.id = 1};
    hl_timeline_predicted_run run =
        run_of(by_hand_row(&made, &thread, 40, 1000, 0), HAUL_RELEASE_HOST);
    haul_error error = {0};
    assert_int_equal(run.bound.least_ns, 40 * 1000);
    assert_int_equal(hl_timeline_bound_check(&run.bound, 40 * 1000, &error), HAUL_OK);
    assert_int_equal(hl_timeline_bound_check(&run.bound, 40 * 1000 - 1, &error),
                     HAUL_STATUS_INTERNAL);
    assert_non_null(strstr(error.text, "cannot take less than 40 us"));
    haul_timeline_free(run.timeline);
    by_hand_release(&made);
}

/* Copies of three streams share the only engine. */
static void an_engine_is_busy_for_its_sum(void **state)
{
    (void)state;
    by_hand made = {.ops = NULL};
    for (uint32_t s = 0; s < 3; s++)
        by_hand_copy(&made, s % 2 ? HAUL_DIRECTION_DTOH : HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED,
                     1000, 0, 500)
            ->stream = s;
    hl_timeline_predicted_run run = run_of(by_hand_finish(&made), HAUL_RELEASE_RECORDED);
    assert_int_equal(run.bound.least_ns, 3 * 500);
    assert_string_equal(run.bound.what, "a copy engine of device 0");
    assert_int_equal(run.timeline->makespan_ns, 3 * 500);
    haul_timeline_free(run.timeline);
    by_hand_release(&made);
}

/* Two kernels of two streams, and 9 us of the host between their calls: the chain has both. */
static void the_host_is_part_of_the_chain(void **state)
{
    (void)state;
    by_hand made = {.ops = NULL};
    haul_workload_thread thread = {.id = 1};
    for (uint32_t k = 0; k < 2; k++) {
        haul_op *op = by_hand_add(&made, HAUL_OP_KERNEL, k * 10000, 2000);
        op->shape = HAUL_NONE;
        op->stream = k;
        op->thread = 0;
        op->thread_prev = k ? 0 : HAUL_NONE;
        op->call_ns = k * 10000;
        op->call_dur_ns = 1000;
        op->flags = HAUL_OP_HAS_CALL;
    }
    by_hand_finish(&made);
    made.workload.threads = &thread;
    made.workload.thread_count = 1;
    hl_timeline_predicted_run run = run_of(&made.workload, HAUL_RELEASE_HOST);
    assert_int_equal(run.bound.least_ns, 12000);
    assert_string_equal(run.bound.what, "the critical path");
    haul_timeline_free(run.timeline);
    const haul_timeline_options slow = {
        .device = device, .release = HAUL_RELEASE_HOST, .host_time = 2};
    assert_int_equal(hl_timeline_predicted_run_make(&made.workload, &slow, NULL, &run, NULL),
                     HAUL_OK);
    assert_int_equal(run.bound.least_ns, 22000);
    assert_int_equal(run.timeline->makespan_ns, 22000);
    haul_timeline_free(run.timeline);
    by_hand_release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_busy_for_its_sum),
        cmocka_unit_test(an_engine_is_busy_for_its_sum),
        cmocka_unit_test(the_host_is_part_of_the_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
