/* Times of collectives on a machine's links, and how well their sizes predict those of a profile.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_COLLECTIVE_TIME_H
#define HAUL_COLLECTIVE_TIME_H

#include "haul/collective.h"
#include "haul/cost.h"
#include "haul/fit.h"

HAUL_BEGIN

/* name, text */
#define HAUL_COLLECTIVE_WAY_LIST(X)                                                                \
    X(RING, "ring")                                                                                \
    X(TREE, "tree")     /* a chain within each node, a tree of nodes */                            \
    X(DIRECT, "direct") /* from each rank to each that needs its data */

typedef enum haul_collective_way {
#define HAUL_COLLECTIVE_WAY_ENUM(name, text) HAUL_COLLECTIVE_WAY_##name,
    HAUL_COLLECTIVE_WAY_LIST(HAUL_COLLECTIVE_WAY_ENUM)
#undef HAUL_COLLECTIVE_WAY_ENUM
        HAUL_COLLECTIVE_WAYS
} haul_collective_way;

HAUL_API const char *haul_collective_way_text(haul_collective_way way);

/* The time of one way, by the fastest of NCCL's protocols. */
typedef struct haul_collective_way_time {
    haul_collective_way way;
    const char *protocol; /* "LL", "LL128", "simple" */
    double seconds, low_s, high_s;
    double latency_s; /* of all its hops; the rest is that of the bytes */
    bool is_library;  /* NCCL makes such operations so; others do it by kernels of their own */
    bool is_fitted;   /* to measured collectives */
    bool is_impossible;
    haul_provenance weakest;
} haul_collective_way_time;

/* Times of a collective in each way: T = start + hops latency + sent bytes / rate, with NCCL's
 * latencies and shares of the rate (its src/graph/tuning.cc).
 *
 * Ranks on `nodes` nodes; 0: as few as the machine's GPUs allow. Within a node they use NCCL's
 * share of the peak of all the links of a GPU that are not the host's, without such links PCIe;
 * between nodes a ring's or tree's bytes take the whole rate of a node, those from each to each its
 * GPUs' shares. Where `messages` of device memory of that reach were fitted (`haul comm fit` of
 * nccl-tests' output) their time of the bytes that a GPU sends is the library's; between nodes only
 * without injection, for with it they are of single pairs.
 *
 * Intervals: 25 % and the launches of one process for all GPUs of a node; of fitted times 15 % or
 * three times the fit's error. Returns MISSING for an operation of unknown size, and where the
 * machine does not describe the link. */
HAUL_API haul_status haul_collective_predict(const haul_machine *machine,
                                             const haul_communication *of, uint32_t nodes,
                                             haul_collective_way_time times[HAUL_COLLECTIVE_WAYS],
                                             haul_error *error);

/* The time of the fastest of the ways that NCCL has for the operation, which estimate->model names.
 * Returns as above. */
HAUL_API haul_status haul_collective_time(const haul_machine *machine, const haul_communication *of,
                                          haul_estimate *estimate, haul_error *error);

/* The self-check of a profile's collectives of one operation and number of ranks: a curve over
 * sizes fitted to them, as for copies. */
typedef struct haul_collective_check {
    haul_collective_kind kind;
    uint32_t ranks;
    uint64_t count; /* whose sizes are known */
    double time_s;
    haul_residuals of; /* in percent */
    double spread;     /* 100 sum |t - median of those of equal size| / sum t */
} haul_collective_check;

HAUL_END

#endif
