#include "check.h"

#include "by_hand.h"
#include "project/contention.h"
#include "project/reference.h"
#include "project/score.h"
#include "project/size_class.h"
#include "project/traffic.h"

static void scores_are_those_computed_by_hand(void **state)
{
    (void)state;
    hl_project_scorer scorer = {0};
    /* truths 1, 2, 5 of 8 seconds; errors 0.1, 0.4, 0.5: sum 1.0 */
    assert_true(hl_project_scorer_add(&scorer, 1, 1.1));
    assert_true(hl_project_scorer_add(&scorer, 2, 1.6));
    assert_true(hl_project_scorer_add(&scorer, 5, 5.5));
    const haul_score score = hl_project_scorer_finish(&scorer);
    assert_int_equal(score.count, 3);
    CHECK_NEAR(score.wape, 100 * 1.0 / 8, 1e-12);
    CHECK_NEAR(score.wmape, 100 * 1.0 / 8 / 3, 1e-12);
    CHECK_NEAR(score.median, 10, 1e-12);
    CHECK_NEAR(score.p90, 100 * (0.1 + 0.8 * 0.1), 1e-12); /* 0.1, 0.1, 0.2: at 1.8 */
    hl_project_scorer_release(&scorer);
    assert_int_equal(hl_project_scorer_finish(&scorer).count, 0);
}

static void a_truth_of_no_time_counts_as_a_tick(void **state)
{
    (void)state;
    hl_project_scorer scorer = {0};
    assert_true(hl_project_scorer_add(&scorer, 0, 0));
    assert_true(hl_project_scorer_add(&scorer, 0, 3e-9));
    const haul_score score = hl_project_scorer_finish(&scorer);
    CHECK_NEAR(score.wape, 300, 1e-12);
    CHECK_NEAR(score.median, 150, 1e-12);
    hl_project_scorer_release(&scorer);
}

static void alike_copies_come_together_in_order(void **state)
{
    (void)state;
    by_hand hand = {0};
    by_hand_copy(&hand, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 10, 100, 7);
    by_hand_copy(&hand, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 20, 90, 5);
    by_hand_add(&hand, HAUL_OP_KERNEL, 80, 5);
    by_hand_copy(&hand, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 20, 70, 5);
    by_hand_copy(&hand, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 20, 60, 3);
    by_hand_copy(&hand, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 10, 50, 2);
    const haul_workload *workload = by_hand_finish(&hand);
    hl_project_size_classes classes;
    assert_int_equal(hl_project_size_classes_make(workload, NULL, &classes, NULL), HAUL_OK);
    assert_int_equal(classes.op_count, 5);
    assert_int_equal(classes.count, 4);
    const uint32_t order[] = {2, 0, 1, 4, 5}; /* of start: 50 60 70 80 90 100 */
    assert_memory_equal(classes.ops, order, sizeof order);
    assert_int_equal(hl_project_size_group(&classes, 1).end, 3);
    assert_int_equal(classes.items[2].count, 2);
    CHECK_NEAR(classes.items[2].time_ns, 8, 0);
    double scratch[2];
    CHECK_NEAR(hl_project_size_class_median_ns(workload, &classes, &classes.items[2], scratch), 4,
               0);
    hl_project_size_classes_release(&classes);

    const bool any[HAUL_DIRECTIONS] = {[HAUL_DIRECTION_HTOD] = true};
    assert_int_equal(hl_project_size_classes_make(
                         workload, &(hl_project_size_options){.any_memory = any}, &classes, NULL),
                     HAUL_OK);
    assert_int_equal(classes.count, 3);
    assert_int_equal(classes.items[1].count, 3);
    hl_project_size_classes_release(&classes);
    by_hand_release(&hand);
}

static void many_sizes_are_told_apart(void **state)
{
    (void)state;
    enum { SIZES = 5000 };
    by_hand hand = {0};
    for (int i = 0; i < 2 * SIZES; i++)
        by_hand_copy(&hand, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, (uint64_t)(i % SIZES) << 20, i,
                     1);
    hl_project_size_classes classes;
    assert_int_equal(hl_project_size_classes_make(by_hand_finish(&hand), NULL, &classes, NULL),
                     HAUL_OK);
    assert_int_equal(classes.count, SIZES);
    for (size_t c = 0; c < SIZES; c++) {
        assert_int_equal(classes.items[c].count, 2);
        assert_int_equal(classes.items[c].bytes, (uint64_t)c << 20);
    }
    const hl_project_size_stride stride =
        hl_project_size_thin(&classes, (hl_project_class_range){0, SIZES}, 1000);
    assert_in_range((SIZES + stride.classes - 1) / stride.classes, 1, 1000);
    hl_project_size_classes_release(&classes);
    by_hand_release(&hand);
}

static void no_copies_make_no_classes(void **state)
{
    (void)state;
    by_hand hand = {0};
    hl_project_size_classes classes;
    assert_int_equal(hl_project_size_classes_make(by_hand_finish(&hand), NULL, &classes, NULL),
                     HAUL_OK);
    assert_int_equal(classes.count, 0);
    hl_project_contention contention;
    assert_int_equal(hl_project_contention_find(&hand.workload, &classes, &contention, NULL),
                     HAUL_OK);
    assert_null(contention.share);
    hl_project_size_classes_release(&classes);
    hl_project_contention_release(&contention);
}

static void a_device_is_busy_once_however_many_copy(void **state)
{
    (void)state;
    by_hand hand = {0};
    by_hand_copy(&hand, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 1, 0, 10);
    by_hand_copy(&hand, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 1, 5, 10);
    by_hand_copy(&hand, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 1, 30, 10);
    by_hand_copy(&hand, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 1, 0, 100)->stream =
        4; /* the other device */
    by_hand_copy(&hand, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1, 10, 25);
    by_hand_copy(&hand, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1, 50, 25);
    by_hand_copy(&hand, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1, 12, 0);
    const haul_workload *workload = by_hand_finish(&hand);
    float share[7] = {0};
    assert_int_equal(
        hl_project_traffic_shares(workload, HAUL_DIRECTION_HTOD, HAUL_DIRECTION_DTOH, share, NULL),
        HAUL_OK);
    for (size_t i = 0; i < workload->op_count; i++) {
        const haul_op *op = &workload->ops[i];
        const bool meets = op->direction == HAUL_DIRECTION_HTOD && op->start_ns == 10;
        /* 10 to 35 meets 10 to 15 and 30 to 35 */
        CHECK_NEAR(share[i], meets ? 10.0 / 25 : 0, 1e-6);
    }
    by_hand_release(&hand);
}

/* Copies of `bytes` that take `base` alone and lose `loss` of their speed while the other direction
 * is busy, which it is for a different part of each; `noise` is their spread. */
static void add_colliding(by_hand *hand, int count, double base, double loss, double noise)
{
    uint32_t random = 1;
    for (int i = 0; i < count; i++) {
        const double share = (i % 5) / 5.0;
        random = random * 1664525 + 1013904223;
        const double spread = 1 + noise * ((random >> 8) / 8388608.0 - 1);
        const double time = base * spread / (1 - loss * share);
        const int64_t start = (int64_t)i * 1000000;
        by_hand_copy(hand, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 4096, start, (int64_t)time);
        if (share > 0)
            by_hand_copy(hand, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 4096, start,
                         (int64_t)(share * time));
    }
}

static hl_project_contention collisions_of(by_hand *hand, hl_project_size_classes *classes)
{
    hl_project_contention contention;
    const haul_workload *workload = by_hand_finish(hand);
    assert_int_equal(hl_project_size_classes_make(workload, NULL, classes, NULL), HAUL_OK);
    assert_int_equal(hl_project_contention_find(workload, classes, &contention, NULL), HAUL_OK);
    return contention;
}

static void the_lost_speed_is_found(void **state)
{
    (void)state;
    by_hand hand = {0};
    add_colliding(&hand, 40, 100000, 0.4, 0.02);
    hl_project_size_classes classes;
    hl_project_contention contention = collisions_of(&hand, &classes);
    CHECK_NEAR(contention.loss[HAUL_DIRECTION_HTOD][HAUL_MEMORY_PINNED], 0.4, 0.05);
    assert_int_equal(contention.contended[HAUL_DIRECTION_HTOD][HAUL_MEMORY_PINNED], 32);
    hl_project_contention_release(&contention);
    hl_project_size_classes_release(&classes);
    by_hand_release(&hand);
}

static void noise_is_not_taken_for_collisions(void **state)
{
    (void)state;
    by_hand hand = {0};
    add_colliding(&hand, 40, 100000, 0, 0.3);
    hl_project_size_classes classes;
    hl_project_contention contention = collisions_of(&hand, &classes);
    CHECK_NEAR(contention.loss[HAUL_DIRECTION_HTOD][HAUL_MEMORY_PINNED], 0, 0);
    CHECK_NEAR(hl_project_contention_speed(&contention, &classes.items[0], 1), 1, 0);
    hl_project_contention_release(&contention);
    hl_project_size_classes_release(&classes);
    by_hand_release(&hand);
}

static void copies_are_paired_in_order_within_their_size(void **state)
{
    (void)state;
    by_hand mine = {0}, theirs = {0};
    by_hand_copy(&mine, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 10, 0, 1);
    by_hand_copy(&mine, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 20, 10, 2);
    by_hand_copy(&mine, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 10, 20, 3);
    by_hand_copy(&mine, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 30, 30, 4);
    by_hand_copy(&mine, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 30, 40, 5);
    by_hand_copy(&theirs, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 20, 0, 200);
    by_hand_copy(&theirs, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 10, 10, 100);
    by_hand_copy(&theirs, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 10, 20, 101);
    by_hand_copy(&theirs, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 10, 30, 102);
    by_hand_copy(&theirs, HAUL_DIRECTION_DTOH, HAUL_MEMORY_HOST, 30, 40, 300);
    hl_project_reference pairs;
    assert_int_equal(
        hl_project_reference_pair(by_hand_finish(&mine), by_hand_finish(&theirs), &pairs, NULL),
        HAUL_OK);
    const int64_t expected[] = {100, 200, 101, HL_PROJECT_NO_PARTNER, 300};
    assert_memory_equal(pairs.partner_ns, expected, sizeof expected);
    assert_int_equal(pairs.matched, 4);
    assert_int_equal(pairs.unmatched, 2);
    assert_false(pairs.any_memory[HAUL_DIRECTION_HTOD]);
    assert_true(pairs.any_memory[HAUL_DIRECTION_DTOH]);

    hl_project_size_classes classes;
    assert_int_equal(hl_project_size_classes_make(&mine.workload, NULL, &classes, NULL), HAUL_OK);
    const double prices[] = {220e-9, 200e-9, 1, (double)NAN}; /* of both copies of 10 bytes, ... */
    haul_score score;
    assert_int_equal(hl_project_reference_score(&pairs, &classes, (hl_project_class_range){0, 4},
                                                prices, &score, NULL),
                     HAUL_OK);
    assert_int_equal(score.count, 3);
    CHECK_NEAR(score.wape, 100 * (10 + 9 + 0) / 401.0, 1e-9);
    hl_project_size_classes_release(&classes);
    hl_project_reference_release(&pairs);
    by_hand_release(&mine);
    by_hand_release(&theirs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_those_computed_by_hand),
        cmocka_unit_test(a_truth_of_no_time_counts_as_a_tick),
        cmocka_unit_test(alike_copies_come_together_in_order),
        cmocka_unit_test(many_sizes_are_told_apart),
        cmocka_unit_test(no_copies_make_no_classes),
        cmocka_unit_test(a_device_is_busy_once_however_many_copy),
        cmocka_unit_test(the_lost_speed_is_found),
        cmocka_unit_test(noise_is_not_taken_for_collisions),
        cmocka_unit_test(copies_are_paired_in_order_within_their_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
