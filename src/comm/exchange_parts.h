/* Parts of every way of an exchange: messages of a process, copies of a GPU, by a machine's
 * parameters. The formulas (exchange.c) add them up, the workload (exchange_plan.c) schedules them.
 */
#ifndef HAUL_COMM_EXCHANGE_PARTS_H
#define HAUL_COMM_EXCHANGE_PARTS_H

#include <math.h>

#include "haul/exchange.h"

typedef struct hl_comm_predictor {
    const haul_machine *machine;
    const haul_exchange *exchange;
    double gpus;        /* of a node */
    double cores;       /* of a GPU */
    double near;        /* GPUs of the same socket, without the own */
    double far;         /* GPUs of other sockets of the node */
    double others;      /* GPUs of other nodes */
    double reached;     /* other nodes that a GPU's messages of an all-to-all-v go to */
    haul_way_time *out; /* takes what is missing and what times rest on */
} hl_comm_predictor;

/* A sum of times with its interval. */
typedef struct hl_comm_time_span {
    double likely, low, high;
} hl_comm_time_span;

static inline hl_comm_time_span hl_comm_plus(hl_comm_time_span a, hl_comm_time_span b)
{
    return (hl_comm_time_span){a.likely + b.likely, a.low + b.low, a.high + b.high};
}

static inline hl_comm_time_span hl_comm_most(hl_comm_time_span a, hl_comm_time_span b)
{
    return (hl_comm_time_span){fmax(a.likely, b.likely), fmax(a.low, b.low), fmax(a.high, b.high)};
}

static inline hl_comm_time_span hl_comm_times(double factor, hl_comm_time_span a)
{
    return (hl_comm_time_span){factor * a.likely, factor * a.low, factor * a.high};
}

/* A process's messages for a GPU's data: to other nodes, then within its own. */
typedef struct hl_comm_load {
    double count, bytes;           /* to other nodes; of one */
    double near_count, near_bytes; /* within the socket */
    double far_count, far_bytes;   /* within the node */
    double rounds;                 /* of all these, each after the one before has arrived */
    double rotation_s;             /* of the data, before the first round and after the last */
} hl_comm_load;

/* One GPU's messages in an exchange, and the copies out of it and into it. */
typedef struct hl_comm_gpu_share {
    hl_comm_load load;
    double out_bytes;
    double in_bytes;
} hl_comm_gpu_share;

/* Sets MISSING, with what the machine lacks and how it is measured. */
haul_status hl_comm_lacks(const haul_machine *machine, const char *missing, haul_error *error);

/* Checks an exchange and sets what it is on a machine; what is found on the way goes into *out.
 * Returns BAD_INPUT. */
haul_status hl_comm_predictor_init(hl_comm_predictor *self, const haul_machine *machine,
                                   const haul_exchange *exchange, haul_way_time *out,
                                   hl_comm_gpu_share *share, haul_error *error);

/* The protocol of a size; NULL, noted as missing, where there is none. */
const haul_message_protocol *hl_comm_predictor_protocol(const hl_comm_predictor *self,
                                                        haul_memory memory, haul_reach reach,
                                                        double bytes);

/* The load of each of `split` processes that share a GPU's. Point-to-point messages are dealt out
 * whole where there are enough, else cut; those of MPI_Alltoall are all cut, for each process
 * exchanges its share with all (section VI), by the faster of its two algorithms. */
hl_comm_load hl_comm_predictor_dealt(const hl_comm_predictor *self, haul_memory memory,
                                     const hl_comm_load *whole, double split);

/* The messages of a process that was dealt its load, while all of its node send alike; without
 * `is_limited` as if alone. */
hl_comm_time_span hl_comm_predictor_messages(const hl_comm_predictor *self, haul_memory memory,
                                             const hl_comm_load *of, double split, bool is_limited);

/* The rate of a node while `split` processes of each GPU send; infinite where it is not known. */
double hl_comm_predictor_node_rate(const hl_comm_predictor *self, haul_memory memory, double split);

/* `count` messages of `bytes` from one process, one after another: alpha + beta n of the first, gap
 * + beta n of each behind. */
hl_comm_time_span hl_comm_predictor_serial(const hl_comm_predictor *self, haul_memory memory,
                                           haul_reach reach, double count, double bytes);

/* A message to another core of the socket. */
hl_comm_time_span hl_comm_predictor_spread(const hl_comm_predictor *self, double bytes);

/* One of `chunks` equal parts of a load. */
hl_comm_load hl_comm_predictor_chunk(const hl_comm_load *whole, double chunks);

/* A copy of one process as the host sees it. */
hl_comm_time_span hl_comm_predictor_copy(const hl_comm_predictor *self, haul_direction direction,
                                         double bytes);

/* The curve with the parameters of processes that copy from or to one GPU at once: each after the
 * first adds shared_latency_s, and all share shared_rate_Bps. NULL, noted as missing, without. */
const haul_copy_curve *hl_comm_predictor_shared(const hl_comm_predictor *self,
                                                haul_direction direction);

#endif
