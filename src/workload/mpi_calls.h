/* Calls of MPI as a profile tells them, and the calls of other processes that each met: a message
 * has two, a collective one of each process. What is matched becomes operations and edges of the
 * workload, so that all that reads workloads understands it:
 *
 *   send        a MESSAGE from when it could go on until it had come, issued by the call that sends
 *   receive     the call, or the one that completes it, is a SYNC, a wait, for the MESSAGE
 *   collective  a MESSAGE from the last entry of those that it needs until the first has left; each
 *               call that waits for others is a SYNC for it
 *
 * So of a wait the time before its MESSAGE begins is that for late processes, the rest transfer. */
#ifndef HAUL_WORKLOAD_MPI_CALLS_H
#define HAUL_WORKLOAD_MPI_CALLS_H

#include "workload/builder.h"

/* Whom a call waits for; numbers as profiles have them (hl_record_mpi_way). */
typedef enum hl_workload_mpi_way {
    HL_WORKLOAD_MPI_SENDS,
    HL_WORKLOAD_MPI_RECEIVES,
    HL_WORKLOAD_MPI_ALL,
    HL_WORKLOAD_MPI_FROM_ROOT,
    HL_WORKLOAD_MPI_TO_ROOT,
    HL_WORKLOAD_MPI_WAYS,
} hl_workload_mpi_way;

/* A call by which it is found among the operations. */
typedef struct hl_workload_mpi_moment {
    int64_t start_ns;
    int64_t dur_ns;
    uint32_t thread;
} hl_workload_mpi_moment;

struct hl_workload_mpi_call {
    hl_workload_mpi_moment post; /* the call that began it */
    hl_workload_mpi_moment done; /* that completed it; thread HAUL_NONE: none, or not told */
    uint64_t bytes;
    uint32_t comm, comm_size; /* a size of 0 matches nothing */
    int32_t rank, peer, tag;  /* of all processes; the peer of a collective is its root, or -1 */
    uint32_t host;            /* string: of the process; HAUL_NONE where not known */
    hl_workload_mpi_way way;
    bool blocks; /* `post` is also what completed it */
    bool is_matched;
};

/* Adds one to a workload that is being built. */
void hl_workload_mpi_call_add(hl_workload_builder *self, const hl_workload_mpi_call *call);

/* The context of a stream of messages: whether their ranks are of one node. */
enum { HL_WORKLOAD_WITHIN_NODE, HL_WORKLOAD_BETWEEN_NODES };

/* A message between hosts: of no device, so that it keeps none busy. */
static inline bool hl_workload_is_of_hosts(const haul_workload *workload, const haul_op *op)
{
    return op->kind == HAUL_OP_MESSAGE && op->stream != HAUL_NONE &&
           workload->streams[op->stream].device == HAUL_NONE;
}

/* Whether calls of several processes are there, which may have met. */
bool hl_workload_mpi_has_ranks(const haul_workload *workload);

/* The ranks of a communicator: how many, on how many hosts, and at most on one. */
typedef struct hl_workload_mpi_layout {
    size_t ranks, hosts, most;
} hl_workload_mpi_layout;

/* Zeros without memory, or where nothing is known of it. */
hl_workload_mpi_layout hl_workload_mpi_layout_of(const haul_workload *workload, uint32_t comm);

/* Matches what is not matched yet, once all operations are there and in order, with the links of
 * threads; brings them in order again. */
void hl_workload_mpi_match(hl_workload_builder *builder);

#endif
