/* Laws of every model on any machine, and of machines completed from others. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "haul/cost.h"
#include "haul/kernel.h"

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return *seed >> 33;
}

static double between(uint64_t *seed, double least, double most)
{
    return least * pow(most / least, (double)next(seed) / 0x1p31);
}

/* A figure three times out of four. */
static haul_parameter maybe(uint64_t *seed, double least, double most)
{
    if (next(seed) % 4 == 0)
        return (haul_parameter){0};
    const haul_provenance provenance = (haul_provenance)(HAUL_PROVENANCE_MEASURED + next(seed) % 5);
    return (haul_parameter){between(seed, least, most), provenance, NULL};
}

static haul_copy_curve any_curve(uint64_t *seed, haul_direction direction, haul_memory memory)
{
    haul_copy_curve curve = {
        .direction = direction,
        .memory = memory,
        .locality = (haul_locality)(next(seed) % 8 == 0),
        .latency_s = maybe(seed, 1e-7, 1e-4),
        .rate_Bps = maybe(seed, 1e8, 1e12),
        .gap_s = maybe(seed, 1e-8, 1e-5),
        .threshold_bytes = maybe(seed, 1, 1e8),
        .small_rate_Bps = maybe(seed, 1e8, 1e12),
        .chunk_bytes = maybe(seed, 1, 1e8),
        .host_rate_Bps = maybe(seed, 1e8, 1e12),
        .cache_bytes = maybe(seed, 1, 1e9),
        .memory_rate_Bps = maybe(seed, 1e8, 1e12),
    };
    const size_t count = next(seed) % 5;
    if (!count)
        return curve;
    curve.points_from = (haul_parameter){(double)count, HAUL_PROVENANCE_FITTED, NULL};
    haul_point point = {between(seed, 1, 1e6) - 1, between(seed, 1e-7, 1e-4)};
    for (size_t i = 0; i < count; i++) {
        curve.points[i] = point;
        point.bytes += between(seed, 1, 1e8);
        point.seconds += between(seed, 1e-8, 1e-1);
    }
    return curve;
}

static haul_link any_link(uint64_t *seed)
{
    return (haul_link){
        .kind = (haul_link_kind)(next(seed) % 5),
        .generation = {(double)(1 + next(seed) % 6), HAUL_PROVENANCE_DATASHEET, NULL},
        .lanes = {(double)(1U << next(seed) % 5), HAUL_PROVENANCE_DATASHEET, NULL},
        .links = maybe(seed, 1, 18),
        .link_rate_Bps = maybe(seed, 1e9, 1e12),
        .payload_bytes = maybe(seed, 1, 4096),
        .read_request_bytes = maybe(seed, 1, 4096),
        .read_completion_bytes = maybe(seed, 1, 256),
        .header_bytes = maybe(seed, 1, 64),
        .ack_share = maybe(seed, 0.001, 0.9),
    };
}

enum { CURVES = 6 };

static haul_machine any_machine(uint64_t *seed, haul_copy_curve curves[CURVES])
{
    static const struct {
        haul_direction direction;
        haul_memory memory;
    } kinds[CURVES] = {
        {HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED},   {HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED},
        {HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE}, {HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE},
        {HAUL_DIRECTION_DTOD, HAUL_MEMORY_DEVICE},   {HAUL_DIRECTION_HTOD, HAUL_MEMORY_MANAGED}};
    for (size_t i = 0; i < CURVES; i++)
        curves[i] = any_curve(seed, kinds[i].direction, kinds[i].memory);
    return (haul_machine){
        .name = "any",
        .host = {.memory_bandwidth_Bps = maybe(seed, 1e9, 1e12),
                 .copy_rate_Bps = maybe(seed, 1e9, 1e11),
                 .cached_copy_rate_Bps = maybe(seed, 1e9, 1e11),
                 .cache_bytes = maybe(seed, 1, 1e9)},
        .gpu = {.architecture = next(seed) % 3 ? "volta" : "cdna2",
                .memory_bandwidth_Bps = maybe(seed, 1e10, 1e13)},
        .link = any_link(seed),
        .peer = any_link(seed),
        .copies = curves,
        .copy_count = next(seed) % (CURVES + 1),
    };
}

/* Prices sizes in rising order; what can be priced at one size can at every size. */
static size_t check_one(const haul_machine *machine, const haul_copy_model *model, haul_copy copy)
{
    size_t priced = 0;
    double last = 0;
    for (int i = 0; i < 60; i++) {
        copy.bytes = i < 4 ? (uint64_t)i : (uint64_t)pow(1.6, i);
        haul_estimate estimate;
        haul_error error = {0};
        const haul_status status = haul_copy_time(machine, model, &copy, &estimate, &error);
        if (status == HAUL_STATUS_MISSING) {
            assert_true(strlen(error.text) > 0);
            continue;
        }
        if (status != HAUL_OK)
            fail_msg("%s: %s", model->name, error.text);
        assert_true(estimate.weakest != HAUL_PROVENANCE_NOT_GIVEN);
        /* `auto` may change its model with the size, and with it the parameters that it reads */
        if (strcmp(model->name, "auto") && estimate.seconds < last * (1 - 1e-12))
            fail_msg("%s falls at %llu bytes", model->name, (unsigned long long)copy.bytes);
        last = estimate.seconds;
        priced++;
    }
    assert_true(priced == 0 || priced == 60);
    return priced;
}

static void times_rise_and_lie_in_their_intervals(void **state)
{
    (void)state;
    uint64_t seed = 42;
    size_t priced[16] = {0};
    for (int round = 0; round < 400; round++) {
        haul_copy_curve curves[CURVES];
        const haul_machine machine = any_machine(&seed, curves);
        const haul_copy copy = {.direction = (haul_direction)(next(&seed) % HAUL_DIRECTIONS),
                                .memory = (haul_memory)(next(&seed) % HAUL_MEMORIES),
                                .locality = (haul_locality)(next(&seed) % 8 == 0)};
        for (size_t m = 0; m < haul_copy_model_count(); m++)
            priced[m] += check_one(&machine, haul_copy_model_at(m), copy);
    }
    for (size_t m = 0; m < haul_copy_model_count(); m++)
        assert_true(priced[m] > 0);
}

/* Sets each figure to the least or the most that a machine file may hold. */
static int to_extremes(void *state, const char *path, int dimension, const haul_parameter *figure)
{
    static const double least[] = {1e-9, 1, 1e-15, 1, 1e-18, 1, 1};
    static const double most[] = {1e9, 0x1p60, 1e6, 1e18, 1, 1e15, 1e21};
    const bool is_share = strstr(path, "share") != NULL;
    const bool is_generation = strstr(path, "generation") != NULL;
    haul_parameter *own = (haul_parameter *)figure; /* the test's own machine */
    if (figure->provenance == HAUL_PROVENANCE_NOT_GIVEN || is_generation || strstr(path, "points"))
        return 0;
    own->value = (next(state) & 1 ? least : most)[dimension];
    if (is_share)
        own->value = own->value > 1 ? 0.999 : 0;
    return 0;
}

static void times_are_sound_on_any_machine_that_a_file_may_hold(void **state)
{
    (void)state;
    uint64_t seed = 5;
    static const uint64_t sizes[] = {0, 1, 4096, 1U << 26, UINT64_C(1) << 40, INT64_MAX};
    for (int round = 0; round < 2000; round++) {
        haul_copy_curve curves[CURVES];
        const haul_machine machine = any_machine(&seed, curves);
        (void)haul_machine_visit(&machine, to_extremes, &seed);
        haul_copy copy = {.direction = (haul_direction)(next(&seed) % HAUL_DIRECTION_UNKNOWN),
                          .memory = (haul_memory)(next(&seed) % HAUL_MEMORIES),
                          .bytes = sizes[next(&seed) % (sizeof sizes / sizeof *sizes)]};
        for (size_t m = 0; m < haul_copy_model_count(); m++) {
            haul_estimate estimate;
            haul_error error = {0};
            const haul_copy_model *model = haul_copy_model_at(m);
            const haul_status status = haul_copy_time(&machine, model, &copy, &estimate, &error);
            if (status != HAUL_OK && status != HAUL_STATUS_MISSING)
                fail_msg("%s: %s", model->name, error.text);
        }
    }
}

/* Where `auto` answers, no other model but a baseline has a stronger evidence for the whole of the
 * copy: what it takes is measured wherever the machine has a measured line or curve for the size.
 */
static void auto_rests_on_measurements_where_there_are_any(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int round = 0; round < 2000; round++) {
        haul_copy_curve curves[CURVES];
        haul_machine machine = any_machine(&seed, curves);
        curves[0].locality = HAUL_LOCALITY_NEAR;
        curves[0].latency_s = (haul_parameter){1e-6, HAUL_PROVENANCE_MEASURED, NULL};
        curves[0].rate_Bps = (haul_parameter){1e10, HAUL_PROVENANCE_MEASURED, NULL};
        curves[0].points_from = (haul_parameter){0};
        machine.copy_count = CURVES;
        const haul_copy copy = {
            .bytes = next(&seed), .direction = HAUL_DIRECTION_HTOD, .memory = HAUL_MEMORY_PINNED};
        haul_estimate estimate;
        const haul_copy_model *best = haul_copy_model_at(0);
        assert_string_equal(best->name, "auto");
        assert_int_equal(haul_copy_time(&machine, best, &copy, &estimate, NULL), HAUL_OK);
        assert_int_equal(estimate.weakest, HAUL_PROVENANCE_MEASURED);
        assert_string_equal(estimate.model, "loggp");
    }
}

static haul_parameter measured(double value)
{
    return (haul_parameter){value, HAUL_PROVENANCE_MEASURED, "a bench"};
}

static void machines_are_completed_from_others(void **state)
{
    (void)state;
    haul_copy_curve old[] = {
        {.direction = HAUL_DIRECTION_HTOD,
         .memory = HAUL_MEMORY_PINNED,
         .latency_s = measured(2e-6)},
        {.direction = HAUL_DIRECTION_DTOH,
         .memory = HAUL_MEMORY_PINNED,
         .latency_s = measured(3e-6),
         .rate_Bps = measured(12e9)},
        {.direction = HAUL_DIRECTION_DTOH,
         .memory = HAUL_MEMORY_PAGEABLE,
         .latency_s = measured(4e-6),
         .chunk_bytes = measured(1 << 18),
         .host_rate_Bps = measured(9e9),
         .memory_rate_Bps = measured(6e9)},
    };
    haul_copy_curve own[] = {{.direction = HAUL_DIRECTION_HTOD,
                              .memory = HAUL_MEMORY_PINNED,
                              .latency_s = measured(7e-6)}};
    haul_machine from = {.name = "old", .copies = old, .copy_count = 3};
    haul_machine to = {.name = "new", .copies = own, .copy_count = 1};
    from.host.copy_rate_Bps = measured(5e9);
    to.host.copy_rate_Bps = measured(10e9);
    haul_machine *both = NULL;
    haul_error error = {0};
    assert_int_equal(haul_machine_complete(&to, &from, &both, &error), HAUL_OK);
    assert_string_equal(both->name, "new");
    const haul_copy_curve *kept =
        haul_machine_curve(both, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR);
    assert_true(kept->latency_s.value == 7e-6 &&
                kept->latency_s.provenance == HAUL_PROVENANCE_MEASURED);
    const haul_copy_curve *pinned =
        haul_machine_curve(both, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR);
    assert_true(pinned->latency_s.value == 3e-6);
    assert_int_equal(pinned->latency_s.provenance, HAUL_PROVENANCE_SCALED);
    assert_non_null(strstr(pinned->latency_s.source, "old"));
    assert_int_equal(pinned->rate_Bps.provenance, HAUL_PROVENANCE_NOT_GIVEN); /* the link's own */
    const haul_copy_curve *staged =
        haul_machine_curve(both, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PAGEABLE, HAUL_LOCALITY_NEAR);
    assert_true(staged->memory_rate_Bps.value == 12e9 && staged->host_rate_Bps.value == 18e9);
    assert_true(staged->chunk_bytes.value == 1 << 18);
    assert_int_equal(staged->memory_rate_Bps.provenance, HAUL_PROVENANCE_SCALED);
    assert_non_null(strstr(staged->memory_rate_Bps.source, "x 2"));
    haul_machine_free(both);
}

static void staging_is_read_off_the_points_of_a_fitted_machine(void **state)
{
    (void)state;
    haul_copy_curve old[] = {
        {.direction = HAUL_DIRECTION_HTOD,
         .memory = HAUL_MEMORY_PINNED,
         .rate_Bps = measured(12e9)},
        {.direction = HAUL_DIRECTION_HTOD,
         .memory = HAUL_MEMORY_PAGEABLE,
         .points_from = measured(2),
         .points = {{0, 5e-6}, {1e9, 5e-6 + 0.2}}},
        {.direction = HAUL_DIRECTION_DTOH,
         .memory = HAUL_MEMORY_HOST,
         .points_from = measured(2),
         .points = {{0, 8e-6}, {1e9, 0.09}}},
    };
    const haul_machine from = {.name = "old", .copies = old, .copy_count = 3};
    haul_machine to = {.name = "new", .link.kind = HAUL_LINK_PCIE};
    haul_machine *both = NULL;
    assert_int_equal(haul_machine_complete(&to, &from, &both, NULL), HAUL_OK);
    const haul_copy_curve *staged =
        haul_machine_curve(both, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, HAUL_LOCALITY_NEAR);
    CHECK_NEAR(staged->memory_rate_Bps.value, 5e9, 1e-9);
    CHECK_NEAR(staged->latency_s.value, 5e-6, 1e-3);
    assert_non_null(strstr(staged->memory_rate_Bps.source, "no host copy rate"));
    /* memory of an untold kind is priced as pinned, so its latency is that of pinned copies */
    const haul_copy_curve *pinned =
        haul_machine_curve(both, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR);
    CHECK_NEAR(pinned->latency_s.value, 8e-6, 1e-3);
    assert_null(
        haul_machine_curve(both, HAUL_DIRECTION_DTOH, HAUL_MEMORY_HOST, HAUL_LOCALITY_NEAR));
    haul_machine_free(both);
    /* a host whose rate is known speaks for itself */
    to.host.copy_rate_Bps = measured(9e9);
    assert_int_equal(haul_machine_complete(&to, &from, &both, NULL), HAUL_OK);
    staged =
        haul_machine_curve(both, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, HAUL_LOCALITY_NEAR);
    assert_int_equal(staged->memory_rate_Bps.provenance, HAUL_PROVENANCE_NOT_GIVEN);
    haul_machine_free(both);
}

/* A file of a board alone has neither a link nor copies over one. */
static void a_board_alone_is_in_the_slot_of_the_old_machine(void **state)
{
    (void)state;
    haul_copy_curve old[] = {{.direction = HAUL_DIRECTION_HTOD,
                              .memory = HAUL_MEMORY_PAGEABLE,
                              .points_from = measured(2),
                              .points = {{0, 5e-6}, {1e9, 5e-6 + 0.2}}},
                             {.direction = HAUL_DIRECTION_DTOD,
                              .memory = HAUL_MEMORY_DEVICE,
                              .latency_s = measured(1e-6),
                              .rate_Bps = measured(100e9)}};
    const haul_machine from = {.name = "old", .copies = old, .copy_count = 2};
    const haul_machine to = {.name = "new", .gpu.memory_bandwidth_Bps = measured(400e9)};
    const haul_copy copy = {
        .direction = HAUL_DIRECTION_HTOD, .memory = HAUL_MEMORY_PAGEABLE, .bytes = 1000000000};
    haul_machine *both = NULL;
    haul_estimate estimate;
    assert_int_equal(haul_machine_complete(&to, &from, &both, NULL), HAUL_OK);
    assert_int_equal(haul_copy_time(both, NULL, &copy, &estimate, NULL), HAUL_OK);
    CHECK_NEAR(estimate.seconds, 0.2, 1e-4);
    assert_int_equal(estimate.weakest, HAUL_PROVENANCE_SCALED);
    assert_true(estimate.high_s > 1.1 * estimate.seconds);
    const haul_copy_curve *inside =
        haul_machine_curve(both, HAUL_DIRECTION_DTOD, HAUL_MEMORY_DEVICE, HAUL_LOCALITY_NEAR);
    assert_int_equal(inside->rate_Bps.provenance, HAUL_PROVENANCE_NOT_GIVEN); /* the board's own */
    haul_machine_free(both);
}

static void kernels_are_carried_by_the_rates_that_may_bound_them(void **state)
{
    (void)state;
    const haul_machine old = {.gpu = {.name = "Tesla K40",
                                      .memory_bandwidth_Bps = measured(288e9),
                                      .fp32_flops = measured(4.29e12),
                                      .clock_Hz = measured(745e6),
                                      .multiprocessors = measured(15)}};
    const haul_machine new = {.gpu = {.name = "Tesla V100",
                                      .memory_bandwidth_Bps = measured(900e9),
                                      .fp32_flops = measured(14.9e12),
                                      .fp64_flops = measured(7.5e12),
                                      .clock_Hz = measured(1455e6),
                                      .multiprocessors = measured(80)}};
    haul_estimate estimate;
    assert_int_equal(haul_kernel_scale(&old, &new, 2, &estimate, NULL), HAUL_OK);
    const double memory = 288.0 / 900;
    const double inside = (745.0 * 15) / (1455.0 * 80);
    CHECK_NEAR(estimate.seconds, 2 * sqrt(memory * inside), 1e-12);
    assert_true(estimate.high_s > 2 * memory && estimate.high_s < 2 * memory * exp(0.5));
    assert_true(estimate.low_s < 2 * inside && estimate.low_s > 2 * inside * exp(-0.5));
    /* 30 blocks are two on each multiprocessor of the old GPU, one on some of the new: eight warps
     * and four, which wait for their own results and not for one another */
    const haul_kernel_launches few = {.blocks = 30, .block = 128};
    assert_int_equal(haul_kernel_scale_launches(&old, &new, &few, 2, &estimate, NULL), HAUL_OK);
    CHECK_NEAR(estimate.seconds, 2.0 * 745 / 1455, 1e-12);
    /* launches take their 2 us each, half of the time here, on any board */
    const haul_kernel_launches short_ones = {.count = 1e6};
    assert_int_equal(haul_kernel_scale_launches(&old, &new, &short_ones, 2, &estimate, NULL),
                     HAUL_OK);
    CHECK_NEAR(estimate.seconds, 1 + sqrt(memory * inside), 1e-12);
    assert_true(estimate.low_s < estimate.seconds && estimate.high_s > estimate.seconds);
    assert_int_equal(estimate.weakest, HAUL_PROVENANCE_SCALED);
    const haul_machine same = {.gpu = {.name = "NVIDIA Tesla K40"}};
    assert_int_equal(haul_kernel_scale(&old, &same, 2, &estimate, NULL), HAUL_OK);
    assert_true(estimate.low_s == 2 && estimate.high_s == 2);
    const haul_machine bare = {.gpu = {.name = "X"}};
    haul_error error = {0};
    assert_int_equal(haul_kernel_scale(&old, &bare, 2, &estimate, &error), HAUL_STATUS_MISSING);
    assert_non_null(strstr(error.text, "'Tesla K40' and 'X'"));
    assert_int_equal(haul_kernel_scale(&old, &new, NAN, &estimate, &error), HAUL_STATUS_BAD_INPUT);
    assert_true(estimate.seconds == 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_rise_and_lie_in_their_intervals),
        cmocka_unit_test(times_are_sound_on_any_machine_that_a_file_may_hold),
        cmocka_unit_test(auto_rests_on_measurements_where_there_are_any),
        cmocka_unit_test(machines_are_completed_from_others),
        cmocka_unit_test(staging_is_read_off_the_points_of_a_fitted_machine),
        cmocka_unit_test(a_board_alone_is_in_the_slot_of_the_old_machine),
        cmocka_unit_test(kernels_are_carried_by_the_rates_that_may_bound_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
