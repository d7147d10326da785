/* How many kernels a second each model predicts, beside the goal of a million; and a million
 * launches of a thousand names, classified and predicted by class, beside the goal of 0.3 s. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "haul/kernel_file.h"
#include "project/device_work.h"
#include "took.h"
#include "workload/builder.h"

enum { SIZES = 32, CASES = 4096, ROUNDS = 100 };

static const double goal = 1e6;

static haul_kernel_counts product(double n)
{
    return (haul_kernel_counts){
        .threads = n * n,
        .block = 256,
        .comp = n,
        .loads_global = 2 * n,
        .stores_global = 1,
        .flops = 2 * n * n * n,
        .bytes = 12 * n * n,
    };
}

static haul_kernel_fit *fit_of(const haul_machine *source)
{
    haul_kernel_sample samples[SIZES];
    for (int i = 0; i < SIZES; i++) {
        const double n = 256 * (i + 1);
        samples[i] = (haul_kernel_sample){
            .size = n, .seconds = 2e-11 * n * n * n * (1 + 0.1 * sin(i)), .counts = product(n)};
    }
    haul_kernel_fit *fit = NULL;
    haul_error error = {0};
    if (haul_kernel_fit_new(source, HAUL_KERNEL_FIT_AUTO, samples, SIZES, &fit, &error))
        fprintf(stderr, "bench_kernels: %s\n", error.text);
    return fit;
}

/* With the counts of `file`'s expressions, or where that is NULL of the C above. */
static double rate_of(const haul_kernel_model *model, const haul_kernel_file *file,
                      haul_kernel_case what)
{
    double sum = 0;
    const double start = wall_s();
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < CASES; i++) {
            haul_estimate estimate;
            what.size = 200 + 2 * i;
            if (file && haul_kernel_file_at(file, what.size, &what.counts, NULL))
                return 0;
            if (!file)
                what.counts = product(what.size);
            if (haul_kernel_time(model, &what, &estimate, NULL))
                return 0;
            sum += estimate.seconds;
        }
    const double took = wall_s() - start;
    return sum > 0 ? CASES * (double)ROUNDS / took : 0;
}

enum { LAUNCHES = 1000000, NAMES = 1000, SHAPES = 8 };

/* Names as libraries have them, of several classes, and templates long enough to be read through.
 */
static haul_workload *launches(void)
{
    static const char *const forms[] = {
        "ampere_sgemm_128x64_tn_",
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >",
        "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float, float, float>",
        "void my::library::solver::kernel<double, my::library::layout<3, 4> >(double*)",
    };
    static const haul_shape shape = {.grid = {4096, 1, 1}, .block = {256, 1, 1}};
    hl_workload_builder builder;
    haul_workload *made = NULL;
    hl_workload_builder_init(&builder);
    const uint32_t device = hl_workload_builder_device(&builder, 0);
    const uint32_t stream =
        hl_workload_builder_stream(&builder, &(haul_workload_stream){.device = device});
    uint32_t names[NAMES], shapes[SHAPES];
    for (int i = 0; i < NAMES; i++) {
        char name[160];
        const int length = snprintf(name, sizeof name, "%s%d", forms[i % 4], i);
        names[i] = hl_workload_builder_string(&builder, name, (size_t)length);
    }
    for (int i = 0; i < SHAPES; i++) {
        haul_shape one = shape;
        one.grid[0] += (uint32_t)i;
        shapes[i] = hl_workload_builder_shape(&builder, &one);
    }
    for (int i = 0; i < LAUNCHES; i++)
        hl_workload_builder_op(&builder, &(haul_op){.kind = HAUL_OP_KERNEL,
                                                    .dur_ns = 20000,
                                                    .name = names[i * 7 % NAMES],
                                                    .shape = shapes[i / 3 % SHAPES],
                                                    .stream = stream,
                                                    .thread = HAUL_NONE});
    haul_error error = {0};
    if (hl_workload_builder_finish(&builder, "launches", "bench", &made, &error))
        fprintf(stderr, "bench_kernels: %s\n", error.text);
    return made;
}

static int predict_by_class(const haul_machine *from, const haul_machine *to)
{
    haul_workload *workload = launches();
    hl_base_arena arena = {0};
    haul_projection out = {.kernels_missing = NULL};
    hl_project_work_scales scales = {0};
    const hl_project_device_work work = {
        .workload = workload, .from = from, .to = to, .arena = &arena};
    if (!workload)
        return 1;
    const double start = wall_s();
    haul_error error = {0};
    const int failed = hl_project_device_work_scale(&work, &out, &scales, &error);
    const double took = wall_s() - start;
    printf("\n%d launches of %zu names: %.3f s, of 0.3 s, the goal\n", LAUNCHES,
           out.kernel_row_count, took);
    hl_base_arena_release(&arena);
    haul_workload_free(workload);
    return failed;
}

static int compare(const haul_machine *source, const haul_machine *target)
{
    haul_kernel_fit *fit = fit_of(source);
    if (!fit)
        return 1;
    const haul_kernel_case what = {.source = source, .fit = fit, .target = target};
    puts("model       predictions/s   of 1e6, the goal");
    for (size_t i = 0; i < haul_kernel_model_count(); i++) {
        const haul_kernel_model *model = haul_kernel_model_at(i);
        const double rate = rate_of(model, NULL, what);
        printf("%-10s  %13.3g   %.1f x\n", model->name, rate, rate / goal);
    }
    haul_kernel_file *file = NULL;
    if (!haul_kernel_file_load("matmul-shared", &file, NULL)) {
        const double rate = rate_of(haul_kernel_model_at(0), file, what);
        printf("%-10s  %13.3g   %.1f x, with the expressions of %s.yaml\n",
               haul_kernel_model_at(0)->name, rate, rate / goal, file->name);
    }
    haul_kernel_file_free(file);
    haul_kernel_fit_free(fit);
    return 0;
}

int main(void)
{
    haul_machine *source = NULL;
    haul_machine *target = NULL;
    haul_error error = {0};
    char text[1200];
    int code = 1;
    if (haul_machine_load("gtx-titan", &source, &error) ||
        haul_machine_load("gtx-970", &target, &error))
        fprintf(stderr, "bench_kernels: %s\n", haul_error_format(&error, text, sizeof text));
    else
        code = compare(source, target) || predict_by_class(source, target);
    haul_machine_free(source);
    haul_machine_free(target);
    return code;
}
