/* The figures of Bienz et al. for any machine: the models of exchange_costs.c over sizes, numbers
 * of processes and numbers of messages. */
#include "haul/message_figures.h"

#include <math.h>
#include <stdio.h>

#include "base/fail.h"
#include "comm/exchange_parts.h"
#include "comm/message_cost.h"

enum { WAYS = 2, SPLITS = 4, COUNTS = 6 };

static const uint64_t split_bytes[SPLITS] = {4 << 10, 64 << 10, 512 << 10, 4 << 20};
static const char *const split_names[SPLITS] = {"4 KiB", "64 KiB", "512 KiB", "4 MiB"};
static const uint32_t counts[COUNTS] = {1, 2, 4, 8, 16, 64};

/* One message of each of so many processes of a node: the postal model within it, the max-rate
 * model between nodes (eqs. 1 and 2). */
static double message_s(const haul_machine *machine, haul_memory memory, haul_reach reach,
                        double processes, double bytes)
{
    double measured;
    const haul_message_protocol *of =
        hl_comm_message_protocol_of(machine, memory, reach, bytes, &measured);
    if (!of)
        return (double)NAN;
    const double alone_s = hl_comm_serial_s(machine, of, 1, bytes);
    return reach < HAUL_REACH_BETWEEN_NODES
               ? alone_s
               : fmax(alone_s, hl_comm_node_s(machine, of, processes, bytes));
}

static void make_pairs(const haul_machine *machine, haul_message_figure *out)
{
    static const char *const reaches[] = {"socket", "node", "network"};
    static const haul_memory memories[] = {HAUL_MEMORY_HOST, HAUL_MEMORY_DEVICE};
    out->lines = HAUL_FIGURE_LINES;
    for (size_t l = 0; l < out->lines; l++) {
        const haul_memory memory = memories[l / 3];
        (void)snprintf(out->names[l], sizeof out->names[l], "%s %s", haul_memory_text(memory),
                       reaches[l % 3]);
        for (size_t i = 0; i < out->points; i++)
            out->y[l][i] = message_s(machine, memory, (haul_reach)(l % 3), 1, (double)out->x[i]);
    }
}

/* The two ways of so many messages of a GPU; NaN where the machine lacks a parameter. */
static void make_ways(const haul_machine *machine, uint32_t messages, uint64_t bytes,
                      double seconds[WAYS])
{
    haul_way_time times[HAUL_WAYS_PREDICTED];
    const haul_exchange of = {.messages = messages, .bytes = bytes};
    seconds[0] = seconds[1] = (double)NAN;
    if (haul_exchange_predict(machine, &of, times, NULL))
        return;
    for (int i = 0; i < HAUL_WAYS_PREDICTED; i++)
        if (times[i].way == HAUL_WAY_DIRECT || times[i].way == HAUL_WAY_THREE_STEP)
            seconds[times[i].way == HAUL_WAY_THREE_STEP] = times[i].seconds;
}

static void make_split(const haul_machine *machine, haul_message_figure *out)
{
    const uint64_t cores = (uint64_t)fmax(1, machine->host.cores.value);
    uint64_t processes = 0;
    out->lines = SPLITS;
    for (out->points = 0; processes < cores && out->points < HAUL_FIGURE_POINTS; out->points++) {
        const size_t at = out->points;
        processes = at && 2 * processes < cores ? 2 * processes : at ? cores : 1;
        out->x[at] = processes;
        const double p = (double)processes;
        for (size_t l = 0; l < SPLITS; l++) {
            (void)snprintf(out->names[l], sizeof out->names[l], "%s", split_names[l]);
            out->y[l][at] = message_s(machine, HAUL_MEMORY_HOST, HAUL_REACH_BETWEEN_NODES, p,
                                      (double)split_bytes[l] / p);
        }
    }
}

haul_status haul_message_figures_make(const haul_machine *machine,
                                      haul_message_figure figures[HAUL_FIGURES], haul_error *error)
{
    haul_message_figure *ways = &figures[HAUL_FIGURE_WAYS], *gain = &figures[HAUL_FIGURE_GAIN];
    if (isnan(message_s(machine, HAUL_MEMORY_HOST, HAUL_REACH_BETWEEN_NODES, 1, 1)))
        return hl_comm_lacks(machine, "messages[host network]", error);
    for (int f = 0; f < HAUL_FIGURES; f++) {
        figures[f] = (haul_message_figure){.points = HAUL_FIGURE_POINTS};
        for (int i = 0; i < HAUL_FIGURE_POINTS; i++)
            figures[f].x[i] = UINT64_C(1) << i;
    }
    make_pairs(machine, &figures[HAUL_FIGURE_PAIRS]);
    make_split(machine, &figures[HAUL_FIGURE_SPLIT]);
    ways->lines = WAYS;
    gain->lines = COUNTS;
    for (size_t l = 0; l < COUNTS; l++)
        for (size_t i = 0; i < gain->points; i++) {
            double seconds[WAYS];
            make_ways(machine, counts[l], gain->x[i], seconds);
            (void)snprintf(gain->names[l], sizeof gain->names[l], "%u message%s",
                           (unsigned)counts[l], counts[l] > 1 ? "s" : "");
            gain->y[l][i] = seconds[0] / seconds[1];
            for (int w = 0; w < WAYS && !l; w++) {
                (void)snprintf(
                    ways->names[w], sizeof ways->names[w], "%s",
                    haul_way_text(w ? HAUL_WAY_THREE_STEP : HAUL_WAY_DIRECT, HAUL_MEMORY_DEVICE));
                ways->y[w][i] = seconds[w];
            }
        }
    return HAUL_OK;
}
