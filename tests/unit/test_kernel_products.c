/* Matrix products on another GPU, against closed forms: tiles, precisions, tensor cores. */
#include "kernel_machines.h"

#include <stdlib.h>
#include <string.h>

/* A tile of a x b elements takes 5 (1 / a + 1 / b) times its arithmetic to come out of L2: 4 bytes
 * at 400 GB/s for 2 flops at 1 Tflop/s. */
static void others_small_tiles_are_slow(void **state)
{
    (void)state;
    haul_machine from = small();
    const haul_machine to = large();
    from.gpu.l2_Bps = given(400e9);
    haul_kernel_work work = work_of("maxwell_sgemm_32x128_tn", 1.000002, 1e6);
    const haul_estimate own = predicted(&from, &to, &work).estimate;
    CHECK_NEAR(own.seconds, 4e-6 + 1 / 3.0, 1e-5);
    from.gpu.architecture = "pascal";
    const haul_estimate others = predicted(&from, &to, &work).estimate;
    const double usual = 1 + 5 * (1 / 128.0 + 1 / 64.0), small_one = 1 + 5 * (1 / 128.0 + 1 / 32.0);
    CHECK_NEAR(others.seconds, 4e-6 + usual / small_one / 3, 1e-5);
    assert_true(others.low_s < others.seconds / 2);
}

static const haul_operands whole_tiles = {
    .batch = 4, .rows = 640, .columns = 1280, .inner = 1000, .bytes = 1000};

/* 4 products of 640 x 1000 by 1000 x 1280 are 4 x 5 x 5 tiles of 128 x 256, 5 whole waves, whose
 * loads take 0.95 times as long as of 128 x 128; one row more is another row of tiles, a fifth
 * more, and the smaller tiles' loads still take longer. 16 steps fill and empty a tile's pipeline.
 * The source's time counts beyond where rows lie far apart. */
static void operands_tell_a_products_tiles(void **state)
{
    (void)state;
    const haul_machine from = small();
    haul_machine to = large();
    haul_kernel_work work = work_of("volta_sgemm_128x64_nn", 1e-6, 400);
    work.operands = whole_tiles;
    const double whole_s = 0.95 * 2.0 * (1000 + 16) * 100 * 256 * 128 / 3e12;
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 1e-6 + whole_s, 1e-9);
    to.gpu.architecture = "hopper"; /* twice the cores in the cycles that filling takes */
    to.gpu.cores = given(128);
    const double hopper_s = 0.95 * 2.0 * (1000 + 32) * 100 * 256 * 128 / 3e12;
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 1e-6 + hopper_s, 1e-9);
    to = large();
    work.operands.rows = 641;
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 1e-6 + 1.2 * whole_s, 1e-9);
    work.operands.rows = 640;
    work.seconds = 1; /* a slow source counts up to the sustained rate */
    const double sustained_s = 2.0 * 4 * 640 * 1280 * 1000 / 3e12;
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 4e-6 + sustained_s, 1e-9);
    work.operands.inner = UINT64_C(3) * 4096; /* 128 rows of 48 KiB: four pages of 2 MiB */
    const double far_s = 0.95 * 2.0 * (3 * 4096 + 16) * 100 * 256 * 128 / 3e12;
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 4e-6 + 1.2 * far_s, 1e-9);
    work.operands.inner = 1000;
    work.kind = haul_kernel_kind_of("my_solver", NULL); /* another kernel of the operator */
    assert_true(predicted(&from, &to, &work).estimate.seconds > 0.1);
}

/* 4 x 10 x 5 blocks of 128 x 64, whose loads take 1.1 times as long as those of 128 x 128, are
 * products of 640 x 640 at the most, and their time tells the inner dimension of 1000. They are 10
 * waves on the target, so that a tenth goes by 100 tiles of 128 x 128, the fastest there, for the
 * same blocks. A block of 128 x 64 alone is two of 64 x 64 there, at once. Nothing is told of
 * other makers' libraries. */
static void a_launch_tells_a_products_sizes(void **state)
{
    (void)state;
    const haul_machine from = small();
    haul_machine to = large();
    const double at_1_Tflops = 2.0 * (1000 + 16) * 100 * 128 * 128 / 1e12;
    haul_kernel_work work = work_of("volta_sgemm_128x64_nn", 2e-6 + 1.1 * at_1_Tflops, 200);
    const double kept_s = 1.1 * at_1_Tflops / 3;
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 4e-6 + kept_s, 1e-9);
    memcpy(work.launches.grid, (double[]){5, 10, 4}, sizeof work.launches.grid);
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 4e-6 + kept_s / pow(1.1, 0.1), 1e-7);
    to.gpu.architecture = "hopper"; /* half of the cycles for as many steps, and as many to fill */
    to.gpu.cores = given(128);
    const double filled_s = kept_s / pow(1.1, 0.1) * (1000 + 32) / (1000 + 16);
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 4e-6 + filled_s, 1e-7);
    to.gpu.cores = given(64);
    to.gpu.architecture = "cdna3";
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 4e-6 + kept_s, 1e-9);
    to.gpu.architecture = "volta";
    haul_kernel_work lone =
        work_of("volta_sgemm_128x64_nn", 2e-6 + 1.1 * 2.0 * (1000 + 16) * 10 * 128 * 64 / 1e12, 1);
    lone.launches.grid[0] = lone.launches.grid[1] = lone.launches.grid[2] = 1;
    CHECK_NEAR(predicted(&from, &to, &lone).estimate.seconds,
               4e-6 + 1.2 * 2.0 * (1000 + 16) * 20 * 64 * 64 / 3e12, 1e-8);
    work.launches.grid[2] = work.seconds = 1e300; /* whatever a table says, sizes stay numbers */
    work.launches.blocks = 5 * 10 * 1e300;
    assert_true(predicted(&from, &to, &work).estimate.seconds > 0);
}

/* 80 results of 5 tiles, one wide, by a library with few: half of one may be empty, and on the
 * target tiles of 64 x 64, whose loads take 1.2 times as long, leave that out, or not. */
static void few_kernels_leave_the_edges_of_a_batch_open(void **state)
{
    (void)state;
    const haul_machine from = small(), to = large();
    const double whole_s = 2.0 * (1000 + 16) * 400 * 128 * 128 / 1e12;
    const char *names[] = {"ampere_sgemm_128x128_nn",
                           "cutlass_80_simt_sgemm_128x128_8x4_nn_align1"};
    haul_estimate of[2];
    for (int i = 0; i < 2; i++) {
        haul_kernel_work work = work_of(names[i], 2e-6 + whole_s, 400);
        assert_int_equal(work.kind.has_few_tiles, !i);
        memcpy(work.launches.grid, (double[]){1, 5, 80}, sizeof work.launches.grid);
        of[i] = predicted(&from, &to, &work).estimate;
    }
    CHECK_NEAR(of[1].seconds, 4e-6 + whole_s / 3, 1e-4);
    CHECK_NEAR(of[0].seconds, 4e-6 + whole_s / 3 * pow(0.6, 0.25), 1e-4);
    assert_true(of[0].low_s < 4e-6 + whole_s / 3 * 0.6 && of[0].high_s > of[1].seconds);
}

/* 4 products of 10 x 10 tiles took as long as an inner dimension of 11 x 4096 does at full speed:
 * 128 rows in 12 pages of 2 MiB, which a P100, whose kernels are made for other multiprocessors,
 * may translate 4 times slower than three. Between nothing and that is twice, and the interval
 * reaches both; the other way round it is as much longer. A twentieth goes by tiles of 128 x 256
 * there. */
static void rows_far_apart_may_be_slow(void **state)
{
    (void)state;
    enum { PAGE = 4096 }; /* of 128 rows */
    haul_machine from = small(), to = large();
    const double full_s = 2.0 * (11 * PAGE + 16) * 400 * 128 * 128 / 1e12;
    haul_kernel_work work = work_of("maxwell_sgemm_128x128_tn", 2e-6 + full_s, 400);
    memcpy(work.launches.grid, (double[]){10, 10, 4}, sizeof work.launches.grid);
    const double kept_s = full_s / 3 * pow(0.95, 0.05);
    const haul_estimate own = predicted(&from, &to, &work).estimate;
    CHECK_NEAR(own.seconds, 4e-6 + kept_s, 1e-5);
    from.gpu.architecture = "pascal";
    const haul_estimate slow = predicted(&from, &to, &work).estimate;
    CHECK_NEAR(slow.seconds, 4e-6 + kept_s / 2, 1e-5);
    assert_true(slow.high_s > own.seconds && slow.low_s < own.seconds / 4);
    work.seconds = 2e-6 + full_s / 6; /* too short for rows that far apart, at any speed */
    const haul_estimate fast = predicted(&from, &to, &work).estimate;
    CHECK_NEAR(fast.seconds, 4e-6 + kept_s / 6, 1e-5);
    assert_true(fast.high_s / fast.low_s < 0.7 * slow.high_s / slow.low_s);
    work.seconds = 2e-6 + full_s;
    from.gpu.architecture = "volta";
    to.gpu.architecture = "pascal";
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 4e-6 + 2 * kept_s, 1e-5);
    work.launches.grid[0] = 0; /* nothing told: no less sure than of what no data tests */
    const haul_estimate open = predicted(&from, &to, &work).estimate;
    assert_true(open.high_s / open.seconds > 2 && open.seconds / open.low_s > 2);
}

/* Known sizes, too. A source that is slow in its own way leaves open whether the target is up
 * to 1.2 times slower: half of it. */
static void rows_known_to_be_far_apart_may_be_slow(void **state)
{
    (void)state;
    enum { PAGE = 4096 };
    haul_machine from = small(), to = large();
    haul_kernel_work work = work_of("maxwell_sgemm_128x64_tn", 1, 400);
    work.operands = (haul_operands){
        .batch = 4, .rows = 640, .columns = 1280, .inner = 11 * PAGE, .bytes = 1000};
    const double tiles_s = 0.95 * 2.0 * (11 * PAGE + 16) * 100 * 256 * 128 / 3e12;
    from.gpu.architecture = "pascal";
    const haul_estimate there = predicted(&from, &to, &work).estimate;
    CHECK_NEAR(there.seconds, 4e-6 + sqrt(1.2) * tiles_s, 1e-9);
    from.gpu.architecture = "volta";
    to.gpu.architecture = "pascal";
    const haul_estimate slow = predicted(&from, &to, &work).estimate;
    CHECK_NEAR(slow.seconds, 4e-6 + 2 * tiles_s, 1e-9);
    assert_true(slow.low_s < 4e-6 + tiles_s && slow.high_s > 4e-6 + 4 * tiles_s);
}

/* One tile of 64 x 64 on 20 multiprocessors: 20 times the sustained rate's time, and its loads take
 * 1.2 times as long as of 128 x 128. */
static void few_tiles_take_up_to_a_wave(void **state)
{
    (void)state;
    const haul_machine from = small(), to = large();
    haul_kernel_work work = work_of("volta_sgemm_128x64_nn", 1, 400);
    work.operands =
        (haul_operands){.batch = 1, .rows = 64, .columns = 64, .inner = 8000, .bytes = 1000};
    const double best_s = 2.0 * 64 * 64 * 8e3 / 3e12;
    const double in_a_wave_s = 1.2 * 20 * 2.0 * 64 * 64 * (8e3 + 16) / 3e12;
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 4e-6 + in_a_wave_s, 1e-9);
    work.seconds = 1e-6; /* slices of the inner dimension: the sustained rate at the best */
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 1e-6 + best_s, 1e-9);
}

/* A measured product of the same sizes is the answer, but for the share of one that is a factor of
 * 16 away; one farther off, or of another precision, says nothing. */
static void measured_products_correct_their_neighbours(void **state)
{
    (void)state;
    const haul_machine from = small();
    haul_machine to = large();
    haul_kernel_work work = work_of("volta_sgemm_128x64_nn", 1e-3, 400);
    work.operands = whole_tiles;
    const double tiles_s = predicted(&from, &to, &work).estimate.seconds - 4e-6;
    haul_product_time product = {.precision = HAUL_PRECISION_FP32,
                                 .batch = given(4),
                                 .rows = given(640),
                                 .columns = given(1280),
                                 .inner = given(1000),
                                 .time_s = given(4e-6 + 2 * tiles_s)};
    to.products = &product;
    to.product_count = 1;
    const double of_far = 1 / (16.25 * 16.25), of_near = 16;
    const double doubled = exp(log(2) * of_near / (of_near + of_far));
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 4e-6 + doubled * tiles_s, 1e-6);
    product.precision = HAUL_PRECISION_FP16;
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 4e-6 + tiles_s, 1e-9);
    product.precision = HAUL_PRECISION_FP32;
    product.inner = given(1000 * 32);
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 4e-6 + tiles_s, 1e-9);
}

/* A library that computes batches in tiles of 128 x 128 whatever their sizes, and single products
 * as is fastest. Its other batches take such tiles too, and single products stay as they were. */
static void measured_products_tell_the_librarys_tile(void **state)
{
    (void)state;
    enum { SIZES = 4, COUNT = SIZES * SIZES };
    static const double sides[SIZES] = {40, 70, 130, 300};
    const haul_machine from = small();
    haul_machine to = large();
    haul_kernel_work work = work_of("volta_sgemm_128x64_nn", 1e-6, 400);
    work.operands =
        (haul_operands){.batch = 1, .rows = 180, .columns = 1280, .inner = 1000, .bytes = 1000};
    const double single_s = predicted(&from, &to, &work).estimate.seconds;
    work.operands =
        (haul_operands){.batch = 20, .rows = 100, .columns = 180, .inner = 1000, .bytes = 1000};
    const double tile_s = 2.0 * (1000 + 16) * 128 * 128 * 20 / 3e12;
    assert_true(predicted(&from, &to, &work).estimate.seconds < 1e-6 + 1.85 * tile_s);
    haul_product_time products[COUNT];
    for (int i = 0; i < COUNT; i++) {
        const double rows = sides[i / SIZES], columns = sides[i % SIZES];
        const double tiles = ceil(rows / 128) * ceil(columns / 128);
        products[i] = (haul_product_time){.precision = HAUL_PRECISION_FP32,
                                          .batch = given(20),
                                          .rows = given(rows),
                                          .columns = given(columns),
                                          .inner = given(1000),
                                          .time_s = given(4e-6 + tiles * tile_s)};
    }
    to.products = products;
    to.product_count = COUNT;
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 1e-6 + 2 * tile_s, 1e-8);
    work.operands.batch = 1;
    work.operands.rows = 180;
    work.operands.columns = 1280;
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, single_s, 1e-9);
}

/* A T4's 70 W hold long products at half of its peak; short ones come near the usual share. */
static void short_products_run_before_power_is_felt(void **state)
{
    (void)state;
    const haul_machine from = small();
    haul_machine to = large();
    haul_kernel_work work = work_of("volta_sgemm_128x64_nn", 1e-3, 400);
    work.operands = whole_tiles;
    to.gpu.fp32_flops = given(6e12); /* of which 3 are sustained, and 4.8 are usual */
    const haul_estimate held = predicted(&from, &to, &work).estimate;
    CHECK_NEAR(held.seconds / held.low_s, 1.6, 1e-9);
}

/* A row times a matrix is read out of the memory once, whatever the tiles: 64 MiB at 0.9 of 100
 * GB/s, and at as much of 400. One that leaves the memory idle goes by its tiles. */
static void narrow_products_stream_their_operands(void **state)
{
    (void)state;
    const haul_machine from = small(), to = large();
    const double bytes = 4096.0 * 4096 * 4, read_s = bytes / 90e9;
    haul_kernel_work work =
        work_of("cutlass_80_tensorop_bf16_s16816gemm_bf16_64x64_32x6_tn_align8", 0, 64);
    work.kind.precision = HAUL_PRECISION_FP32;
    work.seconds = 2e-6 + read_s;
    work.operands = (haul_operands){.batch = 1,
                                    .rows = 1,
                                    .columns = 4096,
                                    .inner = 4096,
                                    .bytes = (uint64_t)bytes,
                                    .alignment = 16};
    const haul_kernel_prediction of = predicted(&from, &to, &work);
    CHECK_NEAR(of.estimate.seconds, 4e-6 + read_s / 4, 1e-9);
    assert_int_equal(of.bound, HAUL_KERNEL_BOUND_MEMORY);
    assert_int_equal(of.kind, HAUL_KERNEL_CLASS_PRODUCT);
    assert_true(of.estimate.high_s < 1.3 * of.estimate.seconds);
    work.seconds = 2e-6 + 4 * read_s;
    assert_true(fabs(predicted(&from, &to, &work).estimate.seconds / read_s - 1) > 0.1);
}

/* The same by a kernel for vectors: few blocks that fill the memory all the same wait for it. */
static void products_with_a_vector_stream_a_matrix(void **state)
{
    (void)state;
    const haul_machine from = small(), to = large();
    const double bytes = 4096.0 * 4096 * 4, read_s = bytes / 90e9;
    haul_kernel_work work = work_of("gemvNSP_kernel", 2e-6 + read_s, 10);
    assert_int_equal(predicted(&from, &to, &work).kind, HAUL_KERNEL_CLASS_LATENCY);
    work.operands = (haul_operands){
        .batch = 1, .rows = 1, .columns = 4096, .inner = 4096, .bytes = (uint64_t)bytes};
    const haul_kernel_prediction of = predicted(&from, &to, &work);
    CHECK_NEAR(of.estimate.seconds, 4e-6 + read_s / 4, 1e-9);
    assert_int_equal(of.kind, HAUL_KERNEL_CLASS_STREAMING);
    work.seconds =
        2e-6 + read_s / 10; /* it cannot have read them: another kernel of the operator */
    assert_int_equal(predicted(&from, &to, &work).kind, HAUL_KERNEL_CLASS_LATENCY);
}

/* Of results narrower than a tile, and of rows at odd elements, less is known. */
static void narrow_and_unaligned_products_are_less_sure(void **state)
{
    (void)state;
    const haul_machine from = small(), to = large();
    haul_kernel_work work = work_of("ampere_fp16_s16816gemm_fp16_128x128_ldg8_nn", 1e-3, 400);
    work.operands = (haul_operands){
        .batch = 100, .rows = 256, .columns = 256, .inner = 1000, .bytes = 1000, .alignment = 16};
    const haul_kernel_prediction wide = predicted(&from, &to, &work);
    work.operands.alignment = 2;
    const haul_kernel_prediction odd = predicted(&from, &to, &work);
    assert_true(odd.estimate.high_s / odd.estimate.seconds >
                1.2 * wide.estimate.high_s / wide.estimate.seconds);
    CHECK_NEAR(odd.estimate.low_s / odd.estimate.seconds,
               wide.estimate.low_s / wide.estimate.seconds, 1e-9);
    work.operands.alignment = 16;
    work.operands.rows = 64;
    const haul_kernel_prediction narrow = predicted(&from, &to, &work);
    assert_true(narrow.estimate.low_s / narrow.estimate.seconds <
                0.9 * wide.estimate.low_s / wide.estimate.seconds);
}

/* Without alignment to 16 bytes tensor cores of NVIDIA wait for their operands. */
/* 16^3 multiply-adds take 8 ns at the sustained rate, and no kernel a hundredth of a launch: the
 * recorded time counts up to a launch beside the launch's own. */
static void tiny_products_take_a_launch_at_least(void **state)
{
    (void)state;
    const haul_machine from = small(), to = large();
    haul_kernel_work work = work_of("volta_sgemm_32x32_nn", 20e-6, 1);
    work.operands =
        (haul_operands){.batch = 1, .rows = 16, .columns = 16, .inner = 16, .bytes = 3072};
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 8e-6, 1e-9);
    work.operands.batch = 40; /* a tile for each multiprocessor and more */
    work.operands.inner = 1;
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 8e-6, 1e-9);
}

static void odd_sizes_keep_tensor_cores_waiting(void **state)
{
    (void)state;
    haul_machine from = small(), to = large();
    from.gpu.product_flops[HAUL_PRECISION_BF16] = to.gpu.product_flops[HAUL_PRECISION_BF16] =
        given(10e12);
    haul_kernel_work work =
        work_of("cutlass_80_tensorop_bf16_s16816gemm_bf16_128x128_nn_align8", 1e-6, 400);
    work.operands = (haul_operands){
        .batch = 4, .rows = 1280, .columns = 1280, .inner = 1000, .bytes = 1000, .alignment = 16};
    const double aligned_s = predicted(&from, &to, &work).estimate.seconds - 1e-6;
    work.operands.alignment = 2;
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 1e-6 + 2 * aligned_s, 1e-9);
    to.gpu.architecture = "cdna3";
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 1e-6 + aligned_s, 1e-9);
}

/* By name a batch of products, and with sizes those whose time depends on the tile. */
static void products_of_unknown_tiles_are_less_sure(void **state)
{
    (void)state;
    haul_kernel_work work = work_of("volta_sgemm_128x64_nn", 1e-3, 1e4);
    const double flat = width_up(&work);
    work.launches.grid[2] = 100;
    assert_true(width_up(&work) > flat + 0.1);
    work.operands =
        (haul_operands){.batch = 1000, .rows = 1024, .columns = 1024, .inner = 256, .bytes = 1000};
    const double whole = width_up(&work);
    work.operands.rows = work.operands.columns = 64;
    CHECK_NEAR(width_up(&work), hypot(whole, log(4 / 1.2)), 0.05);
}

static void a_precision_that_a_gpu_lacks_falls_back(void **state)
{
    (void)state;
    const haul_machine from = large(), to = small();
    const char *name = "cutlass_80_tensorop_s1688gemm_128x128_32x3_tn_align4";
    const haul_kernel_work work = work_of(name, 1.000004, 1e6);
    const haul_kernel_prediction out = predicted(&from, &to, &work);
    CHECK_NEAR(out.estimate.seconds, 2e-6 + 12, 1e-6);
    const haul_kernel_work plain = work_of("volta_sgemm_128x64_nn", 1.000004, 1e6);
    assert_true(out.estimate.high_s / out.estimate.seconds >
                predicted(&from, &to, &plain).estimate.high_s /
                    predicted(&from, &to, &plain).estimate.seconds);
}

/* The peak of tensor cores where no rate of products was measured: of the precision itself, by
 * the share that a sibling reaches of its own where that is known. */
static void nominal_tensor_peaks_stand_in_for_rates(void **state)
{
    (void)state;
    const haul_machine from = large();
    haul_machine to = small();
    to.gpu.tensor_flops[HAUL_PRECISION_TF32] = given(8e12);
    haul_kernel_work work = work_of("cutlass_tensorop_tf32_s1688gemm", 1.000002, 0);
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, sqrt(4 * 12 / (0.75 * 8)), 1e-3);
    to.gpu.tensor_flops[HAUL_PRECISION_FP16] = given(16e12);
    to.gpu.tensor_flops[HAUL_PRECISION_BF16] = given(32e12);
    to.gpu.product_flops[HAUL_PRECISION_BF16] = given(8e12);
    haul_machine half = large();
    half.gpu.product_flops[HAUL_PRECISION_FP16] = given(12e12);
    work = work_of("cutlass_tensorop_f16_h16816gemm", 1.000002, 0);
    CHECK_NEAR(predicted(&half, &to, &work).estimate.seconds, 3, 1e-3);
}

/* Products in fp32 are in no tensor cores, whatever a GPU's ridge: the ratio of the rates, between
 * all machines of the catalogue, and the same however fast the memories are. */
static void fp32_products_have_no_tensor_ridge(void **state)
{
    (void)state;
    char **names;
    size_t count;
    haul_error error = {0};
    assert_int_equal(haul_catalogue_list(&names, &count, &error), HAUL_OK);
    haul_machine **machines = calloc(count, sizeof(haul_machine *));
    assert_non_null(machines);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(haul_machine_load(names[i], &machines[i], &error), HAUL_OK);
    haul_kernel_work work = work_of("ampere_sgemm_128x64_nn", 1, 1e6);
    for (size_t i = 0; i < count * count; i++) {
        haul_machine from = *machines[i / count], to = *machines[i % count];
        haul_kernel_prediction out = predicted(&from, &to, &work);
        if (out.kind != HAUL_KERNEL_CLASS_PRODUCT || !(from.gpu.memory_bandwidth_Bps.value > 0))
            continue;
        if (out.bound == HAUL_KERNEL_BOUND_MEMORY)
            fail_msg("%s to %s: bound by memory", from.name, to.name);
        const double before_s = out.estimate.seconds;
        /* the way that no "what if" would go: rates alone */
        to.gpu.stream_Bps = given(to.gpu.memory_bandwidth_Bps.value / 100);
        out = predicted(&from, &to, &work);
        CHECK_NEAR(out.estimate.seconds, before_s, 1e-9);
    }
    for (size_t i = 0; i < count; i++)
        haul_machine_free(machines[i]);
    free(machines);
    haul_names_free(names, count);
}

static haul_kernel_bound bound_between(const char *from, const char *to, const char *kernel)
{
    haul_machine *machines[2] = {NULL};
    haul_error error = {0};
    assert_int_equal(haul_machine_load(from, &machines[0], &error), HAUL_OK);
    assert_int_equal(haul_machine_load(to, &machines[1], &error), HAUL_OK);
    const haul_kernel_work work = work_of(kernel, 1, 1e6);
    const haul_kernel_bound bound = predicted(machines[0], machines[1], &work).bound;
    haul_machine_free(machines[0]);
    haul_machine_free(machines[1]);
    return bound;
}

/* Half precision is in tensor cores where a GPU has them, and falls back to fp32 where not. */
static void tensor_cores_have_a_ridge_where_they_are(void **state)
{
    (void)state;
    static const char *const half = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_nn";
    assert_int_equal(bound_between("l4", "a100-sxm4", half), HAUL_KERNEL_BOUND_MEMORY);
    assert_int_equal(bound_between("t4", "p4", half), HAUL_KERNEL_BOUND_MEMORY);
    assert_int_equal(bound_between("p4", "gtx-980", half), HAUL_KERNEL_BOUND_ARITHMETIC);
    assert_int_equal(bound_between("p100-pcie3", "p4", half), HAUL_KERNEL_BOUND_ARITHMETIC);
}

/* 32 x 64 tiles of 128 x 128 for 1 ms on an A100: at least 64 flops a byte, which fp32 on a P100 or
 * a P4 takes longer for than any memory, so that the memories' ratio is out of reach. Of fewer
 * blocks than multiprocessors the tiles may be others there. */
static void a_launch_bounds_products_in_tensor_cores(void **state)
{
    (void)state;
    static const char *const targets[] = {"p100-pcie3", "p4", "k40", "gtx-970"};
    haul_error error = {0};
    haul_machine *from = NULL;
    assert_int_equal(haul_machine_load("a100-sxm4", &from, &error), HAUL_OK);
    haul_kernel_work work = work_of("ampere_fp16_s16816gemm_fp16_128x128_ldg8_nn", 1e-3, 2048);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        haul_machine *to = NULL;
        assert_int_equal(haul_machine_load(targets[i], &to, &error), HAUL_OK);
        memset(work.launches.grid, 0, sizeof work.launches.grid);
        const haul_estimate untold = predicted(from, to, &work).estimate;
        memcpy(work.launches.grid, (double[]){32, 64, 1}, sizeof work.launches.grid);
        const haul_estimate told = predicted(from, to, &work).estimate;
        assert_true(told.high_s / told.low_s < 8.5);
        assert_true(told.low_s > 1.3 * untold.low_s);
        const double seconds = work.seconds;
        work.seconds = 1e300;
        assert_true(isfinite(predicted(from, to, &work).estimate.seconds));
        work.seconds = seconds;
        memcpy(work.launches.grid, (double[]){4, 2, 1}, sizeof work.launches.grid);
        CHECK_NEAR(predicted(from, to, &work).estimate.low_s, untold.low_s, 1e-12);
        haul_machine_free(to);
    }
    haul_machine_free(from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_small_tiles_are_slow),
        cmocka_unit_test(operands_tell_a_products_tiles),
        cmocka_unit_test(a_launch_tells_a_products_sizes),
        cmocka_unit_test(few_kernels_leave_the_edges_of_a_batch_open),
        cmocka_unit_test(rows_far_apart_may_be_slow),
        cmocka_unit_test(rows_known_to_be_far_apart_may_be_slow),
        cmocka_unit_test(few_tiles_take_up_to_a_wave),
        cmocka_unit_test(measured_products_correct_their_neighbours),
        cmocka_unit_test(measured_products_tell_the_librarys_tile),
        cmocka_unit_test(short_products_run_before_power_is_felt),
        cmocka_unit_test(narrow_products_stream_their_operands),
        cmocka_unit_test(products_with_a_vector_stream_a_matrix),
        cmocka_unit_test(narrow_and_unaligned_products_are_less_sure),
        cmocka_unit_test(tiny_products_take_a_launch_at_least),
        cmocka_unit_test(odd_sizes_keep_tensor_cores_waiting),
        cmocka_unit_test(products_of_unknown_tiles_are_less_sure),
        cmocka_unit_test(a_precision_that_a_gpu_lacks_falls_back),
        cmocka_unit_test(nominal_tensor_peaks_stand_in_for_rates),
        cmocka_unit_test(fp32_products_have_no_tensor_ridge),
        cmocka_unit_test(tensor_cores_have_a_ridge_where_they_are),
        cmocka_unit_test(a_launch_bounds_products_in_tensor_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
