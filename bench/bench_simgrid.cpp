/* haul's timeline beside SimGrid's engine, on the same workload: calls as recorded, streams, events
 * between them, copy engines of two devices. In SimGrid a stream is an actor that sleeps until each
 * operation's call, takes the semaphores of the events that it waits for and the mutex of its
 * engine, and sleeps for the duration. Both makespans are printed: they differ by the order of what
 * happens at the same instant. Times are of the processor, the best of three rounds of haul's, one
 * of SimGrid's.
 *
 * bench_simgrid [MILLIONS [STREAMS]]: so many operations (1), over 32 streams. */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

#include "haul/timeline.h"
#include "timeline_workload.h"

namespace sg4 = simgrid::s4u;

enum { ROUNDS = 3, ISSUE_NS = 1000 };

static double cpu_s()
{
    return static_cast<double>(clock()) / CLOCKS_PER_SEC;
}

struct measured {
    double run_s;
    double makespan_ns;
};

static measured run_haul(const haul_workload &workload)
{
    haul_timeline_options options = {};
    options.device.copy_engines = 2;
    options.device.kernels = 4096;
    options.device.busy_speed[0] = options.device.busy_speed[1] = 1;
    std::fill_n(options.device.issue_ns, 3, ISSUE_NS);
    options.release = HAUL_RELEASE_RECORDED;
    measured best = {};
    for (int round = 0; round < ROUNDS; round++) {
        haul_timeline *timeline = nullptr;
        haul_error error;
        const double start_s = cpu_s();
        if (haul_timeline_run(&workload, &options, &timeline, &error)) {
            fprintf(stderr, "%s\n", error.text);
            exit(1);
        }
        const double took_s = cpu_s() - start_s;
        best.run_s = round ? std::min(best.run_s, took_s) : took_s;
        best.makespan_ns = static_cast<double>(timeline->makespan_ns);
        haul_timeline_free(timeline);
    }
    return best;
}

/* SimGrid's second is a microsecond here, for its clock's precision is 10 of its microseconds. */
static double as_time(int64_t ns)
{
    return 1e-3 * static_cast<double>(ns);
}

struct peer {
    const haul_workload &workload;
    std::vector<std::vector<uint32_t>> streams;                /* operations */
    std::map<uint32_t, std::vector<sg4::SemaphorePtr>> before; /* of an operation's events */
    std::map<uint32_t, std::vector<sg4::SemaphorePtr>> after;  /* of those that wait for it */
    std::vector<sg4::MutexPtr> engines;
    double first = -1, last = 0;
};

static void run_op(peer &self, uint32_t at)
{
    const haul_op &op = self.workload.ops[at];
    sg4::this_actor::sleep_until(as_time(op.call_ns + ISSUE_NS));
    const auto awaited = self.before.find(at);
    if (awaited != self.before.end())
        for (const sg4::SemaphorePtr &event : awaited->second)
            event->acquire();
    const bool is_copy = op.kind == HAUL_OP_COPY;
    const size_t engine = 2 * self.workload.streams[op.stream].device + op.direction;
    if (is_copy)
        self.engines[engine]->lock();
    if (self.first < 0)
        self.first = sg4::Engine::get_clock();
    sg4::this_actor::sleep_for(as_time(op.dur_ns));
    if (is_copy)
        self.engines[engine]->unlock();
    const auto awaiting = self.after.find(at);
    if (awaiting != self.after.end())
        for (const sg4::SemaphorePtr &event : awaiting->second)
            event->release();
    self.last = std::max(self.last, sg4::Engine::get_clock());
}

static measured run_simgrid(sg4::Engine &engine, const haul_workload &workload)
{
    sg4::NetZone *zone = sg4::create_full_zone("machine");
    sg4::Host *host = zone->create_host("gpu", 1e9)->seal();
    zone->seal();
    peer self = {workload, {}, {}, {}, {}};
    self.streams.resize(workload.stream_count);
    for (size_t e = 0; e < 2 * workload.device_count; e++)
        self.engines.push_back(sg4::Mutex::create());
    for (uint32_t i = 0; i < workload.op_count; i++)
        self.streams[workload.ops[i].stream].push_back(i);
    for (size_t e = 0; e < workload.edge_count; e++) {
        const sg4::SemaphorePtr event = sg4::Semaphore::create(0);
        self.after[workload.edges[e].before].push_back(event);
        self.before[workload.edges[e].after].push_back(event);
    }
    for (size_t s = 0; s < workload.stream_count; s++)
        sg4::Actor::create("stream " + std::to_string(s), host, [&self, s]() {
            for (const uint32_t at : self.streams[s])
                run_op(self, at);
        });
    const double start_s = cpu_s();
    engine.run();
    return {cpu_s() - start_s, 1e3 * (self.last - self.first)};
}

static void print_row(const char *what, uint32_t count, measured result)
{
    printf("%-8s %8.2f %8.2f %10.2f %14.3f\n", what, 1e-6 * count, result.run_s,
           1e-6 * count / result.run_s, 1e-6 * result.makespan_ns);
}

int main(int argc, char **argv)
{
    const uint32_t count = static_cast<uint32_t>((argc > 1 ? atof(argv[1]) : 1) * 1e6);
    const uint32_t streams = argc > 2 ? static_cast<uint32_t>(atoi(argv[2])) : 32;
    int arguments = 1;
    sg4::Engine engine(&arguments, argv);
    const haul_workload workload = timeline_workload_make(count, streams, false);
    printf("%u streams\n%-8s %8s %8s %10s %14s\n", streams, "engine", "Mops", "s", "Mops/s",
           "makespan, ms");
    const measured ours = run_haul(workload);
    print_row("haul", count, ours);
    const measured theirs = run_simgrid(engine, workload);
    print_row("SimGrid", count, theirs);
    printf("haul is %.1f times as fast; the makespans differ by %+.4f %%\n",
           theirs.run_s / ours.run_s, 100 * (ours.makespan_ns / theirs.makespan_ns - 1));
    return 0;
}
