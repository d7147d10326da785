/* Kernel models against closed forms and the paper's figures. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "haul/kernel.h"

static haul_machine board(const char *name, const char *architecture, double multiprocessors,
                          double cores, double clock_Hz)
{
    return (haul_machine){
        .name = name,
        .gpu = {.name = name,
                .architecture = architecture,
                .multiprocessors = {multiprocessors, HAUL_PROVENANCE_DATASHEET, NULL},
                .cores = {cores, HAUL_PROVENANCE_DATASHEET, NULL},
                .clock_Hz = {clock_Hz, HAUL_PROVENANCE_DATASHEET, NULL},
                .memory_bandwidth_Bps = {200e9, HAUL_PROVENANCE_DATASHEET, NULL},
                .l2_bytes = {1 << 20, HAUL_PROVENANCE_DATASHEET, NULL},
                .launch_latency_s = {2e-6, HAUL_PROVENANCE_DATASHEET, NULL}},
    };
}

/* The paper's matrix multiplication in global memory: N x N threads in blocks of 16 x 16. */
static haul_kernel_counts product(double n)
{
    return (haul_kernel_counts){
        .threads = n * n,
        .block = 256,
        .comp = n,
        .loads_global = 2 * n,
        .stores_global = 1,
    };
}

static haul_kernel_sample sample(const haul_machine *source, double n, double lambda)
{
    haul_kernel_sample made = {.size = n, .counts = product(n), .line = 7};
    double bsp = 0;
    assert_int_equal(haul_kernel_bsp(&source->gpu, &made.counts, &bsp, NULL), HAUL_OK);
    made.seconds = 2e-6 + bsp / lambda;
    return made;
}

static haul_kernel_fit *fitted(const haul_machine *source, const haul_kernel_sample *samples,
                               size_t count)
{
    haul_kernel_fit *fit = NULL;
    haul_error error = {0};
    if (haul_kernel_fit_new(source, HAUL_KERNEL_FIT_AUTO, samples, count, &fit, &error))
        fail_msg("%s", error.text);
    return fit;
}

static void bsp_is_the_papers_formula(void **state)
{
    (void)state;
    const haul_machine gtx680 = board("GTX 680", "kepler", 8, 192, 1.006e9);
    haul_kernel_counts counts = product(1024);
    counts.l2_hits = 0.02 * 2 * 1024;
    counts.loads_shared = 3;
    counts.stores_shared = 1;
    counts.l1_hits = 2;
    double seconds = 0;
    assert_int_equal(haul_kernel_bsp(&gtx680.gpu, &counts, &seconds, NULL), HAUL_OK);
    const double cycles = 1024 + (2048 + 1 - 40.96 - 2) * 500 + 40.96 * 250 + 2 * 5 + 4 * 5;
    CHECK_NEAR(seconds, 1024.0 * 1024 * cycles / (1.006e9 * 1536), 1e-12);
}

static void one_lambda_gives_its_sizes_back(void **state)
{
    (void)state;
    const haul_machine source = board("home", "kepler", 8, 192, 1e9);
    const haul_kernel_sample samples[] = {
        sample(&source, 2048, 4.35),
        sample(&source, 512, 4.35),
        sample(&source, 1024, 4.35),
    };
    haul_kernel_fit *fit = fitted(&source, samples, 3);
    CHECK_NEAR(fit->calibration, 4.35, 1e-9);
    assert_true(fit->one_serves);
    assert_int_equal(fit->count, 3);
    assert_true(fit->knots[0].size == 512);
    for (int n = 100; n < 100000; n *= 3)
        CHECK_NEAR(haul_kernel_fit_calibration(fit, n), 4.35, 1e-9);
    haul_kernel_fit_free(fit);
}

/* Every second size takes twice as long: on six partitions it no longer does, on four and on twice
 * four it still does, and where partitions are not known. */
static void strides_conflict_by_partitions(void **state)
{
    (void)state;
    enum { SIZES = 8 };
    static const struct {
        double partitions;
        double times;
    } targets[] = {{4, 2}, {8, 2}, {0, 2}, {6, 1}, {5, 1}};
    haul_machine source = board("Source", "kepler", 8, 192, 1e9);
    haul_machine target = board("Target", "kepler", 8, 192, 1e9);
    source.gpu.memory_partitions = (haul_parameter){4, HAUL_PROVENANCE_DATASHEET, NULL};
    haul_kernel_sample samples[SIZES];
    for (int i = 0; i < SIZES; i++)
        samples[i] = sample(&source, 256.0 * (i + 8), i % 2 ? 1 : 2);
    haul_kernel_fit *fit = fitted(&source, samples, SIZES);
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        target.gpu.memory_partitions.value = targets[t].partitions;
        const haul_kernel_case what = {&source, fit, &target, samples[3].size, samples[3].counts};
        haul_estimate out;
        haul_error error = {0};
        assert_int_equal(haul_kernel_time(NULL, &what, &out, &error), HAUL_OK);
        CHECK_NEAR(out.seconds, 2e-6 + (samples[3].seconds - 2e-6) * targets[t].times / 2, 1e-6);
    }
    haul_kernel_fit_free(fit);
}

static void lambda_goes_through_its_sizes_and_stays_between(void **state)
{
    (void)state;
    const haul_machine source = board("home", "kepler", 8, 192, 1e9);
    const haul_kernel_sample samples[] = {
        sample(&source, 512, 6),
        sample(&source, 1024, 4),
        sample(&source, 4096, 3),
    };
    haul_kernel_fit *fit = fitted(&source, samples, 3);
    assert_false(fit->one_serves);
    CHECK_NEAR(fit->calibration, 4, 1e-9);
    CHECK_NEAR(haul_kernel_fit_calibration(fit, 512), 6, 1e-9);
    CHECK_NEAR(haul_kernel_fit_calibration(fit, 4096), 3, 1e-9);
    double last = 6.0001;
    for (int n = 512; n <= 4096; n += 64) {
        const double lambda = haul_kernel_fit_calibration(fit, n);
        assert_true(lambda < last && lambda > 2.999);
        last = lambda;
    }
    for (double n = 4096; n < 1e30; n *= 10)
        CHECK_NEAR(haul_kernel_fit_calibration(fit, n), 3, 1e-9);
    for (double n = 512; n > 1e-3; n /= 2)
        CHECK_NEAR(haul_kernel_fit_calibration(fit, n), 6, 1e-9);
    haul_kernel_fit_free(fit);
}

/* The ratio is that of the clocks that the makers name; a base clock beside it changes nothing. */
static void base_clocks_do_not_carry(void **state)
{
    (void)state;
    haul_machine source = board("home", "kepler", 8, 192, 1.2e9);
    haul_machine target = board("target", "kepler", 8, 192, 1e9);
    const haul_kernel_sample samples[] = {sample(&source, 1024, 4), sample(&source, 2048, 4)};
    haul_kernel_fit *fit = fitted(&source, samples, 2);
    const haul_kernel_case what = {
        .source = &source, .fit = fit, .target = &target, .size = 2048, .counts = product(2048)};
    for (int i = 0; i < 3; i++) {
        haul_estimate out = {0};
        assert_int_equal(haul_kernel_time(haul_kernel_model_at(0), &what, &out, NULL), HAUL_OK);
        CHECK_NEAR(out.seconds - 2e-6, 1.2 * (samples[1].seconds - 2e-6), 1e-9);
        if (i == 0)
            source.gpu.base_clock_Hz = (haul_parameter){0.9e9, HAUL_PROVENANCE_DATASHEET, NULL};
        else
            target.gpu.base_clock_Hz = (haul_parameter){0.6e9, HAUL_PROVENANCE_DATASHEET, NULL};
    }
    haul_kernel_fit_free(fit);
}

static double half_width_of(const haul_machine *source, const haul_machine *target,
                            haul_kernel_counts counts)
{
    const haul_kernel_sample samples[] = {
        {.size = 1024,
         .seconds = counts.bytes / source->gpu.memory_bandwidth_Bps.value / 0.9,
         .counts = counts}};
    haul_kernel_fit *fit = fitted(source, samples, 1);
    const haul_kernel_case what = {
        .source = source, .fit = fit, .target = target, .size = 1024, .counts = counts};
    haul_estimate out = {0};
    assert_int_equal(haul_kernel_time(haul_kernel_model_at(0), &what, &out, NULL), HAUL_OK);
    haul_kernel_fit_free(fit);
    return log(out.high_s / out.seconds);
}

/* Bandwidths that were measured leave less open than those of data sheets. */
static void measured_bandwidths_are_surer(void **state)
{
    (void)state;
    haul_machine source = board("home", "kepler", 8, 192, 1e9);
    haul_machine target = board("target", "kepler", 8, 192, 1e9);
    haul_kernel_counts counts = product(1024);
    counts.bytes = 1e9;
    const double of_sheets = half_width_of(&source, &target, counts);
    source.gpu.stream_Bps = (haul_parameter){source.gpu.memory_bandwidth_Bps.value * 0.9,
                                             HAUL_PROVENANCE_MEASURED, NULL};
    const double of_one = half_width_of(&source, &target, counts);
    target.gpu.stream_Bps = source.gpu.stream_Bps;
    const double of_none = half_width_of(&source, &target, counts);
    assert_true(of_sheets > of_one && of_one > of_none);
}

static double ratio_between(const haul_machine *source, const haul_machine *target,
                            haul_kernel_counts counts, double seconds)
{
    const haul_kernel_sample samples[] = {{.size = 1024, .seconds = seconds, .counts = counts}};
    haul_kernel_fit *fit = fitted(source, samples, 1);
    const haul_kernel_case what = {
        .source = source, .fit = fit, .target = target, .size = 1024, .counts = counts};
    haul_estimate out = {0};
    assert_int_equal(haul_kernel_time(haul_kernel_model_at(0), &what, &out, NULL), HAUL_OK);
    haul_kernel_fit_free(fit);
    return (out.seconds - 2e-6) / (seconds - 2e-6);
}

/* From Kepler to Maxwell dependent instructions wait 6 cycles for 9, of which a kernel that issues
 * all that the multiprocessors can has no use; one that issues little has all of it. */
static void what_issues_all_it_can_gains_nothing_from_shorter_waits(void **state)
{
    (void)state;
    const haul_machine source = board("home", "kepler", 8, 192, 1e9);
    const haul_machine target = board("target", "maxwell", 8, 128, 1e9);
    const haul_kernel_counts counts = {
        .threads = 1 << 20, .block = 256, .comp = 1000, .loads_global = 1};
    const double issue_s = (1 << 20) / 32.0 * 1000 / (4 * 8 * 1e9);
    CHECK_NEAR(ratio_between(&source, &target, counts, issue_s / 0.7), 1, 1e-6);
    CHECK_NEAR(ratio_between(&source, &target, counts, issue_s / 0.2), 6 / 9.0, 1e-6);
    CHECK_NEAR(ratio_between(&target, &source, counts, issue_s / 0.7), 1, 1e-6);
}

/* One thread waits for its loads as well, 250 cycles each whatever the architecture. */
static void a_lone_thread_waits_for_its_loads(void **state)
{
    (void)state;
    const haul_machine source = board("home", "kepler", 8, 192, 1e9);
    const haul_machine target = board("target", "maxwell", 8, 128, 1e9);
    haul_kernel_counts counts = {.threads = 1, .block = 1, .comp = 1e6, .loads_global = 1e6};
    CHECK_NEAR(ratio_between(&source, &target, counts, 0.5), 256 / 259.0, 1e-6);
    counts.loads_global = 0;
    CHECK_NEAR(ratio_between(&source, &target, counts, 0.5), 6 / 9.0, 1e-6);
    counts.loads_global = 1e6;
    counts.threads = 1 << 20; /* enough others to hide them */
    counts.block = 256;
    CHECK_NEAR(ratio_between(&source, &target, counts, 5e4), 6 / 9.0, 1e-6);
}

static haul_error refused(haul_kernel_fit_kind kind, haul_kernel_sample *samples, size_t count)
{
    const haul_machine source = board("home", "kepler", 8, 192, 1e9);
    haul_kernel_fit *fit = (haul_kernel_fit *)samples;
    haul_error error = {0};
    assert_int_equal(haul_kernel_fit_new(&source, kind, samples, count, &fit, &error),
                     HAUL_STATUS_BAD_INPUT);
    assert_ptr_equal(fit, samples);
    return error;
}

static void bad_samples_are_refused_with_their_line(void **state)
{
    (void)state;
    const haul_machine source = board("home", "kepler", 8, 192, 1e9);
    const haul_kernel_sample good = sample(&source, 512, 4);
    static const double wrong[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++) {
        haul_kernel_sample pair[] = {good, good};
        pair[1].line = 9;
        pair[1].seconds = wrong[i];
        assert_int_equal(refused(HAUL_KERNEL_FIT_AUTO, pair, 2).line, 9);
        pair[1].seconds = 1;
        pair[1].size = wrong[i];
        assert_int_equal(refused(HAUL_KERNEL_FIT_AUTO, pair, 2).line, 9);
    }
    haul_kernel_sample odd = good;
    odd.counts.l1_hits = 1e6;
    assert_non_null(strstr(refused(HAUL_KERNEL_FIT_AUTO, &odd, 1).text, "more hits"));
    odd = good;
    odd.counts.comp = NAN;
    assert_non_null(strstr(refused(HAUL_KERNEL_FIT_AUTO, &odd, 1).text, "comp"));
    assert_non_null(strstr(refused(HAUL_KERNEL_FIT_AUTO, &odd, 0).text, "no measured"));
    haul_kernel_sample twice[] = {good, good};
    assert_non_null(strstr(refused(HAUL_KERNEL_FIT_BY_SIZE, twice, 2).text, "two sizes"));
}

static haul_estimate timed(const char *model, const haul_kernel_case *what)
{
    haul_kernel_model_ref ref;
    haul_estimate estimate = {0};
    haul_error error = {0};
    if (haul_kernel_model_find(model, &ref, &error) ||
        haul_kernel_time(ref.model, what, &estimate, &error))
        fail_msg("%s: %s", model, error.text);
    assert_string_equal(estimate.model, model);
    haul_kernel_model_release(&ref);
    return estimate;
}

static void at_home_the_measured_time_comes_back(void **state)
{
    (void)state;
    const haul_machine source = board("home", "kepler", 8, 192, 1e9);
    const haul_kernel_sample samples[] = {sample(&source, 512, 6), sample(&source, 1024, 4)};
    haul_kernel_fit *fit = fitted(&source, samples, 2);
    const haul_kernel_case what = {&source, fit, &source, 1024, product(1024)};
    CHECK_NEAR(timed("roofline", &what).seconds, samples[1].seconds, 1e-12);
    CHECK_NEAR(timed("scale", &what).seconds, samples[1].seconds, 1e-12);
    assert_int_equal(timed("roofline", &what).weakest, HAUL_PROVENANCE_FITTED);
    haul_kernel_fit_free(fit);
}

static void what_waits_inside_follows_multiprocessors_and_clock(void **state)
{
    (void)state;
    const haul_machine source = board("home", "kepler", 8, 192, 1e9);
    haul_machine target = board("target", "kepler", 16, 192, 0.5e9);
    haul_kernel_sample one = sample(&source, 1024, 4);
    haul_kernel_fit *fit = fitted(&source, &one, 1);
    haul_kernel_case what = {&source, fit, &target, 1024, one.counts};
    CHECK_NEAR(timed("roofline", &what).seconds, one.seconds, 1e-9);
    target.gpu.architecture = "maxwell"; /* its instructions wait 6 cycles, Kepler's 9 */
    CHECK_NEAR(timed("roofline", &what).seconds - 2e-6, (one.seconds - 2e-6) * 6 / 9, 1e-9);
    haul_kernel_explanation why;
    assert_int_equal(haul_kernel_explain(&what, &why, NULL), HAUL_OK);
    assert_int_equal(why.bound, HAUL_KERNEL_BOUND_LATENCY);
    haul_kernel_fit_free(fit);
}

/* Maximum subarray: 32 blocks, 4 a multiprocessor of 8, 3 on the busiest of 14. */
static void few_blocks_count_whole(void **state)
{
    (void)state;
    const haul_machine source = board("home", "kepler", 8, 192, 1e9);
    const haul_machine target = board("target", "kepler", 14, 192, 1e9);
    haul_kernel_sample one = {.size = 1 << 20, .seconds = 1e-3 + 2e-6};
    one.counts =
        (haul_kernel_counts){.threads = 4096, .block = 128, .comp = 100 * 256, .loads_global = 256};
    haul_kernel_fit *fit = fitted(&source, &one, 1);
    const haul_kernel_case what = {&source, fit, &target, one.size, one.counts};
    CHECK_NEAR(timed("roofline", &what).seconds - 2e-6, 1e-3 * 3 / 4, 1e-9);
    haul_kernel_explanation why;
    assert_int_equal(haul_kernel_explain(&what, &why, NULL), HAUL_OK);
    assert_int_equal(why.bound, HAUL_KERNEL_BOUND_LOW_OCCUPANCY);
    assert_true(why.busiest == 3 && why.blocks == 32);
    CHECK_NEAR(why.idle, 1 - 32.0 / 42, 1e-12);
    haul_kernel_fit_free(fit);
}

/* Blocks of 16 KB and 8 bytes of shared memory: Kepler's 48 KB hold two at once, of the three that
 * it takes to feel them, and Maxwell's 64 KB hold three. */
static void shared_memory_limits_the_blocks_at_once(void **state)
{
    (void)state;
    const haul_machine source = board("home", "kepler", 8, 192, 1e9);
    haul_machine target = board("target", "maxwell", 14, 128, 1e9);
    haul_kernel_counts counts = {.threads = 4096, .block = 128, .comp = 25600, .loads_global = 256};
    CHECK_NEAR(ratio_between(&source, &target, counts, 1e-3), 6 / 9.0 * 3 / 4, 1e-6);
    counts.shared_bytes = 4 * 4096 + 8;
    CHECK_NEAR(ratio_between(&source, &target, counts, 1e-3), 6 / 9.0 * 3 / 6, 1e-6);
    target.gpu.architecture = "kepler"; /* three blocks in place of four, two at once there, too */
    target.gpu.cores = source.gpu.cores;
    CHECK_NEAR(ratio_between(&source, &target, counts, 1e-3), 3 / 4.0, 1e-6);
    counts.threads = 128 * 8 * 100; /* many are felt: their number alone counts */
    CHECK_NEAR(ratio_between(&source, &target, counts, 1e-2), 58 / 100.0, 1e-6);
}

static void what_streams_follows_the_memory(void **state)
{
    (void)state;
    const haul_machine source = board("home", "kepler", 8, 192, 1e9);
    haul_machine target = board("target", "maxwell", 16, 192, 2e9);
    target.gpu.memory_bandwidth_Bps.value = 100e9;
    haul_kernel_sample one = {.size = 1e8, .seconds = 1.2e9 / 150e9};
    one.counts = (haul_kernel_counts){
        .threads = 1e8, .block = 256, .comp = 1, .loads_global = 2, .bytes = 1.2e9};
    haul_kernel_fit *fit = fitted(&source, &one, 1);
    CHECK_NEAR(fit->memory_share, 0.75, 1e-3);
    const haul_kernel_case what = {&source, fit, &target, one.size, one.counts};
    CHECK_NEAR(timed("roofline", &what).seconds - 2e-6, 2 * (one.seconds - 2e-6), 1e-9);
    target.gpu.inline_ecc = (haul_parameter){1, HAUL_PROVENANCE_DATASHEET, NULL};
    CHECK_NEAR(timed("roofline", &what).seconds - 2e-6, 2.5 * (one.seconds - 2e-6), 1e-9);
    haul_kernel_explanation why;
    assert_int_equal(haul_kernel_explain(&what, &why, NULL), HAUL_OK);
    assert_int_equal(why.bound, HAUL_KERNEL_BOUND_MEMORY);
    assert_true(why.if_rate < why.estimate.seconds);
    haul_kernel_fit_free(fit);
}

/* Volta's instructions wait 4 cycles where Kepler's wait 9: the interval holds what gains nothing.
 */
static void intervals_hold_what_waits_do_not_bound(void **state)
{
    (void)state;
    const haul_machine source = board("home", "kepler", 8, 192, 1e9);
    const haul_machine volta = board("target", "volta", 8, 64, 1e9);
    haul_kernel_sample one = sample(&source, 1024, 4.35);
    haul_kernel_fit *fit = fitted(&source, &one, 1);
    const haul_kernel_case what = {&source, fit, &volta, one.size, one.counts};
    const haul_estimate there = timed("roofline", &what);
    CHECK_NEAR(there.seconds - 2e-6, (one.seconds - 2e-6) * 4 / 9, 1e-9);
    assert_true(there.high_s > one.seconds && there.high_s < 1.25 * one.seconds);
    haul_kernel_fit_free(fit);
}

/* At home 0.3 of the memory's rate and of the peak, bound inside. The target is eight times the
 * home board inside, with its memory: what was 0.3 there would be 2.4. */
static void what_did_not_bound_at_home_may_elsewhere(void **state)
{
    (void)state;
    const haul_machine source = board("home", "kepler", 8, 192, 1e9);
    const haul_machine target = board("target", "kepler", 32, 64, 2e9);
    const double work_s = 1e-3;
    haul_kernel_sample one = {.size = 1e6, .seconds = work_s + 2e-6};
    one.counts =
        (haul_kernel_counts){.threads = 1 << 20, .block = 256, .comp = 10, .loads_global = 2};
    const struct {
        double bytes;
        double flops;
        double seconds; /* on the target, beside the launch */
        haul_kernel_bound bound;
    } rows[] = {
        {0, 0, work_s / 8, HAUL_KERNEL_BOUND_LATENCY},
        {0.3 * 200e9 * work_s, 0, 0.3 * work_s - (1 << 20) / 200e9, HAUL_KERNEL_BOUND_MEMORY},
        {1 << 20, 0, work_s / 8, HAUL_KERNEL_BOUND_LATENCY},               /* all of it in the L2 */
        {0.13 * 200e9 * work_s, 0, work_s / 8, HAUL_KERNEL_BOUND_LATENCY}, /* so much that it is */
        {0, 0.3 * 3.072e12 * work_s, 0.3 * work_s * 3.072 / 8.192, HAUL_KERNEL_BOUND_LATENCY},
        {0, 0.35 * 3.072e12 * work_s, 0.35 * work_s * 3.072 / 8.192, HAUL_KERNEL_BOUND_ARITHMETIC},
        {0, 9 * 3.072e12 * work_s, 0, HAUL_KERNEL_BOUND_ARITHMETIC}, /* not of these cores */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        one.counts.bytes = rows[i].bytes;
        one.counts.flops = rows[i].flops;
        haul_kernel_fit *fit = fitted(&source, &one, 1);
        const haul_kernel_case what = {&source, fit, &target, one.size, one.counts};
        haul_kernel_explanation why;
        assert_int_equal(haul_kernel_explain(&what, &why, NULL), HAUL_OK);
        assert_int_equal(why.bound, rows[i].bound);
        assert_true(why.if_rate <= why.estimate.seconds);
        for (int t = 0; t < HAUL_KERNEL_BOUNDS; t++)
            assert_true(why.terms[t].share <= 1);
        if (rows[i].seconds > 0)
            CHECK_NEAR(why.estimate.seconds - 2e-6, fmax(rows[i].seconds, work_s / 8), 1e-9);
        haul_kernel_fit_free(fit);
    }
}

/* Flops in double precision near their peak, a 64th of that in single; the target's is a half. */
static void double_precision_follows_its_own_peak(void **state)
{
    (void)state;
    haul_machine source = board("home", "kepler", 8, 128, 1e9);
    haul_machine target = board("target", "kepler", 16, 64, 1e9);
    source.gpu.fp64_flops = (haul_parameter){2 * 8 * 128e9 / 64, HAUL_PROVENANCE_DATASHEET, NULL};
    target.gpu.fp64_flops = (haul_parameter){2 * 16 * 64e9 / 2, HAUL_PROVENANCE_DATASHEET, NULL};
    haul_kernel_sample one = {.size = 1e6, .seconds = 1 + 2e-6};
    one.counts = (haul_kernel_counts){.threads = 1 << 20, .block = 256, .comp = 1e3};
    one.counts.flops = one.counts.flops_fp64 = 0.9 * source.gpu.fp64_flops.value;
    haul_kernel_fit *fit = fitted(&source, &one, 1);
    const haul_kernel_case what = {&source, fit, &target, one.size, one.counts};
    CHECK_NEAR(timed("roofline", &what).seconds, 2e-6 + 1 / 32.0, 1e-9);
    haul_kernel_fit_free(fit);
}

static void bsp_keeps_its_lambda(void **state)
{
    (void)state;
    const haul_machine source = board("home", "kepler", 8, 192, 1e9);
    const haul_machine target = board("target", "kepler", 16, 192, 1.5e9);
    haul_kernel_sample one = sample(&source, 1024, 4.35);
    haul_kernel_fit *fit = fitted(&source, &one, 1);
    const haul_kernel_case what = {&source, fit, &target, 2048, product(2048)};
    double bsp = 0;
    assert_int_equal(haul_kernel_bsp(&target.gpu, &what.counts, &bsp, NULL), HAUL_OK);
    CHECK_NEAR(timed("bsp", &what).seconds, bsp / 4.35, 1e-9);
    haul_kernel_fit_free(fit);
}

static void models_are_found_by_name(void **state)
{
    (void)state;
    assert_null(haul_kernel_model_at(haul_kernel_model_count()));
    for (size_t i = 0; i < haul_kernel_model_count(); i++) {
        const haul_kernel_model *model = haul_kernel_model_at(i);
        haul_kernel_model_ref ref = {0};
        assert_int_equal(haul_kernel_model_find(model->name, &ref, NULL), HAUL_OK);
        assert_ptr_equal(ref.model, model);
        haul_kernel_model_release(&ref);
    }
    haul_kernel_model_ref ref = {0};
    haul_error error = {0};
    assert_int_equal(haul_kernel_model_find("carry", &ref, &error), HAUL_OK); /* its old name */
    assert_string_equal(ref.model->name, "scale");
    assert_int_equal(haul_kernel_model_find("rooflime", &ref, &error), HAUL_STATUS_USAGE);
    assert_non_null(strstr(error.text, "roofline, bsp, scale"));
    assert_int_equal(haul_kernel_model_find("./absent.so", &ref, &error), HAUL_STATUS_BAD_INPUT);
}

static void an_object_is_a_model(void **state)
{
    (void)state;
    haul_kernel_model_ref ref = {0};
    haul_error error = {0};
    if (haul_kernel_model_find(EXAMPLE_KERNEL_MODEL, &ref, &error))
        fail_msg("%s", error.text);
    assert_string_equal(ref.model->name, "streaming");
    const haul_machine source = board("home", "kepler", 8, 192, 1e9);
    haul_kernel_case what = {.source = &source, .target = &source, .size = 1024};
    what.counts = product(1024);
    haul_estimate estimate;
    assert_int_equal(haul_kernel_time(ref.model, &what, &estimate, &error), HAUL_STATUS_MISSING);
    assert_non_null(strstr(error.text, "bytes"));
    what.counts.bytes = 1.5e9;
    assert_int_equal(haul_kernel_time(ref.model, &what, &estimate, &error), HAUL_OK);
    CHECK_NEAR(estimate.seconds, 0.01, 1e-12);
    haul_kernel_model_release(&ref);
    assert_null(ref.handle);
    /* a copy model is no kernel model */
    assert_int_equal(haul_kernel_model_find(EXAMPLE_MODEL, &ref, &error), HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, HAUL_KERNEL_MODEL_ENTRY));
}

static double broken_low(const haul_kernel_case *what)
{
    return what->size;
}

static haul_status time_of_broken(const haul_kernel_case *what, haul_estimate *out,
                                  haul_error *error)
{
    (void)error;
    *out = (haul_estimate){.seconds = 1, .low_s = broken_low(what), .high_s = 2};
    return HAUL_OK;
}

static void what_a_model_gives_is_checked(void **state)
{
    (void)state;
    const haul_kernel_model broken = {HAUL_KERNEL_MODEL_ABI, "broken", "for this test",
                                      time_of_broken};
    const haul_machine source = board("home", "kepler", 8, 192, 1e9);
    haul_kernel_case what = {
        .source = &source, .target = &source, .size = 1, .counts = product(64)};
    haul_estimate estimate;
    haul_error error = {0};
    assert_int_equal(haul_kernel_time(&broken, &what, &estimate, &error), HAUL_OK);
    what.size = 1.5;
    assert_int_equal(haul_kernel_time(&broken, &what, &estimate, &error), HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "'broken' gave"));
}

static double random_log(uint64_t *seed, double least, double most)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return least * pow(most / least, (double)(*seed >> 11) * 0x1p-53);
}

/* Whatever the boards, sizes and times: an answer that is sound, or a reason. */
static void anything_gets_a_sound_answer(void **state)
{
    (void)state;
    enum { TRIALS = 3000, SIZES = 7 };
    static const char *const names[] = {"fermi", "kepler", "maxwell", "hopper", "unknown"};
    uint64_t seed = 5;
    size_t answered = 0;
    for (size_t trial = 0; trial < TRIALS; trial++) {
        haul_machine boards[2];
        for (size_t i = 0; i < 2; i++) {
            boards[i] =
                board(i ? "a" : "b", names[(trial + i) % 5], floor(random_log(&seed, 1, 1e9)),
                      floor(random_log(&seed, 1, 1e9)), random_log(&seed, 1, 1e15));
            boards[i].gpu.memory_bandwidth_Bps.value = random_log(&seed, 1, 1e18);
            boards[i].gpu.launch_latency_s.value = random_log(&seed, 1e-15, 1e6);
        }
        haul_kernel_sample samples[SIZES];
        for (size_t i = 0; i < SIZES; i++) {
            samples[i] = (haul_kernel_sample){.size = random_log(&seed, 1e-3, 1e12),
                                              .seconds = random_log(&seed, 1e-9, 1e5)};
            samples[i].counts = (haul_kernel_counts){.threads = random_log(&seed, 1, 1e15),
                                                     .block = random_log(&seed, 1, 1024),
                                                     .comp = random_log(&seed, 1e-3, 1e9),
                                                     .loads_global = random_log(&seed, 1e-3, 1e9),
                                                     .bytes = random_log(&seed, 1, 1e18)};
        }
        haul_kernel_fit *fit = fitted(&boards[0], samples, SIZES);
        haul_kernel_case what = {&boards[0], fit, &boards[1], random_log(&seed, 1e-3, 1e12),
                                 samples[trial % SIZES].counts};
        haul_kernel_explanation why;
        haul_error error = {0};
        const haul_status status = haul_kernel_explain(&what, &why, &error);
        answered += status == HAUL_OK;
        assert_true(status == HAUL_OK || error.text[0]);
        assert_true(status != HAUL_OK || (why.estimate.low_s <= why.estimate.seconds &&
                                          isfinite(why.estimate.high_s) && why.if_rate >= 0));
        haul_kernel_fit_free(fit);
    }
    assert_true(answered > TRIALS * 9 / 10);
}

static void what_is_missing_is_named(void **state)
{
    (void)state;
    const haul_machine source = board("home", "kepler", 8, 192, 1e9);
    haul_machine target = source;
    target.name = "bare";
    target.gpu.clock_Hz = (haul_parameter){0};
    haul_kernel_sample one = sample(&source, 1024, 4.35);
    haul_kernel_fit *fit = fitted(&source, &one, 1);
    haul_kernel_case what = {&source, fit, &target, 1024, one.counts};
    haul_estimate estimate = {.seconds = -1};
    haul_error error = {0};
    const haul_kernel_model *roofline = haul_kernel_model_at(0);
    assert_int_equal(haul_kernel_time(roofline, &what, &estimate, &error), HAUL_STATUS_MISSING);
    assert_non_null(strstr(error.text, "gpu.clock"));
    what.target = &source;
    what.size = -4;
    assert_int_equal(haul_kernel_time(roofline, &what, &estimate, &error), HAUL_STATUS_BAD_INPUT);
    what.size = 4;
    what.counts.threads = 0;
    assert_int_equal(haul_kernel_time(roofline, &what, &estimate, &error), HAUL_STATUS_BAD_INPUT);
    assert_true(estimate.seconds == -1);
    haul_kernel_fit_free(fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bsp_is_the_papers_formula),
        cmocka_unit_test(one_lambda_gives_its_sizes_back),
        cmocka_unit_test(strides_conflict_by_partitions),
        cmocka_unit_test(lambda_goes_through_its_sizes_and_stays_between),
        cmocka_unit_test(base_clocks_do_not_carry),
        cmocka_unit_test(measured_bandwidths_are_surer),
        cmocka_unit_test(what_issues_all_it_can_gains_nothing_from_shorter_waits),
        cmocka_unit_test(a_lone_thread_waits_for_its_loads),
        cmocka_unit_test(bad_samples_are_refused_with_their_line),
        cmocka_unit_test(at_home_the_measured_time_comes_back),
        cmocka_unit_test(what_waits_inside_follows_multiprocessors_and_clock),
        cmocka_unit_test(few_blocks_count_whole),
        cmocka_unit_test(shared_memory_limits_the_blocks_at_once),
        cmocka_unit_test(what_streams_follows_the_memory),
        cmocka_unit_test(intervals_hold_what_waits_do_not_bound),
        cmocka_unit_test(what_did_not_bound_at_home_may_elsewhere),
        cmocka_unit_test(double_precision_follows_its_own_peak),
        cmocka_unit_test(bsp_keeps_its_lambda),
        cmocka_unit_test(models_are_found_by_name),
        cmocka_unit_test(an_object_is_a_model),
        cmocka_unit_test(what_a_model_gives_is_checked),
        cmocka_unit_test(anything_gets_a_sound_answer),
        cmocka_unit_test(what_is_missing_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
