/* Loaded before the MPI with LD_PRELOAD: MPI_Alltoall and MPI_Alltoallv of a program that cannot be
 * recompiled go through libhaul-mpi, by MPI's profiling interface. Each communicator has its
 * haul_comm as an attribute. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include "haul/mpi.h"

/* The one thing that must be found again without the program's help. */
static int key = MPI_KEYVAL_INVALID;

/* One side of a call as bytes. */
typedef struct side {
    void *at;     /* packed here, or where the program has it */
    char *packed; /* NULL: the program's memory is as MPI would send it */
    size_t *counts, *displacements;
    size_t bytes; /* in all */
} side;

/* What the program gives of one side; `counts` NULL: `count` for each. */
typedef struct given {
    void *at;
    const int *counts, *displacements;
    int count;
    MPI_Datatype type;
} given;

static int free_attribute(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)extra;
    haul_comm_free(value);
    return MPI_SUCCESS;
}

/* An MPI that takes a GPU's memory may be handed it, by a program that uses the GPU: such a program
 * is left alone. */
static int may_have_device_memory(void)
{
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support() == 1 && dlsym(RTLD_DEFAULT, "cuInit");
#else
    return 0;
#endif
}

/* Collective; NULL where the program's own call must do. */
static haul_comm *comm_of(MPI_Comm mpi)
{
    haul_comm *comm = NULL;
    haul_error error;
    int is_there = 0, is_inter = 0, rank, size, not_ours = may_have_device_memory();
    if (key == MPI_KEYVAL_INVALID &&
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_attribute, &key, NULL))
        return NULL;
    if (PMPI_Comm_get_attr(mpi, key, (void *)&comm, &is_there) || is_there)
        return is_there ? comm : NULL;
    (void)PMPI_Comm_test_inter(mpi, &is_inter);
    (void)PMPI_Comm_size(mpi, &size);
    (void)PMPI_Comm_rank(mpi, &rank);
    if (is_inter || size < 2)
        return NULL;
    (void)PMPI_Allreduce(MPI_IN_PLACE, &not_ours, 1, MPI_INT, MPI_MAX, mpi);
    if (!not_ours && haul_comm_new(mpi, NULL, &comm, &error) && !rank)
        (void)fprintf(stderr, "haul: %s: MPI's own all-to-alls are used\n", error.text);
    (void)PMPI_Comm_set_attr(mpi, key, comm);
    return comm;
}

/* A basic type whose items lie next to each other is sent as it is, all others packed: what is
 * sent between two processes is then the same bytes, whatever types they use. */
static int is_plain(MPI_Datatype type)
{
    int integers, addresses, types, combiner = 0, size = 0;
    MPI_Aint low, extent = -1;
    (void)PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    (void)PMPI_Type_size(type, &size);
    (void)PMPI_Type_get_extent(type, &low, &extent);
    return combiner == MPI_COMBINER_NAMED && size == extent;
}

static int count_of(const given *of, int peer)
{
    return of->counts ? of->counts[peer] : of->count;
}

static int place_of(const given *of, int peer)
{
    return of->counts ? of->displacements[peer] : peer * of->count;
}

static void side_free(side *of)
{
    free(of->counts);
    free(of->packed);
}

/* Packs what is sent, or unpacks what has come. */
static int repack(const side *self, const given *of, int peers, int is_receive, MPI_Comm comm)
{
    MPI_Aint low, extent;
    int code = PMPI_Type_get_extent(of->type, &low, &extent);
    for (int i = 0; !code && i < peers; i++) {
        char *typed = (char *)of->at + (MPI_Aint)place_of(of, i) * extent;
        char *bytes = self->packed + self->displacements[i];
        const int count = count_of(of, i), size = (int)self->counts[i];
        int at = 0;
        code = is_receive ? PMPI_Unpack(bytes, size, &at, typed, count, of->type, comm)
                          : PMPI_Pack(typed, count, of->type, bytes, size, &at, comm);
    }
    return code;
}

/* False without memory, or where a block is beyond what MPI packs. */
static int side_make(side *self, const given *of, int peers)
{
    int size = 0;
    const int plain = is_plain(of->type);
    *self = (side){.at = of->at, .counts = calloc(2 * (size_t)peers, sizeof(size_t))};
    if (!self->counts)
        return 0;
    self->displacements = self->counts + peers;
    (void)PMPI_Type_size(of->type, &size);
    for (int i = 0; i < peers; i++) {
        self->counts[i] = (size_t)count_of(of, i) * (size_t)size;
        self->displacements[i] = plain ? (size_t)place_of(of, i) * (size_t)size : self->bytes;
        self->bytes += self->counts[i];
        if (!plain && self->counts[i] > INT_MAX)
            return 0;
    }
    if (!plain)
        self->at = self->packed = malloc(self->bytes + 1);
    return self->at || !self->bytes;
}

static int report(MPI_Comm mpi, const haul_error *error)
{
    (void)fprintf(stderr, "haul: %s\n", error->text);
    (void)PMPI_Comm_call_errhandler(mpi, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}

static int exchange(haul_comm *comm, const given *from, const given *to, MPI_Comm mpi)
{
    const int peers = haul_comm_size(comm), in_place = from->at == MPI_IN_PLACE;
    const int is_alike = !to->counts;
    side out = {.at = NULL}, in = {.at = NULL};
    haul_error error = {.text = "out of memory"};
    int code = !side_make(&in, to, peers) || (!in_place && !side_make(&out, from, peers));
    if (!code && in_place && in.packed)
        code = repack(&in, to, peers, 0, mpi);
    else if (!code && out.packed)
        code = repack(&out, from, peers, 0, mpi);
    if (!code && is_alike) {
        code = (int)haul_alltoall(comm, in_place ? haul_in_place() : haul_in_host(out.at),
                                  haul_in_host(in.at), in.counts[0], &error);
    } else if (!code) {
        const haul_alltoallv_blocks blocks = {in_place ? haul_in_place() : haul_in_host(out.at),
                                              {out.counts, out.displacements},
                                              haul_in_host(in.at),
                                              {in.counts, in.displacements},
                                              1};
        code = (int)haul_alltoallv(comm, &blocks, &error);
    }
    if (!code && in.packed)
        code = repack(&in, to, peers, 1, mpi);
    side_free(&in);
    side_free(&out);
    return code ? report(mpi, &error) : MPI_SUCCESS;
}

// NOLINTNEXTLINE(readability-function-size): MPI's parameters
HAUL_API int MPI_Alltoall(const void *send, int send_count, MPI_Datatype send_type, void *receive,
                          int receive_count, MPI_Datatype receive_type, MPI_Comm mpi)
{
    haul_comm *comm = comm_of(mpi);
    if (!comm)
        return PMPI_Alltoall(send, send_count, send_type, receive, receive_count, receive_type,
                             mpi);
    const given from = {(void *)send, NULL, NULL, send_count, send_type};
    const given to = {receive, NULL, NULL, receive_count, receive_type};
    return exchange(comm, &from, &to, mpi);
}

// NOLINTNEXTLINE(readability-function-size): MPI's parameters
HAUL_API int MPI_Alltoallv(const void *send, const int *send_counts, const int *send_places,
                           MPI_Datatype send_type, void *receive, const int *receive_counts,
                           const int *receive_places, MPI_Datatype receive_type, MPI_Comm mpi)
{
    haul_comm *comm = comm_of(mpi);
    if (!comm)
        return PMPI_Alltoallv(send, send_counts, send_places, send_type, receive, receive_counts,
                              receive_places, receive_type, mpi);
    const given from = {(void *)send, send_counts, send_places, 0, send_type};
    const given to = {receive, receive_counts, receive_places, 0, receive_type};
    return exchange(comm, &from, &to, mpi);
}

/* While MPI still runs: attributes of the world are else deleted when it no longer does. */
HAUL_API int MPI_Finalize(void)
{
    haul_comm *comm = NULL;
    int is_there = 0;
    const char *explains = getenv("HAUL_MPI_EXPLAIN");
    if (key != MPI_KEYVAL_INVALID &&
        !PMPI_Comm_get_attr(MPI_COMM_WORLD, key, (void *)&comm, &is_there) && is_there) {
        if (comm && !haul_comm_rank(comm) && explains && *explains == '1')
            (void)fputs(haul_comm_explain(comm), stderr);
        (void)PMPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    }
    return PMPI_Finalize();
}
