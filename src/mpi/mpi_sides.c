/* The sides of MPI's collective calls, and MPI's own calls of them. */
#include <stdlib.h>

#include "base/fail.h"
#include "mpi/mpi_parts.h"
#include "mpi/neighbours.h"

/* Blocks of each process, in MPI's order; of neighbours those of the topology. */
static int count_blocks(const haul_call *call, MPI_Comm over, bool is_send)
{
    int size = 1, in = 0, out = 0;
    switch (call->kind) {
    case HAUL_CALL_ALLREDUCE:
    case HAUL_CALL_BCAST:
        return 1;
    case HAUL_CALL_NEIGHBOR_ALLTOALL:
    case HAUL_CALL_NEIGHBOR_ALLTOALL_V:
    case HAUL_CALL_NEIGHBOR_ALLTOALL_W:
        (void)hl_mpi_neighbours(over, &in, &out);
        return is_send ? out : in;
    case HAUL_CALL_ALLGATHER:
    case HAUL_CALL_ALLGATHER_V:
        if (is_send)
            return 1;
        break;
    default:
        break;
    }
    (void)PMPI_Comm_size(over, &size);
    return size;
}

/* Block i; false where the call lacks an array that its kind has. */
static bool find_block(const haul_call *call, bool is_send, int i, hl_mpi_block_of *block)
{
    const haul_call_side *side = is_send ? &call->send : &call->receive;
    const bool is_w =
        call->kind == HAUL_CALL_ALLTOALL_W || call->kind == HAUL_CALL_NEIGHBOR_ALLTOALL_W;
    const bool is_v = call->kind == HAUL_CALL_ALLTOALL_V ||
                      call->kind == HAUL_CALL_NEIGHBOR_ALLTOALL_V ||
                      (call->kind == HAUL_CALL_ALLGATHER_V && !is_send);
    MPI_Aint low, extent = 0;
    *block = (hl_mpi_block_of){.count = side->count, .type = side->type};
    if (is_w || is_v) {
        const bool has_places = call->kind == HAUL_CALL_NEIGHBOR_ALLTOALL_W
                                    ? side->far_places != NULL
                                    : side->places != NULL;
        if (!side->counts || !has_places || (is_w && !side->types))
            return false;
        block->count = side->counts[i];
    }
    if (is_w)
        block->type = side->types[i];
    if (block->type == MPI_DATATYPE_NULL)
        return true;
    (void)PMPI_Type_get_extent(block->type, &low, &extent);
    if (is_v)
        block->place = (int64_t)side->places[i] * extent;
    else if (call->kind == HAUL_CALL_NEIGHBOR_ALLTOALL_W)
        block->place = side->far_places[i];
    else
        block->place = is_w ? side->places[i] : (int64_t)i * block->count * extent;
    return true;
}

/* Beyond the edge of a grid nothing is sent, and what is there in memory stays. */
static void leave_edges(MPI_Comm over, hl_mpi_block_of *blocks, int count)
{
    int topology = MPI_UNDEFINED;
    (void)PMPI_Topo_test(over, &topology);
    for (int i = 0; topology == MPI_CART && i + 1 < count; i += 2) {
        int sides[2] = {MPI_PROC_NULL, MPI_PROC_NULL};
        (void)PMPI_Cart_shift(over, i / 2, 1, &sides[0], &sides[1]);
        for (int k = 0; k < 2; k++)
            if (sides[k] == MPI_PROC_NULL)
                blocks[i + k].count = 0;
    }
}

haul_status hl_mpi_side_region(const haul_call *call, MPI_Comm over, bool is_send, haul_address at,
                               hl_mpi_region *region, haul_error *error)
{
    const int count = count_blocks(call, over, is_send);
    hl_mpi_block_of *blocks = malloc(((size_t)count + 1) * sizeof *blocks);
    bool is_told = true;
    *region = (hl_mpi_region){.blocks = 0};
    if (!blocks)
        return hl_base_fail_no_memory(error);
    for (int i = 0; i < count && is_told; i++)
        is_told = find_block(call, is_send, i, &blocks[i]);
    if (is_told && call->kind >= HAUL_CALL_NEIGHBOR_ALLTOALL)
        leave_edges(over, blocks, count);
    const haul_status status = is_told ? hl_mpi_region_make(region, at, blocks, count, error)
                                       : haul_error_set(error, HAUL_STATUS_USAGE,
                                                        "a call without counts, places or types");
    free(blocks);
    return status;
}

/* --- */

int hl_mpi_own_call(const haul_call *call, MPI_Comm over, const void *send, void *receive)
{
    const haul_call_side *s = &call->send, *r = &call->receive;
    switch (call->kind) {
    case HAUL_CALL_ALLTOALL:
        return PMPI_Alltoall(send, s->count, s->type, receive, r->count, r->type, over);
    case HAUL_CALL_ALLTOALL_V:
        return PMPI_Alltoallv(send, s->counts, s->places, s->type, receive, r->counts, r->places,
                              r->type, over);
    case HAUL_CALL_ALLTOALL_W:
        return PMPI_Alltoallw(send, s->counts, s->places, s->types, receive, r->counts, r->places,
                              r->types, over);
    case HAUL_CALL_ALLGATHER:
        return PMPI_Allgather(send, s->count, s->type, receive, r->count, r->type, over);
    case HAUL_CALL_ALLGATHER_V:
        return PMPI_Allgatherv(send, s->count, s->type, receive, r->counts, r->places, r->type,
                               over);
    case HAUL_CALL_ALLREDUCE:
        return PMPI_Allreduce(send, receive, r->count, r->type, call->op, over);
    case HAUL_CALL_BCAST:
        return PMPI_Bcast(receive, r->count, r->type, call->root, over);
    case HAUL_CALL_NEIGHBOR_ALLTOALL:
        return PMPI_Neighbor_alltoall(send, s->count, s->type, receive, r->count, r->type, over);
    case HAUL_CALL_NEIGHBOR_ALLTOALL_V:
        return PMPI_Neighbor_alltoallv(send, s->counts, s->places, s->type, receive, r->counts,
                                       r->places, r->type, over);
    case HAUL_CALL_NEIGHBOR_ALLTOALL_W:
        return PMPI_Neighbor_alltoallw(send, s->counts, s->far_places, s->types, receive, r->counts,
                                       r->far_places, r->types, over);
    default:
        return MPI_ERR_ARG;
    }
}

int hl_mpi_own_start(const haul_call *call, MPI_Comm over, const void *send, void *receive,
                     MPI_Request *request)
{
    const haul_call_side *s = &call->send, *r = &call->receive;
    switch (call->kind) {
    case HAUL_CALL_ALLTOALL:
        return PMPI_Ialltoall(send, s->count, s->type, receive, r->count, r->type, over, request);
    case HAUL_CALL_ALLTOALL_V:
        return PMPI_Ialltoallv(send, s->counts, s->places, s->type, receive, r->counts, r->places,
                               r->type, over, request);
    case HAUL_CALL_ALLTOALL_W:
        return PMPI_Ialltoallw(send, s->counts, s->places, s->types, receive, r->counts, r->places,
                               r->types, over, request);
    case HAUL_CALL_ALLGATHER:
        return PMPI_Iallgather(send, s->count, s->type, receive, r->count, r->type, over, request);
    case HAUL_CALL_ALLGATHER_V:
        return PMPI_Iallgatherv(send, s->count, s->type, receive, r->counts, r->places, r->type,
                                over, request);
    case HAUL_CALL_ALLREDUCE:
        return PMPI_Iallreduce(send, receive, r->count, r->type, call->op, over, request);
    case HAUL_CALL_BCAST:
        return PMPI_Ibcast(receive, r->count, r->type, call->root, over, request);
    case HAUL_CALL_NEIGHBOR_ALLTOALL:
        return PMPI_Ineighbor_alltoall(send, s->count, s->type, receive, r->count, r->type, over,
                                       request);
    case HAUL_CALL_NEIGHBOR_ALLTOALL_V:
        return PMPI_Ineighbor_alltoallv(send, s->counts, s->places, s->type, receive, r->counts,
                                        r->places, r->type, over, request);
    case HAUL_CALL_NEIGHBOR_ALLTOALL_W:
        return PMPI_Ineighbor_alltoallw(send, s->counts, s->far_places, s->types, receive,
                                        r->counts, r->far_places, r->types, over, request);
    default:
        return MPI_ERR_ARG;
    }
}
