/* How many kernels a second each model predicts, beside the goal of a million. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "haul/kernel_file.h"
#include "took.h"

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
        code = compare(source, target);
    haul_machine_free(source);
    haul_machine_free(target);
    return code;
}
