/* Copy models against closed forms, published figures and brute force. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "haul/cost.h"

static haul_parameter measured(double value)
{
    return (haul_parameter){value, HAUL_PROVENANCE_MEASURED, NULL};
}

static haul_parameter nominal(double value)
{
    return (haul_parameter){value, HAUL_PROVENANCE_DATASHEET, NULL};
}

static haul_link pcie(double generation)
{
    return (haul_link){
        .kind = HAUL_LINK_PCIE, .generation = nominal(generation), .lanes = nominal(16)};
}

static haul_copy_curve line(haul_direction direction, haul_memory memory, double latency_s,
                            double rate_Bps)
{
    haul_copy_curve curve = {
        .direction = direction, .memory = memory, .latency_s = measured(latency_s)};
    if (rate_Bps > 0)
        curve.rate_Bps = measured(rate_Bps);
    return curve;
}

static const haul_copy_model *model_of(const char *name)
{
    haul_model_ref ref = {0};
    assert_int_equal(haul_model_find(name, &ref, NULL), HAUL_OK);
    assert_null(ref.handle);
    return ref.model;
}

static haul_estimate price(const haul_machine *machine, const char *model, haul_direction direction,
                           haul_memory memory, uint64_t bytes)
{
    const haul_copy copy = {.bytes = bytes, .direction = direction, .memory = memory};
    haul_estimate estimate = {0};
    haul_error error = {0};
    if (haul_copy_time(machine, model_of(model), &copy, &estimate, &error) != HAUL_OK)
        fail_msg("%s: %s", model, error.text);
    assert_true(estimate.low_s <= estimate.seconds && estimate.seconds <= estimate.high_s);
    return estimate;
}

/* The message of a copy that the machine cannot price. */
static haul_error missing(const haul_machine *machine, const char *model, haul_copy copy)
{
    haul_estimate estimate = {.seconds = -7};
    haul_error error = {0};
    assert_int_equal(haul_copy_time(machine, model_of(model), &copy, &estimate, &error),
                     HAUL_STATUS_MISSING);
    assert_true(estimate.seconds == -7);
    return error;
}

/* GTX Titan, CCGrid 2014, Table I: L+o in ms, G in ms a byte. */
static haul_machine titan(haul_copy_curve curves[2])
{
    curves[0] = line(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 0.009420e-3, 1 / 8.318392e-11);
    curves[1] = line(HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 0.009023e-3, 1 / 7.924734e-11);
    return (haul_machine){.name = "titan", .link = pcie(3), .copies = curves, .copy_count = 2};
}

static void loggp_gives_the_papers_times(void **state)
{
    (void)state;
    haul_copy_curve curves[2];
    const haul_machine machine = titan(curves);
    for (uint64_t mib = 16; mib <= 1024; mib *= 2) {
        const double n = (double)mib * 1048576;
        const haul_estimate in =
            price(&machine, "loggp", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, mib << 20);
        const haul_estimate out =
            price(&machine, "loggp", HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, mib << 20);
        CHECK_NEAR(in.seconds * 1e3, 0.009420 + n * 8.318392e-8, 1e-9);
        CHECK_NEAR(out.seconds * 1e3, 0.009023 + n * 7.924734e-8, 1e-9);
        assert_int_equal(in.weakest, HAUL_PROVENANCE_MEASURED);
    }
}

static haul_copy_curve with_points(haul_direction direction, haul_memory memory,
                                   const haul_point *points, size_t count)
{
    haul_copy_curve curve = {.direction = direction, .memory = memory};
    curve.points_from = (haul_parameter){(double)count, HAUL_PROVENANCE_FITTED, NULL};
    memcpy(curve.points, points, count * sizeof *points);
    return curve;
}

static void curves_are_straight_between_points_and_go_on_outside(void **state)
{
    (void)state;
    static const haul_point points[] = {{1000, 2e-6}, {10000, 3e-6}, {1e6, 103e-6}};
    const haul_copy_curve curve = with_points(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, points, 3);
    const haul_machine machine = {.name = "m", .copies = &curve, .copy_count = 1};
    static const struct {
        uint64_t bytes;
        double seconds;
    } rows[] = {
        {1000, 2e-6},
        {10000, 3e-6},
        {1000000, 103e-6},
        {5500, 2.5e-6},
        {505000, 53e-6},
        {0, 2e-6 - 1e-6 / 9},
        {2000000, 103e-6 + 100e-6 / 0.99},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const haul_estimate estimate =
            price(&machine, "curve", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, rows[i].bytes);
        CHECK_NEAR(estimate.seconds, rows[i].seconds, 1e-12);
        assert_int_equal(estimate.weakest, HAUL_PROVENANCE_FITTED);
    }
    /* the line of a curve that has only points: its time at one byte, its last piece */
    const haul_estimate at_1e6 =
        price(&machine, "loggp", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 1000000);
    CHECK_NEAR(at_1e6.seconds, 2e-6 - 999 * 1e-6 / 9000 + 100e-6 / 0.99, 1e-12);
}

static void curves_give_back_their_points_and_never_fall_outside(void **state)
{
    (void)state;
    static const haul_point falling[] = {{100, 5e-6}, {200, 4e-6}, {400, 9e-6}, {800, 8e-6}};
    const haul_copy_curve curve = with_points(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, falling, 4);
    const haul_machine machine = {.name = "m", .copies = &curve, .copy_count = 1};
    for (size_t i = 0; i < 4; i++)
        CHECK_NEAR(price(&machine, "curve", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED,
                         (uint64_t)falling[i].bytes)
                       .seconds,
                   falling[i].seconds, 1e-12);
    CHECK_NEAR(price(&machine, "curve", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1).seconds, 5e-6,
               1e-12);
    CHECK_NEAR(price(&machine, "curve", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 9000).seconds,
               8e-6, 1e-12);
    /* 1 us at 100 B and 8 us more for the next 100: below zero at no bytes, and held there */
    static const haul_point steep[] = {{100, 1e-6}, {200, 9e-6}};
    const haul_copy_curve from_steep =
        with_points(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, steep, 2);
    const haul_machine other = {.name = "m", .copies = &from_steep, .copy_count = 1};
    assert_true(price(&other, "curve", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 0).seconds == 0);
}

/* Published rates of pinned copies, GB/s: P100 on gen 3 (gearshifft issue 82), A100 on gen 4
 * (nvbandwidth's README), H100 on gen 5 (NVIDIA's nvbandwidth example). */
static void packets_give_the_published_rates(void **state)
{
    (void)state;
    static const struct {
        double generation;
        haul_direction direction;
        double rate_Bps;
    } rows[] = {
        {3, HAUL_DIRECTION_HTOD, 12.15e9},
        {3, HAUL_DIRECTION_DTOH, 12.89e9},
        {4, HAUL_DIRECTION_HTOD, 26.0e9},
        {5, HAUL_DIRECTION_HTOD, 55.6e9},
    };
    const haul_copy_curve latency[] = {line(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1e-6, 0),
                                       line(HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 1e-6, 0)};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const haul_machine machine = {
            .name = "m", .link = pcie(rows[i].generation), .copies = latency, .copy_count = 2};
        const haul_estimate estimate =
            price(&machine, "packet", rows[i].direction, HAUL_MEMORY_PINNED, 1ULL << 30);
        const double measured_s = 0x1p30 / rows[i].rate_Bps;
        assert_true(fabs(estimate.seconds / measured_s - 1) < 0.1);
        assert_true(estimate.high_s > measured_s);
        /* a write may be slower than the least that packets can take by the skip symbols, 1 % */
        assert_true(estimate.low_s < measured_s * 1.01);
        assert_int_equal(estimate.weakest, HAUL_PROVENANCE_DATASHEET);
    }
}

/* The catalogue's own files, whose one share of acknowledgements serves all three generations. */
static void the_catalogue_gives_the_published_rates(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        haul_direction direction;
        double rate_Bps;
    } rows[] = {
        {"machines/p100-pcie3.yaml", HAUL_DIRECTION_HTOD, 12.15e9},
        {"machines/p100-pcie3.yaml", HAUL_DIRECTION_DTOH, 12.89e9},
        {"machines/a100-pcie4.yaml", HAUL_DIRECTION_HTOD, 26.0e9},
        {"machines/h100-pcie5.yaml", HAUL_DIRECTION_HTOD, 55.6e9},
    };
    double share = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        haul_machine *machine = NULL;
        haul_error error = {0};
        if (haul_machine_load(rows[i].file, &machine, &error))
            fail_msg("%s", error.text);
        const haul_estimate estimate =
            price(machine, "packet", rows[i].direction, HAUL_MEMORY_PINNED, 1ULL << 30);
        assert_true(fabs(0x1p30 / estimate.seconds / rows[i].rate_Bps - 1) < 0.1);
        assert_true(i == 0 || machine->link.ack_share.value == share);
        share = machine->link.ack_share.value;
        haul_machine_free(machine);
    }
}

static uint64_t count_pieces(uint64_t bytes, uint64_t piece)
{
    uint64_t pieces = 0;
    for (uint64_t at = 0; at < bytes; at += piece)
        pieces++;
    return pieces;
}

/* AHEAD, equations 4 to 7, by counting the packets one by one. */
static void ahead_counts_packets(void **state)
{
    (void)state;
    const haul_copy_curve latency[] = {line(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1e-6, 0),
                                       line(HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 1e-6, 0)};
    haul_machine machine = {.name = "m", .link = pcie(3), .copies = latency, .copy_count = 2};
    machine.link.payload_bytes = nominal(128);
    haul_machine nvlink = machine;
    nvlink.link =
        (haul_link){.kind = HAUL_LINK_NVLINK, .links = nominal(2), .link_rate_Bps = nominal(25e9)};
    const double pcie_Bps = 16 * 1e9 * 128 / 130;
    for (uint64_t n = 0; n < 3000; n += 61) {
        const double reads = 12.0 + 512 + 12.0 * (double)count_pieces(n, 64) + (double)n;
        const double writes = 12.0 * (double)count_pieces(n, 128) + (double)n;
        const double flits = 16.0 * (double)count_pieces(n, 256) + (double)n;
        CHECK_NEAR(price(&machine, "ahead", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, n).seconds,
                   1e-6 + reads / pcie_Bps, 1e-12);
        CHECK_NEAR(price(&machine, "ahead", HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, n).seconds,
                   1e-6 + writes / pcie_Bps, 1e-12);
        CHECK_NEAR(price(&nvlink, "ahead", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, n).seconds,
                   1e-6 + (16 + flits) / 50e9, 1e-12);
        CHECK_NEAR(price(&nvlink, "ahead", HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, n).seconds,
                   1e-6 + flits / 50e9, 1e-12);
    }
}

static void ahead_adds_the_hosts_memory_for_pageable_copies(void **state)
{
    (void)state;
    const haul_copy_curve latency[] = {line(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1e-6, 0),
                                       line(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 3e-6, 0),
                                       line(HAUL_DIRECTION_DTOD, HAUL_MEMORY_DEVICE, 2e-6, 0)};
    haul_machine machine = {.name = "m", .link = pcie(3), .copies = latency, .copy_count = 3};
    machine.host.memory_bandwidth_Bps = nominal(50e9);
    machine.gpu.memory_bandwidth_Bps = nominal(900e9);
    const uint64_t n = 1 << 24;
    const double pinned =
        price(&machine, "ahead", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, n).seconds;
    const double pageable =
        price(&machine, "ahead", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, n).seconds;
    CHECK_NEAR(pageable, pinned + 2e-6 + 2.0 * (double)n / 50e9, 1e-12);
    CHECK_NEAR(price(&machine, "ahead", HAUL_DIRECTION_DTOD, HAUL_MEMORY_DEVICE, n).seconds,
               2e-6 + (double)n / 900e9, 1e-12);
}

/* Large copies inside a GPU in public profiles: nominal bandwidth, bytes, seconds (medians). */
static void device_copies_reach_their_share_of_the_memory(void **state)
{
    (void)state;
    static const struct {
        double bandwidth_Bps;
        uint64_t bytes;
        double seconds;
    } rows[] = {
        {1555e9, 290422784, 435.0e-6},   /* A100-SXM4-40GB */
        {900e9, 254410752, 649.0e-6},    /* V100-SXM2-16GB */
        {3352e9, 4200595456, 2767.5e-6}, /* H100-SXM5 */
    };
    const haul_copy_curve latency = line(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1.5e-6, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        haul_machine machine = {.name = "m", .copies = &latency, .copy_count = 1};
        machine.gpu.memory_bandwidth_Bps = nominal(rows[i].bandwidth_Bps);
        const haul_estimate estimate =
            price(&machine, "packet", HAUL_DIRECTION_DTOD, HAUL_MEMORY_DEVICE, rows[i].bytes);
        assert_true(fabs(estimate.seconds / rows[i].seconds - 1) < 0.04);
        assert_true(estimate.low_s < rows[i].seconds && rows[i].seconds < estimate.high_s);
    }
}

static void nvlink_carries_256_bytes_behind_a_flit(void **state)
{
    (void)state;
    /* V100 in an AC922: 70.5 GB/s of 75 (Comm|Scope) */
    const haul_copy_curve latency = line(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 16e-6, 0);
    haul_machine machine = {.name = "m", .copies = &latency, .copy_count = 1};
    machine.link =
        (haul_link){.kind = HAUL_LINK_NVLINK, .links = nominal(3), .link_rate_Bps = nominal(25e9)};
    const haul_estimate estimate =
        price(&machine, "packet", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1ULL << 30);
    CHECK_NEAR(estimate.seconds, 16e-6 + 0x1p30 * 272 / 256 / 75e9, 1e-9);
    CHECK_NEAR(0x1p30 / estimate.seconds, 70.5e9, 0.005);
    assert_true(0x1p30 / estimate.high_s < 55.6e9); /* Lassen's */
}

static void staged_copies_follow_the_slower_of_host_and_link(void **state)
{
    (void)state;
    haul_copy_curve curves[] = {line(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1e-6, 12e9),
                                line(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 2e-6, 0)};
    curves[1].threshold_bytes = measured(65536);
    curves[1].small_rate_Bps = measured(5e9);
    curves[1].chunk_bytes = measured(1 << 19);
    curves[1].gap_s = measured(1e-6);
    curves[1].host_rate_Bps = measured(20e9);
    curves[1].cache_bytes = measured(1 << 24);
    curves[1].memory_rate_Bps = measured(6e9);
    const haul_machine machine = {.name = "m", .link = pcie(3), .copies = curves, .copy_count = 2};
    CHECK_NEAR(price(&machine, "staged", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 65536).seconds,
               2e-6 + 65536 / 5e9, 1e-12);
    /* in cache the link is the slower, out of it the host: MODELS, section 1 */
    CHECK_NEAR(
        price(&machine, "staged", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 1 << 22).seconds,
        2e-6 + 0x1p19 / 20e9 + 0x1p22 / 12e9 + 8 * 1e-6, 1e-12);
    const haul_estimate large =
        price(&machine, "staged", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 1 << 28);
    CHECK_NEAR(large.seconds, 2e-6 + 0x1p19 / 12e9 + 0x1p28 / 6e9 + 512 * 1e-6, 1e-12);
    assert_true(large.low_s < 0x1p28 / 11e9); /* were it in cache */
    assert_string_equal(
        price(&machine, "auto", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 1 << 28).model,
        "staged");
}

/* Chunk by chunk through two buffers: the host fills one while the link empties the other. */
static double through_two_buffers(double chunks, double host_s, double link_s)
{
    double filled = 0;
    double emptied[2] = {0};
    for (int i = 0; i < (int)chunks; i++) {
        filled = fmax(filled, emptied[i % 2]) + host_s;
        emptied[i % 2] = fmax(filled, emptied[(i + 1) % 2]) + link_s;
    }
    return emptied[((int)chunks - 1) % 2];
}

static void staged_copies_are_those_of_two_buffers(void **state)
{
    (void)state;
    haul_copy_curve curves[] = {line(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1e-6, 10e9),
                                line(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 1e-6, 0)};
    curves[1].threshold_bytes = measured(65536);
    curves[1].chunk_bytes = measured(65536);
    const haul_machine machine = {.name = "m", .link = pcie(3), .copies = curves, .copy_count = 2};
    for (double host = 2e9; host < 60e9; host *= 1.7) {
        curves[1].host_rate_Bps = measured(host);
        for (int chunks = 2; chunks < 300; chunks *= 3)
            CHECK_NEAR(price(&machine, "staged", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE,
                             (uint64_t)chunks * 65536)
                           .seconds,
                       1e-6 + through_two_buffers(chunks, 65536 / host, 65536 / 10e9), 1e-9);
    }
}

static void amd_stages_small_copies_and_pins_large_ones(void **state)
{
    (void)state;
    const haul_copy_curve curves[] = {line(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 4e-6, 50e9)};
    haul_machine machine = {.name = "m", .link = pcie(5), .copies = curves, .copy_count = 1};
    machine.gpu.architecture = "cdna3";
    machine.host.copy_rate_Bps = measured(10e9);
    CHECK_NEAR(price(&machine, "staged", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 80000).seconds,
               4e-6 + 80000 / 10e9 + 80000 / 50e9, 1e-12);
    CHECK_NEAR(
        price(&machine, "staged", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 1 << 28).seconds,
        4e-6 + 0x1p28 / 50e9, 1e-12);
    /* by the device's clock pinning is outside of a copy of one piece */
    const double link_s =
        price(&machine, "auto", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1 << 25).high_s;
    assert_true(
        price(&machine, "staged", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 1 << 25).high_s <
        link_s + 1e-5);
    const double host_s = 0x1p25 / 10e9;
    const double two_s =
        price(&machine, "staged", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 1 << 26).high_s;
    assert_true(two_s > 2 * link_s + host_s - 1e-5);
    /* a program's clock has all of it */
    const haul_copy_curve own = {.direction = HAUL_DIRECTION_HTOD,
                                 .memory = HAUL_MEMORY_PAGEABLE,
                                 .memory_rate_Bps = measured(10e9)};
    const haul_copy_curve both[] = {curves[0], own};
    machine.copies = both;
    machine.copy_count = 2;
    assert_true(
        price(&machine, "staged", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 1 << 25).high_s >
        link_s + host_s);
}

static void what_is_missing_is_named(void **state)
{
    (void)state;
    haul_copy_curve curve = line(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1e-6, 0);
    haul_machine machine = {.name = "x", .copies = &curve, .copy_count = 1};
    const haul_copy copy = {
        .bytes = 1, .direction = HAUL_DIRECTION_HTOD, .memory = HAUL_MEMORY_PINNED};
    haul_copy far = copy;
    far.locality = HAUL_LOCALITY_FAR;
    haul_copy pageable = copy;
    pageable.memory = HAUL_MEMORY_PAGEABLE;
    haul_copy inside = copy;
    inside.direction = HAUL_DIRECTION_DTOD;
    haul_copy lost = copy;
    lost.direction = HAUL_DIRECTION_UNKNOWN;
    static const char *const not_here = "machine 'x' lacks ";
    const struct {
        const char *model;
        haul_copy copy;
        const char *path;
    } rows[] = {
        {"loggp", copy, "copies[HtoD pinned].rate"},
        {"curve", copy, "copies[HtoD pinned].points"},
        {"peak", copy, "link"},
        {"packet", copy, "link"},
        {"auto", copy, "link"},
        {"envelope", inside, "gpu.memory_bandwidth"},
        {"loggp", far, "copies[HtoD pinned far].latency"},
        {"auto", far, "copies[HtoD pinned far].rate"},
        {"staged", pageable, "link"},
        {"auto", pageable, "link"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const haul_error error = missing(&machine, rows[i].model, rows[i].copy);
        assert_int_equal(strncmp(error.text, not_here, strlen(not_here)), 0);
        assert_string_equal(error.text + strlen(not_here), rows[i].path);
    }
    assert_non_null(strstr(missing(&machine, "auto", lost).text, "unknown direction"));
    assert_non_null(strstr(missing(&machine, "packet", pageable).text, "'staged'"));
    assert_non_null(strstr(missing(&machine, "staged", copy).text, "pageable"));
    machine.copy_count = 0;
    assert_string_equal(missing(&machine, "loggp", copy).text,
                        "machine 'x' lacks copies[HtoD pinned].latency");
}

static void auto_takes_the_best_there_is(void **state)
{
    (void)state;
    static const haul_point small[] = {{8, 1e-6}, {4096, 1.1e-6}};
    haul_copy_curve curves[] = {with_points(HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, small, 2),
                                line(HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 1e-6, 12e9)};
    haul_machine machine = {.name = "m", .link = pcie(3), .copies = curves, .copy_count = 2};
    /* points of small copies do not tell the rate of large ones; the link does */
    assert_string_equal(price(&machine, "auto", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 100).model,
                        "curve");
    const haul_estimate large =
        price(&machine, "auto", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1 << 28);
    assert_string_equal(large.model, "packet");
    assert_true(large.seconds > 0x1p28 / 16e9 && large.seconds < 0x1p28 / 11e9);
    assert_string_equal(price(&machine, "auto", HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 100).model,
                        "loggp");
    machine.host.memory_bandwidth_Bps = nominal(50e9);
    assert_string_equal(
        price(&machine, "auto", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 1 << 28).model, "ahead");
    machine.host.copy_rate_Bps = measured(8e9);
    assert_string_equal(
        price(&machine, "auto", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PAGEABLE, 1 << 28).model,
        "staged");
    assert_string_equal(
        price(&machine, "auto", HAUL_DIRECTION_HTOH, HAUL_MEMORY_PAGEABLE, 1 << 28).model,
        "packet");
    /* without a link what points there are have to do */
    machine.link = (haul_link){0};
    assert_string_equal(
        price(&machine, "auto", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1 << 28).model, "curve");
}

static void memory_of_an_untold_kind_is_priced_as_pinned(void **state)
{
    (void)state;
    haul_copy_curve curves[3];
    haul_machine machine = titan(curves);
    const haul_estimate pinned =
        price(&machine, "auto", HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1 << 24);
    static const haul_memory kinds[] = {HAUL_MEMORY_HOST, HAUL_MEMORY_UNKNOWN, HAUL_MEMORY_MANAGED};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const haul_estimate other = price(&machine, "auto", HAUL_DIRECTION_HTOD, kinds[i], 1 << 24);
        assert_true(other.seconds == pinned.seconds && other.high_s == 3 * pinned.high_s);
    }
    curves[2] = line(HAUL_DIRECTION_HTOD, HAUL_MEMORY_HOST, 5e-6, 5e9);
    machine.copy_count = 3;
    CHECK_NEAR(price(&machine, "auto", HAUL_DIRECTION_HTOD, HAUL_MEMORY_HOST, 1 << 24).seconds,
               5e-6 + 0x1p24 / 5e9, 1e-12);
}

static void memory_of_an_untold_kind_may_be_pageable(void **state)
{
    (void)state;
    haul_machine *machine = NULL;
    assert_int_equal(haul_machine_load("h100-pcie5", &machine, NULL), HAUL_OK);
    const haul_memory kinds[] = {HAUL_MEMORY_PINNED, HAUL_MEMORY_PAGEABLE, HAUL_MEMORY_HOST};
    haul_estimate each[3];
    for (int i = 0; i < 3; i++) {
        const haul_copy copy = {.direction = HAUL_DIRECTION_HTOD,
                                .memory = kinds[i],
                                .bytes = 64 << 20,
                                .locality = HAUL_LOCALITY_NEAR};
        assert_int_equal(haul_copy_time(machine, NULL, &copy, &each[i], NULL), HAUL_OK);
    }
    assert_true(each[2].seconds == each[0].seconds);
    assert_true(each[2].low_s <= each[0].low_s && each[2].low_s <= each[1].low_s);
    assert_true(each[2].high_s >= each[0].high_s && each[2].high_s >= each[1].high_s);
    haul_machine_free(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_an_untold_kind_may_be_pageable),
        cmocka_unit_test(loggp_gives_the_papers_times),
        cmocka_unit_test(curves_are_straight_between_points_and_go_on_outside),
        cmocka_unit_test(curves_give_back_their_points_and_never_fall_outside),
        cmocka_unit_test(packets_give_the_published_rates),
        cmocka_unit_test(the_catalogue_gives_the_published_rates),
        cmocka_unit_test(ahead_counts_packets),
        cmocka_unit_test(ahead_adds_the_hosts_memory_for_pageable_copies),
        cmocka_unit_test(device_copies_reach_their_share_of_the_memory),
        cmocka_unit_test(nvlink_carries_256_bytes_behind_a_flit),
        cmocka_unit_test(staged_copies_follow_the_slower_of_host_and_link),
        cmocka_unit_test(staged_copies_are_those_of_two_buffers),
        cmocka_unit_test(amd_stages_small_copies_and_pins_large_ones),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(auto_takes_the_best_there_is),
        cmocka_unit_test(memory_of_an_untold_kind_is_priced_as_pinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
