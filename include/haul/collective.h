/* Collective operations in profiles: kernels of NCCL, RCCL and their like, which move data between
 * GPUs. haul_op_is_collective (haul/workload.h) tells them from other kernels.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_COLLECTIVE_H
#define HAUL_COLLECTIVE_H

#include "haul/workload.h"

HAUL_BEGIN

/* name in reports */
#define HAUL_COLLECTIVE_LIST(X)                                                                    \
    X(ALL_REDUCE, "all-reduce")                                                                    \
    X(REDUCE_SCATTER, "reduce-scatter")                                                            \
    X(ALL_GATHER, "all-gather")                                                                    \
    X(ALL_TO_ALL, "all-to-all")                                                                    \
    X(BROADCAST, "broadcast")                                                                      \
    X(REDUCE, "reduce")                                                                            \
    X(SEND_RECEIVE, "send-receive")                                                                \
    X(OTHER, "collective")

typedef enum haul_collective_kind {
#define HAUL_COLLECTIVE_ENUM(name, text) HAUL_COLLECTIVE_##name,
    HAUL_COLLECTIVE_LIST(HAUL_COLLECTIVE_ENUM)
#undef HAUL_COLLECTIVE_ENUM
        HAUL_COLLECTIVES
} haul_collective_kind;

HAUL_API const char *haul_collective_text(haul_collective_kind kind);

/* One collective operation of a profile. */
typedef struct haul_communication {
    haul_collective_kind kind;
    uint32_t ranks;     /* 0: not known */
    uint64_t bytes;     /* its size as nccl-tests has it: of an all-reduce, reduce and broadcast the
                         * buffer, of others all that a rank sends or receives; 0: not known */
    uint32_t data_type; /* string ids; HAUL_NONE: not known */
    uint32_t group;
} haul_communication;

/* Of a collective's kernel: by the arguments that the profiler recorded, else from its name, which
 * tells no size. */
HAUL_API haul_communication haul_communication_of(const haul_workload *workload,
                                                  const haul_op *kernel);

/* The bytes that each GPU sends, the share of `bytes` that the links carry: 2(n-1)/n of an
 * all-reduce of n ranks, (n-1)/n of a reduce-scatter, all-gather and all-to-all, all of others
 * (nccl-tests, doc/PERFORMANCE.md). Two ranks where their number is not known. */
HAUL_API double haul_communication_moved(const haul_communication *of);

/* Operations that are alike. */
typedef struct haul_communication_use {
    haul_communication of;
    uint64_t count;
    int64_t time_ns;
    int64_t median_ns;
    int64_t shortest_ns;
} haul_communication_use;

/* The collectives of a workload, those with the most time first. The caller frees *uses. Returns
 * NO_MEMORY. */
HAUL_API haul_status haul_communication_uses(const haul_workload *workload,
                                             haul_communication_use **uses, size_t *count,
                                             haul_error *error);

HAUL_END

#endif
