/* AHEAD as published: Abdelhafez, Zimmer, Vazhkudai, Ripeanu, IPDPSW 2019, section IV. */
#include "cost/copy_models.h"
#include "cost/copy_packet.h"
#include "cost/lookup.h"

/* Overheads of MRd, MWr and CplD with 64-bit addressing; the parameters it takes as usual. */
enum { OVERHEAD_BYTES = 12, MPS = 256, MRRS = 512, RCB = 64, PACKET = 256, FLIT = 16 };

/* Equations 4 and 5: the device reads (host to device) or writes. */
static double pcie_bytes(hl_cost_lookup *lookup, const haul_link *link, double n)
{
    if (lookup->copy.direction != HAUL_DIRECTION_HTOD)
        return hl_cost_wire_bytes(n, hl_cost_lookup_usual(lookup, &link->payload_bytes, MPS),
                                  OVERHEAD_BYTES);
    const double request = hl_cost_lookup_usual(lookup, &link->read_request_bytes, MRRS);
    const double completion = hl_cost_lookup_usual(lookup, &link->read_completion_bytes, RCB);
    return OVERHEAD_BYTES + request + hl_cost_wire_bytes(n, completion, OVERHEAD_BYTES);
}

/* n/BW_eff = n_hat / Link_BW (equation 2). Copies inside a device take its nominal bandwidth, as
 * the paper says, which forgets that they read and write. */
static double transfer_seconds(hl_cost_lookup *lookup, double n)
{
    const haul_machine *machine = lookup->machine;
    const double peak = hl_cost_lookup_peak(lookup);
    if (lookup->copy.direction == HAUL_DIRECTION_DTOD)
        return n / (2 * peak);
    if (lookup->copy.direction == HAUL_DIRECTION_HTOH)
        return n / peak; /* 2n/Memory_BW, its term of equation 9 */
    const haul_link *link =
        lookup->copy.direction == HAUL_DIRECTION_PTOP ? &machine->peer : &machine->link;
    if (link->kind == HAUL_LINK_PCIE)
        return pcie_bytes(lookup, link, n) / peak;
    /* equations 6 and 7 */
    const double flit = hl_cost_lookup_usual(lookup, &link->header_bytes, FLIT);
    const double payload = hl_cost_lookup_usual(lookup, &link->payload_bytes, PACKET);
    const double data = hl_cost_wire_bytes(n, payload, flit);
    return (lookup->copy.direction == HAUL_DIRECTION_HTOD ? flit + data : data) / peak;
}

/* Equations 9 (pageable) and 10. The interval is that of the paper's own errors on Summit: WMAPE
 * of 19 to 23 % for pinned copies and 15 to 74 % for pageable ones. */
static haul_status time_of(const haul_machine *machine, const haul_copy *copy, haul_estimate *out,
                           haul_error *error)
{
    hl_cost_lookup lookup = hl_cost_lookup_begin(machine, copy, error);
    const double n = (double)copy->bytes;
    const bool pageable = lookup.copy.memory == HAUL_MEMORY_PAGEABLE &&
                          haul_direction_crosses_link(lookup.copy.direction);
    /* the paper has no term for the other socket's memory */
    if (lookup.copy.locality == HAUL_LOCALITY_FAR)
        hl_cost_lookup_lacks_own(&lookup, "rate");
    const hl_cost_range latency_s = hl_cost_lookup_latency(&lookup);
    double seconds = transfer_seconds(&lookup, n);
    if (pageable) /* the term that equation 9 adds */
        seconds += 2 * n /
                   hl_cost_lookup_need(&lookup, &machine->host.memory_bandwidth_Bps,
                                       "host.memory_bandwidth")
                       .mid;
    const double error_share = pageable ? 0.74 : 0.23;
    const hl_cost_range moved =
        hl_cost_range_around(seconds, 1 - error_share, 1 / (1 - error_share));
    return hl_cost_lookup_end(&lookup, hl_cost_copy_model_ahead.name,
                              hl_cost_range_add(latency_s, moved), out);
}

const haul_copy_model hl_cost_copy_model_ahead = {
    .abi = HAUL_MODEL_ABI,
    .name = "ahead",
    .summary = "packets on PCIe and NVLink from the data sheet, as published (AHEAD, eq. 2-10)",
    .time = time_of,
};
