/* The closed forms: by hand, at their limits, and over random cases. */
#include "check.h"

#include <string.h>

#include "any_overlap.h"
#include "haul/overlap.h"
#include "machine_named.h"
#include "overlap/formulas.h"

static void check_within(double value, double expected, double by)
{
    assert_true(fabs(value - expected) <= by);
}

/* L+o 1, B G 40 in and 20 back, g 0.5 and 0.25, a kernel of 100: four streams. */
static const hl_overlap_formula by_hand = {{1, 40, 0.5}, {1, 20, 0.25}, 100};

static void test_forms_by_hand(void **state)
{
    (void)state;
    const hl_overlap_formula *f = &by_hand;
    check_within(hl_overlap_formula_explicit(f), 41 + 100 + 21, 1e-12);
    check_within(hl_overlap_formula_sync_kernel(f, 4), (1 + 10) + 100 + (21 + 0.75), 1e-12);
    check_within(hl_overlap_formula_sync_transfer(f, 4), 42.5 + 25 + 21.75, 1e-12);
    check_within(hl_overlap_formula_one_kernel(f, 4), 11 + 100 + 6, 1e-12);
    /* engine 42.5 + 21.75 = 64.25; in 42.5 + 25 + 6 = 73.5; out 11 + 25 + 21.75 = 57.75 */
    check_within(hl_overlap_formula_one_transfer(f, 4), 73.5, 1e-12);
    check_within(hl_overlap_formula_two(f, 4), 117, 1e-12);
    check_within(hl_overlap_formula_mapped(f), 1 + 100 + 1, 1e-12);
    hl_overlap_formula copies = by_hand;
    copies.kernel_s = 4;
    check_within(hl_overlap_formula_one_transfer(&copies, 4), 64.25, 1e-12);
    check_within(hl_overlap_formula_two(&copies, 4), 42.5 + 1 + 6, 1e-12);
    check_within(hl_overlap_formula_mapped(&copies), 41 + 1, 1e-12);
    copies.d.data_s = 80;
    check_within(hl_overlap_formula_two(&copies, 4), 11 + 1 + 81.75, 1e-12);
    check_within(hl_overlap_formula_mapped(&copies), 1 + 81, 1e-12);
}

enum { CASES = 20000 };

static void test_one_stream_is_explicit(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < CASES; i++) {
        haul_overlap_case any = any_case(&seed);
        const double explicit_s = haul_overlap_time(&any, HAUL_STRATEGY_EXPLICIT, 1);
        CHECK_NEAR(haul_overlap_time(&any, HAUL_STRATEGY_STREAMS, 1), explicit_s, 1e-12);
        assert_true(haul_overlap_time(&any, HAUL_STRATEGY_HYBRID, 1) >= explicit_s * (1 - 1e-12));
        any.in.mapped_per_byte_s = any.in.per_byte_s;
        any.out.mapped_per_byte_s = any.out.per_byte_s;
        any.out.times = 1;
        CHECK_NEAR(haul_overlap_time(&any, HAUL_STRATEGY_HYBRID, 1), explicit_s, 1e-12);
    }
}

static bool is_mapping(haul_strategy strategy)
{
    return strategy == HAUL_STRATEGY_MAPPED || strategy == HAUL_STRATEGY_HYBRID;
}

static double claim(haul_strategy strategy)
{
    return is_mapping(strategy) ? 1.05 : 1;
}

/* Of copies, in the best of the numbers of streams that programs use. */
static double copied_s(const haul_overlap *of)
{
    const haul_overlap_row *streams = &of->rows[HAUL_STRATEGY_STREAMS];
    double least_s = fmin(of->rows[HAUL_STRATEGY_EXPLICIT].seconds, streams->seconds);
    for (int i = 0; i < HAUL_USUAL_STREAMS && !of->asked; i++)
        least_s = fmin(least_s, streams->usual_s[i]);
    return least_s;
}

/* A strategy that maps memory is chosen where it is faster than all copies by more than its
 * predictions are off. */
static void check_choice(const haul_overlap *of)
{
    const double best_s = of->rows[of->best].seconds * claim(of->best);
    assert_true(!is_mapping(of->best) || best_s < copied_s(of));
    for (int s = 0; s < HAUL_STRATEGIES; s++) {
        const double other_s = of->rows[s].seconds * claim((haul_strategy)s);
        assert_true(other_s >=
                    (is_mapping((haul_strategy)s) ? fmin(best_s, copied_s(of)) : best_s));
    }
}

/* Nothing is faster than all at once; streams without cost come to it, or to what one engine
 * allows. */
static void test_bounds_hold(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int i = 0; i < CASES; i++) {
        const haul_overlap_case any = any_case(&seed);
        haul_overlap found;
        haul_overlap_compare(&any, (uint32_t)(next(&seed) % 3 * 20), &found);
        assert_true(found.full_s <= found.none_s);
        assert_true(found.full_s <= found.mapped_s);
        assert_true(found.gain >= 1);
        assert_true(found.rows[HAUL_STRATEGY_EXPLICIT].seconds >= found.none_s * (1 - 1e-12));
        assert_true(found.rows[HAUL_STRATEGY_MAPPED].seconds >= found.mapped_s * (1 - 1e-12));
        for (int s = 0; s < HAUL_STRATEGIES; s++) {
            assert_true(found.rows[s].seconds >= found.full_s * (1 - 1e-12));
            assert_true(found.rows[s].seconds >= found.rows[s].bound_s * (1 - 1e-12));
        }
        check_choice(&found);
    }
}

static void test_streams_without_cost_reach_the_bound(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < CASES; i++) {
        haul_overlap_case any = any_case(&seed);
        any.device = i % 2 ? HAUL_TWO_ENGINES : HAUL_ONE_ENGINE;
        any.in.gap_s = any.out.gap_s = any.in.latency_s = any.out.latency_s = 0;
        any.in.busy_per_byte_s = any.in.per_byte_s;
        any.out.busy_per_byte_s = any.out.per_byte_s;
        haul_overlap found;
        haul_overlap_compare(&any, 0, &found);
        double least_s = found.full_s;
        if (any.device == HAUL_ONE_ENGINE)
            least_s = fmax(any.kernel_s,
                           any.in.bytes * any.in.per_byte_s + any.out.bytes * any.out.per_byte_s);
        CHECK_NEAR(found.rows[HAUL_STRATEGY_STREAMS].least_s, least_s,
                   3.0 / HAUL_OVERLAP_STREAMS_MOST);
    }
}

/* The fewest of 1, 2, 4, ... 32 streams within 5 % of the best of all numbers; never more. */
static void test_streams_are_a_number_that_programs_use(void **state)
{
    (void)state;
    uint64_t seed = 9;
    for (int i = 0; i < CASES / 10; i++) {
        const haul_overlap_case any = any_case(&seed);
        haul_overlap found;
        haul_overlap_compare(&any, 0, &found);
        for (int s = 0; s < HAUL_STRATEGIES; s++) {
            const haul_overlap_row *row = &found.rows[s];
            double best_s = row->usual_s[0];
            for (int k = 0; k < HAUL_USUAL_STREAMS; k++) {
                const uint32_t streams = UINT32_C(1) << k;
                assert_true(row->usual_s[k] == haul_overlap_time(&any, (haul_strategy)s, streams));
                if (streams < row->streams)
                    assert_true(row->usual_s[k] > 1.05 * row->least_s);
                best_s = fmin(best_s, row->usual_s[k]);
            }
            assert_true(row->streams <= 32 && !(row->streams & (row->streams - 1)));
            assert_true(row->seconds <= 1.05 * row->least_s || row->seconds == best_s);
        }
    }
}

/* More bytes, a longer kernel, a slower link or a longer gap never help; nor do fewer engines. */
static void test_forms_are_monotone(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int i = 0; i < CASES; i++) {
        const haul_overlap_case any = any_case(&seed);
        haul_overlap_case more = any;
        double *const figures[] = {&more.kernel_s,      &more.in.latency_s,  &more.in.gap_s,
                                   &more.out.latency_s, &more.out.gap_s,     &more.in.times,
                                   &more.in.per_byte_s, &more.out.per_byte_s};
        *figures[next(&seed) % 8] *= between(&seed, 1, 3);
        more.in.busy_per_byte_s = fmax(more.in.busy_per_byte_s, more.in.per_byte_s);
        more.out.busy_per_byte_s = fmax(more.out.busy_per_byte_s, more.out.per_byte_s);
        const uint32_t streams = (uint32_t)(1 + next(&seed) % 100);
        for (int s = 0; s < HAUL_STRATEGIES; s++)
            assert_true(haul_overlap_time(&more, (haul_strategy)s, streams) >=
                        haul_overlap_time(&any, (haul_strategy)s, streams) * (1 - 1e-12));
        haul_overlap_case devices[3] = {any, any, any};
        for (int kind = 0; kind < 3; kind++) {
            devices[kind].device = (haul_overlap_device_kind)kind;
            devices[kind].in.busy_per_byte_s = any.in.per_byte_s;
            devices[kind].out.busy_per_byte_s = any.out.per_byte_s;
        }
        for (int kind = 0; kind < 2; kind++)
            assert_true(haul_overlap_time(&devices[kind], HAUL_STRATEGY_STREAMS, streams) >=
                        haul_overlap_time(&devices[kind + 1], HAUL_STRATEGY_STREAMS, streams) *
                            (1 - 1e-12));
    }
}

static double least_of(const haul_overlap_case *self, haul_strategy strategy, uint32_t most)
{
    double least_s = INFINITY;
    for (uint32_t s = 1; s <= most; s++)
        least_s = fmin(least_s, haul_overlap_time(self, strategy, s));
    return least_s;
}

static void test_best_streams_by_brute_force(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < 300; i++) {
        const haul_overlap_case any = any_case(&seed);
        const haul_strategy strategy = i % 2 ? HAUL_STRATEGY_STREAMS : HAUL_STRATEGY_HYBRID;
        const uint32_t best = haul_overlap_best_streams(&any, strategy);
        const uint32_t enough = haul_overlap_enough_streams(&any, strategy, 0.01);
        const double best_s = haul_overlap_time(&any, strategy, best);
        assert_in_range(best, 1, HAUL_OVERLAP_STREAMS_MOST);
        assert_in_range(enough, 1, best);
        assert_true(best_s <= least_of(&any, strategy, 4096) * (1 + 1e-12));
        assert_true(haul_overlap_time(&any, strategy, enough) <= best_s * 1.01);
        if (enough > 1)
            assert_true(least_of(&any, strategy, enough - 1) > best_s * 1.01);
    }
}

static haul_overlap_leg leg(double bytes, double per_byte_s, double gap_s)
{
    return (haul_overlap_leg){bytes, 1, 1e-5, per_byte_s, gap_s, per_byte_s, per_byte_s};
}

/* The paper's formulas give what a search over its equation finds, to a stream. */
static void test_useful_streams(void **state)
{
    (void)state;
    haul_overlap_case sync = {HAUL_IMPLICIT_SYNC, leg(1e8, 1e-10, 4e-6), leg(5e7, 1e-10, 4e-6),
                              .kernel_s = 0.1};
    CHECK_NEAR(haul_overlap_useful_streams(&sync, true), sqrt(1e-2 / 4e-6), 1e-12);
    check_within(haul_overlap_best_streams(&sync, HAUL_STRATEGY_STREAMS), 50, 1);
    assert_true(haul_overlap_kernel_dominates(&sync));
    sync.kernel_s = 5e-3;
    CHECK_NEAR(haul_overlap_useful_streams(&sync, false), sqrt(5e-3 / 8e-6), 1e-12);
    check_within(haul_overlap_best_streams(&sync, HAUL_STRATEGY_STREAMS), 25, 1);
    assert_false(haul_overlap_kernel_dominates(&sync));

    const haul_overlap_case two = {HAUL_TWO_ENGINES, leg(1e8, 1e-10, 4e-6), leg(5e7, 1e-10, 4e-6),
                                   .kernel_s = 5e-3};
    CHECK_NEAR(haul_overlap_useful_streams(&two, false), sqrt((5e-3 + 5e-3) / 4e-6), 1e-12);
    check_within(haul_overlap_best_streams(&two, HAUL_STRATEGY_STREAMS), 50, 1);
    assert_true(isinf(haul_overlap_useful_streams(&two, true)));

    /* the solved equation: the smallest s from which one engine's copies hide the kernel */
    const haul_overlap_case one = {HAUL_ONE_ENGINE, leg(1e8, 1e-10, 4e-6), leg(5e7, 1e-10, 4e-6),
                                   .kernel_s = 9e-3};
    const double s = haul_overlap_useful_streams(&one, false);
    CHECK_NEAR(5e-3 + 4e-6 * (s - 1), (9e-3 + 5e-3) / s, 1e-9);
    assert_int_equal(haul_overlap_best_streams(&one, HAUL_STRATEGY_STREAMS), ceil(s));
}

static void test_useful_streams_are_a_number_or_infinite(void **state)
{
    (void)state;
    uint64_t seed = 6;
    for (int i = 0; i < CASES; i++) {
        const haul_overlap_case any = any_case(&seed);
        assert_true(haul_overlap_useful_streams(&any, true) >= 1);
        assert_true(haul_overlap_useful_streams(&any, false) >= 1);
    }
}

/* The limit is where mapped memory stops being faster: just below it it is, just above it not. */
static void check_most(const haul_overlap_case *self, const haul_overlap *of, bool out, double most)
{
    const haul_overlap_row *best = &of->rows[of->best];
    const double steps[] = {0.999, 1.002};
    for (int i = 0; i < 2; i++) {
        haul_overlap_case there = *self;
        (out ? &there.out : &there.in)->times = most * steps[i];
        const double mapped_s =
            claim(of->best) * haul_overlap_time(&there, best->strategy, best->streams);
        assert_true(i ? mapped_s > copied_s(of) : mapped_s <= copied_s(of));
    }
}

static void test_how_often_mapped_bytes_may_cross(void **state)
{
    (void)state;
    uint64_t seed = 11;
    int checked[2] = {0};
    for (int i = 0; i < CASES; i++) {
        const haul_overlap_case any = any_case(&seed);
        haul_overlap of;
        haul_overlap_compare(&any, 0, &of);
        const bool is_mapped = of.best == HAUL_STRATEGY_MAPPED;
        const bool is_written = is_mapped || of.best == HAUL_STRATEGY_HYBRID;
        assert_true(is_mapped ? isnan(of.reads_most) == !(any.in.bytes > 0) : isnan(of.reads_most));
        assert_true(is_written || isnan(of.writes_most));
        if (isfinite(of.reads_most)) {
            check_most(&any, &of, false, of.reads_most);
            checked[0]++;
        }
        if (isfinite(of.writes_most)) {
            check_most(&any, &of, true, of.writes_most);
            checked[1]++;
        }
    }
    assert_true(checked[0] > CASES / 20 && checked[1] > CASES / 20);
}

/* Table I's machine: what the paper measured is what a machine's figures become. */
static void test_machine_figures(void **state)
{
    (void)state;
    haul_machine *titan = machine_named("gtx-titan");
    haul_overlap_case found;
    haul_error error;
    const haul_overlap_work work = {.in_bytes = 1 << 26, .out_bytes = 1 << 25, .kernel_s = 1e-3};
    assert_int_equal(haul_overlap_describe(titan, &work, &found, &error), HAUL_OK);
    assert_int_equal(found.device, HAUL_ONE_ENGINE);
    CHECK_NEAR(found.in.latency_s, 9.420e-6, 1e-9);
    CHECK_NEAR(found.in.per_byte_s, 8.318392e-11, 1e-9);
    CHECK_NEAR(found.out.per_byte_s, 7.924734e-11, 1e-9);
    CHECK_NEAR(found.in.gap_s, 2.503e-6, 1e-9);
    CHECK_NEAR(found.in.mapped_per_byte_s, 1.193386e-10, 1e-9);
    assert_int_equal(found.assumed, 0);
    assert_int_equal(found.weakest, HAUL_PROVENANCE_PUBLISHED);

    haul_overlap_case faster;
    int generation = 0;
    assert_int_equal(haul_overlap_next_generation(titan, &found, &faster, &generation, &error),
                     HAUL_OK);
    assert_int_equal(generation, 4);
    CHECK_NEAR(faster.in.per_byte_s, found.in.per_byte_s / 2, 1e-9);
    assert_true(faster.in.latency_s == found.in.latency_s);
    assert_int_equal(faster.weakest, HAUL_PROVENANCE_SCALED);
    titan->link.generation.value = 6;
    assert_int_equal(haul_overlap_next_generation(titan, &found, &faster, &generation, &error),
                     HAUL_STATUS_MISSING);
    titan->link.kind = HAUL_LINK_NVLINK;
    assert_int_equal(haul_overlap_next_generation(titan, &found, &faster, &generation, &error),
                     HAUL_STATUS_MISSING);
    haul_machine_free(titan);
}

static void test_machine_lacks(void **state)
{
    (void)state;
    haul_machine *titan = machine_named("gtx-titan");
    haul_overlap_case found = {.kernel_s = -7};
    haul_error error;
    haul_overlap_work work = {.in_bytes = 1 << 26, .out_bytes = 1 << 26, .kernel_s = 1e-3};
    titan->gpu.copy_engines.provenance = HAUL_PROVENANCE_NOT_GIVEN;
    haul_overlap_case open;
    assert_int_equal(haul_overlap_describe(titan, &work, &open, &error), HAUL_OK);
    assert_int_equal(open.assumed, HAUL_ASSUMED_BUSY | HAUL_ASSUMED_ENGINES);
    assert_int_equal(open.device, HAUL_TWO_ENGINES);
    assert_int_equal(open.weakest, HAUL_PROVENANCE_ASSUMED);
    assert_int_equal(haul_overlap_device_end(&open, 0), HAUL_TWO_ENGINES);
    assert_int_equal(haul_overlap_device_end(&open, 1), HAUL_ONE_ENGINE);
    const haul_parameter synchronises = titan->gpu.implicit_sync;
    titan->gpu.implicit_sync = (haul_parameter){.provenance = HAUL_PROVENANCE_NOT_GIVEN};
    assert_int_equal(haul_overlap_describe(titan, &work, &open, &error), HAUL_OK);
    assert_int_equal(haul_overlap_device_end(&open, 1), HAUL_IMPLICIT_SYNC);
    /* the interval holds what either kind of device takes */
    const haul_overlap_device_kind kinds[] = {HAUL_IMPLICIT_SYNC, HAUL_ONE_ENGINE,
                                              HAUL_TWO_ENGINES};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        double low_s, high_s;
        haul_overlap_interval(&open, HAUL_STRATEGY_STREAMS, 8, &low_s, &high_s);
        haul_overlap_case one = open;
        one.device = kinds[k];
        const double time_s = haul_overlap_time(&one, HAUL_STRATEGY_STREAMS, 8);
        assert_true(low_s <= time_s && time_s <= high_s);
    }
    titan->gpu.implicit_sync = synchronises;
    titan->gpu.copy_engines = (haul_parameter){2, HAUL_PROVENANCE_DATASHEET, NULL};
    work.kernel_s = NAN;
    assert_int_equal(haul_overlap_describe(titan, &work, &found, &error), HAUL_STATUS_BAD_INPUT);
    work.kernel_s = 1;
    work.reads = 0.5;
    assert_int_equal(haul_overlap_describe(titan, &work, &found, &error), HAUL_STATUS_BAD_INPUT);
    assert_true(found.kernel_s == -7);
    work.reads = 0;
    assert_int_equal(haul_overlap_describe(titan, &work, &found, &error), HAUL_OK);
    assert_int_equal(found.assumed, HAUL_ASSUMED_BUSY);
    assert_int_equal(found.weakest, HAUL_PROVENANCE_ASSUMED);
    work.out_bytes = 0; /* nothing comes the other way */
    assert_int_equal(haul_overlap_describe(titan, &work, &found, &error), HAUL_OK);
    assert_int_equal(found.assumed, 0);
    assert_true(found.out.latency_s == 0 && found.out.per_byte_s == 0);
    haul_machine_free(titan);
}

/* Every machine of the catalogue that has the figures answers with numbers. */
static void test_catalogue(void **state)
{
    (void)state;
    char **names = NULL;
    size_t count = 0, answered = 0;
    haul_error error;
    assert_int_equal(haul_catalogue_list(&names, &count, &error), HAUL_OK);
    for (size_t i = 0; i < count; i++) {
        haul_machine *machine = machine_named(names[i]);
        const haul_overlap_work work = {UINT64_MAX / 4, 1, 1.0, 0, 0};
        haul_overlap_case self;
        haul_overlap found;
        const haul_status status = haul_overlap_describe(machine, &work, &self, &error);
        if (status) /* boards alone */
            assert_true(status == HAUL_STATUS_MISSING &&
                        !haul_link_peak(&machine->link).provenance);
        answered += status == HAUL_OK;
        if (!status) {
            haul_overlap_compare(&self, 0, &found);
            assert_true(isfinite(found.rows[found.best].seconds) && found.gain >= 1);
        }
        haul_machine_free(machine);
    }
    assert_true(answered > 20);
    haul_names_free(names, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms_by_hand),
        cmocka_unit_test(test_one_stream_is_explicit),
        cmocka_unit_test(test_bounds_hold),
        cmocka_unit_test(test_streams_without_cost_reach_the_bound),
        cmocka_unit_test(test_forms_are_monotone),
        cmocka_unit_test(test_best_streams_by_brute_force),
        cmocka_unit_test(test_streams_are_a_number_that_programs_use),
        cmocka_unit_test(test_useful_streams),
        cmocka_unit_test(test_useful_streams_are_a_number_or_infinite),
        cmocka_unit_test(test_how_often_mapped_bytes_may_cross),
        cmocka_unit_test(test_machine_figures),
        cmocka_unit_test(test_machine_lacks),
        cmocka_unit_test(test_catalogue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
