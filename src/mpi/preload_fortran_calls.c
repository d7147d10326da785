/* Fortran's entry points of other collective calls. All go on to C's, with the host's memory too:
 * those count calls, and all processes must count the same. */
#include <dlfcn.h>
#include <stdlib.h>

#include "mpi/neighbours.h"
#include "mpi/preload_parts.h"

typedef MPI_Fint fint; /* handles and counts */

// NOLINTBEGIN(readability-function-size,readability-identifier-naming): MPI's parameters, and
// names that Fortran's compilers make

static void set_code(fint *code, int found)
{
    if (code) /* optional in mpi_f08 */
        *code = found;
}

typedef void fortran_alltoallw(void *send, fint *send_counts, fint *send_places, fint *send_types,
                               void *receive, fint *receive_counts, fint *receive_places,
                               fint *receive_types, fint *comm, fint *code);
typedef void fortran_allgather(void *send, fint *send_count, fint *send_type, void *receive,
                               fint *receive_count, fint *receive_type, fint *comm, fint *code);
typedef void fortran_allgatherv(void *send, fint *send_count, fint *send_type, void *receive,
                                fint *receive_counts, fint *receive_places, fint *receive_type,
                                fint *comm, fint *code);
typedef void fortran_allreduce(void *send, void *receive, fint *count, fint *type, fint *op,
                               fint *comm, fint *code);
typedef void fortran_bcast(void *at, fint *count, fint *type, fint *root, fint *comm, fint *code);
typedef void fortran_neighbor_alltoallv(void *send, fint *send_counts, fint *send_places,
                                        fint *send_type, void *receive, fint *receive_counts,
                                        fint *receive_places, fint *receive_type, fint *comm,
                                        fint *code);
typedef void fortran_neighbor_alltoallw(void *send, fint *send_counts, MPI_Aint *send_places,
                                        fint *send_types, void *receive, fint *receive_counts,
                                        MPI_Aint *receive_places, fint *receive_types, fint *comm,
                                        fint *code);

HAUL_API fortran_alltoallw mpi_alltoallw_;
HAUL_API fortran_allgather mpi_allgather_, mpi_neighbor_alltoall_;
HAUL_API fortran_allgatherv mpi_allgatherv_;
HAUL_API fortran_allreduce mpi_allreduce_;
HAUL_API fortran_bcast mpi_bcast_;
HAUL_API fortran_neighbor_alltoallv mpi_neighbor_alltoallv_;
HAUL_API fortran_neighbor_alltoallw mpi_neighbor_alltoallw_;

void mpi_alltoallw_(void *send, fint *send_counts, fint *send_places, fint *send_types,
                    void *receive, fint *receive_counts, fint *receive_places, fint *receive_types,
                    fint *comm, fint *code)
{
    static fortran_alltoallw *own;
    if (!own)
        *(void **)&own = dlsym(RTLD_NEXT, "mpi_alltoallw_");
    void *from = send, *to = receive;
    int size = 0, is_inter = 1;
    MPI_Comm mpi = MPI_Comm_f2c(*comm);
    const bool is_haul = hl_mpi_fortran_address(&from) && hl_mpi_fortran_address(&to) &&
                         !PMPI_Comm_test_inter(mpi, &is_inter) && !is_inter &&
                         !PMPI_Comm_size(mpi, &size);
    MPI_Datatype *types = is_haul ? malloc((2 * (size_t)size + 1) * sizeof(MPI_Datatype)) : NULL;
    if (!types) {
        own(send, send_counts, send_places, send_types, receive, receive_counts, receive_places,
            receive_types, comm, code);
        return;
    }
    for (int i = 0; i < size; i++) {
        types[size + i] = MPI_Type_f2c(receive_types[i]);
        types[i] = from == MPI_IN_PLACE ? types[size + i] : MPI_Type_f2c(send_types[i]);
    }
    set_code(code, MPI_Alltoallw(from, send_counts, send_places, types, to, receive_counts,
                                 receive_places, types + size, mpi));
    free((void *)types);
}

void mpi_allgather_(void *send, fint *send_count, fint *send_type, void *receive,
                    fint *receive_count, fint *receive_type, fint *comm, fint *code)
{
    static fortran_allgather *own;
    if (!own)
        *(void **)&own = dlsym(RTLD_NEXT, "mpi_allgather_");
    void *from = send, *to = receive;
    if (hl_mpi_fortran_address(&from) && hl_mpi_fortran_address(&to))
        set_code(code,
                 MPI_Allgather(from, *send_count,
                               MPI_Type_f2c(from == MPI_IN_PLACE ? *receive_type : *send_type), to,
                               *receive_count, MPI_Type_f2c(*receive_type), MPI_Comm_f2c(*comm)));
    else
        own(send, send_count, send_type, receive, receive_count, receive_type, comm, code);
}

void mpi_allgatherv_(void *send, fint *send_count, fint *send_type, void *receive,
                     fint *receive_counts, fint *receive_places, fint *receive_type, fint *comm,
                     fint *code)
{
    static fortran_allgatherv *own;
    if (!own)
        *(void **)&own = dlsym(RTLD_NEXT, "mpi_allgatherv_");
    void *from = send, *to = receive;
    if (hl_mpi_fortran_address(&from) && hl_mpi_fortran_address(&to))
        set_code(code,
                 MPI_Allgatherv(from, *send_count,
                                MPI_Type_f2c(from == MPI_IN_PLACE ? *receive_type : *send_type), to,
                                receive_counts, receive_places, MPI_Type_f2c(*receive_type),
                                MPI_Comm_f2c(*comm)));
    else
        own(send, send_count, send_type, receive, receive_counts, receive_places, receive_type,
            comm, code);
}

void mpi_allreduce_(void *send, void *receive, fint *count, fint *type, fint *op, fint *comm,
                    fint *code)
{
    static fortran_allreduce *own;
    if (!own)
        *(void **)&own = dlsym(RTLD_NEXT, "mpi_allreduce_");
    void *from = send, *to = receive;
    if (hl_mpi_fortran_address(&from) && hl_mpi_fortran_address(&to))
        set_code(code, MPI_Allreduce(from, to, *count, MPI_Type_f2c(*type), MPI_Op_f2c(*op),
                                     MPI_Comm_f2c(*comm)));
    else
        own(send, receive, count, type, op, comm, code);
}

void mpi_bcast_(void *at, fint *count, fint *type, fint *root, fint *comm, fint *code)
{
    static fortran_bcast *own;
    if (!own)
        *(void **)&own = dlsym(RTLD_NEXT, "mpi_bcast_");
    void *to = at;
    if (hl_mpi_fortran_address(&to))
        set_code(code, MPI_Bcast(to, *count, MPI_Type_f2c(*type), *root, MPI_Comm_f2c(*comm)));
    else
        own(at, count, type, root, comm, code);
}

void mpi_neighbor_alltoall_(void *send, fint *send_count, fint *send_type, void *receive,
                            fint *receive_count, fint *receive_type, fint *comm, fint *code)
{
    static fortran_allgather *own;
    if (!own)
        *(void **)&own = dlsym(RTLD_NEXT, "mpi_neighbor_alltoall_");
    void *from = send, *to = receive;
    if (hl_mpi_fortran_address(&from) && hl_mpi_fortran_address(&to))
        set_code(code, MPI_Neighbor_alltoall(from, *send_count, MPI_Type_f2c(*send_type), to,
                                             *receive_count, MPI_Type_f2c(*receive_type),
                                             MPI_Comm_f2c(*comm)));
    else
        own(send, send_count, send_type, receive, receive_count, receive_type, comm, code);
}

void mpi_neighbor_alltoallv_(void *send, fint *send_counts, fint *send_places, fint *send_type,
                             void *receive, fint *receive_counts, fint *receive_places,
                             fint *receive_type, fint *comm, fint *code)
{
    static fortran_neighbor_alltoallv *own;
    if (!own)
        *(void **)&own = dlsym(RTLD_NEXT, "mpi_neighbor_alltoallv_");
    void *from = send, *to = receive;
    if (hl_mpi_fortran_address(&from) && hl_mpi_fortran_address(&to))
        set_code(code,
                 MPI_Neighbor_alltoallv(from, send_counts, send_places, MPI_Type_f2c(*send_type),
                                        to, receive_counts, receive_places,
                                        MPI_Type_f2c(*receive_type), MPI_Comm_f2c(*comm)));
    else
        own(send, send_counts, send_places, send_type, receive, receive_counts, receive_places,
            receive_type, comm, code);
}

void mpi_neighbor_alltoallw_(void *send, fint *send_counts, MPI_Aint *send_places, fint *send_types,
                             void *receive, fint *receive_counts, MPI_Aint *receive_places,
                             fint *receive_types, fint *comm, fint *code)
{
    static fortran_neighbor_alltoallw *own;
    if (!own)
        *(void **)&own = dlsym(RTLD_NEXT, "mpi_neighbor_alltoallw_");
    void *from = send, *to = receive;
    int out = 0, in = 0;
    MPI_Comm mpi = MPI_Comm_f2c(*comm);
    const bool is_haul = hl_mpi_fortran_address(&from) && hl_mpi_fortran_address(&to) &&
                         hl_mpi_neighbours(mpi, &in, &out);
    MPI_Datatype *types =
        is_haul ? malloc(((size_t)out + (size_t)in + 1) * sizeof(MPI_Datatype)) : NULL;
    if (!types) {
        own(send, send_counts, send_places, send_types, receive, receive_counts, receive_places,
            receive_types, comm, code);
        return;
    }
    for (int i = 0; i < out; i++)
        types[i] = MPI_Type_f2c(send_types[i]);
    for (int i = 0; i < in; i++)
        types[out + i] = MPI_Type_f2c(receive_types[i]);
    set_code(code, MPI_Neighbor_alltoallw(from, send_counts, send_places, types, to, receive_counts,
                                          receive_places, types + out, mpi));
    free((void *)types);
}

HAUL_API fortran_alltoallw mpi_alltoallw __attribute__((alias("mpi_alltoallw_"))),
    mpi_alltoallw__ __attribute__((alias("mpi_alltoallw_"))),
    MPI_ALLTOALLW __attribute__((alias("mpi_alltoallw_"))),
    mpi_alltoallw_f08_ __attribute__((alias("mpi_alltoallw_")));
HAUL_API fortran_allgather mpi_allgather __attribute__((alias("mpi_allgather_"))),
    mpi_allgather__ __attribute__((alias("mpi_allgather_"))),
    MPI_ALLGATHER __attribute__((alias("mpi_allgather_"))),
    mpi_allgather_f08_ __attribute__((alias("mpi_allgather_")));
HAUL_API fortran_allgatherv mpi_allgatherv __attribute__((alias("mpi_allgatherv_"))),
    mpi_allgatherv__ __attribute__((alias("mpi_allgatherv_"))),
    MPI_ALLGATHERV __attribute__((alias("mpi_allgatherv_"))),
    mpi_allgatherv_f08_ __attribute__((alias("mpi_allgatherv_")));
HAUL_API fortran_allreduce mpi_allreduce __attribute__((alias("mpi_allreduce_"))),
    mpi_allreduce__ __attribute__((alias("mpi_allreduce_"))),
    MPI_ALLREDUCE __attribute__((alias("mpi_allreduce_"))),
    mpi_allreduce_f08_ __attribute__((alias("mpi_allreduce_")));
HAUL_API fortran_bcast mpi_bcast __attribute__((alias("mpi_bcast_"))),
    mpi_bcast__ __attribute__((alias("mpi_bcast_"))),
    MPI_BCAST __attribute__((alias("mpi_bcast_"))),
    mpi_bcast_f08_ __attribute__((alias("mpi_bcast_")));
HAUL_API fortran_allgather mpi_neighbor_alltoall __attribute__((alias("mpi_neighbor_alltoall_"))),
    mpi_neighbor_alltoall__ __attribute__((alias("mpi_neighbor_alltoall_"))),
    MPI_NEIGHBOR_ALLTOALL __attribute__((alias("mpi_neighbor_alltoall_"))),
    mpi_neighbor_alltoall_f08_ __attribute__((alias("mpi_neighbor_alltoall_")));
HAUL_API fortran_neighbor_alltoallv mpi_neighbor_alltoallv
    __attribute__((alias("mpi_neighbor_alltoallv_"))),
    mpi_neighbor_alltoallv__ __attribute__((alias("mpi_neighbor_alltoallv_"))),
    MPI_NEIGHBOR_ALLTOALLV __attribute__((alias("mpi_neighbor_alltoallv_"))),
    mpi_neighbor_alltoallv_f08_ __attribute__((alias("mpi_neighbor_alltoallv_")));
HAUL_API fortran_neighbor_alltoallw mpi_neighbor_alltoallw
    __attribute__((alias("mpi_neighbor_alltoallw_"))),
    mpi_neighbor_alltoallw__ __attribute__((alias("mpi_neighbor_alltoallw_"))),
    MPI_NEIGHBOR_ALLTOALLW __attribute__((alias("mpi_neighbor_alltoallw_"))),
    mpi_neighbor_alltoallw_f08_ __attribute__((alias("mpi_neighbor_alltoallw_")));
// NOLINTEND(readability-function-size,readability-identifier-naming)
