/* Messages of a process under the rate of its node, and copies of a GPU. */
#include "comm/exchange_parts.h"

#include <math.h>
#include <stdio.h>

#include "comm/message_cost.h"
#include "haul/cost.h"

static void rest_on(const hl_comm_predictor *self, haul_provenance provenance)
{
    self->out->weakest = haul_provenance_weaker(self->out->weakest, provenance);
}

const haul_message_protocol *hl_comm_predictor_protocol(const hl_comm_predictor *self,
                                                        haul_memory memory, haul_reach reach,
                                                        double bytes)
{
    double measured;
    const haul_message_protocol *found =
        hl_comm_message_protocol_of(self->machine, memory, reach, bytes, &measured);
    if (!found) {
        static const char *const reaches[] = {"socket", "node", "network"};
        if (!*self->out->missing)
            (void)snprintf(self->out->missing, sizeof self->out->missing, "messages[%s %s]",
                           haul_memory_text(memory), reaches[reach]);
        return NULL;
    }
    rest_on(self, found->latency_s.provenance);
    if (bytes - measured > self->out->largest_bytes - self->out->measured_bytes) {
        self->out->largest_bytes = bytes;
        self->out->measured_bytes = measured > 0 ? measured : bytes;
    }
    return found;
}

hl_comm_time_span hl_comm_predictor_serial(const hl_comm_predictor *self, haul_memory memory,
                                           haul_reach reach, double count, double bytes)
{
    const haul_message_protocol *protocol =
        count > 0 ? hl_comm_predictor_protocol(self, memory, reach, bytes) : NULL;
    if (!protocol)
        return (hl_comm_time_span){0, 0, 0};
    const double time = hl_comm_serial_s(self->machine, protocol, count, bytes);
    /* where the two differ the protocol changes somewhere between the measured sizes */
    const double postal = hl_comm_postal_s(self->machine, protocol, count, bytes);
    const double error = HL_COMM_MESSAGE_TAIL * protocol->error.value;
    return (hl_comm_time_span){time, fmin(time, postal) * (1 - fmin(error, 0.5)),
                               fmax(time, postal) * (1 + error)};
}

double hl_comm_predictor_node_rate(const hl_comm_predictor *self, haul_memory memory, double split)
{
    /* Of an all-to-all-v's messages that each GPU's one process sends to all, many meet at the same
     * receivers: on Summit large ones took 1.1 times as long as the node's rate says with one other
     * node, 1.6 with 7 and 2.0 with 31, from the host's memory and from GPUs alike. Dealt out to
     * several processes, each with its own receivers, they took as long as it says
     * (docs/accuracy/messages.md). */
    const double per_doubling = 0.2;
    const double crowding = split > 1 ? 1 : 1 + per_doubling * log2(fmax(1, self->reached));
    return hl_comm_injection_rate(self->machine, memory, self->gpus * split) / crowding;
}

hl_comm_time_span hl_comm_predictor_messages(const hl_comm_predictor *self, haul_memory memory,
                                             const hl_comm_load *of, double split, bool is_limited)
{
    /* One round. */
    const double processes = self->gpus * split;
    hl_comm_time_span out =
        hl_comm_predictor_serial(self, memory, HAUL_REACH_BETWEEN_NODES, of->count, of->bytes);
    const double rate = hl_comm_predictor_node_rate(self, memory, split);
    const haul_message_protocol *protocol =
        of->count > 0 && is_limited && isfinite(rate)
            ? hl_comm_predictor_protocol(self, memory, HAUL_REACH_BETWEEN_NODES, of->bytes)
            : NULL;
    if (protocol) {
        const double node_s =
            protocol->latency_s.value + processes * of->count * of->bytes / rate; /* eq. 2 */
        const double error = HL_COMM_MESSAGE_TAIL * protocol->error.value;
        out = hl_comm_most(out, (hl_comm_time_span){node_s, node_s * (1 - fmin(error, 0.5)),
                                                    node_s * (1 + error)});
    }
    out = hl_comm_plus(out, hl_comm_predictor_serial(self, memory, HAUL_REACH_ON_SOCKET,
                                                     of->near_count, of->near_bytes));
    const hl_comm_time_span round =
        hl_comm_plus(out, hl_comm_predictor_serial(self, memory, HAUL_REACH_ON_NODE, of->far_count,
                                                   of->far_bytes));
    const double rotations_s = 2 * of->rotation_s;
    return hl_comm_plus(hl_comm_times(of->rounds, round),
                        (hl_comm_time_span){rotations_s, rotations_s, rotations_s});
}

hl_comm_time_span hl_comm_predictor_spread(const hl_comm_predictor *self, double bytes)
{
    return hl_comm_predictor_serial(self, HAUL_MEMORY_HOST, HAUL_REACH_ON_SOCKET, 1, bytes);
}

/* MPI_Alltoall for small messages: log2 P rounds of P/2 blocks (Bruck et al., 1997). In a GPU's
 * memory the blocks are rotated before and behind, by copies that cost a call each. */
static hl_comm_load rounds_of(const hl_comm_predictor *self, haul_memory memory, double bytes)
{
    const double ranks = self->others + self->gpus;
    hl_comm_load round = {.count = 1, .bytes = bytes * ranks / 2, .rounds = ceil(log2(ranks))};
    if (memory == HAUL_MEMORY_DEVICE) {
        const haul_copy_curve *call = haul_machine_curve(self->machine, HAUL_DIRECTION_HTOD,
                                                         HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR);
        const haul_copy_curve *inside = haul_machine_curve(self->machine, HAUL_DIRECTION_DTOD,
                                                           HAUL_MEMORY_DEVICE, HAUL_LOCALITY_NEAR);
        round.rotation_s = call ? call->call_latency_s.value : 0;
        if (inside && inside->rate_Bps.value > 0)
            round.rotation_s += inside->latency_s.value + 2 * round.bytes / inside->rate_Bps.value;
    }
    return round;
}

hl_comm_load hl_comm_predictor_dealt(const hl_comm_predictor *self, haul_memory memory,
                                     const hl_comm_load *whole, double split)
{
    hl_comm_load of = *whole;
    of.rounds = 1;
    if (self->exchange->kind == HAUL_EXCHANGE_ALL) {
        of.bytes /= split;
        of.near_bytes /= split;
        of.far_bytes /= split;
        const hl_comm_load rounds = rounds_of(self, memory, of.bytes);
        return hl_comm_predictor_messages(self, memory, &rounds, split, true).likely <
                       hl_comm_predictor_messages(self, memory, &of, split, true).likely
                   ? rounds
                   : of;
    }
    const double dealt = ceil(whole->count / split);
    if (whole->count > 0 && split > 1) {
        of.bytes *= fmin(1, whole->count / split / dealt);
        of.count = dealt;
    }
    of.near_count = ceil(whole->near_count / split);
    of.far_count = ceil(whole->far_count / split);
    return of;
}

hl_comm_time_span hl_comm_predictor_copy(const hl_comm_predictor *self, haul_direction direction,
                                         double bytes)
{
    const haul_copy of = {
        .direction = direction, .memory = HAUL_MEMORY_PINNED, .bytes = (uint64_t)bytes};
    const haul_copy_curve *curve =
        haul_machine_curve(self->machine, direction, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR);
    haul_estimate estimate;
    haul_error error;
    const haul_copy_model *model = haul_copy_model_at(0); /* auto */
    if (!model || model->time(self->machine, &of, &estimate, &error)) {
        if (!*self->out->missing)
            (void)snprintf(self->out->missing, sizeof self->out->missing, "copies[%s pinned]",
                           haul_direction_text(direction));
        return (hl_comm_time_span){0, 0, 0};
    }
    rest_on(self, estimate.weakest);
    /* without the call's share the device's time alone stands for the host's */
    const double call_s = curve ? curve->call_latency_s.value : 0;
    rest_on(self, curve && call_s > 0 ? curve->call_latency_s.provenance : HAUL_PROVENANCE_ASSUMED);
    return (hl_comm_time_span){estimate.seconds + call_s, estimate.low_s + call_s,
                               estimate.high_s + call_s};
}

const haul_copy_curve *hl_comm_predictor_shared(const hl_comm_predictor *self,
                                                haul_direction direction)
{
    const haul_copy_curve *curve =
        haul_machine_curve(self->machine, direction, HAUL_MEMORY_PINNED, HAUL_LOCALITY_NEAR);
    if (curve && curve->shared_rate_Bps.provenance) {
        rest_on(self, curve->shared_rate_Bps.provenance);
        return curve;
    }
    if (!*self->out->missing)
        (void)snprintf(self->out->missing, sizeof self->out->missing,
                       "copies[%s pinned].shared_rate", haul_direction_text(direction));
    return NULL;
}
