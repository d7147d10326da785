/* libhaul-mpi: all-to-alls and many messages between the processes of an MPI program, sent in the
 * way that is fastest for their size on this machine.
 *
 * Owners and helpers: every process either owns data or helps. Owners are numbered from 0 in the
 * order of the communicator; counts, peers and blocks are theirs. Helpers are further cores of the
 * nodes, which `extra-message` and `duplicate-pointer` use: they make the same calls with all
 * arguments zero.
 *
 * A call is collective: all processes of the haul_comm make the same calls in the same order. An
 * error on one process ends the call on all, each with the reason, and every later call of that
 * haul_comm returns it again. Two cases cannot be told: MPI_Alltoall itself runs (`plain`) and one
 * process alone has given wrong arguments, or a process has died and `time_limit_s` is 0: then it
 * is the MPI that ends the others.
 *
 * Threads: as haul/status.h says; MPI's own level of threads holds for all calls. */
#ifndef HAUL_MPI_H
#define HAUL_MPI_H

#include <mpi.h>

#include "haul/device.h"
#include "haul/exchange.h"
#include "haul/machine.h"
#include "haul/tile.h"

HAUL_BEGIN

typedef struct haul_comm haul_comm;

/* Zero is the default of each. `machine`, `way`, `window` and `time_limit_s` count as the first
 * process gives them. An environment variable overrides what the program says: HAUL_MPI_MACHINE (a
 * name of the catalogue or a file), HAUL_MPI_WAY, HAUL_MPI_WINDOW, HAUL_MPI_TIME_LIMIT (seconds),
 * HAUL_MPI_RANKS_PER_NODE, HAUL_MPI_DEVICE_AWARE (0 or 1), HAUL_MPI_TRIAL_SHARE,
 * HAUL_MPI_PROOFS (a file; empty: none), HAUL_MPI_PIECE (bytes). */
typedef struct haul_comm_options {
    /* with messages, as `haul comm fit` writes it; NULL: ways are tried that its kind may gain by
     */
    const haul_machine *machine;
    haul_way way;        /* HAUL_WAY_CHOSEN: by predicted or measured times */
    bool may_fall_back;  /* where `way` cannot make an exchange another does, in place of ABSENT */
    unsigned window;     /* messages in flight each way; 0: 16 */
    double time_limit_s; /* a wait that takes longer returns TIMED_OUT; 0: none */
    unsigned ranks_per_node; /* consecutive ranks count as nodes; 0: as the MPI says */
    bool is_helper;
    haul_device *device;  /* of this process's device buffers; of a helper: the same GPU */
    bool is_device_aware; /* the MPI takes pointers to it; else MPIX_Query_cuda_support says so for
                           * a device of CUDA */
    bool
        takes_simulated_time; /* copies of a simulated device take their time on the host's clock */
    double trial_share;       /* of the time of calls that trials of other ways may take, at most 1;
                               * 0: 0.01 */
    const char *proofs;       /* a file of the first process, read now and written when the
                               * communicator is freed: ways that were proven run from the first
                               * call on; NULL: none */
    uint64_t piece_bytes;     /* of a piece of a staged call, as the first process says; 0: 1 MiB */
    uint64_t reserved[3];     /* zeros: see haul/api.h */
} haul_comm_options;

/* Collective over `mpi`, which is duplicated. `options` may be NULL. Returns USAGE for a way or
 * number in the environment that does not exist, what haul_machine_load returns, ABSENT where no
 * process owns data, all on every process. The caller frees *comm, before MPI_Finalize. */
HAUL_API haul_status haul_comm_new(MPI_Comm mpi, const haul_comm_options *options, haul_comm **comm,
                                   haul_error *error);

/* Collective; NULL is nothing. */
HAUL_API void haul_comm_free(haul_comm *comm);

/* The number of owners, and this process's among them; -1 for a helper. */
HAUL_API int haul_comm_size(const haul_comm *comm);
HAUL_API int haul_comm_rank(const haul_comm *comm);

/* The address to send from, for haul_comm_alltoall in place. */
static inline haul_address haul_in_place(void)
{
    haul_address address = {NULL, UINT64_MAX, NULL};
    return address;
}

/* Sends `bytes` bytes to each owner: block i of `send` is for owner i, block i of `receive` comes
 * from it. `bytes` is the same on all owners, also beyond 2^31. */
HAUL_API haul_status haul_comm_alltoall(haul_comm *comm, haul_address send, haul_address receive,
                                        uint64_t bytes, haul_error *error);

/* Counts and displacements of one side, in items, one for each owner. */
typedef struct haul_blocks {
    const size_t *counts;
    const size_t *displacements; /* NULL: one block behind the other */
} haul_blocks;

/* Sends counts[i] items of `item_bytes` to each owner i. In place `sends` is not read: what is
 * received is sent. Returns USAGE where a sum overflows or an end lies outside its buffer,
 * BAD_INPUT where two owners differ about the size of a block. */
typedef struct haul_alltoallv_blocks {
    haul_address send;
    haul_blocks sends;
    haul_address receive;
    haul_blocks receives;
    size_t item_bytes;
} haul_alltoallv_blocks;

HAUL_API haul_status haul_comm_alltoallv(haul_comm *comm, const haul_alltoallv_blocks *blocks,
                                         haul_error *error);

/* A message to or from owner `peer`, at `offset` of the side's address. Several between the same
 * two arrive in the order of the lists. */
typedef struct haul_comm_message {
    int peer;
    uint64_t bytes;
    uint64_t offset;
} haul_comm_message;

typedef struct haul_comm_messages {
    haul_address send;
    const haul_comm_message *sends;
    size_t send_count;
    haul_address receive;
    const haul_comm_message *receives;
    size_t receive_count;
} haul_comm_messages;

/* Sends many messages, such as ghost cells; owners without any call it with none. */
HAUL_API haul_status haul_comm_exchange(haul_comm *comm, const haul_comm_messages *messages,
                                        haul_error *error);

/* The owners as processes that share arrays of tiles: see haul_context_options. `comm` keeps it and
 * must outlive the contexts. NULL on a helper, or where there is no memory. */
HAUL_API const haul_processes *haul_comm_processes(haul_comm *comm);

/* An exchange of the cells at an array's edges, planned once and made often. */
typedef struct haul_halo haul_halo;

/* A box of cells that goes to owner `peer`, or comes from it. Both ends give it the same number, 0
 * to 16383, which no other message the same way between the two has, and the box as many cells. */
typedef struct haul_halo_message {
    int peer;
    int number;
    bool is_send;
    haul_box box; /* lo and hi of y and z may both be 0 where the array has none */
} haul_halo_message;

typedef struct haul_halo_plan {
    haul_address array; /* cell 0, in memory of the host or of the haul_comm's device */
    uint64_t cell_bytes;
    int size[3]; /* of the array in cells, with its ghosts, x fastest; y and z may be 0 */
    const haul_halo_message *messages;
    size_t count; /* at most 256 */
    uint64_t reserved[2];
} haul_halo_plan;

/* Local: no process waits for another. Boxes in a row in host memory are sent from where they are;
 * others are packed, by rows on the host, by a kernel or copies on a device, into the host's memory
 * where the MPI does not take the device's. Returns USAGE for an owner, number or box
 * that there is not, and on a helper. The caller frees *halo before `comm` and the array. */
HAUL_API haul_status haul_halo_new(haul_comm *comm, const haul_halo_plan *plan, haul_halo **halo,
                                   haul_error *error);
/* NULL is nothing. One that is under way is waited for. */
HAUL_API void haul_halo_free(haul_halo *halo);

/* Packs the boxes to send and starts the messages. Loops that write them have ended, and until the
 * end the program may change cells in no box of the plan; boxes that lie in a row in host memory it
 * does not read either where they are received. Between start and finish there is no other call of
 * this haul_comm. Returns USAGE where it or another is under way, and what another process told. */
HAUL_API haul_status haul_halo_start(haul_halo *halo, haul_error *error);

/* MPIs work on messages in calls alone: to be called now and then in a long loop. */
HAUL_API haul_status haul_halo_advance(haul_halo *halo, haul_error *error);

/* Waits for the messages and unpacks what came. */
HAUL_API haul_status haul_halo_finish(haul_halo *halo, haul_error *error);

/* Collective calls with MPI's own arguments, of memory of the host and of the haul_comm's device.
 */
typedef enum haul_call_kind {
    HAUL_CALL_ALLTOALL,
    HAUL_CALL_ALLTOALL_V,
    HAUL_CALL_ALLTOALL_W,
    HAUL_CALL_ALLGATHER,
    HAUL_CALL_ALLGATHER_V,
    HAUL_CALL_ALLREDUCE,
    HAUL_CALL_BCAST,             /* from and to `receive`; `send` is not read */
    HAUL_CALL_NEIGHBOR_ALLTOALL, /* of the topology that the haul_comm's communicator has */
    HAUL_CALL_NEIGHBOR_ALLTOALL_V,
    HAUL_CALL_NEIGHBOR_ALLTOALL_W,
    HAUL_CALL_KINDS
} haul_call_kind;

/* One side, as MPI has it. `count` and `type` are of each block where the call has one for all. */
typedef struct haul_call_side {
    haul_address at; /* of `send` also haul_in_place(), where MPI has it */
    int count;
    MPI_Datatype type;
    const int *counts;          /* V and W */
    const int *places;          /* V: in extents of the datatype; ALLTOALL_W: in bytes */
    const MPI_Aint *far_places; /* NEIGHBOR_ALLTOALL_W: in bytes */
    const MPI_Datatype *types;  /* W */
} haul_call_side;

typedef struct haul_call {
    haul_call_kind kind;
    haul_call_side send, receive;
    MPI_Op op;     /* of ALLREDUCE */
    int root;      /* of BCAST: an owner */
    MPI_Comm over; /* the communicator, whose other processes may know nothing of haul, as of a
                    * haul_comm of MPI_COMM_SELF; zero: of the haul_comm's owners */
    uint64_t reserved[2];
} haul_call;

/* Makes the call: MPI's own, unless memory of a device is given that the MPI does not take. That is
 * staged through the host in pieces whose copies overlap the messages; `over` another communicator
 * all of it at once. Datatypes stay as they are: their rows are copied. A helper need not call it.
 * Returns USAGE for a block outside its buffer, ABSENT for a distributed array's datatype of device
 * memory, DEVICE_FAILED with MPI's text. */
HAUL_API haul_status haul_call_run(haul_comm *comm, const haul_call *call, haul_error *error);

/* For libraries that make MPI's call themselves. */
typedef struct haul_pieces {
    uint64_t piece_bytes; /* about as many of all blocks together; as all processes give them */
    bool gains;           /* set: memory is staged somewhere, and of two pieces or more */
    bool is_made;         /* set: the call is over; else it is to be made another way */
    int mpi_error;        /* set: MPI's code, after MPI's error handler, where that failed */
    uint64_t reserved[2];
} haul_pieces;

/* Makes the call in pieces as haul_call_run does, over any communicator, whose processes each give
 * a haul_comm of their own, of MPI_COMM_SELF; NULL: this one has none, and no process makes the
 * call so. Collective over `call->over`: by one reduction all learn whether any gives device memory
 * that is staged, whether there are pieces, and whether all can. What is set is the same on all
 * processes but the error: after one a process sends its other pieces, for none waits for another's
 * error. Returns as haul_call_run, where the call is made. */
HAUL_API haul_status haul_call_run_in_pieces(haul_comm *comm, const haul_call *call,
                                             haul_pieces *pieces, haul_error *error);

/* The same call, started and finished, as often as the program likes. */
typedef struct haul_request haul_request;

/* Local. The arrays of `call` and the memory must outlive *request, which the caller frees before
 * `comm`. Returns as haul_call_run. */
HAUL_API haul_status haul_request_new(haul_comm *comm, const haul_call *call,
                                      haul_request **request, haul_error *error);
/* NULL is nothing. One that is under way is waited for. */
HAUL_API void haul_request_free(haul_request *request);

/* Device memory is copied to the host first, all of it, for MPI then makes progress without haul.
 * Returns USAGE where the call is under way. */
HAUL_API haul_status haul_request_start(haul_request *request, haul_error *error);

/* Whether it is over, and then as haul_request_finish: device memory has what was received. */
HAUL_API haul_status haul_request_test(haul_request *request, bool *done, haul_error *error);
HAUL_API haul_status haul_request_finish(haul_request *request, haul_error *error);

/* For libraries that make MPI's call themselves: copies what is sent to the host, gives the
 * addresses that take the place of the program's, and, after the call, copies what was received. */
HAUL_API haul_status haul_request_copy_down(haul_request *request, const void **send,
                                            void **receive, haul_error *error);
HAUL_API haul_status haul_request_copy_up(haul_request *request, haul_error *error);

/* Explains the last call in lines: the way and its reason, predicted times, measured ones. Good
 * until the next call; "" before the first. */
HAUL_API const char *haul_comm_explain(haul_comm *comm);

/* After an error: MPI's code where a call of MPI failed on this process, else MPI_SUCCESS. */
HAUL_API int haul_comm_mpi_error(const haul_comm *comm);

/* After an error: whether it is of a call before the last one, told by another process too late for
 * that. Other processes then take no part in the last call. */
HAUL_API bool haul_comm_failed_before(const haul_comm *comm);

/* For libraries before the MPI, which spare their own work: whether the next call of `kind`, of
 * haul_comm_alltoall with blocks of `bytes`, would be MPI's own alone. Then it counts as made, and
 * the caller makes it. The same on all processes. */
HAUL_API bool haul_comm_leaves_next(haul_comm *comm, haul_exchange_kind kind, uint64_t bytes);

/* The way of the last call. */
HAUL_API haul_way haul_comm_way(const haul_comm *comm);

HAUL_END

#endif
