/* A machine as a platform of SimGrid. A flow's rate in SMPI is the link's bandwidth by a factor of
 * its size, its latency the link's by another: the protocols of the machine become these factors.
 */
#include <math.h>

#include "base/fail.h"
#include "base/numerals.h"
#include "comm/exchange_parts.h"
#include "haul/goal.h"

enum { NODES_MOST = 1 << 20 };

typedef struct net {
    double latency_s; /* the least above 0: a fit may have pieces without one; 0: none has */
    double rate_Bps;  /* of the fastest protocol */
} net;

static bool is_of(const haul_message_protocol *one, haul_reach reach)
{
    return one->memory == HAUL_MEMORY_HOST && one->reach == reach && one->rate_Bps.provenance;
}

static bool find_net(const haul_machine *machine, haul_reach reach, net *found)
{
    *found = (net){0, 0};
    for (size_t i = 0; i < machine->message_count; i++) {
        const double latency_s = machine->messages[i].latency_s.value;
        if (!is_of(&machine->messages[i], reach))
            continue;
        if (latency_s > 0 && !(found->latency_s > 0 && found->latency_s <= latency_s))
            found->latency_s = latency_s;
        found->rate_Bps = fmax(found->rate_Bps, machine->messages[i].rate_Bps.value);
    }
    return found->rate_Bps > 0;
}

/* "0:1;256:1.35": from these sizes on, by protocol. */
static void put_factors(const haul_machine *machine, const char *name, bool is_latency,
                        double whole, FILE *out)
{
    const char *before = "";
    (void)fprintf(out, "    <prop id=\"smpi/%s-factor\" value=\"", name);
    for (size_t i = 0; i < machine->message_count; i++) {
        const haul_message_protocol *one = &machine->messages[i];
        if (!is_of(one, HAUL_REACH_BETWEEN_NODES))
            continue;
        const double value = is_latency ? one->latency_s.value : one->rate_Bps.value;
        (void)fprintf(out, "%s%.0f:%.6g", before, one->from_bytes.value,
                      whole > 0 ? value / whole : 1);
        before = ";";
    }
    (void)fprintf(out, "\"/>\n");
}

haul_status haul_simgrid_write(const haul_machine *machine, uint32_t nodes, FILE *out,
                               haul_error *error)
{
    HL_PLAIN_NUMERALS;
    net between, within;
    if (!nodes || nodes > NODES_MOST)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT, "expected 1 to %d nodes", NODES_MOST);
    if (!find_net(machine, HAUL_REACH_BETWEEN_NODES, &between))
        return hl_comm_lacks(machine, "messages[host network]", error);
    if (!find_net(machine, HAUL_REACH_ON_NODE, &within) &&
        !find_net(machine, HAUL_REACH_ON_SOCKET, &within))
        within = between;
    double injected = between.rate_Bps;
    for (size_t i = 0; i < machine->injection_count; i++)
        if (machine->injection[i].memory == HAUL_MEMORY_HOST)
            injected = fmax(injected, machine->injection[i].rate_Bps.value);
    const double cores = machine->host.cores.value >= 1 ? machine->host.cores.value : 1;
    (void)fprintf(
        out, "<?xml version='1.0'?>\n"
             "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
             "<!-- by haul: rate of a node, and of latencies the least; factors by message size.\n"
             "     A message crosses two links, whose latencies add up. -->\n"
             "<platform version=\"4.1\">\n  <config>\n");
    put_factors(machine, "lat", true, between.latency_s, out);
    put_factors(machine, "bw", false, injected, out);
    (void)fprintf(out,
                  "    <prop id=\"network/TCP-gamma\" value=\"0\"/>\n"
                  "    <prop id=\"network/crosstraffic\" value=\"no\"/>\n"
                  "  </config>\n"
                  "  <cluster id=\"haul\" prefix=\"node-\" suffix=\"\" radical=\"0-%u\" "
                  "speed=\"1Gf\" core=\"%.0f\"\n"
                  "           bw=\"%.0fBps\" lat=\"%.9fs\" sharing_policy=\"SPLITDUPLEX\"\n"
                  "           loopback_bw=\"%.0fBps\" loopback_lat=\"%.9fs\"/>\n"
                  "</platform>\n",
                  (unsigned)(nodes - 1), cores, injected, between.latency_s / 2, within.rate_Bps,
                  within.latency_s);
    return ferror(out) ? haul_error_set(error, HAUL_STATUS_IO, "cannot write the platform")
                       : HAUL_OK;
}
