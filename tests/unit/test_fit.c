#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "cost/curve.h"
#include "haul/fit.h"

/* A generator of its own, so that every C library gives the same samples. */
static double uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return (double)(*seed >> 11) * 0x1p-53;
}

static haul_sample sample_of(double bytes, double seconds)
{
    return (haul_sample){.copy = {.bytes = (uint64_t)bytes,
                                  .direction = HAUL_DIRECTION_DTOH,
                                  .memory = HAUL_MEMORY_PAGEABLE},
                         .seconds = seconds};
}

static haul_copy_curve fitted(const haul_sample *samples, size_t count, size_t points,
                              haul_fit_weight weight, haul_residuals *residuals)
{
    haul_copy_curve curve;
    haul_error error = {0};
    assert_int_equal(haul_fit_curve(samples, count, points, weight, &curve, residuals, &error),
                     HAUL_OK);
    const size_t got = hl_cost_curve_points(&curve);
    assert_true(got >= 1 && got <= points);
    for (size_t i = 0; i < got; i++) {
        assert_true(curve.points[i].seconds > 0);
        assert_true(!i || curve.points[i].bytes > curve.points[i - 1].bytes);
        if (i && weight == HAUL_FIT_RELATIVE)
            assert_true(curve.points[i].seconds >= curve.points[i - 1].seconds);
    }
    return curve;
}

/* A pageable copy: straight through up to 64 KiB, then a jump of 30 us, then out of cache. */
static double jumping(double bytes)
{
    if (bytes <= 65536)
        return 4e-6 + bytes / 5e9;
    const double staged = 34e-6 + bytes / 6e9;
    return bytes <= 8e6 ? staged : staged + (bytes - 8e6) / 12e9;
}

static size_t jumping_samples(haul_sample *samples, double noise, double outliers)
{
    uint64_t seed = 7;
    size_t count = 0;
    for (int i = 0; i < 160; i++) {
        const double bytes = floor(256 * pow(1.1, i));
        const double spread = 1 + noise * (uniform(&seed) - 0.5);
        const bool out = uniform(&seed) < outliers;
        samples[count++] = sample_of(bytes, jumping(bytes) * spread * (out ? 5 : 1));
    }
    return count;
}

static void straight_pieces_are_found_again(void **state)
{
    (void)state;
    haul_sample samples[400];
    haul_residuals residuals;
    const size_t count = jumping_samples(samples, 0, 0);
    /* three pieces and a jump: five points */
    const haul_copy_curve five = fitted(samples, count, 5, HAUL_FIT_RELATIVE, &residuals);
    assert_true(residuals.median < 0.2);
    assert_true(residuals.p90 < 1);
    assert_int_equal(residuals.samples, count);
    CHECK_NEAR(hl_cost_curve_seconds(&five, 2e9), jumping(2e9), 0.02);

    /* two pieces and a jump are exact in four */
    size_t below = count;
    while (samples[below - 1].copy.bytes > 8000000)
        below--;
    const haul_copy_curve four = fitted(samples, below, 4, HAUL_FIT_RELATIVE, &residuals);
    assert_true(residuals.p90 < 0.01);
    CHECK_NEAR(hl_cost_curve_seconds(&four, 1000), jumping(1000), 1e-4);
    CHECK_NEAR(hl_cost_curve_seconds(&four, 3e6), jumping(3e6), 1e-4);
}

static void outliers_do_not_count(void **state)
{
    (void)state;
    haul_sample samples[400];
    const size_t count = jumping_samples(samples, 0.02, 0.1);
    const haul_copy_curve curve = fitted(samples, count, 5, HAUL_FIT_RELATIVE, NULL);
    static const double probes[] = {1000, 30000, 300000, 4e6, 5e7, 5e8};
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
        CHECK_NEAR(hl_cost_curve_seconds(&curve, probes[i]), jumping(probes[i]), 0.02);
}

static void a_line_takes_two_points(void **state)
{
    (void)state;
    haul_sample samples[300];
    uint64_t seed = 3;
    for (size_t i = 0; i < 300; i++) {
        const double bytes = floor(exp(6 + 14 * uniform(&seed)));
        const double spread = 1 + 0.05 * (uniform(&seed) - 0.5);
        samples[i] = sample_of(bytes, (9e-6 + bytes / 12e9) * spread);
    }
    const haul_copy_curve curve = fitted(samples, 300, 8, HAUL_FIT_RELATIVE, NULL);
    assert_int_equal(hl_cost_curve_points(&curve), 2);
    CHECK_NEAR(hl_cost_curve_seconds(&curve, 0), 9e-6, 0.01);
}

static void few_sizes_give_their_medians(void **state)
{
    (void)state;
    static const double seconds[] = {5e-6, 9e-6, 6e-6, 20e-6, 22e-6, 3e-3};
    static const double bytes[] = {4096, 4096, 4096, 65536, 65536, 33554432};
    haul_sample samples[6];
    for (size_t i = 0; i < 6; i++)
        samples[i] = sample_of(bytes[5 - i], seconds[5 - i]);
    const haul_copy_curve curve = fitted(samples, 6, 3, HAUL_FIT_TIME, NULL);
    assert_int_equal(hl_cost_curve_points(&curve), 3);
    CHECK_NEAR(curve.points[0].seconds, 6e-6, 1e-12);
    CHECK_NEAR(curve.points[1].seconds, 21e-6, 1e-12);
    CHECK_NEAR(curve.points[2].seconds, 3e-3, 1e-12);
    assert_int_equal(curve.direction, HAUL_DIRECTION_DTOH);
    assert_int_equal(curve.memory, HAUL_MEMORY_PAGEABLE);
    assert_int_equal(curve.points_from.provenance, HAUL_PROVENANCE_FITTED);

    const haul_copy_curve one = fitted(samples + 3, 3, 4, HAUL_FIT_RELATIVE, NULL);
    assert_int_equal(hl_cost_curve_points(&one), 1);
    CHECK_NEAR(hl_cost_curve_seconds(&one, 4096), 6e-6, 1e-12);
}

static void falling_times_are_evened_out(void **state)
{
    (void)state;
    haul_sample samples[] = {sample_of(10, 3e-6), sample_of(20, 1e-6), sample_of(30, 4e-6)};
    fitted(samples, 3, 4, HAUL_FIT_RELATIVE, NULL);
    const haul_copy_curve own = fitted(samples, 3, 4, HAUL_FIT_TIME, NULL);
    CHECK_NEAR(own.points[1].seconds, 1e-6, 1e-12);
    haul_sample down[50];
    for (size_t i = 0; i < 50; i++)
        down[i] = sample_of((double)(1000 * i), 1e-3 - 1e-5 * (double)i);
    haul_residuals residuals;
    const haul_copy_curve flat = fitted(down, 50, 4, HAUL_FIT_RELATIVE, &residuals);
    CHECK_NEAR(hl_cost_curve_seconds(&flat, 1e6), hl_cost_curve_seconds(&flat, 0), 1e-9);
}

/* Any samples: the curve is finite, positive and in order; the same samples in another order give
 * the same curve. */
static void any_samples_give_a_sane_curve(void **state)
{
    (void)state;
    uint64_t seed = 11;
    haul_sample samples[60];
    for (int round = 0; round < 80; round++) {
        const size_t count = 1 + (size_t)(uniform(&seed) * 59);
        const double span = 43 * uniform(&seed);
        for (size_t i = 0; i < count; i++)
            samples[i] = sample_of(floor(exp(span * uniform(&seed))) - 1,
                                   round % 5 ? exp(40 * uniform(&seed) - 20)
                                             : floor(3 * uniform(&seed)) * 1e-6);
        const size_t points = 1 + (size_t)(uniform(&seed) * 7);
        const haul_fit_weight weight = round % 2 ? HAUL_FIT_TIME : HAUL_FIT_RELATIVE;
        haul_residuals residuals;
        const haul_copy_curve curve = fitted(samples, count, points, weight, &residuals);
        assert_true(isfinite(residuals.wape) && isfinite(residuals.p90));
        for (size_t i = 0; i < count / 2; i++) {
            const haul_sample swap = samples[i];
            samples[i] = samples[count - 1 - i];
            samples[count - 1 - i] = swap;
        }
        const haul_copy_curve again = fitted(samples, count, points, weight, NULL);
        for (size_t i = 0; i < hl_cost_curve_points(&curve); i++)
            assert_true(again.points[i].seconds == curve.points[i].seconds);
    }
}

static void bad_samples_are_refused(void **state)
{
    (void)state;
    haul_copy_curve curve = {.direction = HAUL_DIRECTION_PTOP};
    haul_error error;
    haul_sample samples[] = {sample_of(1, 1), sample_of(2, NAN)};
    assert_int_equal(haul_fit_curve(samples, 0, 4, HAUL_FIT_RELATIVE, &curve, NULL, &error),
                     HAUL_STATUS_MISSING);
    assert_int_equal(haul_fit_curve(samples, 2, 4, HAUL_FIT_RELATIVE, &curve, NULL, &error),
                     HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "sample 2"));
    samples[1].seconds = -1e-9;
    assert_int_equal(haul_fit_line_average(samples, 2, &curve, NULL, &error),
                     HAUL_STATUS_BAD_INPUT);
    samples[1].seconds = 1e300;
    assert_int_equal(haul_fit_line_relative(samples, 2, &curve, NULL, &error),
                     HAUL_STATUS_BAD_INPUT);
    assert_int_equal(haul_fit_curve(samples, 1, 17, HAUL_FIT_RELATIVE, &curve, NULL, &error),
                     HAUL_STATUS_USAGE);
    assert_int_equal(haul_fit_line_relative(samples, 1, &curve, NULL, &error), HAUL_STATUS_MISSING);
    samples[1].seconds = 0.5;
    assert_int_equal(haul_fit_line_relative(samples, 2, &curve, NULL, &error), HAUL_STATUS_MISSING);
    assert_int_equal(curve.direction, HAUL_DIRECTION_PTOP);
}

/* CCGrid 2014, Table I: GTX Titan, PCIe 3.0, host to device and back. */
static void the_published_line_comes_back(void **state)
{
    (void)state;
    static const double latency[] = {0.009420e-3, 0.009023e-3};
    static const double slope[] = {8.318392e-8 * 1e-3, 7.924734e-8 * 1e-3};
    for (int d = 0; d < 2; d++) {
        haul_sample samples[31];
        for (int i = 0; i < 31; i++)
            samples[i] = sample_of(ldexp(1, i), latency[d] + ldexp(1, i) * slope[d]);
        haul_copy_curve line;
        haul_residuals residuals;
        haul_error error;
        assert_int_equal(haul_fit_line_average(samples, 31, &line, &residuals, &error), HAUL_OK);
        CHECK_NEAR(line.latency_s.value, latency[d], 1e-4);
        CHECK_NEAR(1 / line.rate_Bps.value, slope[d], 1e-4);
        assert_true(residuals.wape < 0.01);
        assert_int_equal(haul_fit_line_relative(samples, 31, &line, &residuals, &error), HAUL_OK);
        CHECK_NEAR(line.latency_s.value, latency[d], 1e-9);
        CHECK_NEAR(1 / line.rate_Bps.value, slope[d], 1e-9);
        const haul_copy_curve curve = fitted(samples, 31, 4, HAUL_FIT_RELATIVE, &residuals);
        CHECK_NEAR(hl_cost_curve_seconds(&curve, 0), latency[d], 1e-4);
        assert_true(residuals.p90 < 0.01);
    }
}

/* Weighing time, the large copies decide; the loss is no more than that of the relative fit. */
static void weight_decides_what_is_fitted(void **state)
{
    (void)state;
    haul_sample samples[400];
    const size_t count = jumping_samples(samples, 0.3, 0);
    haul_residuals by_time, by_size;
    fitted(samples, count, 4, HAUL_FIT_TIME, &by_time);
    fitted(samples, count, 4, HAUL_FIT_RELATIVE, &by_size);
    assert_true(by_time.wape <= by_size.wape * 1.0001);
}

static void many_samples_are_fitted(void **state)
{
    (void)state;
    const size_t count = 30000;
    haul_sample *samples = malloc(count * sizeof *samples);
    assert_non_null(samples);
    uint64_t seed = 5;
    for (size_t i = 0; i < count; i++) {
        const double bytes = floor(exp(6 + 14 * uniform(&seed)));
        samples[i] = sample_of(bytes, jumping(bytes) * (1 + 0.04 * (uniform(&seed) - 0.5)));
    }
    const haul_copy_curve curve = fitted(samples, count, 5, HAUL_FIT_RELATIVE, NULL);
    CHECK_NEAR(hl_cost_curve_seconds(&curve, 5e4), jumping(5e4), 0.01);
    CHECK_NEAR(hl_cost_curve_seconds(&curve, 1e6), jumping(1e6), 0.01);
    free(samples);
}

static void groups_are_fitted_each_on_its_own(void **state)
{
    (void)state;
    haul_sample items[] = {
        {.copy = {1000, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, HAUL_LOCALITY_FAR},
         .seconds = 4e-6},
        {.copy = {1000, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE, HAUL_LOCALITY_NEAR},
         .seconds = 1e-6},
        {.copy = {1000, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR},
         .seconds = 2e-6},
        {.copy = {1000, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, HAUL_LOCALITY_FAR},
         .seconds = 6e-6},
        {.copy = {2000, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR},
         .seconds = 3e-6},
        {.copy = {1000, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, HAUL_LOCALITY_FAR},
         .seconds = 5e-6},
    };
    const haul_samples samples = {items, sizeof items / sizeof *items};
    haul_fit_group *groups = NULL;
    size_t count = 0;
    haul_error error;
    assert_int_equal(haul_fit_groups(&samples, 4, &groups, &count, &error), HAUL_OK);
    assert_int_equal(count, 3);
    assert_int_equal(groups[0].sizes, 2);
    CHECK_NEAR(hl_cost_curve_seconds(&groups[0].curve, 1500), 2.5e-6, 1e-12);
    assert_int_equal(groups[0].of_relative.samples, 2);

    /* copies of one size: a rate, no lines, and their spread: (1 + 0 + 1) / (4 + 5 + 6) */
    assert_int_equal(groups[1].curve.locality, HAUL_LOCALITY_FAR);
    assert_int_equal(hl_cost_curve_points(&groups[1].curve), 0);
    CHECK_NEAR(groups[1].curve.rate_Bps.value, 1000 / 5e-6, 1e-12);
    assert_int_equal(groups[1].of_average.samples, 0);
    CHECK_NEAR(groups[1].floor, 100 * 2.0 / 15, 1e-9);
    CHECK_NEAR(groups[1].of_curve.wape, groups[1].floor, 1e-9);
    assert_int_equal(groups[2].curve.memory, HAUL_MEMORY_PAGEABLE);
    haul_fit_groups_free(groups);

    items[2].seconds = INFINITY;
    assert_int_equal(haul_fit_groups(&samples, 4, &groups, &count, &error), HAUL_STATUS_BAD_INPUT);
    const haul_samples none = {0};
    assert_int_equal(haul_fit_groups(&none, 4, &groups, &count, &error), HAUL_STATUS_MISSING);
    assert_int_equal(count, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_pieces_are_found_again),
        cmocka_unit_test(outliers_do_not_count),
        cmocka_unit_test(a_line_takes_two_points),
        cmocka_unit_test(few_sizes_give_their_medians),
        cmocka_unit_test(falling_times_are_evened_out),
        cmocka_unit_test(any_samples_give_a_sane_curve),
        cmocka_unit_test(bad_samples_are_refused),
        cmocka_unit_test(the_published_line_comes_back),
        cmocka_unit_test(weight_decides_what_is_fitted),
        cmocka_unit_test(many_samples_are_fitted),
        cmocka_unit_test(groups_are_fitted_each_on_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
