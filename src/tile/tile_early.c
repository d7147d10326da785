/* An exchange while a pass runs, of arrays that stream through their devices. A pass begins at the
 * end where the one before has ended, and all devices go the same way: so the neighbour there did
 * these planes early, and they are in its memory. Planes for the other neighbour, done last, are
 * put aside on the device at once, so that the pass may change them; they are sent, and those from
 * it taken, while the pass runs: it needs them at its far end. */
#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_exchange.h"

enum { FAR_IS_HOME, HAS_RECEIVED, EVENTS };

/* Whether the array is one of those, and the end of the pass before is where the next begins. */
static bool can_stream(const hl_tile_exchange *self, const hl_tile_field *field, bool begins_high)
{
    const hl_tile_side near = hl_tile_side_of(self, field, begins_high);
    const int low = begins_high ? near.sent : near.received, high = low + 2 * field->edge;
    bool is_there = true; /* near planes, or they will be when what is queued has run */
    for (int i = 0; i < field->part_count && near.peer >= 0; i++)
        if (hl_tile_part_begin(field, i) < high && hl_tile_part_end(field, i) > low)
            is_there = is_there && field->parts[i].on_device;
    return is_there && field->ring && !field->window_rows && !field->is_ring &&
           !hl_tile_field_is_all_there(field) && field->part_count > 1;
}

static bool can_begin(const hl_tile_exchange *self, hl_tile_step *steps, size_t count)
{
    const haul_context_options *options = &self->context->options;
    const bool begins_high = self->turns[0] % 2;
    bool can = hl_tile_exchange_is_direct(self) && !options->exchange_first &&
               options->host_share <= 0 && self->turns[0];
    /* passes over whole planes run the steps, and nothing comes between */
    for (size_t i = 0; i < count && can; i++)
        can = !steps[i].on_host &&
              !(steps[i].source && steps[i].source->reduces && !steps[i].outer) &&
              !hl_tile_needs_columns(&steps[i]);
    for (unsigned i = 0; i < self->count && can; i++)
        can = self->turns[i] == self->turns[0] && !self->is_untold[i] &&
              can_stream(self, self->fields[i], begins_high);
    return can;
}

/* Of each end's planes: those that are put aside, and behind them those that come. */
static haul_status make_buffers(haul_context *context, hl_tile_field *field, haul_error *error)
{
    hl_tile_memory *memory = &context->memory;
    const uint64_t bytes = (uint64_t)field->edge * field->plane_bytes;
    if (!field->aside && memory->device_bytes + 2 * bytes > memory->budget)
        return HAUL_STATUS_DEVICE_FULL;
    if (!field->aside) {
        HAUL_TRY(
            haul_buffer_new(memory->device, HAUL_BUFFER_DEVICE, 2 * bytes, &field->aside, error));
        memory->device_bytes += 2 * bytes;
    }
    if (!field->sent_host)
        HAUL_TRY(
            haul_buffer_new(memory->device, HAUL_BUFFER_PINNED, bytes, &field->sent_host, error));
    return HAUL_OK;
}

/* Between the ring and memory beside it, in the stream of the kernels. */
static haul_status put_aside(hl_tile_field *field, hl_tile_planes run, bool is_back,
                             haul_error *error)
{
    haul_context *context = field->context;
    haul_status status = HAUL_OK;
    for (int first = run.first; first < run.end && !status;) {
        const int at = hl_tile_ring_place(field, first + run.shift), room = field->planes - at;
        const int planes = run.end - first < room ? run.end - first : room;
        const haul_address ring = haul_in_buffer(field->ring, (uint64_t)at * field->plane_bytes);
        const int before = first - run.first + (is_back ? field->edge : 0);
        const haul_address other =
            haul_in_buffer(field->aside, (uint64_t)before * field->plane_bytes);
        const haul_transfer transfer = {
            .to = is_back ? ring : other,
            .from = is_back ? other : ring,
            .size = {(uint64_t)planes * field->plane_bytes},
        };
        status = hl_tile_copy(context, context->streams.run, &transfer, error);
        first += planes;
    }
    return status;
}

/* Planes for the far neighbour's, which its device did first: they are in the host's memory, or
 * come there while the pass before still runs. */
static haul_status bring_home(const hl_tile_exchange *self, hl_tile_field *field, haul_error *error)
{
    haul_context *context = self->context;
    const hl_tile_side far = hl_tile_side_of(self, field, !self->begins_high);
    for (int i = 0; i < field->part_count && far.peer >= 0; i++) {
        hl_tile_part *part = &field->parts[i];
        const int begin = hl_tile_part_begin(field, i), end = hl_tile_part_end(field, i);
        const int last = far.sent + field->edge;
        const hl_tile_planes planes = {begin > far.sent ? begin : far.sent, end < last ? end : last,
                                       part->shift};
        if (planes.first >= planes.end)
            continue;
        if (part->is_leaving && part->left)
            HAUL_TRY(hl_tile_host_wait_event(context, part->left, error));
        if (!part->on_device || part->on_host)
            continue;
        if (part->passed)
            HAUL_TRY(hl_tile_wait(context, context->streams.home, part->passed, error));
        HAUL_TRY(hl_tile_planes_copy(field, planes, context->streams.home, error));
    }
    return HAUL_OK;
}

/* Starts messages to the neighbour at one end and from that at the other. The first come from the
 * array's memory, or from where they were put aside. */
static haul_status start(hl_tile_exchange *self, bool to_high, haul_error *error)
{
    haul_process_message messages[2 * HL_TILE_USES];
    int count = 0;
    for (unsigned i = 0; i < self->early_count; i++) {
        const hl_tile_field *field = self->early[i];
        const hl_tile_side to = hl_tile_side_of(self, field, to_high);
        const hl_tile_side from = hl_tile_side_of(self, field, !to_high);
        if (to.peer >= 0) {
            messages[count] = hl_tile_side_message(field, &to, true);
            if (to_high == self->begins_high)
                messages[count].cells = haul_buffer_host(field->sent_host);
            self->context->counts.bytes_sent += messages[count++].bytes;
        }
        if (from.peer >= 0)
            messages[count++] = hl_tile_side_message(field, &from, false);
        hl_tile_wire_lend(self->processes,
                          to_high == self->begins_high ? field->sent_host : field->pinned);
    }
    return hl_tile_start(self->context, messages, count, error);
}

static haul_address address_of(const hl_tile_parcel *parcel)
{
    return parcel->pinned ? haul_in_buffer(parcel->pinned, parcel->offset)
                          : haul_in_host(parcel->cells);
}

static haul_status see(const hl_tile_exchange *self, const hl_tile_field *field,
                       const hl_tile_side *from, hl_tile_parcel *parcel, haul_error *error)
{
    const haul_process_message message = hl_tile_side_message(field, from, false);
    HAUL_TRY(hl_tile_wire_see(self->processes, &message, parcel, error));
    if (parcel->pinned && parcel->pinned->device->backend != self->context->memory.device->backend)
        parcel->pinned = NULL;
    hl_tile_note_received(self->context);
    return HAUL_OK;
}

/* Planes from the neighbour where the pass begins: first beside the ring, where kernels still use
 * the planes before. */
static haul_status take_near(hl_tile_exchange *self, haul_error *error)
{
    haul_context *context = self->context;
    hl_tile_streams *streams = &context->streams;
    for (unsigned i = 0; i < self->early_count; i++) {
        hl_tile_field *field = self->early[i];
        const hl_tile_side from = hl_tile_side_of(self, field, self->begins_high);
        hl_tile_parcel parcel;
        if (from.peer < 0)
            continue;
        HAUL_TRY(see(self, field, &from, &parcel, error));
        const uint64_t bytes = (uint64_t)field->edge * field->plane_bytes;
        const haul_transfer transfer = {.to = haul_in_buffer(field->aside, bytes),
                                        .from = address_of(&parcel),
                                        .size = {bytes}};
        HAUL_TRY(hl_tile_copy(context, streams->up, &transfer, error));
    }
    HAUL_TRY(hl_tile_record(context, streams->up, streams->early.of[HAS_RECEIVED], error));
    HAUL_TRY(hl_tile_wait(context, streams->run, streams->early.of[HAS_RECEIVED], error));
    for (unsigned i = 0; i < self->early_count; i++) {
        hl_tile_field *field = self->early[i];
        const hl_tile_side from = hl_tile_side_of(self, field, self->begins_high);
        if (from.peer < 0)
            continue;
        HAUL_TRY(put_aside(field, hl_tile_side_planes(field, &from), true, error));
        field->parts[hl_tile_side_part(field, &from)].on_host = false;
    }
    return HAUL_OK;
}

/* To the device, where that has their part, and else to the host, once no copy comes there. */
static haul_status take_far(hl_tile_exchange *self, hl_tile_field *field, haul_error *error)
{
    haul_context *context = self->context;
    hl_tile_streams *streams = &context->streams;
    const hl_tile_side from = hl_tile_side_of(self, field, !self->begins_high);
    const haul_process_message message = hl_tile_side_message(field, &from, false);
    hl_tile_part *part = &field->parts[hl_tile_side_part(field, &from)];
    hl_tile_parcel parcel;
    HAUL_TRY(see(self, field, &from, &parcel, error));
    if (part->is_leaving && part->left)
        HAUL_TRY(hl_tile_host_wait_event(context, part->left, error));
    if (!part->on_device) {
        hl_tile_wire_copy(self->processes, &message, &parcel);
        return HAUL_OK;
    }
    part->on_host = false;
    HAUL_TRY(hl_tile_record(context, streams->run, streams->computed, error));
    HAUL_TRY(hl_tile_wait(context, streams->up, streams->computed, error));
    HAUL_TRY(
        hl_tile_planes_bring(field, hl_tile_side_planes(field, &from), address_of(&parcel), error));
    HAUL_TRY(hl_tile_record(context, streams->up, streams->early.of[HAS_RECEIVED], error));
    return hl_tile_wait(context, streams->run, streams->early.of[HAS_RECEIVED], error);
}

/* The pass comes to its far end. Neighbours have then copied what this device did early, or do:
 * their memory and its own may change from here on, but for what was put aside. */
static haul_status open_gate(void *state, haul_error *error)
{
    hl_tile_exchange *self = state;
    haul_context *context = self->context;
    HAUL_TRY(hl_tile_host_wait(context, context->streams.home, error));
    HAUL_TRY(hl_tile_host_wait_event(context, context->streams.early.of[HAS_RECEIVED], error));
    HAUL_TRY(hl_tile_wire_settle(self->processes, error));
    HAUL_TRY(start(self, self->begins_high, error));
    bool on_host = true;
    for (unsigned i = 0; i < self->early_count; i++) {
        hl_tile_field *field = self->early[i];
        const hl_tile_side from = hl_tile_side_of(self, field, !self->begins_high);
        if (from.peer < 0)
            continue;
        HAUL_TRY(take_far(self, field, error));
        on_host = on_host && !field->parts[hl_tile_side_part(field, &from)].on_device;
    }
    if (on_host) /* copied already */
        hl_tile_wire_give_back(self->processes);
    self->early_count = 0;
    return HAUL_OK;
}

/* Queues what goes out, in the order in which it is done, and waits for the first alone. */
static haul_status send(hl_tile_exchange *self, haul_error *error)
{
    haul_context *context = self->context;
    hl_tile_streams *streams = &context->streams;
    for (unsigned i = 0; i < self->early_count; i++)
        HAUL_TRY(bring_home(self, self->early[i], error));
    HAUL_TRY(hl_tile_record(context, streams->home, streams->early.of[FAR_IS_HOME], error));
    for (unsigned i = 0; i < self->early_count; i++) {
        hl_tile_field *field = self->early[i];
        const hl_tile_side to = hl_tile_side_of(self, field, self->begins_high);
        const hl_tile_planes planes = {to.sent, to.sent + field->edge, 0};
        if (to.peer >= 0)
            HAUL_TRY(put_aside(field, planes, false, error));
        context->counts.exchanges++;
    }
    HAUL_TRY(hl_tile_record(context, streams->run, streams->computed, error));
    HAUL_TRY(hl_tile_wait(context, streams->home, streams->computed, error));
    for (unsigned i = 0; i < self->early_count; i++) {
        const hl_tile_field *field = self->early[i];
        const haul_transfer transfer = {.to = haul_in_buffer(field->sent_host, 0),
                                        .from = haul_in_buffer(field->aside, 0),
                                        .size = {(uint64_t)field->edge * field->plane_bytes}};
        if (hl_tile_side_of(self, field, self->begins_high).peer >= 0)
            HAUL_TRY(hl_tile_copy(context, streams->home, &transfer, error));
    }
    HAUL_TRY(hl_tile_host_wait_event(context, streams->early.of[FAR_IS_HOME], error));
    return start(self, !self->begins_high, error);
}

haul_status hl_tile_early_begin(hl_tile_exchange *self, hl_tile_step *steps, size_t count,
                                bool *is_begun, haul_error *error)
{
    haul_context *context = self->context;
    *is_begun = can_begin(self, steps, count);
    for (unsigned i = 0; i < self->count && *is_begun; i++)
        *is_begun = !make_buffers(context, self->fields[i], NULL);
    if (!*is_begun)
        return HAUL_OK;
    HAUL_TRY(hl_tile_events_ensure(context, &context->streams.early, EVENTS, error));
    HAUL_TRY(hl_tile_exchange_settle(self, error));
    /* which read planes that are about to change in the host's memory */
    HAUL_TRY(hl_tile_host_wait(context, context->streams.up, error));
    self->lent_count = 1; /* until the next exchange: what was put aside */
    self->lent[0] = NULL;
    self->begins_high = context->streams.is_backward = self->turns[0] % 2;
    for (unsigned i = 0; i < self->count; i++)
        self->early[i] = self->fields[i];
    self->early_count = self->count;
    self->count = 0;
    HAUL_TRY(send(self, error));
    HAUL_TRY(take_near(self, error));
    context->gate = (hl_tile_gate){open_gate, self, !self->begins_high, 0};
    for (unsigned i = 0; i < self->early_count; i++)
        if (self->early[i]->edge > context->gate.planes)
            context->gate.planes = self->early[i]->edge;
    return HAUL_OK;
}

haul_status hl_tile_early_end(hl_tile_exchange *self, haul_error *error)
{
    return hl_tile_gate_open(&self->context->gate, error);
}
