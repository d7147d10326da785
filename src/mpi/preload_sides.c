/* A program's buffers of any datatype as bytes. */
#include <limits.h>
#include <stdlib.h>

#include "mpi/preload_parts.h"

/* A basic type whose items lie next to each other is sent as it is, all others packed: what is
 * sent between two processes is then the same bytes, whatever types they use. */
static bool is_plain(MPI_Datatype type)
{
    int integers, addresses, types, combiner = 0, size = 0;
    MPI_Aint low, extent = -1;
    (void)PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    (void)PMPI_Type_size(type, &size);
    (void)PMPI_Type_get_extent(type, &low, &extent);
    return combiner == MPI_COMBINER_NAMED && size == extent;
}

static int count_of(const hl_mpi_given *of, int peer)
{
    return of->counts ? of->counts[peer] : of->count;
}

static MPI_Aint place_of(const hl_mpi_given *of, int peer)
{
    return of->counts ? of->displacements[peer] : (MPI_Aint)peer * of->count;
}

bool hl_mpi_side_check(const hl_mpi_given *given, int peers)
{
    int size = 0;
    if (given->type == MPI_DATATYPE_NULL || (given->counts && !given->displacements))
        return false;
    for (int i = 0; i < peers; i++)
        if (count_of(given, i) < 0)
            return false;
    (void)PMPI_Type_size(given->type, &size);
    return size >= 0; /* MPI_UNDEFINED: items beyond 2 GiB, which no call packs */
}

bool hl_mpi_side_make(hl_mpi_side *self, const hl_mpi_given *given, int peers)
{
    int size = 0;
    const bool plain = is_plain(given->type);
    *self = (hl_mpi_side){.at = given->at, .counts = calloc(2 * (size_t)peers, sizeof(size_t))};
    if (!self->counts)
        return false;
    self->displacements = self->counts + peers;
    (void)PMPI_Type_size(given->type, &size);
    /* The first item of the lowest block: displacements may be negative. */
    MPI_Aint low = 0;
    for (int i = 0; i < peers; i++)
        if (count_of(given, i) && place_of(given, i) < low)
            low = place_of(given, i);
    for (int i = 0; i < peers; i++) {
        const bool is_empty = !count_of(given, i); /* whose displacement may be anything */
        const size_t place = is_empty ? 0 : (size_t)(place_of(given, i) - low);
        self->counts[i] = (size_t)count_of(given, i) * (size_t)size;
        self->displacements[i] = plain ? place * (size_t)size : self->bytes;
        self->bytes += self->counts[i];
    }
    if (plain)
        self->at = (char *)given->at + low * size;
    else
        self->at = self->packed = malloc(self->bytes + 1);
    return self->at || !self->bytes;
}

void hl_mpi_side_free(hl_mpi_side *self)
{
    free(self->counts);
    free(self->packed);
}

/* MPI packs at most INT_MAX bytes at once: a large block goes in pieces of whole items. */
static int repack(const hl_mpi_side *self, const hl_mpi_given *given, int peer, bool is_receive,
                  MPI_Comm comm)
{
    MPI_Aint low, extent;
    int size = 0, code = PMPI_Type_get_extent(given->type, &low, &extent);
    char *typed = (char *)given->at + place_of(given, peer) * extent;
    char *bytes = self->packed + self->displacements[peer];
    (void)PMPI_Type_size(given->type, &size);
    if (!size)
        return code;
    for (int left = count_of(given, peer), count; !code && left > 0; left -= count) {
        const int most = INT_MAX / size;
        int at = 0;
        count = left < most ? left : most;
        code = is_receive ? PMPI_Unpack(bytes, count * size, &at, typed, count, given->type, comm)
                          : PMPI_Pack(typed, count, given->type, bytes, count * size, &at, comm);
        typed += count * extent;
        bytes += (size_t)count * (size_t)size;
    }
    return code;
}

int hl_mpi_side_pack(const hl_mpi_side *self, const hl_mpi_given *given, int peers, MPI_Comm comm)
{
    int code = MPI_SUCCESS;
    for (int i = 0; self->packed && !code && i < peers; i++)
        code = repack(self, given, i, false, comm);
    return code;
}

int hl_mpi_side_unpack(const hl_mpi_side *self, const hl_mpi_given *given, int peers, MPI_Comm comm)
{
    int code = MPI_SUCCESS;
    for (int i = 0; self->packed && !code && i < peers; i++)
        code = repack(self, given, i, true, comm);
    return code;
}

/* --- */

static bool is_side_refused(const haul_call_side *side, int blocks)
{
    int all = side->counts ? 0 : side->count;
    for (int i = 0; side->counts && i < blocks; i++)
        all |= side->counts[i];
    return all < 0 || (!side->types && side->type == MPI_DATATYPE_NULL);
}

bool hl_mpi_is_refused(const haul_call *call, bool in_place)
{
    int size = 0, is_inter = 1;
    if (call->over == MPI_COMM_NULL || PMPI_Comm_test_inter(call->over, &is_inter) || is_inter)
        return false;
    (void)PMPI_Comm_size(call->over, &size);
    if (call->kind == HAUL_CALL_BCAST)
        in_place = true; /* it has one side */
    /* Open MPI 4.1 takes any counts of an all-gather; to know the neighbours' takes long */
    const bool has_counts =
        call->kind == HAUL_CALL_ALLTOALL_V || call->kind == HAUL_CALL_ALLTOALL_W;
    const int counted = has_counts ? size : 0;
    return (call->kind == HAUL_CALL_BCAST && (call->root < 0 || call->root >= size)) ||
           (call->kind == HAUL_CALL_ALLREDUCE && call->op == MPI_OP_NULL) ||
           is_side_refused(&call->receive, counted) ||
           (!in_place && is_side_refused(&call->send, counted));
}
