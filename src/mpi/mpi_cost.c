/* What each way takes by the machine's messages: of device memory as haul/exchange.h predicts it,
 * of the host's by the same postal and max-rate terms. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "comm/message_cost.h"
#include "mpi/mpi_parts.h"

enum { AGGREGATED_MOST = 1 << 22, BRUCK_MOST = 1 << 24, ENTRY_BYTES = 16 };

/* How MPI makes its own collective is not known: of the published measured by predicted times of
 * Summit (docs/accuracy.md) the ends lie about so far apart. */
static const double own_low = 0.4, own_high = 2.5;

/* Of one core that packs, where the machine does not say. */
static const double usual_copy_rate = 5e9;

typedef struct costs {
    const haul_machine *machine;
    const haul_mpi_shape *shape;
    const haul_mpi_layout *layout;
    double far, near; /* messages of an owner to other nodes, and within its own */
    double bytes;     /* of one */
    double copy_Bps;
    double error; /* the largest of the terms' */
} costs;

/* `count` messages of `bytes`, one after another, while `processes` of the node send alike. */
static double serial(costs *self, haul_reach reach, double count, double bytes, double processes)
{
    double measured;
    const haul_machine *machine = self->machine;
    if (!(count > 0))
        return 0;
    const haul_message_protocol *of =
        haul_message_protocol_of(machine, HAUL_HOST, reach, bytes, &measured);
    for (int other = HAUL_ON_SOCKET; !of && other <= HAUL_BETWEEN_NODES; other++)
        of = haul_message_protocol_of(machine, HAUL_HOST, (haul_reach)other, bytes, &measured);
    if (!of)
        return (double)NAN;
    self->error = fmax(self->error, of->error.value);
    const double each = of->rate_Bps.value > 0 ? bytes / of->rate_Bps.value : 0;
    const double time =
        of->latency_s.value + each + (count - 1) * (haul_message_gap(machine, of, bytes) + each);
    const double rate = reach == HAUL_BETWEEN_NODES
                            ? haul_injection_rate(machine, HAUL_HOST, processes)
                            : (double)INFINITY;
    return fmax(time, of->latency_s.value + processes * count * bytes / rate);
}

/* Of `count`, a product of shares, each of a team's processes sends so many. */
static double messages_each(double count, double split)
{
    return ceil(count / split - 1e-6);
}

/* Those within the node arrive while those to other nodes are on their way. */
static double direct(costs *self, double split)
{
    const double owners = self->layout->most, near = messages_each(self->near, split);
    const double first = serial(self, HAUL_ON_NODE, 1, self->bytes, owners);
    const double far = serial(self, HAUL_BETWEEN_NODES, messages_each(self->far, split),
                              self->bytes, owners * split);
    const double within = serial(self, HAUL_ON_NODE, near, self->bytes, owners);
    const double gap = serial(self, HAUL_ON_NODE, 2, self->bytes, owners) - first;
    return far > 0 && near > 0 ? fmax(within, far + near * gap) : far + within;
}

/* log2 P rounds of about P/2 blocks, each packed and unpacked (Bruck et al., 1997). In a round of
 * `step` only so many processes of a node of consecutive ones send beyond it. Of the messages
 * that follow from each other in rounds of steps below that number, as many leave the node as their
 * distance has nodes. */
static double bruck(costs *self)
{
    const int owners = self->layout->owners, most = self->layout->most;
    double time = 4 * self->bytes * owners / self->copy_Bps, saved = 0, saved_most = 0;
    int apart = 0;
    for (int step = 1; step < owners; step *= 2) {
        const int rest = owners % (2 * step) - step;
        const int blocks = owners / (2 * step) * step + (rest > 0 ? rest : 0);
        const double block = self->bytes * blocks, leave = step < most ? step : most;
        const haul_reach reach = self->layout->nodes > 1 ? HAUL_BETWEEN_NODES : HAUL_ON_NODE;
        const double far = serial(self, reach, 1, block, leave);
        const double near = step < most ? serial(self, HAUL_ON_NODE, 1, block, leave) : far;
        time += far + 2 * block / self->copy_Bps;
        apart += step < most ? step : 0;
        saved += fmax(far - near, 0);
        saved_most = fmax(saved_most, far - near);
    }
    return time - fmax(saved - ceil((double)apart / most) * saved_most, 0);
}

/* The busiest process talks to `talks` of the other nodes, and hands on to each of its node what
 * they send it; where there are fewer nodes than processes, most bundles of the first step are
 * empty. */
static double aggregated(costs *self)
{
    const double most = self->layout->most, others = self->layout->nodes - 1, mates = most - 1;
    const double far = self->far * (self->bytes + ENTRY_BYTES);
    const double near = self->near * (self->bytes + ENTRY_BYTES);
    const double talks = ceil(others / most), loaded = fmin(others, mates);
    const double kept = floor(others / most) / others;
    const double empty = serial(self, HAUL_ON_NODE, 2, ENTRY_BYTES, most) -
                         serial(self, HAUL_ON_NODE, 1, ENTRY_BYTES, most);
    return serial(self, HAUL_ON_NODE, loaded, far * (1 - kept) / loaded, most) +
           (mates - loaded) * empty +
           serial(self, HAUL_BETWEEN_NODES, talks, most * far / others, others / talks) +
           serial(self, HAUL_ON_NODE, mates, talks * far / others + near / mates, most) +
           (4 * far + 2 * near) / self->copy_Bps;
}

/* The data handed to the team and back: two more messages of each share. */
static double spread(costs *self, double team)
{
    const double all = (self->far + self->near) * self->bytes;
    return 2 * serial(self, HAUL_ON_NODE, team - 1, all / team, 1) + 2 * all / self->copy_Bps;
}

/* A reduction of a few numbers, in log2 P rounds. */
static double agreement(costs *self)
{
    const double bytes = HAUL_MPI_AGREED * sizeof(uint64_t), most = self->layout->most;
    const haul_reach far = self->layout->nodes > 1 ? HAUL_BETWEEN_NODES : HAUL_ON_NODE;
    double time = 0;
    for (int step = 1; step < self->layout->owners; step *= 2)
        time += serial(self, step < most ? HAUL_ON_NODE : far, 1, bytes, most);
    return time;
}

static double of_way(costs *self, haul_way way, double team)
{
    switch (way) {
    case HAUL_WAY_PLAIN:
        return self->shape->kind == HAUL_EXCHANGE_ALL ? fmin(direct(self, 1), bruck(self))
                                                      : direct(self, 1);
    case HAUL_WAY_AGGREGATED:
        return aggregated(self);
    case HAUL_WAY_BRUCK:
        return bruck(self);
    case HAUL_WAY_EXTRA_MESSAGE:
        return spread(self, team) + direct(self, team);
    default:
        return direct(self, 1);
    }
}

static bool can(const haul_comm *self, const haul_mpi_shape *shape, haul_way way)
{
    const haul_mpi_layout *layout = &self->layout;
    const bool has_team = layout->team_start[layout->owners] > layout->owners;
    const bool is_native = !shape->on_device || self->is_device_aware;
    switch (way) {
    case HAUL_WAY_PLAIN:
        return shape->kind != HAUL_EXCHANGE_MESSAGES && shape->largest <= INT_MAX && is_native;
    case HAUL_WAY_DIRECT:
        return is_native;
    case HAUL_WAY_AGGREGATED:
        return layout->nodes > 1 && layout->most > 1 &&
               shape->bytes + ENTRY_BYTES * shape->messages <=
                   AGGREGATED_MOST / (uint64_t)layout->most;
    case HAUL_WAY_BRUCK:
        return shape->kind == HAUL_EXCHANGE_ALL && layout->owners > 1 && shape->bytes <= BRUCK_MOST;
    case HAUL_WAY_EXTRA_MESSAGE:
        return has_team;
    case HAUL_WAY_DUPLICATE_POINTER:
        return shape->on_device && has_team && self->can_share;
    default:
        return shape->on_device;
    }
}

/* Times of haul/exchange.h for device memory; NaN where the machine lacks a parameter. */
static void predict_device(const haul_comm *self, const haul_mpi_shape *shape,
                           haul_mpi_time times[HAUL_WAYS])
{
    static const haul_way ways[HAUL_PATHS] = {
        [HAUL_PATH_DIRECT] = HAUL_WAY_DIRECT,
        [HAUL_PATH_THREE_STEP] = HAUL_WAY_THREE_STEP,
        [HAUL_PATH_EXTRA_MESSAGE] = HAUL_WAY_EXTRA_MESSAGE,
        [HAUL_PATH_DUPLICATE_POINTER] = HAUL_WAY_DUPLICATE_POINTER,
        [HAUL_PATH_CHUNKED] = HAUL_WAY_CHUNKED,
    };
    const haul_mpi_layout *layout = &self->layout;
    const double gpus = fmax(layout->most, self->machine->gpu.count.value);
    const double team = (double)layout->team_start[layout->owners] / layout->owners;
    const uint64_t messages = shape->messages ? shape->messages : 1;
    const uint64_t bytes = shape->bytes / messages ? shape->bytes / messages : 1;
    const haul_exchange of = {.kind = layout->owners > 1 ? shape->kind : HAUL_EXCHANGE_MESSAGES,
                              .nodes = (uint32_t)layout->nodes,
                              .gpus = (uint32_t)layout->most,
                              .cores = (uint32_t)(gpus * floor(team)),
                              .messages = (uint32_t)fmin((double)messages, INT_MAX),
                              .bytes = bytes};
    haul_path_time found[HAUL_PATHS];
    if (haul_exchange_predict(self->machine, &of, found, NULL))
        return;
    double copies_s = (double)NAN;
    for (int p = 0; p < HAUL_PATHS; p++) {
        haul_mpi_time *to = &times[ways[found[p].path]];
        to->seconds = found[p].seconds;
        to->low_s = found[p].low_s;
        to->high_s = found[p].high_s;
        if (found[p].path == HAUL_PATH_THREE_STEP)
            copies_s = found[p].copies_s;
    }
    times[HAUL_WAY_PLAIN] = times[HAUL_WAY_DIRECT];
    times[HAUL_WAY_PLAIN].way = HAUL_WAY_PLAIN;
    for (haul_way way = HAUL_WAY_AGGREGATED; way <= HAUL_WAY_BRUCK; way++) {
        times[way].seconds += copies_s;
        times[way].low_s += copies_s;
        times[way].high_s += copies_s;
    }
}

static void predict_host(const haul_comm *self, const haul_mpi_shape *shape,
                         haul_mpi_time times[HAUL_WAYS])
{
    const haul_mpi_layout *layout = &self->layout;
    const double others = layout->owners - 1, messages = (double)shape->messages;
    const double outside = others > 0 ? (layout->owners - layout->most) / others : 0;
    const double team = (double)layout->team_start[layout->owners] / layout->owners;
    const double host_rate = self->machine->host.copy_rate_Bps.value;
    costs of = {.machine = self->machine,
                .shape = shape,
                .layout = layout,
                .far = messages * outside,
                .near = messages * (1 - outside),
                .bytes = messages > 0 ? (double)shape->bytes / messages : 0,
                .copy_Bps = host_rate > 0 ? host_rate : usual_copy_rate};
    const bool is_spared = haul_mpi_spares_agreement(self, shape->kind, HAUL_WAY_DIRECT);
    for (int way = 0; way < HAUL_WAYS; way++) {
        of.error = 0;
        const double time = of_way(&of, (haul_way)way, team);
        const bool is_own = way == HAUL_WAY_PLAIN, agrees = way != HAUL_WAY_DIRECT && is_spared;
        const double agreed = agrees ? agreement(&of) : 0;
        const double tail = HAUL_MESSAGE_TAIL * of.error;
        times[way].seconds = time + agreed;
        times[way].low_s = time * (is_own ? own_low : 1 - fmin(tail, 0.5)) + agreed * own_low;
        times[way].high_s = time * (is_own ? own_high : 1 + tail) + agreed * own_high;
    }
}

size_t haul_mpi_predict(const haul_comm *self, const haul_mpi_shape *shape,
                        haul_mpi_time times[HAUL_WAYS])
{
    haul_mpi_time all[HAUL_WAYS];
    size_t count = 0;
    for (int way = 0; way < HAUL_WAYS; way++)
        all[way] =
            (haul_mpi_time){(haul_way)way, (double)NAN, (double)NAN, (double)NAN, (double)NAN};
    if (self->machine)
        predict_host(self, shape, all);
    if (self->machine && shape->on_device) {
        for (int way = 0; way < HAUL_WAYS; way++)
            if (way != HAUL_WAY_AGGREGATED && way != HAUL_WAY_BRUCK)
                all[way].seconds = all[way].low_s = all[way].high_s = (double)NAN;
        predict_device(self, shape, all);
    }
    for (int way = 0; way < HAUL_WAYS; way++) {
        if (!can(self, shape, (haul_way)way))
            continue;
        size_t at = count++; /* unknown times last, in the order of the list */
        for (; at > 0 && (all[way].seconds < times[at - 1].seconds ||
                          (isnan(times[at - 1].seconds) && !isnan(all[way].seconds)));
             at--)
            times[at] = times[at - 1];
        times[at] = all[way];
    }
    return count;
}
