/* Figures 5 and 8 of the paper (Bastem et al., TiDA-acc, 2017) on simulated machines, without data:
 * tile_figures [MACHINE...]. Times are of the device's clock, with the copies in and out. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../examples/tida/tida.kernel.h"
#include "haul/tile.h"
#include "took.h"

enum { SIZE = 512, REGIONS = 16 };

static haul_error error;

static void must(haul_status status)
{
    if (status)
        stop(&error);
}

typedef struct setting {
    const char *machine;
    const haul_kernel_source *kernel;
    int steps;
    int region;             /* 0: chosen */
    uint64_t regions_there; /* of 16, that the device has memory for; 0: all */
    double flops;           /* a cell */
} setting;

typedef struct result {
    double took_s;
    double bound_s; /* the model's, with perfect overlap */
} result;

static result run(const setting *self)
{
    haul_context *context;
    haul_array *arrays[2];
    char device[80];
    const bool is_heat = self->kernel == &heat;
    const haul_device_options without = {.without_data = true};
    const haul_array_spec spec = {.size = {SIZE, SIZE, SIZE}, .ghost = {is_heat, is_heat, is_heat}};
    const uint64_t plane = (uint64_t)(SIZE + 16) * (SIZE + 2) * sizeof(double);
    const haul_context_options options = {
        .device_options = &without,
        .memory_bytes = self->regions_there * (SIZE / REGIONS) * plane,
        .region = self->region,
        .fused = 1, /* as the paper's */
    };
    const haul_loop_options loop = {.flops = self->flops};
    const double k = 0.1;
    const int iterations = 1;
    snprintf(device, sizeof device, "sim:%s", self->machine);
    must(haul_context_open(device, &options, &context, &error));
    for (int i = 0; i <= is_heat; i++)
        must(haul_array_new(context, &spec, &arrays[i], &error));
    const int64_t begin_ns = haul_device_now(haul_context_device(context));
    for (int step = 0; step < self->steps; step++) {
        const void *const heats[] = {arrays[0], arrays[is_heat], &k};
        const void *const waves[] = {arrays[0], &iterations};
        must(haul_loop(context, self->kernel, is_heat ? heats : waves, is_heat ? 3 : 2, &loop,
                       &error));
        if (is_heat)
            must(haul_swap(arrays[0], arrays[1], &error));
    }
    must(haul_array_read(arrays[0], NULL, &error));
    const result got = {
        (double)(haul_device_now(haul_context_device(context)) - begin_ns) * 1e-9,
        haul_context_count(context).bound_s,
    };
    for (int i = 0; i <= is_heat; i++)
        haul_array_free(arrays[i]);
    haul_context_close(context);
    return got;
}

/* One region is explicit copies: nothing overlaps. */
static void figure_5(const char *machine)
{
    printf("Figure 5, %s: heat %d^3\n%6s  %12s  %12s  %s\n", machine, SIZE, "steps", "one region",
           "regions", "faster");
    for (int steps = 1; steps <= 1000; steps *= 10) {
        const double one =
            run(&(setting){.machine = machine, .kernel = &heat, .steps = steps, .region = SIZE})
                .took_s;
        const double many =
            run(&(setting){.machine = machine, .kernel = &heat, .steps = steps}).took_s;
        printf("%6d  %9.1f ms  %9.1f ms  %.2f\n", steps, one * 1e3, many * 1e3, one / many);
    }
}

static void figure_8(const char *machine)
{
    setting self = {
        .machine = machine, .kernel = &sine_cosine, .steps = 1000, .flops = 200, .region = 0};
    const result all = run(&self);
    self.regions_there = 2;
    const result two = run(&self);
    printf("Figure 8, %s: sine-cosine %d^3, %d steps: %.3f s in device memory for 2 of %d regions, "
           "%.3f s for all: %.2f %% lost; %.1f %% of the model's bound\n",
           machine, SIZE, self.steps, two.took_s, REGIONS, all.took_s,
           100 * (two.took_s / all.took_s - 1), 100 * two.bound_s / two.took_s);
}

int main(int argc, char **argv)
{
    static const char *const machines[] = {"k40", "a100-sxm4", "h200"};
    const int count = argc > 1 ? argc - 1 : 3;
    for (int i = 0; i < count; i++) {
        const char *machine = argc > 1 ? argv[i + 1] : machines[i];
        figure_5(machine);
        figure_8(machine);
    }
    return 0;
}
