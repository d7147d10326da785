/* Collectives on a machine's links, by the model that NCCL itself chooses its algorithms with:
 * latencies and shares of the rate from its tuning (src/graph/tuning.cc), bytes by what an
 * algorithm sends. */
#include "haul/collective_time.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "machine/architectures.h"

typedef enum wire { WIRE_NVLINK, WIRE_PCIE, WIRE_NETWORK, WIRES } wire;

typedef enum protocol {
    PROTOCOL_LL,    /* low latency: a flag beside each word */
    PROTOCOL_LL128, /* a flag beside each 120 bytes; over NVLink alone */
    PROTOCOL_SIMPLE,
    PROTOCOLS
} protocol;

static const char *const protocol_texts[PROTOCOLS] = {"LL", "LL128", "simple"};

/* NCCL's baseLat and hwLat, of an operation and of a hop, in seconds. Point to point takes those of
 * rings. */
static const double start_s[2][PROTOCOLS] = {
    [HAUL_COLLECTIVE_WAY_RING] = {6.6e-6, 14e-6, 8.4e-6},
    [HAUL_COLLECTIVE_WAY_TREE] = {6.8e-6, 14e-6, 8.4e-6},
};
static const double hop_s[2][WIRES][PROTOCOLS] = {
    [HAUL_COLLECTIVE_WAY_RING] = {{0.6e-6, 1.9e-6, 3.4e-6},
                                  {1.0e-6, 2.5e-6, 5.7e-6},
                                  {2.7e-6, 4.0e-6, 14e-6}},
    [HAUL_COLLECTIVE_WAY_TREE] = {{0.6e-6, 1.25e-6, 4e-6},
                                  {1.0e-6, 1.9e-6, 4e-6},
                                  {5.0e-6, 8.5e-6, 14e-6}},
};

/* Between nodes the low-latency protocol's hops within a node take longer, for flags of both. */
static const double ll_between_nodes = 1.8;

/* Of the raw rate, what NCCL takes a link to give (src/graph/topo.h): 20 of 25 GB/s of NVLink, 12
 * of 15.75 GB/s of PCIe 3. */
static const double nvlink_share = 0.8, pcie_share = 0.76;

/* One process that launches on all GPUs of a node does so one after another. nccl-tests with one
 * process took 87 us for any small all-to-all of 8 A100. */
static const double launch_most_s = 11e-6;

/* How far a time by NCCL's table may be off beside that, and one that was fitted to other
 * operations or numbers of ranks. */
static const double usual_error = 0.25, fitted_error = 0.15;

/* The ranks, and the wires between them. */
typedef struct links {
    double ranks, nodes, gpus; /* gpus: of a node */
    wire within;
    haul_parameter within_Bps;           /* that a GPU sends within its node */
    haul_parameter node_Bps;             /* that a node sends to others */
    const haul_message_protocol *fitted; /* to such operations; NULL: none */
} links;

/* The protocol of messages of this size between GPUs, as fitted; of those on a socket and between
 * sockets the nearest. Of nccl-tests' output it is a GPU's part of a collective. NULL: none. */
static const haul_message_protocol *fitted_protocol(const haul_machine *machine, double bytes,
                                                    bool between_nodes)
{
    const haul_message_protocol *best = NULL;
    for (size_t i = 0; i < machine->message_count; i++) {
        const haul_message_protocol *one = &machine->messages[i];
        if (one->memory == HAUL_MEMORY_DEVICE &&
            (one->reach == HAUL_REACH_BETWEEN_NODES) == between_nodes &&
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

/* Of device memory where it was measured. */
static haul_parameter network_rate(const haul_machine *machine)
{
    const haul_injection *best = NULL;
    for (size_t i = 0; i < machine->injection_count; i++) {
        const haul_injection *one = &machine->injection[i];
        if (!best || (one->memory == HAUL_MEMORY_DEVICE && best->memory != HAUL_MEMORY_DEVICE) ||
            (one->memory == best->memory && one->rate_Bps.value > best->rate_Bps.value))
            best = one;
    }
    return best ? best->rate_Bps : (haul_parameter){0};
}

/* AMD's GPUs since CDNA 3 are joined each to each by links of their own. Of earlier ones, as on
 * Frontier, pairs have different numbers of links or none. */
static bool is_mesh(const haul_machine *machine, const hl_machine_architecture *of)
{
    return machine->peer.kind == HAUL_LINK_FABRIC && of &&
           (!strcmp(of->name, "cdna3") || !strcmp(of->name, "cdna4"));
}

/* The rate of one of so many GPUs of a node. It sends over all its links at once: where pairs have
 * few of them, as in a DGX-1, those to all its peers. Links to the host are not among them (AC922).
 */
static haul_parameter node_rate(const haul_machine *machine, double gpus)
{
    const hl_machine_architecture *of = hl_machine_architecture_of(&machine->gpu);
    const bool is_pcie = machine->peer.kind == HAUL_LINK_PCIE;
    haul_parameter rate = share_of(&machine->peer, is_pcie ? pcie_share : nvlink_share);
    const bool to_host = machine->link.kind == HAUL_LINK_NVLINK;
    const double own = of ? of->nvlinks - (to_host ? machine->link.links.value : 0) : 0;
    if (machine->peer.kind == HAUL_LINK_NVLINK && machine->peer.links.value > 0 &&
        machine->gpu.count.value > 2 && own > machine->peer.links.value)
        rate.value *= own / machine->peer.links.value;
    if (is_mesh(machine, of))
        rate.value *= fmax(1, fmin(gpus, machine->gpu.count.value) - 1);
    return rate;
}

static haul_status lacks(const haul_machine *machine, const char *what, haul_error *error)
{
    return haul_error_set(error, HAUL_STATUS_MISSING, "machine '%.100s' lacks %s", machine->name,
                          what);
}

static haul_status find_links(const haul_machine *machine, const haul_communication *of,
                              uint32_t nodes, links *found, haul_error *error)
{
    const double gpus = machine->gpu.count.value, moved = haul_communication_moved(of);
    *found = (links){.ranks = of->ranks > 1 ? of->ranks : 2, .nodes = nodes};
    if (!nodes)
        found->nodes = gpus >= 1 && of->ranks > gpus ? ceil(of->ranks / gpus) : 1;
    found->nodes = fmin(found->nodes, found->ranks);
    found->gpus = ceil(found->ranks / found->nodes);
    const bool between = found->nodes > 1;
    if (between)
        found->node_Bps = network_rate(machine);
    if (!between || !found->node_Bps.provenance)
        found->fitted = fitted_protocol(machine, moved, between);
    if (haul_link_peak(&machine->peer).provenance) {
        found->within = machine->peer.kind == HAUL_LINK_PCIE ? WIRE_PCIE : WIRE_NVLINK;
        found->within_Bps = node_rate(machine, found->gpus);
    } else {
        found->within = found->fitted ? WIRE_NVLINK : WIRE_PCIE;
        found->within_Bps = share_of(&machine->link, pcie_share);
    }
    if (found->fitted && (found->fitted->rate_Bps.value > 0 || !(found->within_Bps.value > 0)))
        found->within_Bps = found->node_Bps = found->fitted->rate_Bps;
    if (found->fitted)
        return HAUL_OK;
    if (between && !(found->node_Bps.value > 0))
        return lacks(machine,
                     "injection: run 'mpirun haul-mpi measure' on two nodes, a process on each "
                     "core, then 'haul comm fit'",
                     error);
    return found->within_Bps.value > 0 || (between && found->gpus <= 1)
               ? HAUL_OK
               : lacks(machine,
                       "peer and link: give the file the links of its GPUs, or fit the output of "
                       "nccl-tests by 'haul comm fit'",
                       error);
}

/* --- the ways */

static bool is_pairwise(haul_collective_kind kind)
{
    return kind == HAUL_COLLECTIVE_ALL_TO_ALL || kind == HAUL_COLLECTIVE_SEND_RECEIVE;
}

/* Within a node a rank writes to all others at once; between nodes only pairs are known. */
static bool is_possible(const links *over, haul_collective_kind kind, haul_collective_way way)
{
    const bool has_tree = kind == HAUL_COLLECTIVE_ALL_REDUCE || kind == HAUL_COLLECTIVE_BROADCAST ||
                          kind == HAUL_COLLECTIVE_REDUCE;
    if (way == HAUL_COLLECTIVE_WAY_DIRECT)
        return is_pairwise(kind) || (over->nodes <= 1 && kind != HAUL_COLLECTIVE_OTHER);
    return way == HAUL_COLLECTIVE_WAY_TREE ? has_tree : !is_pairwise(kind);
}

/* Whether NCCL makes such operations so. */
static bool is_library(haul_collective_kind kind, haul_collective_way way)
{
    return is_pairwise(kind) == (way == HAUL_COLLECTIVE_WAY_DIRECT) &&
           (way != HAUL_COLLECTIVE_WAY_TREE || kind == HAUL_COLLECTIVE_ALL_REDUCE);
}

/* Hops that follow each other, within nodes and between them. A ring goes round once, of an
 * all-reduce twice. NCCL's tree is a chain within a node and a tree of nodes, up and down. */
static void count_hops(const links *over, haul_collective_kind kind, haul_collective_way way,
                       double hops[2])
{
    const double turns = kind == HAUL_COLLECTIVE_ALL_REDUCE ? 2 : 1;
    const double far = over->nodes > 1 ? over->nodes - 1 : 0;
    if (way == HAUL_COLLECTIVE_WAY_TREE) {
        hops[0] = turns * (over->gpus - 1);
        hops[1] = turns * ceil(log2(over->nodes));
    } else if (way == HAUL_COLLECTIVE_WAY_RING) {
        hops[1] = turns * far;
        hops[0] = turns * (over->ranks - 1) - hops[1];
    } else if (kind == HAUL_COLLECTIVE_ALL_TO_ALL) { /* one after another to each */
        hops[0] = over->gpus - 1;
        hops[1] = over->ranks - over->gpus;
    } else {
        hops[0] = over->nodes > 1 ? 0 : turns;
        hops[1] = over->nodes > 1 ? turns : 0;
    }
}

/* Of the links' rate, what a protocol gives. */
static double protocol_share(const links *over, haul_collective_kind kind, haul_collective_way way,
                             protocol of)
{
    const bool reduces = kind == HAUL_COLLECTIVE_ALL_REDUCE || kind == HAUL_COLLECTIVE_REDUCE;
    const bool between = over->nodes > 1;
    switch (way) {
    case HAUL_COLLECTIVE_WAY_RING:
        return of == PROTOCOL_LL ? (between || reduces ? 1.0 / 4 : 1.0 / 3)
                                 : (of == PROTOCOL_LL128 ? 0.92 : 1);
    case HAUL_COLLECTIVE_WAY_TREE:
        return 0.9 * (of == PROTOCOL_LL      ? 1 / 3.8
                      : of == PROTOCOL_LL128 ? (between ? 0.915 : 7.0 / 9)
                                             : 1);
    default:
        return of == PROTOCOL_LL ? 0.5 : 1;
    }
}

static double seconds_of(double bytes, haul_parameter rate)
{
    return bytes > 0 && rate.value > 0 ? bytes / rate.value : 0;
}

/* The time of all bytes at the links' full rate. The node's network carries what one GPU of a ring
 * sends, for rings enter a node at one GPU and leave it at another; of pairs it carries what all
 * its GPUs send to other nodes. */
static double bytes_s(const links *over, const haul_communication *of, haul_collective_way way)
{
    const double moved = haul_communication_moved(of), bytes = (double)of->bytes;
    const double outside = over->ranks - over->gpus;
    if (way != HAUL_COLLECTIVE_WAY_DIRECT) {
        const double sent =
            way == HAUL_COLLECTIVE_WAY_TREE && of->kind == HAUL_COLLECTIVE_ALL_REDUCE ? 2 * bytes
                                                                                      : moved;
        const double within_s = over->gpus > 1 ? seconds_of(sent, over->within_Bps) : 0;
        return over->nodes > 1 ? fmax(within_s, seconds_of(sent, over->node_Bps)) : within_s;
    }
    if (of->kind == HAUL_COLLECTIVE_BROADCAST || of->kind == HAUL_COLLECTIVE_REDUCE)
        return seconds_of((over->ranks - 1) * bytes, over->within_Bps);
    double share = outside / (over->ranks - 1); /* of its bytes, that leave the node */
    if (of->kind == HAUL_COLLECTIVE_SEND_RECEIVE)
        share = over->nodes > 1;
    const double senders = over->fitted ? 1 : over->gpus;
    return fmax(seconds_of(moved * (1 - share), over->within_Bps),
                seconds_of(moved * share * senders, over->node_Bps));
}

static void predict_way(const links *over, const haul_communication *of,
                        haul_collective_way_time *out)
{
    const int table =
        out->way == HAUL_COLLECTIVE_WAY_TREE ? HAUL_COLLECTIVE_WAY_TREE : HAUL_COLLECTIVE_WAY_RING;
    double hops[2];
    out->seconds = (double)INFINITY;
    count_hops(over, of->kind, out->way, hops);
    for (int p = 0; p < PROTOCOLS; p++) {
        const bool is_direct = out->way == HAUL_COLLECTIVE_WAY_DIRECT;
        const double slower = p == PROTOCOL_LL && over->nodes > 1 ? ll_between_nodes : 1;
        if (p == PROTOCOL_LL128 && (is_direct || over->within != WIRE_NVLINK))
            continue;
        const double latency_s = start_s[table][p] +
                                 hops[0] * slower * hop_s[table][over->within][p] +
                                 hops[1] * hop_s[table][WIRE_NETWORK][p];
        const double sent_s =
            bytes_s(over, of, out->way) / protocol_share(over, of->kind, out->way, (protocol)p);
        if (latency_s + sent_s >= out->seconds)
            continue;
        out->seconds = latency_s + sent_s;
        out->latency_s = latency_s;
        out->protocol = protocol_texts[p];
    }
}

/* Measured times are of the way that the library took; others keep their ratio to it. NCCL's table
 * has the least latency, not the usual one. */
static void follow_fit(const links *over, const haul_communication *of,
                       haul_collective_way_time times[HAUL_COLLECTIVE_WAYS])
{
    const haul_message_protocol *fitted = over->fitted;
    double least_s = (double)INFINITY;
    for (int w = 0; w < HAUL_COLLECTIVE_WAYS; w++)
        if (times[w].is_library)
            least_s = fmin(least_s, times[w].seconds);
    const double measured_s =
        fitted->latency_s.value + seconds_of(haul_communication_moved(of), fitted->rate_Bps);
    const double factor = fmax(1, measured_s / least_s);
    for (int w = 0; w < HAUL_COLLECTIVE_WAYS; w++) {
        times[w].seconds *= factor;
        times[w].latency_s *= factor;
        times[w].is_fitted = true;
    }
}

static void put_interval(const links *over, haul_collective_way_time *out)
{
    const double error =
        over->fitted ? fmax(fitted_error, 3 * over->fitted->error.value) : usual_error;
    out->low_s = out->seconds * (1 - fmin(error, 0.5));
    out->high_s = out->seconds * (1 + error) + (over->fitted ? 0 : over->gpus * launch_most_s);
    out->weakest = haul_provenance_weaker(HAUL_PROVENANCE_SCALED,
                                          over->fitted ? over->fitted->latency_s.provenance
                                                       : over->within_Bps.provenance);
    if (over->nodes > 1 && !over->fitted)
        out->weakest = haul_provenance_weaker(out->weakest, over->node_Bps.provenance);
}

haul_status haul_collective_predict(const haul_machine *machine, const haul_communication *of,
                                    uint32_t nodes,
                                    haul_collective_way_time times[HAUL_COLLECTIVE_WAYS],
                                    haul_error *error)
{
    links over;
    if (!of->bytes)
        return haul_error_set(error, HAUL_STATUS_MISSING,
                              "the profile does not tell the size of its %s",
                              haul_collective_text(of->kind));
    HAUL_TRY(find_links(machine, of, nodes, &over, error));
    for (int w = 0; w < HAUL_COLLECTIVE_WAYS; w++) {
        times[w] = (haul_collective_way_time){.way = (haul_collective_way)w,
                                              .seconds = (double)NAN,
                                              .low_s = (double)NAN,
                                              .high_s = (double)NAN,
                                              .latency_s = (double)NAN};
        times[w].is_impossible = !is_possible(&over, of->kind, times[w].way);
        times[w].is_library = is_library(of->kind, times[w].way);
        if (!times[w].is_impossible)
            predict_way(&over, of, &times[w]);
    }
    if (over.fitted)
        follow_fit(&over, of, times);
    for (int w = 0; w < HAUL_COLLECTIVE_WAYS; w++)
        if (!times[w].is_impossible)
            put_interval(&over, &times[w]);
    return HAUL_OK;
}

const char *haul_collective_way_text(haul_collective_way way)
{
    static const char *const texts[] = {
#define WAY_TEXT(name, text) text,
        HAUL_COLLECTIVE_WAY_LIST(WAY_TEXT)
#undef WAY_TEXT
    };
    return texts[way];
}

haul_status haul_collective_time(const haul_machine *machine, const haul_communication *of,
                                 haul_estimate *estimate, haul_error *error)
{
    haul_collective_way_time times[HAUL_COLLECTIVE_WAYS] = {{.seconds = 0}};
    haul_estimate best = {.seconds = (double)INFINITY};
    HAUL_TRY(haul_collective_predict(machine, of, 0, times, error));
    for (int w = 0; w < HAUL_COLLECTIVE_WAYS; w++)
        if (times[w].is_library && times[w].seconds < best.seconds)
            best = (haul_estimate){.seconds = times[w].seconds,
                                   .low_s = times[w].low_s,
                                   .high_s = times[w].high_s,
                                   .weakest = times[w].weakest,
                                   .model = haul_collective_way_text(times[w].way)};
    *estimate = best;
    return HAUL_OK;
}
