/* Exchanges between any memory: copies before and behind the messages, or none. */
#include <stdlib.h>

#include "base/fail.h"
#include "mpi/mpi_parts.h"

enum { CHUNKS = 4 };

static bool on_device(haul_address address)
{
    return address.buffer && !haul_buffer_host(address.buffer);
}

/* Where MPI or the host finds an address; NULL where neither can. */
static char *pointer_of(haul_address address)
{
    if (!address.buffer)
        return address.host;
    char *at = haul_buffer_host(address.buffer);
    at = at ? at : haul_buffer_pointer(address.buffer);
    return at ? at + address.offset : NULL;
}

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
    if (!on_device(address)) {
        made->side.at = pointer_of(address);
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

typedef struct chunk {
    size_t count;
    haul_comm_message *packed, *items;
} chunk;

static haul_status chunk_make(const haul_comm *self, const stage *of, bool is_send, size_t number,
                              chunk *made, haul_error *error)
{
    const size_t most = of->side.count + 1;
    size_t *picked = malloc(most * sizeof *picked);
    made->packed = malloc(2 * most * sizeof *made->packed);
    if (!picked || !made->packed) {
        free(picked);
        return hl_base_fail_no_memory(error);
    }
    made->items = made->packed + most;
    /* The items of a chunk, by their owners' distance: both ends have the same. */
    const size_t owners = (size_t)self->layout.owners, own = (size_t)self->owner;
    size_t count = 0;
    for (size_t i = 0; i < of->side.count; i++) {
        const size_t peer = (size_t)of->side.items[i].peer;
        const size_t apart = (is_send ? peer + owners - own : own + owners - peer) % owners;
        if (apart * CHUNKS / owners == number)
            picked[count++] = i;
    }
    made->count = count;
    for (size_t i = 0; i < made->count; i++) {
        made->packed[i] = of->side.items[picked[i]];
        made->items[i] = of->items[picked[i]];
    }
    free(picked);
    return HAUL_OK;
}

/* Items of a chunk need not be neighbours in packed memory: each run is copied by itself. */
static haul_status queue_chunk(haul_stream *stream, const stage *of, const chunk *part,
                               bool to_device, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < part->count;) {
        size_t next = i + 1;
        while (next < part->count && part->packed[next].offset == part->packed[next - 1].offset +
                                                                      part->packed[next - 1].bytes)
            next++;
        const hl_mpi_copying what = {of->address.buffer, part->items + i, next - i,
                                     of->side.at + part->packed[i].offset, to_device};
        status = hl_mpi_copies_queue(stream, &what, error);
        i = next;
    }
    return status;
}

/* The copies of all chunks to the host are queued at once; messages follow as each is there, and
 * copies to the device as each has come. */
static haul_status run_chunked(haul_comm *self, const stage *out, const stage *in,
                               haul_error *error)
{
    chunk parts[2][CHUNKS] = {0};
    haul_event *events[CHUNKS] = {NULL};
    const int64_t since = haul_device_now(self->device);
    haul_status status = HAUL_OK;
    for (size_t c = 0; !status && c < CHUNKS; c++) {
        const haul_transfer nothing = {.to = haul_in_host(out->side.at),
                                       .from = haul_in_buffer(out->address.buffer, 0)};
        status = haul_event_new(self->device, &events[c], error);
        if (!status)
            status = chunk_make(self, out, true, c, &parts[0][c], error);
        if (!status)
            status = chunk_make(self, in, false, c, &parts[1][c], error);
        if (!status)
            status = queue_chunk(self->streams[0], out, &parts[0][c], false, error);
        if (!status) /* what is through when the chunk's copies are */
            status = haul_stream_copy(self->streams[0], &nothing, events[c], error);
    }
    for (size_t c = 0; !status && c < CHUNKS; c++) {
        const hl_mpi_sides sides = {{out->side.at, parts[0][c].packed, parts[0][c].count},
                                    {in->side.at, parts[1][c].packed, parts[1][c].count}};
        status = haul_event_wait(events[c], error);
        if (!status)
            status = hl_mpi_direct(self, &sides, error);
        if (!status)
            status = queue_chunk(self->streams[1], in, &parts[1][c], true, error);
    }
    for (int i = 0; i < 2; i++) {
        const haul_status waited = haul_stream_wait(self->streams[i], status ? NULL : error);
        status = status ? status : waited;
    }
    hl_mpi_pace_keep(self, since);
    for (size_t c = 0; c < CHUNKS; c++) {
        haul_event_free(events[c]);
        free(parts[0][c].packed);
        free(parts[1][c].packed);
    }
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
    if (is_native || (!on_device(of->send) && !on_device(of->receive))) {
        const hl_mpi_sides sides = {{pointer_of(of->send), of->sends, of->send_count},
                                    {pointer_of(of->receive), of->receives, of->receive_count}};
        return run_between_hosts(self, way, call, &sides, error);
    }
    stage out = {.items = NULL}, in = {.items = NULL};
    haul_status status = stage_open(self, &out, of->send, of->sends, of->send_count, error);
    if (!status)
        status = stage_open(self, &in, of->receive, of->receives, of->receive_count, error);
    const bool both = out.items && in.items;
    if (!status && way == HAUL_WAY_DUPLICATE_POINTER && both) {
        status = hl_mpi_duplicate_pointer(self, of, error);
        if (!status)
            status = copy_own_on_device(self, &out, &in, error);
    } else if (!status && way == HAUL_WAY_CHUNKED && both) {
        status = run_chunked(self, &out, &in, error);
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
