/* Collective calls in front of the MPI that are its own: with the program's addresses, or those of
 * copies where a GPU's memory is handed over that it does not take. */
#include "mpi/preload_parts.h"

// NOLINTBEGIN(readability-function-size): MPI's parameters

HAUL_API int MPI_Alltoallw(const void *send, const int *send_counts, const int *send_places,
                           const MPI_Datatype *send_types, void *receive, const int *receive_counts,
                           const int *receive_places, const MPI_Datatype *receive_types,
                           MPI_Comm mpi)
{
    hl_mpi_staged to;
    haul_call call = {
        .kind = HAUL_CALL_ALLTOALL_W,
        .send = {.counts = send_counts, .places = send_places, .types = send_types},
        .receive = {.counts = receive_counts, .places = receive_places, .types = receive_types},
        .over = mpi};
    const int code = hl_mpi_staged_begin(&to, &call, send, receive);
    if (code)
        return code;
    return hl_mpi_staged_end(&to, PMPI_Alltoallw(to.send, send_counts, send_places, send_types,
                                                 to.receive, receive_counts, receive_places,
                                                 receive_types, mpi));
}

HAUL_API int MPI_Allgather(const void *send, int send_count, MPI_Datatype send_type, void *receive,
                           int receive_count, MPI_Datatype receive_type, MPI_Comm mpi)
{
    hl_mpi_staged to;
    haul_call call = {.kind = HAUL_CALL_ALLGATHER,
                      .send = {.count = send_count, .type = send_type},
                      .receive = {.count = receive_count, .type = receive_type},
                      .over = mpi};
    const int code = hl_mpi_staged_begin(&to, &call, send, receive);
    if (code)
        return code;
    return hl_mpi_staged_end(&to, PMPI_Allgather(to.send, send_count, send_type, to.receive,
                                                 receive_count, receive_type, mpi));
}

HAUL_API int MPI_Allgatherv(const void *send, int send_count, MPI_Datatype send_type, void *receive,
                            const int *receive_counts, const int *receive_places,
                            MPI_Datatype receive_type, MPI_Comm mpi)
{
    hl_mpi_staged to;
    haul_call call = {
        .kind = HAUL_CALL_ALLGATHER_V,
        .send = {.count = send_count, .type = send_type},
        .receive = {.counts = receive_counts, .places = receive_places, .type = receive_type},
        .over = mpi};
    const int code = hl_mpi_staged_begin(&to, &call, send, receive);
    if (code)
        return code;
    return hl_mpi_staged_end(&to,
                             PMPI_Allgatherv(to.send, send_count, send_type, to.receive,
                                             receive_counts, receive_places, receive_type, mpi));
}

HAUL_API int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                           MPI_Comm mpi)
{
    hl_mpi_staged to;
    haul_call call = {.kind = HAUL_CALL_ALLREDUCE,
                      .send = {.count = count, .type = type},
                      .receive = {.count = count, .type = type},
                      .op = op,
                      .over = mpi};
    const int code = hl_mpi_staged_begin(&to, &call, send, receive);
    if (code)
        return code;
    return hl_mpi_staged_end(&to, PMPI_Allreduce(to.send, to.receive, count, type, op, mpi));
}

HAUL_API int MPI_Bcast(void *at, int count, MPI_Datatype type, int root, MPI_Comm mpi)
{
    hl_mpi_staged to;
    haul_call call = {.kind = HAUL_CALL_BCAST,
                      .receive = {.count = count, .type = type},
                      .root = root,
                      .over = mpi};
    const int code = hl_mpi_staged_begin(&to, &call, NULL, at);
    if (code)
        return code;
    return hl_mpi_staged_end(&to, PMPI_Bcast(to.receive, count, type, root, mpi));
}

HAUL_API int MPI_Neighbor_alltoall(const void *send, int send_count, MPI_Datatype send_type,
                                   void *receive, int receive_count, MPI_Datatype receive_type,
                                   MPI_Comm mpi)
{
    hl_mpi_staged to;
    haul_call call = {.kind = HAUL_CALL_NEIGHBOR_ALLTOALL,
                      .send = {.count = send_count, .type = send_type},
                      .receive = {.count = receive_count, .type = receive_type},
                      .over = mpi};
    const int code = hl_mpi_staged_begin(&to, &call, send, receive);
    if (code)
        return code;
    return hl_mpi_staged_end(&to, PMPI_Neighbor_alltoall(to.send, send_count, send_type, to.receive,
                                                         receive_count, receive_type, mpi));
}

HAUL_API int MPI_Neighbor_alltoallv(const void *send, const int *send_counts,
                                    const int *send_places, MPI_Datatype send_type, void *receive,
                                    const int *receive_counts, const int *receive_places,
                                    MPI_Datatype receive_type, MPI_Comm mpi)
{
    hl_mpi_staged to;
    haul_call call = {
        .kind = HAUL_CALL_NEIGHBOR_ALLTOALL_V,
        .send = {.counts = send_counts, .places = send_places, .type = send_type},
        .receive = {.counts = receive_counts, .places = receive_places, .type = receive_type},
        .over = mpi};
    const int code = hl_mpi_staged_begin(&to, &call, send, receive);
    if (code)
        return code;
    return hl_mpi_staged_end(&to, PMPI_Neighbor_alltoallv(to.send, send_counts, send_places,
                                                          send_type, to.receive, receive_counts,
                                                          receive_places, receive_type, mpi));
}

HAUL_API int MPI_Neighbor_alltoallw(const void *send, const int *send_counts,
                                    const MPI_Aint *send_places, const MPI_Datatype *send_types,
                                    void *receive, const int *receive_counts,
                                    const MPI_Aint *receive_places,
                                    const MPI_Datatype *receive_types, MPI_Comm mpi)
{
    hl_mpi_staged to;
    haul_call call = {
        .kind = HAUL_CALL_NEIGHBOR_ALLTOALL_W,
        .send = {.counts = send_counts, .far_places = send_places, .types = send_types},
        .receive = {.counts = receive_counts, .far_places = receive_places, .types = receive_types},
        .over = mpi};
    const int code = hl_mpi_staged_begin(&to, &call, send, receive);
    if (code)
        return code;
    return hl_mpi_staged_end(&to, PMPI_Neighbor_alltoallw(to.send, send_counts, send_places,
                                                          send_types, to.receive, receive_counts,
                                                          receive_places, receive_types, mpi));
}

// NOLINTEND(readability-function-size)
