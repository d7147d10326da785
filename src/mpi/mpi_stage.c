/* Messages of device memory that go through the host in pieces: the copies of one piece run while
 * the messages of another are on their way. */
#include <string.h>

#include "mpi/mpi_parts.h"

char *hl_mpi_pointer_of(haul_address address)
{
    if (!address.buffer)
        return address.host;
    char *at = haul_buffer_host(address.buffer);
    at = at ? at : haul_buffer_pointer(address.buffer);
    return at ? at + address.offset : NULL;
}

/* --- rows between a region and the host's memory */

/* Those of host memory are moved at once, of device memory when all are known. */
static haul_status move_rows(hl_mpi_packer *packer, const hl_mpi_region *region,
                             const hl_mpi_rows *of, bool to_region, haul_error *error)
{
    if (hl_mpi_is_on_device(region->at))
        return hl_mpi_pack_add(packer, of, error);
    char *at = hl_mpi_pointer_of(region->at) + of->offset, *host = of->host;
    for (uint64_t i = 0; i < of->count; i++, at += of->pitch, host += of->host_pitch)
        memcpy(to_region ? at : host, to_region ? host : at, of->row);
    return HAUL_OK;
}

/* Where packed bytes go to or come from; `host` moves on. */
typedef struct packing {
    hl_mpi_packer *packer;
    hl_mpi_region *region;
    char *host;
    bool to_region;
} packing;

/* Rows that are still to be moved of a strip: a part of one, or whole ones. */
static hl_mpi_rows next_rows(const packing *self, const hl_mpi_strip *strip, uint64_t done,
                             uint64_t bytes)
{
    const uint64_t row = done / strip->row, column = done % strip->row;
    const uint64_t whole = bytes / strip->row, left = strip->rows - row;
    const uint64_t rest = strip->row - column;
    hl_mpi_rows part = {.offset = strip->offset + (int64_t)row * strip->pitch + (int64_t)column,
                        .row = rest < bytes ? rest : bytes,
                        .count = 1,
                        .pitch = strip->pitch,
                        .host = self->host};
    if (!column && whole)
        part.count = whole < left ? whole : left;
    part.host_pitch = (int64_t)part.row;
    return part;
}

/* The next `bytes` bytes of a block. */
static haul_status move_part(packing *self, int block, uint64_t bytes, haul_error *error)
{
    hl_mpi_region *region = self->region;
    hl_mpi_cursor *at = &region->cursors[block];
    while (bytes) {
        const hl_mpi_strip *strip = &region->strips.items[region->first[block] + at->strip];
        const hl_mpi_rows part = next_rows(self, strip, at->done, bytes);
        const uint64_t moved = part.row * part.count;
        HAUL_TRY(move_rows(self->packer, region, &part, self->to_region, error));
        self->host += moved;
        bytes -= moved;
        at->done += moved;
        if (at->done == strip->row * strip->rows)
            *at = (hl_mpi_cursor){at->strip + 1, 0};
    }
    return HAUL_OK;
}

haul_status hl_mpi_mirror(haul_comm *self, const hl_mpi_region *region, int block, char *host,
                          bool to_device, haul_error *error)
{
    hl_mpi_packer *packer = &self->packers[to_device][0];
    const int64_t since = haul_device_now(self->device);
    const size_t first = block < 0 ? 0 : region->first[block];
    const size_t end = block < 0 ? region->strips.count : region->first[block + 1];
    hl_mpi_pack_begin(packer, region->at, true);
    for (size_t i = first; i < end; i++) {
        const hl_mpi_strip *strip = &region->strips.items[i];
        hl_mpi_rows rows = {.offset = strip->offset,
                            .row = strip->row,
                            .count = strip->rows,
                            .pitch = strip->pitch,
                            .host_pitch = strip->pitch};
        rows.host = host + (strip->offset - region->low);
        HAUL_TRY(move_rows(packer, region, &rows, to_device, error));
    }
    HAUL_TRY(hl_mpi_pack_queue(self, packer, to_device, error));
    HAUL_TRY(haul_stream_wait(self->streams[to_device], error));
    hl_mpi_pace_keep(self, since);
    return HAUL_OK;
}

/* --- pieces */

uint64_t hl_mpi_piece_of(const hl_mpi_staging *of, const hl_mpi_region *region, int block,
                         uint64_t piece)
{
    const uint64_t from = piece * of->piece_bytes, bytes = region->bytes[block];
    const uint64_t left = from < bytes ? bytes - from : 0;
    return left < of->piece_bytes ? left : of->piece_bytes;
}

static haul_status move_piece(haul_comm *self, const hl_mpi_staging *of, uint64_t piece, packing by,
                              haul_error *error)
{
    if (!by.region)
        return HAUL_OK;
    by.packer = &self->packers[by.to_region][piece % 2];
    hl_mpi_pack_begin(by.packer, by.region->at, false);
    for (int i = 0; i < by.region->blocks; i++)
        HAUL_TRY(move_part(&by, i, hl_mpi_piece_of(of, by.region, i, piece), error));
    return hl_mpi_is_on_device(by.region->at)
               ? hl_mpi_pack_queue(self, by.packer, by.to_region, error)
               : HAUL_OK;
}

static uint64_t first_piece(const hl_mpi_staging *of, const hl_mpi_region *region)
{
    uint64_t bytes = 0;
    for (int i = 0; region && i < region->blocks; i++)
        bytes += hl_mpi_piece_of(of, region, i, 0);
    return bytes;
}

haul_status hl_mpi_slots_open(haul_comm *self, const hl_mpi_staging *of, hl_mpi_slots *made,
                              haul_error *error)
{
    const uint64_t out = first_piece(of, of->out), in = first_piece(of, of->in);
    HAUL_TRY(hl_mpi_scratch_take(self, 2 * (out + in) + 1, &made->scratch, error));
    for (int i = 0; i < 2; i++) {
        made->of[i].out = made->scratch.at + (uint64_t)i * (out + in);
        made->of[i].in = made->of[i].out + out;
        if (!self->device)
            continue;
        HAUL_TRY(haul_event_new(self->device, &made->down[i], error));
        HAUL_TRY(haul_event_new(self->device, &made->up[i], error));
    }
    return HAUL_OK;
}

static haul_status copy_down(haul_comm *self, const hl_mpi_staging *of, hl_mpi_slots *at,
                             uint64_t piece, haul_error *error)
{
    if (piece == of->pieces)
        return HAUL_OK;
    const packing by = {.region = of->out, .host = at->of[piece % 2].out};
    HAUL_TRY(move_piece(self, of, piece, by, error));
    return self->device ? haul_stream_record(self->streams[0], at->down[piece % 2], error)
                        : HAUL_OK;
}

/* The next piece is copied to the host, and the last one to the device, while this one's messages
 * go. What is received in place is then no longer sent: it is of an earlier piece. */
static haul_status begin_piece(haul_comm *self, const hl_mpi_staging *of, hl_mpi_slots *at,
                               uint64_t piece, haul_error *error)
{
    const uint64_t slot = piece % 2;
    HAUL_TRY(copy_down(self, of, at, piece + 1, error));
    if (!self->device)
        return HAUL_OK;
    HAUL_TRY(haul_event_wait(at->down[slot], error));
    return haul_event_wait(at->up[slot], error); /* of the piece that had this memory before */
}

static haul_status end_piece(haul_comm *self, const hl_mpi_staging *of, hl_mpi_slots *at,
                             uint64_t piece, haul_error *error)
{
    const uint64_t slot = piece % 2;
    const packing by = {.region = of->in, .host = at->of[slot].in, .to_region = true};
    HAUL_TRY(move_piece(self, of, piece, by, error));
    return self->device ? haul_stream_record(self->streams[1], at->up[slot], error) : HAUL_OK;
}

/* `status` is that of the pieces before. */
static haul_status run_piece(haul_comm *self, const hl_mpi_staging *of, hl_mpi_slots *at,
                             uint64_t piece, haul_status status, haul_error *error)
{
    haul_error later;
    if (!status)
        status = begin_piece(self, of, at, piece, error);
    if (status && of->goes_on)
        (void)of->send(self, of, piece, &at->of[piece % 2], &later);
    if (!status)
        status = of->send(self, of, piece, &at->of[piece % 2], error);
    return status ? status : end_piece(self, of, at, piece, error);
}

haul_status hl_mpi_stage_in(haul_comm *self, const hl_mpi_staging *of, hl_mpi_slots *at,
                            haul_error *error)
{
    const int64_t since = self->device ? haul_device_now(self->device) : 0;
    haul_status status = copy_down(self, of, at, 0, error);
    for (uint64_t piece = 0; piece < of->pieces && (!status || of->goes_on); piece++)
        status = run_piece(self, of, at, piece, status, error);
    for (int i = 0; self->device && i < 2; i++) {
        const haul_status waited = haul_stream_wait(self->streams[i], status ? NULL : error);
        status = status ? status : waited;
    }
    if (self->device)
        hl_mpi_pace_keep(self, since);
    return status;
}

void hl_mpi_slots_close(haul_comm *self, hl_mpi_slots *at)
{
    for (int i = 0; i < 2; i++) {
        haul_event_free(at->down[i]);
        haul_event_free(at->up[i]);
    }
    if (at->scratch.at)
        hl_mpi_scratch_give(self, &at->scratch);
}

haul_status hl_mpi_stage(haul_comm *self, const hl_mpi_staging *of, haul_error *error)
{
    hl_mpi_slots at = {.scratch = {.at = NULL}};
    haul_status status = hl_mpi_slots_open(self, of, &at, error);
    if (!status)
        status = hl_mpi_stage_in(self, of, &at, error);
    hl_mpi_slots_close(self, &at);
    return status;
}
