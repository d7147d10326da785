/* Ways that need no helper: MPI's own collective, a message to each peer, Bruck's rounds. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "mpi/mpi_parts.h"

/* What an owner sends itself: the lists' messages to itself, in order. */
haul_status haul_mpi_copy_own(const haul_comm *self, const haul_mpi_sides *sides, haul_error *error)
{
    const haul_mpi_side *from = &sides->send, *to = &sides->receive;
    size_t at = 0;
    for (size_t i = 0; i < from->count; i++) {
        if (from->items[i].peer != self->owner)
            continue;
        while (at < to->count && to->items[at].peer != self->owner)
            at++;
        if (at == to->count || to->items[at].bytes != from->items[i].bytes)
            return haul_fail(error, HAUL_BAD_INPUT,
                             "rank %d: what it sends itself is not what it receives", self->rank);
        if (from->items[i].bytes)
            memmove(to->at + to->items[at].offset, from->at + from->items[i].offset,
                    from->items[i].bytes);
        at++;
    }
    return HAUL_OK;
}

/* The messages to others as blocks of ranks. */
static haul_status list_blocks(haul_comm *self, const haul_mpi_side *side, int which, size_t *count,
                               haul_error *error)
{
    if (!haul_grow(&self->blocks[which], &self->block_capacity[which], side->count + 1,
                   sizeof **self->blocks))
        return haul_fail_no_memory(error);
    *count = 0;
    for (size_t i = 0; i < side->count; i++) {
        const haul_comm_message *item = &side->items[i];
        if (item->peer != self->owner)
            self->blocks[which][(*count)++] = (haul_mpi_block){
                self->layout.rank_of[item->peer], item->bytes, side->at + item->offset, false};
    }
    return HAUL_OK;
}

haul_status haul_mpi_direct(haul_comm *self, const haul_mpi_sides *sides, haul_error *error)
{
    size_t sends = 0, receives = 0;
    haul_status status = list_blocks(self, &sides->send, 0, &sends, error);
    if (!status)
        status = list_blocks(self, &sides->receive, 1, &receives, error);
    if (!status)
        status = haul_mpi_deliver(self, self->blocks[0], sends, self->blocks[1], receives, error);
    return status ? status : haul_mpi_copy_own(self, sides, error);
}

/* MPI's own, which a preloaded libhaul-mpi stands in front of; in MPI's int: haul_mpi_predict
 * leaves it out where they do not do. */
haul_status haul_mpi_plain(haul_comm *self, const haul_mpi_call *call, const haul_mpi_sides *sides,
                           haul_error *error)
{
    const size_t owners = (size_t)self->layout.owners;
    int code;
    if (call->shape.kind == HAUL_EXCHANGE_ALL) {
        code = PMPI_Alltoall(sides->send.at, (int)call->bytes, MPI_BYTE, sides->receive.at,
                             (int)call->bytes, MPI_BYTE, self->owners);
    } else {
        int *numbers = malloc(4 * owners * sizeof *numbers);
        if (!numbers)
            return haul_fail_no_memory(error);
        for (size_t i = 0; i < owners; i++) {
            numbers[i] = (int)sides->send.items[i].bytes;
            numbers[owners + i] = (int)sides->send.items[i].offset;
            numbers[2 * owners + i] = (int)sides->receive.items[i].bytes;
            numbers[3 * owners + i] = (int)sides->receive.items[i].offset;
        }
        code =
            PMPI_Alltoallv(sides->send.at, numbers, numbers + owners, MPI_BYTE, sides->receive.at,
                           numbers + 2 * owners, numbers + 3 * owners, MPI_BYTE, self->owners);
        free(numbers);
    }
    return code ? haul_mpi_failed(self, code, "MPI's own all-to-all", error) : HAUL_OK;
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
    haul_mpi_block to = {self->layout.rank_of[(self->owner + step) % owners], size, packed, false};
    haul_mpi_block from = {self->layout.rank_of[(self->owner - step + owners) % owners], size, came,
                           false};
    const haul_status status = haul_mpi_deliver(self, &to, 1, &from, 1, error);
    for (int i = step; !status && i < owners; i++)
        if (i & step) {
            memcpy(blocks + (uint64_t)i * bytes, came, bytes);
            came += bytes;
        }
    return status;
}

/* Bruck et al., IEEE TPDS 8(11), 1997: block i travels by the bits of i. */
haul_status haul_mpi_bruck(haul_comm *self, const haul_mpi_sides *sides, uint64_t bytes,
                           haul_error *error)
{
    const uint64_t owners = (uint64_t)self->layout.owners, own = (uint64_t)self->owner;
    haul_mpi_scratch scratch;
    haul_status status = haul_mpi_scratch_take(self, 2 * owners * bytes + 1, &scratch, error);
    if (status)
        return status;
    char *blocks = scratch.at;
    for (uint64_t i = 0; i < owners; i++)
        memcpy(blocks + i * bytes, sides->send.at + (own + i) % owners * bytes, bytes);
    for (int step = 1; !status && step < (int)owners; step *= 2)
        status = bruck_round(self, blocks, blocks + owners * bytes, bytes, step, error);
    for (uint64_t i = 0; !status && i < owners; i++)
        memcpy(sides->receive.at + (own + owners - i) % owners * bytes, blocks + i * bytes, bytes);
    haul_mpi_scratch_give(self, &scratch);
    return status;
}
