/* The recorder of a program's calls of MPI, in front of which it is loaded: what the wrappers of C
 * and Fortran tell it. It writes into the profile of `haul record --mpi`; a call costs it two looks
 * at the clock and a record. */
#ifndef HAUL_MPI_MPI_RECORD_H
#define HAUL_MPI_MPI_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

#include "record/profile_writer.h"

/* The calls that are recorded, but for their "MPI_". */
#define HL_MPI_NAMES(X)                                                                            \
    X(Send)                                                                                        \
    X(Ssend)                                                                                       \
    X(Rsend)                                                                                       \
    X(Bsend)                                                                                       \
    X(Recv)                                                                                        \
    X(Isend)                                                                                       \
    X(Issend)                                                                                      \
    X(Irsend)                                                                                      \
    X(Ibsend)                                                                                      \
    X(Irecv)                                                                                       \
    X(Sendrecv)                                                                                    \
    X(Sendrecv_replace)                                                                            \
    X(Probe)                                                                                       \
    X(Start)                                                                                       \
    X(Startall)                                                                                    \
    X(Wait)                                                                                        \
    X(Waitall)                                                                                     \
    X(Waitany)                                                                                     \
    X(Waitsome)                                                                                    \
    X(Test)                                                                                        \
    X(Testall)                                                                                     \
    X(Testany)                                                                                     \
    X(Testsome)                                                                                    \
    X(Barrier)                                                                                     \
    X(Bcast)                                                                                       \
    X(Reduce)                                                                                      \
    X(Allreduce)                                                                                   \
    X(Gather)                                                                                      \
    X(Gatherv)                                                                                     \
    X(Scatter)                                                                                     \
    X(Scatterv)                                                                                    \
    X(Allgather)                                                                                   \
    X(Allgatherv)                                                                                  \
    X(Alltoall)                                                                                    \
    X(Alltoallv)                                                                                   \
    X(Alltoallw)                                                                                   \
    X(Reduce_scatter)                                                                              \
    X(Reduce_scatter_block)                                                                        \
    X(Scan)                                                                                        \
    X(Exscan)                                                                                      \
    X(Ibarrier)                                                                                    \
    X(Ibcast)                                                                                      \
    X(Ireduce)                                                                                     \
    X(Iallreduce)                                                                                  \
    X(Iallgather)                                                                                  \
    X(Iallgatherv)                                                                                 \
    X(Ialltoall)                                                                                   \
    X(Ialltoallv)                                                                                  \
    X(Neighbor_allgather)                                                                          \
    X(Neighbor_alltoall)                                                                           \
    X(Neighbor_alltoallv)                                                                          \
    X(Comm_dup)                                                                                    \
    X(Comm_split)                                                                                  \
    X(Comm_split_type)                                                                             \
    X(Comm_create)                                                                                 \
    X(Comm_create_group)                                                                           \
    X(Cart_create)                                                                                 \
    X(Cart_sub)                                                                                    \
    X(Dist_graph_create_adjacent)

typedef enum hl_mpi_name {
#define HL_MPI_NAME(name) HL_MPI_##name,
    HL_MPI_NAMES(HL_MPI_NAME)
#undef HL_MPI_NAME
        HL_MPI_NAME_COUNT
} hl_mpi_name;

/* A call that began; one within another call of MPI, or of a process that is not recorded, has no
 * start. */
typedef struct hl_mpi_call {
    int64_t start_ns; /* 0: not recorded */
    hl_mpi_name name;
} hl_mpi_call;

/* Whom a call is about. */
typedef struct hl_mpi_target {
    MPI_Comm comm;
    int peer; /* in the communicator; a collective's root, or -1 */
    int tag;
    hl_record_mpi_way way;
    uint64_t bytes;
} hl_mpi_target;

hl_mpi_call hl_mpi_record_begin(hl_mpi_name name);

/* Each ends the call. One that is about nobody: */
void hl_mpi_record_end(const hl_mpi_call *call);
/* One that blocked until its data were sent, or a collective was through: */
void hl_mpi_record_blocking(const hl_mpi_call *call, const hl_mpi_target *target);
/* A message has come, from whom and how large the status says: */
void hl_mpi_record_received(const hl_mpi_call *call, MPI_Comm comm, const MPI_Status *status);
/* The sending side of a call that also receives: its time is none. Before the other ends. */
void hl_mpi_record_sends(const hl_mpi_call *call, const hl_mpi_target *target);
/* One that returned a request: */
void hl_mpi_record_posted(const hl_mpi_call *call, const hl_mpi_target *target,
                          MPI_Request request);

/* A request that can be started; of no time itself. */
void hl_mpi_record_made(const hl_mpi_target *target, MPI_Request request);
void hl_mpi_record_started(const hl_mpi_call *call, int count, const MPI_Request *requests);
void hl_mpi_record_freed(MPI_Request request);

/* A call that completes some of `count` requests. To see which, it is handed the arrays before MPI
 * overwrites them; statuses that the program does not want are made here. */
typedef struct hl_mpi_completion {
    hl_mpi_call call;
    int count;
    MPI_Request *requests; /* as they were; NULL: none of them is known, nothing is to be told */
    MPI_Status *statuses;  /* to be given to the MPI */
    MPI_Request few_requests[16];
    MPI_Status few_statuses[16];
    bool has_own_statuses;
} hl_mpi_completion;

/* `statuses` may be MPI_STATUSES_IGNORE. A test that may find nothing is told only of success. */
void hl_mpi_record_complete_begin(hl_mpi_completion *of, hl_mpi_name name, int count,
                                  const MPI_Request *requests, MPI_Status *statuses);
/* Behind the MPI's call: `done` requests, of which `which` are the numbers, NULL for the first
 * ones; status i is of done request i. */
void hl_mpi_record_complete_end(hl_mpi_completion *of, int done, const int *which);

/* A communicator that all its processes made just now: they give it one number. */
void hl_mpi_record_comm(MPI_Comm comm);

/* Bytes of so many items. */
uint64_t hl_mpi_record_bytes(int64_t count, MPI_Datatype type);
/* Of counts for each process of a communicator. */
uint64_t hl_mpi_record_sum(const int *counts, MPI_Datatype type, MPI_Comm comm);

/* Around MPI_Init and MPI_Finalize. */
void hl_mpi_record_open(void);
void hl_mpi_record_compare_clocks(void);
void hl_mpi_record_close(void);

#endif
