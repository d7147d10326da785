/* Files for simulators of networks: GOAL, the schedules that LogGOPSim and htsim read (Hoefler,
 * Schneider, Lumsdaine, HPDC 2010), and SimGrid's platforms.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_GOAL_H
#define HAUL_GOAL_H

#include <stdio.h>

#include "haul/exchange.h"

HAUL_BEGIN

/* Writes a recorded program: each copy, kernel and memset takes its recorded time, on a CPU for
 * each stream, behind what it depends on and the pause before it; collectives of all ranks become
 * the sends and receives of rings and pairs. Ranks are those of the devices; of one recorded rank
 * all others of its collectives' group do the same. Collectives of a part of the ranks, and of
 * unknown size or partner, keep their time; *kept counts them. Returns BAD_INPUT where ranks differ
 * in their collectives, NO_MEMORY, IO. */
HAUL_API haul_status haul_goal_write_workload(const haul_workload *workload, FILE *out,
                                              uint64_t *kept, haul_error *error);

/* Writes one way of an exchange, as haul_exchange_predict gives it: a rank for each process of all
 * nodes; copies, and messages within the node of extra-message, take their predicted time. A first
 * line of comment has the time and the parameters with which LogGOPSim comes to it, where the time
 * is known. Returns BAD_INPUT, MISSING, IO. */
HAUL_API haul_status haul_goal_write_exchange(const haul_machine *machine,
                                              const haul_exchange *exchange,
                                              const haul_way_time *time, FILE *out,
                                              haul_error *error);

/* Writes a SimGrid platform (DTD 4.1) of `nodes` nodes: a link for each of the node's injection
 * rate and latency, SMPI's latency and bandwidth factors by message size, and a loopback for
 * messages within it. Returns MISSING, naming the parameter, for a machine without messages of
 * hosts between nodes; BAD_INPUT for no nodes; IO. */
HAUL_API haul_status haul_simgrid_write(const haul_machine *machine, uint32_t nodes, FILE *out,
                                        haul_error *error);

HAUL_END

#endif
