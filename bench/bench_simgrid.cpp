/* The peer of bench_timeline: SimGrid's engine on the streams of the same workload, an actor for
 * each, which sleeps for every operation's duration. It does less: no calls, no events between
 * streams, no engines or room to wait for. Times are of the processor.
 *
 * bench_simgrid [MILLIONS [STREAMS]]: so many operations (0.2), over 32 streams. */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

static uint32_t scramble(uint64_t number)
{
    return static_cast<uint32_t>(number * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

static double cpu_s()
{
    return static_cast<double>(clock()) / CLOCKS_PER_SEC;
}

int main(int argc, char **argv)
{
    const uint32_t count = static_cast<uint32_t>((argc > 1 ? atof(argv[1]) : 0.2) * 1e6);
    const uint32_t streams = argc > 2 ? static_cast<uint32_t>(atoi(argv[2])) : 32;
    int arguments = 1;
    sg4::Engine engine(&arguments, argv);
    sg4::NetZone *zone = sg4::create_full_zone("machine");
    sg4::Host *host = zone->create_host("gpu", 1e9)->seal();
    zone->seal();
    std::vector<std::vector<double>> durations_s(streams);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t random = scramble(i), step = i / streams % 4;
        const bool is_kernel = step == 1 || step == 2;
        durations_s[random % streams].push_back(
            1e-9 * (200 + random % 1000 + (is_kernel ? 3000.0 * streams : 0)));
    }
    for (uint32_t s = 0; s < streams; s++)
        sg4::Actor::create("stream " + std::to_string(s), host, [&durations_s, s]() {
            for (const double duration_s : durations_s[s])
                sg4::this_actor::sleep_for(duration_s);
        });
    const double start_s = cpu_s();
    engine.run();
    const double took_s = cpu_s() - start_s;
    printf("%-22s %8.2f %8u %8s %8.2f %8.2f\n", "SimGrid, streams alone", 1e-6 * count, streams,
           "-", took_s, 1e-6 * count / took_s);
    return 0;
}
