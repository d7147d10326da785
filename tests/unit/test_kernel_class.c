/* Classes of kernels by their names: the table's own examples, names as public profiles have them,
 * and tables with any bytes in them. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "haul/kernel_class.h"

static void every_example_is_of_its_own_row(void **state)
{
    (void)state;
    size_t count;
    const haul_kernel_class_row *rows = haul_kernel_class_rows(&count);
    for (size_t i = 0; i < count; i++) {
        const haul_kernel_kind kind = haul_kernel_kind_of(rows[i].example, NULL);
        assert_true(rows[i].source && *rows[i].source);
        if (kind.pattern != rows[i].pattern)
            fail_msg("'%s' is the example of '%s', and '%s' matches it first", rows[i].example,
                     rows[i].pattern, kind.pattern ? kind.pattern : "nothing");
        assert_int_equal(kind.kind, rows[i].kind);
    }
}

/* Names as profilers print them, and what they tell. */
static const struct {
    const char *name;
    haul_kernel_class kind;
    haul_precision precision;
    unsigned tile[2];
} named[] = {
    {"triton_red_fused_convolution_native_group_norm_3",
     HAUL_KERNEL_CLASS_ROWS,
     HAUL_PRECISION_NONE,
     {0}},
    {"triton_poi_fused_addmm_gelu_5", HAUL_KERNEL_CLASS_STREAMING, HAUL_PRECISION_NONE, {0}},
    {"void reconvergence_test<float>(float*)", HAUL_KERNEL_CLASS_UNKNOWN, HAUL_PRECISION_NONE, {0}},
    {"void invokeConversion<float>(float*)", HAUL_KERNEL_CLASS_STREAMING, HAUL_PRECISION_NONE, {0}},
    {"cutlass3x_sm100_bstensorop_gemm_ue4m3xe2m1_nvfp4_128x128",
     HAUL_KERNEL_CLASS_PRODUCT,
     HAUL_PRECISION_FP4,
     {128, 128}},
    {"volta_sgemm_128x64_nn", HAUL_KERNEL_CLASS_PRODUCT, HAUL_PRECISION_FP32, {128, 64}},
    {"ampere_sgemm_32x32_sliced1x4_tn", HAUL_KERNEL_CLASS_PRODUCT, HAUL_PRECISION_FP32, {32, 32}},
    {"volta_dgemm_64x64_nt", HAUL_KERNEL_CLASS_PRODUCT, HAUL_PRECISION_FP64, {64, 64}},
    {"ampere_fp16_s16816gemm_fp16_256x128_ldg8_f2f_stages_64x3_tn",
     HAUL_KERNEL_CLASS_PRODUCT,
     HAUL_PRECISION_FP16,
     {256, 128}},
    {"ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_tn",
     HAUL_KERNEL_CLASS_PRODUCT,
     HAUL_PRECISION_BF16,
     {128, 64}},
    {"turing_fp16_s1688gemm_fp16_128x128_ldg8_relu_f2f_tn",
     HAUL_KERNEL_CLASS_PRODUCT,
     HAUL_PRECISION_FP16,
     {128, 128}},
    {"void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_tn_align1>(Params)",
     HAUL_KERNEL_CLASS_PRODUCT,
     HAUL_PRECISION_BF16,
     {256, 128}},
    {"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x128_32x3_tn_align4>(Params)",
     HAUL_KERNEL_CLASS_PRODUCT,
     HAUL_PRECISION_TF32,
     {256, 128}},
    {"void cutlass::Kernel2<cutlass_80_tensorop_d884gemm_64x64_16x4_nt_align1>(Params)",
     HAUL_KERNEL_CLASS_PRODUCT,
     HAUL_PRECISION_FP64,
     {64, 64}},
    {"sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x128x128",
     HAUL_KERNEL_CLASS_PRODUCT,
     HAUL_PRECISION_FP8,
     {128, 128}},
    {"Cijk_Ailk_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT64x288x64_MI16x16x1_SN",
     HAUL_KERNEL_CLASS_PRODUCT,
     HAUL_PRECISION_BF16,
     {64, 288}},
    {"Cijk_Alik_Bljk_SB_Bias_AS_SAV_UserArgs_MT64x16x32_MI16x16x1_SN",
     HAUL_KERNEL_CLASS_PRODUCT,
     HAUL_PRECISION_FP32,
     {64, 16}},
    {"Cijk_Ailk_Bljk_DB_MT128x64x16_MI16x16x4x1_SN",
     HAUL_KERNEL_CLASS_PRODUCT,
     HAUL_PRECISION_FP64,
     {128, 64}},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_bias_TNT",
     HAUL_KERNEL_CLASS_PRODUCT,
     HAUL_PRECISION_BF16,
     {256, 128}},
    {"nvjet_sm100_hsh_128x64_64x4_1x2_h_bz_splitK_TNT",
     HAUL_KERNEL_CLASS_PRODUCT,
     HAUL_PRECISION_FP16,
     {128, 64}},
    {"nvjet_sm90_ddd_64x64_16x4_1x1_h_bz_splitK_NNN",
     HAUL_KERNEL_CLASS_PRODUCT,
     HAUL_PRECISION_FP64,
     {64, 64}},
    {"nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_TNT",
     HAUL_KERNEL_CLASS_PRODUCT,
     HAUL_PRECISION_FP16,
     {128, 256}},
    {"sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128",
     HAUL_KERNEL_CLASS_CONVOLUTION,
     HAUL_PRECISION_TF32,
     {128, 128}},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >",
     HAUL_KERNEL_CLASS_STREAMING,
     HAUL_PRECISION_NONE,
     {0, 0}},
    {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float>",
     HAUL_KERNEL_CLASS_ROWS,
     HAUL_PRECISION_NONE,
     {0, 0}},
    {"void cublasLt::splitKreduce_kernel<32, 16, int, __nv_bfloat16>",
     HAUL_KERNEL_CLASS_STREAMING,
     HAUL_PRECISION_NONE,
     {0, 0}},
    {"void gemv2T_kernel_val<int, int, __nv_bfloat16>",
     HAUL_KERNEL_CLASS_STREAMING,
     HAUL_PRECISION_NONE,
     {0, 0}},
    {"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)",
     HAUL_KERNEL_CLASS_COLLECTIVE,
     HAUL_PRECISION_NONE,
     {0, 0}},
    {"my_kernel", HAUL_KERNEL_CLASS_UNKNOWN, HAUL_PRECISION_NONE, {0, 0}},
    {"", HAUL_KERNEL_CLASS_UNKNOWN, HAUL_PRECISION_NONE, {0, 0}},
};

static void names_tell_the_class_the_precision_and_the_tile(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        const haul_kernel_kind kind = haul_kernel_kind_of(named[i].name, NULL);
        if (kind.kind != named[i].kind || kind.precision != named[i].precision ||
            kind.tile[0] != named[i].tile[0] || kind.tile[1] != named[i].tile[1])
            fail_msg("'%s' is %s %s %ux%u", named[i].name, haul_kernel_class_text(kind.kind),
                     haul_precision_text(kind.precision), kind.tile[0], kind.tile[1]);
    }
}

static haul_status parse(const char *text, haul_kernel_classes **classes, haul_error *error)
{
    return haul_kernel_classes_parse(text, strlen(text), "own.csv", classes, error);
}

static void a_users_table_is_asked_first(void **state)
{
    (void)state;
    haul_kernel_classes *classes = NULL;
    assert_int_equal(parse("class,pattern,source\n"
                           "streaming,my*solver,our code\n"
                           "product,sgemm,\n",
                           &classes, NULL),
                     HAUL_OK);
    haul_kernel_kind kind = haul_kernel_kind_of("void my::fast::solver<4>", classes);
    assert_int_equal(kind.kind, HAUL_KERNEL_CLASS_STREAMING);
    assert_true(kind.is_users);
    assert_string_equal(kind.pattern, "my*solver");
    assert_string_equal(kind.source, "our code");
    kind = haul_kernel_kind_of("solver of my", classes);
    assert_int_equal(kind.kind, HAUL_KERNEL_CLASS_UNKNOWN);
    kind = haul_kernel_kind_of("volta_dgemm_64x64_nt", classes);
    assert_false(kind.is_users);
    haul_kernel_classes_free(classes);
}

/* The table that is installed is the one inside the library, and a user may begin with a copy. */
static void hauls_own_table_can_be_given_as_a_users(void **state)
{
    (void)state;
    haul_kernel_classes *classes = NULL;
    size_t count;
    const haul_kernel_class_row *rows = haul_kernel_class_rows(&count);
    assert_int_equal(haul_kernel_classes_load("kernels/classes.csv", &classes, NULL), HAUL_OK);
    for (size_t i = 0; i < count; i++) {
        const haul_kernel_kind inside = haul_kernel_kind_of(rows[i].example, NULL),
                               given = haul_kernel_kind_of(rows[i].example, classes);
        assert_true(given.is_users);
        assert_string_equal(given.pattern, inside.pattern);
        assert_string_equal(given.source, inside.source);
        assert_int_equal(given.kind, inside.kind);
        assert_int_equal(given.precision, inside.precision);
    }
    haul_kernel_classes_free(classes);
}

static void a_table_that_is_wrong_is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line;
        int column;
        const char *part;
    } cases[] = {
        {"pattern,class\nx,fast\n", 2, 3, "no class 'fast'"},
        {"pattern,class,precision\nx,product,fp32\ny,product,fp3\n", 3, 11, "no precision 'fp3'"},
        {"pattern,class\n *,product\n", 2, 1, "a part of a kernel's name"},
        {"pattern\nx\n", 1, 1, "class"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        haul_kernel_classes *classes = NULL;
        haul_error error = {0};
        assert_int_equal(parse(cases[i].text, &classes, &error), HAUL_STATUS_BAD_INPUT);
        assert_null(classes);
        assert_string_equal(error.file, "own.csv");
        assert_non_null(strstr(error.text, cases[i].part));
        if (cases[i].column > 1) {
            assert_int_equal(error.line, cases[i].line);
            assert_int_equal(error.column, cases[i].column);
        }
    }
}

/* Names of 100 kB that nearly match, over and over. */
static void long_names_take_linear_time(void **state)
{
    (void)state;
    enum { LONG = 100 * 1000 };
    static char text[LONG + 1], table[400];
    haul_kernel_classes *classes = NULL;
    memset(text, 'a', LONG);
    memcpy(table, "pattern,class\n", 14);
    memset(table + 14, 'a', 255);
    strcpy(table + 14 + 255, "b,product\n");
    assert_int_equal(parse(table, &classes, NULL), HAUL_OK);
    const clock_t start = clock();
    assert_int_equal(haul_kernel_kind_of(text, classes).kind, HAUL_KERNEL_CLASS_UNKNOWN);
    strcpy(text + LONG - 5, "sgemm");
    assert_int_equal(haul_kernel_kind_of(text, classes).kind, HAUL_KERNEL_CLASS_PRODUCT);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 5);
    haul_kernel_classes_free(classes);
    memset(table + 14, 'a', 300);
    strcpy(table + 14 + 300, ",product\n");
    haul_error error = {0};
    assert_int_equal(parse(table, &classes, &error), HAUL_STATUS_BAD_INPUT);
    assert_int_equal(error.line, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_is_of_its_own_row),
        cmocka_unit_test(names_tell_the_class_the_precision_and_the_tile),
        cmocka_unit_test(a_users_table_is_asked_first),
        cmocka_unit_test(hauls_own_table_can_be_given_as_a_users),
        cmocka_unit_test(a_table_that_is_wrong_is_refused_with_its_place),
        cmocka_unit_test(long_names_take_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
