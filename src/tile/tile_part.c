/* Streams and events of a context's device, and planes that go between an array's host memory and
 * its ring. */
#include <string.h>

#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_parts.h"

static bool make_event(haul_context *self, haul_event **event, haul_status *status,
                       haul_error *error)
{
    *status = haul_event_new(self->device, event, error);
    return !*status;
}

/* Three streams: in, kernels, out, so that each engine of the device has one. A fourth for the
 * host's own reads, which then wait for no copy of a pass. */
haul_status haul_device_open_queues(haul_context *self, haul_error *error)
{
    haul_stream **streams[] = {&self->up, &self->run, &self->down};
    haul_status status = haul_stream_new(self->device, &self->home, error);
    for (int i = 0; i < 3 && !status; i++) {
        status = haul_stream_new(self->device, streams[i], error);
        if (!status && make_event(self, &self->made_room[i], &status, error))
            (void)make_event(self, &self->arrived[i], &status, error);
    }
    if (!status)
        status = haul_event_new(self->device, &self->computed, error);
    return status;
}

/* Needs: nothing queued. Works where opening stopped half way. */
void haul_device_close_queues(haul_context *self)
{
    for (int i = 0; i < 3; i++) {
        haul_event_free(self->made_room[i]);
        haul_event_free(self->arrived[i]);
    }
    for (size_t i = 0; i < self->passed_count; i++)
        haul_event_free(self->passed[i]);
    haul_event_free(self->computed);
    haul_event_free(self->share_began);
    haul_event_free(self->share_ended);
    haul_stream_free(self->up);
    haul_stream_free(self->run);
    haul_stream_free(self->down);
    haul_stream_free(self->home);
}

/* The place of a plane in a ring. */
static int place(const haul_field *field, int plane)
{
    const int at = plane % field->planes;
    return at < 0 ? at + field->planes : at;
}

/* Copies planes [first, end) between the host's memory and the ring. */
haul_status haul_planes_copy(haul_field *field, haul_planes run, haul_stream *stream,
                             haul_error *error)
{
    haul_context *context = field->context;
    const bool is_up = stream == context->up;
    haul_status status = HAUL_OK;
    for (int first = run.first; first < run.end && !status;) {
        const int at = place(field, first + run.shift), room = field->planes - at;
        const int planes = run.end - first < room ? run.end - first : room;
        const haul_address ring = haul_in_buffer(field->ring, (uint64_t)at * field->slot_bytes);
        const uint64_t offset =
            haul_field_offset(field, first) + (uint64_t)haul_window_origin(field) * field->element;
        const uint64_t host_pitch = field->plane_bytes, ring_pitch = field->slot_bytes;
        const haul_address host = field->pinned ? haul_in_buffer(field->pinned, offset)
                                                : haul_in_host(field->host + offset);
        haul_transfer transfer = {
            .to = is_up ? ring : host,
            .from = is_up ? host : ring,
            .size = {ring_pitch, (uint64_t)planes, 1},
            .to_pitch = {is_up ? ring_pitch : host_pitch},
            .from_pitch = {is_up ? host_pitch : ring_pitch},
        };
        if (!field->window_rows) /* in one piece */
            transfer = (haul_transfer){
                transfer.to, transfer.from, {(uint64_t)planes * ring_pitch}, {0}, {0}};
        status = haul_tile_copy(context, stream, &transfer, error);
        first += planes;
    }
    return status;
}

/* A plane to another of the ring, in the stream of the kernels: it needs no event. */
haul_status haul_plane_copy_within(haul_field *field, int to, int from, haul_error *error)
{
    const haul_transfer transfer = {
        .to = haul_in_buffer(field->ring, (uint64_t)place(field, to) * field->plane_bytes),
        .from = haul_in_buffer(field->ring, (uint64_t)place(field, from) * field->plane_bytes),
        .size = {field->plane_bytes},
    };
    return haul_tile_copy(field->context, field->context->run, &transfer, error);
}

static void wrap_memory(const haul_field *field, int to, int from)
{
    memcpy(field->host + haul_field_offset(field, to), field->host + haul_field_offset(field, from),
           field->plane_bytes);
}

/* Sets the planes beyond the edges from the opposite ends: on the host, where the device has not
 * both ends at once. */
haul_status haul_planes_wrap(haul_field *field, haul_error *error)
{
    const int length = field->length, edge = field->edge;
    const bool on_device = haul_field_is_all_there(field);
    haul_status status = HAUL_OK;
    field->planes_stale = false;
    for (int i = 0; i < field->part_count && !status && !on_device; i++) {
        if (haul_part_begin(field, i) >= edge && haul_part_end(field, i) <= length - edge)
            continue;
        status = haul_part_fetch(field, i, true, error);
        field->parts[i].on_device = false;
    }
    for (int k = 1; k <= edge && !status; k++) {
        if (on_device) {
            status = haul_plane_copy_within(field, -k, length - k, error);
            if (!status)
                status = haul_plane_copy_within(field, length - 1 + k, k - 1, error);
        } else if (!field->context->without_data) {
            wrap_memory(field, -k, length - k);
            wrap_memory(field, length - 1 + k, k - 1);
        }
    }
    return status;
}

/* Copies on a stream of its own and waits for the part's last work alone, not for the pass to
 * end. */
haul_status haul_part_fetch(haul_field *field, int part, bool with_data, haul_error *error)
{
    haul_context *context = field->context;
    haul_part *state = &field->parts[part];
    haul_status status = HAUL_OK;
    if (context->is_host)
        return HAUL_OK;
    if (with_data && !state->on_host && !state->on_device && !field->is_discarded)
        return haul_fail(error, HAUL_DEVICE_FAILED, "region %d was on the device, and is lost",
                         part);
    if (with_data && !state->on_host && state->on_device) {
        if (state->passed)
            status = haul_tile_wait(context, context->home, state->passed, error);
        if (!status)
            status = haul_planes_copy(
                field, (haul_planes){haul_part_begin(field, part), haul_part_end(field, part), 0},
                context->home, error);
        if (!status)
            status = haul_tile_host_wait(context, context->home, error);
        state->on_host = !status;
    } else if (state->is_leaving) {
        status = haul_tile_host_wait(context, context->down, error);
    }
    /* a device that is lost does not use what the host has */
    if (!status && state->passed)
        status = haul_event_wait(state->passed, error);
    if (state->on_host && !state->is_leaving)
        status = HAUL_OK;
    state->is_leaving = state->is_leaving && status;
    return status;
}
