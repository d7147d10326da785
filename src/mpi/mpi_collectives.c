/* The calls: arguments checked, sizes agreed, errors told to all. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "mpi/mpi_parts.h"

/* Sizes that change are seen so many calls later at most. */
enum { CALLS_KEPT = 15 };

static bool is_in_place(haul_address address)
{
    return !address.buffer && !address.host && address.offset == UINT64_MAX;
}

static bool is_on_device(haul_address address)
{
    return address.buffer && !haul_buffer_host(address.buffer);
}

/* Each message within its side's buffer. */
static haul_status check_side(const haul_comm *self, haul_address address,
                              const haul_comm_message *items, size_t count, haul_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const haul_comm_message *item = &items[i];
        if (item->peer < 0 || item->peer >= self->layout.owners)
            return haul_fail(error, HAUL_USAGE, "no owner %d: there are %d", item->peer,
                             self->layout.owners);
        if (!item->bytes)
            continue;
        if (!address.buffer && !address.host)
            return haul_fail(error, HAUL_USAGE, "%llu bytes of owner %d at no address",
                             (unsigned long long)item->bytes, item->peer);
        if (item->offset > PTRDIFF_MAX || item->bytes > PTRDIFF_MAX - item->offset)
            return haul_fail(error, HAUL_USAGE, "the end of owner %d's bytes overflows",
                             item->peer);
        const uint64_t end = item->offset + item->bytes;
        if (address.buffer && (address.offset > haul_buffer_bytes(address.buffer) ||
                               end > haul_buffer_bytes(address.buffer) - address.offset))
            return haul_fail(error, HAUL_USAGE, "owner %d's bytes end outside the buffer",
                             item->peer);
    }
    return HAUL_OK;
}

static haul_status check(const haul_comm *self, const haul_comm_messages *of, haul_error *error)
{
    const haul_status status = check_side(self, of->send, of->sends, of->send_count, error);
    if (status)
        return status;
    if ((is_on_device(of->send) || is_on_device(of->receive)) && !self->device)
        return haul_fail(error, HAUL_USAGE, "device memory needs the device in haul_comm_options");
    return check_side(self, of->receive, of->receives, of->receive_count, error);
}

static void measure_shape(const haul_comm *self, haul_mpi_call *call)
{
    haul_mpi_shape *shape = &call->shape;
    const haul_comm_messages *of = &call->of;
    shape->on_device = is_on_device(of->send) || is_on_device(of->receive);
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
static haul_status agree(haul_comm *self, haul_mpi_shape *shape, haul_error *error)
{
    uint64_t numbers[HAUL_MPI_AGREED] = {shape->bytes, shape->messages, shape->largest,
                                         shape->on_device};
    const haul_status status = haul_mpi_most(self, numbers, HAUL_MPI_AGREED, error);
    shape->bytes = numbers[0];
    shape->messages = numbers[1];
    shape->largest = numbers[2];
    shape->on_device = numbers[3];
    return status;
}

/* What is sent in place is copied to the host first: the exchange may then write where it was. */
static haul_status move_aside(haul_comm *self, haul_mpi_call *call, haul_mpi_scratch *scratch,
                              haul_error *error)
{
    haul_comm_messages *of = &call->of;
    uint64_t bytes = 0;
    if (!haul_grow(&self->messages[0], &self->message_capacity[0], of->receive_count + 1,
                   sizeof **self->messages))
        return haul_fail_no_memory(error);
    for (size_t i = 0; i < of->receive_count; i++) {
        self->messages[0][i] = of->receives[i];
        self->messages[0][i].offset = bytes;
        bytes += of->receives[i].bytes;
    }
    of->sends = self->messages[0];
    of->send_count = of->receive_count;
    haul_status status = check_side(self, of->receive, of->receives, of->receive_count, error);
    if (!status)
        status = haul_mpi_scratch_take(self, bytes + 1, scratch, error);
    if (status)
        return status;
    of->send = haul_in_host(scratch->at);
    for (size_t i = 0; !status && i < of->receive_count; i++) {
        haul_comm_message item = of->receives[i];
        char *to = scratch->at + of->sends[i].offset;
        item.offset += of->receive.buffer ? of->receive.offset : 0;
        const haul_mpi_copying what = {of->receive.buffer, &item, 1, to, false};
        const char *base =
            of->receive.buffer ? haul_buffer_host(of->receive.buffer) : of->receive.host;
        if (base)
            memcpy(to, base + item.offset, item.bytes);
        else
            status = haul_mpi_copy(self, &what, error);
    }
    return status;
}

/* An owner's call, or, where it is NULL, a helper's. */
static haul_status run(haul_comm *self, haul_mpi_call *call, haul_exchange_kind kind,
                       haul_error *error)
{
    haul_mpi_shape shape = {.kind = kind};
    haul_mpi_scratch aside = {.at = NULL};
    haul_status status = HAUL_OK;
    if (call && is_in_place(call->of.send))
        status = move_aside(self, call, &aside, error);
    if (!status && call)
        status = check(self, &call->of, error);
    if (!status && call) {
        call->shape.kind = kind;
        measure_shape(self, call);
        shape = call->shape;
    }
    /* where the user wants MPI's own it costs nothing beyond it */
    const bool is_alike = (kind == HAUL_EXCHANGE_ALL || self->forced_way == HAUL_WAY_PLAIN) &&
                          !self->has_device && self->layout.owners == self->size;
    const bool is_kept = self->kept_calls[kind] > 0; /* alike on all: they make the same calls */
    self->kept_calls[kind] -= is_kept;
    if (!status && !is_alike && !is_kept)
        status = agree(self, &shape, error);
    if (!status && call)
        call->shape = shape;
    if (!status && is_kept)
        status = haul_mpi_run_kept(self, call, error);
    else if (!status)
        status = haul_mpi_choose_and_run(self, &shape, call, error);
    if (!status && !is_kept && self->last->is_made &&
        haul_mpi_spares_agreement(self, kind, self->last_way)) {
        self->kept[kind] = self->last;
        self->kept_calls[kind] = CALLS_KEPT;
    }
    if (aside.at)
        haul_mpi_scratch_give(self, &aside);
    return status;
}

/* Errors that another process told are known to all already. */
static haul_status run_or_tell(haul_comm *self, haul_mpi_call *call, haul_exchange_kind kind,
                               haul_error *error)
{
    haul_error own = {.status = HAUL_OK};
    error = error ? error : &own;
    if (self->failure.status) {
        *error = self->failure;
        return error->status;
    }
    const haul_status status = run(self, call, kind, error);
    return status ? haul_mpi_tell(self, error) : HAUL_OK;
}

static haul_status room_for_messages(haul_comm *self, haul_error *error)
{
    for (int i = 0; i < 2; i++)
        if (!haul_grow(&self->messages[i], &self->message_capacity[i], (size_t)self->layout.owners,
                       sizeof **self->messages))
            return haul_fail_no_memory(error);
    return HAUL_OK;
}

haul_status haul_alltoall(haul_comm *comm, haul_address send, haul_address receive, uint64_t bytes,
                          haul_error *error)
{
    const uint64_t owners = (uint64_t)comm->layout.owners;
    haul_mpi_call call = {.bytes = bytes};
    if (comm->owner < 0)
        return run_or_tell(comm, NULL, HAUL_EXCHANGE_ALL, error);
    if (bytes > PTRDIFF_MAX / owners)
        return haul_fail(error, HAUL_USAGE, "%llu bytes to each of %d owners overflow",
                         (unsigned long long)bytes, comm->layout.owners);
    const haul_status status = room_for_messages(comm, error);
    if (status)
        return haul_mpi_tell(comm, &(haul_error){.status = status, .text = "out of memory"});
    for (uint64_t i = 0; i < owners; i++)
        comm->messages[0][i] = comm->messages[1][i] = (haul_comm_message){(int)i, bytes, i * bytes};
    call.of =
        (haul_comm_messages){send, comm->messages[0], owners, receive, comm->messages[1], owners};
    return run_or_tell(comm, &call, HAUL_EXCHANGE_ALL, error);
}

/* One side's counts as messages. */
static haul_status list_blocks(const haul_comm *self, const haul_blocks *blocks, size_t item_bytes,
                               int which, haul_error *error)
{
    haul_comm_message *items = self->messages[which];
    uint64_t at = 0;
    if (!blocks->counts || !items)
        return haul_fail(error, HAUL_USAGE, "an all-to-all-v without counts");
    for (int i = 0; i < self->layout.owners; i++) {
        const size_t count = blocks->counts[i];
        const uint64_t first = blocks->displacements ? blocks->displacements[i] : at;
        const uint64_t most = item_bytes ? PTRDIFF_MAX / item_bytes : 0;
        if (item_bytes && (count > most || first > most - count))
            return haul_fail(error, HAUL_USAGE, "%zu items of %zu bytes for owner %d overflow",
                             count, item_bytes, i);
        items[i] = (haul_comm_message){i, count * item_bytes, first * item_bytes};
        at = first + count;
    }
    return HAUL_OK;
}

haul_status haul_alltoallv(haul_comm *comm, const haul_alltoallv_blocks *blocks, haul_error *error)
{
    haul_error own = {.status = HAUL_OK};
    haul_mpi_call call = {.bytes = 0};
    error = error ? error : &own;
    if (comm->owner < 0)
        return run_or_tell(comm, NULL, HAUL_EXCHANGE_ALL_V, error);
    const bool in_place = is_in_place(blocks->send);
    haul_status status = room_for_messages(comm, error);
    if (!status)
        status = list_blocks(comm, &blocks->receives, blocks->item_bytes, 1, error);
    if (!status && !in_place)
        status = list_blocks(comm, &blocks->sends, blocks->item_bytes, 0, error);
    if (status)
        return haul_mpi_tell(comm, error);
    call.of = (haul_comm_messages){blocks->send,    comm->messages[0], (size_t)comm->layout.owners,
                                   blocks->receive, comm->messages[1], (size_t)comm->layout.owners};
    return run_or_tell(comm, &call, HAUL_EXCHANGE_ALL_V, error);
}

haul_status haul_comm_exchange(haul_comm *comm, const haul_comm_messages *messages,
                               haul_error *error)
{
    haul_mpi_call call = {.of = messages ? *messages : (haul_comm_messages){.send_count = 0}};
    haul_mpi_call *own = comm->owner < 0 ? NULL : &call;
    return run_or_tell(comm, own, HAUL_EXCHANGE_MESSAGES, error);
}
