/* Collective calls in front of the MPI that are its own: with the program's addresses, or those of
 * copies where a GPU's memory is handed over that it does not take. Each at once, started, and, of
 * an MPI that has them, persistent. */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include "mpi/preload_parts.h"

// NOLINTBEGIN(readability-function-size): MPI's parameters
// NOLINTBEGIN(bugprone-macro-parentheses): parameters and arguments come in parentheses

#define UNWRAP(...) __VA_ARGS__

/* `is_due`, which all processes have the same, comes before what costs more. */
#define STAGED(symbol, from, parameters, sides, is_due, own)                                       \
    HAUL_API int symbol(UNWRAP parameters)                                                         \
    {                                                                                              \
        hl_mpi_staged to;                                                                          \
        int code = MPI_SUCCESS;                                                                    \
        const bool is_cut = is_due;                                                                \
        if (!is_cut && !hl_mpi_needs_staging(from, receive)) {                                     \
            hl_mpi_staged_none(&to, from, receive);                                                \
            return own;                                                                            \
        }                                                                                          \
        haul_call call = {.over = mpi, UNWRAP sides};                                              \
        if (is_cut && hl_mpi_made_in_pieces(&call, from, receive, &code))                          \
            return code;                                                                           \
        code = hl_mpi_staged_begin(&to, &call, from, receive);                                     \
        return code ? code : own;                                                                  \
    }

#define STARTED(lower, from, parameters, arguments, sides)                                         \
    STAGED(MPI_I##lower, from, (UNWRAP parameters, MPI_Request * request), sides, false,           \
           hl_mpi_staged_started(&to, PMPI_I##lower(UNWRAP arguments, request), request, false))

#define MADE(symbol, from, parameters, arguments, sides)                                           \
    STAGED(symbol, from, (UNWRAP parameters, MPI_Info info, MPI_Request * request), sides, false,  \
           hl_mpi_staged_started(&to, P##symbol(UNWRAP arguments, info, request), request, true))

#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define PERSISTENT(name, ...) MADE(MPI_##name##_init, __VA_ARGS__)
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ) && OMPI_HAVE_MPI_EXT_PCOLLREQ
#define PERSISTENT(name, ...) MADE(MPIX_##name##_init, __VA_ARGS__)
#else
#define PERSISTENT(name, ...)
#endif

#define LATER(name, lower, ...) STARTED(lower, __VA_ARGS__) PERSISTENT(name, __VA_ARGS__)

#define CALLS(name, lower, count, from, parameters, arguments, sides)                              \
    STAGED(MPI_##name, from, parameters, sides, (count) == HL_MPI_DUE,                             \
           hl_mpi_staged_end(&to, PMPI_##name(UNWRAP arguments)))                                  \
    LATER(name, lower, from, parameters, arguments, sides)

/* mpi_preload.c has those that are made at once. */
LATER(Alltoall, alltoall, send,
      (const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
       MPI_Datatype receive_type, MPI_Comm mpi),
      (to.send, send_count, send_type, to.receive, receive_count, receive_type, mpi),
      (.kind = HAUL_CALL_ALLTOALL, .send = {.count = send_count, .type = send_type},
       .receive = {.count = receive_count, .type = receive_type}))

LATER(Alltoallv, alltoallv, send,
      (const void *send, const int send_counts[], const int send_places[], MPI_Datatype send_type,
       void *receive, const int receive_counts[], const int receive_places[],
       MPI_Datatype receive_type, MPI_Comm mpi),
      (to.send, send_counts, send_places, send_type, to.receive, receive_counts, receive_places,
       receive_type, mpi),
      (.kind = HAUL_CALL_ALLTOALL_V,
       .send = {.counts = send_counts, .places = send_places, .type = send_type},
       .receive = {.counts = receive_counts, .places = receive_places, .type = receive_type}))

/* Arguments for one side that MPI refuses. */
static bool is_wrong(const void *at, int count, MPI_Datatype type)
{
    return at != MPI_IN_PLACE && (count < 0 || type == MPI_DATATYPE_NULL);
}

CALLS(Alltoallw, alltoallw,
      hl_mpi_count_v(mpi, send == MPI_IN_PLACE ? NULL : send_counts, receive_counts, false), send,
      (const void *send, const int send_counts[], const int send_places[],
       const MPI_Datatype send_types[], void *receive, const int receive_counts[],
       const int receive_places[], const MPI_Datatype receive_types[], MPI_Comm mpi),
      (to.send, send_counts, send_places, send_types, to.receive, receive_counts, receive_places,
       receive_types, mpi),
      (.kind = HAUL_CALL_ALLTOALL_W,
       .send = {.counts = send_counts, .places = send_places, .types = send_types},
       .receive = {.counts = receive_counts, .places = receive_places, .types = receive_types}))

CALLS(Allgather, allgather,
      hl_mpi_count_each(mpi, receive_count, receive_type, is_wrong(send, send_count, send_type)),
      send,
      (const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
       MPI_Datatype receive_type, MPI_Comm mpi),
      (to.send, send_count, send_type, to.receive, receive_count, receive_type, mpi),
      (.kind = HAUL_CALL_ALLGATHER, .send = {.count = send_count, .type = send_type},
       .receive = {.count = receive_count, .type = receive_type}))

CALLS(Allgatherv, allgatherv,
      hl_mpi_count_gathered(mpi, receive_counts, receive_type,
                            is_wrong(send, send_count, send_type)),
      send,
      (const void *send, int send_count, MPI_Datatype send_type, void *receive,
       const int receive_counts[], const int receive_places[], MPI_Datatype receive_type,
       MPI_Comm mpi),
      (to.send, send_count, send_type, to.receive, receive_counts, receive_places, receive_type,
       mpi),
      (.kind = HAUL_CALL_ALLGATHER_V, .send = {.count = send_count, .type = send_type},
       .receive = {.counts = receive_counts, .places = receive_places, .type = receive_type}))

CALLS(Allreduce, allreduce, hl_mpi_count(mpi, count, type, op == MPI_OP_NULL ? -1 : 0), send,
      (const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm mpi),
      (to.send, to.receive, count, type, op, mpi),
      (.kind = HAUL_CALL_ALLREDUCE, .send = {.count = count, .type = type},
       .receive = {.count = count, .type = type}, .op = op))

CALLS(Bcast, bcast, hl_mpi_count(mpi, count, type, root), NULL,
      (void *receive, int count, MPI_Datatype type, int root, MPI_Comm mpi),
      (to.receive, count, type, root, mpi),
      (.kind = HAUL_CALL_BCAST, .receive = {.count = count, .type = type}, .root = root))

CALLS(Neighbor_alltoall, neighbor_alltoall,
      hl_mpi_count_v(mpi, NULL, NULL, is_wrong(send, send_count, send_type)), send,
      (const void *send, int send_count, MPI_Datatype send_type, void *receive, int receive_count,
       MPI_Datatype receive_type, MPI_Comm mpi),
      (to.send, send_count, send_type, to.receive, receive_count, receive_type, mpi),
      (.kind = HAUL_CALL_NEIGHBOR_ALLTOALL, .send = {.count = send_count, .type = send_type},
       .receive = {.count = receive_count, .type = receive_type}))

CALLS(Neighbor_alltoallv, neighbor_alltoallv,
      hl_mpi_count_v(mpi, NULL, NULL, send_type == MPI_DATATYPE_NULL), send,
      (const void *send, const int send_counts[], const int send_places[], MPI_Datatype send_type,
       void *receive, const int receive_counts[], const int receive_places[],
       MPI_Datatype receive_type, MPI_Comm mpi),
      (to.send, send_counts, send_places, send_type, to.receive, receive_counts, receive_places,
       receive_type, mpi),
      (.kind = HAUL_CALL_NEIGHBOR_ALLTOALL_V,
       .send = {.counts = send_counts, .places = send_places, .type = send_type},
       .receive = {.counts = receive_counts, .places = receive_places, .type = receive_type}))

CALLS(Neighbor_alltoallw, neighbor_alltoallw, hl_mpi_count_v(mpi, NULL, NULL, false), send,
      (const void *send, const int send_counts[], const MPI_Aint send_places[],
       const MPI_Datatype send_types[], void *receive, const int receive_counts[],
       const MPI_Aint receive_places[], const MPI_Datatype receive_types[], MPI_Comm mpi),
      (to.send, send_counts, send_places, send_types, to.receive, receive_counts, receive_places,
       receive_types, mpi),
      (.kind = HAUL_CALL_NEIGHBOR_ALLTOALL_W,
       .send = {.counts = send_counts, .far_places = send_places, .types = send_types},
       .receive = {.counts = receive_counts, .far_places = receive_places, .types = receive_types}))

// NOLINTEND(bugprone-macro-parentheses)
// NOLINTEND(readability-function-size)
