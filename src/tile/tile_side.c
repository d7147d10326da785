/* An exchange's sides: what goes to a neighbour and what comes from it. */
#include "tile/tile_exchange.h"

bool hl_tile_exchange_is_direct(const hl_tile_exchange *self)
{
    return self->context->memory.is_team && !self->context->memory.is_host;
}

haul_status hl_tile_exchange_settle(hl_tile_exchange *self, haul_error *error)
{
    if (!self->lent_count)
        return HAUL_OK;
    self->lent_count = 0;
    haul_status status = hl_tile_host_wait(self->context, self->context->streams.up, error);
    /* a device that failed copies nothing more */
    const haul_status last = hl_tile_wire_settle(self->processes, status ? NULL : error);
    return status ? status : last;
}

hl_tile_side hl_tile_side_of(const hl_tile_exchange *self, const hl_tile_field *field, bool is_high)
{
    const int rank = self->processes->rank, count = self->processes->count;
    const int peer = is_high ? rank + 1 : rank - 1;
    const bool is_there = field->is_ring || (peer >= 0 && peer < count);
    return (hl_tile_side){
        .peer = is_there ? (peer + count) % count : -1,
        .sent = is_high ? field->length - field->edge : 0,
        .received = is_high ? field->length : -field->edge,
    };
}

haul_process_message hl_tile_side_message(const hl_tile_field *field, const hl_tile_side *with,
                                          bool is_send)
{
    return (haul_process_message){
        .peer = with->peer,
        .label = field->number % HL_TILE_LABELS,
        .is_send = is_send,
        .cells = field->host + hl_tile_field_offset(field, is_send ? with->sent : with->received),
        .bytes = (uint64_t)field->edge * field->plane_bytes,
    };
}

int hl_tile_side_part(const hl_tile_field *field, const hl_tile_side *from)
{
    return from->received < 0 ? 0 : field->part_count - 1;
}

hl_tile_planes hl_tile_side_planes(const hl_tile_field *field, const hl_tile_side *from)
{
    const int shift = field->parts[hl_tile_side_part(field, from)].shift;
    return (hl_tile_planes){from->received, from->received + field->edge, shift};
}
