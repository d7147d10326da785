/* Collectives on a machine's links, by the model that NCCL itself chooses its algorithms with:
 * latencies from its tuning table (src/graph/tuning.cc), bytes by what an algorithm sends. */
#include "haul/collective_time.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "machine/architectures.h"

typedef enum wire { WIRE_NVLINK, WIRE_PCIE, WIRE_NETWORK, WIRES } wire;

typedef enum protocol {
    PROTOCOL_LL, /* low latency: half of each word is a flag, so that half the rate is data's */
    PROTOCOL_SIMPLE,
    PROTOCOLS
} protocol;

/* NCCL's baseLat of rings, in seconds. */
static const double start_s[PROTOCOLS] = {3.6e-6, 8.4e-6};

/* NCCL's hwLat, of a hop: rings, which point to point has too, and trees. */
static const double ring_hop_s[WIRES][PROTOCOLS] = {
    {0.47e-6, 3.4e-6}, {1.0e-6, 5.7e-6}, {2.7e-6, 9.6e-6}};
static const double tree_hop_s[WIRES][PROTOCOLS] = {
    {0.52e-6, 28e-6}, {1.0e-6, 28e-6}, {5.0e-6, 28e-6}};

/* Of the raw rate, what NCCL takes a link to give (src/graph/topo.h): 20 of 25 GB/s of NVLink, 12
 * of 15.75 GB/s of PCIe 3. */
static const double nvlink_share = 0.8, pcie_share = 0.76;

typedef struct links {
    wire kind;
    haul_parameter rate_Bps;
    const haul_message_protocol *fitted; /* that the rate is of; NULL: a link's */
} links;

/* The protocol of messages of this size between GPUs of the node, as fitted; of those on a socket
 * and between sockets the nearest. Of nccl-tests' output it is a GPU's part of a collective. NULL:
 * none. */
static const haul_message_protocol *fitted_protocol(const haul_machine *machine, double bytes)
{
    const haul_message_protocol *best = NULL;
    for (size_t i = 0; i < machine->message_count; i++) {
        const haul_message_protocol *one = &machine->messages[i];
        if (one->memory == HAUL_MEMORY_DEVICE && one->reach != HAUL_REACH_BETWEEN_NODES &&
            one->from_bytes.value <= bytes &&
            (!best || one->reach < best->reach ||
             (one->reach == best->reach && one->from_bytes.value > best->from_bytes.value)))
            best = one;
    }
    return best;
}

static haul_parameter share_of(const haul_link *link, double share)
{
    haul_parameter rate = haul_link_peak(link);
    rate.value *= share;
    return rate;
}

/* Each GPU's equal share of its node's network. */
static haul_parameter network_rate(const haul_machine *machine)
{
    const haul_injection *best = NULL;
    for (size_t i = 0; i < machine->injection_count; i++) {
        const haul_injection *one = &machine->injection[i];
        if (!best || (one->memory == HAUL_MEMORY_DEVICE && best->memory != HAUL_MEMORY_DEVICE) ||
            (one->memory == best->memory && one->rate_Bps.value > best->rate_Bps.value))
            best = one;
    }
    haul_parameter rate = best ? best->rate_Bps : (haul_parameter){0};
    rate.value /= fmax(1, machine->gpu.count.value);
    return rate;
}

/* A GPU sends over all its links at once: where pairs have few of them, as in a DGX-1, those to
 * all its peers. Links to the host are not among them (AC922). */
static haul_parameter node_rate(const haul_machine *machine)
{
    const hl_machine_architecture *of = hl_machine_architecture_of(&machine->gpu);
    const bool is_pcie = machine->peer.kind == HAUL_LINK_PCIE;
    haul_parameter rate = share_of(&machine->peer, is_pcie ? pcie_share : nvlink_share);
    const bool to_host = machine->link.kind == HAUL_LINK_NVLINK;
    const double own = of ? of->nvlinks - (to_host ? machine->link.links.value : 0) : 0;
    if (machine->peer.kind == HAUL_LINK_NVLINK && machine->peer.links.value > 0 &&
        machine->gpu.count.value > 2 && own > machine->peer.links.value)
        rate.value *= own / machine->peer.links.value;
    return rate;
}

static haul_status find_links(const haul_machine *machine, const haul_communication *of,
                              links *found, haul_error *error)
{
    const double gpus = machine->gpu.count.value;
    const char *lacks = "link";
    *found = (links){.kind = WIRE_NVLINK};
    if (gpus >= 1 && of->ranks > gpus && network_rate(machine).provenance) {
        found->kind = WIRE_NETWORK;
        found->rate_Bps = network_rate(machine);
    } else if (gpus > 1 && of->ranks > gpus) {
        /* GPUs of several nodes, and nothing is known of what joins these */
        lacks = "injection";
    } else if (fitted_protocol(machine, haul_communication_moved(of))) {
        found->fitted = fitted_protocol(machine, haul_communication_moved(of));
        found->rate_Bps = found->fitted->rate_Bps;
        return HAUL_OK;
    } else if (haul_link_peak(&machine->peer).provenance) {
        found->kind = machine->peer.kind == HAUL_LINK_PCIE ? WIRE_PCIE : WIRE_NVLINK;
        found->rate_Bps = node_rate(machine);
    } else {
        found->kind = WIRE_PCIE;
        found->rate_Bps = share_of(&machine->link, pcie_share);
    }
    return found->rate_Bps.value > 0
               ? HAUL_OK
               : haul_error_set(error, HAUL_STATUS_MISSING, "machine '%.100s' lacks %s",
                                machine->name, lacks);
}

/* Hops that follow each other: of a ring, which an all-reduce goes round twice; of a tree, up and
 * down; of point to point, one after another to each. */
static double ring_hops(haul_collective_kind kind, double ranks)
{
    return kind == HAUL_COLLECTIVE_SEND_RECEIVE ? 1
           : kind == HAUL_COLLECTIVE_ALL_REDUCE ? 2 * (ranks - 1)
                                                : ranks - 1;
}

static double tree_hops(haul_collective_kind kind, double ranks)
{
    switch (kind) {
    case HAUL_COLLECTIVE_ALL_REDUCE:
        return 2 * ceil(log2(ranks));
    case HAUL_COLLECTIVE_BROADCAST:
    case HAUL_COLLECTIVE_REDUCE:
        return ceil(log2(ranks));
    default:
        return (double)INFINITY; /* no tree */
    }
}

haul_status haul_collective_time(const haul_machine *machine, const haul_communication *of,
                                 haul_estimate *estimate, haul_error *error)
{
    const double ranks = of->ranks > 1 ? of->ranks : 2;
    const bool is_pairwise =
        of->kind == HAUL_COLLECTIVE_ALL_TO_ALL || of->kind == HAUL_COLLECTIVE_SEND_RECEIVE;
    links over;
    if (!of->bytes)
        return haul_error_set(error, HAUL_STATUS_MISSING,
                              "the profile does not tell the size of its %s",
                              haul_collective_text(of->kind));
    HAUL_TRY(find_links(machine, of, &over, error));
    haul_estimate best = {.seconds = (double)INFINITY, .weakest = HAUL_PROVENANCE_SCALED};
    best.weakest = haul_provenance_weaker(
        best.weakest, over.fitted ? over.fitted->latency_s.provenance : over.rate_Bps.provenance);
    for (int p = 0; p < PROTOCOLS; p++) {
        const double rate = over.rate_Bps.value * (p == PROTOCOL_LL ? 0.5 : 1);
        const double sent_s = rate > 0 ? haul_communication_moved(of) / rate : 0;
        const double ring_s =
            start_s[p] + ring_hop_s[over.kind][p] * ring_hops(of->kind, ranks) + sent_s;
        const double tree_s =
            start_s[p] + tree_hop_s[over.kind][p] * tree_hops(of->kind, ranks) + sent_s;
        if (fmin(ring_s, tree_s) < best.seconds)
            best.model = is_pairwise ? "point to point" : ring_s <= tree_s ? "ring" : "tree";
        best.seconds = fmin(best.seconds, fmin(ring_s, tree_s));
    }
    if (over.fitted) { /* measured: NCCL's table gives the least latency, not the usual one */
        const double rate = over.fitted->rate_Bps.value;
        best.seconds = fmax(best.seconds, over.fitted->latency_s.value +
                                              (rate > 0 ? haul_communication_moved(of) / rate : 0));
    }
    best.low_s = best.high_s = best.seconds;
    *estimate = best;
    return HAUL_OK;
}
