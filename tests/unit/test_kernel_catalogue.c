/* Kernels of each class from each GPU of the catalogue to each other: no answer is nonsense, on
 * GPUs too that no measurement of the data is of. */
#include "kernel_machines.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 64, TIMES = 4 };

static struct {
    haul_machine *of[MOST];
    size_t count;
} machines;

static int load_all(void **state)
{
    (void)state;
    char **names = NULL;
    haul_error error = {0};
    haul_status status = haul_catalogue_list(&names, &machines.count, &error);
    assert_true(!status && machines.count > 0 && machines.count <= MOST);
    for (size_t i = 0; !status && i < machines.count; i++)
        status = haul_machine_load(names[i], &machines.of[i], &error);
    haul_names_free(names, machines.count);
    if (status)
        print_error("%s\n", error.text);
    return status != HAUL_OK;
}

static int free_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < machines.count; i++)
        haul_machine_free(machines.of[i]);
    return 0;
}

/* Calls `check` with each two machines whose GPUs are not the same. */
static void for_each_pair(void (*check)(const haul_machine *from, const haul_machine *to))
{
    for (size_t a = 0; a < machines.count; a++)
        for (size_t b = 0; b < machines.count; b++)
            if (strcmp(machines.of[a]->gpu.name, machines.of[b]->gpu.name))
                check(machines.of[a], machines.of[b]);
}

/* Kernels of which names and launches alone are known, and how wide their intervals may be in the
 * middle of the catalogue's pairs. */
static const struct {
    const char *name;
    double most; /* high / low where both GPUs are NVIDIA's since Pascal; 0: nothing is known */
} kernels[] = {
    {"ampere_sgemm_128x64_tn", 6},
    {"volta_dgemm_128x64_nn", 8},
    {"cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4", 0},
    {"ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn", 0},
    {"nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT", 0},
    {"sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nchw_tilesize128x128x32", 0},
    {"flash_fwd_kernel", 0},
    {"vectorized_elementwise_kernel", 2},
    {"cunn_SoftMaxForward", 3},
    {"indexSelectLargeIndex", 3},
    {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", 5},
    {"my_solver", 8},
};

static bool is_known_gpu(const haul_machine *of)
{
    static const char *const names[] = {"pascal", "volta", "turing", "ampere", "ada", "hopper"};
    bool found = false;
    for (size_t i = 0; of->gpu.architecture && i < sizeof names / sizeof *names; i++)
        found |= !strcmp(of->gpu.architecture, names[i]);
    return found;
}

/* A kernel that took longer takes no less elsewhere, and a large one's interval says something. */
static void names_tell_something(const haul_machine *from, const haul_machine *to)
{
    static const double times[TIMES] = {3e-6, 1e-4, 1e-2, 1};
    static const double blocks[] = {4, 1000, 1e5};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
            double last_s = 0;
            for (size_t t = 0; t < TIMES; t++) {
                const haul_kernel_work work = work_of(kernels[k].name, times[t], blocks[b]);
                const haul_estimate of = predicted(from, to, &work).estimate;
                assert_true(of.low_s > 0 && isfinite(of.high_s));
                assert_true(of.seconds >= last_s);
                last_s = of.seconds;
                if (blocks[b] > 1e4 && times[t] > 1e-3 && kernels[k].most > 0 &&
                    is_known_gpu(from) && is_known_gpu(to))
                    assert_true(of.high_s < kernels[k].most * of.low_s);
            }
        }
}

static void no_class_is_nonsense_anywhere(void **state)
{
    (void)state;
    for_each_pair(names_tell_something);
}

static const struct {
    const char *name;
    haul_precision precision;
    double bytes;
} products[] = {
    {"ampere_sgemm_128x64_tn", HAUL_PRECISION_FP32, 4},
    {"volta_dgemm_128x64_nn", HAUL_PRECISION_FP64, 8},
    {"cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4", HAUL_PRECISION_TF32, 4},
    {"ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn", HAUL_PRECISION_FP16, 2},
};

/* The nominal peak of a precision, where the GPU has one of its own; else no limit. */
static double peak_of(const haul_gpu *gpu, haul_precision precision)
{
    const double vector = precision == HAUL_PRECISION_FP32   ? gpu->fp32_flops.value
                          : precision == HAUL_PRECISION_FP64 ? gpu->fp64_flops.value
                                                             : 0;
    const double most = fmax(vector, gpu->product_flops[precision].value);
    const double peak = fmax(most, gpu->tensor_flops[precision].value);
    return peak > 0 ? peak : HUGE_VAL;
}

/* Sizes from a row times a matrix to large squares. The source took 1.3 times what its peaks and
 * memory need. */
static void sizes_keep_to_peaks(const haul_machine *from, const haul_machine *to)
{
    static const uint64_t sides[][4] = {{1, 1, 8192, 8192},    {1, 64, 28672, 8192},
                                        {96, 512, 64, 512},    {1, 32, 32, 100000},
                                        {1, 4096, 4096, 4096}, {1, 16384, 16384, 16384}};
    for (size_t k = 0; k < sizeof products / sizeof *products; k++)
        for (size_t s = 0; s < sizeof sides / sizeof *sides; s++) {
            const uint64_t *n = sides[s];
            const double flops = 2.0 * (double)(n[0] * n[1] * n[2] * n[3]);
            const double bytes =
                products[k].bytes * (double)(n[0] * (n[1] * n[3] + n[3] * n[2] + n[1] * n[2]));
            const double source = peak_of(&from->gpu, products[k].precision);
            const double by_flops = flops / fmin(source, 1e15);
            haul_kernel_work work =
                work_of(products[k].name,
                        2e-6 + 1.3 * fmax(by_flops, bytes / from->gpu.memory_bandwidth_Bps.value),
                        ceil((double)n[1] / 128) * ceil((double)n[2] / 64) * (double)n[0]);
            assert_int_equal(work.kind.precision, products[k].precision);
            work.operands = (haul_operands){n[0], n[1], n[2], n[3], (uint64_t)bytes, 16};
            const haul_estimate of = predicted(from, to, &work).estimate;
            const double in_memory = fmax(0, bytes - to->gpu.l2_bytes.value);
            assert_true(of.low_s > 0.999 * flops / peak_of(&to->gpu, products[k].precision));
            assert_true(of.low_s > 0.999 * in_memory / to->gpu.memory_bandwidth_Bps.value);
            if (products[k].precision <= HAUL_PRECISION_FP32 && n[1] >= 4096)
                assert_true(of.high_s < 6 * of.low_s);
        }
}

static void products_keep_to_peaks_anywhere(void **state)
{
    (void)state;
    for_each_pair(sizes_keep_to_peaks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_class_is_nonsense_anywhere),
        cmocka_unit_test(products_keep_to_peaks_anywhere),
    };
    return cmocka_run_group_tests(tests, load_all, free_all);
}
