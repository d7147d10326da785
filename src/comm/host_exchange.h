/* Exchanges between the memories of hosts, by postal and max-rate terms: what each way of them
 * takes. */
#ifndef HAUL_COMM_HOST_EXCHANGE_H
#define HAUL_COMM_HOST_EXCHANGE_H

#include "haul/machine.h"

/* The exchange of the busiest process. */
typedef struct hl_comm_host_exchange {
    const haul_machine *machine;
    int owners;        /* processes with data of their own */
    int most;          /* of them on a node */
    int nodes;         /* that have any */
    double far_count;  /* messages of an owner to other nodes */
    double near_count; /* within its own */
    double bytes;      /* of one */
    double error;      /* the largest of the terms' that the last times rest on */
} hl_comm_host_exchange;

/* Bytes before each message in a bundle. */
enum { HL_COMM_ENTRY_BYTES = 16 };

/* Each sets `error` to at least that of its terms, and returns seconds, NaN where the machine lacks
 * messages. */

/* A message to each peer, of an owner whose data `split` processes send. */
double hl_comm_host_direct(hl_comm_host_exchange *self, double split);

/* MPI_Alltoall in log2 P rounds (Bruck et al., 1997). */
double hl_comm_host_bruck(hl_comm_host_exchange *self);

/* One message between each two nodes. Needs two nodes and two processes on one. */
double hl_comm_host_aggregated(hl_comm_host_exchange *self);

/* The data handed to a team of so many processes and back, beside what these send. */
double hl_comm_host_spread(hl_comm_host_exchange *self, double team);

/* A reduction of so few bytes that latencies alone count. */
double hl_comm_host_agreement(hl_comm_host_exchange *self, double bytes);

#endif
