/* Exchanges between any memory: copies before and behind the messages, or none. */
#include <stdlib.h>

#include "base/fail.h"
#include "mpi/mpi_parts.h"

/* --- staging */

/* One side in packed host memory: its items, there and in the buffer. */
typedef struct stage {
    haul_address address;
    hl_mpi_side side;         /* packed */
    haul_comm_message *items; /* in the buffer */
    hl_mpi_scratch scratch;
} stage;

static haul_status stage_open(haul_comm *self, stage *made, haul_address address,
                              const haul_comm_message *items, size_t count, haul_error *error)
{
    *made = (stage){.address = address, .side = {.count = count, .items = items}};
    if (!hl_mpi_is_on_device(address)) {
        made->side.at = hl_mpi_pointer_of(address);
        return HAUL_OK;
    }
    uint64_t bytes = 0;
    haul_comm_message *packed = malloc(2 * (count + 1) * sizeof *packed);
    if (!packed)
        return hl_base_fail_no_memory(error);
    made->items = packed + count;
    made->side.items = packed;
    for (size_t i = 0; i < count; i++) {
        packed[i] = made->items[i] = items[i];
        packed[i].offset = bytes;
        made->items[i].offset += address.offset;
        bytes += items[i].bytes;
    }
    const haul_status status = hl_mpi_scratch_take(self, bytes + 1, &made->scratch, error);
    made->side.at = made->scratch.at;
    return status;
}

static hl_mpi_copying copying(const stage *self, bool to_device)
{
    return (hl_mpi_copying){self->address.buffer, self->items, self->side.count, self->side.at,
                            to_device};
}

static void stage_close(haul_comm *self, stage *of)
{
    if (of->scratch.at)
        hl_mpi_scratch_give(self, &of->scratch);
    if (of->items)
        free((void *)of->side.items);
}

/* --- ways */

static haul_status run_between_hosts(haul_comm *self, haul_way way, const hl_mpi_call *call,
                                     const hl_mpi_sides *sides, haul_error *error)
{
    switch (way) {
    case HAUL_WAY_PLAIN:
        return hl_mpi_plain(self, call, sides, error);
    case HAUL_WAY_AGGREGATED:
        return hl_mpi_aggregated(self, sides, &call->shape, error);
    case HAUL_WAY_BRUCK:
        return hl_mpi_bruck(self, sides, call->bytes, error);
    case HAUL_WAY_EXTRA_MESSAGE:
        return hl_mpi_extra_message(self, sides, error);
    default:
        return hl_mpi_direct(self, sides, error);
    }
}

static haul_status run_staged(haul_comm *self, haul_way way, const hl_mpi_call *call, stage *out,
                              stage *in, haul_error *error)
{
    haul_status status = HAUL_OK;
    if (out->items) {
        const hl_mpi_copying what = copying(out, false);
        status = hl_mpi_copy(self, &what, error);
    }
    if (!status) {
        const hl_mpi_sides sides = {out->side, in->side};
        status = run_between_hosts(self, way, call, &sides, error);
    }
    if (!status && in->items) {
        const hl_mpi_copying what = copying(in, true);
        status = hl_mpi_copy(self, &what, error);
    }
    return status;
}

/* A piece's messages. */
typedef struct chunks {
    const haul_comm_messages *of;
    haul_comm_message *sends, *receives;
} chunks;

static void list_chunk(const hl_mpi_staging *of, const hl_mpi_region *region, uint64_t piece,
                       const haul_comm_message *items, haul_comm_message *made)
{
    uint64_t at = 0;
    for (int i = 0; i < region->blocks; i++) {
        made[i] = (haul_comm_message){items[i].peer, hl_mpi_piece_of(of, region, i, piece), at};
        at += made[i].bytes;
    }
}

static haul_status send_chunk(haul_comm *self, const hl_mpi_staging *of, uint64_t piece,
                              const hl_mpi_slot *slot, haul_error *error)
{
    const chunks *all = of->of;
    list_chunk(of, of->out, piece, all->of->sends, all->sends);
    list_chunk(of, of->in, piece, all->of->receives, all->receives);
    const hl_mpi_sides sides = {{slot->out, all->sends, all->of->send_count},
                                {slot->in, all->receives, all->of->receive_count}};
    return hl_mpi_direct(self, &sides, error);
}

static haul_status list_region(haul_address at, const haul_comm_message *items, size_t count,
                               hl_mpi_region *region, haul_error *error)
{
    hl_mpi_block_of *blocks = malloc((count + 1) * sizeof *blocks);
    if (!blocks)
        return hl_base_fail_no_memory(error);
    for (size_t i = 0; i < count; i++)
        blocks[i] = (hl_mpi_block_of){(int64_t)items[i].offset, (int64_t)items[i].bytes, MPI_BYTE};
    const haul_status status = hl_mpi_region_make(region, at, blocks, (int)count, error);
    free(blocks);
    return status;
}

/* A message's ends have as many pieces, and another one's may have more: none waits for a piece
 * that has not been posted, for each process sends its pieces in order. */
static haul_status run_chunked(haul_comm *self, const haul_comm_messages *of, haul_error *error)
{
    chunks all = {.of = of, .sends = malloc((of->send_count + 1) * sizeof *all.sends)};
    hl_mpi_region out = {.blocks = 0}, in = {.blocks = 0};
    const uint64_t each = self->piece_bytes / (uint64_t)self->layout.owners;
    hl_mpi_staging made = {
        .out = &out, .in = &in, .piece_bytes = each ? each : 1, .send = send_chunk, .of = &all};
    all.receives = malloc((of->receive_count + 1) * sizeof *all.receives);
    haul_status status = all.sends && all.receives ? HAUL_OK : hl_base_fail_no_memory(error);
    if (!status)
        status = list_region(of->send, of->sends, of->send_count, &out, error);
    if (!status)
        status = list_region(of->receive, of->receives, of->receive_count, &in, error);
    if (!status) {
        const uint64_t most = out.most > in.most ? out.most : in.most;
        made.pieces = (most + made.piece_bytes - 1) / made.piece_bytes;
        status = hl_mpi_stage(self, &made, error);
    }
    hl_mpi_region_release(&out);
    hl_mpi_region_release(&in);
    free(all.sends);
    free(all.receives);
    return status;
}

/* An owner's messages to itself within device memory go through the host, as the others do. */
static haul_status copy_own_on_device(haul_comm *self, stage *out, stage *in, haul_error *error)
{
    size_t at = 0;
    for (size_t i = 0; i < out->side.count; i++) {
        if (out->side.items[i].peer != self->owner || !out->side.items[i].bytes)
            continue;
        while (at < in->side.count &&
               (in->side.items[at].peer != self->owner || !in->side.items[at].bytes))
            at++;
        if (at == in->side.count || in->side.items[at].bytes != out->side.items[i].bytes)
            return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                  "rank %d: what it sends itself is not what it receives",
                                  self->rank);
        const haul_transfer transfer = {
            .to = haul_in_buffer(in->address.buffer, in->items[at++].offset),
            .from = haul_in_buffer(out->address.buffer, out->items[i].offset),
            .size = {out->side.items[i].bytes}};
        HAUL_TRY(haul_stream_copy(self->streams[1], &transfer, NULL, error));
    }
    return haul_stream_wait(self->streams[1], error);
}

static haul_status run_owner(haul_comm *self, haul_way way, const hl_mpi_call *call,
                             haul_error *error)
{
    const haul_comm_messages *of = &call->of;
    const bool is_native = way == HAUL_WAY_PLAIN || way == HAUL_WAY_DIRECT;
    if (is_native || (!hl_mpi_is_on_device(of->send) && !hl_mpi_is_on_device(of->receive))) {
        const hl_mpi_sides sides = {
            {hl_mpi_pointer_of(of->send), of->sends, of->send_count},
            {hl_mpi_pointer_of(of->receive), of->receives, of->receive_count}};
        return run_between_hosts(self, way, call, &sides, error);
    }
    if (way == HAUL_WAY_CHUNKED)
        return run_chunked(self, of, error);
    stage out = {.items = NULL}, in = {.items = NULL};
    haul_status status = stage_open(self, &out, of->send, of->sends, of->send_count, error);
    if (!status)
        status = stage_open(self, &in, of->receive, of->receives, of->receive_count, error);
    const bool both = out.items && in.items;
    if (!status && way == HAUL_WAY_DUPLICATE_POINTER && both) {
        status = hl_mpi_duplicate_pointer(self, of, error);
        if (!status)
            status = copy_own_on_device(self, &out, &in, error);
    } else if (!status) {
        status = run_staged(self, way, call, &out, &in, error);
    }
    stage_close(self, &out);
    stage_close(self, &in);
    return status;
}

haul_status hl_mpi_run(haul_comm *self, haul_way way, const hl_mpi_shape *shape,
                       const hl_mpi_call *call, haul_error *error)
{
    (void)shape;
    if (call)
        return run_owner(self, way, call, error);
    if (way == HAUL_WAY_EXTRA_MESSAGE)
        return hl_mpi_extra_message(self, NULL, error);
    if (way == HAUL_WAY_DUPLICATE_POINTER)
        return hl_mpi_duplicate_pointer(self, NULL, error);
    return HAUL_OK;
}
