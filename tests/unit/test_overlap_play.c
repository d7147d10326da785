/* The strategies as workloads: what is in them, and what they cannot hold. */
#include "check.h"

#include <string.h>

#include "haul/overlap.h"

static const haul_overlap_leg in = {8e6, 1, 1e-5, 1e-10, 4e-6, 1.25e-10, 2e-10};
static const haul_overlap_leg out = {4e6, 2, 2e-5, 2e-10, 1e-5, 2e-10, 4e-10};

static haul_overlap_case of(haul_overlap_device_kind device, double kernel_s)
{
    return (haul_overlap_case){.device = device, .in = in, .out = out, .kernel_s = kernel_s};
}

static haul_workload *make(const haul_overlap_case *self, haul_strategy strategy, uint32_t streams)
{
    haul_workload *workload = NULL;
    haul_error error;
    assert_int_equal(haul_overlap_workload(self, strategy, streams, &workload, &error), HAUL_OK);
    return workload;
}

static double play(const haul_overlap_case *self, haul_strategy strategy, uint32_t streams)
{
    double seconds = -1;
    haul_error error;
    if (haul_overlap_play(self, strategy, streams, &seconds, &error))
        fail_msg("%s", error.text);
    return seconds;
}

/* All copies in, all kernels, all copies back; parts add up to the whole. */
static void chunks_are_in_the_paper_s_order(void **state)
{
    (void)state;
    const haul_overlap_case any = of(HAUL_ONE_ENGINE, 1e-3);
    haul_workload *workload = make(&any, HAUL_STRATEGY_STREAMS, 7);
    uint64_t bytes[2] = {0};
    int64_t kernel_ns = 0;
    assert_int_equal(workload->op_count, 21);
    assert_int_equal(workload->stream_count, 7);
    assert_int_equal(workload->edge_count, 0);
    for (uint32_t i = 0; i < 21; i++) {
        const haul_op *op = &workload->ops[i];
        assert_int_equal(op->stream, i % 7);
        assert_int_equal(op->kind, i / 7 == 1 ? HAUL_OP_KERNEL : HAUL_OP_COPY);
        assert_int_equal(op->stream_prev, i < 7 ? HAUL_NONE : i - 7);
        if (op->kind == HAUL_OP_KERNEL)
            kernel_ns += op->dur_ns;
        else
            bytes[op->direction] += op->bytes;
    }
    assert_int_equal(bytes[HAUL_DIRECTION_HTOD], 8000000);
    assert_int_equal(bytes[HAUL_DIRECTION_DTOH], 4000000);
    assert_int_equal(kernel_ns, 1000000);
    assert_string_equal(haul_workload_string(workload, workload->ops[20].name), "copy back");
    haul_workload_free(workload);
}

/* in 10 + 800 us, kernel 1000, back 20 + 800 */
static void explicit_is_its_form(void **state)
{
    (void)state;
    for (int device = 0; device < 3; device++) {
        const haul_overlap_case any = of((haul_overlap_device_kind)device, 1e-3);
        CHECK_NEAR(play(&any, HAUL_STRATEGY_EXPLICIT, 1), 2.63e-3, 1e-9);
        CHECK_NEAR(play(&any, HAUL_STRATEGY_STREAMS, 1), 2.63e-3, 1e-9);
        CHECK_NEAR(play(&any, HAUL_STRATEGY_MAPPED, 1),
                   haul_overlap_time(&any, HAUL_STRATEGY_MAPPED, 1), 1e-6);
    }
}

/* 68 MB each way, at half of the rate while both move. The analytical model has all of both at
 * half; played, as measured (27 ms), only the end of one meets the beginning of the other. */
static void directions_that_hardly_meet(void **state)
{
    (void)state;
    const double alone = 1 / 4.62e9, busy = 1 / 2.54e9;
    haul_overlap_case any = {.device = HAUL_TWO_ENGINES,
                             .in = {67634176, 1, 1e-5, alone, 1e-5, busy, busy},
                             .out = {67108864, 1, 1e-5, alone, 1e-5, busy, busy},
                             .kernel_s = 6e-3};
    haul_overlap found;
    haul_error error;
    CHECK_NEAR(haul_overlap_time(&any, HAUL_STRATEGY_STREAMS, 2), 42.8e-3, 5e-3);
    CHECK_NEAR(play(&any, HAUL_STRATEGY_STREAMS, 2), 28.4e-3, 5e-3);
    haul_overlap_compare(&any, 2, &found);
    assert_int_equal(haul_overlap_play_all(&any, &found, &error), HAUL_OK);
    const haul_overlap_row *streams = &found.rows[HAUL_STRATEGY_STREAMS];
    assert_true(streams->seconds == play(&any, HAUL_STRATEGY_STREAMS, 2));
    assert_true(streams->analytical_s == haul_overlap_time(&any, HAUL_STRATEGY_STREAMS, 2));
    assert_true(streams->seconds < found.rows[HAUL_STRATEGY_EXPLICIT].seconds);
    assert_int_equal(haul_overlap_unmet(&any, HAUL_STRATEGY_STREAMS, 2) &
                         HAUL_ASSUMPTION_CONTENTION,
                     HAUL_ASSUMPTION_CONTENTION);
    /* mapped memory at the same rate, what is left of one way alone at the end */
    CHECK_NEAR(found.rows[HAUL_STRATEGY_MAPPED].seconds, 67108864 * busy + 525312 * alone, 2e-3);
    assert_int_equal(haul_overlap_unmet(&any, HAUL_STRATEGY_MAPPED, 1), HAUL_ASSUMPTION_MAPPED);
}

/* Two streams with implicit synchronisation: copies back wait for the end of the last kernel, whose
 * grid nobody knows. 9.6 ms in, two kernels of 100 ms, 96 ms back. */
static void copies_back_wait_for_all_blocks(void **state)
{
    (void)state;
    const haul_overlap_case any = {.device = HAUL_IMPLICIT_SYNC,
                                   .in = {6.4e7, 1, 0, 1.5e-10, 0, 1.5e-10, 1.5e-10},
                                   .out = {6.4e8, 1, 0, 1.5e-10, 0, 1.5e-10, 1.5e-10},
                                   .kernel_s = 0.2};
    CHECK_NEAR(play(&any, HAUL_STRATEGY_STREAMS, 2), 4.8e-3 + 0.2 + 96e-3, 1e-9);
}

/* Four chunks: in 10 + 200, then 4 + 200 each; kernels 250; back 20 + 200, 10 + 200 in a row. */
static void streams_by_hand(void **state)
{
    (void)state;
    haul_overlap_case any = of(HAUL_IMPLICIT_SYNC, 1e-3);
    /* the last kernel ends at 210 + 4 * 250 = 1210: its grid is not known */
    CHECK_NEAR(play(&any, HAUL_STRATEGY_STREAMS, 4), (1210 + 220 + 3 * 210) * 1e-6, 1e-9);
    /* in until 822, then back without a pause */
    any.device = HAUL_ONE_ENGINE;
    CHECK_NEAR(play(&any, HAUL_STRATEGY_STREAMS, 4), (822 + 220 + 3 * 210) * 1e-6, 1e-9);
    any.device = HAUL_TWO_ENGINES;
    any.in.busy_per_byte_s = any.in.per_byte_s; /* each copy back finds its engine idle */
    CHECK_NEAR(play(&any, HAUL_STRATEGY_STREAMS, 4), (1210 + 220) * 1e-6, 1e-9);
    /* copies in are slower while copies run back, from 460 to 680 and from 710 on: the last ends
     * at about 905, and the last kernel starts at 960 */
    any.in.busy_per_byte_s = in.busy_per_byte_s;
    CHECK_NEAR(play(&any, HAUL_STRATEGY_STREAMS, 4), (1210 + 220) * 1e-6, 1e-9);
}

/* Two chunks: in 10 + 400, then 4 + 400; kernels 300, writes of twice 2 MB: 10 + 800, then 20 + 800
 * as the last. */
static void hybrid_by_hand(void **state)
{
    (void)state;
    haul_overlap_case any = of(HAUL_IMPLICIT_SYNC, 6e-4);
    any.in.mapped_per_byte_s = any.in.per_byte_s;
    any.out.mapped_per_byte_s = any.out.per_byte_s;
    CHECK_NEAR(play(&any, HAUL_STRATEGY_HYBRID, 2), (410 + 810 + 820) * 1e-6, 1e-9);
    any.kernel_s = 1.8e-3; /* and the latency behind the last kernel */
    CHECK_NEAR(play(&any, HAUL_STRATEGY_HYBRID, 2), (410 + 900 + 900 + 20) * 1e-6, 1e-9);
    /* The second copy in takes 4 + 800 beside the writes, which are at 810/1610 of their speed. */
    any = of(HAUL_IMPLICIT_SYNC, 6e-4);
    const double left = 810 - 804 * 810.0 / 1610;
    CHECK_NEAR(play(&any, HAUL_STRATEGY_HYBRID, 2), (410 + 804 + left + 820) * 1e-6, 1e-6);
}

static void hybrid_chunks_wait_for_each_other(void **state)
{
    (void)state;
    const haul_overlap_case any = of(HAUL_ONE_ENGINE, 1e-3);
    haul_workload *workload = make(&any, HAUL_STRATEGY_HYBRID, 3);
    assert_int_equal(workload->op_count, 9);
    assert_int_equal(workload->stream_count, 4);
    assert_int_equal(workload->edge_count, 3 + 2 * 2);
    assert_int_equal(workload->ops[8].bytes + workload->ops[6].bytes + workload->ops[4].bytes,
                     8000000);
    assert_string_equal(haul_workload_string(workload, workload->ops[8].name), "mapped writes");
    haul_workload_free(workload);
}

static void what_a_timeline_cannot_hold(void **state)
{
    (void)state;
    const double wrong[] = {-1, NAN, INFINITY, 3e10};
    haul_error error;
    double seconds = 5;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        for (int strategy = 0; strategy < HAUL_STRATEGIES; strategy++) {
            haul_overlap_case any = of(HAUL_ONE_ENGINE, 1);
            any.kernel_s = wrong[i];
            if (strategy == HAUL_STRATEGY_MAPPED && !(wrong[i] > 1))
                continue; /* the copies take longer */
            assert_int_equal(haul_overlap_play(&any, (haul_strategy)strategy, 3, &seconds, &error),
                             HAUL_STATUS_BAD_INPUT);
            any = of(HAUL_ONE_ENGINE, 1);
            any.in.per_byte_s = wrong[i];
            if (strategy != HAUL_STRATEGY_MAPPED)
                assert_int_equal(
                    haul_overlap_play(&any, (haul_strategy)strategy, 3, &seconds, &error),
                    HAUL_STATUS_BAD_INPUT);
        }
    const haul_overlap_case any = of(HAUL_ONE_ENGINE, 1);
    assert_int_equal(haul_overlap_play(&any, HAUL_STRATEGY_STREAMS, HAUL_OVERLAP_STREAMS_MOST + 1,
                                       &seconds, &error),
                     HAUL_STATUS_BAD_INPUT);
    assert_true(seconds == 5);
}

static void rows_are_played(void **state)
{
    (void)state;
    haul_overlap found;
    haul_error error;
    haul_overlap_case any = of(HAUL_TWO_ENGINES, 1e-3);
    haul_overlap_compare(&any, 0, &found);
    for (int s = 0; s < HAUL_STRATEGIES; s++)
        assert_true(isnan(found.rows[s].engine_s));
    assert_int_equal(haul_overlap_play_all(&any, &found, &error), HAUL_OK);
    for (int s = 0; s < HAUL_STRATEGIES; s++)
        assert_true(found.rows[s].engine_s == play(&any, (haul_strategy)s, found.rows[s].streams));
    for (int s = 0; s < HAUL_STRATEGIES; s++) {
        const haul_overlap_row *row = &found.rows[s];
        assert_true(row->engine_enough_s == play(&any, (haul_strategy)s, row->engine_streams));
        assert_true(row->engine_streams >= 1 && row->engine_streams <= 1024);
        for (uint32_t n = 1; n <= 1024; n *= 2)
            assert_true(play(&any, (haul_strategy)s, n) >= row->engine_enough_s / 1.01);
    }
    any.kernel_s = 3e10; /* a thousand years */
    haul_overlap_compare(&any, 4, &found);
    assert_int_equal(haul_overlap_play_all(&any, &found, &error), HAUL_OK);
    for (int s = 0; s < HAUL_STRATEGIES; s++)
        assert_true(isnan(found.rows[s].engine_s) && isnan(found.rows[s].engine_enough_s) &&
                    !found.rows[s].engine_streams && found.rows[s].seconds >= 3e10);
}

/* Rates in company below half: company for all of a copy would make streams
 * worth nothing, company while there is some leaves them most of their gain. */
static void the_timeline_has_its_own_number_of_streams(void **state)
{
    (void)state;
    haul_overlap found;
    haul_error error;
    haul_overlap_case any = {HAUL_TWO_ENGINES,
                             {8e7, 1, 1e-6, 1e-10, 1e-6, 2.2e-10, 2.2e-10},
                             {1e7, 1, 1e-6, 1e-10, 1e-6, 2.2e-10, 2.2e-10},
                             .kernel_s = 7.5e-3};
    haul_overlap_compare(&any, 0, &found);
    assert_int_equal(haul_overlap_play_all(&any, &found, &error), HAUL_OK);
    const haul_overlap_row *streams = &found.rows[HAUL_STRATEGY_STREAMS];
    assert_int_equal(streams->best_streams, 1);
    assert_true(streams->engine_streams > 16);
    assert_true(streams->engine_enough_s < haul_overlap_time(&any, HAUL_STRATEGY_STREAMS, 1) / 1.5);
    assert_true(streams->streams >= 8 && streams->seconds == streams->engine_s);
    assert_true(streams->seconds <= 1.05 * streams->least_s);
}

static void the_curve_is_of_doubled_numbers(void **state)
{
    (void)state;
    haul_overlap_point points[HAUL_OVERLAP_POINTS];
    size_t count = 0;
    haul_error error;
    const haul_overlap_case any = of(HAUL_TWO_ENGINES, 1e-3);
    for (int s = 0; s < HAUL_STRATEGIES; s++) {
        const haul_strategy strategy = (haul_strategy)s;
        assert_int_equal(haul_overlap_curve(&any, strategy, 1000, points, &count, &error), HAUL_OK);
        assert_int_equal(count, 10);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(points[i].streams, 1 << i);
            assert_true(points[i].analytical_s == haul_overlap_time(&any, strategy, 1U << i));
            assert_true(points[i].engine_s == play(&any, strategy, 1U << i));
        }
        assert_int_equal(haul_overlap_curve(&any, strategy, 0, points, &count, &error), HAUL_OK);
        assert_int_equal(count, 1);
    }
    assert_int_equal(
        haul_overlap_curve(&any, HAUL_STRATEGY_STREAMS, UINT32_MAX, points, &count, &error),
        HAUL_OK);
    assert_int_equal(count, HAUL_OVERLAP_POINTS);
    assert_int_equal(points[count - 1].streams, HAUL_OVERLAP_STREAMS_MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_are_in_the_paper_s_order),
        cmocka_unit_test(explicit_is_its_form),
        cmocka_unit_test(streams_by_hand),
        cmocka_unit_test(directions_that_hardly_meet),
        cmocka_unit_test(copies_back_wait_for_all_blocks),
        cmocka_unit_test(hybrid_by_hand),
        cmocka_unit_test(hybrid_chunks_wait_for_each_other),
        cmocka_unit_test(what_a_timeline_cannot_hold),
        cmocka_unit_test(rows_are_played),
        cmocka_unit_test(the_timeline_has_its_own_number_of_streams),
        cmocka_unit_test(the_curve_is_of_doubled_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
