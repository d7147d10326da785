/* Times of collectives on a machine's links, and how well their sizes predict those of a profile.
 *
 * Threads: as haul/status.h says. */
#ifndef HAUL_COLLECTIVE_TIME_H
#define HAUL_COLLECTIVE_TIME_H

#include "haul/collective.h"
#include "haul/cost.h"
#include "haul/fit.h"

HAUL_BEGIN

/* The time of one collective by the fastest of NCCL's ways that fit its operation: ring, tree or
 * point to point, each with the protocol of low latency or of full rate. T = start + hops latency +
 * sent bytes / rate, with the latencies of NCCL's tuning table.
 *
 * Ranks that fit into the node (all, where their number is not known) use the links between GPUs:
 * by the protocol of `messages` within the node for what a GPU sends, where they were fitted (`haul
 * comm fit` of nccl-tests' output), else at NCCL's share of the peak of all the links of a GPU that
 * are not the host's; without such links PCIe. More ranks use the network,
 * at the node's injection rate. estimate->model names the way. Returns MISSING for an operation of
 * unknown size, and where the machine does not describe the link. */
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
