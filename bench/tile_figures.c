/* Figures 5, 6 and 8 of the paper (Bastem et al., TiDA-acc, 2017): tile_figures [SIZE STEPS
 * DEVICE...]. Simulated machines compute without data and time by their own clock; on other devices
 * a time is the least of three. Copies in and out are part of it. Figure 7 is a timeline:
 * tile_figures plan FILE.csv [DEVICE] writes it for haul simulate to draw. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../examples/tida/tida.kernel.h"
#include "haul/tile.h"
#include "took.h"

enum { REGIONS = 16 };

static haul_error error;

static void must(haul_status status)
{
    if (status)
        stop(&error);
}

typedef struct setting {
    const char *device;
    int size;
    const haul_kernel_source *kernel;
    int steps;
    int region;             /* 0: chosen */
    uint64_t regions_there; /* of 16, that the device has memory for; 0: all */
    double flops;           /* a cell */
    const char *plan;       /* the file for it; NULL: none */
} setting;

typedef struct result {
    double took_s;
    double bound_s; /* the model's, with perfect overlap */
} result;

static bool is_simulated(const setting *self)
{
    return !strncmp(self->device, "sim", 3);
}

/* Brings the array to the host; with HAUL_USE_BOTH it is to be copied in again. */
static void take(haul_array *array, haul_use use)
{
    haul_region region;
    for (int r = 0; r < haul_array_regions(array); r++)
        must(haul_array_access(array, r, use, &region, &error));
}

/* The first array is the result, where it is. */
static double once(const setting *self, haul_context *context, haul_array *const arrays[2])
{
    const bool is_heat = self->kernel == &heat;
    const haul_loop_options loop = {.flops = self->flops};
    const double k = 0.1;
    const int iterations = 1;
    for (int i = 0; i <= is_heat && !is_simulated(self); i++)
        take(arrays[i], HAUL_USE_BOTH);
    const int64_t begin_ns = haul_device_now(haul_context_device(context));
    for (int step = 0; step < self->steps; step++) {
        const void *const heats[] = {arrays[0], arrays[is_heat], &k};
        const void *const waves[] = {arrays[0], &iterations};
        must(haul_loop_queue(context, self->kernel, is_heat ? heats : waves, is_heat ? 3 : 2, &loop,
                             &error));
        if (is_heat)
            must(haul_array_swap(arrays[0], arrays[1], &error));
    }
    if (is_simulated(self))
        must(haul_array_read(arrays[0], NULL, &error));
    else
        take(arrays[0], HAUL_USE_READ);
    return (double)(haul_device_now(haul_context_device(context)) - begin_ns) * 1e-9;
}

static result run(const setting *self)
{
    haul_context *context;
    haul_array *arrays[2] = {NULL};
    const bool is_heat = self->kernel == &heat;
    const haul_device_options without = {.without_data = is_simulated(self)};
    const int size = self->size;
    const haul_array_spec spec = {.size = {size, size, size}, .ghost = {is_heat, is_heat, is_heat}};
    const uint64_t plane = ((uint64_t)size + 16) * ((uint64_t)size + 2) * sizeof(double);
    const haul_context_options options = {
        .device_options = &without,
        .memory_bytes = self->regions_there * ((uint64_t)size / REGIONS) * plane,
        .region = self->region,
        .fused = 1, /* as the paper's */
        .keep_plan = self->plan != NULL,
    };
    must(haul_context_open(self->device, &options, &context, &error));
    for (int i = 0; i <= is_heat; i++)
        must(haul_array_new(context, &spec, &arrays[i], &error));
    result got = {.took_s = INFINITY};
    for (int round = 0; round < (is_simulated(self) ? 1 : 3); round++)
        got.took_s = fmin(got.took_s, once(self, context, arrays));
    got.bound_s = haul_context_count(context).bound_s;
    if (self->plan)
        must(haul_context_plan_write(context, self->plan, &error));
    for (int i = 0; i <= is_heat; i++)
        haul_array_free(arrays[i]);
    haul_context_close(context);
    return got;
}

/* One region is explicit copies: nothing overlaps. */
static void figure_5(const char *device, int size, int most)
{
    printf("Figure 5, %s: heat %d^3\n%6s  %12s  %12s  %s\n", device, size, "steps", "one region",
           "regions", "faster");
    for (int steps = 1; steps <= most; steps *= 10) {
        setting self = {
            .device = device, .size = size, .kernel = &heat, .steps = steps, .region = size};
        const double one = run(&self).took_s;
        self.region = 0;
        const double many = run(&self).took_s;
        printf("%6d  %9.1f ms  %9.1f ms  %.2f\n", steps, one * 1e3, many * 1e3, one / many);
    }
}

/* Of a cell of the sine-cosine kernel, for models. */
enum { FLOPS = 200 };

static setting sine_cosine_on(const char *device, int size, int steps)
{
    return (setting){
        .device = device, .size = size, .kernel = &sine_cosine, .steps = steps, .flops = FLOPS};
}

/* The compute-bound kernel: one region, regions, and regions with memory for two of them. */
static void figure_6(const char *device, int size, int most)
{
    printf("Figure 6, %s: sine-cosine %d^3\n%6s  %12s  %12s  %12s\n", device, size, "steps",
           "one region", "regions", "memory for 2");
    for (int steps = 1; steps <= most; steps *= 10) {
        setting self = sine_cosine_on(device, size, steps);
        self.region = size;
        const double one = run(&self).took_s;
        self.region = 0;
        const double many = run(&self).took_s;
        self.regions_there = 2;
        const double two = run(&self).took_s;
        printf("%6d  %9.1f ms  %9.1f ms  %9.1f ms\n", steps, one * 1e3, many * 1e3, two * 1e3);
    }
}

/* The timeline of regions that pass through memory for two sixteenths of the array: three slots. */
static void figure_7(const char *device, const char *plan)
{
    setting self = sine_cosine_on(device, 512, 20);
    self.region = 21;
    self.regions_there = 2;
    self.plan = plan;
    printf("Figure 7, %s: %.1f ms, plan in %s\n", device, run(&self).took_s * 1e3, plan);
}

static void figure_8(const char *device, int size, int steps)
{
    setting self = sine_cosine_on(device, size, steps);
    const result all = run(&self);
    self.region = size;
    const double one = run(&self).took_s;
    self.region = 0;
    self.regions_there = 2;
    const result two = run(&self);
    printf("Figure 8, %s: sine-cosine %d^3, %d steps: %.3f s in device memory for 2 of %d regions, "
           "%.3f s for all: %.2f %% lost; %.1f %% of the model's bound; %.3f s as one region\n",
           device, size, steps, two.took_s, REGIONS, all.took_s,
           100 * (two.took_s / all.took_s - 1), 100 * two.bound_s / two.took_s, one);
}

int main(int argc, char **argv)
{
    static const char *const machines[] = {"sim:k40", "sim:a100-sxm4", "sim:h200"};
    if (argc > 2 && !strcmp(argv[1], "plan")) {
        figure_7(argc > 3 ? argv[3] : machines[0], argv[2]);
        return 0;
    }
    const int size = argc > 2 ? atoi(argv[1]) : 512, steps = argc > 2 ? atoi(argv[2]) : 1000;
    if (argc == 2 || size < REGIONS || size > 4096 || steps < 1) {
        fputs("usage: tile_figures [SIZE STEPS DEVICE...] | plan FILE.csv [DEVICE]\n", stderr);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* what is done stays, where tiles_on_a_gpu ends it */
    for (int i = 0; i < (argc > 3 ? argc - 3 : 3); i++) {
        const char *device = argc > 3 ? argv[i + 3] : machines[i];
        figure_8(device, size, steps);
        figure_5(device, size, steps);
        figure_6(device, size, steps);
    }
    return 0;
}
