/* The runtime's choices beside an exhaustive search, on every example of tiles:
 * tile_search [DEVICE [PROBLEM]]
 * Simulated machines run without data. Elsewhere the times are the least of some rounds, and the
 * choice and the best setting are timed once more, in turn, so that luck in the search does not
 * count. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../examples/tida/tida.kernel.h"
#include "../examples/tiles/loops.kernel.h"
#include "../examples/tiles/ocean.kernel.h"
#include "haul/tile.h"
#include "took.h"

enum { ARRAYS = 12, LEVELS = 42, AGAIN = 15 };

static haul_error error;
static bool is_full; /* the device had not enough memory for the setting */

static void must(haul_status status)
{
    if (status == HAUL_STATUS_DEVICE_FULL)
        is_full = true;
    else if (status)
        stop(&error);
}

typedef struct setting {
    const char *device;
    uint64_t memory_bytes;
    int region; /* planes; rows on the host; 0: chosen */
    unsigned steps;
    int loops;
} setting;

typedef struct program {
    haul_context *context;
    haul_array *at[ARRAYS];
    int size[3];
} program;

/* `result` is the array that the host waits for. */
typedef struct problem {
    const char *name;
    void (*make)(program *self);
    void (*step)(program *self);
    int result;
    int simulated[3]; /* sizes */
    int here[3];
} problem;

static haul_array *new_array(const program *self, haul_boundary boundary, int ghost, int dims)
{
    haul_array *array;
    haul_array_spec spec = {.element_bytes = dims == 2 ? sizeof(float) : sizeof(double)};
    for (int d = 0; d < dims; d++) {
        spec.size[d] = self->size[d];
        spec.ghost[d] = ghost;
        spec.boundary[d] = boundary;
    }
    must(haul_array_new(self->context, &spec, &array, &error));
    return array;
}

static haul_array *new_flat(const program *self, int x, int y)
{
    haul_array *array;
    must(haul_array_new(self->context, &(haul_array_spec){.size = {x, y}}, &array, &error));
    return array;
}

static void make_heat(program *self)
{
    for (int i = 0; i < 2; i++)
        self->at[i] = new_array(self, HAUL_BOUNDARY_FIXED, 1, 3);
}

static void step_heat(program *self)
{
    const double k = 0.1;
    must(HAUL_LOOP(self->context, &error, &heat, self->at[0], self->at[1], &k));
    must(haul_array_swap(self->at[0], self->at[1], &error));
}

static void make_wave(program *self)
{
    for (int i = 0; i < 2; i++)
        self->at[i] = new_array(self, HAUL_BOUNDARY_COPY, 1, 3);
}

static void step_wave(program *self)
{
    const double c = 0.1;
    must(HAUL_LOOP(self->context, &error, &wave, self->at[0], self->at[1], &c));
    must(haul_array_swap(self->at[0], self->at[1], &error));
}

static void make_sine(program *self)
{
    self->at[0] = new_array(self, HAUL_BOUNDARY_FIXED, 0, 3);
}

static void step_sine(program *self)
{
    const int iterations = 1;
    const haul_loop_options options = {.flops = 200};
    const void *const arguments[] = {self->at[0], &iterations};
    must(haul_loop_queue(self->context, &sine_cosine, arguments, 2, &options, &error));
}

static void make_convolution(program *self)
{
    for (int i = 0; i < 2; i++)
        self->at[i] = new_array(self, HAUL_BOUNDARY_PERIODIC, 2, 2);
}

static void step_convolution(program *self)
{
    const weights filter = {{{0}}};
    const haul_loop_options options = {.flops = 50};
    const void *const arguments[] = {self->at[0], self->at[1], &filter};
    must(haul_loop_queue(self->context, &convolve, arguments, 3, &options, &error));
    must(haul_array_swap(self->at[0], self->at[1], &error));
}

static void make_sum(program *self)
{
    self->at[0] = new_array(self, HAUL_BOUNDARY_FIXED, 0, 3);
    self->at[1] = new_flat(self, 1, 0);
    self->at[2] = new_flat(self, 1, 0);
    self->at[3] = new_flat(self, self->size[1], self->size[2]);
}

static void step_sum(program *self)
{
    const row_length length = {self->size[0]};
    haul_array **at = self->at;
    must(HAUL_LOOP(self->context, &error, &total, at[0], at[1], at[2]));
    must(HAUL_LOOP(self->context, &error, &sum_rows, at[0], at[3], &length));
}

/* As in examples/tiles/ocean.c. */
static void make_ocean(program *self)
{
    for (int i = 0; i < 9; i++)
        self->at[i] = new_array(self, HAUL_BOUNDARY_COPY, 1, 3);
    for (int i = 9; i < 11; i++)
        self->at[i] = new_flat(self, self->size[0], self->size[1]);
}

static void step_ocean(program *self)
{
    haul_context *context = self->context;
    haul_array **at = self->at;
    const double dbar = 100, share = 0.2;
    const haul_box surface = {{0, 0, 0}, {self->size[0], self->size[1], 1}};
    const haul_loop_options of_surface = {.box = &surface}, many = {.flops = 300};
    const void *const tops[] = {at[0], at[1], at[9], at[10]};
    const void *const states[] = {at[0], at[1], at[2], at[3], at[4], &dbar};
    const void *const differences[] = {at[0], at[1], at[9], at[10], at[5], at[6], &dbar};
    must(haul_loop_queue(context, &keep_surface, tops, 4, &of_surface, &error));
    must(haul_loop_queue(context, &state, states, 6, &many, &error));
    must(haul_loop_queue(context, &buoydiff, differences, 7, &many, &error));
    must(HAUL_LOOP(context, &error, &stir, at[0], at[5], at[7], &share));
    must(HAUL_LOOP(context, &error, &stir, at[1], at[5], at[8], &share));
    must(haul_array_swap(at[0], at[7], &error));
    must(haul_array_swap(at[1], at[8], &error));
}

static const problem problems[] = {
    {"heat", make_heat, step_heat, 0, {512, 512, 512}, {160, 160, 160}},
    {"wave", make_wave, step_wave, 0, {512, 512, 512}, {160, 160, 160}},
    {"ocean", make_ocean, step_ocean, 0, {1024, 1024, LEVELS}, {128, 128, LEVELS}},
    {"sine", make_sine, step_sine, 0, {512, 512, 512}, {96, 96, 96}},
    {"convolution", make_convolution, step_convolution, 0, {4096, 4096}, {1400, 1400}},
    {"sum", make_sum, step_sum, 3, {512, 512, 512}, {160, 160, 160}},
};

static bool is_simulated(const setting *at)
{
    return !strncmp(at->device, "sim:", 4);
}

static double now_s(const program *self, const setting *at)
{
    return is_simulated(at) ? (double)haul_device_now(haul_context_device(self->context)) * 1e-9
                            : wall_s();
}

/* The steps, until the host has the result. */
static double one_round(program *self, const problem *of, const setting *at)
{
    const double begin = now_s(self, at);
    haul_region region;
    for (int i = 0; i < at->loops; i++)
        of->step(self);
    if (!is_simulated(at))
        must(haul_context_start(self->context, &error));
    else
        must(haul_array_read(self->at[of->result], NULL, &error));
    for (int r = 0; !is_simulated(at) && r < haul_array_regions(self->at[of->result]); r++)
        must(haul_array_access(self->at[of->result], r, HAUL_USE_READ, &region, &error));
    return now_s(self, at) - begin;
}

/* Infinite where the setting does not fit the device. On a simulated machine all is on the host
 * first; elsewhere the first round finds memory that was never touched, and does not count. */
static double run(const problem *of, const setting *at, int rounds, uint64_t *bytes)
{
    const bool on_host = !strcmp(at->device, "host");
    const haul_device_options device = {.without_data = is_simulated(at)};
    const haul_context_options options = {
        .device_options = &device,
        .memory_bytes = at->memory_bytes,
        .region = on_host ? 0 : at->region,
        .rows = on_host ? at->region : 0,
        .steps = at->steps,
        .host_share = -1,
    };
    program self = {.size = {0}};
    double least = INFINITY;
    is_full = false;
    memcpy(self.size, is_simulated(at) ? of->simulated : of->here, sizeof self.size);
    must(haul_context_open(at->device, &options, &self.context, &error));
    of->make(&self);
    if (bytes)
        *bytes = haul_context_count(self.context).host_bytes;
    for (int i = is_simulated(at) ? 1 : 0; i <= rounds; i++) {
        const double took = one_round(&self, of, at);
        least = i ? fmin(least, took) : least;
    }
    for (int i = 0; i < ARRAYS; i++)
        haul_array_free(self.at[i]);
    haul_context_close(self.context);
    return is_full ? (double)INFINITY : least;
}

/* Sizes a quarter apart, to `most`. */
static int next_size(int size)
{
    return size + (size < 4 ? 1 : size / 4);
}

static setting search(const problem *of, const setting *chosen, int most, double *least)
{
    static const unsigned steps[] = {0, 1, 2, 4, 8, 16, 32};
    const bool is_quick = is_simulated(chosen);
    setting best = *chosen;
    *least = INFINITY;
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
        for (int region = 1 + most / 200; region <= most;
             region = is_quick ? next_size(region) : 2 * region) {
            setting it = *chosen;
            it.region = region;
            it.steps = steps[s];
            if ((int)steps[s] > 5 * it.loops)
                continue;
            const double took = run(of, &it, 1, NULL);
            if (took < *least)
                best = it;
            *least = fmin(*least, took);
        }
    return best;
}

/* Returns the ratio. */
static double compare(const problem *of, setting chosen, double part)
{
    uint64_t bytes;
    setting nothing = chosen;
    double least, took = INFINITY;
    nothing.loops = 0;
    (void)run(of, &nothing, 1, &bytes);
    chosen.memory_bytes = (uint64_t)(part * (double)bytes);
    const int *size = is_simulated(&chosen) ? of->simulated : of->here;
    const setting best = search(of, &chosen, size[2] ? size[2] : size[1], &least);
    if (is_simulated(&chosen))
        took = run(of, &chosen, 1, NULL);
    else
        for (int i = 0, again = (least = INFINITY, AGAIN); i < again; i++) {
            took = fmin(took, run(of, &chosen, 1, NULL));
            least = fmin(least, run(of, &best, 1, NULL));
        }
    printf("%-14s %-12s %4.2f of the arrays, %3d steps: %9.4g ms, best %9.4g ms (%s %d, loops %u): "
           "%+.1f %%\n",
           chosen.device, of->name, part, chosen.loops, took * 1e3, least * 1e3,
           strcmp(chosen.device, "host") ? "region" : "rows", best.region, best.steps,
           100 * (took / least - 1));
    fflush(stdout);
    return took / least;
}

int main(int argc, char **argv)
{
    static const char *const devices[] = {"sim:k40", "sim:a100-sxm4", "sim:h200"};
    double worst = 0;
    for (int d = 0; d < (argc > 1 ? 1 : 3); d++)
        for (size_t p = 0; p < sizeof problems / sizeof *problems; p++) {
            setting it = {.device = argc > 1 ? argv[1] : devices[d]};
            const bool on_host = !strcmp(it.device, "host");
            if (argc > 2 && strcmp(argv[2], problems[p].name) != 0)
                continue;
            for (int parts = 0; parts < (is_simulated(&it) ? 2 : on_host ? 1 : 2); parts++)
                for (it.loops = 10; it.loops <= (is_simulated(&it) ? 100 : 10); it.loops *= 10)
                    worst = fmax(worst, compare(&problems[p], it, parts ? 1.1 : 0.4));
        }
    printf("worst: %+.1f %%\n", 100 * (worst - 1));
    return 0;
}
