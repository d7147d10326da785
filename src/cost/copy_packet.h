/* The rate of a link counted in packets, for the models that build on it. */
#ifndef HAUL_COST_PACKET_H
#define HAUL_COST_PACKET_H

#include "cost/lookup.h"

/* Bytes on the wire for n bytes cut into payloads, each with a header. */
static inline double hl_cost_wire_bytes(double n, double payload, double header)
{
    return n + ceil(n / payload) * header;
}

/* The rate of large pinned copies over the host's link: measured where the machine has it, else by
 * packets. */
hl_cost_range hl_cost_packet_dma_rate(hl_cost_lookup *lookup);

#endif
