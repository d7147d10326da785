/* Predicted time of each way for a communicator, by the predictors of comm/, and the ways that it
 * can take. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "comm/host_exchange.h"
#include "comm/message_cost.h"
#include "mpi/mpi_parts.h"

enum { AGGREGATED_MOST = 1 << 22, BRUCK_MOST = 1 << 24 };

/* How MPI makes its own collective is not known: of the published measured by predicted times of
 * Summit (docs/accuracy/messages.md) the ends lie about so far apart. */
static const double own_low = 0.4, own_high = 2.5;

static double of_way(hl_comm_host_exchange *of, haul_way way, bool is_all, double team)
{
    switch (way) {
    case HAUL_WAY_PLAIN:
        return is_all ? fmin(hl_comm_host_direct(of, 1), hl_comm_host_bruck(of))
                      : hl_comm_host_direct(of, 1);
    case HAUL_WAY_AGGREGATED:
        return hl_comm_host_aggregated(of);
    case HAUL_WAY_BRUCK:
        return hl_comm_host_bruck(of);
    case HAUL_WAY_EXTRA_MESSAGE:
        return hl_comm_host_spread(of, team) + hl_comm_host_direct(of, team);
    default:
        return hl_comm_host_direct(of, 1);
    }
}

static bool can_go(const haul_comm *self, const hl_mpi_shape *shape, haul_way way)
{
    const hl_mpi_layout *layout = &self->layout;
    const bool has_team = layout->team_start[layout->owners] > layout->owners;
    const bool is_native = !shape->on_device || self->is_device_aware;
    switch (way) {
    case HAUL_WAY_PLAIN:
        return shape->kind != HAUL_EXCHANGE_MESSAGES && shape->largest <= INT_MAX && is_native;
    case HAUL_WAY_DIRECT:
        return is_native;
    case HAUL_WAY_AGGREGATED:
        return layout->nodes > 1 && layout->most > 1 &&
               shape->bytes + HL_COMM_ENTRY_BYTES * shape->messages <=
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
static void predict_device(const haul_comm *self, const hl_mpi_shape *shape,
                           hl_mpi_time times[HAUL_WAYS])
{
    const hl_mpi_layout *layout = &self->layout;
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
    haul_way_time found[HAUL_WAYS_PREDICTED];
    if (haul_exchange_predict(self->machine, &of, found, NULL))
        return;
    for (int p = 0; p < HAUL_WAYS_PREDICTED; p++) {
        hl_mpi_time *to = &times[found[p].way];
        to->seconds = found[p].seconds;
        to->low_s = found[p].low_s;
        to->high_s = found[p].high_s;
    }
    times[HAUL_WAY_PLAIN] = times[HAUL_WAY_DIRECT];
    times[HAUL_WAY_PLAIN].way = HAUL_WAY_PLAIN;
}

static void predict_host(const haul_comm *self, const hl_mpi_shape *shape,
                         hl_mpi_time times[HAUL_WAYS])
{
    const hl_mpi_layout *layout = &self->layout;
    const double others = layout->owners - 1, messages = (double)shape->messages;
    const double outside = others > 0 ? (layout->owners - layout->most) / others : 0;
    const double team = (double)layout->team_start[layout->owners] / layout->owners;
    hl_comm_host_exchange of = {.machine = self->machine,
                                .owners = layout->owners,
                                .most = layout->most,
                                .nodes = layout->nodes,
                                .far_count = messages * outside,
                                .near_count = messages * (1 - outside),
                                .bytes = messages > 0 ? (double)shape->bytes / messages : 0};
    for (int way = HAUL_WAY_PLAIN; way < HAUL_WAYS; way++) {
        of.error = 0;
        const double time = of_way(&of, (haul_way)way, shape->kind == HAUL_EXCHANGE_ALL, team);
        const bool is_own = way == HAUL_WAY_PLAIN;
        const bool agrees = !hl_mpi_spares_agreement(self, shape->kind, (haul_way)way);
        const double agreed =
            agrees ? hl_comm_host_agreement(&of, HL_MPI_AGREED * sizeof(uint64_t)) : 0;
        const double tail = HL_COMM_MESSAGE_TAIL * of.error;
        times[way].seconds = time + agreed;
        times[way].low_s = time * (is_own ? own_low : 1 - fmin(tail, 0.5)) + agreed * own_low;
        times[way].high_s = time * (is_own ? own_high : 1 + tail) + agreed * own_high;
    }
}

haul_way hl_mpi_usual_way(const hl_mpi_shape *shape)
{
    const bool is_own = shape->kind != HAUL_EXCHANGE_MESSAGES && shape->largest <= INT_MAX;
    return is_own ? HAUL_WAY_PLAIN : HAUL_WAY_DIRECT;
}

size_t hl_mpi_predict(const haul_comm *self, const hl_mpi_shape *shape,
                      hl_mpi_time times[HAUL_WAYS])
{
    /* Without a machine's model the first two of these that can make the exchange are measured. */
    static const haul_way tried_first[] = {HAUL_WAY_PLAIN,         HAUL_WAY_DIRECT,
                                           HAUL_WAY_AGGREGATED,    HAUL_WAY_BRUCK,
                                           HAUL_WAY_EXTRA_MESSAGE, HAUL_WAY_THREE_STEP,
                                           HAUL_WAY_CHUNKED,       HAUL_WAY_DUPLICATE_POINTER};
    hl_mpi_time all[HAUL_WAYS];
    size_t count = 0;
    for (int way = HAUL_WAY_PLAIN; way < HAUL_WAYS; way++)
        all[way] = (hl_mpi_time){(haul_way)way, (double)NAN, (double)NAN, (double)NAN, (double)NAN};
    if (self->machine && shape->on_device)
        predict_device(self, shape, all);
    else if (self->machine)
        predict_host(self, shape, all);
    for (size_t i = 0; i < sizeof tried_first / sizeof *tried_first; i++) {
        const haul_way way = tried_first[i];
        if (!can_go(self, shape, way))
            continue;
        size_t at = count++; /* unknown times last */
        for (; at > 0 && (all[way].seconds < times[at - 1].seconds ||
                          (isnan(times[at - 1].seconds) && !isnan(all[way].seconds)));
             at--)
            times[at] = times[at - 1];
        times[at] = all[way];
    }
    return count;
}
