/* Between which times a strategy lies: the forms at the ends of the copies' intervals. */
#include "check.h"

#include "any_overlap.h"
#include "haul/cost.h"
#include "machine_named.h"

static haul_estimate copy_of(const haul_machine *machine, haul_direction direction, uint64_t bytes)
{
    const haul_copy copy = {.bytes = bytes, .direction = direction, .memory = HAUL_MEMORY_PINNED};
    haul_model_ref model;
    haul_estimate found = {0};
    haul_error error;
    if (haul_model_find("auto", &model, &error) ||
        haul_copy_time(machine, model.model, &copy, &found, &error))
        fail_msg("%s", error.text);
    haul_model_release(&model);
    return found;
}

/* explicit is two copies and a kernel, which is exact. */
static void explicit_has_the_copies_interval(void **state)
{
    (void)state;
    haul_machine *titan = machine_named("gtx-titan");
    const haul_overlap_work work = {.in_bytes = 1 << 26, .out_bytes = 1 << 25, .kernel_s = 1e-2};
    const haul_estimate in = copy_of(titan, HAUL_DIRECTION_HTOD, work.in_bytes);
    const haul_estimate out = copy_of(titan, HAUL_DIRECTION_DTOH, work.out_bytes);
    haul_overlap_case found;
    haul_error error;
    double low_s = 0;
    double high_s = 0;
    assert_int_equal(haul_overlap_describe(titan, &work, &found, &error), HAUL_OK);
    assert_true(in.low_s < in.seconds && in.seconds < in.high_s);
    haul_overlap_interval(&found, HAUL_STRATEGY_EXPLICIT, 1, &low_s, &high_s);
    CHECK_NEAR(low_s, in.low_s + 1e-2 + out.low_s, 1e-9);
    CHECK_NEAR(high_s, in.high_s + 1e-2 + out.high_s, 1e-9);
    haul_machine_free(titan);
}

/* A gap that is not known is anything up to a latency; rates of copies both ways are what others
 * measured; a figure that is known keeps its ratio. */
static void what_is_assumed_widens(void **state)
{
    (void)state;
    haul_machine *titan = machine_named("gtx-titan");
    const haul_overlap_work work = {.in_bytes = 1 << 26, .out_bytes = 1 << 25, .kernel_s = 1e-3};
    haul_overlap_case found;
    haul_error error;
    assert_int_equal(haul_overlap_describe(titan, &work, &found, &error), HAUL_OK);
    for (int end = 0; end < 2; end++) {
        const haul_overlap_leg *in = &found.in_ends[end];
        assert_true(in->gap_s == found.in.gap_s);
        CHECK_NEAR(in->mapped_per_byte_s / in->per_byte_s,
                   found.in.mapped_per_byte_s / found.in.per_byte_s, 1e-12);
    }
    const haul_copy_curve *kept = titan->copies;
    haul_copy_curve bare[8];
    assert_true(titan->copy_count <= 8);
    for (size_t i = 0; i < titan->copy_count; i++) {
        bare[i] = kept[i];
        bare[i].gap_s = bare[i].mapped_rate_Bps = (haul_parameter){0};
    }
    titan->copies = bare;
    titan->gpu.copy_engines.value = 2;
    assert_int_equal(haul_overlap_describe(titan, &work, &found, &error), HAUL_OK);
    assert_int_equal(found.assumed, HAUL_ASSUMED_GAP | HAUL_ASSUMED_BUSY | HAUL_ASSUMED_MAPPED);
    const haul_overlap_leg *ends = found.out_ends;
    assert_true(ends[0].gap_s == 0);
    assert_true(ends[1].gap_s == ends[1].latency_s);
    CHECK_NEAR(ends[0].per_byte_s / ends[0].busy_per_byte_s, 0.93, 1e-12);
    CHECK_NEAR(ends[1].per_byte_s / ends[1].mapped_per_byte_s, 0.54, 1e-12);
    titan->copies = kept;
    haul_machine_free(titan);
}

/* 1 s in and 1.5 s back, at half and at three quarters of their speed while they meet: in takes 2
 * s, back has had all of its 2 s in company. */
static void mapped_directions_slow_each_other(void **state)
{
    (void)state;
    const haul_overlap_leg in = {
        .bytes = 1e9, .times = 1, .per_byte_s = 1e-9, .mapped_per_byte_s = 2e-9};
    const haul_overlap_leg out = {
        .bytes = 1e9, .times = 1.5, .per_byte_s = 1e-9, .mapped_per_byte_s = 1e-9 / 0.75};
    haul_overlap_case self = {.in = in,
                              .out = out,
                              .kernel_s = 0.1,
                              .has_ends = true,
                              .in_ends = {in, in},
                              .out_ends = {out, out}};
    double low_s = 0;
    double high_s = 0;
    haul_overlap_interval(&self, HAUL_STRATEGY_MAPPED, 1, &low_s, &high_s);
    CHECK_NEAR(low_s, 1.5, 1e-12);
    CHECK_NEAR(high_s, 2, 1e-12);
    self.out_ends[1].times = 3; /* after 2 s 1.5 s are left, alone */
    haul_overlap_interval(&self, HAUL_STRATEGY_MAPPED, 1, &low_s, &high_s);
    CHECK_NEAR(high_s, 3.5, 1e-12);
    self.out_ends[1] = self.out = (haul_overlap_leg){0};
    haul_overlap_interval(&self, HAUL_STRATEGY_MAPPED, 1, &low_s, &high_s);
    CHECK_NEAR(high_s, 1, 1e-12);
}

static void check_orders(const haul_overlap_case *self, uint64_t *seed)
{
    haul_overlap found;
    haul_overlap_compare(self, (uint32_t)between(seed, 1, 300), &found);
    for (int s = 0; s < HAUL_STRATEGIES; s++) {
        const haul_overlap_row *row = &found.rows[s];
        assert_true(row->low_s <= row->seconds && row->seconds <= row->high_s);
        assert_true(row->low_s >= self->kernel_s && isfinite(row->high_s));
    }
}

/* Every machine that answers, now and on the next generation, from a byte to far too much. */
static void intervals_hold_the_time(void **state)
{
    (void)state;
    char **names = NULL;
    size_t count = 0;
    haul_error error;
    uint64_t seed = 21;
    assert_int_equal(haul_catalogue_list(&names, &count, &error), HAUL_OK);
    for (size_t i = 0; i < count * 40; i++) {
        haul_machine *machine = machine_named(names[i % count]);
        const haul_overlap_work work = {.in_bytes = (uint64_t)between(&seed, 1, 0x1p62),
                                        .out_bytes = (uint64_t)between(&seed, 1, 0x1p40),
                                        .kernel_s = between(&seed, 1e-6, 100)};
        haul_overlap_case now;
        haul_overlap_case then;
        int generation = 0;
        if (!haul_overlap_describe(machine, &work, &now, &error)) {
            check_orders(&now, &seed);
            if (!haul_overlap_next_generation(machine, &now, &then, &generation, &error)) {
                check_orders(&then, &seed);
                CHECK_NEAR(then.in_ends[1].per_byte_s / now.in_ends[1].per_byte_s,
                           then.in.per_byte_s / now.in.per_byte_s, 1e-12);
            }
        }
        haul_machine_free(machine);
    }
    haul_names_free(names, count);
}

static void a_case_without_ends_is_a_point(void **state)
{
    (void)state;
    uint64_t seed = 22;
    for (int i = 0; i < 1000; i++) {
        const haul_overlap_case any = any_case(&seed);
        for (int s = 0; s < HAUL_STRATEGIES; s++) {
            double low_s = 0;
            double high_s = 0;
            haul_overlap_interval(&any, (haul_strategy)s, 3, &low_s, &high_s);
            assert_true(low_s == high_s);
            assert_true(low_s == haul_overlap_time(&any, (haul_strategy)s, 3));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(explicit_has_the_copies_interval),
        cmocka_unit_test(what_is_assumed_widens),
        cmocka_unit_test(mapped_directions_slow_each_other),
        cmocka_unit_test(intervals_hold_the_time),
        cmocka_unit_test(a_case_without_ends_is_a_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
