// A cluster for SimGrid's SMPI with the messages of a machine file: one host for each process, T =
// latency + bytes/rate by protocol and locality, gaps between messages, and a limit for each node.
// A process copies what goes within the node, and short and eager messages, itself: it is busy for
// that long. The network moves large messages at the process's rate. All that leaves a node shares
// its link.
//
// HAUL_SMPI_MACHINE (summit), HAUL_SMPI_NODES (32), HAUL_SMPI_PER_NODE (6)
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#if __has_include(<simgrid/kernel/resource/NetworkModelIntf.hpp>) // until SimGrid 4
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#define HAUL_SIMGRID_3
#endif
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>

extern "C" {
#include "comm/message_cost.h"
}

namespace sg4 = simgrid::s4u;

static const double path_latency_s = 1e-9; // of each link; the factor makes the latency of it

static haul_machine *machine;
static unsigned per_node = 6;

static unsigned from_environment(const char *name, unsigned usual)
{
    const char *text = std::getenv(name);
    return text ? unsigned(std::stoul(text)) : usual;
}

// Hosts are called by their number.
static haul_reach reach_of(const sg4::Host *from, const sg4::Host *to)
{
    const auto a = std::stoul(from->get_name()), b = std::stoul(to->get_name());
    return a / per_node == b / per_node ? HAUL_REACH_ON_NODE : HAUL_REACH_BETWEEN_NODES;
}

static const haul_message_protocol *protocol(haul_reach reach, double bytes)
{
    double measured;
    return hl_comm_message_protocol_of(machine, HAUL_MEMORY_HOST, reach, bytes, &measured);
}

static double seconds_per_byte(const haul_message_protocol *of)
{
    return of->rate_Bps.value > 0 ? 1 / of->rate_Bps.value : 0;
}

static double gap(const haul_message_protocol *of, double bytes)
{
    return std::fmin(hl_comm_message_gap(machine, of, bytes), of->latency_s.value);
}

static double network_rate()
{
    return protocol(HAUL_REACH_BETWEEN_NODES, 1e15)->rate_Bps.value;
}

// Seconds that a process spends on each message before the next; the rest of the latency is on the
// way.
static double overhead(haul_reach reach, double bytes)
{
    const haul_message_protocol *of = protocol(reach, bytes);
    const bool is_large = reach == HAUL_REACH_BETWEEN_NODES && of == protocol(reach, 1e15);
    return gap(of, bytes) + (is_large ? 0 : bytes * seconds_per_byte(of));
}

static double latency_factor(double bytes, const sg4::Host *from, const sg4::Host *to,
                             const std::vector<sg4::Link *> &links,
                             const std::unordered_set<sg4::NetZone *> &)
{
    const haul_reach reach = reach_of(from, to);
    const haul_message_protocol *of = protocol(reach, bytes);
    const bool is_small = reach == HAUL_REACH_BETWEEN_NODES && of != protocol(reach, 1e15);
    const double sent_s = is_small ? bytes / network_rate() : 0; // which the link takes besides
    return std::fmax(of->latency_s.value - gap(of, bytes) - sent_s, 0) /
           (path_latency_s * double(links.size()));
}

extern "C" void load_platform(const sg4::Engine &engine);
void load_platform(const sg4::Engine &)
{
    const char *name = std::getenv("HAUL_SMPI_MACHINE");
    const unsigned nodes = from_environment("HAUL_SMPI_NODES", 32);
    haul_error error;
    per_node = from_environment("HAUL_SMPI_PER_NODE", 6);
    if (haul_machine_load(name ? name : "summit", &machine, &error)) {
        std::fprintf(stderr, "%s\n", error.text);
        std::abort();
    }
#ifdef HAUL_SIMGRID_3
    auto *zone = sg4::create_full_zone("cluster");
#else
    auto *zone = sg4::Engine::get_instance()->get_netzone_root()->add_netzone_full("cluster");
#endif
    std::vector<sg4::Host *> hosts;
    std::vector<sg4::Link *> out, in, near, sends, receives;
    const double node_rate = hl_comm_injection_rate(machine, HAUL_MEMORY_HOST, per_node);
    for (unsigned i = 0; i < nodes * per_node; i++) {
        const std::string number = std::to_string(i);
        hosts.push_back(zone->create_host(number, 1e9));
        const auto link = [zone](const std::string &name, double rate) {
            return zone->create_link(name, rate)->set_latency(path_latency_s);
        };
        near.push_back(link("near" + number, 1e15));
        sends.push_back(link("sends" + number, network_rate()));
        receives.push_back(link("receives" + number, network_rate()));
        if (i % per_node == 0) {
            const std::string node = std::to_string(i / per_node);
            out.push_back(link("out" + node, node_rate));
            in.push_back(link("in" + node, node_rate));
        }
    }
    for (unsigned i = 0; i < hosts.size(); i++)
        for (unsigned j = 0; j < hosts.size(); j++) {
            const unsigned a = i / per_node, b = j / per_node;
            std::vector<sg4::LinkInRoute> route;
            if (a == b)
                route = {sg4::LinkInRoute(near[i])};
            else
                route = {sg4::LinkInRoute(sends[i]), sg4::LinkInRoute(out[a]),
                         sg4::LinkInRoute(in[b]), sg4::LinkInRoute(receives[j])};
            zone->add_route(hosts[i]->get_netpoint(), hosts[j]->get_netpoint(), nullptr, nullptr,
                            route, false);
        }
    const auto rate_factor = [](double, const sg4::Host *, const sg4::Host *,
                                const std::vector<sg4::Link *> &,
                                const std::unordered_set<sg4::NetZone *> &) { return 1.0; };
#ifdef HAUL_SIMGRID_3
    zone->get_network_model()->set_lat_factor_cb(latency_factor);
    zone->get_network_model()->set_bw_factor_cb(rate_factor);
#else
    zone->set_latency_factor_cb(latency_factor);
    zone->set_bandwidth_factor_cb(rate_factor);
#endif
    zone->seal();
    const auto cost = [](size_t bytes, sg4::Host *from, sg4::Host *to) {
        return overhead(reach_of(from, to), double(bytes));
    };
    smpi_register_op_cost_callback(SmpiOperation::ISEND, cost);
    smpi_register_op_cost_callback(SmpiOperation::SEND, cost);
}
