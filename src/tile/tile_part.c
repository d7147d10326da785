/* Streams and events of a context's device, and planes that go between an array's host memory and
 * its ring. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "haul/device_backend.h"
#include "tile/tile_pass.h"

/* Three streams: in, kernels, out, so that each engine of the device has one. A fourth for the
 * host's own reads, which then wait for no copy of a pass. */
haul_status hl_tile_streams_open(haul_context *context, haul_error *error)
{
    haul_device *device = context->memory.device;
    hl_tile_streams *self = &context->streams;
    haul_stream **streams[] = {&self->up, &self->run, &self->down};
    void *own = context->options.stream;
    HAUL_TRY(haul_stream_new(device, &self->home, error));
    for (int i = 0; i < 3; i++) {
        HAUL_TRY(i == 1 && own ? haul_stream_wrap(device, own, streams[i], error)
                               : haul_stream_new(device, streams[i], error));
    }
    return haul_event_new(device, &self->computed, error);
}

haul_status hl_tile_events_ensure(haul_context *context, hl_tile_events *self, size_t count,
                                  haul_error *error)
{
    if (!hl_base_grow(&self->of, &self->capacity, count, sizeof(haul_event *)))
        return hl_base_fail_no_memory(error);
    for (; self->count < count; self->count++)
        HAUL_TRY(haul_event_new(context->memory.device, &self->of[self->count], error));
    return HAUL_OK;
}

static void free_events(hl_tile_events *self)
{
    for (size_t i = 0; i < self->count; i++)
        haul_event_free(self->of[i]);
    free(self->of);
}

/* Needs: nothing queued. Works where opening stopped half way. */
void hl_tile_streams_close(hl_tile_streams *self)
{
    free_events(&self->made_room);
    free_events(&self->arrived);
    free_events(&self->passed);
    free_events(&self->early);
    free_events(&self->handed);
    haul_event_free(self->computed);
    haul_event_free(self->share_began);
    haul_event_free(self->share_ended);
    haul_stream_free(self->up);
    haul_stream_free(self->run);
    haul_stream_free(self->down);
    haul_stream_free(self->home);
}

/* Whether a copy from the array's memory may take its bytes when it is queued, before all that its
 * stream waits for: a GPU's driver may so copy memory that is not page-locked. */
static bool is_read_at_once(const hl_tile_field *field)
{
    return !field->pinned && !haul_device_describe(field->memory->device)->is_host;
}

/* Such a copy is queued once the host's memory has what an earlier copy brings there. */
static haul_status wait_until_home(hl_tile_field *field, hl_tile_planes run, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (int i = 0; i < field->part_count && is_read_at_once(field) && !status; i++) {
        hl_tile_part *part = &field->parts[i];
        if (!part->is_leaving || hl_tile_part_begin(field, i) >= run.end ||
            hl_tile_part_end(field, i) <= run.first)
            continue;
        status = hl_tile_host_wait_event(field->context, part->left, error);
        part->is_leaving = status != HAUL_OK;
    }
    return status;
}

/* Notes that the part's last copy to the host is queued. */
haul_status hl_tile_part_leaves(hl_tile_field *field, int part, haul_error *error)
{
    haul_context *context = field->context;
    hl_tile_part *state = &field->parts[part];
    state->on_host = state->is_leaving = true;
    if (!is_read_at_once(field) && !context->memory.is_team)
        return HAUL_OK;
    if (!state->left)
        HAUL_TRY(haul_event_new(context->memory.device, &state->left, error));
    return hl_tile_record(context, context->streams.down, state->left, error);
}

static haul_address further(haul_address at, uint64_t bytes)
{
    return at.buffer ? haul_in_buffer(at.buffer, at.offset + bytes)
                     : haul_in_host((char *)at.host + bytes);
}

/* Copies planes [first, end) between the ring and memory that has the first one's cells at `cells`.
 */
static haul_status copy_planes(hl_tile_field *field, hl_tile_planes run, haul_address cells,
                               haul_stream *stream, haul_error *error)
{
    haul_context *context = field->context;
    const bool is_up = stream == context->streams.up;
    haul_status status = HAUL_OK;
    for (int first = run.first; first < run.end && !status;) {
        const int at = hl_tile_ring_place(field, first + run.shift), room = field->planes - at;
        const int planes = run.end - first < room ? run.end - first : room;
        const haul_address ring = haul_in_buffer(field->ring, (uint64_t)at * field->slot_bytes);
        const uint64_t host_pitch = field->plane_bytes, ring_pitch = field->slot_bytes;
        const haul_address host = further(cells, (uint64_t)(first - run.first) * host_pitch);
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
        status = hl_tile_copy(context, stream, &transfer, error);
        first += planes;
    }
    return status;
}

haul_status hl_tile_planes_copy(hl_tile_field *field, hl_tile_planes run, haul_stream *stream,
                                haul_error *error)
{
    const uint64_t offset = hl_tile_field_offset(field, run.first) +
                            (uint64_t)hl_tile_window_origin(field) * field->element;
    const haul_address cells =
        field->pinned ? haul_in_buffer(field->pinned, offset) : haul_in_host(field->host + offset);
    if (stream == field->context->streams.up)
        HAUL_TRY(wait_until_home(field, run, error));
    return copy_planes(field, run, cells, stream, error);
}

haul_status hl_tile_planes_bring(hl_tile_field *field, hl_tile_planes run, haul_address from,
                                 haul_error *error)
{
    return copy_planes(field, run, from, field->context->streams.up, error);
}

/* A plane to another of the ring, in the stream of the kernels: it needs no event. */
haul_status hl_tile_plane_copy_within(hl_tile_field *field, int to, int from, haul_error *error)
{
    const haul_transfer transfer = {
        .to = haul_in_buffer(field->ring,
                             (uint64_t)hl_tile_ring_place(field, to) * field->plane_bytes),
        .from = haul_in_buffer(field->ring,
                               (uint64_t)hl_tile_ring_place(field, from) * field->plane_bytes),
        .size = {field->plane_bytes},
    };
    return hl_tile_copy(field->context, field->context->streams.run, &transfer, error);
}

static void wrap_memory(const hl_tile_field *field, int to, int from)
{
    memcpy(field->host + hl_tile_field_offset(field, to),
           field->host + hl_tile_field_offset(field, from), field->plane_bytes);
}

/* Whether the part has cells that are beyond the opposite edge, too, or planes beyond its own. */
static bool is_end_part(const hl_tile_field *field, int part)
{
    return hl_tile_part_begin(field, part) < field->edge ||
           hl_tile_part_end(field, part) > field->length - field->edge;
}

/* Sets the planes beyond the edges from the opposite ends: on the device, where it has both, else
 * on the host. The other has them no more. */
haul_status hl_tile_planes_wrap(hl_tile_field *field, haul_error *error)
{
    const int length = field->length, edge = field->edge;
    bool on_device = hl_tile_field_is_all_there(field);
    haul_status status = HAUL_OK;
    for (int i = 0; i < field->part_count; i++)
        on_device = on_device && (field->parts[i].on_device || !is_end_part(field, i));
    for (int i = 0; i < field->part_count && !status; i++) {
        if (!is_end_part(field, i))
            continue;
        if (on_device) {
            field->parts[i].on_host = false;
        } else {
            status = hl_tile_part_fetch(field, i, true, error);
            field->parts[i].on_device = false;
        }
    }
    for (int k = 1; k <= edge && !status; k++) {
        if (on_device) {
            status = hl_tile_plane_copy_within(field, -k, length - k, error);
            if (!status)
                status = hl_tile_plane_copy_within(field, length - 1 + k, k - 1, error);
        } else if (!field->context->memory.without_data) {
            wrap_memory(field, -k, length - k);
            wrap_memory(field, length - 1 + k, k - 1);
        }
    }
    field->planes_stale = field->planes_stale && status;
    return status;
}

/* The program may have set the array, since, on the stream that it shares with the kernels. */
static haul_status wait_for_program(haul_context *context, haul_error *error)
{
    if (!context->options.stream)
        return HAUL_OK;
    HAUL_TRY(hl_tile_record(context, context->streams.run, context->streams.computed, error));
    return hl_tile_wait(context, context->streams.home, context->streams.computed, error);
}

/* Copies on a stream of its own and waits for the part's last work alone, not for the pass to
 * end. */
haul_status hl_tile_part_fetch(hl_tile_field *field, int part, bool with_data, haul_error *error)
{
    haul_context *context = field->context;
    hl_tile_part *state = &field->parts[part];
    haul_status status = HAUL_OK;
    if (context->memory.is_host)
        return HAUL_OK;
    if (with_data && !state->on_host && !state->on_device) {
        HAUL_TRY(hl_tile_failure_take(&field->failure, error)); /* what it was lost by */
        return haul_error_set(error, HAUL_STATUS_DEVICE_FAILED,
                              "region %d was on the device, and is lost", part);
    }
    if (with_data && !state->on_host && state->on_device) {
        if (state->is_leaving) /* an older copy, to the same memory */
            status = hl_tile_host_wait(context, context->streams.down, error);
        if (!status)
            status = wait_for_program(context, error);
        if (!status && state->passed)
            status = hl_tile_wait(context, context->streams.home, state->passed, error);
        if (!status)
            status = hl_tile_planes_copy(
                field,
                (hl_tile_planes){hl_tile_part_begin(field, part), hl_tile_part_end(field, part), 0},
                context->streams.home, error);
        if (!status)
            status = hl_tile_host_wait(context, context->streams.home, error);
        state->on_host = !status;
    } else if (state->is_leaving) {
        status = hl_tile_host_wait(context, context->streams.down, error);
    }
    /* a device that is lost does not use what the host has */
    if (!status && state->passed)
        status = hl_tile_host_wait_event(context, state->passed, error);
    if (state->on_host && !state->is_leaving)
        status = HAUL_OK;
    state->is_leaving = state->is_leaving && status;
    return status;
}

haul_status hl_tile_field_bring(hl_tile_field *field, haul_error *error)
{
    haul_context *context = field->context;
    haul_status status = HAUL_OK;
    /* behind the kernels and copies that are queued: they may still use these planes */
    HAUL_TRY(hl_tile_record(context, context->streams.run, context->streams.computed, error));
    HAUL_TRY(hl_tile_wait(context, context->streams.up, context->streams.computed, error));
    for (int i = 0; i < field->part_count && !status; i++) {
        if (field->parts[i].on_device)
            continue;
        if (!field->parts[i].on_host)
            return hl_tile_part_fetch(field, i, true, error); /* says how it was lost */
        status = hl_tile_planes_copy(
            field, (hl_tile_planes){hl_tile_part_begin(field, i), hl_tile_part_end(field, i), 0},
            context->streams.up, error);
        field->parts[i].on_device = !status;
        field->parts[i].shift = 0;
    }
    return status;
}

/* Copies home that are under way read what the program is to set. */
haul_status hl_tile_field_settle(hl_tile_field *field, haul_error *error)
{
    haul_context *context = field->context;
    hl_tile_streams *streams = &context->streams;
    haul_stream *const copies[] = {streams->up, streams->down};
    for (int i = 0; i < 2; i++) {
        if (!context->options.stream) {
            HAUL_TRY(hl_tile_host_wait(context, copies[i], error));
            continue;
        }
        hl_tile_events *events = i ? &streams->made_room : &streams->arrived;
        HAUL_TRY(hl_tile_events_ensure(context, events, 1, error));
        haul_event *done = events->of[0];
        HAUL_TRY(hl_tile_record(context, copies[i], done, error));
        HAUL_TRY(hl_tile_wait(context, streams->run, done, error));
    }
    return context->options.stream ? HAUL_OK : hl_tile_host_wait(context, streams->run, error);
}

/* Whether the host has all planes of the old parts that are in the new one. */
static bool is_on_host(const hl_tile_field *old, int first, int end)
{
    bool is_there = true;
    for (int i = 0; i < old->part_count; i++)
        if (hl_tile_part_begin(old, i) < end && hl_tile_part_end(old, i) > first)
            is_there = is_there && old->parts[i].on_host;
    return is_there;
}

/* All comes home first. What is lost stays so. */
haul_status hl_tile_field_divide_anew(hl_tile_field *field, haul_error *error)
{
    const int region = field->region_asked < field->length ? field->region_asked : field->length;
    if (!field->parts || !region || region == field->region)
        return HAUL_OK;
    if (field->planes_stale)
        HAUL_TRY(hl_tile_planes_wrap(field, error));
    for (int i = 0; i < field->part_count; i++) {
        hl_tile_part *part = &field->parts[i];
        if (part->on_host || part->on_device)
            HAUL_TRY(hl_tile_part_fetch(field, i, true, error));
        part->on_device = false;
    }
    field->starts_on_device = false;
    hl_tile_field old = *field;
    field->parts = NULL;
    field->region = region;
    const haul_status status = hl_tile_fields_divide(field->memory, error);
    if (status || !field->parts) {
        field->parts = old.parts;
        field->region = old.region;
        return status;
    }
    for (int i = 0; i < field->part_count; i++)
        field->parts[i].on_host =
            is_on_host(&old, hl_tile_part_begin(field, i), hl_tile_part_end(field, i));
    hl_tile_parts_free(&old);
    field->is_given = old.is_given;
    return HAUL_OK;
}
