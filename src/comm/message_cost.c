#include "comm/message_cost.h"

#include <math.h>

const haul_message_protocol *hl_comm_message_protocol_of(const haul_machine *machine,
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
double hl_comm_message_gap(const haul_machine *machine, const haul_message_protocol *protocol,
                           double bytes)
{
    if (protocol->gap_s.provenance)
        return protocol->gap_s.value;
    for (size_t i = machine->message_count; i-- > 0;) {
        const haul_message_protocol *other = &machine->messages[i];
        if (other->memory == protocol->memory && other->reach == HAUL_REACH_BETWEEN_NODES &&
            other->gap_s.provenance && other->from_bytes.value <= bytes)
            return fmin(other->gap_s.value, protocol->latency_s.value);
    }
    return protocol->latency_s.value;
}

/* Between measured numbers as in eq. 2, min(R_N, ppn R_b), with R_N of the next larger one and R_b
 * of the processes of the next smaller. Below the least a node sends what its protocol lets each
 * process send, up to the rate of the least; above the most it sends no more. */
double hl_comm_injection_rate(const haul_machine *machine, haul_memory memory, double processes)
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
    if (!above || !below)
        return above ? above->rate_Bps.value : below->rate_Bps.value;
    const double each = below->rate_Bps.value / below->processes.value;
    return fmin(above->rate_Bps.value, processes * each);
}

/* Seconds of one message: straight between the two measured sizes around it, whose protocols may
 * differ; NaN where there are no such. */
static double measured_s(const haul_machine *machine, const haul_message_protocol *like,
                         double bytes)
{
    const haul_point *below = NULL, *above = NULL;
    for (size_t i = 0; i < machine->message_count; i++) {
        const haul_message_protocol *one = &machine->messages[i];
        if (one->memory != like->memory || one->reach != like->reach ||
            !one->points_from.provenance)
            continue;
        for (size_t p = 0; p < (size_t)one->points_from.value && p < HAUL_MACHINE_CURVE_POINTS;
             p++) {
            const haul_point *point = &one->points[p];
            if (point->bytes <= bytes && (!below || point->bytes > below->bytes))
                below = point;
            if (point->bytes >= bytes && (!above || point->bytes < above->bytes))
                above = point;
        }
    }
    if (!below || !above)
        return (double)NAN;
    const double part =
        above->bytes > below->bytes ? (bytes - below->bytes) / (above->bytes - below->bytes) : 0;
    return below->seconds + part * (above->seconds - below->seconds);
}

double hl_comm_postal_s(const haul_machine *machine, const haul_message_protocol *protocol,
                        double count, double bytes)
{
    const double each = protocol->rate_Bps.value > 0 ? bytes / protocol->rate_Bps.value : 0;
    return protocol->latency_s.value + each +
           fmax(count - 1, 0) * (hl_comm_message_gap(machine, protocol, bytes) + each);
}

double hl_comm_serial_s(const haul_machine *machine, const haul_message_protocol *protocol,
                        double count, double bytes)
{
    const double postal = hl_comm_postal_s(machine, protocol, count, bytes);
    const double measured = measured_s(machine, protocol, bytes);
    return isnan(measured) ? postal
                           : postal + measured - hl_comm_postal_s(machine, protocol, 1, bytes);
}

/* Eq. 2: the node's share is ppn n / R_N behind one latency. */
double hl_comm_node_s(const haul_machine *machine, const haul_message_protocol *protocol,
                      double processes, double bytes)
{
    return protocol->latency_s.value +
           processes * bytes / hl_comm_injection_rate(machine, protocol->memory, processes);
}
