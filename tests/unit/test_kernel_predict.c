/* Kernels on another GPU by their class, against closed forms. */
#include "kernel_machines.h"

#include <stdlib.h>

/* Kernels that miss together add their half widths, those that miss apart the squares. */
static void sums_are_as_wide_as_kernels_are_correlated(void **state)
{
    (void)state;
    haul_kernel_prediction one = {.estimate = {.seconds = 10, .low_s = 7, .high_s = 14}};
    for (int shared = 0; shared < 2; shared++) {
        haul_kernel_sum sum = {0};
        one.shared = shared;
        for (int i = 0; i < 4; i++)
            haul_kernel_sum_add(&sum, &one);
        CHECK_NEAR(sum.seconds, 40, 1e-12);
        CHECK_NEAR(haul_kernel_sum_squared(&sum, 0), shared ? 144 : 36, 1e-9);
        CHECK_NEAR(haul_kernel_sum_squared(&sum, 1), shared ? 256 : 64, 1e-9);
    }
}

static void classes_follow_what_bounds_them(void **state)
{
    (void)state;
    const haul_machine from = small(), to = large();
    haul_kernel_work work = work_of("volta_sgemm_128x64_nn", 1.000002, 1e6);
    haul_kernel_prediction out = predicted(&from, &to, &work);
    CHECK_NEAR(out.estimate.seconds, 4e-6 + 1 / 3.0, 1e-9);
    assert_int_equal(out.bound, HAUL_KERNEL_BOUND_ARITHMETIC);
    work = work_of("triad_kernel", 0.100002, 1e6);
    out = predicted(&from, &to, &work);
    CHECK_NEAR(out.estimate.seconds, 4e-6 + 0.025, 1e-9);
    assert_int_equal(out.bound, HAUL_KERNEL_BOUND_MEMORY);
    work = work_of("ncclDevKernel_AllReduce", 0.1, 4);
    assert_int_equal(predicted(&from, &to, &work).kind, HAUL_KERNEL_CLASS_COLLECTIVE);
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 0.1, 1e-4);
    work = work_of("my_solver", 0.1, 1e6);
    assert_int_equal(predicted(&from, &to, &work).kind, HAUL_KERNEL_CLASS_UNKNOWN);
}

/* high over likely, in the logarithm */
static double width_of(const haul_machine *from, const haul_machine *to, const char *name)
{
    const haul_kernel_work work = work_of(name, 0.100002, 1e6);
    const haul_kernel_prediction out = predicted(from, to, &work);
    return log(out.estimate.high_s / out.estimate.seconds);
}

static void gathers_and_other_makers_are_less_sure(void **state)
{
    (void)state;
    const haul_machine from = small();
    haul_machine to = large();
    const double same = width_of(&from, &to, "vectorized_elementwise_kernel");
    const double gather = width_of(&from, &to, "vectorized_gather_kernel");
    assert_true(gather > same + 0.2);
    to.gpu.architecture = "cdna3";
    assert_true(width_of(&from, &to, "vectorized_elementwise_kernel") > same + 0.05);
    assert_true(width_of(&from, &to, "volta_sgemm_128x64_nn") >
                width_of(&from, &from, "volta_sgemm_128x64_nn"));
}

/* 10 blocks keep the small GPU's multiprocessors busy, and half of the large one's. */
static void waves_are_whole(void **state)
{
    (void)state;
    const haul_machine from = small(), to = large();
    haul_kernel_work work = work_of("volta_sgemm_128x64_nn", 1.000002, 10);
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 4e-6 + 2 / 3.0, 1e-9);
    work.launches.blocks = 11; /* two waves on one, one on the other */
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 4e-6 + 1 / 3.0, 1e-9);
}

/* Convolutions and attention of known sizes keep the share of the roofline that they reached: few
 * flops a byte go by the memory, many by the arithmetic, and nobody's guess of half way. */
static void convolutions_and_attention_go_by_their_roofline(void **state)
{
    (void)state;
    haul_machine from = small(), to = large();
    from.gpu.product_flops[HAUL_PRECISION_FP16] = given(8e12);
    from.gpu.tensor_flops[HAUL_PRECISION_FP16] = given(10e12);
    to.gpu.product_flops[HAUL_PRECISION_FP16] = given(96e12);
    to.gpu.tensor_flops[HAUL_PRECISION_FP16] = given(120e12);
    /* One token of 64 heads beside 8192 keys: 128 MiB of keys and values. */
    haul_kernel_work work = work_of("flash_fwd_splitkv_kernel", 4e-3 + 2e-6, 320);
    work.kind.precision = HAUL_PRECISION_FP16;
    const double half_way = predicted(&from, &to, &work).estimate.seconds;
    work.operands = (haul_operands){.batch = 64,
                                    .rows = 1,
                                    .columns = 8192,
                                    .inner = 128,
                                    .bytes = UINT64_C(2) * 64 * 8193 * 128};
    haul_kernel_prediction made = predicted(&from, &to, &work);
    CHECK_NEAR(made.estimate.seconds, 1e-3 + 4e-6, 1e-9);
    assert_int_equal(made.bound, HAUL_KERNEL_BOUND_MEMORY);
    assert_true(made.estimate.seconds > 1.5 * half_way);
    /* 8192 tokens: thousands of flops a byte. */
    work.operands.rows = 8192;
    work.operands.bytes = UINT64_C(2) * 64 * 16384 * 128;
    work.seconds = 0.2 + 2e-6;
    made = predicted(&from, &to, &work);
    CHECK_NEAR(made.estimate.seconds, 0.2 / 12 + 4e-6, 1e-9);
    assert_int_equal(made.bound, HAUL_KERNEL_BOUND_ARITHMETIC);
    /* A convolution that is faster than its flops allow was computed in another way. */
    haul_kernel_work other = work_of("maxwell_winogradForward3x3", 1e-3 + 2e-6, 320);
    other.kind.precision = HAUL_PRECISION_FP32;
    const double by_name = predicted(&from, &to, &other).estimate.seconds;
    other.operands = (haul_operands){
        .batch = 1, .rows = 1 << 14, .columns = 256, .inner = 2304, .bytes = 64 << 20};
    CHECK_NEAR(predicted(&from, &to, &other).estimate.seconds, by_name, 1e-12);
    /* The same sizes in a time that is possible: no less than its bytes take. */
    other.seconds = 0.1;
    assert_true(predicted(&from, &to, &other).estimate.seconds > 64e6 / 480e9);
}

/* Softmax goes over its rows three times. 80 rows of 5000 bytes are at work on the small GPU, read
 * and written 0.8 of its L2, and 160 on the large one, 1.6 of it: 2.6 passes over the memory, and
 * all 4. */
static void rows_that_no_cache_holds_are_read_again(void **state)
{
    (void)state;
    haul_machine from = small(), to = large();
    from.gpu.architecture = to.gpu.architecture = "maxwell";
    haul_kernel_work work = work_of("cunn_SoftMaxForward<4, float>", 102e-6, 1000);
    const double expected_s = 4e-6 + 25e-6 * 4 / 2.6;
    work.operands.bytes = UINT64_C(2) * 5000 * 1000;
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, expected_s, 1e-9);
    work.operands.bytes = 0; /* as many by the time: 102 us and not 100 */
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, expected_s, 0.05);
    work.kind = haul_kernel_kind_of("softmax_warp_forward", NULL); /* a row is in registers */
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 4e-6 + 25e-6, 1e-9);
}

/* The same rows on a Volta, with 96 KiB of L1 in each of its 20 multiprocessors beside the L2, and
 * on an A100, whose L2 counts half beside 164 KiB each. */
static void rows_are_kept_in_l1_too(void **state)
{
    (void)state;
    haul_machine from = small(), to = large();
    from.gpu.architecture = "maxwell";
    haul_kernel_work work = work_of("cunn_SoftMaxForward<4, float>", 102e-6, 1000);
    work.operands.bytes = UINT64_C(2) * 5000 * 1000;
    double passes = 2 + 2 * (1.6e6 / (1e6 + 20 * 96 * 1024) - 0.5);
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 4e-6 + 25e-6 * passes / 2.6, 1e-9);
    to.gpu.architecture = "ampere";
    work.operands.bytes *= 2;
    passes = 2 + 2 * (3.2e6 / (0.5e6 + 20 * 164 * 1024) - 0.5);
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 4e-6 + 25e-6 * passes / 4, 1e-9);
}

/* No cache matters to rows that are read once. */
static void rows_that_are_read_again_are_less_sure(void **state)
{
    (void)state;
    const haul_kernel_work once = work_of("softmax_warp_forward", 1e-3, 1e5);
    const haul_kernel_work again = work_of("cunn_SoftMaxForward<4, float>", 1e-3, 1e5);
    assert_true(width_up(&again) > width_up(&once) + 0.1);
}

/* Data of 0.4 MB that one L2 holds, and the other does not. */
static void data_in_l2_move_at_its_rate(void **state)
{
    (void)state;
    haul_machine from = small(), to = large();
    from.gpu.launch_latency_s = to.gpu.launch_latency_s = given(1e-6);
    from.gpu.l2_Bps = given(400e9);
    to.gpu.l2_Bps = given(1600e9);
    haul_kernel_work work = work_of("triad_kernel", 2e-6, 1e6);
    work.bytes = 400e3; /* 1 us out of L2 beside the launch, 4 us through the memory */
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 1.25e-6, 1e-12);
    to.gpu.l2_bytes = given(100e3);
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 2e-6, 1e-12);
    work.seconds = 6e-6; /* the source's L2 had none of it */
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 2.25e-6, 1e-12);
    /* bytes by the time: 0.4 MB that the kernel before left in L2, or 0.1 of the memory */
    work = work_of("triad_kernel", 2e-6, 1e6);
    const haul_estimate out = predicted(&from, &to, &work).estimate;
    CHECK_NEAR(out.seconds, 2e-6, 1e-9);
    assert_true(out.low_s <= out.seconds / 4);
}

static void the_memory_sustains_what_copies_move(void **state)
{
    (void)state;
    const haul_machine from = small();
    haul_machine to = large();
    haul_kernel_work work = work_of("triad_kernel", 1, 1e6);
    work.bytes = 90e9;
    to.gpu.stream_Bps.provenance = HAUL_PROVENANCE_MEASURED;
    to.gpu.memory_bandwidth_Bps.provenance = HAUL_PROVENANCE_MEASURED;
    const double by_triad = predicted(&from, &to, &work).estimate.seconds;
    /* the slope behind the larger ones is twice the triad's rate; the first are in L2 */
    const double slope_s = 1e9 / to.gpu.stream_Bps.value;
    const haul_copy_curve copies = {
        .direction = HAUL_DIRECTION_DTOD,
        .memory = HAUL_MEMORY_DEVICE,
        .points_from = given(4),
        .points = {{0, 0}, {1, 1e-30}, {1e9, 1}, {2e9, 1 + slope_s}},
    };
    to.copies = &copies;
    to.copy_count = 1;
    to.gpu.l2_bytes = given(1e6);
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, by_triad / 2, 0.01);
    to.gpu.stream_Bps.provenance = HAUL_PROVENANCE_PUBLISHED; /* by streaming kernels of others */
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, by_triad, 0.01);
}

static void few_blocks_keep_their_latency(void **state)
{
    (void)state;
    const haul_machine from = small(), to = large();
    const haul_kernel_work work = work_of("triad_kernel", 12e-6, 4);
    const haul_kernel_prediction out = predicted(&from, &to, &work);
    assert_int_equal(out.kind, HAUL_KERNEL_CLASS_LATENCY);
    CHECK_NEAR(out.estimate.seconds, 14e-6, 1e-12); /* one block's 10 us, and a longer launch */
    haul_kernel_work pairs = work_of("triad_kernel", 12e-6, 20); /* two of 8 warps; 12 are unfelt */
    CHECK_NEAR(predicted(&from, &to, &pairs).estimate.seconds, 4e-6 + 10e-6 * 1.5 / 2, 1e-12);
    pairs.launches.shared_bytes = 60 * 1024; /* one after the other, of 96 KB */
    CHECK_NEAR(predicted(&from, &to, &pairs).estimate.seconds, 4e-6 + 10e-6 / 2, 1e-12);
}

/* Counters miss what tensor cores compute: 1 s of recorded time stays 1/3 s on a GPU three times as
 * fast, though the flops that were counted would take 0.1 ms. */
static void counted_flops_are_a_lower_limit_alone(void **state)
{
    (void)state;
    const haul_machine from = small(), to = large();
    haul_kernel_work work = work_of("fmha_cutlassF_f32_aligned_64x64_rf_sm80", 1, 1e6);
    work.flops = 0.3e9;
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 1.0 / 3, 1e-4);
    work.flops = 1.5e12;
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 0.5, 1e-4);
}

/* An fp64 product that an A100 computes in 15.9 ms cannot take 6 ms on a GPU with a token fp64
 * peak, whatever its fp32 peak. */
static void nothing_is_faster_than_memory_and_arithmetic(void **state)
{
    (void)state;
    const haul_machine from = small(), to = large();
    haul_kernel_work work = work_of("volta_dgemm_64x64_nt", 1, 1e6);
    work.flops = 0.5e12;
    haul_kernel_prediction out = predicted(&from, &to, &work);
    assert_true(out.estimate.low_s >= 5);
    work = work_of("layer_norm_kernel", 1, 1e6);
    work.bytes = 100e9;
    out = predicted(&from, &to, &work);
    assert_true(out.estimate.low_s >= 100e9 / 480e9 - 1e-3);
}

/* 2 x 4096^3 flops in double precision: an RTX 4090's peak, 1.29 Tflop/s, allows no less than 106
 * ms for what an A100 does in 15.9 ms, by the kernel's name as by its counters. */
static void a_gpu_with_a_token_fp64_peak_is_held_to_it(void **state)
{
    (void)state;
    haul_machine *from = NULL, *to = NULL;
    haul_error error = {0};
    if (haul_machine_load("a100-pcie4", &from, &error) ||
        haul_machine_load("rtx-4090", &to, &error))
        fail_msg("%s", error.text);
    haul_kernel_work work = work_of(
        "void cutlass::Kernel<cutlass_80_tensorop_d884gemm_64x128_16x3_nn_align1>", 15.9e-3, 2048);
    assert_true(predicted(from, to, &work).estimate.seconds >= 0.106);
    work.flops = 2 * pow(4096, 3);
    assert_true(predicted(from, to, &work).estimate.low_s >= 0.106);
    haul_machine_free(to);
    haul_machine_free(from);
}

static void the_same_gpu_takes_the_same_time(void **state)
{
    (void)state;
    const haul_machine from = small();
    static const char *const names[] = {"volta_sgemm_128x64_nn", "triad_kernel", "softmax", "x"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const haul_kernel_work work = work_of(names[i], 1e-3, 100);
        const haul_kernel_prediction out = predicted(&from, &from, &work);
        CHECK_NEAR(out.estimate.seconds, 1e-3, 1e-12);
        CHECK_NEAR(out.estimate.low_s, 1e-3, 1e-12);
        CHECK_NEAR(out.estimate.high_s, 1e-3, 1e-12);
    }
}

/* Whatever counters, operands and rates would make of a recorded time. */
static void the_same_gpu_keeps_times_that_its_rates_belie(void **state)
{
    (void)state;
    const haul_machine from = small();
    haul_kernel_work work = work_of("volta_sgemm_128x64_nn", 1e-3, 1e3);
    work.operands =
        (haul_operands){.batch = 1, .rows = 4096, .columns = 4096, .inner = 4096, .bytes = 1000000};
    haul_kernel_prediction out = predicted(&from, &from, &work);
    CHECK_NEAR(out.estimate.low_s, 1e-3, 1e-12);
    CHECK_NEAR(out.estimate.high_s, 1e-3, 1e-12);
    work = work_of("triad_kernel", 1e-3, 1e3);
    work.bytes = 0.1e9;
    CHECK_NEAR(predicted(&from, &from, &work).estimate.seconds, 1e-3, 1e-12);
}

/* "What if the memory were twice as fast" is asked of the GPU that recorded the profile, too. */
static void a_changed_gpu_is_another(void **state)
{
    (void)state;
    haul_machine *from = NULL, *to = NULL, *other = NULL;
    haul_error error = {0};
    if (haul_machine_load("a100-sxm4", &from, &error) ||
        haul_machine_set(from, "gpu.memory_bandwidth=4.078 TB/s", &to, &error) ||
        haul_machine_set(from, "gpu.copy_engines=1", &other, &error))
        fail_msg("%s", error.text);
    const haul_kernel_work work = work_of("triad_kernel", 0.1, 1e6);
    CHECK_NEAR(predicted(from, to, &work).estimate.seconds, 0.05, 1e-3);
    CHECK_NEAR(predicted(from, other, &work).estimate.high_s, 0.1, 1e-12);
    haul_machine_free(other);
    haul_machine_free(to);
    haul_machine_free(from);
}

/* Without the number of multiprocessors nothing is known of waves: rates alone count. */
static void machines_may_lack_their_multiprocessors(void **state)
{
    (void)state;
    const haul_machine from = small();
    haul_machine to = large();
    to.gpu.multiprocessors = (haul_parameter){0};
    haul_kernel_work work = work_of("volta_sgemm_128x64_nn", 1.000002, 1e6);
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 4e-6 + 1 / 3.0, 1e-9);
    CHECK_NEAR(predicted(&to, &from, &work).estimate.seconds, 3, 1e-3);
    work.operands =
        (haul_operands){.batch = 1, .rows = 4096, .columns = 4096, .inner = 4096, .bytes = 1000000};
    CHECK_NEAR(predicted(&from, &to, &work).estimate.seconds, 1 / 3.0, 1e-3);
}

static void kernels_without_a_duration_stay_without(void **state)
{
    (void)state;
    const haul_machine from = small(), to = large();
    static const char *const names[] = {
        "volta_sgemm_128x64_nn",  "triad_kernel", "softmax", "cunn_SoftMaxForward", "x",
        "ncclDevKernel_AllReduce"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int b = 0; b < 3; b++) {
            static const double blocks[] = {0, 1, 1000001};
            const haul_kernel_work work = work_of(names[i], 0, blocks[b]);
            assert_true(predicted(&from, &to, &work).estimate.high_s == 0);
        }
}

/* 100 GB in 0.1 s are eight times the source's bandwidth: they say nothing of the target. */
static void counts_that_the_source_belies_bound_nothing(void **state)
{
    (void)state;
    const haul_machine from = small(), to = large();
    haul_kernel_work work = work_of("layer_norm_kernel", 0.1, 1e6);
    const haul_estimate uncounted = predicted(&from, &to, &work).estimate;
    work.bytes = 100e9;
    const haul_estimate counted = predicted(&from, &to, &work).estimate;
    assert_true(counted.low_s < counted.seconds && counted.low_s < uncounted.seconds);
    haul_kernel_work product = work_of("volta_sgemm_128x64_nn", 0.1, 1e6);
    product.bytes = 100e9;
    product.flops = 0.1e12; /* which it can have done */
    assert_true(predicted(&from, &to, &product).estimate.low_s > 0.0999 / 3.5);
}

/* A block whose threads are not known may be any: its grid tells no low occupancy. */
static void unknown_blocks_tell_no_low_occupancy(void **state)
{
    (void)state;
    const haul_machine from = small(), to = large();
    haul_kernel_work work = work_of("triad_kernel", 0.1, 1e6);
    work.launches.block = 0;
    assert_int_equal(predicted(&from, &to, &work).kind, HAUL_KERNEL_CLASS_STREAMING);
}

static void unknown_kernels_move_their_bytes_too(void **state)
{
    (void)state;
    const haul_machine from = large(), to = small();
    haul_kernel_work work = work_of("my_solver", 1, 1e6);
    work.bytes = 450e9;
    const haul_kernel_prediction out = predicted(&from, &to, &work);
    assert_int_equal(out.kind, HAUL_KERNEL_CLASS_UNKNOWN);
    assert_int_equal(out.bound, HAUL_KERNEL_BOUND_MEMORY);
    CHECK_NEAR(out.estimate.seconds, 480e9 / 120e9, 1e-4); /* as near the peak as on the source */
    CHECK_NEAR(out.estimate.low_s, 450e9 / 120e9, 1e-4);
    assert_true(out.estimate.high_s > 1.2 * out.estimate.seconds);
}

/* A thread reads and writes 8 bytes at the least: a kernel whose threads had time for a few more is
 * bound by the memory, one whose threads had time for thousands by what goes on inside, and one of
 * counted bytes by what they leave. Small's memory moves 120 GB/s at the most, large's 480. */
static void short_threads_are_bound_by_memory(void **state)
{
    (void)state;
    const haul_machine from = small(), to = large();
    const double threads = 256e6, by_memory = 1.0 / 4, inside = 1.0 / 2;
    haul_kernel_work work = work_of("my_solver", 0, 1e6);
    const struct {
        double bytes; /* of a thread that the time is long enough for */
        double counted;
        double memory; /* of the ratio, in the logarithm */
    } cases[] = {{8 / 0.6, 0, 1}, {8 / 0.5, 0, 0.5}, {8 / 0.4, 0, 0},
                 {1e4, 0, 0},     {7.9, 0, 0}, /* more than the memory moves: its threads did not */
                 {1e4, 1e4, 1},   {1e4, 5e3, 0.5},   {1e4, 1e3, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        work.seconds = 2e-6 + threads * cases[i].bytes / 120e9;
        work.bytes = threads * cases[i].counted;
        const double ratio = pow(by_memory, cases[i].memory) * pow(inside, 1 - cases[i].memory);
        const haul_kernel_prediction out = predicted(&from, &to, &work);
        CHECK_NEAR(out.estimate.seconds, 2e-6 + (work.seconds - 2e-6) * ratio, 1e-3);
        assert_int_equal(out.bound == HAUL_KERNEL_BOUND_MEMORY, cases[i].memory == 1);
    }
    /* sure of the memory, the interval reaches to no other ratio */
    work.bytes = 0;
    work.seconds = 2e-6 + threads * 12 / 120e9;
    const haul_estimate sure = predicted(&from, &to, &work).estimate;
    work.seconds = 2e-6 + threads * 1e4 / 120e9;
    const haul_estimate unsure = predicted(&from, &to, &work).estimate;
    assert_true(log(sure.high_s / sure.low_s) < 0.7 * log(unsure.high_s / unsure.low_s));
}

/* The check bits of GDDR are in the rate that programs sustain once, not twice. */
static void ecc_is_counted_once(void **state)
{
    (void)state;
    haul_machine from = small(), to = small();
    from.gpu.stream_Bps = to.gpu.stream_Bps = (haul_parameter){0};
    to.gpu.name = "Other";
    to.gpu.inline_ecc = given(1);
    haul_kernel_work work = work_of("vectorized_elementwise_kernel", 1, 1e6);
    work.bytes = 80e9;
    const haul_kernel_prediction out = predicted(&from, &to, &work);
    CHECK_NEAR(out.estimate.seconds, 0.88 / 0.74, 1e-5);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    const haul_machine from = small(), nothing = {.name = "nothing", .gpu = {.name = "Nothing"}};
    haul_kernel_prediction out;
    haul_error error;
    haul_kernel_work work = work_of("triad_kernel", 1e-3, 100);
    assert_int_equal(haul_kernel_predict(&from, &nothing, &work, &out, &error),
                     HAUL_STATUS_MISSING);
    work.seconds = (double)NAN;
    assert_int_equal(haul_kernel_predict(&from, &from, &work, &out, &error), HAUL_STATUS_BAD_INPUT);
    work = work_of("triad_kernel", 1e-3, -1);
    const haul_machine to = large();
    (void)haul_kernel_predict(&from, &to, &work, &out, &error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_as_wide_as_kernels_are_correlated),
        cmocka_unit_test(classes_follow_what_bounds_them),
        cmocka_unit_test(gathers_and_other_makers_are_less_sure),
        cmocka_unit_test(waves_are_whole),
        cmocka_unit_test(convolutions_and_attention_go_by_their_roofline),
        cmocka_unit_test(rows_that_no_cache_holds_are_read_again),
        cmocka_unit_test(rows_are_kept_in_l1_too),
        cmocka_unit_test(rows_that_are_read_again_are_less_sure),
        cmocka_unit_test(data_in_l2_move_at_its_rate),
        cmocka_unit_test(the_memory_sustains_what_copies_move),
        cmocka_unit_test(few_blocks_keep_their_latency),
        cmocka_unit_test(counted_flops_are_a_lower_limit_alone),
        cmocka_unit_test(nothing_is_faster_than_memory_and_arithmetic),
        cmocka_unit_test(a_gpu_with_a_token_fp64_peak_is_held_to_it),
        cmocka_unit_test(the_same_gpu_takes_the_same_time),
        cmocka_unit_test(the_same_gpu_keeps_times_that_its_rates_belie),
        cmocka_unit_test(a_changed_gpu_is_another),
        cmocka_unit_test(machines_may_lack_their_multiprocessors),
        cmocka_unit_test(kernels_without_a_duration_stay_without),
        cmocka_unit_test(counts_that_the_source_belies_bound_nothing),
        cmocka_unit_test(unknown_blocks_tell_no_low_occupancy),
        cmocka_unit_test(unknown_kernels_move_their_bytes_too),
        cmocka_unit_test(short_threads_are_bound_by_memory),
        cmocka_unit_test(ecc_is_counted_once),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
