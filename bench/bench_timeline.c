/* The timeline: operations scheduled a second on one core, memory an operation, and how both grow
 * with their number and that of streams.
 *
 * bench_timeline [MILLIONS [STREAMS]]: 10 million operations over 32 streams. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "haul/timeline.h"

enum { ROUNDS = 3, THREADS = 4, STEP_NS = 1000, WAIT_EVERY = 1000, EVENT_EVERY = 16 };

static const double to_beat_ops_s = 5e6;

typedef struct measured {
    double run_s;
    double bytes_per_op; /* at the peak: the workload's 64, its edges, and all of the engine's */
    double busy;         /* streams, on average */
} measured;

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024;
}

/* Where threads and streams stand while a workload is drawn. */
typedef struct maker {
    haul_op *ops;
    haul_edge *edges;
    size_t edge_count;
    uint32_t last_on_stream[4096];
    uint32_t last_of_thread[THREADS];
} maker;

static uint32_t scramble(uint64_t number)
{
    return (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

/* Copies in, kernels and copies out, one after another on each stream, called by four threads; a
 * stream now and then waits for another, a thread for a stream. Kernels are long enough that nearly
 * all streams are busy at any time. */
static void make_op(maker *self, uint32_t i, uint32_t streams)
{
    static const uint8_t kinds[] = {HAUL_OP_COPY, HAUL_OP_KERNEL, HAUL_OP_KERNEL, HAUL_OP_COPY};
    const uint32_t random = scramble(i), thread = i % THREADS, stream = random % streams;
    const int64_t call_ns = (int64_t)i * STEP_NS;
    haul_op *op = &self->ops[i];
    const uint8_t kind = kinds[i / streams % 4];
    *op = (haul_op){.kind = kind,
                    .direction = i / streams % 4 ? HAUL_DTOH : HAUL_HTOD,
                    .detail = HAUL_PINNED,
                    .start_ns = call_ns + 2 * STEP_NS,
                    .dur_ns =
                        200 + random % 1000 + (kind == HAUL_OP_KERNEL ? 3 * streams * STEP_NS : 0),
                    .call_ns = call_ns,
                    .call_dur_ns = STEP_NS,
                    .name = HAUL_NONE,
                    .stream = stream,
                    .thread = thread,
                    .stream_prev = HAUL_NONE,
                    .thread_prev = self->last_of_thread[thread],
                    .flags = HAUL_OP_HAS_CALL};
    uint32_t *last = &self->last_on_stream[stream];
    const uint32_t other = self->last_on_stream[(stream + 1) % streams];
    if (i % WAIT_EVERY == WAIT_EVERY - 1) {
        op->kind = HAUL_OP_SYNC;
        op->dur_ns = STEP_NS;
        if (*last != HAUL_NONE)
            self->edges[self->edge_count++] = (haul_edge){*last, i};
    } else {
        if (i % EVENT_EVERY == 0 && other != HAUL_NONE)
            self->edges[self->edge_count++] = (haul_edge){other, i};
        *last = i;
    }
    self->last_of_thread[thread] = i;
}

static haul_workload make(uint32_t count, uint32_t streams)
{
    maker self = {.ops = malloc(count * sizeof *self.ops),
                  .edges =
                      malloc((count / EVENT_EVERY + count / WAIT_EVERY + 2) * sizeof *self.edges)};
    haul_stream *made_streams = calloc(streams, sizeof *made_streams);
    static haul_thread threads[THREADS];
    static haul_device devices[2];
    if (!self.ops || !self.edges || !made_streams)
        exit(1);
    memset(self.last_on_stream, 0xff, sizeof self.last_on_stream);
    memset(self.last_of_thread, 0xff, sizeof self.last_of_thread);
    for (uint32_t i = 0; i < count; i++)
        make_op(&self, i, streams);
    for (uint32_t s = 0; s < streams; s++)
        made_streams[s] = (haul_stream){.device = s % 2, .id = s};
    return (haul_workload){.source = "bench",
                           .format = "bench",
                           .ops = self.ops,
                           .op_count = count,
                           .edges = self.edges,
                           .edge_count = self.edge_count,
                           .streams = made_streams,
                           .stream_count = streams,
                           .threads = threads,
                           .thread_count = THREADS,
                           .devices = devices,
                           .device_count = 2};
}

static measured run(uint32_t count, uint32_t streams, haul_release release)
{
    const haul_timeline_options options = {
        .device = {.copy_engines = 2,
                   .kernels = 4096,
                   .busy_speed = {0.9, 0.9},
                   .issue_ns = {1000}},
        .release = release,
    };
    const double peak = peak_bytes();
    const haul_workload workload = make(count, streams);
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
static measured measure(uint32_t count, uint32_t streams, haul_release release)
{
    measured best = {0};
    for (int round = 0; round < ROUNDS; round++) {
        int ends[2];
        measured result = {0};
        if (pipe(ends))
            exit(1);
        const pid_t child = fork();
        if (!child) {
            result = run(count, streams, release);
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

static void print_row(const char *what, uint32_t count, uint32_t streams, measured result)
{
    printf("%-22s %8.2f %8u %8.1f %8.2f %8.2f %6.1f\n", what, 1e-6 * count, streams, result.busy,
           result.run_s, 1e-6 * count / result.run_s, result.bytes_per_op);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const uint32_t count = (uint32_t)((argc > 1 ? atof(argv[1]) : 10) * 1e6);
    const uint32_t streams = argc > 2 ? (uint32_t)atoi(argv[2]) : 32;
    printf("%-22s %8s %8s %8s %8s %8s %6s\n", "engine", "Mops", "streams", "busy", "s", "Mops/s",
           "B/op");
    print_row("haul, recorded calls", count, streams,
              measure(count, streams, HAUL_RELEASE_RECORDED));
    print_row("haul, simulated calls", count, streams, measure(count, streams, HAUL_RELEASE_HOST));
    for (uint32_t n = count / 100; n && n < count; n *= 10)
        print_row("haul, simulated calls", n, streams, measure(n, streams, HAUL_RELEASE_HOST));
    for (uint32_t s = 8; s <= 2048; s *= 4)
        print_row("haul, simulated calls", count / 10, s,
                  measure(count / 10, s, HAUL_RELEASE_HOST));
    printf("to beat: %.1f million operations a second, at most 96 bytes an operation\n",
           to_beat_ops_s / 1e6);
    return 0;
}
