/* Collective calls of any memory: MPI's own, or in pieces through the host. */
#include <stdlib.h>

#include "base/fail.h"
#include "mpi/mpi_parts.h"

/* A call in pieces. */
typedef struct staged {
    const haul_call *call;
    MPI_Comm over;
    hl_mpi_region out, in;
    bool sends, receives;
    int *numbers; /* counts and places of a piece, of out and in */
} staged;

/* A piece's counts and places in bytes; returns all of them. */
static int list_piece(const hl_mpi_staging *of, const hl_mpi_region *region, uint64_t piece,
                      int *counts, int *places)
{
    int at = 0;
    for (int i = 0; i < region->blocks; i++) {
        counts[i] = (int)hl_mpi_piece_of(of, region, i, piece);
        places[i] = at;
        at += counts[i];
    }
    return at;
}

static int item_bytes(const haul_call *call)
{
    int size = 1;
    if (call->kind == HAUL_CALL_ALLREDUCE)
        (void)PMPI_Type_size(call->receive.type, &size);
    return size > 0 ? size : 1;
}

static haul_status send_piece(haul_comm *comm, const hl_mpi_staging *of, uint64_t piece,
                              const hl_mpi_slot *slot, haul_error *error)
{
    const staged *self = of->of;
    int *const sends = self->numbers, *const send_places = sends + self->out.blocks;
    int *const receives = send_places + self->out.blocks;
    int *const receive_places = receives + self->in.blocks;
    MPI_Comm over = self->over;
    const char *out = slot->out;
    char *in = slot->in;
    MPI_Request request = MPI_REQUEST_NULL;
    int code;
    char nothing[2] = {0};
    const int bytes = list_piece(of, &self->out, piece, sends, send_places) +
                      list_piece(of, &self->in, piece, receives, receive_places);
    const bool is_of_all =
        self->call->kind == HAUL_CALL_ALLTOALL_V || self->call->kind == HAUL_CALL_ALLTOALL_W;
    /* Open MPI 4.1 does not count a call in which a process has nothing to do, and its next one
     * then meets others' earlier ones: it sends itself a byte. */
    if (is_of_all && !bytes) {
        sends[comm->owner] = receives[comm->owner] = 1;
        out = &nothing[0];
        in = &nothing[1];
    }
    switch (self->call->kind) {
    case HAUL_CALL_ALLTOALL:
        code = PMPI_Ialltoall(out, sends[0], MPI_BYTE, in, receives[0], MPI_BYTE, over, &request);
        break;
    case HAUL_CALL_ALLTOALL_V:
    case HAUL_CALL_ALLTOALL_W:
        code = PMPI_Ialltoallv(out, sends, send_places, MPI_BYTE, in, receives, receive_places,
                               MPI_BYTE, over, &request);
        break;
    case HAUL_CALL_ALLGATHER:
        code = PMPI_Iallgather(out, sends[0], MPI_BYTE, in, receives[0], MPI_BYTE, over, &request);
        break;
    case HAUL_CALL_ALLGATHER_V:
        code = PMPI_Iallgatherv(out, sends[0], MPI_BYTE, in, receives, receive_places, MPI_BYTE,
                                over, &request);
        break;
    case HAUL_CALL_ALLREDUCE:
        code = PMPI_Iallreduce(out, in, receives[0] / item_bytes(self->call),
                               self->call->receive.type, self->call->op, over, &request);
        break;
    case HAUL_CALL_BCAST:
        code = PMPI_Ibcast(self->sends ? slot->out : in, self->sends ? sends[0] : receives[0],
                           MPI_BYTE, self->call->root, over, &request);
        break;
    default: /* not started, for the same reason */
        code = PMPI_Neighbor_alltoallv(out, sends, send_places, MPI_BYTE, in, receives,
                                       receive_places, MPI_BYTE, over);
    }
    if (code)
        return hl_mpi_failed(comm, code, "a piece of a call", error);
    return request == MPI_REQUEST_NULL ? HAUL_OK : hl_mpi_wait(comm, &request, error);
}

/* --- */

static haul_status open_sides(staged *self, haul_error *error)
{
    const haul_call *call = self->call;
    int rank = 0;
    (void)PMPI_Comm_rank(self->over, &rank);
    if (call->kind == HAUL_CALL_BCAST) {
        self->sends = call->root == rank;
        self->receives = !self->sends;
        return hl_mpi_side_region(call, self->over, false, call->receive.at,
                                  self->sends ? &self->out : &self->in, error);
    }
    self->sends = self->receives = true;
    HAUL_TRY(hl_mpi_side_region(call, self->over, false, call->receive.at, &self->in, error));
    if (!hl_mpi_is_in_place(call->send.at))
        return hl_mpi_side_region(call, self->over, true, call->send.at, &self->out, error);
    const bool is_gather = call->kind == HAUL_CALL_ALLGATHER || call->kind == HAUL_CALL_ALLGATHER_V;
    HAUL_TRY(hl_mpi_side_region(call, self->over, false, call->receive.at, &self->out, error));
    if (is_gather)
        hl_mpi_region_keep(&self->out, rank);
    return HAUL_OK;
}

/* Bytes of each block in a piece, of which all blocks together are about the usual; alike on all
 * processes. */
static haul_status agree_pieces(haul_comm *comm, const staged *self, hl_mpi_staging *made,
                                haul_error *error)
{
    const haul_call_kind kind = self->call->kind;
    const bool is_one = kind == HAUL_CALL_ALLREDUCE || kind == HAUL_CALL_BCAST;
    const bool all_know = is_one || kind == HAUL_CALL_ALLTOALL || kind == HAUL_CALL_ALLGATHER ||
                          kind == HAUL_CALL_ALLGATHER_V;
    const hl_mpi_region *out = &self->out, *in = &self->in;
    uint64_t most[] = {out->most > in->most ? out->most : in->most,
                       is_one ? 1 : (uint64_t)comm->layout.owners};
    if (!all_know) {
        MPI_Request request;
        most[1] = (uint64_t)(out->blocks > in->blocks ? out->blocks : in->blocks);
        const int code =
            PMPI_Iallreduce(MPI_IN_PLACE, most, 2, MPI_UINT64_T, MPI_MAX, self->over, &request);
        if (code)
            return hl_mpi_failed(comm, code, "agreeing on pieces", error);
        HAUL_TRY(hl_mpi_wait(comm, &request, error));
    }
    const uint64_t item = (uint64_t)item_bytes(self->call);
    const uint64_t items = comm->piece_bytes / (most[1] ? most[1] : 1) / item;
    made->piece_bytes = item * (items ? items : 1);
    made->pieces = (most[0] + made->piece_bytes - 1) / made->piece_bytes;
    return HAUL_OK;
}

static haul_status run_in_pieces(haul_comm *comm, const haul_call *call, haul_error *error)
{
    staged self = {.call = call, .over = comm->owners};
    hl_mpi_staging made = {.send = send_piece, .of = &self};
    haul_status status = open_sides(&self, error);
    const size_t blocks = (size_t)self.out.blocks + (size_t)self.in.blocks;
    if (!status) {
        self.numbers = calloc(2 * blocks + 1, sizeof *self.numbers);
        status = self.numbers ? HAUL_OK : hl_base_fail_no_memory(error);
    }
    if (!status)
        status = agree_pieces(comm, &self, &made, error);
    made.out = self.sends ? &self.out : NULL;
    made.in = self.receives ? &self.in : NULL;
    if (!status)
        status = hl_mpi_stage(comm, &made, error);
    hl_mpi_region_release(&self.out);
    hl_mpi_region_release(&self.in);
    free(self.numbers);
    return status;
}

/* In one go: MPI's own call, of memory that it takes or of copies. */
static haul_status run_whole(haul_comm *comm, const haul_call *call, MPI_Comm over,
                             haul_error *error)
{
    haul_request *request = NULL;
    const void *send;
    void *receive;
    HAUL_TRY(haul_request_new(comm, call, &request, error));
    haul_status status = haul_request_copy_down(request, &send, &receive, error);
    if (!status) {
        const int code = hl_mpi_own_call(call, over, send, receive);
        status = code ? hl_mpi_failed(comm, code, "MPI's own call", error) : HAUL_OK;
    }
    if (!status)
        status = haul_request_copy_up(request, error);
    haul_request_free(request);
    return status;
}

/* Two processes round a ring are each other's neighbours on both sides. MPI's calls differ about
 * which side's block goes where (Open MPI 4.1: with and without counts, blocking and not). */
static bool has_double_neighbours(MPI_Comm over)
{
    enum { MOST = 64 };
    int topology = MPI_UNDEFINED, count = 0, sizes[MOST], are_rings[MOST], places[MOST];
    (void)PMPI_Topo_test(over, &topology);
    if (topology != MPI_CART)
        return false;
    (void)PMPI_Cartdim_get(over, &count);
    if (count > MOST || PMPI_Cart_get(over, count, sizes, are_rings, places))
        return true;
    for (int i = 0; i < count; i++)
        if (are_rings[i] && sizes[i] < 3)
            return true;
    return false;
}

/* Whether pieces of the call are calls that give the same; alike on all processes. Sums are cut
 * where their items have no gaps. */
static bool can_cut(const haul_comm *comm, const haul_call *call)
{
    MPI_Datatype type = call->receive.type;
    MPI_Aint low = 0, extent = 0;
    int size = 0, integers, addresses, types, combiner = 0;
    if (call->kind != HAUL_CALL_ALLREDUCE)
        return call->kind < HAUL_CALL_NEIGHBOR_ALLTOALL || !has_double_neighbours(comm->owners);
    if (type == MPI_DATATYPE_NULL)
        return false;
    (void)PMPI_Type_get_extent(type, &low, &extent);
    (void)PMPI_Type_size(type, &size);
    (void)PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    return combiner == MPI_COMBINER_NAMED && !low && extent == size;
}

haul_status haul_call_run(haul_comm *comm, const haul_call *call, haul_error *error)
{
    haul_error why = {.status = HAUL_OK};
    error = error ? error : &why;
    if (comm->owner < 0)
        return HAUL_OK;
    if (call->over && call->over != MPI_COMM_NULL)
        return run_whole(comm, call, call->over, error);
    comm->calls++;
    if (comm->failure.status) {
        *error = comm->failure;
        return error->status;
    }
    const bool is_cut = comm->has_device && !comm->is_device_aware && can_cut(comm, call);
    const haul_status status =
        is_cut ? run_in_pieces(comm, call, error) : run_whole(comm, call, comm->owners, error);
    return status ? hl_mpi_tell(comm, error) : HAUL_OK;
}
