/* The tile runtime on the heat equation, beside hand-written programs that solve the same problem
 * (the yardsticks, where they are): in core on the host, and out of core on an OpenCL device.
 * `shared` is one core of PoCL alone and with a thread of the host (OMP_NUM_THREADS=1).
 * bench_tiles core|ooc|shared|overhead [SIZE STEPS STEPS_A_PASS REGION_OR_ROWS MEGABYTES FUSED]
 * bench_tiles sim DEVICE SIZE STEPS MEGABYTES [REGION STEPS_A_PASS FUSED] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/tile.h"
#include "heat.kernel.h"
#include "took.h"

enum { ROUNDS = 3 };

typedef struct setting {
    const char *device;
    int size;
    int steps;
    haul_context_options options;
} setting;

static haul_error error;

static void must(haul_status status)
{
    stop_at(status, &error);
}

/* The yardsticks' initial values, beyond the edges too. */
static void fill(haul_array *array, int size)
{
    for (int r = 0; r < haul_array_regions(array); r++) {
        haul_region region;
        must(haul_array_access(array, r, HAUL_USE_WRITE, &region, &error));
        for (int z = region.first; z < region.end; z++)
            for (int y = -1; y <= size; y++) {
                double *row =
                    (double *)region.cells + (z - region.first) * region.plane + y * region.row;
                for (int x = -1; x <= size; x++)
                    row[x] = ((z + 1) * 31 + (y + 1) * 17 + x * 7) % 101 / 101.0;
            }
    }
}

static double checksum(haul_array *array, int size)
{
    double sum = 0;
    for (int r = 0; r < haul_array_regions(array); r++) {
        haul_region region;
        must(haul_array_access(array, r, HAUL_USE_READ, &region, &error));
        for (int z = region.first > 0 ? region.first : 0; z < region.end && z < size; z++)
            for (int y = 0; y < size; y++) {
                const double *row =
                    (double *)region.cells + (z - region.first) * region.plane + y * region.row;
                for (int x = 0; x < size; x++)
                    sum += row[x] * (((z + 1) * 7 + (y + 1) * 3 + x) % 13);
            }
    }
    return sum;
}

static double run(const setting *self)
{
    haul_context *context;
    haul_array *u, *v;
    const haul_array_spec spec = {
        .size = {self->size, self->size, self->size},
        .ghost = {1, 1, 1},
    };
    const double k = 0.1;
    double best = 1e9, sum = 0;
    haul_context_counts counts = {0};
    must(haul_context_open(self->device, &self->options, &context, &error));
    must(haul_array_new(context, &spec, &u, &error));
    must(haul_array_new(context, &spec, &v, &error));
    for (int round = 0; round < ROUNDS; round++) {
        fill(u, self->size);
        fill(v, self->size);
        must(haul_context_wait(context, &error));
        const haul_context_counts before = haul_context_count(context);
        const double begin = wall_s();
        for (int step = 0; step < self->steps; step++) {
            must(HAUL_LOOP(context, &error, &heat, u, v, &k));
            must(haul_swap(u, v, &error));
        }
        for (int r = 0; r < haul_array_regions(u); r++) {
            haul_region region;
            must(haul_array_access(u, r, HAUL_USE_READ, &region, &error));
        }
        const double took = wall_s() - begin;
        best = took < best ? took : best;
        counts = haul_context_count(context);
        counts.bytes_up -= before.bytes_up;
        counts.bytes_down -= before.bytes_down;
        counts.passes -= before.passes;
        if (!round)
            sum = checksum(u, self->size);
    }
    const double arrays = 2.0 * self->size * self->size * self->size * sizeof(double);
    printf("haul     %.3f s  %.2f Gcell/s  %.2f GB up  %.2f GB down  %llu passes  checksum %.9e\n",
           best, (double)self->size * self->size * self->size * self->steps / best * 1e-9,
           (double)counts.bytes_up * 1e-9, (double)counts.bytes_down * 1e-9,
           (unsigned long long)counts.passes, sum);
    printf("         memory: arrays and %.1f %% on the host, %.1f MB on the device\n",
           100 * ((double)counts.host_bytes / arrays - 1), (double)counts.device_bytes * 1e-6);
    char *text;
    must(haul_explain(context, &text, &error));
    fputs(text, stdout);
    free(text);
    haul_array_free(u);
    haul_array_free(v);
    haul_context_close(context);
    return best;
}

/* A yardstick's time: the number before " s ". 0 where it is not there. */
static double yardstick(const char *command)
{
    char line[512];
    double seconds = 0;
    FILE *pipe = popen(command, "r");
    while (pipe && fgets(line, sizeof line, pipe)) {
        printf("yardstick %s", line);
        const char *at = strstr(line, " s ");
        while (at && at > line && at[-1] != ' ')
            at--;
        seconds = at ? strtod(at, NULL) : seconds;
    }
    if (pipe)
        pclose(pipe);
    return seconds;
}

static void compare(double own, double other)
{
    if (other > 0)
        printf("ratio    %.3f of the yardstick's time\n", own / other);
    else
        printf("no yardstick to compare with\n");
}

/* StarPU with the settings that were best of those tried: slabs and steps a task, scheduler. */
static void compare_starpu(double own, const setting *self)
{
#ifdef HAS_STARPU
    char command[512];
    const bool is_core = !self->options.memory_bytes;
    snprintf(
        command, sizeof command,
        "STARPU_SILENT=1 STARPU_HOME=/tmp STARPU_NCUDA=0 %s %s%.0f " YARDSTICKS
        "/starpu-heat %d %s %d",
        is_core ? "STARPU_SCHED=lws STARPU_NOPENCL=1"
                : "STARPU_SCHED=dmdar STARPU_NCPU=0 STARPU_OPENCL_ON_CPUS=1 "
                  "STARPU_OPENCL_ONLY_ON_CPUS=1 SERP=1",
        is_core ? "LIMIT=" : "STARPU_LIMIT_OPENCL_MEM=", (double)self->options.memory_bytes * 1e-6,
        self->size, is_core ? "8 4" : "32 8", self->steps);
    compare(own, yardstick(command));
#else
    (void)own, (void)self;
    puts("no StarPU (libstarpu-dev) to compare with");
#endif
}

/* Loops of a cell a region: what the runtime itself takes. */
static void overhead(void)
{
    enum { LOOPS = 20000, REGIONS = 64 };
    static const char *const devices[] = {"host", "opencl:0"};
    for (int i = 0; i < 2; i++) {
        haul_context *context;
        haul_array *u, *v;
        const haul_array_spec spec = {.size = {1, 1, REGIONS}, .ghost = {1, 1, 1}, .region = 1};
        const double k = 0.1;
        if (haul_context_open(devices[i], NULL, &context, &error))
            continue;
        must(haul_array_new(context, &spec, &u, &error));
        must(haul_array_new(context, &spec, &v, &error));
        must(HAUL_LOOP(context, &error, &heat, u, v, &k));
        must(haul_context_wait(context, &error));
        const double begin = wall_s();
        for (int step = 0; step < LOOPS; step++)
            must(HAUL_LOOP(context, &error, &heat, u, v, &k));
        must(haul_context_wait(context, &error));
        printf("%s: %.3f us a region and loop\n", devices[i],
               (wall_s() - begin) * 1e6 / LOOPS / REGIONS);
        haul_array_free(u);
        haul_array_free(v);
        haul_context_close(context);
    }
}

/* A simulated machine without data: its clock when the host has the result, beside the time that
 * the steps take at the memory's bandwidth. With one region copies and kernels do not overlap. */
static void simulate(const char *device, const int *numbers)
{
    haul_context *context;
    haul_array *u, *v;
    const haul_device_options without = {.without_data = true};
    const int size = numbers[0], steps = numbers[1];
    const haul_context_options options = {.device_options = &without,
                                          .memory_bytes = (uint64_t)numbers[2] * 1000000,
                                          .region = numbers[3],
                                          .steps = (unsigned)numbers[4],
                                          .fused = (unsigned)numbers[5]};
    const haul_array_spec spec = {.size = {size, size, size}, .ghost = {1, 1, 1}};
    const double k = 0.1, cells = (double)size * size * size;
    must(haul_context_open(device, &options, &context, &error));
    must(haul_array_new(context, &spec, &u, &error));
    must(haul_array_new(context, &spec, &v, &error));
    const double begin = wall_s();
    const int64_t begin_ns = haul_device_now(haul_context_device(context));
    for (int step = 0; step < steps; step++) {
        must(HAUL_LOOP(context, &error, &heat, u, v, &k));
        must(haul_swap(u, v, &error));
    }
    must(haul_array_read(u, NULL, &error));
    const double took = (double)(haul_device_now(haul_context_device(context)) - begin_ns) * 1e-9;
    const double in_core = steps * cells * 16 /
                           haul_device_describe(haul_context_device(context))->memory_bandwidth_Bps;
    const haul_context_counts counts = haul_context_count(context);
    printf(
        "%s %d^3, %d steps, %.1f GB: %.3f s, in core %.3f s (%.1f %%); %.1f GB up, %.1f GB down, "
        "%llu kernels; %.2f s to simulate\n",
        device, size, steps, (double)counts.device_bytes * 1e-9, took, in_core,
        100 * in_core / took, (double)counts.bytes_up * 1e-9, (double)counts.bytes_down * 1e-9,
        (unsigned long long)counts.kernels, wall_s() - begin);
    char *text;
    must(haul_explain(context, &text, &error));
    fputs(text, stdout);
    free(text);
    haul_array_free(u);
    haul_array_free(v);
    haul_context_close(context);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "core";
    const bool is_core = !strcmp(what, "core");
    const bool is_sim = !strcmp(what, "sim");
    int numbers[6] = {256, is_core ? 100 : 96, 0, 0, 100, 0};
    char command[512] = "true";
    if (is_sim)
        numbers[2] = 0;
    for (int i = is_sim ? 3 : 2, n = 0; i < argc && n < 6; i++)
        numbers[n++] = atoi(argv[i]);
    if (is_sim) {
        numbers[4] = argc > 7 ? numbers[4] : 0;
        simulate(argc > 2 ? argv[2] : "sim:k40", numbers);
        return 0;
    }
    if (!strcmp(what, "overhead")) {
        overhead();
        return 0;
    }
    setting self = {
        is_core ? "host" : "opencl:0", numbers[0], numbers[1], {.steps = (unsigned)numbers[2]}};
    if (is_core)
        self.options.rows = numbers[3];
    else
        self.options.region = numbers[3];
    self.options.fused = (unsigned)numbers[5];
    self.options.memory_bytes = is_core ? 0 : (uint64_t)numbers[4] * 1000000;
    if (!strcmp(what, "shared")) {
        self.device = "opencl:0.0";
        self.options.host_share = -1;
        const double alone = run(&self);
        self.options.host_share = 0;
        printf("ratio    %.3f of the device's time alone\n", run(&self) / alone);
        return 0;
    }
#ifdef YARDSTICKS
    if (is_core)
        snprintf(command, sizeof command, YARDSTICKS "/heat-wavefront 3 %d 16 64 1 %d", numbers[1],
                 numbers[0]);
    else
        snprintf(command, sizeof command, YARDSTICKS "/ooc-skewed-ring %d 24 12 %d", numbers[0],
                 numbers[1]);
#endif
    const double own = run(&self);
    compare(own, yardstick(command));
    compare_starpu(own, &self);
    return 0;
}
