/* The parameters of a message's time on a machine. */
#ifndef HAUL_COMM_MESSAGE_COST_H
#define HAUL_COMM_MESSAGE_COST_H

#include "haul/machine.h"

/* Errors are distributed as Laplace's: the 90th percentile is ln 10 / ln 2 times the median. */
#define HL_COMM_MESSAGE_TAIL 3.32

/* The protocol of a size, or NULL. *measured: the largest size that any protocol of this memory and
 * reach was measured with, 0 where none says so. */
const haul_message_protocol *hl_comm_message_protocol_of(const haul_machine *machine,
                                                         haul_memory memory, haul_reach reach,
                                                         double bytes, double *measured);

/* Seconds that each message after the first adds beside its bytes. */
double hl_comm_message_gap(const haul_machine *machine, const haul_message_protocol *protocol,
                           double bytes);

/* The rate of a node while so many of its processes send, latencies apart, in bytes per second;
 * infinite where it was not measured. */
double hl_comm_injection_rate(const haul_machine *machine, haul_memory memory, double processes);

/* `count` messages of `bytes` from one process, one after another: alpha + beta n of the first, gap
 * + beta n of each behind. */
double hl_comm_postal_s(const haul_machine *machine, const haul_message_protocol *protocol,
                        double count, double bytes);

/* The same with the first as it was measured, where sizes around it were. */
double hl_comm_serial_s(const haul_machine *machine, const haul_message_protocol *protocol,
                        double count, double bytes);

/* So many processes of a node that send `bytes` each, by the node's rate. */
double hl_comm_node_s(const haul_machine *machine, const haul_message_protocol *protocol,
                      double processes, double bytes);

#endif
