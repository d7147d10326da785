/* The calls: arguments checked, sizes agreed, errors told to all. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "mpi/mpi_parts.h"

/* Each message within its side's buffer. */
static haul_status check_side(const haul_comm *self, haul_address address,
                              const haul_comm_message *items, size_t count, haul_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const haul_comm_message *item = &items[i];
        if (item->peer < 0 || item->peer >= self->layout.owners)
            return haul_error_set(error, HAUL_STATUS_USAGE, "no owner %d: there are %d", item->peer,
                                  self->layout.owners);
        if (!item->bytes)
            continue;
        if (!address.buffer && !address.host)
            return haul_error_set(error, HAUL_STATUS_USAGE, "%llu bytes of owner %d at no address",
                                  (unsigned long long)item->bytes, item->peer);
        if (item->offset > PTRDIFF_MAX || item->bytes > PTRDIFF_MAX - item->offset)
            return haul_error_set(error, HAUL_STATUS_USAGE, "the end of owner %d's bytes overflows",
                                  item->peer);
        const uint64_t end = item->offset + item->bytes;
        if (address.buffer && (address.offset > haul_buffer_bytes(address.buffer) ||
                               end > haul_buffer_bytes(address.buffer) - address.offset))
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "owner %d's bytes end outside the buffer", item->peer);
    }
    return HAUL_OK;
}

static haul_status check_messages(const haul_comm *self, const haul_comm_messages *of,
                                  haul_error *error)
{
    HAUL_TRY(check_side(self, of->send, of->sends, of->send_count, error));
    if ((hl_mpi_is_on_device(of->send) || hl_mpi_is_on_device(of->receive)) && !self->device)
        return haul_error_set(error, HAUL_STATUS_USAGE,
                              "device memory needs the device in haul_comm_options");
    return check_side(self, of->receive, of->receives, of->receive_count, error);
}

static void measure_shape(const haul_comm *self, hl_mpi_call *call)
{
    hl_mpi_shape *shape = &call->shape;
    const haul_comm_messages *of = &call->of;
    shape->on_device = hl_mpi_is_on_device(of->send) || hl_mpi_is_on_device(of->receive);
    for (size_t i = 0; i < of->send_count; i++) {
        const haul_comm_message *item = &of->sends[i];
        const uint64_t largest = item->bytes > item->offset ? item->bytes : item->offset;
        shape->largest = largest > shape->largest ? largest : shape->largest;
        if (item->peer != self->owner && item->bytes) {
            shape->messages++;
            shape->bytes += item->bytes;
        }
    }
    for (size_t i = 0; i < of->receive_count; i++)
        if (of->receives[i].offset > shape->largest)
            shape->largest = of->receives[i].offset;
}

/* The largest of all owners; which is also how all learn that each has come so far. */
static haul_status agree_shape(haul_comm *self, hl_mpi_shape *shape, haul_error *error)
{
    uint64_t numbers[HL_MPI_AGREED] = {shape->bytes, shape->messages, shape->largest,
                                       shape->on_device};
    const haul_status status = hl_mpi_most(self, numbers, HL_MPI_AGREED, error);
    shape->bytes = numbers[0];
    shape->messages = numbers[1];
    shape->largest = numbers[2];
    shape->on_device = numbers[3];
    return status;
}

/* So that an exchange in place may write where its data is, that is copied to the host first. */
static haul_status move_aside(haul_comm *self, hl_mpi_call *call, hl_mpi_scratch *scratch,
                              haul_error *error)
{
    haul_comm_messages *of = &call->of;
    uint64_t bytes = 0;
    if (!hl_base_grow(&self->messages[0], &self->message_capacity[0], of->receive_count + 1,
                      sizeof **self->messages))
        return hl_base_fail_no_memory(error);
    for (size_t i = 0; i < of->receive_count; i++) {
        self->messages[0][i] = of->receives[i];
        self->messages[0][i].offset = bytes;
        bytes += of->receives[i].bytes;
    }
    of->sends = self->messages[0];
    of->send_count = of->receive_count;
    HAUL_TRY(check_side(self, of->receive, of->receives, of->receive_count, error));
    HAUL_TRY(hl_mpi_scratch_take(self, bytes + 1, scratch, error));
    of->send = haul_in_host(scratch->at);
    for (size_t i = 0; i < of->receive_count; i++) {
        haul_comm_message item = of->receives[i];
        char *to = scratch->at + of->sends[i].offset;
        item.offset += of->receive.buffer ? of->receive.offset : 0;
        const hl_mpi_copying what = {of->receive.buffer, &item, 1, to, false};
        const char *base =
            of->receive.buffer ? haul_buffer_host(of->receive.buffer) : of->receive.host;
        if (base)
            memcpy(to, base + item.offset, item.bytes);
        else
            HAUL_TRY(hl_mpi_copy(self, &what, error));
    }
    return HAUL_OK;
}

/* An owner's call, or, where it is NULL, a helper's. */
static haul_status run_exchange(haul_comm *self, hl_mpi_call *call, haul_exchange_kind kind,
                                haul_error *error)
{
    hl_mpi_shape shape = {.kind = kind};
    hl_mpi_scratch aside = {.at = NULL};
    haul_status status = HAUL_OK;
    if (call && hl_mpi_is_in_place(call->of.send))
        status = move_aside(self, call, &aside, error);
    if (!status && call)
        status = check_messages(self, &call->of, error);
    if (!status && call) {
        call->shape.kind = kind;
        measure_shape(self, call);
        shape = call->shape;
    }
    const bool is_proven = hl_mpi_is_proven(self);
    const bool agrees = !hl_mpi_spares_agreement(self, kind, self->forced_way);
    if (!status && !is_proven && agrees)
        status = agree_shape(self, &shape, error);
    if (!status && is_proven)
        status = hl_mpi_run_proven(self, call, error);
    if (!status && call && !is_proven)
        call->shape = shape;
    if (!status && !is_proven)
        status = hl_mpi_choose_and_run(self, &shape, call, error);
    if (aside.at)
        hl_mpi_scratch_give(self, &aside);
    return status;
}

/* Errors that another process told are known to all already. */
static haul_status run_or_tell(haul_comm *self, hl_mpi_call *call, haul_exchange_kind kind,
                               haul_error *error)
{
    haul_error own = {.status = HAUL_OK};
    error = error ? error : &own;
    self->calls++;
    if (self->failure.status) {
        *error = self->failure;
        return error->status;
    }
    const haul_status status = run_exchange(self, call, kind, error);
    return status ? hl_mpi_tell(self, error) : HAUL_OK;
}

static haul_status room_for_messages(haul_comm *self, haul_error *error)
{
    for (int i = 0; i < 2; i++)
        if (!hl_base_grow(&self->messages[i], &self->message_capacity[i],
                          (size_t)self->layout.owners, sizeof **self->messages))
            return hl_base_fail_no_memory(error);
    return HAUL_OK;
}

/* --- calls that are MPI's own alone go there at once: a short one takes little longer itself than
 * the lists and checks that other ways need */

static bool is_of_host(haul_address address)
{
    return !address.buffer && address.host;
}

static haul_status end_left(haul_comm *self, haul_exchange_kind kind, int code, haul_error *error)
{
    self->calls++;
    self->last = NULL;
    self->last_way = HAUL_WAY_PLAIN;
    self->last_shape.kind = kind;
    self->last_is_own = self->last_is_listed = kind != HAUL_EXCHANGE_ALL;
    if (!code)
        return HAUL_OK;
    haul_error own = {.status = HAUL_OK};
    error = error ? error : &own;
    (void)hl_mpi_failed(self, code, "MPI's own all-to-all", error);
    return hl_mpi_tell(self, error);
}

/* The side as MPI's ints; false where it needs more than that. Numbers that are all small enough
 * have no bits above an int's, so that one comparison is enough. */
static bool list_numbers(const haul_blocks *blocks, uint64_t item_bytes, int owners, int *numbers)
{
    uint64_t at = 0, all = item_bytes;
    for (int i = 0; i < owners; i++) {
        const uint64_t count = blocks->counts[i];
        const uint64_t first = blocks->displacements ? blocks->displacements[i] : at;
        at = first + count;
        all |= count | first | at | (at * item_bytes);
        numbers[i] = (int)(count * item_bytes);
        numbers[owners + i] = (int)(first * item_bytes);
    }
    return all <= INT_MAX;
}

/* --- */

static haul_status exchange_blocks(haul_comm *comm, haul_address send, haul_address receive,
                                   uint64_t bytes, haul_error *error)
{
    const uint64_t owners = (uint64_t)comm->layout.owners;
    hl_mpi_call call = {.bytes = bytes};
    if (comm->owner < 0)
        return run_or_tell(comm, NULL, HAUL_EXCHANGE_ALL, error);
    if (bytes > PTRDIFF_MAX / owners)
        return haul_error_set(error, HAUL_STATUS_USAGE, "%llu bytes to each of %d owners overflow",
                              (unsigned long long)bytes, comm->layout.owners);
    if (room_for_messages(comm, error))
        return hl_mpi_tell(comm,
                           &(haul_error){.status = HAUL_STATUS_NO_MEMORY, .text = "out of memory"});
    for (uint64_t i = 0; i < owners; i++)
        comm->messages[0][i] = comm->messages[1][i] = (haul_comm_message){(int)i, bytes, i * bytes};
    call.of =
        (haul_comm_messages){send, comm->messages[0], owners, receive, comm->messages[1], owners};
    return run_or_tell(comm, &call, HAUL_EXCHANGE_ALL, error);
}

haul_status haul_comm_alltoall(haul_comm *comm, haul_address send, haul_address receive,
                               uint64_t bytes, haul_error *error)
{
    if (!is_of_host(send) || !is_of_host(receive) ||
        !haul_comm_leaves_next(comm, HAUL_EXCHANGE_ALL, bytes))
        return exchange_blocks(comm, send, receive, bytes, error);
    const uint64_t others = (uint64_t)comm->layout.owners - 1;
    comm->last_shape.bytes = bytes * others;
    comm->last_shape.messages = others;
    const int code = PMPI_Alltoall(send.host, (int)bytes, MPI_BYTE, receive.host, (int)bytes,
                                   MPI_BYTE, comm->owners);
    return end_left(comm, HAUL_EXCHANGE_ALL, code, error);
}

/* One side's counts as messages. */
static haul_status list_blocks(const haul_comm *self, const haul_blocks *blocks, size_t item_bytes,
                               int which, haul_error *error)
{
    haul_comm_message *items = self->messages[which];
    uint64_t at = 0;
    if (!blocks->counts || !items)
        return haul_error_set(error, HAUL_STATUS_USAGE, "an all-to-all-v without counts");
    for (int i = 0; i < self->layout.owners; i++) {
        const size_t count = blocks->counts[i];
        const uint64_t first = blocks->displacements ? blocks->displacements[i] : at;
        const uint64_t most = item_bytes ? PTRDIFF_MAX / item_bytes : 0;
        if (item_bytes && (count > most || first > most - count))
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "%zu items of %zu bytes for owner %d overflow", count, item_bytes,
                                  i);
        items[i] = (haul_comm_message){i, count * item_bytes, first * item_bytes};
        at = first + count;
    }
    return HAUL_OK;
}

static haul_status exchange_blocks_v(haul_comm *comm, const haul_alltoallv_blocks *blocks,
                                     haul_error *error)
{
    haul_error own = {.status = HAUL_OK};
    hl_mpi_call call = {.bytes = 0};
    const bool in_place = hl_mpi_is_in_place(blocks->send);
    error = error ? error : &own;
    haul_status status = room_for_messages(comm, error);
    if (!status)
        status = list_blocks(comm, &blocks->receives, blocks->item_bytes, 1, error);
    if (!status && !in_place)
        status = list_blocks(comm, &blocks->sends, blocks->item_bytes, 0, error);
    if (status)
        return hl_mpi_tell(comm, error);
    call.of = (haul_comm_messages){blocks->send,    comm->messages[0], (size_t)comm->layout.owners,
                                   blocks->receive, comm->messages[1], (size_t)comm->layout.owners};
    return run_or_tell(comm, &call, HAUL_EXCHANGE_ALL_V, error);
}

haul_status haul_comm_alltoallv(haul_comm *comm, const haul_alltoallv_blocks *blocks,
                                haul_error *error)
{
    int *numbers = comm->plain_numbers;
    const int owners = comm->layout.owners;
    if (comm->owner < 0)
        return run_or_tell(comm, NULL, HAUL_EXCHANGE_ALL_V, error);
    if (!numbers || !is_of_host(blocks->send) || !is_of_host(blocks->receive) ||
        !blocks->sends.counts || !blocks->receives.counts ||
        comm->courses[HAUL_EXCHANGE_ALL_V].way != HAUL_WAY_PLAIN ||
        !list_numbers(&blocks->sends, blocks->item_bytes, owners, numbers) ||
        !list_numbers(&blocks->receives, blocks->item_bytes, owners,
                      numbers + 2 * (size_t)owners) ||
        !haul_comm_leaves_next(comm, HAUL_EXCHANGE_ALL_V, 0))
        return exchange_blocks_v(comm, blocks, error);
    const int code = PMPI_Alltoallv(blocks->send.host, numbers, numbers + owners, MPI_BYTE,
                                    blocks->receive.host, numbers + 2 * (size_t)owners,
                                    numbers + 3 * (size_t)owners, MPI_BYTE, comm->owners);
    return end_left(comm, HAUL_EXCHANGE_ALL_V, code, error);
}

haul_status haul_comm_exchange(haul_comm *comm, const haul_comm_messages *messages,
                               haul_error *error)
{
    hl_mpi_call call = {.of = messages ? *messages : (haul_comm_messages){.send_count = 0}};
    hl_mpi_call *own = comm->owner < 0 ? NULL : &call;
    return run_or_tell(comm, own, HAUL_EXCHANGE_MESSAGES, error);
}
