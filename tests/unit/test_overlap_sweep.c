/* Each strategy's form beside its timeline, over random machines, sizes and numbers of streams. */
#include "check.h"

#include "any_overlap.h"
#include "haul/overlap.h"
#include "overlap/formulas.h"

enum { CASES = SWEEP(6000) };

static double play(const overlap_draw *self, haul_strategy strategy)
{
    double seconds = 0;
    haul_error error;
    if (haul_overlap_play(&self->of, strategy, self->streams, &seconds, &error))
        fail_msg("%s", error.text);
    return seconds;
}

/* Whole nanoseconds: of each kernel's and copy's end, and of each change of a copy's speed. */
static double rounding(const overlap_draw *self, double seconds)
{
    return 1e-9 * (5 + 2 * self->streams) + 1e-12 * seconds;
}

static void forms_and_timelines_agree_where_they_assume_the_same(void **state)
{
    (void)state;
    uint64_t seed = 11;
    unsigned met = 0;
    for (int i = 0; i < CASES; i++) {
        const overlap_draw any = any_draw(&seed);
        for (int s = 0; s < HAUL_STRATEGIES; s++) {
            const haul_strategy strategy = (haul_strategy)s;
            if (haul_overlap_unmet(&any.of, strategy, any.streams))
                continue;
            const double analytical_s = haul_overlap_time(&any.of, strategy, any.streams);
            const double played_s = play(&any, strategy);
            CHECK_NEAR(played_s, analytical_s, 0.01);
            assert_true(fabs(played_s - analytical_s) <= rounding(&any, analytical_s));
            met += strategy == HAUL_STRATEGY_STREAMS || strategy == HAUL_STRATEGY_HYBRID;
        }
    }
    assert_true(met > CASES / 2);
}

static void timelines_lie_within_their_limits(void **state)
{
    (void)state;
    uint64_t seed = 12;
    for (int i = 0; i < CASES; i++) {
        const overlap_draw any = any_draw(&seed);
        for (int s = HAUL_STRATEGY_STREAMS; s <= HAUL_STRATEGY_HYBRID;
             s += HAUL_STRATEGY_HYBRID - HAUL_STRATEGY_STREAMS) {
            double low_s = 0;
            double high_s = 0;
            const double played_s = play(&any, (haul_strategy)s);
            haul_overlap_limits(&any.of, (haul_strategy)s, any.streams, &low_s, &high_s);
            assert_true(played_s >= low_s - rounding(&any, low_s));
            assert_true(played_s <= high_s + rounding(&any, high_s));
        }
    }
}

/* The kernels of hybrid write the last chunk while they compute it. */
static void what_the_ends_bring_is_known(void **state)
{
    (void)state;
    uint64_t seed = 13;
    unsigned seen = 0;
    for (int i = 0; i < CASES; i++) {
        const overlap_draw any = any_draw(&seed);
        const haul_overlap_leg *out = &any.of.out;
        const double s = any.streams, kernel_s = any.of.kernel_s / s;
        const double data_s = out->bytes * out->per_byte_s / s;
        const double of_ends_s = fmin(kernel_s, out->times * data_s);
        if (haul_overlap_unmet(&any.of, HAUL_STRATEGY_HYBRID, any.streams) ==
            HAUL_ASSUMPTION_ENDS) {
            const double analytical_s =
                haul_overlap_time(&any.of, HAUL_STRATEGY_HYBRID, any.streams);
            const double played_s = play(&any, HAUL_STRATEGY_HYBRID);
            assert_true(fabs(analytical_s - of_ends_s - played_s) <= rounding(&any, analytical_s));
            seen++;
        }
    }
    assert_true(seen > CASES / 8);
}

static hl_overlap_leg_times leg_times(const haul_overlap_leg *leg)
{
    return (hl_overlap_leg_times){leg->latency_s, leg->bytes * leg->per_byte_s, leg->gap_s};
}

/* The paper's scenario by what dominates, where the form takes the longer: in mixed ones it is less
 * by at most a chunk each way or the gaps. */
static void mixed_scenarios_are_short_by_a_chunk(void **state)
{
    (void)state;
    uint64_t seed = 14;
    unsigned mixed = 0;
    for (int i = 0; i < CASES; i++) {
        const overlap_draw any = any_draw(&seed);
        const double s = any.streams;
        const hl_overlap_formula f = {leg_times(&any.of.in), leg_times(&any.of.out),
                                      any.of.kernel_s};
        if (any.of.device == HAUL_TWO_ENGINES)
            continue;
        const bool sync = any.of.device == HAUL_IMPLICIT_SYNC;
        const bool kernel = haul_overlap_kernel_dominates(&any.of);
        const double by_kernel_s =
            sync ? hl_overlap_formula_sync_kernel(&f, s) : hl_overlap_formula_one_kernel(&f, s);
        const double by_copies_s =
            sync ? hl_overlap_formula_sync_transfer(&f, s) : hl_overlap_formula_one_transfer(&f, s);
        const double chosen_s = kernel ? by_kernel_s : by_copies_s;
        const double short_s =
            haul_overlap_time(&any.of, HAUL_STRATEGY_STREAMS, any.streams) - chosen_s;
        const double chunk_s = (f.h.data_s + f.d.data_s) / s;
        const double gaps_s = (s - 1) * (f.h.gap_s + f.d.gap_s);
        assert_true(short_s >= -1e-12 * chosen_s);
        assert_true(short_s <= fmax(chunk_s, gaps_s) + 1e-12 * chosen_s);
        mixed += short_s > 0.01 * chosen_s;
    }
    assert_true(mixed > 0);
}

/* How far a form may be from its limits: those of a copy's latency and of what company slows. */
static void limits_are_near_where_copies_keep_their_speed(void **state)
{
    (void)state;
    uint64_t seed = 15;
    for (int i = 0; i < CASES; i++) {
        const overlap_draw any = any_draw(&seed);
        for (int s = 0; s < HAUL_STRATEGIES; s++) {
            double low_s = 0;
            double high_s = 0;
            const haul_overlap_leg *out = &any.of.out;
            const unsigned unmet = haul_overlap_unmet(&any.of, (haul_strategy)s, any.streams);
            haul_overlap_limits(&any.of, (haul_strategy)s, any.streams, &low_s, &high_s);
            const double apart_s = high_s - low_s;
            assert_true(apart_s >= -1e-12 * high_s);
            if (!(unmet & HAUL_ASSUMPTION_CONTENTION))
                assert_true(apart_s <=
                            fabs(out->latency_s - out->gap_s) * (1 + 1e-9) + 1e-12 * high_s);
            if (!(unmet & (HAUL_ASSUMPTION_CONTENTION | HAUL_ASSUMPTION_MAPPED |
                           HAUL_ASSUMPTION_ENDS | HAUL_ASSUMPTION_GAP))) {
                const double analytical_s =
                    haul_overlap_time(&any.of, (haul_strategy)s, any.streams);
                CHECK_NEAR(high_s, analytical_s, 1e-12);
            }
        }
    }
}

static double spread(const haul_overlap_leg *leg)
{
    return fabs(leg->latency_s - leg->gap_s);
}

/* Company for all of a copy is the most: no timeline is longer than its form but for latencies.
 * Mapped memory's form has no company. */
static void forms_are_not_exceeded(void **state)
{
    (void)state;
    uint64_t seed = 16;
    for (int i = 0; i < CASES; i++) {
        const overlap_draw any = any_draw(&seed);
        const double latencies_s = spread(&any.of.in) + spread(&any.of.out);
        for (int s = 0; s < HAUL_STRATEGIES; s++) {
            double analytical_s = haul_overlap_time(&any.of, (haul_strategy)s, any.streams);
            if (s == HAUL_STRATEGY_MAPPED)
                analytical_s = hl_overlap_mapped_both_ways(&any.of);
            assert_true(play(&any, (haul_strategy)s) <=
                        analytical_s + latencies_s + rounding(&any, analytical_s));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_and_timelines_agree_where_they_assume_the_same),
        cmocka_unit_test(what_the_ends_bring_is_known),
        cmocka_unit_test(mixed_scenarios_are_short_by_a_chunk),
        cmocka_unit_test(limits_are_near_where_copies_keep_their_speed),
        cmocka_unit_test(forms_are_not_exceeded),
        cmocka_unit_test(timelines_lie_within_their_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
