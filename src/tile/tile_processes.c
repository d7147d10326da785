/* Arrays over processes. Each holds a run of planes, and counts them from 0; its ghost planes are
 * its neighbours' cells. A loop that reads them begins with the planes that do not, while messages
 * are under way. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_exchange.h"
#include "tile/tile_processes.h"
#include "tile/tile_relay.h"

/* A field has two neighbours, each with a message in and one out. CHUNK: cells that are computed on
 * the host between looks at the messages, well below a millisecond. */
enum { MESSAGES = 4, CHUNK = 1 << 16 };

/* Planes [first, first + edge), as far as the device alone has them, on their way to the host. */
static haul_status fetch(const hl_tile_field *field, int first, haul_error *error)
{
    haul_context *context = field->context;
    for (int i = 0; i < field->part_count; i++) {
        const hl_tile_part *part = &field->parts[i];
        const int begin = hl_tile_part_begin(field, i), end = hl_tile_part_end(field, i);
        const int last = first + field->edge;
        const hl_tile_planes planes = {begin > first ? begin : first, end < last ? end : last,
                                       part->shift};
        if (planes.first >= planes.end)
            continue;
        if (part->is_leaving) /* perhaps an older state of it, to the same memory */
            HAUL_TRY(hl_tile_host_wait(context, context->streams.down, error));
        if (part->on_device && !part->on_host)
            HAUL_TRY(
                hl_tile_planes_copy((hl_tile_field *)field, planes, context->streams.home, error));
    }
    return HAUL_OK;
}

/* After the loops that are queued; loops that are queued later do not hold it up. */
static haul_status fetch_all(const hl_tile_exchange *self, haul_error *error)
{
    haul_context *context = self->context;
    if (context->memory.is_host)
        return HAUL_OK;
    HAUL_TRY(hl_tile_record(context, context->streams.run, context->streams.computed, error));
    HAUL_TRY(hl_tile_wait(context, context->streams.home, context->streams.computed, error));
    /* ghost planes may be brought */
    HAUL_TRY(hl_tile_wait(context, context->streams.up, context->streams.computed, error));
    for (unsigned i = 0; i < self->count; i++)
        for (int high = 0; high < 2; high++) {
            const hl_tile_side from = hl_tile_side_of(self, self->fields[i], high);
            if (from.peer >= 0)
                HAUL_TRY(fetch(self->fields[i], from.sent, error));
        }
    return HAUL_OK;
}

/* Between two processes that are neighbours twice, messages are told apart by their order. */
static haul_status start(hl_tile_exchange *self, haul_error *error)
{
    haul_process_message messages[MESSAGES * HL_TILE_USES];
    int count = 0;
    if (!self->context->memory.is_host) {
        HAUL_TRY(hl_tile_host_wait(self->context, self->context->streams.home, error));
        /* of loops that brought what is about to change */
        HAUL_TRY(hl_tile_host_wait(self->context, self->context->streams.up, error));
    }
    HAUL_TRY(hl_tile_exchange_settle(self, error));
    for (unsigned i = 0; i < self->count; i++) {
        const hl_tile_field *field = self->fields[i];
        for (int high = 0; high < 2; high++) {
            const hl_tile_side to = hl_tile_side_of(self, field, high),
                               from = hl_tile_side_of(self, field, !high);
            if (to.peer >= 0) {
                messages[count++] = hl_tile_side_message(field, &to, true);
                self->context->counts.bytes_sent += messages[count - 1].bytes;
            }
            if (from.peer >= 0)
                messages[count++] = hl_tile_side_message(field, &from, false);
        }
        self->context->counts.exchanges++;
        if (hl_tile_exchange_is_direct(self))
            hl_tile_wire_lend(self->processes, field->pinned);
    }
    return hl_tile_start(self->context, messages, count, error);
}

/* Planes on their way to the device are there before anything takes them from it again. */
static haul_status order_arrivals(haul_context *context, haul_error *error)
{
    const hl_tile_streams *streams = &context->streams;
    HAUL_TRY(hl_tile_record(context, streams->up, streams->computed, error));
    HAUL_TRY(hl_tile_wait(context, streams->run, streams->computed, error));
    return hl_tile_wait(context, streams->home, streams->computed, error);
}

/* From the neighbour's memory: to the device, where that has their region, and else to the host. */
static haul_status take_planes(const hl_tile_exchange *self, unsigned index,
                               const hl_tile_side *from, bool *is_pinned, haul_error *error)
{
    hl_tile_field *field = self->fields[index];
    const haul_device *device = self->context->memory.device;
    const haul_process_message message = hl_tile_side_message(field, from, false);
    hl_tile_part *part = &field->parts[hl_tile_side_part(field, from)];
    hl_tile_parcel parcel;
    if (!hl_tile_wire_has(self->processes, from->peer)) {
        HAUL_TRY(hl_tile_host_wait(self->context, self->context->streams.up, error));
        hl_tile_wire_give_back(self->processes);
    }
    HAUL_TRY(hl_tile_wire_see(self->processes, &message, &parcel, error));
    hl_tile_note_received(self->context);
    *is_pinned = parcel.pinned && parcel.pinned->device->backend == device->backend;
    if (!part->on_device || self->is_untold[index])
        hl_tile_wire_copy(self->processes, &message, &parcel);
    if (!part->on_device)
        return HAUL_OK;
    if (self->is_untold[index]) /* the host's memory has them, too */
        return hl_tile_planes_copy(field, hl_tile_side_planes(field, from),
                                   self->context->streams.up, error);
    part->on_host = false;
    const haul_address cells =
        *is_pinned ? haul_in_buffer(parcel.pinned, parcel.offset) : haul_in_host(parcel.cells);
    return hl_tile_planes_bring(field, hl_tile_side_planes(field, from), cells, error);
}

/* Without the host's copies between. The neighbours get their memory back in the next exchange, as
 * this device's thread goes on at once; memory that is not page-locked sooner. */
static haul_status take_all(hl_tile_exchange *self, bool *is_late, haul_error *error)
{
    *is_late = false;
    for (unsigned i = 0; i < self->count; i++)
        self->lent[i] = self->fields[i];
    self->lent_count = self->count;
    for (unsigned i = 0; i < self->count; i++)
        for (int high = 0; high < 2; high++) {
            bool is_pinned = true;
            const hl_tile_side from = hl_tile_side_of(self, self->fields[i], !high);
            if (from.peer >= 0)
                HAUL_TRY(take_planes(self, i, &from, &is_pinned, error));
            *is_late = *is_late || !is_pinned;
        }
    return HAUL_OK;
}

/* The host has the ghost planes; where the device has their region, it gets them too. */
static haul_status finish(hl_tile_exchange *self, bool *is_late, haul_error *error)
{
    const double since = hl_base_clock_s();
    haul_status status = hl_tile_exchange_is_direct(self) ? take_all(self, is_late, error)
                                                          : hl_tile_finish(self->context, error);
    self->context->counts.exposed_s += hl_base_clock_s() - since;
    for (unsigned i = 0; i < self->count && !hl_tile_exchange_is_direct(self); i++)
        for (int high = 0; high < 2 && !status; high++) {
            hl_tile_field *field = self->fields[i];
            const hl_tile_side from = hl_tile_side_of(self, field, high);
            if (from.peer >= 0 && field->parts[hl_tile_side_part(field, &from)].on_device)
                status = hl_tile_planes_copy(field, hl_tile_side_planes(field, &from),
                                             self->context->streams.up, error);
        }
    for (unsigned i = 0; i < self->count; i++)
        self->fields[i]->frame_stale = self->fields[i]->frame_stale || self->is_untold[i];
    self->count = 0;
    return status || self->context->memory.is_host ? status : order_arrivals(self->context, error);
}

/* Planes that the step reads beyond its own, of the fields whose ghost planes are under way; -1:
 * it must wait. */
static int reach_of(const hl_tile_exchange *self, const hl_tile_step *step)
{
    int reach = 0;
    bool is_free = step->source && !step->source->reduces && !step->is_ordered &&
                   !self->context->options.exchange_first;
    if (hl_tile_exchange_is_direct(self) && self->context->options.host_share > 0)
        is_free = false; /* the host's threads write what neighbours may be copying */
    for (unsigned u = 0; u < step->use_count; u++) {
        const hl_tile_field_use *use = &step->uses[u];
        bool is_pending = false;
        for (unsigned i = 0; i < self->count; i++)
            is_pending = is_pending || self->fields[i] == use->field;
        reach = is_pending && use->halo > reach ? use->halo : reach;
        is_free = is_free && !(is_pending && use->writes);
        if (!self->context->memory.is_host)
            is_free = is_free && !step->on_host && hl_tile_field_is_all_there(use->field) &&
                      use->field != self->context->choice.wanted;
    }
    return is_free ? reach : -1;
}

/* Planes [first, end) of the step's. */
static haul_status run_planes(haul_context *context, const hl_tile_step *step, int first, int end,
                              haul_error *error)
{
    hl_tile_step part = *step;
    int *lo = &part.box.lo[step->outer], *hi = &part.box.hi[step->outer];
    *lo = *lo > first ? *lo : first;
    *hi = *hi < end ? *hi : end;
    return *lo < *hi ? hl_tile_steps_run(context, &part, 1, error) : HAUL_OK;
}

/* On the host in runs of few planes, between which the messages go on. */
static haul_status run_inner(const hl_tile_exchange *self, const hl_tile_step *step, int first,
                             int end, haul_error *error)
{
    int64_t cells = 1;
    for (int d = 0; d < step->outer; d++)
        cells *= step->box.hi[d] - step->box.lo[d];
    const int planes = cells < CHUNK ? (int)(CHUNK / (cells ? cells : 1)) : 1;
    haul_status status = HAUL_OK;
    if (!self->context->memory.is_host)
        return run_planes(self->context, step, first, end, error);
    for (int at = first; at < end && !status; at += planes) {
        status = run_planes(self->context, step, at, end - at < planes ? end : at + planes, error);
        if (!status)
            status = self->processes->advance(self->processes->of, error);
    }
    return status;
}

/* Whether planes are to come to memory that a neighbour may be copying from. */
static bool is_lent(const hl_tile_exchange *self)
{
    bool is_found = false;
    for (unsigned i = 0; i < self->count; i++)
        for (unsigned j = 0; j < self->lent_count; j++)
            is_found = is_found || self->fields[i] == self->lent[j];
    return is_found;
}

/* Whether planes are to come beyond that end. */
static bool waits_for(const hl_tile_exchange *self, bool is_high)
{
    bool is_one = false;
    for (unsigned i = 0; i < self->count; i++)
        is_one = is_one || hl_tile_side_of(self, self->fields[i], is_high).peer >= 0;
    return is_one;
}

/* A step after exchanges: first what needs none of them. On a device it is queued before the host
 * waits for the planes that it sends. Work that may change the host's memory waits for those that
 * copy from it. */
static haul_status run_beside(hl_tile_exchange *self, const hl_tile_step *step, haul_error *error)
{
    haul_context *context = self->context;
    const int reach = reach_of(self, step);
    const int lo = step->box.lo[step->outer], hi = step->box.hi[step->outer];
    bool is_late = false;
    const int low = waits_for(self, false) ? reach : INT_MIN;
    const int high = waits_for(self, true) ? step->length - reach : INT_MAX;
    int first = lo < low ? low : lo, end = hi > high ? high : hi;
    if (reach < 0 || first >= end)
        first = end = hi;
    if (reach < 0 || is_lent(self))
        HAUL_TRY(hl_tile_exchange_settle(self, error));
    HAUL_TRY(fetch_all(self, error));
    if (context->memory.is_host)
        HAUL_TRY(start(self, error));
    HAUL_TRY(run_inner(self, step, first, end, error));
    if (!context->memory.is_host)
        HAUL_TRY(start(self, error));
    HAUL_TRY(finish(self, &is_late, error));
    if (reach < 0)
        HAUL_TRY(hl_tile_exchange_settle(self, error));
    HAUL_TRY(run_planes(context, step, lo, first, error));
    HAUL_TRY(run_planes(context, step, end, hi, error));
    return is_late ? hl_tile_exchange_settle(self, error) : HAUL_OK;
}

/* Ends exchanges that no step may run beside. */
static haul_status settle(hl_tile_exchange *self, haul_error *error)
{
    const hl_tile_step nothing = {.source = NULL};
    return self->count ? run_beside(self, &nothing, error) : HAUL_OK;
}

/* Whether each process has a part of the step's result. */
static bool has_parts(const hl_tile_step *step)
{
    return step->source && step->source->reduces && step->length != step->whole;
}

/* Notes that the results are to be put together, before anything reads them. A process without
 * cells of the box has no part. */
static bool note_part(const hl_tile_step *step)
{
    const bool is_empty = step->box.lo[step->outer] >= step->box.hi[step->outer];
    for (unsigned u = 0; u < step->use_count && has_parts(step); u++)
        if (step->uses[u].reduction) {
            step->uses[u].field->partial = step->uses[u].reduction;
            step->uses[u].field->partial_number = step->uses[u].number;
            step->uses[u].field->has_no_part = is_empty;
        }
    return has_parts(step) && is_empty;
}

/* Of one array, of each process's part, in the order of ranks; they lie `bytes` apart. */
static haul_status fold_parts(hl_tile_field *field, const char *parts, size_t bytes,
                              haul_error *error)
{
    const hl_tile_field_use use = {
        .field = field, .reduction = field->partial, .number = field->partial_number};
    const uint64_t count = (uint64_t)field->context->options.processes->count;
    char *rows = malloc((count + hl_tile_fold_parts(count)) * field->element);
    if (!rows)
        return hl_base_fail_no_memory(error);
    for (uint64_t i = 0; i < count; i++)
        memcpy(rows + i * field->element, parts + i * bytes, field->element);
    if (!field->memory->without_data)
        hl_tile_fold_on_host(&use, rows, count);
    free(rows);
    field->parts[0] = (hl_tile_part){.on_host = true, .left = field->parts[0].left};
    return HAUL_OK;
}

/* Puts the parts of all results together. */
static haul_status combine(const haul_context *context, char *own, char *all, size_t bytes,
                           haul_error *error)
{
    size_t at = 0;
    for (hl_tile_field *field = context->memory.fields; field; field = field->next) {
        const hl_tile_field_use use = {
            .field = field, .reduction = field->partial, .number = field->partial_number};
        if (!field->partial)
            continue;
        HAUL_TRY(hl_tile_part_fetch(field, 0, !field->has_no_part, error));
        if (!field->memory->without_data && field->has_no_part)
            hl_tile_fold_set_identity(&use, field->host);
        if (!field->memory->without_data)
            memcpy(own + at, field->host, field->element);
        at += field->element;
    }
    HAUL_TRY(hl_tile_gather((haul_context *)context, own, bytes, all, error));
    at = 0;
    for (hl_tile_field *field = context->memory.fields; field; field = field->next)
        if (field->partial) {
            HAUL_TRY(fold_parts(field, all + at, bytes, error));
            at += field->element;
            field->partial = 0;
        }
    return HAUL_OK;
}

/* Where there are some. */
static haul_status combine_results(const haul_context *context, haul_error *error)
{
    size_t bytes = 0;
    for (const hl_tile_field *field = context->memory.fields; field; field = field->next)
        bytes += field->partial ? field->element : 0;
    if (!bytes)
        return HAUL_OK;
    char *own = calloc((size_t)context->options.processes->count + 1, bytes);
    const haul_status status =
        own ? combine(context, own, own + bytes, bytes, error) : hl_base_fail_no_memory(error);
    free(own);
    return status;
}

/* Steps up to the next exchange, after those that are pending, or, where these can go on in a pass
 * over them, with it. */
static haul_status run_after(hl_tile_exchange *self, hl_tile_step *steps, size_t count,
                             size_t *taken, haul_error *error)
{
    size_t own = 0;
    bool is_early = false, has_none = false;
    while (own < count && !has_none && !steps[own].is_exchange &&
           !hl_tile_step_is_relayed(&steps[own]))
        has_none = note_part(&steps[own++]);
    *taken = own;
    own -= has_none;
    if (self->count && own)
        HAUL_TRY(hl_tile_early_begin(self, steps, own, &is_early, error));
    if (!is_early) {
        HAUL_TRY(settle(self, error));
        HAUL_TRY(hl_tile_exchange_settle(self, error));
    }
    if (own)
        HAUL_TRY(hl_tile_steps_run(self->context, steps, own, error));
    return hl_tile_early_end(self, error);
}

static haul_status run_all(hl_tile_exchange *self, hl_tile_step *steps, size_t count,
                           haul_error *error)
{
    haul_context *context = self->context;
    bool has_loops = false; /* else there is nothing to choose regions for */
    for (size_t i = 0; i < count; i++)
        has_loops = has_loops || (!steps[i].is_exchange && steps[i].source);
    if (has_loops && !context->memory.is_host)
        HAUL_TRY(hl_tile_rings_ensure(context, steps, count, NULL, error));
    for (size_t i = 0, taken = 1; i < count; i += taken) {
        taken = 1;
        if (steps[i].is_exchange && !hl_tile_is_divided(steps[i].uses[0].field)) {
            HAUL_TRY(settle(self, error));
            HAUL_TRY(hl_tile_exchange_settle(self, error));
            HAUL_TRY(combine_results(context, error));
        } else if (steps[i].is_exchange) {
            if (self->count == HL_TILE_USES)
                HAUL_TRY(settle(self, error));
            self->is_untold[self->count] = steps[i].is_untold;
            self->turns[self->count] = steps[i].turn;
            self->fields[self->count++] = steps[i].uses[0].field;
        } else if (hl_tile_step_is_relayed(&steps[i])) {
            taken = hl_tile_relay_count(steps + i, count - i);
            HAUL_TRY(settle(self, error));
            HAUL_TRY(hl_tile_exchange_settle(self, error));
            HAUL_TRY(hl_tile_relay_run(context, steps + i, taken, error));
        } else if (self->count && reach_of(self, &steps[i]) >= 0) {
            HAUL_TRY(run_beside(self, &steps[i], error));
        } else {
            HAUL_TRY(run_after(self, steps + i, count - i, &taken, error));
        }
    }
    HAUL_TRY(settle(self, error));
    HAUL_TRY(hl_tile_exchange_settle(self, error));
    return combine_results(context, error);
}

haul_status hl_tile_processes_run(haul_context *context, hl_tile_step *steps, size_t count,
                                  haul_error *error)
{
    haul_error own = {.status = HAUL_OK};
    hl_tile_exchange self = {.context = context, .processes = context->options.processes};
    error = error ? error : &own;
    haul_status status = run_all(&self, steps, count, error);
    context->gate.open = NULL;
    for (hl_tile_field *field = context->memory.fields; field; field = field->next) {
        field->partial = 0;
        field->is_partial = false;
    }
    if (status)
        self.processes->tell(self.processes->of, error);
    const haul_status last = hl_tile_exchange_settle(&self, status ? NULL : error);
    if (last && !status)
        self.processes->tell(self.processes->of, error);
    return status ? status : last;
}

/* At the same time to and from processes at the same distance. */
haul_status hl_tile_planes_gather(hl_tile_field *field, char *cells, haul_error *error)
{
    const haul_processes *processes = field->context->options.processes;
    uint64_t plane = field->element;
    haul_status status = HAUL_OK;
    for (int d = 0; d + 1 < field->dims; d++)
        plane *= (uint64_t)field->size[d];
    for (int apart = 1; apart < processes->count && !status; apart++) {
        const int to = (processes->rank + apart) % processes->count;
        const int from = (processes->rank - apart + processes->count) % processes->count;
        const int first = hl_tile_share_first(field->memory, field->whole, from);
        const int planes = hl_tile_share_first(field->memory, field->whole, from + 1) - first;
        const haul_process_message messages[] = {
            {to, field->number % HL_TILE_LABELS, true, cells + (uint64_t)field->first * plane,
             (uint64_t)field->length * plane},
            {from, field->number % HL_TILE_LABELS, false, cells + (uint64_t)first * plane,
             (uint64_t)planes * plane},
        };
        status = hl_tile_start(field->context, messages, 2, error);
        if (!status)
            status = hl_tile_finish(field->context, error);
    }
    if (status)
        processes->tell(processes->of, error);
    return status;
}
