/* The tile runtime on the heat equation, beside hand-written programs that solve the same problem
 * (the yardsticks, where they are), which are tuned here first: in core on the host, and out of
 * core on an OpenCL device. Checksums that differ are told. `on` is any device by itself, for
 * bench/tiles_on_a_gpu; MEGABYTES 0 is all of its memory, what is left out, or 0, is chosen, and
 * MACHINE is the model that chooses, else what the device says of itself. `shared` is one core of
 * PoCL alone and with a thread of the host (OMP_NUM_THREADS=1). `team` is several simulated devices
 * as one, without data, beside the sum of their speeds: of problems from 128^3 to SIZE^3; with
 * EXCHANGE_STEPS below 0 they divide planes, and with STEPS_A_SUM a sum over all cells, which the
 * host does not wait for, follows so many steps.
 * `coefficients` is `sim` with an array of coefficients that each step reads beside the others;
 * `sim_periodic` and `sim_copied` are `sim` with such edges in all dimensions.
 * `periodic` is arrays that are periodic in all dimensions, in core on the host: one step a pass
 * beside as many as are chosen, in turn.
 * bench_tiles core|ooc|shared|overhead [SIZE STEPS STEPS_A_PASS REGION_OR_ROWS MEGABYTES FUSED]
 * bench_tiles team [SIZE STEPS EXCHANGE_STEPS STEPS_A_SUM] bench_tiles periodic [SIZE STEPS]
 * bench_tiles sim|sim_periodic|sim_copied|coefficients|on DEVICE SIZE STEPS MEGABYTES
 *     [REGION STEPS_A_PASS FUSED [MACHINE]] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "haul/machine.h"
#include "haul/tile.h"
#include "heat.kernel.h"
#include "took.h"

typedef struct setting {
    const char *device;
    int size;
    int steps;
    haul_context_options options;
} setting;

/* Results of reductions, in turn. */
enum { SUMS = 32 };

typedef struct problem {
    haul_context *context;
    haul_array *u, *v;
    haul_array *c; /* coefficients; NULL: there are none */
    haul_array *sums[SUMS];
    int steps_a_sum; /* 0: none */
} problem;

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
#ifdef _OPENMP
#pragma omp parallel for collapse(2) schedule(static)
#endif
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
        const int first = region.first > 0 ? region.first : 0;
        const int end = region.end < size ? region.end : size;
#ifdef _OPENMP
#pragma omp parallel for collapse(2) schedule(static) reduction(+ : sum)
#endif
        for (int z = first; z < end; z++)
            for (int y = 0; y < size; y++) {
                const double *row =
                    (double *)region.cells + (z - region.first) * region.plane + y * region.row;
                for (int x = 0; x < size; x++)
                    sum += row[x] * (((z + 1) * 7 + (y + 1) * 3 + x) % 13);
            }
    }
    return sum;
}

static void queue(const problem *self, int steps)
{
    const double k = 0.1;
    const haul_loop_options options = {.flops = 8};
    for (int step = 0; step < steps; step++) {
        const void *const arguments[] = {self->u, self->v, self->c ? self->c : (void *)&k, &k};
        must(haul_loop_queue(self->context, self->c ? &heat_in : &heat, arguments, self->c ? 4 : 3,
                             &options, &error));
        must(haul_array_swap(self->u, self->v, &error));
        if (!self->steps_a_sum || (step + 1) % self->steps_a_sum)
            continue;
        const void *const both[] = {self->u, self->sums[step / self->steps_a_sum % SUMS]};
        must(haul_loop_queue(self->context, &energy, both, 2, NULL, &error));
    }
}

/* Seconds from initial values on the host to results on the host. */
static double once(const problem *self, const setting *of, double (*clock_s)(void))
{
    fill(self->u, of->size);
    fill(self->v, of->size);
    must(haul_context_wait(self->context, &error));
    const double begin = clock_s();
    queue(self, of->steps);
    for (int r = 0; r < haul_array_regions(self->u); r++) {
        haul_region region;
        must(haul_array_access(self->u, r, HAUL_USE_READ, &region, &error));
    }
    return clock_s() - begin;
}

/* Seconds of the steps where the arrays are on the device, and stay. */
static double steps_alone(const problem *self, const setting *of)
{
    double best = 1e9;
    for (int round = 0; round < 3; round++) {
        must(haul_context_wait(self->context, &error));
        const double begin = wall_s();
        queue(self, of->steps);
        must(haul_context_wait(self->context, &error));
        const double took = wall_s() - begin;
        best = took < best ? took : best;
    }
    return best;
}

static void explain(haul_context *context)
{
    char *text;
    must(haul_context_explain(context, &text, &error));
    fputs(text, stdout);
    free(text);
}

/* The time of a run, and the checksum of its result. */
typedef struct outcome {
    double s; /* 0: there is none */
    double checksum;
} outcome;

static outcome run(const setting *self)
{
    problem on = {.steps_a_sum = 0};
    const haul_array_spec spec = {
        .size = {self->size, self->size, self->size},
        .ghost = {1, 1, 1},
    };
    const double cells = (double)self->size * self->size * self->size, bytes = 16 * cells;
    const int rounds = bytes > 8e9 ? 2 : 3; /* the first one compiles kernels, too */
    double best = 1e9, sum = 0;
    haul_context_counts counts = {0};
    must(haul_context_open(self->device, &self->options, &on.context, &error));
    must(haul_array_new(on.context, &spec, &on.u, &error));
    must(haul_array_new(on.context, &spec, &on.v, &error));
    for (int round = 0; round < rounds; round++) {
        const haul_context_counts before = haul_context_count(on.context);
        const double took = once(&on, self, wall_s);
        best = took < best ? took : best;
        counts = haul_context_count(on.context);
        counts.bytes_up -= before.bytes_up;
        counts.bytes_down -= before.bytes_down;
        counts.passes -= before.passes;
        if (!round)
            sum = checksum(on.u, self->size);
    }
    printf("haul     %.4f s  %.2f Gcell/s  %.2f GB up  %.2f GB down  %llu passes  checksum %.9e\n",
           best, cells * self->steps / best * 1e-9, (double)counts.bytes_up * 1e-9,
           (double)counts.bytes_down * 1e-9, (unsigned long long)counts.passes, sum);
    printf("         memory: arrays and %.1f %% on the host, %.1f MB on the device\n",
           100 * ((double)counts.host_bytes / bytes - 1), (double)counts.device_bytes * 1e-6);
    if (counts.device_bytes && !self->options.memory_bytes)
        printf("         steps alone %.4f s\n", steps_alone(&on, self));
    explain(on.context);
    haul_array_free(on.u);
    haul_array_free(on.v);
    haul_context_close(on.context);
    return (outcome){best, sum};
}

/* A yardstick's time, the number before " s ", and its checksum. */
static outcome yardstick(const char *command, bool is_told)
{
    char line[512];
    outcome got = {0};
    FILE *pipe = popen(command, "r");
    while (pipe && fgets(line, sizeof line, pipe)) {
        if (is_told)
            printf("yardstick %s", line);
        const char *at = strstr(line, " s "), *sum = strstr(line, "chk ");
        while (at && at > line && at[-1] != ' ')
            at--;
        got.s = at ? strtod(at, NULL) : got.s;
        got.checksum = sum ? strtod(sum + 4, NULL) : got.checksum;
    }
    if (pipe)
        pclose(pipe);
    return got;
}

/* Sums in other orders differ in their last digits. */
static void compare(outcome own, outcome other)
{
    if (other.s <= 0) {
        printf("no yardstick to compare with\n");
        return;
    }
    printf("ratio    %.3f of the yardstick's time\n", own.s / other.s);
    if (fabs(own.checksum - other.checksum) > 1e-9 * fabs(own.checksum))
        printf("checksums DIFFER: %.12e and %.12e\n", own.checksum, other.checksum);
}

/* Steps in the cache or on the device, and rows or planes that go together. */
typedef struct yardstick_shape {
    int steps;
    int width;
} yardstick_shape;

static void write_command(char *command, size_t size, const setting *self, int steps,
                          yardstick_shape shape)
{
    if (!self->options.memory_bytes)
        snprintf(command, size, YARDSTICKS "/heat-wavefront 3 %d %d %d 1 %d", steps, shape.steps,
                 shape.width, self->size);
    else
        snprintf(command, size, YARDSTICKS "/ooc-skewed-ring %d %d %d %d", self->size, shape.width,
                 shape.steps, steps);
}

/* The yardstick with the shape that is fastest here: each is tried on so many steps as all of them
 * divide, which the ring needs. 0 s where there are no yardsticks. */
static outcome tuned_yardstick(const setting *self)
{
    enum { TRIED = 24 };
    static const yardstick_shape in_core[] = {{8, 16},  {8, 32},  {8, 64},  {12, 16}, {12, 32},
                                              {12, 64}, {24, 16}, {24, 32}, {24, 64}, {24, 128}};
    static const yardstick_shape out_of_core[] = {{4, 16},  {8, 16},  {12, 16}, {12, 24},
                                                  {12, 32}, {24, 16}, {24, 24}};
    const bool is_core = !self->options.memory_bytes;
    const yardstick_shape *shapes = is_core ? in_core : out_of_core;
    const size_t count =
        is_core ? sizeof in_core / sizeof *in_core : sizeof out_of_core / sizeof *out_of_core;
    char command[512];
    yardstick_shape best = shapes[0];
    double least = 1e9;
    if (sizeof YARDSTICKS == 1)
        return (outcome){0};
    for (size_t i = 0; i < count; i++) {
        write_command(command, sizeof command, self, TRIED, shapes[i]);
        const outcome got = yardstick(command, false);
        const bool fits = is_core || self->steps % shapes[i].steps == 0;
        if (got.s > 0 && got.s < least && fits) {
            least = got.s;
            best = shapes[i];
        }
    }
    printf("yardstick tuned over %zu shapes: %d steps, %d %s\n", count, best.steps, best.width,
           is_core ? "rows" : "planes");
    write_command(command, sizeof command, self, self->steps, best);
    return yardstick(command, true);
}

/* StarPU with the settings that were best of those tried: slabs and steps a task, scheduler. */
static void compare_starpu(outcome own, const setting *self)
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
    compare(own, yardstick(command, true));
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
static void simulate(const setting *self, const char *what)
{
    const bool has_coefficients = !strcmp(what, "coefficients");
    const haul_boundary edge = !strcmp(what, "sim_periodic") ? HAUL_BOUNDARY_PERIODIC
                               : !strcmp(what, "sim_copied") ? HAUL_BOUNDARY_COPY
                                                             : HAUL_BOUNDARY_FIXED;
    problem on = {.steps_a_sum = 0};
    const haul_device_options without = {.without_data = true};
    const int size = self->size, steps = self->steps;
    haul_context_options options = self->options;
    options.device_options = &without;
    const haul_array_spec spec = {
        .size = {size, size, size}, .ghost = {1, 1, 1}, .boundary = {edge, edge, edge}};
    const double cells = (double)size * size * size;
    must(haul_context_open(self->device, &options, &on.context, &error));
    must(haul_array_new(on.context, &spec, &on.u, &error));
    must(haul_array_new(on.context, &spec, &on.v, &error));
    if (has_coefficients)
        must(haul_array_new(on.context, &spec, &on.c, &error));
    const double begin = wall_s();
    haul_device *const device = haul_context_device(on.context);
    const int64_t begin_ns = haul_device_now(device);
    queue(&on, steps);
    must(haul_array_read(on.u, NULL, &error));
    const double took = (double)(haul_device_now(device) - begin_ns) * 1e-9;
    const double bytes = has_coefficients ? 24 : 16; /* a cell */
    const double in_core =
        steps * cells * bytes / haul_device_describe(device)->memory_bandwidth_Bps;
    const haul_context_counts counts = haul_context_count(on.context);
    printf(
        "%s %d^3, %d steps, %.1f GB: %.3f s, in core %.3f s (%.1f %%); %.1f GB up, %.1f GB down, "
        "%llu kernels; %.2f s to simulate\n",
        self->device, size, steps, (double)counts.device_bytes * 1e-9, took, in_core,
        100 * in_core / took, (double)counts.bytes_up * 1e-9, (double)counts.bytes_down * 1e-9,
        (unsigned long long)counts.kernels, wall_s() - begin);
    explain(on.context);
    haul_array_free(on.u);
    haul_array_free(on.v);
    haul_array_free(on.c);
    haul_context_close(on.context);
}

/* Runs `sim`, `coefficients` and `on`. */
static int run_anywhere(const char *what, char **words, int count)
{
    int numbers[6] = {256, 96};
    haul_machine *machine = NULL;
    for (int i = 1; i < count && i < 7; i++) {
        char *end;
        const long value = strtol(words[i], &end, 10);
        if (end == words[i] || *end || value < (i < 3) || value > 1 << 20) {
            fprintf(stderr, "bench_tiles: '%s' is not a number that fits\n", words[i]);
            return 2;
        }
        numbers[i - 1] = (int)value;
    }
    if (count > 7)
        must(haul_machine_load(words[7], &machine, &error));
    const setting self = {
        .device = count ? words[0] : NULL,
        .size = numbers[0],
        .steps = numbers[1],
        .options = {.memory_bytes = (uint64_t)numbers[2] * 1000000,
                    .region = numbers[3],
                    .steps = (unsigned)numbers[4],
                    .fused = (unsigned)numbers[5],
                    .machine = machine},
    };
    if (strcmp(what, "on"))
        simulate(&self, what);
    else
        run(&self);
    haul_machine_free(machine);
    return 0;
}

/* Planes of `size` by `size` cells, on several devices or one. */
typedef struct team_run {
    int size;
    int planes;
    int steps;
    double megabytes;   /* of each device */
    int exchange_steps; /* below 0: as the model chooses, and planes are divided */
    int steps_a_sum;
} team_run;

/* Seconds of the steps by the simulated clock, without data, where the arrays have been on the
 * device, or gone through it, before. */
static double simulated_steps(const char *device, const team_run *self)
{
    problem on = {.steps_a_sum = self->steps_a_sum};
    const haul_device_options without = {.without_data = true};
    const bool divides = self->exchange_steps < 0;
    const haul_context_options options = {.device_options = &without,
                                          .memory_bytes = (uint64_t)(self->megabytes * 1e6),
                                          .fused = 1,
                                          .exchange_steps =
                                              (unsigned)(divides ? 0 : self->exchange_steps),
                                          .relay = divides ? -1 : 0};
    const haul_array_spec spec = {.size = {self->size, self->size, self->planes},
                                  .ghost = {1, 1, 1}};
    double took = 0;
    must(haul_context_open(device, &options, &on.context, &error));
    must(haul_array_new(on.context, &spec, &on.u, &error));
    must(haul_array_new(on.context, &spec, &on.v, &error));
    for (int i = 0; i < SUMS; i++)
        must(haul_array_new(on.context, &(haul_array_spec){.size = {1}}, &on.sums[i], &error));
    for (int round = 0; round < 2; round++) {
        must(haul_context_wait(on.context, &error));
        const int64_t begin_ns = haul_device_now(haul_context_device(on.context));
        queue(&on, self->steps);
        must(haul_context_wait(on.context, &error));
        took = (double)(haul_device_now(haul_context_device(on.context)) - begin_ns) * 1e-9;
    }
    for (int i = 0; i < SUMS; i++)
        haul_array_free(on.sums[i]);
    haul_array_free(on.u);
    haul_array_free(on.v);
    haul_context_close(on.context);
    return took;
}

/* Several devices as one beside the sum of their speeds, each with the whole problem alone; and, as
 * a bound, the slowest with its part of the planes alone, which needs no neighbour. Out of core
 * each has memory for so much of its part. */
static void compare_team(const char *devices, team_run whole, double part)
{
    char list[200], *rest = list;
    const int size = whole.size, steps = whole.steps;
    double speeds = 0, alone = 0;
    int count = 1;
    for (const char *at = devices; (at = strchr(at, ',')); at++)
        count++;
    whole.megabytes = part < 1 ? part * 16.0 * size * size * size / count * 1e-6 : 0;
    snprintf(list, sizeof list, "%s", devices);
    for (const char *one; (one = strtok_r(rest, ",", &rest));)
        speeds += 1 / simulated_steps(one, &whole);
    snprintf(list, sizeof list, "%s", devices);
    rest = list;
    for (const char *one; (one = strtok_r(rest, ",", &rest));) {
        team_run own = whole;
        own.planes = (int)(size / speeds / simulated_steps(one, &whole) + 0.5);
        alone = fmax(alone, simulated_steps(one, &own));
    }
    const double took = simulated_steps(devices, &whole);
    printf("%-35s %4d^3 %s %9.3f ms a step, %9.3f ms at the sum of speeds: %6.1f %% longer (goal "
           "5), %5.1f %% without neighbours\n",
           devices, size, part < 1 ? "out of core" : "in core    ", took / steps * 1e3,
           1e3 / speeds / steps, 100 * (took * speeds - 1), 100 * (alone * speeds - 1));
}

/* Two contexts with options of their own run the problem in turn, the first runs of both left out:
 * the second one's processor time beside the first one's. */
static void compare_turns(const setting *self, const haul_array_spec *spec,
                          const haul_context_options options[2], const char *what)
{
    enum { ROUNDS = 6 };
    problem on[2];
    double took[2][ROUNDS], ratios[ROUNDS - 1];
    for (int i = 0; i < 2; i++) {
        on[i].steps_a_sum = 0;
        must(haul_context_open(self->device, &options[i], &on[i].context, &error));
        must(haul_array_new(on[i].context, spec, &on[i].u, &error));
        must(haul_array_new(on[i].context, spec, &on[i].v, &error));
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 2; i++)
            took[i][round] = once(&on[i], self, cpu_s);
        if (round)
            ratios[round - 1] = took[1][round] / took[0][round];
    }
    printf("%s %d^3, %d steps: %s processor time", self->device, self->size, self->steps, what);
    for (int i = 0; i < ROUNDS - 1; i++)
        printf(" %.2f", ratios[i]);
    printf("; last %.3f / %.3f s\n", took[1][ROUNDS - 1], took[0][ROUNDS - 1]);
    for (int i = 0; i < 2; i++) {
        haul_array_free(on[i].u);
        haul_array_free(on[i].v);
        haul_context_close(on[i].context);
    }
}

static void compare_checked(const setting *self)
{
    const haul_array_spec spec = {.size = {self->size, self->size, self->size}, .ghost = {1, 1, 1}};
    compare_turns(self, &spec, (haul_context_options[2]){{0}, {.check = true}},
                  "checked / plain (goal 5)");
}

static void compare_periodic(const setting *self)
{
    const haul_boundary round = HAUL_BOUNDARY_PERIODIC;
    const haul_array_spec spec = {.size = {self->size, self->size, self->size},
                                  .ghost = {1, 1, 1},
                                  .boundary = {round, round, round}};
    compare_turns(self, &spec, (haul_context_options[2]){{.steps = 1}, {0}},
                  "as many steps a pass as chosen / one step");
}

static void compare_teams(int size, int steps, int exchange_steps, int steps_a_sum)
{
    static const char *const lists[] = {"sim:k40,sim:k40", "sim:k40,sim:k40,sim:k40,sim:k40",
                                        "sim:p100-pcie3,sim:k40"};
    const team_run whole = {size, size, steps, 0, exchange_steps, steps_a_sum};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        compare_team(lists[i], whole, 1);
        compare_team(lists[i], whole, 0.5);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "core";
    const bool is_core = !strcmp(what, "core");
    int numbers[6] = {256, is_core ? 100 : 96, 0, 0, 100, 0};
    if (!strncmp(what, "sim", 3) || !strcmp(what, "coefficients") || !strcmp(what, "on"))
        return run_anywhere(what, argv + 2, argc - 2);
    if (!strcmp(what, "periodic")) {
        const setting self = {
            "host", argc > 2 ? atoi(argv[2]) : 256, argc > 3 ? atoi(argv[3]) : 48, {0}};
        compare_periodic(&self);
        return 0;
    }
    if (!strcmp(what, "checked")) {
        const setting self = {argc > 2 ? argv[2] : "host",
                              argc > 3 ? atoi(argv[3]) : 128,
                              argc > 4 ? atoi(argv[4]) : 100,
                              {0}};
        compare_checked(&self);
        return 0;
    }
    for (int i = 2; i < argc && i < 8; i++)
        numbers[i - 2] = atoi(argv[i]);
    if (!strcmp(what, "team")) {
        for (int size = 128; size <= (argc > 2 ? numbers[0] : 512); size *= 2)
            compare_teams(size, argc > 3 ? numbers[1] : 64, argc > 4 ? numbers[2] : 0,
                          argc > 5 ? numbers[3] : 0);
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
        const double alone = run(&self).s;
        self.options.host_share = 0;
        printf("ratio    %.3f of the device's time alone\n", run(&self).s / alone);
        return 0;
    }
    const outcome own = run(&self);
    compare(own, tuned_yardstick(&self));
    compare_starpu(own, &self);
    return 0;
}
