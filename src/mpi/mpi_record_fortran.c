/* Fortran's entry points, of mpif.h, `use mpi` and mpi_f08: the MPI's own go past C's functions.
 * Each calls the MPI's with its arguments as they are, and tells the recorder what they say.
 * Handles of mpi_f08 are structures of one integer, so that both kinds are called alike. */
#include <dlfcn.h>
#include <stdlib.h>

#include "haul/api.h"
#include "mpi/mpi_record.h"

/* Of a status, in both kinds. */
enum { STATUS_INTS = sizeof(MPI_Status) / sizeof(MPI_Fint) };

#define BYTES(count, type) hl_mpi_record_bytes(*(count), MPI_Type_f2c(*(type)))

/* Constants of Fortran are variables, told by their addresses: Open MPI's common blocks, and where
 * MPICH keeps the addresses of its own. */
static bool is_constant(const void *at, const char *common, const char *kept)
{
    const void *const variable = dlsym(RTLD_DEFAULT, common);
    const void *const *const address = dlsym(RTLD_DEFAULT, kept);
    return (variable && at == variable) || (address && at == *address);
}

static bool is_in_place(const void *at)
{
    return is_constant(at, "mpi_fortran_in_place_", "MPIR_F_MPI_IN_PLACE");
}

static bool is_ignored(const MPI_Fint *status)
{
    return !status || is_constant(status, "mpi_fortran_status_ignore_", "MPI_F_STATUS_IGNORE") ||
           is_constant(status, "mpi_fortran_statuses_ignore_", "MPI_F_STATUSES_IGNORE");
}

static uint64_t given(const void *send, const MPI_Fint *send_count, const MPI_Fint *send_type,
                      const MPI_Fint *receive_count, const MPI_Fint *receive_type)
{
    return is_in_place(send) ? BYTES(receive_count, receive_type) : BYTES(send_count, send_type);
}

static uint64_t times_size(uint64_t bytes, const MPI_Fint *comm)
{
    int size = 1;
    (void)PMPI_Comm_size(MPI_Comm_f2c(*comm), &size);
    return size > 0 ? bytes * (uint64_t)size : bytes;
}

static uint64_t sum_of(const MPI_Fint *counts, const MPI_Fint *type, const MPI_Fint *comm)
{
    return hl_mpi_record_sum(counts, MPI_Type_f2c(*type), MPI_Comm_f2c(*comm));
}

// NOLINTBEGIN(readability-suspicious-call-argument): what a scatter receives is given in place
// NOLINTBEGIN(readability-identifier-naming,readability-function-size): names of Fortran's
// NOLINTBEGIN(bugprone-macro-parentheses): parameters and arguments come in parentheses

#define UNWRAP(...) __VA_ARGS__

/* One entry of the MPI's, found once, and what the function that follows does around it. */
#define ENTRY(symbol, lower, parameters, arguments)                                                \
    void symbol(UNWRAP parameters)                                                                 \
    {                                                                                              \
        static lower##_call *own;                                                                  \
        if (!own)                                                                                  \
            *(void **)&own = dlsym(RTLD_NEXT, #symbol);                                            \
        lower##_with(own, UNWRAP arguments);                                                       \
    }

/* The names that compilers give a function, and mpi_f08's; its body follows. */
#define FORTRAN(lower, upper, parameters, arguments)                                               \
    typedef void lower##_call(UNWRAP parameters);                                                  \
    static void lower##_with(lower##_call *own, UNWRAP parameters);                                \
    HAUL_API lower##_call lower##_, lower##_f08_;                                                  \
    ENTRY(lower##_, lower, parameters, arguments)                                                  \
    ENTRY(lower##_f08_, lower, parameters, arguments)                                              \
    HAUL_API lower##_call lower __attribute__((alias(#lower "_"))),                                \
        lower##__ __attribute__((alias(#lower "_"))), upper __attribute__((alias(#lower "_")));    \
    static void lower##_with(lower##_call *own, UNWRAP parameters)

/* --- the begin and the end */

FORTRAN(mpi_init, MPI_INIT, (MPI_Fint * code), (code))
{
    own(code);
    hl_mpi_record_open();
}

FORTRAN(mpi_init_thread, MPI_INIT_THREAD, (MPI_Fint * required, MPI_Fint *provided, MPI_Fint *code),
        (required, provided, code))
{
    own(required, provided, code);
    hl_mpi_record_open();
}

FORTRAN(mpi_finalize, MPI_FINALIZE, (MPI_Fint * code), (code))
{
    hl_mpi_record_compare_clocks();
    hl_mpi_record_close();
    own(code);
}

/* --- messages */

static hl_mpi_target target_of(hl_record_mpi_way way, const MPI_Fint *peer, const MPI_Fint *tag,
                               const MPI_Fint *comm, uint64_t bytes)
{
    return (hl_mpi_target){MPI_Comm_f2c(*comm), peer ? *peer : -1, tag ? *tag : 0, way, bytes};
}

#define SEND(lower, upper, name)                                                                   \
    FORTRAN(lower, upper,                                                                          \
            (void *buffer, MPI_Fint *count, MPI_Fint *type, MPI_Fint *peer, MPI_Fint *tag,         \
             MPI_Fint *comm, MPI_Fint *code),                                                      \
            (buffer, count, type, peer, tag, comm, code))                                          \
    {                                                                                              \
        const hl_mpi_call call = hl_mpi_record_begin(HL_MPI_##name);                               \
        own(buffer, count, type, peer, tag, comm, code);                                           \
        const hl_mpi_target to =                                                                   \
            target_of(HL_RECORD_MPI_SENDS, peer, tag, comm, BYTES(count, type));                   \
        hl_mpi_record_blocking(&call, &to);                                                        \
    }
SEND(mpi_send, MPI_SEND, Send)
SEND(mpi_ssend, MPI_SSEND, Ssend)
SEND(mpi_rsend, MPI_RSEND, Rsend)
SEND(mpi_bsend, MPI_BSEND, Bsend)

#define POST(lower, upper, name, way)                                                              \
    FORTRAN(lower, upper,                                                                          \
            (void *buffer, MPI_Fint *count, MPI_Fint *type, MPI_Fint *peer, MPI_Fint *tag,         \
             MPI_Fint *comm, MPI_Fint *request, MPI_Fint *code),                                   \
            (buffer, count, type, peer, tag, comm, request, code))                                 \
    {                                                                                              \
        const hl_mpi_call call = hl_mpi_record_begin(HL_MPI_##name);                               \
        own(buffer, count, type, peer, tag, comm, request, code);                                  \
        const hl_mpi_target to = target_of(way, peer, tag, comm, BYTES(count, type));              \
        hl_mpi_record_posted(&call, &to, MPI_Request_f2c(*request));                               \
    }
POST(mpi_isend, MPI_ISEND, Isend, HL_RECORD_MPI_SENDS)
POST(mpi_issend, MPI_ISSEND, Issend, HL_RECORD_MPI_SENDS)
POST(mpi_irsend, MPI_IRSEND, Irsend, HL_RECORD_MPI_SENDS)
POST(mpi_ibsend, MPI_IBSEND, Ibsend, HL_RECORD_MPI_SENDS)
POST(mpi_irecv, MPI_IRECV, Irecv, HL_RECORD_MPI_RECEIVES)

#define MAKE(lower, upper, way)                                                                    \
    FORTRAN(lower, upper,                                                                          \
            (void *buffer, MPI_Fint *count, MPI_Fint *type, MPI_Fint *peer, MPI_Fint *tag,         \
             MPI_Fint *comm, MPI_Fint *request, MPI_Fint *code),                                   \
            (buffer, count, type, peer, tag, comm, request, code))                                 \
    {                                                                                              \
        own(buffer, count, type, peer, tag, comm, request, code);                                  \
        const hl_mpi_target to = target_of(way, peer, tag, comm, BYTES(count, type));              \
        hl_mpi_record_made(&to, MPI_Request_f2c(*request));                                        \
    }
MAKE(mpi_send_init, MPI_SEND_INIT, HL_RECORD_MPI_SENDS)
MAKE(mpi_ssend_init, MPI_SSEND_INIT, HL_RECORD_MPI_SENDS)
MAKE(mpi_rsend_init, MPI_RSEND_INIT, HL_RECORD_MPI_SENDS)
MAKE(mpi_bsend_init, MPI_BSEND_INIT, HL_RECORD_MPI_SENDS)
MAKE(mpi_recv_init, MPI_RECV_INIT, HL_RECORD_MPI_RECEIVES)

static void end_receive(const hl_mpi_call *call, const MPI_Fint *comm, const MPI_Fint *status)
{
    MPI_Status made;
    (void)PMPI_Status_f2c(status, &made);
    hl_mpi_record_received(call, MPI_Comm_f2c(*comm), &made);
}

FORTRAN(mpi_recv, MPI_RECV,
        (void *buffer, MPI_Fint *count, MPI_Fint *type, MPI_Fint *peer, MPI_Fint *tag,
         MPI_Fint *comm, MPI_Fint *status, MPI_Fint *code),
        (buffer, count, type, peer, tag, comm, status, code))
{
    MPI_Fint mine[STATUS_INTS];
    MPI_Fint *const into = is_ignored(status) ? mine : status;
    const hl_mpi_call call = hl_mpi_record_begin(HL_MPI_Recv);
    own(buffer, count, type, peer, tag, comm, into, code);
    end_receive(&call, comm, into);
}

FORTRAN(mpi_sendrecv, MPI_SENDRECV,
        (void *send, MPI_Fint *send_count, MPI_Fint *send_type, MPI_Fint *to, MPI_Fint *send_tag,
         void *receive, MPI_Fint *receive_count, MPI_Fint *receive_type, MPI_Fint *from,
         MPI_Fint *receive_tag, MPI_Fint *comm, MPI_Fint *status, MPI_Fint *code),
        (send, send_count, send_type, to, send_tag, receive, receive_count, receive_type, from,
         receive_tag, comm, status, code))
{
    MPI_Fint mine[STATUS_INTS];
    MPI_Fint *const into = is_ignored(status) ? mine : status;
    const hl_mpi_call call = hl_mpi_record_begin(HL_MPI_Sendrecv);
    own(send, send_count, send_type, to, send_tag, receive, receive_count, receive_type, from,
        receive_tag, comm, into, code);
    const hl_mpi_target target =
        target_of(HL_RECORD_MPI_SENDS, to, send_tag, comm, BYTES(send_count, send_type));
    hl_mpi_record_sends(&call, &target);
    end_receive(&call, comm, into);
}

/* --- requests */

static MPI_Request *requests_of(int count, const MPI_Fint *handles)
{
    MPI_Request *const made = count > 0 ? malloc((size_t)count * sizeof(MPI_Request)) : NULL;
    for (int i = 0; made && i < count; i++)
        made[i] = MPI_Request_f2c(handles[i]);
    return made;
}

FORTRAN(mpi_start, MPI_START, (MPI_Fint * request, MPI_Fint *code), (request, code))
{
    const hl_mpi_call call = hl_mpi_record_begin(HL_MPI_Start);
    own(request, code);
    MPI_Request started = MPI_Request_f2c(*request);
    hl_mpi_record_started(&call, 1, &started);
}

FORTRAN(mpi_startall, MPI_STARTALL, (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *code),
        (count, requests, code))
{
    const hl_mpi_call call = hl_mpi_record_begin(HL_MPI_Startall);
    own(count, requests, code);
    MPI_Request *const started = requests_of(*count, requests);
    hl_mpi_record_started(&call, started ? *count : 0, started);
    free(started);
}

FORTRAN(mpi_request_free, MPI_REQUEST_FREE, (MPI_Fint * request, MPI_Fint *code), (request, code))
{
    hl_mpi_record_freed(MPI_Request_f2c(*request));
    own(request, code);
}

/* A completion, and its statuses as Fortran's. */
typedef struct completion {
    hl_mpi_completion of;
    MPI_Fint *statuses, *own; /* own: NULL where the program wants them */
} completion;

static void begin_completion(completion *self, hl_mpi_name name, int count,
                             const MPI_Fint *requests, MPI_Fint *statuses)
{
    MPI_Request *const were = requests_of(count, requests);
    hl_mpi_record_complete_begin(&self->of, name, were ? count : 0, were, MPI_STATUSES_IGNORE);
    free(were);
    self->own = NULL;
    if (self->of.call.start_ns && count > 0 && is_ignored(statuses))
        self->own = malloc((size_t)count * STATUS_INTS * sizeof *self->own);
    self->statuses = self->own ? self->own : statuses;
}

/* Fortran counts from 1. */
static void end_completion(completion *self, int done, const MPI_Fint *which)
{
    hl_mpi_completion *const of = &self->of;
    int *const from_0 = which && done > 0 ? malloc((size_t)done * sizeof *from_0) : NULL;
    const bool is_known = of->requests && of->statuses != MPI_STATUSES_IGNORE &&
                          !is_ignored(self->statuses) && (!which || from_0);
    for (int i = 0; i < done && is_known; i++) {
        (void)PMPI_Status_f2c(self->statuses + (size_t)i * STATUS_INTS, &of->statuses[i]);
        if (which)
            from_0[i] = which[i] - 1;
    }
    hl_mpi_record_complete_end(of, is_known ? done : 0, from_0);
    free(from_0);
    free(self->own);
}

FORTRAN(mpi_wait, MPI_WAIT, (MPI_Fint * request, MPI_Fint *status, MPI_Fint *code),
        (request, status, code))
{
    completion self;
    begin_completion(&self, HL_MPI_Wait, 1, request, status);
    own(request, self.statuses, code);
    end_completion(&self, 1, NULL);
}

FORTRAN(mpi_waitall, MPI_WAITALL,
        (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *statuses, MPI_Fint *code),
        (count, requests, statuses, code))
{
    completion self;
    begin_completion(&self, HL_MPI_Waitall, *count, requests, statuses);
    own(count, requests, self.statuses, code);
    end_completion(&self, *count, NULL);
}

FORTRAN(mpi_waitany, MPI_WAITANY,
        (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *index, MPI_Fint *status, MPI_Fint *code),
        (count, requests, index, status, code))
{
    completion self;
    begin_completion(&self, HL_MPI_Waitany, *count, requests, status);
    own(count, requests, index, self.statuses, code);
    end_completion(&self, *index > 0, index);
}

FORTRAN(mpi_test, MPI_TEST, (MPI_Fint * request, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *code),
        (request, flag, status, code))
{
    completion self;
    begin_completion(&self, HL_MPI_Test, 1, request, status);
    own(request, flag, self.statuses, code);
    end_completion(&self, *flag != 0, NULL);
}

FORTRAN(mpi_testall, MPI_TESTALL,
        (MPI_Fint * count, MPI_Fint *requests, MPI_Fint *flag, MPI_Fint *statuses, MPI_Fint *code),
        (count, requests, flag, statuses, code))
{
    completion self;
    begin_completion(&self, HL_MPI_Testall, *count, requests, statuses);
    own(count, requests, flag, self.statuses, code);
    end_completion(&self, *flag ? *count : 0, NULL);
}

/* --- collectives */

#define COLLECTIVE(lower, upper, name, parameters, arguments, root, way, bytes)                    \
    FORTRAN(lower, upper, parameters, arguments)                                                   \
    {                                                                                              \
        const hl_mpi_call call = hl_mpi_record_begin(HL_MPI_##name);                               \
        own arguments;                                                                             \
        const hl_mpi_target to = target_of(way, root, NULL, comm, bytes);                          \
        hl_mpi_record_blocking(&call, &to);                                                        \
    }

#define POSTED_COLLECTIVE(lower, upper, name, parameters, arguments, root, way, bytes)             \
    FORTRAN(lower, upper, parameters, arguments)                                                   \
    {                                                                                              \
        const hl_mpi_call call = hl_mpi_record_begin(HL_MPI_##name);                               \
        own arguments;                                                                             \
        const hl_mpi_target to = target_of(way, root, NULL, comm, bytes);                          \
        hl_mpi_record_posted(&call, &to, MPI_Request_f2c(*request));                               \
    }

COLLECTIVE(mpi_barrier, MPI_BARRIER, Barrier, (MPI_Fint * comm, MPI_Fint *code), (comm, code), NULL,
           HL_RECORD_MPI_ALL, 0)
COLLECTIVE(mpi_bcast, MPI_BCAST, Bcast,
           (void *buffer, MPI_Fint *count, MPI_Fint *type, MPI_Fint *root, MPI_Fint *comm,
            MPI_Fint *code),
           (buffer, count, type, root, comm, code), root, HL_RECORD_MPI_FROM_ROOT,
           BYTES(count, type))
COLLECTIVE(mpi_reduce, MPI_REDUCE, Reduce,
           (void *send, void *receive, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op,
            MPI_Fint *root, MPI_Fint *comm, MPI_Fint *code),
           (send, receive, count, type, op, root, comm, code), root, HL_RECORD_MPI_TO_ROOT,
           BYTES(count, type))
COLLECTIVE(mpi_allreduce, MPI_ALLREDUCE, Allreduce,
           (void *send, void *receive, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op,
            MPI_Fint *comm, MPI_Fint *code),
           (send, receive, count, type, op, comm, code), NULL, HL_RECORD_MPI_ALL,
           BYTES(count, type))
COLLECTIVE(mpi_gather, MPI_GATHER, Gather,
           (void *send, MPI_Fint *send_count, MPI_Fint *send_type, void *receive,
            MPI_Fint *receive_count, MPI_Fint *receive_type, MPI_Fint *root, MPI_Fint *comm,
            MPI_Fint *code),
           (send, send_count, send_type, receive, receive_count, receive_type, root, comm, code),
           root, HL_RECORD_MPI_TO_ROOT,
           given(send, send_count, send_type, receive_count, receive_type))
COLLECTIVE(mpi_gatherv, MPI_GATHERV, Gatherv,
           (void *send, MPI_Fint *send_count, MPI_Fint *send_type, void *receive,
            MPI_Fint *receive_counts, MPI_Fint *places, MPI_Fint *receive_type, MPI_Fint *root,
            MPI_Fint *comm, MPI_Fint *code),
           (send, send_count, send_type, receive, receive_counts, places, receive_type, root, comm,
            code),
           root, HL_RECORD_MPI_TO_ROOT, is_in_place(send) ? 0 : BYTES(send_count, send_type))
COLLECTIVE(mpi_scatter, MPI_SCATTER, Scatter,
           (void *send, MPI_Fint *send_count, MPI_Fint *send_type, void *receive,
            MPI_Fint *receive_count, MPI_Fint *receive_type, MPI_Fint *root, MPI_Fint *comm,
            MPI_Fint *code),
           (send, send_count, send_type, receive, receive_count, receive_type, root, comm, code),
           root, HL_RECORD_MPI_FROM_ROOT,
           given(receive, receive_count, receive_type, send_count, send_type))
COLLECTIVE(mpi_scatterv, MPI_SCATTERV, Scatterv,
           (void *send, MPI_Fint *send_counts, MPI_Fint *places, MPI_Fint *send_type, void *receive,
            MPI_Fint *receive_count, MPI_Fint *receive_type, MPI_Fint *root, MPI_Fint *comm,
            MPI_Fint *code),
           (send, send_counts, places, send_type, receive, receive_count, receive_type, root, comm,
            code),
           root, HL_RECORD_MPI_FROM_ROOT,
           is_in_place(receive) ? 0 : BYTES(receive_count, receive_type))
COLLECTIVE(mpi_allgather, MPI_ALLGATHER, Allgather,
           (void *send, MPI_Fint *send_count, MPI_Fint *send_type, void *receive,
            MPI_Fint *receive_count, MPI_Fint *receive_type, MPI_Fint *comm, MPI_Fint *code),
           (send, send_count, send_type, receive, receive_count, receive_type, comm, code), NULL,
           HL_RECORD_MPI_ALL, given(send, send_count, send_type, receive_count, receive_type))
COLLECTIVE(mpi_allgatherv, MPI_ALLGATHERV, Allgatherv,
           (void *send, MPI_Fint *send_count, MPI_Fint *send_type, void *receive,
            MPI_Fint *receive_counts, MPI_Fint *places, MPI_Fint *receive_type, MPI_Fint *comm,
            MPI_Fint *code),
           (send, send_count, send_type, receive, receive_counts, places, receive_type, comm, code),
           NULL, HL_RECORD_MPI_ALL, is_in_place(send) ? 0 : BYTES(send_count, send_type))
COLLECTIVE(mpi_alltoall, MPI_ALLTOALL, Alltoall,
           (void *send, MPI_Fint *send_count, MPI_Fint *send_type, void *receive,
            MPI_Fint *receive_count, MPI_Fint *receive_type, MPI_Fint *comm, MPI_Fint *code),
           (send, send_count, send_type, receive, receive_count, receive_type, comm, code), NULL,
           HL_RECORD_MPI_ALL,
           times_size(given(send, send_count, send_type, receive_count, receive_type), comm))
COLLECTIVE(mpi_alltoallv, MPI_ALLTOALLV, Alltoallv,
           (void *send, MPI_Fint *send_counts, MPI_Fint *send_places, MPI_Fint *send_type,
            void *receive, MPI_Fint *receive_counts, MPI_Fint *receive_places,
            MPI_Fint *receive_type, MPI_Fint *comm, MPI_Fint *code),
           (send, send_counts, send_places, send_type, receive, receive_counts, receive_places,
            receive_type, comm, code),
           NULL, HL_RECORD_MPI_ALL, sum_of(receive_counts, receive_type, comm))
COLLECTIVE(mpi_reduce_scatter, MPI_REDUCE_SCATTER, Reduce_scatter,
           (void *send, void *receive, MPI_Fint *counts, MPI_Fint *type, MPI_Fint *op,
            MPI_Fint *comm, MPI_Fint *code),
           (send, receive, counts, type, op, comm, code), NULL, HL_RECORD_MPI_ALL,
           sum_of(counts, type, comm))
COLLECTIVE(mpi_reduce_scatter_block, MPI_REDUCE_SCATTER_BLOCK, Reduce_scatter_block,
           (void *send, void *receive, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op,
            MPI_Fint *comm, MPI_Fint *code),
           (send, receive, count, type, op, comm, code), NULL, HL_RECORD_MPI_ALL,
           times_size(BYTES(count, type), comm))
POSTED_COLLECTIVE(mpi_ibarrier, MPI_IBARRIER, Ibarrier,
                  (MPI_Fint * comm, MPI_Fint *request, MPI_Fint *code), (comm, request, code), NULL,
                  HL_RECORD_MPI_ALL, 0)
POSTED_COLLECTIVE(mpi_ibcast, MPI_IBCAST, Ibcast,
                  (void *buffer, MPI_Fint *count, MPI_Fint *type, MPI_Fint *root, MPI_Fint *comm,
                   MPI_Fint *request, MPI_Fint *code),
                  (buffer, count, type, root, comm, request, code), root, HL_RECORD_MPI_FROM_ROOT,
                  BYTES(count, type))
POSTED_COLLECTIVE(mpi_ireduce, MPI_IREDUCE, Ireduce,
                  (void *send, void *receive, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op,
                   MPI_Fint *root, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *code),
                  (send, receive, count, type, op, root, comm, request, code), root,
                  HL_RECORD_MPI_TO_ROOT, BYTES(count, type))
POSTED_COLLECTIVE(mpi_iallreduce, MPI_IALLREDUCE, Iallreduce,
                  (void *send, void *receive, MPI_Fint *count, MPI_Fint *type, MPI_Fint *op,
                   MPI_Fint *comm, MPI_Fint *request, MPI_Fint *code),
                  (send, receive, count, type, op, comm, request, code), NULL, HL_RECORD_MPI_ALL,
                  BYTES(count, type))
POSTED_COLLECTIVE(
    mpi_iallgather, MPI_IALLGATHER, Iallgather,
    (void *send, MPI_Fint *send_count, MPI_Fint *send_type, void *receive, MPI_Fint *receive_count,
     MPI_Fint *receive_type, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *code),
    (send, send_count, send_type, receive, receive_count, receive_type, comm, request, code), NULL,
    HL_RECORD_MPI_ALL, given(send, send_count, send_type, receive_count, receive_type))
POSTED_COLLECTIVE(mpi_iallgatherv, MPI_IALLGATHERV, Iallgatherv,
                  (void *send, MPI_Fint *send_count, MPI_Fint *send_type, void *receive,
                   MPI_Fint *receive_counts, MPI_Fint *places, MPI_Fint *receive_type,
                   MPI_Fint *comm, MPI_Fint *request, MPI_Fint *code),
                  (send, send_count, send_type, receive, receive_counts, places, receive_type, comm,
                   request, code),
                  NULL, HL_RECORD_MPI_ALL, is_in_place(send) ? 0 : BYTES(send_count, send_type))
POSTED_COLLECTIVE(mpi_ialltoall, MPI_IALLTOALL, Ialltoall,
                  (void *send, MPI_Fint *send_count, MPI_Fint *send_type, void *receive,
                   MPI_Fint *receive_count, MPI_Fint *receive_type, MPI_Fint *comm,
                   MPI_Fint *request, MPI_Fint *code),
                  (send, send_count, send_type, receive, receive_count, receive_type, comm, request,
                   code),
                  NULL, HL_RECORD_MPI_ALL,
                  times_size(given(send, send_count, send_type, receive_count, receive_type), comm))
POSTED_COLLECTIVE(mpi_ialltoallv, MPI_IALLTOALLV, Ialltoallv,
                  (void *send, MPI_Fint *send_counts, MPI_Fint *send_places, MPI_Fint *send_type,
                   void *receive, MPI_Fint *receive_counts, MPI_Fint *receive_places,
                   MPI_Fint *receive_type, MPI_Fint *comm, MPI_Fint *request, MPI_Fint *code),
                  (send, send_counts, send_places, send_type, receive, receive_counts,
                   receive_places, receive_type, comm, request, code),
                  NULL, HL_RECORD_MPI_ALL, sum_of(receive_counts, receive_type, comm))

/* --- communicators */

#define MAKE_COMM(lower, upper, name, parameters, arguments)                                       \
    FORTRAN(lower, upper, parameters, arguments)                                                   \
    {                                                                                              \
        const hl_mpi_call call = hl_mpi_record_begin(HL_MPI_##name);                               \
        own arguments;                                                                             \
        hl_mpi_record_end(&call);                                                                  \
        hl_mpi_record_comm(MPI_Comm_f2c(*made));                                                   \
    }
MAKE_COMM(mpi_comm_dup, MPI_COMM_DUP, Comm_dup, (MPI_Fint * comm, MPI_Fint *made, MPI_Fint *code),
          (comm, made, code))
MAKE_COMM(mpi_comm_split, MPI_COMM_SPLIT, Comm_split,
          (MPI_Fint * comm, MPI_Fint *color, MPI_Fint *order, MPI_Fint *made, MPI_Fint *code),
          (comm, color, order, made, code))
MAKE_COMM(mpi_comm_create, MPI_COMM_CREATE, Comm_create,
          (MPI_Fint * comm, MPI_Fint *group, MPI_Fint *made, MPI_Fint *code),
          (comm, group, made, code))
MAKE_COMM(mpi_cart_create, MPI_CART_CREATE, Cart_create,
          (MPI_Fint * comm, MPI_Fint *dimensions, MPI_Fint *sizes, MPI_Fint *periods,
           MPI_Fint *reorder, MPI_Fint *made, MPI_Fint *code),
          (comm, dimensions, sizes, periods, reorder, made, code))
MAKE_COMM(mpi_cart_sub, MPI_CART_SUB, Cart_sub,
          (MPI_Fint * comm, MPI_Fint *kept, MPI_Fint *made, MPI_Fint *code),
          (comm, kept, made, code))
MAKE_COMM(mpi_comm_split_type, MPI_COMM_SPLIT_TYPE, Comm_split_type,
          (MPI_Fint * comm, MPI_Fint *type, MPI_Fint *order, MPI_Fint *info, MPI_Fint *made,
           MPI_Fint *code),
          (comm, type, order, info, made, code))
// NOLINTEND(bugprone-macro-parentheses)
// NOLINTEND(readability-identifier-naming,readability-function-size)
// NOLINTEND(readability-suspicious-call-argument)
