#include "comm/message_cost.h"

#include <math.h>

const haul_message_protocol *haul_message_protocol_of(const haul_machine *machine,
                                                      haul_memory memory, haul_reach reach,
                                                      double bytes, double *measured)
{
    const haul_message_protocol *found = NULL;
    *measured = 0;
    for (size_t i = 0; i < machine->message_count; i++) {
        const haul_message_protocol *one = &machine->messages[i];
        if (one->memory != memory || one->reach != reach)
            continue;
        *measured = fmax(*measured, one->most_bytes.value);
        if (one->from_bytes.value <= bytes &&
            (!found || one->from_bytes.value >= found->from_bytes.value))
            found = one;
    }
    return found;
}

/* Where the gap was measured between nodes alone it serves within the node; where not at all it is
 * a latency, as in Bienz et al., eq. 3. */
double haul_message_gap(const haul_machine *machine, const haul_message_protocol *protocol,
                        double bytes)
{
    if (protocol->gap_s.provenance)
        return protocol->gap_s.value;
    for (size_t i = machine->message_count; i-- > 0;) {
        const haul_message_protocol *other = &machine->messages[i];
        if (other->memory == protocol->memory && other->reach == HAUL_BETWEEN_NODES &&
            other->gap_s.provenance && other->from_bytes.value <= bytes)
            return fmin(other->gap_s.value, protocol->latency_s.value);
    }
    return protocol->latency_s.value;
}

double haul_injection_rate(const haul_machine *machine, haul_memory memory, double processes)
{
    const haul_injection *below = NULL, *above = NULL;
    for (size_t i = 0; i < machine->injection_count; i++) {
        const haul_injection *one = &machine->injection[i];
        if (one->memory != memory)
            continue;
        if (one->processes.value <= processes &&
            (!below || one->processes.value > below->processes.value))
            below = one;
        if (one->processes.value >= processes &&
            (!above || one->processes.value < above->processes.value))
            above = one;
    }
    if (!below && !above)
        return (double)INFINITY;
    below = below ? below : above;
    above = above ? above : below;
    const double apart = above->processes.value - below->processes.value;
    const double share = apart > 0 ? (processes - below->processes.value) / apart : 0;
    return below->rate_Bps.value + share * (above->rate_Bps.value - below->rate_Bps.value);
}
