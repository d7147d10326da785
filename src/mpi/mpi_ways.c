/* Ways that need no helper: MPI's own collective, a message to each peer, Bruck's rounds. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "mpi/mpi_parts.h"

/* An owner's messages to itself, in the order of both lists. */
haul_status hl_mpi_copy_own(const haul_comm *self, const hl_mpi_sides *sides, haul_error *error)
{
    const hl_mpi_side *from = &sides->send, *to = &sides->receive;
    size_t at = 0;
    for (size_t i = 0; i < from->count; i++) {
        if (from->items[i].peer != self->owner)
            continue;
        while (at < to->count && to->items[at].peer != self->owner)
            at++;
        if (at == to->count || to->items[at].bytes != from->items[i].bytes)
            return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                                  "rank %d: what it sends itself is not what it receives",
                                  self->rank);
        if (from->items[i].bytes)
            memmove(to->at + to->items[at].offset, from->at + from->items[i].offset,
                    from->items[i].bytes);
        at++;
    }
    return HAUL_OK;
}

/* The messages to others as blocks of ranks. */
static haul_status list_blocks(haul_comm *self, const hl_mpi_side *side, int which, size_t *count,
                               haul_error *error)
{
    if (!hl_base_grow(&self->blocks[which], &self->block_capacity[which], side->count + 1,
                      sizeof **self->blocks))
        return hl_base_fail_no_memory(error);
    *count = 0;
    for (size_t i = 0; i < side->count; i++) {
        const haul_comm_message *item = &side->items[i];
        if (item->peer != self->owner)
            self->blocks[which][(*count)++] = (hl_mpi_block){
                self->layout.rank_of[item->peer], item->bytes, side->at + item->offset, false};
    }
    return HAUL_OK;
}

haul_status hl_mpi_direct(haul_comm *self, const hl_mpi_sides *sides, haul_error *error)
{
    size_t sends = 0, receives = 0;
    HAUL_TRY(list_blocks(self, &sides->send, 0, &sends, error));
    HAUL_TRY(list_blocks(self, &sides->receive, 1, &receives, error));
    HAUL_TRY(hl_mpi_deliver(self, self->blocks[0], sends, self->blocks[1], receives, error));
    return hl_mpi_copy_own(self, sides, error);
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The largest unit that all counts and places are multiples of, where some do not fit MPI's int. */
static uint64_t unit_of(const hl_mpi_side *side)
{
    uint64_t most = 0, unit = 0;
    for (size_t i = 0; i < side->count; i++) {
        const haul_comm_message *item = &side->items[i];
        most |= item->bytes | item->offset;
        unit = common_divisor(common_divisor(unit, item->bytes), item->offset);
    }
    return most <= INT_MAX ? 1 : unit;
}

/* `bytes` bytes as one item, of any size; the caller frees it. */
static int make_unit(uint64_t bytes, MPI_Datatype *type)
{
    enum { PIECE = 1 << 30 };
    int blocks[] = {(int)(bytes / PIECE), (int)(bytes % PIECE)};
    MPI_Aint places[] = {0, (MPI_Aint)(bytes - bytes % PIECE)};
    MPI_Datatype types[] = {MPI_DATATYPE_NULL, MPI_BYTE};
    int code = MPI_Type_contiguous(PIECE, MPI_BYTE, &types[0]);
    if (code)
        return code;
    code = MPI_Type_create_struct(2, blocks, places, types, type);
    (void)MPI_Type_free(&types[0]);
    return code ? code : MPI_Type_commit(type);
}

/* A side's counts and places in its unit; false where they do not fit MPI's int. */
static bool count_units(const hl_mpi_side *side, uint64_t unit, int *counts, int *places)
{
    for (size_t i = 0; i < side->count; i++) {
        const uint64_t count = side->items[i].bytes / unit, place = side->items[i].offset / unit;
        if (count > INT_MAX || place > INT_MAX)
            return false;
        counts[i] = (int)count;
        places[i] = (int)place;
    }
    return true;
}

static haul_status plain_v(haul_comm *self, const hl_mpi_sides *sides, haul_error *error)
{
    const size_t owners = (size_t)self->layout.owners;
    const hl_mpi_side *of[] = {&sides->send, &sides->receive};
    MPI_Datatype types[] = {MPI_BYTE, MPI_BYTE};
    if (!self->plain_numbers)
        self->plain_numbers = malloc(4 * owners * sizeof *self->plain_numbers);
    int *numbers = self->plain_numbers, code = 0;
    if (!numbers)
        return hl_base_fail_no_memory(error);
    for (int i = 0; i < 2; i++) {
        const uint64_t unit = unit_of(of[i]);
        if (!count_units(of[i], unit, numbers + 2 * (size_t)i * owners,
                         numbers + (2 * (size_t)i + 1) * owners))
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "rank %d: blocks that end beyond 2^31 bytes, in no larger unit: "
                                  "MPI's own call counts in int; HAUL_MPI_WAY=direct does not",
                                  self->rank);
        if (unit > 1 && !code)
            code = make_unit(unit, &types[i]);
    }
    if (!code)
        code =
            PMPI_Alltoallv(sides->send.at, numbers, numbers + owners, types[0], sides->receive.at,
                           numbers + 2 * owners, numbers + 3 * owners, types[1], self->owners);
    for (int i = 0; i < 2; i++)
        if (types[i] != MPI_BYTE)
            (void)MPI_Type_free(&types[i]);
    return code ? hl_mpi_failed(self, code, "MPI's own all-to-all-v", error) : HAUL_OK;
}

/* MPI's own, which a preloaded libhaul-mpi stands in front of. */
haul_status hl_mpi_plain(haul_comm *self, const hl_mpi_call *call, const hl_mpi_sides *sides,
                         haul_error *error)
{
    if (call->shape.kind != HAUL_EXCHANGE_ALL)
        return plain_v(self, sides, error);
    const int code = PMPI_Alltoall(sides->send.at, (int)call->bytes, MPI_BYTE, sides->receive.at,
                                   (int)call->bytes, MPI_BYTE, self->owners);
    return code ? hl_mpi_failed(self, code, "MPI's own all-to-all", error) : HAUL_OK;
}

/* One round: the blocks whose number has the bit `step` go `step` owners on. */
static haul_status bruck_round(haul_comm *self, char *blocks, char *packed, uint64_t bytes,
                               int step, haul_error *error)
{
    const int owners = self->layout.owners;
    uint64_t size = 0;
    for (int i = step; i < owners; i++)
        if (i & step) {
            memcpy(packed + size, blocks + (uint64_t)i * bytes, bytes);
            size += bytes;
        }
    char *came = packed + size;
    hl_mpi_block to = {self->layout.rank_of[(self->owner + step) % owners], size, packed, false};
    hl_mpi_block from = {self->layout.rank_of[(self->owner - step + owners) % owners], size, came,
                         false};
    const haul_status status = hl_mpi_deliver(self, &to, 1, &from, 1, error);
    for (int i = step; !status && i < owners; i++)
        if (i & step) {
            memcpy(blocks + (uint64_t)i * bytes, came, bytes);
            came += bytes;
        }
    return status;
}

/* Bruck et al., IEEE TPDS 8(11), 1997: block i travels by the bits of i. */
haul_status hl_mpi_bruck(haul_comm *self, const hl_mpi_sides *sides, uint64_t bytes,
                         haul_error *error)
{
    const uint64_t owners = (uint64_t)self->layout.owners, own = (uint64_t)self->owner;
    hl_mpi_scratch scratch;
    HAUL_TRY(hl_mpi_scratch_take(self, 2 * owners * bytes + 1, &scratch, error));
    char *blocks = scratch.at;
    for (uint64_t i = 0; i < owners; i++)
        memcpy(blocks + i * bytes, sides->send.at + (own + i) % owners * bytes, bytes);
    haul_status status = HAUL_OK;
    for (int step = 1; !status && step < (int)owners; step *= 2)
        status = bruck_round(self, blocks, blocks + owners * bytes, bytes, step, error);
    for (uint64_t i = 0; !status && i < owners; i++)
        memcpy(sides->receive.at + (own + owners - i) % owners * bytes, blocks + i * bytes, bytes);
    hl_mpi_scratch_give(self, &scratch);
    return status;
}
