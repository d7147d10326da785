/* A link's rate from its packets (AHEAD, section IV): the overheads of each, counted as they cross
 * the wire, which is more than the paper takes, and what acknowledgements and flow control cost
 * beside. */
#include "cost/copy_packet.h"
#include "cost/copy_models.h"
#include "cost/lookup.h"
#include "cost/points.h"

/* On the wire, with 64-bit addresses and no ECRC: framing, sequence number and LCRC are 8 bytes of
 * a TLP, the headers 16 (MWr) and 12 (CplD). Neugebauer et al., SIGCOMM 2018, pcie-bench. */
enum { MWR_BYTES = 24, CPLD_BYTES = 20 };

/* The usual configuration of servers, in bytes: maximum payload 256, read completion boundary
 * 64; 128 is the least payload that PCIe allows. NVLink packs 256 bytes behind one flit of 16. */
enum { USUAL_MPS = 256, LEAST_MPS = 128, USUAL_RCB = 64, USUAL_PACKET = 256, FLIT_BYTES = 16 };

/* Acknowledgements and flow control: at the rates that the specification recommends they are twice
 * 4.8 % of the wire (pcie-bench). Least squares on the published rates of P100 (12.15 and 12.89
 * GB/s), A100 (26.0) and H100 (55.6), gens 3 to 5 in one, would take 10.9 %; held to what can be.
 * Flit mode (gen 6) carries them in the flit, which the link's rate counts. */
#define PCIE_SHARE 0.096

/* NVLink: V100 in an AC922 reaches 70.5 of 75 GB/s, which is 256 in 272 and nothing more; the
 * slowest published, a node of Lassen, 55.6. NVLink-C2C (GH200: 346 of 450) and xGMI (81 % at best)
 * lose more: the middle of the two. */
#define NVLINK_SHARE 0.0
#define FABRIC_SHARE 0.16
#define NVLINK_MOST_SHARE 0.22

/* Bytes of a copy on PCIe. Where the device reads, requests go the other way and are ahead of the
 * data; root complexes complete with as much as the payload allows, at worst with pieces of the
 * read completion boundary. Where it writes, a root port may hold the payload to the least of the
 * specification. */
static hl_cost_range pcie_bytes(hl_cost_lookup *lookup, const haul_link *link, double n)
{
    const bool reads = lookup->copy.direction == HAUL_DIRECTION_HTOD;
    const int header = reads ? CPLD_BYTES : MWR_BYTES;
    const double payload = hl_cost_lookup_usual(lookup, &link->payload_bytes, USUAL_MPS);
    const double least =
        reads ? hl_cost_lookup_usual(lookup, &link->read_completion_bytes, USUAL_RCB) : LEAST_MPS;
    const double bytes = hl_cost_wire_bytes(n, payload, header);
    return (hl_cost_range){bytes, bytes, fmax(bytes, hl_cost_wire_bytes(n, least, header))};
}

/* The time that the copy's link is busy with n bytes; 0 bytes take none. For copies that cross the
 * host's link or the peer link. */
static hl_cost_range link_seconds(hl_cost_lookup *lookup, double n)
{
    const haul_machine *machine = lookup->machine;
    const bool peer = lookup->copy.direction == HAUL_DIRECTION_PTOP;
    const haul_link *link = peer ? &machine->peer : &machine->link;
    const double peak = hl_cost_lookup_peak(lookup);
    hl_cost_range bytes;
    hl_cost_range share;
    if (link->kind == HAUL_LINK_PCIE) {
        share = link->generation.value >= 6
                    ? hl_cost_range_exact(0)
                    : hl_cost_lookup_share(lookup, &link->ack_share, PCIE_SHARE, PCIE_SHARE);
        bytes = pcie_bytes(lookup, link, n);
    } else {
        const double usual = link->kind == HAUL_LINK_NVLINK ? NVLINK_SHARE : FABRIC_SHARE;
        share = hl_cost_lookup_share(lookup, &link->ack_share, usual, NVLINK_MOST_SHARE);
        /* copy engines send 256 bytes behind a header of one flit (NVIDIA, nccl-tests issue 149) */
        const double payload = hl_cost_lookup_usual(lookup, &link->payload_bytes, USUAL_PACKET);
        const double header = hl_cost_lookup_usual(lookup, &link->header_bytes, FLIT_BYTES);
        bytes = hl_cost_range_exact(hl_cost_wire_bytes(n, payload, header));
    }
    const hl_cost_range payload = {1 - share.high, 1 - share.mid, 1 - share.low};
    return hl_cost_range_scale(hl_cost_range_times(bytes, hl_cost_range_inverse(payload)),
                               1 / peak);
}

hl_cost_range hl_cost_packet_dma_rate(hl_cost_lookup *lookup)
{
    const haul_copy *copy = &lookup->copy;
    /* a try on a copy of the look-up, without an error: a rate that is missing is computed
     * instead */
    hl_cost_lookup pinned = *lookup;
    pinned.own =
        haul_machine_curve(lookup->machine, copy->direction, HAUL_MEMORY_PINNED, copy->locality);
    pinned.copy.memory = HAUL_MEMORY_PINNED;
    pinned.error = NULL;
    hl_cost_range rate = hl_cost_lookup_rate(&pinned);
    if (pinned.status == HAUL_OK || copy->locality == HAUL_LOCALITY_FAR) {
        lookup->weakest = pinned.weakest;
        lookup->rate_from = pinned.rate_from;
        if (pinned.status != HAUL_OK)
            hl_cost_lookup_lacks_own(lookup, "rate");
        return rate;
    }
    /* large enough that the last packet does not count */
    const double many = 1U << 30;
    return hl_cost_range_scale(hl_cost_range_inverse(link_seconds(lookup, many)), many);
}

/* Large copies inside a GPU reach 0.86 (A100, HBM2), 0.87 (V100) and 0.91 (H100) of the memory's
 * nominal bandwidth, reading and writing each byte: the medians of public profiles, copies of 64 MB
 * and more. Their middle in the logarithm; the interval covers the three. */
static hl_cost_range device_seconds(hl_cost_lookup *lookup, double n)
{
    const hl_cost_range reached =
        hl_cost_lookup_in_cache(lookup, (hl_cost_range){0.85, 0.88, 0.92});
    const double peak = hl_cost_lookup_peak(lookup);
    return hl_cost_range_scale(hl_cost_range_inverse(reached), n / peak);
}

/* T = (L+o) + bytes on the wire / rate of the wire. */
static haul_status time_of(const haul_machine *machine, const haul_copy *copy, haul_estimate *out,
                           haul_error *error)
{
    hl_cost_lookup lookup = hl_cost_lookup_begin(machine, copy, error);
    if (lookup.copy.memory == HAUL_MEMORY_PAGEABLE &&
        haul_direction_crosses_link(lookup.copy.direction))
        hl_cost_lookup_refuse(&lookup, hl_cost_copy_model_packet.name,
                              "knows only the link: pageable copies are for 'staged' and 'ahead'");
    if (lookup.copy.locality == HAUL_LOCALITY_FAR)
        hl_cost_lookup_lacks_own(&lookup, "rate"); /* the link does not tell what lies beyond it */
    const hl_cost_range none = hl_cost_range_exact(0);
    const hl_cost_range latency_s =
        lookup.copy.direction == HAUL_DIRECTION_HTOH ? none : hl_cost_lookup_latency(&lookup);
    const double n = (double)copy->bytes;
    const haul_parameter *host_rate = &machine->host.copy_rate_Bps;
    hl_cost_range seconds;
    if (lookup.copy.direction == HAUL_DIRECTION_DTOD)
        seconds = device_seconds(&lookup, n);
    else if (lookup.copy.direction == HAUL_DIRECTION_HTOH)
        seconds = hl_cost_range_scale(
            hl_cost_range_inverse(hl_cost_lookup_need(&lookup, host_rate, "host.copy_rate")), n);
    else
        seconds = link_seconds(&lookup, n);
    return hl_cost_lookup_end(&lookup, hl_cost_copy_model_packet.name,
                              hl_cost_range_add(latency_s, seconds), out);
}

const haul_copy_model hl_cost_copy_model_packet = {
    .abi = HAUL_MODEL_ABI,
    .name = "packet",
    .summary = "(L+o) + bytes on the wire, packet by packet, over its nominal rate",
    .time = time_of,
};
