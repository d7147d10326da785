/* The timeline: operations scheduled a second on one core, memory an operation, and how both grow
 * with their number and that of streams.
 *
 * bench_timeline [MILLIONS [STREAMS]]: 10 million operations over 32 streams. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "haul/timeline.h"
#include "timeline_workload.h"
#include "took.h"

enum { ROUNDS = 3 };

static const double to_beat_ops_s = 10e6; /* with calls as recorded */

typedef struct measured {
    double run_s;
    double bytes_per_op; /* at the peak: the workload's 64, its edges, and all of the engine's */
    double busy;         /* streams, on average */
} measured;

typedef struct variant {
    const char *name;
    haul_release release;
    bool everything;
} variant;

static const variant recorded = {"haul, recorded calls", HAUL_RELEASE_RECORDED, false};
static const variant simulated = {"haul, simulated calls", HAUL_RELEASE_HOST, false};
static const variant everything = {"haul, every resource", HAUL_RELEASE_HOST, true};

static haul_timeline_options options_of(const variant *self)
{
    haul_timeline_options options = {
        .device = {.copy_engines = 2,
                   .kernels = 4096,
                   .busy_speed = {0.9, 0.9},
                   .issue_ns = {1000}},
        .release = self->release,
    };
    if (self->everything) {
        options.device.occupancy =
            (haul_occupancy){.multiprocessors = 100, .blocks = 32, .threads = 2048};
        options.device.queue_depth = 1022;
        options.device.link_devices = 2;
        options.device.staging = true;
        options.device.migrations = 1;
        options.device.kernel_gap_ns = 1000;
    }
    return options;
}

static measured run(uint32_t count, uint32_t streams, const variant *how)
{
    const haul_timeline_options options = options_of(how);
    const double peak = peak_bytes();
    const haul_workload workload = timeline_workload_make(count, streams, true);
    haul_timeline *timeline = NULL;
    haul_error error;
    const double start = cpu_s();
    if (haul_timeline_run(&workload, &options, &timeline, &error)) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
    const double took_s = cpu_s() - start;
    double sum_ns = 0;
    for (uint32_t i = 0; i < count; i++)
        sum_ns += (double)(timeline->ops[i].end_ns - timeline->ops[i].start_ns);
    return (measured){took_s, (peak_bytes() - peak) / count,
                      sum_ns / (double)timeline->makespan_ns};
}

/* Each round in a process of its own, since a peak never falls. */
static measured measure(uint32_t count, uint32_t streams, const variant *how)
{
    measured best = {0};
    for (int round = 0; round < ROUNDS; round++) {
        int ends[2];
        measured result = {0};
        if (pipe(ends))
            exit(1);
        const pid_t child = fork();
        if (!child) {
            result = run(count, streams, how);
            _exit(write(ends[1], &result, sizeof result) != sizeof result);
        }
        close(ends[1]);
        if (read(ends[0], &result, sizeof result) != sizeof result)
            exit(1);
        close(ends[0]);
        waitpid(child, NULL, 0);
        best.bytes_per_op = result.bytes_per_op;
        best.busy = result.busy;
        if (!round || result.run_s < best.run_s)
            best.run_s = result.run_s;
    }
    return best;
}

static void print_row(const variant *how, uint32_t count, uint32_t streams)
{
    const measured result = measure(count, streams, how);
    printf("%-22s %8.2f %8u %8.1f %8.2f %8.2f %6.1f\n", how->name, 1e-6 * count, streams,
           result.busy, result.run_s, 1e-6 * count / result.run_s, result.bytes_per_op);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const uint32_t count = (uint32_t)((argc > 1 ? atof(argv[1]) : 10) * 1e6);
    const uint32_t streams = argc > 2 ? (uint32_t)atoi(argv[2]) : 32;
    printf("%-22s %8s %8s %8s %8s %8s %6s\n", "engine", "Mops", "streams", "busy", "s", "Mops/s",
           "B/op");
    print_row(&recorded, count, streams);
    print_row(&simulated, count, streams);
    print_row(&everything, count, streams);
    for (uint32_t n = count / 100; n && n < count; n *= 10)
        print_row(&simulated, n, streams);
    for (uint32_t s = 8; s <= 2048; s *= 4)
        print_row(&simulated, count / 10, s);
    printf("to beat: %.1f million operations a second, at most 96 bytes an operation\n",
           to_beat_ops_s / 1e6);
    return 0;
}
