/* The parameters of a message's time on a machine. */
#ifndef HAUL_COMM_MESSAGE_COST_H
#define HAUL_COMM_MESSAGE_COST_H

#include "haul/machine.h"

/* Errors are distributed as Laplace's: the 90th percentile is ln 10 / ln 2 times the median. */
#define HAUL_MESSAGE_TAIL 3.32

/* The protocol of a size, or NULL. *measured: the largest size that any protocol of this memory and
 * reach was measured with, 0 where none says so. */
const haul_message_protocol *haul_message_protocol_of(const haul_machine *machine,
                                                      haul_memory memory, haul_reach reach,
                                                      double bytes, double *measured);

/* What each message after the first adds beside its bytes, in seconds. */
double haul_message_gap(const haul_machine *machine, const haul_message_protocol *protocol,
                        double bytes);

/* The rate of a node while so many of its processes send, between the numbers that were measured,
 * in bytes per second; infinite where it was not. */
double haul_injection_rate(const haul_machine *machine, haul_memory memory, double processes);

#endif
