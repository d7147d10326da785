/* MPI's functions in front of the MPI: each tells the recorder when it began and ended, and what it
 * was about. Functions of one shape are made by one macro. */
#include "mpi/mpi_record.h"

#include "haul/api.h"

#define BYTES(count, type) hl_mpi_record_bytes(count, type)

/* In place what is received tells how much is given. */
static uint64_t given(const void *send, int send_count, MPI_Datatype send_type, int receive_count,
                      MPI_Datatype receive_type)
{
    return send == MPI_IN_PLACE ? BYTES(receive_count, receive_type) : BYTES(send_count, send_type);
}

static uint64_t times_size(uint64_t bytes, MPI_Comm comm)
{
    int size = 1;
    (void)PMPI_Comm_size(comm, &size);
    return size > 0 ? bytes * (uint64_t)size : bytes;
}

/* --- the begin and the end */

HAUL_API int MPI_Init(int *argc, char ***argv)
{
    const int code = PMPI_Init(argc, argv);
    if (!code)
        hl_mpi_record_open();
    return code;
}

HAUL_API int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    const int code = PMPI_Init_thread(argc, argv, required, provided);
    if (!code)
        hl_mpi_record_open();
    return code;
}

HAUL_API int MPI_Finalize(void)
{
    hl_mpi_record_compare_clocks();
    hl_mpi_record_close();
    return PMPI_Finalize();
}

/* --- messages */

// NOLINTBEGIN(readability-suspicious-call-argument): what a scatter receives is given in place
// NOLINTBEGIN(readability-function-size,bugprone-macro-parentheses): MPI's parameters; types

#define SEND(name)                                                                                 \
    HAUL_API int MPI_##name(const void *buffer, int count, MPI_Datatype type, int peer, int tag,   \
                            MPI_Comm comm)                                                         \
    {                                                                                              \
        const hl_mpi_call call = hl_mpi_record_begin(HL_MPI_##name);                               \
        const int code = PMPI_##name(buffer, count, type, peer, tag, comm);                        \
        const hl_mpi_target to = {comm, peer, tag, HL_RECORD_MPI_SENDS, BYTES(count, type)};       \
        hl_mpi_record_blocking(&call, &to);                                                        \
        return code;                                                                               \
    }
SEND(Send)
SEND(Ssend)
SEND(Rsend)
SEND(Bsend)

#define POST(name, way, buffer_type)                                                               \
    HAUL_API int MPI_##name(buffer_type buffer, int count, MPI_Datatype type, int peer, int tag,   \
                            MPI_Comm comm, MPI_Request *request)                                   \
    {                                                                                              \
        const hl_mpi_call call = hl_mpi_record_begin(HL_MPI_##name);                               \
        const int code = PMPI_##name(buffer, count, type, peer, tag, comm, request);               \
        const hl_mpi_target to = {comm, peer, tag, way, BYTES(count, type)};                       \
        hl_mpi_record_posted(&call, &to, code ? MPI_REQUEST_NULL : *request);                      \
        return code;                                                                               \
    }
POST(Isend, HL_RECORD_MPI_SENDS, const void *)
POST(Issend, HL_RECORD_MPI_SENDS, const void *)
POST(Irsend, HL_RECORD_MPI_SENDS, const void *)
POST(Ibsend, HL_RECORD_MPI_SENDS, const void *)
POST(Irecv, HL_RECORD_MPI_RECEIVES, void *)

/* Requests that are started later. */
#define MAKE(name, way, buffer_type)                                                               \
    HAUL_API int MPI_##name(buffer_type buffer, int count, MPI_Datatype type, int peer, int tag,   \
                            MPI_Comm comm, MPI_Request *request)                                   \
    {                                                                                              \
        const int code = PMPI_##name(buffer, count, type, peer, tag, comm, request);               \
        const hl_mpi_target to = {comm, peer, tag, way, BYTES(count, type)};                       \
        hl_mpi_record_made(&to, code ? MPI_REQUEST_NULL : *request);                               \
        return code;                                                                               \
    }
MAKE(Send_init, HL_RECORD_MPI_SENDS, const void *)
MAKE(Ssend_init, HL_RECORD_MPI_SENDS, const void *)
MAKE(Rsend_init, HL_RECORD_MPI_SENDS, const void *)
MAKE(Bsend_init, HL_RECORD_MPI_SENDS, const void *)
MAKE(Recv_init, HL_RECORD_MPI_RECEIVES, void *)

HAUL_API int MPI_Recv(void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                      MPI_Status *status)
{
    MPI_Status own;
    MPI_Status *const into = status == MPI_STATUS_IGNORE ? &own : status;
    const hl_mpi_call call = hl_mpi_record_begin(HL_MPI_Recv);
    const int code = PMPI_Recv(buffer, count, type, peer, tag, comm, into);
    if (code)
        hl_mpi_record_end(&call);
    else
        hl_mpi_record_received(&call, comm, into);
    return code;
}

HAUL_API int MPI_Probe(int peer, int tag, MPI_Comm comm, MPI_Status *status)
{
    const hl_mpi_call call = hl_mpi_record_begin(HL_MPI_Probe);
    const int code = PMPI_Probe(peer, tag, comm, status);
    hl_mpi_record_end(&call);
    return code;
}

/* Two messages, of which the one that comes has the call's time. */
static void end_exchange(const hl_mpi_call *call, const hl_mpi_target *to, int code,
                         const MPI_Status *status)
{
    hl_mpi_record_sends(call, to);
    if (code)
        hl_mpi_record_end(call);
    else
        hl_mpi_record_received(call, to->comm, status);
}

HAUL_API int MPI_Sendrecv(const void *send, int send_count, MPI_Datatype send_type, int to,
                          int send_tag, void *receive, int receive_count, MPI_Datatype receive_type,
                          int from, int receive_tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Status own;
    MPI_Status *const into = status == MPI_STATUS_IGNORE ? &own : status;
    const hl_mpi_call call = hl_mpi_record_begin(HL_MPI_Sendrecv);
    const int code = PMPI_Sendrecv(send, send_count, send_type, to, send_tag, receive,
                                   receive_count, receive_type, from, receive_tag, comm, into);
    const hl_mpi_target target = {comm, to, send_tag, HL_RECORD_MPI_SENDS,
                                  BYTES(send_count, send_type)};
    end_exchange(&call, &target, code, into);
    return code;
}

HAUL_API int MPI_Sendrecv_replace(void *buffer, int count, MPI_Datatype type, int to, int send_tag,
                                  int from, int receive_tag, MPI_Comm comm, MPI_Status *status)
{
    MPI_Status own;
    MPI_Status *const into = status == MPI_STATUS_IGNORE ? &own : status;
    const hl_mpi_call call = hl_mpi_record_begin(HL_MPI_Sendrecv_replace);
    const int code =
        PMPI_Sendrecv_replace(buffer, count, type, to, send_tag, from, receive_tag, comm, into);
    const hl_mpi_target target = {comm, to, send_tag, HL_RECORD_MPI_SENDS, BYTES(count, type)};
    end_exchange(&call, &target, code, into);
    return code;
}

/* --- requests */

HAUL_API int MPI_Start(MPI_Request *request)
{
    const hl_mpi_call call = hl_mpi_record_begin(HL_MPI_Start);
    const int code = PMPI_Start(request);
    hl_mpi_record_started(&call, 1, request);
    return code;
}

HAUL_API int MPI_Startall(int count, MPI_Request requests[])
{
    const hl_mpi_call call = hl_mpi_record_begin(HL_MPI_Startall);
    const int code = PMPI_Startall(count, requests);
    hl_mpi_record_started(&call, count, requests);
    return code;
}

HAUL_API int MPI_Request_free(MPI_Request *request)
{
    hl_mpi_record_freed(*request);
    return PMPI_Request_free(request);
}

HAUL_API int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    hl_mpi_completion of;
    hl_mpi_record_complete_begin(&of, HL_MPI_Wait, 1, request, status);
    const int code = PMPI_Wait(request, of.statuses);
    hl_mpi_record_complete_end(&of, 1, NULL);
    return code;
}

HAUL_API int MPI_Waitall(int count, MPI_Request requests[], MPI_Status *statuses)
{
    hl_mpi_completion of;
    hl_mpi_record_complete_begin(&of, HL_MPI_Waitall, count, requests, statuses);
    const int code = PMPI_Waitall(count, requests, of.statuses);
    hl_mpi_record_complete_end(&of, count, NULL);
    return code;
}

HAUL_API int MPI_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    hl_mpi_completion of;
    hl_mpi_record_complete_begin(&of, HL_MPI_Waitany, count, requests, status);
    const int code = PMPI_Waitany(count, requests, index, of.statuses);
    hl_mpi_record_complete_end(&of, 1, index);
    return code;
}

HAUL_API int MPI_Waitsome(int count, MPI_Request requests[], int *done, int indices[],
                          MPI_Status statuses[])
{
    hl_mpi_completion of;
    hl_mpi_record_complete_begin(&of, HL_MPI_Waitsome, count, requests, statuses);
    const int code = PMPI_Waitsome(count, requests, done, indices, of.statuses);
    hl_mpi_record_complete_end(&of, *done == MPI_UNDEFINED ? 0 : *done, indices);
    return code;
}

HAUL_API int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    hl_mpi_completion of;
    hl_mpi_record_complete_begin(&of, HL_MPI_Test, 1, request, status);
    const int code = PMPI_Test(request, flag, of.statuses);
    hl_mpi_record_complete_end(&of, *flag ? 1 : 0, NULL);
    return code;
}

HAUL_API int MPI_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    hl_mpi_completion of;
    hl_mpi_record_complete_begin(&of, HL_MPI_Testall, count, requests, statuses);
    const int code = PMPI_Testall(count, requests, flag, of.statuses);
    hl_mpi_record_complete_end(&of, *flag ? count : 0, NULL);
    return code;
}

HAUL_API int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag,
                         MPI_Status *status)
{
    hl_mpi_completion of;
    hl_mpi_record_complete_begin(&of, HL_MPI_Testany, count, requests, status);
    const int code = PMPI_Testany(count, requests, index, flag, of.statuses);
    hl_mpi_record_complete_end(&of, *flag ? 1 : 0, index);
    return code;
}

HAUL_API int MPI_Testsome(int count, MPI_Request requests[], int *done, int indices[],
                          MPI_Status statuses[])
{
    hl_mpi_completion of;
    hl_mpi_record_complete_begin(&of, HL_MPI_Testsome, count, requests, statuses);
    const int code = PMPI_Testsome(count, requests, done, indices, of.statuses);
    hl_mpi_record_complete_end(&of, *done == MPI_UNDEFINED ? 0 : *done, indices);
    return code;
}

/* --- collectives: PARAMETERS and ARGUMENTS in parentheses; ROOT -1 for none */

#define COLLECTIVE(name, parameters, arguments, root, way, bytes)                                  \
    HAUL_API int MPI_##name parameters                                                             \
    {                                                                                              \
        const hl_mpi_call call = hl_mpi_record_begin(HL_MPI_##name);                               \
        const int code = PMPI_##name arguments;                                                    \
        if (call.start_ns) {                                                                       \
            const hl_mpi_target to = {comm, root, 0, way, bytes};                                  \
            hl_mpi_record_blocking(&call, &to);                                                    \
        }                                                                                          \
        return code;                                                                               \
    }

#define POSTED_COLLECTIVE(name, parameters, arguments, root, way, bytes)                           \
    HAUL_API int MPI_##name parameters                                                             \
    {                                                                                              \
        const hl_mpi_call call = hl_mpi_record_begin(HL_MPI_##name);                               \
        const int code = PMPI_##name arguments;                                                    \
        if (call.start_ns) {                                                                       \
            const hl_mpi_target to = {comm, root, 0, way, bytes};                                  \
            hl_mpi_record_posted(&call, &to, code ? MPI_REQUEST_NULL : *request);                  \
        }                                                                                          \
        return code;                                                                               \
    }

/* About nobody that is told apart. */
#define OTHER(name, parameters, arguments)                                                         \
    HAUL_API int MPI_##name parameters                                                             \
    {                                                                                              \
        const hl_mpi_call call = hl_mpi_record_begin(HL_MPI_##name);                               \
        const int code = PMPI_##name arguments;                                                    \
        hl_mpi_record_end(&call);                                                                  \
        return code;                                                                               \
    }

static uint64_t sum_of_types(const int *counts, const MPI_Datatype *types, MPI_Comm comm)
{
    int size = 0;
    uint64_t sum = 0;
    (void)PMPI_Comm_size(comm, &size);
    for (int i = 0; i < size; i++)
        sum += BYTES(counts[i], types[i]);
    return sum;
}

COLLECTIVE(Barrier, (MPI_Comm comm), (comm), -1, HL_RECORD_MPI_ALL, 0)
COLLECTIVE(Bcast, (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
           (buffer, count, type, root, comm), root, HL_RECORD_MPI_FROM_ROOT, BYTES(count, type))
COLLECTIVE(Reduce,
           (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, int root,
            MPI_Comm comm),
           (send, receive, count, type, op, root, comm), root, HL_RECORD_MPI_TO_ROOT,
           BYTES(count, type))
COLLECTIVE(Allreduce,
           (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
            MPI_Comm comm),
           (send, receive, count, type, op, comm), -1, HL_RECORD_MPI_ALL, BYTES(count, type))
COLLECTIVE(Gather,
           (const void *send, int send_count, MPI_Datatype send_type, void *receive,
            int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm),
           (send, send_count, send_type, receive, receive_count, receive_type, root, comm), root,
           HL_RECORD_MPI_TO_ROOT, given(send, send_count, send_type, receive_count, receive_type))
COLLECTIVE(Gatherv,
           (const void *send, int send_count, MPI_Datatype send_type, void *receive,
            const int receive_counts[], const int places[], MPI_Datatype receive_type, int root,
            MPI_Comm comm),
           (send, send_count, send_type, receive, receive_counts, places, receive_type, root, comm),
           root, HL_RECORD_MPI_TO_ROOT, send == MPI_IN_PLACE ? 0 : BYTES(send_count, send_type))
COLLECTIVE(Scatter,
           (const void *send, int send_count, MPI_Datatype send_type, void *receive,
            int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm),
           (send, send_count, send_type, receive, receive_count, receive_type, root, comm), root,
           HL_RECORD_MPI_FROM_ROOT,
           given(receive, receive_count, receive_type, send_count, send_type))
COLLECTIVE(Scatterv,
           (const void *send, const int send_counts[], const int places[], MPI_Datatype send_type,
            void *receive, int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm),
           (send, send_counts, places, send_type, receive, receive_count, receive_type, root, comm),
           root, HL_RECORD_MPI_FROM_ROOT,
           receive == MPI_IN_PLACE ? 0 : BYTES(receive_count, receive_type))
COLLECTIVE(Allgather,
           (const void *send, int send_count, MPI_Datatype send_type, void *receive,
            int receive_count, MPI_Datatype receive_type, MPI_Comm comm),
           (send, send_count, send_type, receive, receive_count, receive_type, comm), -1,
           HL_RECORD_MPI_ALL, given(send, send_count, send_type, receive_count, receive_type))
COLLECTIVE(Allgatherv,
           (const void *send, int send_count, MPI_Datatype send_type, void *receive,
            const int receive_counts[], const int places[], MPI_Datatype receive_type,
            MPI_Comm comm),
           (send, send_count, send_type, receive, receive_counts, places, receive_type, comm), -1,
           HL_RECORD_MPI_ALL, send == MPI_IN_PLACE ? 0 : BYTES(send_count, send_type))
COLLECTIVE(Alltoall,
           (const void *send, int send_count, MPI_Datatype send_type, void *receive,
            int receive_count, MPI_Datatype receive_type, MPI_Comm comm),
           (send, send_count, send_type, receive, receive_count, receive_type, comm), -1,
           HL_RECORD_MPI_ALL,
           times_size(given(send, send_count, send_type, receive_count, receive_type), comm))
COLLECTIVE(Alltoallv,
           (const void *send, const int send_counts[], const int send_places[],
            MPI_Datatype send_type, void *receive, const int receive_counts[],
            const int receive_places[], MPI_Datatype receive_type, MPI_Comm comm),
           (send, send_counts, send_places, send_type, receive, receive_counts, receive_places,
            receive_type, comm),
           -1, HL_RECORD_MPI_ALL,
           send == MPI_IN_PLACE ? hl_mpi_record_sum(receive_counts, receive_type, comm)
                                : hl_mpi_record_sum(send_counts, send_type, comm))
COLLECTIVE(Alltoallw,
           (const void *send, const int send_counts[], const int send_places[],
            const MPI_Datatype send_types[], void *receive, const int receive_counts[],
            const int receive_places[], const MPI_Datatype receive_types[], MPI_Comm comm),
           (send, send_counts, send_places, send_types, receive, receive_counts, receive_places,
            receive_types, comm),
           -1, HL_RECORD_MPI_ALL, sum_of_types(receive_counts, receive_types, comm))
COLLECTIVE(Reduce_scatter,
           (const void *send, void *receive, const int counts[], MPI_Datatype type, MPI_Op op,
            MPI_Comm comm),
           (send, receive, counts, type, op, comm), -1, HL_RECORD_MPI_ALL,
           hl_mpi_record_sum(counts, type, comm))
COLLECTIVE(Reduce_scatter_block,
           (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
            MPI_Comm comm),
           (send, receive, count, type, op, comm), -1, HL_RECORD_MPI_ALL,
           times_size(BYTES(count, type), comm))

POSTED_COLLECTIVE(Ibarrier, (MPI_Comm comm, MPI_Request *request), (comm, request), -1,
                  HL_RECORD_MPI_ALL, 0)
POSTED_COLLECTIVE(Ibcast,
                  (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm,
                   MPI_Request *request),
                  (buffer, count, type, root, comm, request), root, HL_RECORD_MPI_FROM_ROOT,
                  BYTES(count, type))
POSTED_COLLECTIVE(Ireduce,
                  (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                   int root, MPI_Comm comm, MPI_Request *request),
                  (send, receive, count, type, op, root, comm, request), root,
                  HL_RECORD_MPI_TO_ROOT, BYTES(count, type))
POSTED_COLLECTIVE(Iallreduce,
                  (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request),
                  (send, receive, count, type, op, comm, request), -1, HL_RECORD_MPI_ALL,
                  BYTES(count, type))
POSTED_COLLECTIVE(
    Iallgather,
    (const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
     MPI_Datatype receive_type, MPI_Comm comm, MPI_Request *request),
    (send, send_count, send_type, receive, receive_count, receive_type, comm, request), -1,
    HL_RECORD_MPI_ALL, given(send, send_count, send_type, receive_count, receive_type))
POSTED_COLLECTIVE(Iallgatherv,
                  (const void *send, int send_count, MPI_Datatype send_type, void *receive,
                   const int receive_counts[], const int places[], MPI_Datatype receive_type,
                   MPI_Comm comm, MPI_Request *request),
                  (send, send_count, send_type, receive, receive_counts, places, receive_type, comm,
                   request),
                  -1, HL_RECORD_MPI_ALL, send == MPI_IN_PLACE ? 0 : BYTES(send_count, send_type))
POSTED_COLLECTIVE(Ialltoall,
                  (const void *send, int send_count, MPI_Datatype send_type, void *receive,
                   int receive_count, MPI_Datatype receive_type, MPI_Comm comm,
                   MPI_Request *request),
                  (send, send_count, send_type, receive, receive_count, receive_type, comm,
                   request),
                  -1, HL_RECORD_MPI_ALL,
                  times_size(given(send, send_count, send_type, receive_count, receive_type), comm))
POSTED_COLLECTIVE(Ialltoallv,
                  (const void *send, const int send_counts[], const int send_places[],
                   MPI_Datatype send_type, void *receive, const int receive_counts[],
                   const int receive_places[], MPI_Datatype receive_type, MPI_Comm comm,
                   MPI_Request *request),
                  (send, send_counts, send_places, send_type, receive, receive_counts,
                   receive_places, receive_type, comm, request),
                  -1, HL_RECORD_MPI_ALL,
                  send == MPI_IN_PLACE ? hl_mpi_record_sum(receive_counts, receive_type, comm)
                                       : hl_mpi_record_sum(send_counts, send_type, comm))

OTHER(Scan,
      (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      (send, receive, count, type, op, comm))
OTHER(Exscan,
      (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      (send, receive, count, type, op, comm))
OTHER(Neighbor_allgather,
      (const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
       MPI_Datatype receive_type, MPI_Comm comm),
      (send, send_count, send_type, receive, receive_count, receive_type, comm))
OTHER(Neighbor_alltoall,
      (const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
       MPI_Datatype receive_type, MPI_Comm comm),
      (send, send_count, send_type, receive, receive_count, receive_type, comm))
OTHER(Neighbor_alltoallv,
      (const void *send, const int send_counts[], const int send_places[], MPI_Datatype send_type,
       void *receive, const int receive_counts[], const int receive_places[],
       MPI_Datatype receive_type, MPI_Comm comm),
      (send, send_counts, send_places, send_type, receive, receive_counts, receive_places,
       receive_type, comm))

/* --- communicators, which all their processes make at once */

#define MAKE_COMM(name, parameters, arguments)                                                     \
    HAUL_API int MPI_##name parameters                                                             \
    {                                                                                              \
        const hl_mpi_call call = hl_mpi_record_begin(HL_MPI_##name);                               \
        const int code = PMPI_##name arguments;                                                    \
        hl_mpi_record_end(&call);                                                                  \
        if (!code)                                                                                 \
            hl_mpi_record_comm(*made);                                                             \
        return code;                                                                               \
    }
MAKE_COMM(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
MAKE_COMM(Comm_split, (MPI_Comm comm, int color, int order, MPI_Comm *made),
          (comm, color, order, made))
MAKE_COMM(Comm_split_type, (MPI_Comm comm, int type, int order, MPI_Info info, MPI_Comm *made),
          (comm, type, order, info, made))
MAKE_COMM(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made))
MAKE_COMM(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made),
          (comm, group, tag, made))
MAKE_COMM(Cart_create,
          (MPI_Comm comm, int dimensions, const int sizes[], const int periods[], int reorder,
           MPI_Comm *made),
          (comm, dimensions, sizes, periods, reorder, made))
MAKE_COMM(Cart_sub, (MPI_Comm comm, const int kept[], MPI_Comm *made), (comm, kept, made))
MAKE_COMM(Dist_graph_create_adjacent,
          (MPI_Comm comm, int ins, const int sources[], const int in_weights[], int outs,
           const int targets[], const int out_weights[], MPI_Info info, int reorder,
           MPI_Comm *made),
          (comm, ins, sources, in_weights, outs, targets, out_weights, info, reorder, made))
// NOLINTEND(readability-function-size,bugprone-macro-parentheses)
// NOLINTEND(readability-suspicious-call-argument)
