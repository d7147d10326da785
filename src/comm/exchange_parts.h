/* What the ways of an exchange are made of: messages of a process, copies of a GPU, by a machine's
 * parameters. The formulas (exchange.c) add them up, the workload (exchange_plan.c) schedules them.
 */
#ifndef HAUL_COMM_EXCHANGE_PARTS_H
#define HAUL_COMM_EXCHANGE_PARTS_H

#include <math.h>

#include "haul/exchange.h"

typedef struct haul_predictor {
    const haul_machine *machine;
    const haul_exchange *exchange;
    double gpus;         /* of a node */
    double cores;        /* of a GPU */
    double near;         /* GPUs of the same socket, without the own */
    double far;          /* GPUs of other sockets of the node */
    double others;       /* GPUs of other nodes */
    haul_path_time *out; /* takes what is missing and what times rest on */
} haul_predictor;

/* A sum of times with its interval. */
typedef struct haul_time_span {
    double likely, low, high;
} haul_time_span;

static inline haul_time_span haul_plus(haul_time_span a, haul_time_span b)
{
    return (haul_time_span){a.likely + b.likely, a.low + b.low, a.high + b.high};
}

static inline haul_time_span haul_most(haul_time_span a, haul_time_span b)
{
    return (haul_time_span){fmax(a.likely, b.likely), fmax(a.low, b.low), fmax(a.high, b.high)};
}

static inline haul_time_span haul_times(double factor, haul_time_span a)
{
    return (haul_time_span){factor * a.likely, factor * a.low, factor * a.high};
}

/* What a GPU's data make a process send: messages to other nodes, then within its own. */
typedef struct haul_load {
    double count, bytes;           /* to other nodes; of one */
    double near_count, near_bytes; /* within the socket */
    double far_count, far_bytes;   /* within the node */
    double rounds;                 /* of all these, each after the one before has arrived */
    double rotation_s;             /* of the data, before the first round and after the last */
} haul_load;

/* What one GPU of an exchange sends, and what is copied out of it and into it. */
typedef struct haul_gpu_share {
    haul_load load;
    double out_bytes;
    double in_bytes;
} haul_gpu_share;

/* Checks an exchange and sets what it is on a machine; what is found on the way goes into *out.
 * Returns BAD_INPUT. */
haul_status haul_predictor_init(haul_predictor *self, const haul_machine *machine,
                                const haul_exchange *exchange, haul_path_time *out,
                                haul_gpu_share *share, haul_error *error);

/* The protocol of a size; NULL, noted as missing, where there is none. */
const haul_message_protocol *haul_predictor_protocol(const haul_predictor *self, haul_memory memory,
                                                     haul_reach reach, double bytes);

/* The load of each of `split` processes that share a GPU's. Point-to-point messages are dealt out
 * whole where there are enough, else cut; those of MPI_Alltoall are all cut, for each process
 * exchanges its share with all (section VI), by the faster of its two algorithms. */
haul_load haul_predictor_dealt(const haul_predictor *self, haul_memory memory,
                               const haul_load *whole, double split);

/* The messages of a process that was dealt its load, while all of its node send alike; without
 * `is_limited` as if alone. */
haul_time_span haul_predictor_messages(const haul_predictor *self, haul_memory memory,
                                       const haul_load *of, double split, bool is_limited);

/* `count` messages of `bytes` from one process, one after another: alpha + beta n of the first, gap
 * + beta n of each behind. */
haul_time_span haul_predictor_serial(const haul_predictor *self, haul_memory memory,
                                     haul_reach reach, double count, double bytes);

/* A message to another core of the socket. */
haul_time_span haul_predictor_spread(const haul_predictor *self, double bytes);

/* One of `chunks` equal parts of a load. */
haul_load haul_predictor_chunk(const haul_load *whole, double chunks);

/* A copy of one process as the host sees it. */
haul_time_span haul_predictor_copy(const haul_predictor *self, haul_direction direction,
                                   double bytes);

/* The curve with the parameters of processes that copy from or to one GPU at once: each after the
 * first adds shared_latency_s, and all share shared_rate_Bps. NULL, noted as missing, without. */
const haul_copy_curve *haul_predictor_shared(const haul_predictor *self, haul_direction direction);

#endif
