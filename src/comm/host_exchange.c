#include "comm/host_exchange.h"

#include <math.h>

#include "comm/message_cost.h"

/* Of one core that packs, where the machine does not say. */
static const double usual_copy_rate = 5e9;

static double copy_rate(const hl_comm_host_exchange *self)
{
    const double rate = self->machine->host.copy_rate_Bps.value;
    return rate > 0 ? rate : usual_copy_rate;
}

/* `count` messages of `bytes`, one after another, while `processes` of the node send alike. */
static double serial(hl_comm_host_exchange *self, haul_reach reach, double count, double bytes,
                     double processes)
{
    double measured;
    const haul_machine *machine = self->machine;
    if (!(count > 0))
        return 0;
    const haul_message_protocol *of =
        hl_comm_message_protocol_of(machine, HAUL_MEMORY_HOST, reach, bytes, &measured);
    for (int other = HAUL_REACH_ON_SOCKET; !of && other <= HAUL_REACH_BETWEEN_NODES; other++)
        of = hl_comm_message_protocol_of(machine, HAUL_MEMORY_HOST, (haul_reach)other, bytes,
                                         &measured);
    if (!of)
        return (double)NAN;
    self->error = fmax(self->error, of->error.value);
    const double time = hl_comm_serial_s(machine, of, count, bytes);
    return reach == HAUL_REACH_BETWEEN_NODES
               ? fmax(time, hl_comm_node_s(machine, of, processes, count * bytes))
               : time;
}

/* Of `count`, a product of shares, each of a team's processes sends so many. */
static double messages_each(double count, double split)
{
    return ceil(count / split - 1e-6);
}

/* Messages within the node arrive while those to other nodes are on their way. */
double hl_comm_host_direct(hl_comm_host_exchange *self, double split)
{
    const double owners = self->most, near = messages_each(self->near_count, split);
    const double first = serial(self, HAUL_REACH_ON_NODE, 1, self->bytes, owners);
    const double far = serial(self, HAUL_REACH_BETWEEN_NODES, messages_each(self->far_count, split),
                              self->bytes, owners * split);
    const double within = serial(self, HAUL_REACH_ON_NODE, near, self->bytes, owners);
    const double gap = serial(self, HAUL_REACH_ON_NODE, 2, self->bytes, owners) - first;
    return far > 0 && near > 0 ? fmax(within, far + near * gap) : far + within;
}

/* log2 P rounds of about P/2 blocks, each packed and unpacked (Bruck et al., 1997). In a round of
 * `step` only so many processes of a node of consecutive ones send beyond it. Of the messages
 * that follow from each other in rounds of steps below that number, as many leave the node as their
 * distance has nodes. */
double hl_comm_host_bruck(hl_comm_host_exchange *self)
{
    const int owners = self->owners, most = self->most;
    double time = 4 * self->bytes * owners / copy_rate(self), saved = 0, saved_most = 0;
    int apart = 0;
    for (int step = 1; step < owners; step *= 2) {
        const int rest = owners % (2 * step) - step;
        const int blocks = owners / (2 * step) * step + (rest > 0 ? rest : 0);
        const double block = self->bytes * blocks, leave = step < most ? step : most;
        const haul_reach reach = self->nodes > 1 ? HAUL_REACH_BETWEEN_NODES : HAUL_REACH_ON_NODE;
        const double far = serial(self, reach, 1, block, leave);
        const double near = step < most ? serial(self, HAUL_REACH_ON_NODE, 1, block, leave) : far;
        time += far + 2 * block / copy_rate(self);
        apart += step < most ? step : 0;
        saved += fmax(far - near, 0);
        saved_most = fmax(saved_most, far - near);
    }
    return time - fmax(saved - ceil((double)apart / most) * saved_most, 0);
}

/* The busiest process talks to `talks` of the other nodes, and hands on to each of its node what
 * they send it; where there are fewer nodes than processes, most bundles of the first step are
 * empty. */
double hl_comm_host_aggregated(hl_comm_host_exchange *self)
{
    const double most = self->most, others = self->nodes - 1, mates = most - 1;
    const double far = self->far_count * (self->bytes + HL_COMM_ENTRY_BYTES);
    const double near = self->near_count * (self->bytes + HL_COMM_ENTRY_BYTES);
    const double talks = ceil(others / most), loaded = fmin(others, mates);
    const double kept = floor(others / most) / others;
    const double empty = serial(self, HAUL_REACH_ON_NODE, 2, HL_COMM_ENTRY_BYTES, most) -
                         serial(self, HAUL_REACH_ON_NODE, 1, HL_COMM_ENTRY_BYTES, most);
    return serial(self, HAUL_REACH_ON_NODE, loaded, far * (1 - kept) / loaded, most) +
           (mates - loaded) * empty +
           serial(self, HAUL_REACH_BETWEEN_NODES, talks, most * far / others, others / talks) +
           serial(self, HAUL_REACH_ON_NODE, mates, talks * far / others + near / mates, most) +
           (4 * far + 2 * near) / copy_rate(self);
}

/* The data handed to the team and back: two more messages of each share. */
double hl_comm_host_spread(hl_comm_host_exchange *self, double team)
{
    const double all = (self->far_count + self->near_count) * self->bytes;
    return 2 * serial(self, HAUL_REACH_ON_NODE, team - 1, all / team, 1) +
           2 * all / copy_rate(self);
}

/* A reduction of a few numbers, in log2 P rounds. */
double hl_comm_host_agreement(hl_comm_host_exchange *self, double bytes)
{
    const double most = self->most;
    const haul_reach far = self->nodes > 1 ? HAUL_REACH_BETWEEN_NODES : HAUL_REACH_ON_NODE;
    double time = 0;
    for (int step = 1; step < self->owners; step *= 2)
        time += serial(self, step < most ? HAUL_REACH_ON_NODE : far, 1, bytes, most);
    return time;
}
