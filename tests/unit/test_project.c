#include "liner.h"
#include "project/product_precision.h"
#include "workload/builder.h"

static void a_trace_gives_back_its_own_times(void **state)
{
    (void)state;
    by_hand hand = {0};
    const haul_workload *workload = record(&hand);
    const haul_projection_options given = {.to = &liner, .from = &liner};
    const haul_projection_options fitted = {.to = &liner};
    for (int i = 0; i < 2; i++) {
        haul_projection *projection = project(workload, i ? &fitted : &given);
        const haul_self_check *identity = &projection->self_check;
        assert_int_equal(identity->of.score.count, 63);
        assert_int_equal(identity->fitted, i);
        assert_int_equal(identity->unpredicted, 0);
        assert_int_equal(identity->row_count, 3);
        assert_true(identity->of.noise_floor == 0);
        assert_true(identity->of.score.wape < 0.001);
        CHECK_NEAR(projection->copies.seconds, projection->recorded_copies_s, 1e-6);
        assert_string_equal(projection->chosen, "loggp");
        haul_projection_free(projection);
    }
    by_hand_release(&hand);
}

static void rows_and_sizes_add_up(void **state)
{
    (void)state;
    by_hand hand = {0};
    const haul_projection_options options = {.to = &bare, .from = &liner};
    haul_projection *projection = project(record(&hand), &options);
    double recorded_s = 0, groups_s = 0, decades_s = 0, sizes_s = 0, low_s = 0, high_s = 0;
    uint64_t count = 0, groups = 0;
    for (size_t r = 0; r < projection->row_count; r++) {
        const haul_projection_row *row = &projection->rows[r];
        if (row->decade != HAUL_ANALYSIS_DECADES) {
            decades_s += row->predicted.seconds;
            continue;
        }
        groups++;
        count += row->count;
        groups_s += row->predicted.seconds;
        recorded_s += row->recorded_s;
        low_s += row->predicted.low_s;
        high_s += row->predicted.high_s;
    }
    for (size_t s = 0; s < projection->size_count; s++)
        sizes_s += projection->sizes[s].predicted.seconds;
    assert_int_equal(groups, 3);
    assert_int_equal(count, 63);
    assert_int_equal(projection->size_count, 21);
    assert_int_equal(projection->row_count, 3 + 21);
    CHECK_NEAR(groups_s, projection->copies.seconds, 1e-12);
    CHECK_NEAR(decades_s, groups_s, 1e-12);
    CHECK_NEAR(sizes_s, groups_s, 1e-12);
    CHECK_NEAR(recorded_s, projection->recorded_copies_s, 1e-12);
    CHECK_NEAR(low_s, projection->copies.low_s, 1e-12);
    CHECK_NEAR(high_s, projection->copies.high_s, 1e-12);
    assert_true(low_s < groups_s && groups_s < high_s);
    CHECK_NEAR(projection->models[0].total_s, groups_s, 1e-12);
    haul_projection_free(projection);
    by_hand_release(&hand);
}

static const haul_model_total *total_of(const haul_projection *projection, const char *name)
{
    const haul_model_total *found = NULL;
    for (size_t m = 0; m < projection->model_count; m++)
        if (!strcmp(projection->models[m].name, name)) {
            assert_null(found);
            found = &projection->models[m];
        }
    assert_non_null(found);
    return found;
}

static void baselines_stand_beside_ours(void **state)
{
    (void)state;
    by_hand hand = {0};
    haul_model_ref ahead;
    assert_int_equal(haul_model_find("ahead", &ahead, NULL), HAUL_OK);
    const haul_projection_options options = {.to = &liner, .from = &liner, .model = ahead.model};
    haul_projection *projection = project(record(&hand), &options);
    assert_string_equal(projection->models[0].name, "ahead");
    assert_string_equal(projection->chosen, "ahead");
    assert_int_equal(projection->model_count, haul_copy_model_count());
    const haul_model_total *peak = total_of(projection, "latency-bandwidth-bound");
    const haul_model_total *envelope = total_of(projection, "bandwidth-bound");
    assert_null(peak->missing);
    assert_true(envelope->total_s < peak->total_s);
    const haul_model_total *staged = total_of(projection, "staged");
    assert_non_null(staged->missing); /* it is for pageable copies */
    assert_true(isnan(staged->total_s));
    haul_projection_free(projection);
    haul_model_release(&ahead);
    by_hand_release(&hand);
}

static void the_truth_is_scored(void **state)
{
    (void)state;
    by_hand hand = {0}, truth = {0};
    const haul_workload *workload = record(&hand);
    /* the same program on a machine that takes twice the liner's time */
    for (size_t i = 0; i < workload->op_count; i++)
        if (workload->ops[i].kind == HAUL_OP_COPY)
            *by_hand_add(&truth, HAUL_OP_COPY, 0, 0) = workload->ops[i];
    for (size_t i = 0; i < truth.workload.op_count; i++)
        truth.ops[i].dur_ns *= 2;
    const haul_projection_options options = {
        .to = &liner, .from = &liner, .reference = by_hand_finish(&truth)};
    haul_projection *projection = project(workload, &options);
    assert_int_equal(projection->matched, 63);
    assert_true(projection->reference_run.makespan_ns > projection->recorded_run.makespan_ns);
    assert_int_equal(projection->unmatched, 0);
    CHECK_NEAR(projection->models[0].score.wape, 50, 1e-4);
    CHECK_NEAR(projection->models[0].score.wmape, 50.0 / 63, 1e-4);
    CHECK_NEAR(projection->models[0].score.median, 50, 1e-2);
    for (size_t r = 0; r < projection->row_count; r++) {
        assert_int_equal(projection->rows[r].score.count, projection->rows[r].count);
        CHECK_NEAR(projection->rows[r].score.wape, 50, 1e-2);
    }
    for (size_t s = 0; s < projection->size_count; s++)
        assert_int_equal(projection->sizes[s].score.count, 3);
    assert_int_equal(projection->reference_pair_count, projection->size_count);
    for (size_t p = 0; p < projection->reference_pair_count; p++) {
        assert_int_equal(projection->reference_pairs[p].count, 3);
        CHECK_NEAR(projection->reference_pairs[p].measured_s,
                   2 * projection->reference_pairs[p].predicted_s, 1e-2);
    }
    haul_projection_free(projection);
    by_hand_release(&hand);
    by_hand_release(&truth);
}

/* A page draws the groups that the sums of the self-check are made of. */
static void pairs_add_up_to_the_copies(void **state)
{
    (void)state;
    by_hand hand = {0};
    const haul_workload *workload = record(&hand);
    const haul_projection_options options = {.to = &liner, .from = &liner};
    haul_projection *projection = project(workload, &options);
    const haul_self_check *identity = &projection->self_check;
    uint64_t count = 0;
    double measured_s = 0;
    for (size_t p = 0; p < identity->pair_count; p++) {
        const haul_copy_pair *pair = &identity->pairs[p];
        count += pair->count;
        measured_s += pair->measured_s * (double)pair->count;
        CHECK_NEAR(pair->predicted_s, pair->measured_s, 1e-2);
    }
    assert_int_equal(count + identity->unpredicted, 63);
    assert_int_equal(identity->unpredicted, 0);
    CHECK_NEAR(measured_s, projection->recorded_copies_s, 1e-9);
    assert_int_equal(projection->reference_pair_count, 0);
    haul_projection_free(projection);
    by_hand_release(&hand);
}

static void kernels_keep_their_time_on_the_same_gpu(void **state)
{
    (void)state;
    by_hand hand = {0};
    const haul_workload *workload = record(&hand);
    const haul_projection_options options = {.to = &liner, .from = &liner};
    haul_projection *projection = project(workload, &options);
    CHECK_NEAR(projection->recorded_kernels_s, 1e-3, 1e-12);
    CHECK_NEAR(projection->kernels.seconds, 1e-3, 1e-12);
    CHECK_NEAR(projection->recorded_memsets_s, 5e-6, 1e-12);
    assert_string_equal(projection->gpu, "Liner 1");
    haul_projection_free(projection);

    const haul_projection_options unknown = {.to = &liner};
    projection = project(workload, &unknown);
    assert_null(projection->kernels.model);
    assert_non_null(strstr(projection->kernels_missing, "--from"));
    haul_projection_free(projection);

    hand.devices[0].name = hand.devices[1].name = "Old GPU";
    hand.devices[0].memory_bandwidth_Bps = 0.5e12;
    projection = project(workload, &unknown);
    /* by the device table; the launch of one kernel stays */
    CHECK_NEAR(projection->kernels.seconds, 0.5 * (1e-3 - 2e-6) + 2e-6, 1e-12);
    assert_string_equal(projection->gpu, "Old GPU");
    haul_projection_free(projection);

    hand.devices[1].name = "Another GPU";
    projection = project(workload, &unknown);
    assert_non_null(strstr(projection->kernels_missing, "two kinds of GPU"));
    haul_projection_free(projection);

    haul_projection_options wrong = {.to = &liner, .from = &bare};
    hand.devices[1].name = "Old GPU";
    projection = project(workload, &wrong);
    assert_true(has_note(projection, "'Old GPU'"));
    haul_projection_free(projection);

    /* as the profile has it, where the catalogue spells it otherwise */
    hand.devices[0].name = hand.devices[1].name = "NVIDIA Liner-1";
    projection = project(workload, &options);
    assert_string_equal(projection->gpu, "NVIDIA Liner-1");
    haul_projection_free(projection);
    by_hand_release(&hand);
}

/* A product that takes 100 ms, beside a triad that takes 90. */
static haul_workload *two_kernels(const char *const names[2])
{
    static const int64_t durations[] = {100000000, 90000000};
    haul_workload *made = NULL;
    haul_error error = {0};
    hl_workload_builder builder;
    hl_workload_builder_init(&builder);
    const uint32_t device = hl_workload_builder_device(&builder, 0);
    for (uint64_t k = 0; k < 2; k++) {
        haul_op op = {.kind = HAUL_OP_KERNEL, .dur_ns = durations[k], .thread = HAUL_NONE};
        op.name = hl_workload_builder_string(&builder, names[k], strlen(names[k]));
        op.stream = hl_workload_builder_stream(&builder,
                                               &(haul_workload_stream){.device = device, .id = k});
        op.shape = hl_workload_builder_shape(
            &builder, &(haul_shape){.grid = {64, 1, 1}, .block = {128, 1, 1}});
        hl_workload_builder_op(&builder, &op);
    }
    if (hl_workload_builder_finish(&builder, "two kernels", "a test", &made, &error))
        fail_msg("%s", error.text);
    return made;
}

/* The product ends last on the source GPU; a target that multiplies ten times as fast has the other
 * kernel last. */
static void kernels_enter_and_leave_the_critical_path(void **state)
{
    (void)state;
    static const char *const names[] = {"volta_sgemm_128x64_nn", "triad_kernel"};
    haul_machine from = liner, to = liner;
    from.gpu.product_flops[HAUL_PRECISION_FP32] = (haul_parameter)MEASURED(1e12);
    to.gpu.product_flops[HAUL_PRECISION_FP32] = (haul_parameter)MEASURED(10e12);
    to.gpu.name = "Liner 2";
    haul_workload *workload = two_kernels(names);
    const haul_projection_options options = {.to = &to, .from = &from};
    haul_projection *projection = project(workload, &options);
    assert_int_equal(projection->kernel_row_count, 2);
    for (int r = 0; r < 2; r++) {
        const haul_kernel_row *row = &projection->kernel_rows[r];
        const bool is_product = !strcmp(row->name, names[0]);
        assert_int_equal(row->critical_recorded_ns > 0, is_product);
        assert_int_equal(row->critical_ns > 0, !is_product);
    }
    haul_projection_free(projection);
    haul_workload_free(workload);
}

/* Two launches of one product, the first of which has operands; seconds on another GPU, of both. */
static double of_two_launches(int64_t second_ns, bool is_second_told)
{
    const haul_operands sizes = {64, 1024, 1024, 1024, 805306368, 16};
    haul_machine from = liner, to = liner;
    from.gpu.product_flops[HAUL_PRECISION_FP32] = (haul_parameter)MEASURED(1e12);
    to.gpu.product_flops[HAUL_PRECISION_FP32] = (haul_parameter)MEASURED(2e12);
    from.gpu.multiprocessors = to.gpu.multiprocessors = (haul_parameter)MEASURED(64);
    to.gpu.name = "Liner 2";
    haul_workload *workload = NULL;
    haul_error error = {0};
    hl_workload_builder builder;
    hl_workload_builder_init(&builder);
    const uint32_t device = hl_workload_builder_device(&builder, 0);
    const haul_workload_stream stream = {.device = device};
    const uint32_t operands = hl_workload_builder_operands(&builder, &sizes);
    for (int k = 0; k < 2; k++) {
        haul_op op = {.kind = HAUL_OP_KERNEL,
                      .start_ns = k * 1000000000,
                      .dur_ns = k ? second_ns : 200000000,
                      .thread = HAUL_NONE};
        const haul_shape shape = {.grid = {8, 16, 64},
                                  .block = {128, 1, 1},
                                  .operands = !k || is_second_told ? operands : 0};
        op.name = hl_workload_builder_string(&builder, "volta_sgemm_128x64_nn", 21);
        op.stream = hl_workload_builder_stream(&builder, &stream);
        op.shape = hl_workload_builder_shape(&builder, &shape);
        hl_workload_builder_op(&builder, &op);
    }
    if (hl_workload_builder_finish(&builder, "two launches", "a test", &workload, &error))
        fail_msg("%s", error.text);
    const haul_projection_options options = {.to = &to, .from = &from};
    haul_projection *projection = project(workload, &options);
    const double seconds = projection->kernels.seconds;
    haul_projection_free(projection);
    haul_workload_free(workload);
    return seconds;
}

/* A launch without an operator, as in a CUDA graph, has the sizes of those that are alike and take
 * as long; one that takes longer does other work. */
static void launches_that_are_alike_have_the_same_operands(void **state)
{
    (void)state;
    const double told = of_two_launches(200000000, true);
    CHECK_NEAR(of_two_launches(200000000, false), told, 1e-9);
    CHECK_NEAR(of_two_launches(215000000, false), told, 1e-9);
    assert_true(of_two_launches(400000000, false) > told + 0.05);
}

/* A name that tells no precision is of the program's other products': attention beside products in
 * half precision is in half precision, and alone it is of no known rate. */
static void precisions_are_told_by_other_products(void **state)
{
    (void)state;
    static const char *const with[] = {"attn_fwd", "ampere_fp16_s16816gemm_fp16_128x128_nn"};
    static const char *const without[] = {"attn_fwd", "triad_kernel"};
    haul_machine from = liner, to = liner;
    from.gpu.product_flops[HAUL_PRECISION_FP16] = (haul_parameter)MEASURED(100e12);
    to.gpu.product_flops[HAUL_PRECISION_FP16] = (haul_parameter)MEASURED(200e12);
    to.gpu.name = "Liner 2";
    for (int is_told = 0; is_told < 2; is_told++) {
        haul_workload *workload = two_kernels(is_told ? with : without);
        const haul_projection_options options = {.to = &to, .from = &from};
        haul_projection *projection = project(workload, &options);
        for (size_t r = 0; r < projection->kernel_row_count; r++)
            if (!strcmp(projection->kernel_rows[r].name, "attn_fwd"))
                assert_int_equal(projection->kernel_rows[r].as,
                                 is_told ? HAUL_KERNEL_CLASS_ATTENTION : HAUL_KERNEL_CLASS_UNKNOWN);
        haul_projection_free(projection);
        haul_workload_free(workload);
    }
}

/* The width of operands goes before what other products are in. */
static void precisions_are_told_by_operands(void **state)
{
    (void)state;
    hl_project_precisions of = {0};
    haul_kernel_row row = {.kind = haul_kernel_kind_of("volta_sgemm_128x64_nn", NULL),
                           .recorded_s = 3};
    hl_project_precisions_add(&of, &row);
    row = (haul_kernel_row){.kind = haul_kernel_kind_of("sm80_xmma_gemm_bf16bf16_bf16f32", NULL),
                            .recorded_s = 2};
    assert_int_equal(row.kind.precision, HAUL_PRECISION_BF16);
    hl_project_precisions_add(&of, &row);
    const haul_kernel_kind untold = {.kind = HAUL_KERNEL_CLASS_PRODUCT};
    const haul_kernel_kind streaming = {.kind = HAUL_KERNEL_CLASS_STREAMING};
    static const struct {
        uint64_t bytes;
        haul_precision precision;
    } widths[] = {{8, HAUL_PRECISION_FP64}, {4, HAUL_PRECISION_FP32}, {2, HAUL_PRECISION_BF16},
                  {1, HAUL_PRECISION_FP8},  {3, HAUL_PRECISION_FP32}, {0, HAUL_PRECISION_FP32}};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        haul_operands operands = {.batch = 2, .rows = 64, .columns = 32, .inner = 16};
        operands.bytes = widths[i].bytes * 2 * (64 * 16 + 16 * 32 + 64 * 32);
        assert_int_equal(hl_project_precision_of(&of, &untold, &operands), widths[i].precision);
        assert_int_equal(hl_project_precision_of(&of, &row.kind, &operands), HAUL_PRECISION_BF16);
        assert_int_equal(hl_project_precision_of(&of, &streaming, &operands), HAUL_PRECISION_NONE);
    }
}

/* Attention reads and writes queries' sizes and keys' sizes; its gradients as much again. */
static void precisions_of_attention_are_told_by_operands(void **state)
{
    (void)state;
    const hl_project_precisions of = {.seconds = {[HAUL_PRECISION_BF16] = 1}};
    const haul_kernel_kind untold = haul_kernel_kind_of("attn_fwd", NULL);
    const uint64_t heads = 16, tokens = 512, width = 64;
    const struct {
        haul_operands operands;
        haul_precision precision;
    } cases[] = {
        {{heads, tokens, 77, 2 * width, UINT64_C(4) * heads * (tokens + 77) * 2 * width, 0},
         HAUL_PRECISION_FP32},
        {{heads, tokens, tokens / 2, 2 * width, 2 * heads * 2 * tokens * 2 * width, 0},
         HAUL_PRECISION_BF16},
        {{heads, tokens, 77, 5 * width, UINT64_C(8) * heads * (tokens + 77) * 2 * width, 0},
         HAUL_PRECISION_FP32},
        {{heads, tokens, tokens / 2, 5 * width, UINT64_C(8) * heads * 2 * tokens * 2 * width, 0},
         HAUL_PRECISION_FP32},
    };
    assert_int_equal(untold.precision, HAUL_PRECISION_NONE);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(hl_project_precision_of(&of, &untold, &cases[i].operands),
                         cases[i].precision);
}

/* The other precision's time equals the option's; no choice where the source has TF32,
 * which a machine file tells by its rate or its peak. */
static void products_in_fp32_may_be_in_tf32(void **state)
{
    (void)state;
    static const char *const names[] = {"volta_sgemm_128x64_nn", "triad_kernel"};
    haul_machine from = liner, to = liner;
    from.gpu.product_flops[HAUL_PRECISION_FP32] = (haul_parameter)MEASURED(1e12);
    to.gpu.product_flops[HAUL_PRECISION_FP32] = (haul_parameter)MEASURED(2e12);
    to.gpu.product_flops[HAUL_PRECISION_TF32] = (haul_parameter)MEASURED(16e12);
    to.gpu.name = "Liner 2";
    haul_workload *workload = two_kernels(names);
    haul_projection_options options = {.to = &to, .from = &from};
    haul_projection *in_fp32 = project(workload, &options);
    options.tf32 = true;
    haul_projection *in_tf32 = project(workload, &options);
    assert_true(in_fp32->tf32_gain_s > 0.01);
    CHECK_NEAR(in_fp32->kernels.seconds - in_fp32->tf32_gain_s, in_tf32->kernels.seconds, 1e-12);
    assert_true(in_tf32->tf32_gain_s == 0);
    haul_projection_free(in_tf32);
    haul_projection_free(in_fp32);
    options.tf32 = false;
    from.gpu.product_flops[HAUL_PRECISION_TF32] = (haul_parameter)MEASURED(8e12);
    in_fp32 = project(workload, &options);
    assert_true(in_fp32->tf32_gain_s == 0);
    haul_projection_free(in_fp32);
    from.gpu.tensor_flops[HAUL_PRECISION_TF32] = from.gpu.product_flops[HAUL_PRECISION_TF32];
    from.gpu.product_flops[HAUL_PRECISION_TF32] = (haul_parameter){0};
    in_fp32 = project(workload, &options);
    assert_true(in_fp32->tf32_gain_s == 0);
    haul_projection_free(in_fp32);
    from.gpu.tensor_flops[HAUL_PRECISION_TF32] = (haul_parameter){0};
    to.gpu.tensor_flops[HAUL_PRECISION_TF32] = to.gpu.product_flops[HAUL_PRECISION_TF32];
    to.gpu.product_flops[HAUL_PRECISION_TF32] = (haul_parameter){0};
    in_fp32 = project(workload, &options);
    assert_true(in_fp32->tf32_gain_s > 0.01);
    haul_projection_free(in_fp32);
    haul_workload_free(workload);
}

/* Tensor cores have FP8 since compute capability 8.9; a source without them did not run it. */
static void precisions_that_the_target_lacks_are_told(void **state)
{
    (void)state;
    static const char *const names[] = {"nvjet_sm90_e4m3_128x64_gemm", "nvjet_nvfp4_128x64_gemm"};
    haul_machine from = liner, to = liner;
    from.gpu.architecture = "blackwell";
    to.gpu.architecture = "ampere";
    from.gpu.product_flops[HAUL_PRECISION_FP8] = (haul_parameter)MEASURED(2e12);
    from.gpu.product_flops[HAUL_PRECISION_FP4] = (haul_parameter)MEASURED(4e12);
    to.gpu.product_flops[HAUL_PRECISION_FP16] = (haul_parameter)MEASURED(1e12);
    to.gpu.name = "Liner 2";
    haul_workload *workload = two_kernels(names);
    haul_projection_options options = {.to = &to, .from = &from};
    haul_projection *made = project(workload, &options);
    assert_int_equal(made->lacking_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(made->lacking[i].instead, HAUL_PRECISION_FP16);
        assert_true(made->lacking[i].recorded_s > 0);
    }
    assert_true(made->lacking[0].recorded_s >= made->lacking[1].recorded_s);
    assert_int_equal(made->lacking[0].precision + made->lacking[1].precision,
                     HAUL_PRECISION_FP8 + HAUL_PRECISION_FP4);
    haul_projection_free(made);
    to.gpu.architecture = "ada";
    made = project(workload, &options);
    assert_int_equal(made->lacking_count, 1);
    assert_int_equal(made->lacking[0].precision, HAUL_PRECISION_FP4);
    haul_projection_free(made);
    from.gpu.architecture = to.gpu.architecture = "ampere";
    made = project(workload, &options);
    assert_int_equal(made->lacking_count, 0);
    haul_projection_free(made);
    haul_workload_free(workload);
}

static void what_has_no_price_stops_or_is_said(void **state)
{
    (void)state;
    by_hand hand = {0};
    by_hand_copy(&hand, HAUL_DIRECTION_UNKNOWN, HAUL_MEMORY_UNKNOWN, 100, 0, 7000);
    by_hand_copy(&hand, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 100000, 10000, 20000);
    const haul_projection_options options = {.to = &bare, .from = &liner};
    haul_projection *projection = project(by_hand_finish(&hand), &options);
    assert_int_equal(projection->self_check.unpredicted, 1);
    assert_int_equal(projection->self_check.of.score.count, 1);
    assert_true(has_note(projection, "no model predicts 1 copy of unknown direction"));
    assert_string_equal(projection->chosen, "packet");
    assert_int_equal(projection->sizes[projection->size_count - 1].direction,
                     HAUL_DIRECTION_UNKNOWN);
    CHECK_NEAR(projection->sizes[projection->size_count - 1].predicted.seconds, 7e-6, 1e-12);
    assert_true(has_note(projection, "latency of HtoD pinned"));
    haul_projection_free(projection);

    by_hand_copy(&hand, HAUL_DIRECTION_PTOP, HAUL_MEMORY_DEVICE, 100000, 50000, 20000);
    haul_error error = {0};
    projection = NULL;
    assert_int_equal(haul_projection_make(by_hand_finish(&hand), &options, &projection, &error),
                     HAUL_STATUS_MISSING);
    assert_null(projection);
    assert_non_null(strstr(error.text, "peer"));
    assert_non_null(strstr(error.text, "PtoP device"));
    by_hand_release(&hand);
}

static void what_the_asked_model_cannot_price_auto_does(void **state)
{
    (void)state;
    by_hand hand = {0};
    haul_model_ref staged;
    assert_int_equal(haul_model_find("staged", &staged, NULL), HAUL_OK);
    const haul_projection_options options = {.to = &liner, .from = &liner, .model = staged.model};
    haul_projection *projection = project(record(&hand), &options);
    assert_true(has_note(projection, "predicted by 'auto': 42 copies"));
    for (size_t r = 0; r < projection->row_count; r++) {
        const haul_projection_row *row = &projection->rows[r];
        assert_string_equal(row->predicted.model,
                            row->memory == HAUL_MEMORY_PAGEABLE ? "staged" : "loggp");
    }
    assert_string_equal(projection->chosen, "staged");
    assert_int_equal(projection->self_check.unpredicted, 0);
    haul_projection_free(projection);
    haul_model_release(&staged);
    by_hand_release(&hand);
}

static void odd_traces_are_taken(void **state)
{
    (void)state;
    const int64_t decades = 900000000000000000; /* of years, in nanoseconds: almost 3 */
    by_hand hand = {0};
    const haul_projection_options options = {.to = &liner};
    haul_projection *projection = project(by_hand_finish(&hand), &options);
    assert_int_equal(projection->row_count, 0);
    assert_true(projection->copies.seconds == 0);
    haul_projection_free(projection);

    by_hand_copy(&hand, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 0, INT64_MIN, 0);
    by_hand_copy(&hand, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 0, INT64_MAX, 0);
    by_hand_copy(&hand, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, UINT64_MAX, 0, decades);
    by_hand_copy(&hand, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, UINT64_MAX, INT64_MAX, decades);
    by_hand_copy(&hand, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 1, INT64_MIN, decades)->stream =
        HAUL_NONE;
    by_hand_copy(&hand, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, 1, INT64_MIN, decades)->stream =
        12345;
    projection = project(by_hand_finish(&hand), &options);
    assert_int_equal(projection->size_count, 5);
    assert_true(isfinite(projection->copies.seconds));
    assert_null(projection->timeline);
    assert_non_null(strstr(projection->run_missing, "2^61"));
    haul_projection_free(projection);

    by_hand_copy(&hand, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, 7, 0, INT64_MAX);
    haul_error error = {0};
    assert_int_equal(haul_projection_make(by_hand_finish(&hand), &options, &projection, &error),
                     HAUL_STATUS_BAD_INPUT);
    assert_non_null(strstr(error.text, "DtoH pinned"));
    by_hand_release(&hand);
}

static void collisions_explain_what_the_size_cannot(void **state)
{
    (void)state;
    by_hand hand = {0};
    for (int i = 0; i < 20; i++) {
        const int64_t start = (int64_t)i * 10000000;
        const bool meets = i % 2;
        const uint64_t bytes = i % 4 < 2 ? 8000000 : 16000000;
        const int64_t alone = (int64_t)bytes / 10 + i; /* ns */
        by_hand_copy(&hand, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED, bytes, start,
                     meets ? 2 * alone : alone);
        if (meets)
            by_hand_copy(&hand, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED, bytes, start, 2 * alone);
    }
    const haul_projection_options options = {.to = &liner};
    haul_projection *projection = project(by_hand_finish(&hand), &options);
    const haul_self_check_row *in = &projection->self_check.rows[0];
    assert_int_equal(in->direction, HAUL_DIRECTION_HTOD);
    assert_int_equal(in->contended, 10);
    CHECK_NEAR(in->busy_speed, 0.5, 0.01);
    assert_true(in->of.score.wape < 0.1);
    assert_true(in->of.noise_floor > 20 && in->of.wape_without_contention > 20);
    assert_true(projection->self_check.of.score.wape < projection->self_check.of.noise_floor);
    CHECK_NEAR(projection->contention_s, 10 * 1.2e-3, 0.02);
    assert_true(has_note(projection, "contention"));
    haul_projection_free(projection);
    by_hand_release(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_gives_back_its_own_times),
        cmocka_unit_test(rows_and_sizes_add_up),
        cmocka_unit_test(baselines_stand_beside_ours),
        cmocka_unit_test(the_truth_is_scored),
        cmocka_unit_test(pairs_add_up_to_the_copies),
        cmocka_unit_test(kernels_keep_their_time_on_the_same_gpu),
        cmocka_unit_test(kernels_enter_and_leave_the_critical_path),
        cmocka_unit_test(launches_that_are_alike_have_the_same_operands),
        cmocka_unit_test(precisions_are_told_by_other_products),
        cmocka_unit_test(precisions_are_told_by_operands),
        cmocka_unit_test(precisions_of_attention_are_told_by_operands),
        cmocka_unit_test(products_in_fp32_may_be_in_tf32),
        cmocka_unit_test(precisions_that_the_target_lacks_are_told),
        cmocka_unit_test(what_has_no_price_stops_or_is_said),
        cmocka_unit_test(what_the_asked_model_cannot_price_auto_does),
        cmocka_unit_test(odd_traces_are_taken),
        cmocka_unit_test(collisions_explain_what_the_size_cannot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
