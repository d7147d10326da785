/* Collective calls of any memory: MPI's own, or in pieces through the host. */
#include <stdlib.h>

#include "base/fail.h"
#include "mpi/mpi_parts.h"

/* A call in pieces. */
typedef struct staged {
    const haul_call *call;
    MPI_Comm over;
    int rank, processes; /* of `over` */
    bool is_own;         /* the haul_comm's: whoever waits listens for errors */
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

/* A call of bytes; `bytes` of both sides. */
static haul_call call_of_piece(const staged *self, const hl_mpi_staging *of, uint64_t piece,
                               int *bytes)
{
    int *const sends = self->numbers, *const send_places = sends + self->out.blocks;
    int *const receives = send_places + self->out.blocks;
    int *const receive_places = receives + self->in.blocks;
    haul_call made = {.kind = self->call->kind, .op = self->call->op, .root = self->call->root};
    *bytes = list_piece(of, &self->out, piece, sends, send_places) +
             list_piece(of, &self->in, piece, receives, receive_places);
    if (made.kind == HAUL_CALL_ALLTOALL_W)
        made.kind = HAUL_CALL_ALLTOALL_V;
    if (made.kind >= HAUL_CALL_NEIGHBOR_ALLTOALL)
        made.kind = HAUL_CALL_NEIGHBOR_ALLTOALL_V;
    made.send = (haul_call_side){
        .count = sends[0], .counts = sends, .places = send_places, .type = MPI_BYTE};
    made.receive = (haul_call_side){
        .count = receives[0], .counts = receives, .places = receive_places, .type = MPI_BYTE};
    if (made.kind == HAUL_CALL_BCAST)
        made.receive.count = self->sends ? sends[0] : receives[0];
    if (made.kind == HAUL_CALL_ALLREDUCE) {
        made.receive.count /= item_bytes(self->call);
        made.receive.type = self->call->receive.type;
    }
    return made;
}

static haul_status send_piece(haul_comm *comm, const hl_mpi_staging *of, uint64_t piece,
                              const hl_mpi_slot *slot, haul_error *error)
{
    const staged *self = of->of;
    int bytes, code;
    const haul_call call = call_of_piece(self, of, piece, &bytes);
    const bool is_bcast = call.kind == HAUL_CALL_BCAST;
    const char *out = slot->out;
    char *in = is_bcast && self->sends ? slot->out : slot->in;
    char nothing[2] = {0};
    MPI_Request request = MPI_REQUEST_NULL;
    /* Open MPI 4.1 does not count a call in which a process has nothing to do, and its next one
     * then meets others' earlier ones: it sends itself a byte. */
    if (call.kind == HAUL_CALL_ALLTOALL_V && !bytes) {
        self->numbers[self->rank] = self->numbers[2 * self->out.blocks + self->rank] = 1;
        out = &nothing[0];
        in = &nothing[1];
    }
    if (self->is_own && call.kind < HAUL_CALL_NEIGHBOR_ALLTOALL)
        code = hl_mpi_own_start(&call, self->over, out, in, &request);
    else /* of neighbours not started, for the same reason */
        code = hl_mpi_own_call(&call, self->over, out, in);
    if (code)
        return hl_mpi_failed(comm, code, "a piece of a call", error);
    return request == MPI_REQUEST_NULL ? HAUL_OK : hl_mpi_wait(comm, &request, error);
}

/* --- */

static haul_status open_blocks(staged *self, haul_error *error)
{
    const haul_call *call = self->call;
    if (call->kind == HAUL_CALL_BCAST) {
        self->sends = call->root == self->rank;
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
        hl_mpi_region_keep(&self->out, self->rank);
    return HAUL_OK;
}

static haul_status open_sides(staged *self, haul_error *error)
{
    (void)PMPI_Comm_rank(self->over, &self->rank);
    (void)PMPI_Comm_size(self->over, &self->processes);
    HAUL_TRY(open_blocks(self, error));
    const size_t blocks = (size_t)self->out.blocks + (size_t)self->in.blocks;
    self->numbers = calloc(2 * blocks + 1, sizeof *self->numbers);
    return self->numbers ? HAUL_OK : hl_base_fail_no_memory(error);
}

static void close_sides(staged *self)
{
    hl_mpi_region_release(&self->out);
    hl_mpi_region_release(&self->in);
    free(self->numbers);
}

/* A call's numbers, of which the largest of all processes decide. */
enum { MOST, BLOCKS, ALL_BYTES, ON_DEVICE, CANNOT, NUMBERS };

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t bytes_of(const hl_mpi_region *region)
{
    uint64_t bytes = 0;
    for (int i = 0; i < region->blocks; i++)
        bytes += region->bytes[i];
    return bytes;
}

static bool is_one_block(const haul_call *call)
{
    return call->kind == HAUL_CALL_ALLREDUCE || call->kind == HAUL_CALL_BCAST;
}

static bool all_know_blocks(const haul_call *call)
{
    return is_one_block(call) || call->kind == HAUL_CALL_ALLTOALL ||
           call->kind == HAUL_CALL_ALLGATHER || call->kind == HAUL_CALL_ALLGATHER_V;
}

static void count_blocks(const staged *self, uint64_t numbers[NUMBERS])
{
    const hl_mpi_region *out = &self->out, *in = &self->in;
    numbers[MOST] = larger(out->most, in->most);
    if (is_one_block(self->call))
        numbers[BLOCKS] = 1;
    else if (all_know_blocks(self->call))
        numbers[BLOCKS] = (uint64_t)self->processes;
    else
        numbers[BLOCKS] = (uint64_t)(out->blocks > in->blocks ? out->blocks : in->blocks);
    numbers[ALL_BYTES] = larger(bytes_of(out), bytes_of(in));
}

/* Bytes of each block in a piece, of which all blocks together are about the usual; fewer of more
 * blocks. */
static void set_pieces(const staged *self, const uint64_t numbers[NUMBERS], uint64_t bytes,
                       hl_mpi_staging *made)
{
    const uint64_t item = (uint64_t)item_bytes(self->call), blocks = numbers[BLOCKS];
    const uint64_t items = bytes / (blocks ? blocks : 1) / item;
    made->piece_bytes = item * (items ? items : 1);
    made->pieces = (numbers[MOST] + made->piece_bytes - 1) / made->piece_bytes;
}

static haul_status agree_pieces(haul_comm *comm, const staged *self, hl_mpi_staging *made,
                                haul_error *error)
{
    uint64_t numbers[NUMBERS] = {0};
    count_blocks(self, numbers);
    if (!all_know_blocks(self->call)) {
        MPI_Request request;
        const int code =
            PMPI_Iallreduce(MPI_IN_PLACE, numbers, 2, MPI_UINT64_T, MPI_MAX, self->over, &request);
        if (code)
            return hl_mpi_failed(comm, code, "agreeing on pieces", error);
        HAUL_TRY(hl_mpi_wait(comm, &request, error));
    }
    set_pieces(self, numbers, comm->piece_bytes, made);
    return HAUL_OK;
}

static haul_status run_in_pieces(haul_comm *comm, const haul_call *call, haul_error *error)
{
    staged self = {.call = call, .over = comm->owners, .is_own = true};
    hl_mpi_staging made = {.send = send_piece, .of = &self};
    haul_status status = open_sides(&self, error);
    if (!status)
        status = agree_pieces(comm, &self, &made, error);
    made.out = self.sends ? &self.out : NULL;
    made.in = self.receives ? &self.in : NULL;
    if (!status)
        status = hl_mpi_stage(comm, &made, error);
    close_sides(&self);
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
    enum { RINGS_MOST = 64 };
    int topology = MPI_UNDEFINED, count = 0;
    int sizes[RINGS_MOST], are_rings[RINGS_MOST], places[RINGS_MOST];
    (void)PMPI_Topo_test(over, &topology);
    if (topology != MPI_CART)
        return false;
    (void)PMPI_Cartdim_get(over, &count);
    if (count > RINGS_MOST || PMPI_Cart_get(over, count, sizes, are_rings, places))
        return true;
    for (int i = 0; i < count; i++)
        if (are_rings[i] && sizes[i] < 3)
            return true;
    return false;
}

/* Whether pieces of the call are calls that give the same; alike on all processes. Sums are cut
 * where their items have no gaps. */
static bool can_cut(const haul_call *call, MPI_Comm over)
{
    MPI_Datatype type = call->receive.type;
    MPI_Aint low = 0, extent = 0;
    int size = 0, integers, addresses, types, combiner = 0;
    if (call->kind != HAUL_CALL_ALLREDUCE)
        return call->kind < HAUL_CALL_NEIGHBOR_ALLTOALL || !has_double_neighbours(over);
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
    const bool is_cut = comm->has_device && !comm->is_device_aware && can_cut(call, comm->owners);
    const haul_status status =
        is_cut ? run_in_pieces(comm, call, error) : run_whole(comm, call, comm->owners, error);
    return status ? hl_mpi_tell(comm, error) : HAUL_OK;
}

/* --- over processes that may have no haul_comm in common */

static bool is_staged(const haul_call *call)
{
    return hl_mpi_is_on_device(call->receive.at) ||
           (call->kind != HAUL_CALL_BCAST && hl_mpi_is_on_device(call->send.at));
}

typedef struct cut {
    staged sides;
    hl_mpi_staging made;
    hl_mpi_slots slots;
    uint64_t numbers[NUMBERS];
} cut;

/* All that may fail before this process says that it can. */
static haul_status prepare(haul_comm *comm, cut *self, uint64_t piece_bytes, haul_error *error)
{
    staged *sides = &self->sides;
    self->numbers[ON_DEVICE] = is_staged(sides->call);
    if (self->numbers[ON_DEVICE] && (!comm->device || comm->is_device_aware))
        return haul_error_set(error, HAUL_STATUS_ABSENT, "memory that is not staged");
    HAUL_TRY(open_sides(sides, error));
    count_blocks(sides, self->numbers);
    self->made.out = sides->sends ? &sides->out : NULL;
    self->made.in = sides->receives ? &sides->in : NULL;
    set_pieces(sides, self->numbers, piece_bytes, &self->made);
    return hl_mpi_slots_open(comm, &self->made, &self->slots, error);
}

static haul_status run_cut(haul_comm *comm, cut *self, haul_pieces *pieces, haul_error *error)
{
    comm->mpi_error = MPI_SUCCESS;
    set_pieces(&self->sides, self->numbers, pieces->piece_bytes, &self->made);
    const haul_status status = hl_mpi_stage_in(comm, &self->made, &self->slots, error);
    pieces->mpi_error = comm->mpi_error;
    return status;
}

haul_status haul_call_run_in_pieces(haul_comm *comm, const haul_call *call, haul_pieces *pieces,
                                    haul_error *error)
{
    haul_error why = {.status = HAUL_OK};
    cut self = {.sides = {.call = call, .over = call->over}};
    uint64_t *numbers = self.numbers;
    self.made = (hl_mpi_staging){.send = send_piece, .of = &self.sides, .goes_on = true};
    error = error ? error : &why;
    haul_status status = HAUL_STATUS_ABSENT;
    if (comm && can_cut(call, call->over))
        status = prepare(comm, &self, pieces->piece_bytes, &why);
    numbers[CANNOT] = status != HAUL_OK;
    pieces->mpi_error =
        PMPI_Allreduce(MPI_IN_PLACE, numbers, NUMBERS, MPI_UINT64_T, MPI_MAX, call->over);
    pieces->gains = numbers[ON_DEVICE] && numbers[ALL_BYTES] / 2 >= pieces->piece_bytes;
    pieces->is_made = pieces->mpi_error || (pieces->gains && !numbers[CANNOT]);
    status = HAUL_OK;
    if (pieces->mpi_error)
        status = haul_error_set(error, HAUL_STATUS_DEVICE_FAILED, "agreeing on pieces failed");
    else if (pieces->is_made && comm)
        status = run_cut(comm, &self, pieces, error);
    if (comm)
        hl_mpi_slots_close(comm, &self.slots);
    close_sides(&self.sides);
    return status;
}
