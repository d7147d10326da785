/* Loops on a device. An array's planes lie in a ring in device memory: the whole array where it
 * fits, else a window of it. A pass takes the front over the regions, one after another; while the
 * steps of a block run behind the front, the next region is copied in and one that the pass has
 * left is copied out. The next pass goes the other way, so that what is on the device is used
 * first: that is eviction by next use for sweeps. */
#include "base/fail.h"
#include "haul/device_backend.h"
#include "tile/tile_pass.h"

/* A pass. Regions are counted in its direction: part_of gives the part of the array. */
typedef struct pass {
    haul_context *context;
    hl_tile_block block;
    int region;
    int base;                    /* the part that it begins with, in the array's direction */
    int count;                   /* regions: those that a step touches */
    int length;                  /* their planes */
    int extra;                   /* regions that a pass round the array comes to again */
    int ahead;                   /* regions before the front that are brought */
    int lag;                     /* regions behind the front that its steps still use */
    const hl_tile_field *wanted; /* by the host, after the pass */
    bool is_backward;
    bool is_whole; /* all is on the device, or will be made there: one launch a step */
} pass;

/* A part's planes. A pass that goes round the array has no use for those beyond its edges. */
static hl_tile_planes span_of(const pass *self, const hl_tile_field *field, int part)
{
    hl_tile_planes span = {hl_tile_part_begin(field, part), hl_tile_part_end(field, part),
                           field->parts[part].shift};
    if (self->block.wraps) {
        span.first = span.first < 0 ? 0 : span.first;
        span.end = span.end > field->length ? field->length : span.end;
    }
    return span;
}

/* Whether two runs of planes share places of the ring. */
static bool overlap(const hl_tile_field *field, hl_tile_planes one, hl_tile_planes other)
{
    const int first = one.first + one.shift, begin = other.first + other.shift;
    int ahead = (begin - first) % field->planes;
    ahead += ahead < 0 ? field->planes : 0;
    return ahead < one.end - one.first || ahead + other.end - other.first > field->planes;
}

static haul_status part_down(const pass *self, hl_tile_field *field, int part, haul_error *error)
{
    HAUL_TRY(hl_tile_planes_copy(field, span_of(self, field, part), field->context->streams.down,
                                 error));
    return hl_tile_part_leaves(field, part, error);
}

/* A region of the pass as a part of the array, and the other way; after all of them those that a
 * pass round the array comes to again. */
static int part_of(const pass *self, int region)
{
    if (region >= self->count)
        return region - self->count;
    return self->base + (self->is_backward ? self->count - 1 - region : region);
}

/* Whether a pass that goes round the array comes to the part twice: it is changed both times. */
static bool comes_twice(const pass *self, int part)
{
    return part < self->extra;
}

static haul_status leave(const pass *self, const hl_tile_block_field *of, int part,
                         bool was_visited, haul_error *error)
{
    hl_tile_field *field = of->field;
    hl_tile_part *state = &field->parts[part];
    const bool is_needed = (was_visited ? !of->is_dead : !of->is_fresh) ||
                           (comes_twice(self, part) && !state->shift) ||
                           hl_tile_part_end(field, part) > self->block.host_from;
    haul_status status = HAUL_OK;
    if (state->on_device && !state->on_host && is_needed)
        status = part_down(self, field, part, error);
    state->on_host = state->on_host || (was_visited && of->is_discarded);
    state->on_device = false;
    return status;
}

/* Takes from the ring what is where the region's part will be. `front` is the last region that the
 * pass has been to: what is beyond has not been used by it yet. */
static haul_status make_room_for(const pass *self, const hl_tile_block_field *of, int region,
                                 int front, haul_error *error)
{
    hl_tile_field *field = of->field;
    const int part = part_of(self, region);
    haul_status status = HAUL_OK;
    if (hl_tile_field_is_all_there(field))
        return HAUL_OK;
    if (region >= self->count)
        status = leave(self, of, part, true, error);
    if (field->parts[part].on_device)
        return status;
    field->parts[part].shift = region >= self->count ? field->length : self->context->relay.shift;
    for (int i = 0; i < field->part_count && !status; i++)
        if (i != part && field->parts[i].on_device &&
            overlap(field, span_of(self, field, part), span_of(self, field, i)))
            status = leave(
                self, of, i,
                (self->is_backward ? self->base + self->count - 1 - i : i - self->base) <= front,
                error);
    return status;
}

/* Events go round: each is recorded again when all have waited for it. */
static int event_of(const pass *self, int region)
{
    return region % (self->ahead + 2);
}

/* Before the work that is queued on the device next: room for a region of all arrays. */
static haul_status make_room(const pass *self, int region, int front, haul_error *error)
{
    haul_context *context = self->context;
    hl_tile_streams *streams = &context->streams;
    /* In a pass behind another of this device, whose last regions it may still work on, the first
     * ones come to the places of those before. */
    const int left = context->relay.regions - (self->lag + 3) + region;
    const bool follows = context->relay.regions >= self->lag + 3 && left < context->relay.regions;
    if (follows) {
        HAUL_TRY(hl_tile_wait(context, streams->up, streams->handed.of[left], error));
    } else {
        HAUL_TRY(hl_tile_record(context, streams->run, streams->computed, error));
        HAUL_TRY(hl_tile_wait(context, streams->down, streams->computed, error));
    }
    for (unsigned i = 0; i < self->block.field_count; i++) {
        const hl_tile_block_field *of = &self->block.fields[i];
        if (of->is_aligned && region < self->count + self->extra)
            HAUL_TRY(make_room_for(self, of, region, front, error));
    }
    if (follows)
        return HAUL_OK;
    return hl_tile_record(context, context->streams.down,
                          context->streams.made_room.of[event_of(self, region)], error);
}

static bool is_part_written(const hl_tile_block *block, const hl_tile_field *field, int part)
{
    for (size_t i = 0; i < block->count; i++) {
        const hl_tile_step *step = &block->steps[i];
        for (unsigned u = 0; u < step->use_count; u++)
            if (step->uses[u].field == field && step->uses[u].writes &&
                hl_tile_step_touches(step, &step->uses[u], 0, part))
                return true;
    }
    return false;
}

/* Brings a part: all of it, or, where it is overwritten first, the planes beyond the edges. */
static haul_status bring(const pass *self, const hl_tile_block_field *of, int part,
                         haul_error *error)
{
    hl_tile_field *field = of->field;
    haul_stream *up = field->context->streams.up;
    hl_tile_part *state = &field->parts[part];
    haul_status status = HAUL_OK;
    if (!state->on_device) {
        hl_tile_planes span = span_of(self, field, part);
        const int first = span.first, end = span.end;
        state->is_bare = of->is_fresh && !comes_twice(self, part);
        if (state->is_bare) {
            span.end = first < 0 ? 0 : first;
            status = hl_tile_planes_copy(field, span, up, error);
            span.first = end < field->length ? end : field->length;
            span.end = end;
        }
        if (!status)
            status = hl_tile_planes_copy(field, span, up, error);
        state->on_device = status == HAUL_OK;
    }
    if (is_part_written(&self->block, field, part))
        state->on_host = false;
    return status;
}

/* An array that loops may read anywhere comes wholly: runs of its regions in one copy each, for its
 * planes may be small. */
static haul_status bring_all(const pass *self, const hl_tile_block_field *of, haul_error *error)
{
    hl_tile_field *field = of->field;
    for (int part = 0, end; part < field->part_count && !of->is_fresh; part = end) {
        const int first = hl_tile_part_begin(field, part);
        for (end = part; end < field->part_count && !field->parts[end].on_device; end++) {
            field->parts[end].on_device = true;
            field->parts[end].is_bare = false;
        }
        if (end > part)
            HAUL_TRY(hl_tile_planes_copy(
                field, (hl_tile_planes){first, hl_tile_part_end(field, end - 1), 0},
                self->context->streams.up, error));
        end += end == part;
    }
    for (int part = 0; part < field->part_count; part++)
        HAUL_TRY(bring(self, of, part, error));
    return HAUL_OK;
}

haul_status hl_tile_gate_open(hl_tile_gate *self, haul_error *error)
{
    const hl_tile_gate gate = *self;
    self->open = NULL;
    return gate.open ? gate.open(gate.state, error) : HAUL_OK;
}

static haul_status bring_region(const pass *self, int region, haul_error *error)
{
    haul_context *context = self->context;
    const int room = self->is_whole ? 0 : event_of(self, region);
    const hl_tile_field *along = hl_tile_block_along(&self->block);
    const int last = part_of(self, region < self->count ? region : 0);
    const int gate = context->gate.planes;
    if (self->is_whole ||
        (context->gate.is_high ? hl_tile_part_end(along, last) > along->length - gate
                               : hl_tile_part_begin(along, last) < gate))
        HAUL_TRY(hl_tile_gate_open(&context->gate, error));
    if (context->relay.take)
        HAUL_TRY(context->relay.take(context->relay.state, region, error));
    HAUL_TRY(
        hl_tile_wait(context, context->streams.up, context->streams.made_room.of[room], error));
    for (unsigned i = 0; i < self->block.field_count; i++) {
        const hl_tile_block_field *of = &self->block.fields[i];
        if (of->is_aligned && region < self->count + self->extra)
            HAUL_TRY(bring(self, of, part_of(self, region), error));
        if (!of->is_aligned && !region)
            HAUL_TRY(bring_all(self, of, error));
    }
    return hl_tile_record(context, context->streams.up,
                          context->streams.arrived.of[event_of(self, region)], error);
}

/* Whether one of the parts [first, end) was not brought; they are not bare from now on. */
static bool take_bare(hl_tile_field *field, int first, int end)
{
    bool is_one = false;
    for (int part = first; part < end; part++) {
        is_one = is_one || field->parts[part].is_bare;
        field->parts[part].is_bare = false;
    }
    return is_one;
}

/* The fixed cells beyond the edges of planes that were not brought. An array of other planes than
 * the pass's was to come with its first region. */
static haul_status frame_region(const pass *self, int region, haul_error *error)
{
    for (unsigned i = 0; i < self->block.field_count; i++) {
        const hl_tile_block_field *of = &self->block.fields[i];
        hl_tile_field *field = of->field;
        int first = 0, end = field->length;
        if (of->is_aligned ? region >= self->count : region > 0)
            continue;
        const int part = of->is_aligned ? part_of(self, region) : 0;
        if (!take_bare(field, part, of->is_aligned ? part + 1 : field->part_count))
            continue;
        if (of->is_aligned) {
            const int last = hl_tile_part_end(field, part);
            first = part ? hl_tile_part_begin(field, part) : 0;
            end = last < end ? last : end;
        }
        const int shift = of->is_aligned ? self->context->relay.shift : 0;
        HAUL_TRY(hl_tile_ghosts_on_device(field, (hl_tile_planes){first, end, shift}, true, error));
    }
    return HAUL_OK;
}

/* Where the front is when it has passed a region: the last region of the array may have fewer
 * planes, and is the first of a backward pass. */
static int front_after(const pass *self, int region)
{
    const int ahead = (region + 1) * self->region, length = self->block.length;
    if (self->block.wraps) {
        const int again = length + (region + 1 - self->count) * self->region;
        return region < self->count ? (ahead < length ? ahead : length) : again;
    }
    return self->is_backward ? ahead - self->count * self->region + self->length : ahead;
}

/* In a pass round the array a step begins `skew` planes after its start, as it is `skew` planes
 * behind the front: so it finds at the end what it began with, not yet overwritten. */
static haul_status run_round(const pass *self, const hl_tile_step *step, int first, int end,
                             haul_error *error)
{
    const int length = self->block.length;
    first = first > step->skew ? first : step->skew;
    end = end < step->skew + length ? end : step->skew + length;
    const hl_tile_planes once = {first, end < length ? end : length, 0};
    const hl_tile_planes again = {(first > length ? first : length) - length, end - length, length};
    HAUL_TRY(hl_tile_step_run(self->context, step, once, error));
    return hl_tile_step_run(self->context, step, again, error);
}

static haul_status run_region(const pass *self, int region, int last, haul_error *error)
{
    const int begin = self->base * self->region;
    for (size_t i = 0; i < self->block.count; i++) {
        const hl_tile_step *step = &self->block.steps[i];
        int first = region ? front_after(self, region - 1) - step->skew : INT32_MIN / 2;
        int end = region < last ? front_after(self, region) - step->skew : INT32_MAX / 2;
        if (self->is_backward) {
            const int low = self->length - end;
            end = self->length - first;
            first = low;
        }
        const hl_tile_planes run = {begin + first, begin + end, self->context->relay.shift};
        HAUL_TRY(self->block.wraps ? run_round(self, step, first, end, error)
                                   : hl_tile_step_run(self->context, step, run, error));
    }
    return HAUL_OK;
}

/* Notes that the work on regions [first, end) of the pass is queued. */
static haul_status note_passed(const pass *self, int first, int end, haul_error *error)
{
    haul_context *context = self->context;
    if (first >= end)
        return HAUL_OK;
    haul_status status =
        hl_tile_events_ensure(context, &context->streams.passed, (size_t)end, error);
    if (!status)
        status =
            hl_tile_record(context, context->streams.run, context->streams.passed.of[first], error);
    for (unsigned i = 0; i < self->block.field_count && !status; i++) {
        hl_tile_field *field = self->block.fields[i].field;
        const bool is_aligned = self->block.fields[i].is_aligned;
        const int last = is_aligned ? end : field->part_count;
        const int parts = is_aligned ? self->count + self->extra : field->part_count;
        for (int region = is_aligned ? first : 0; region < last && region < parts; region++)
            field->parts[is_aligned ? part_of(self, region) : region].passed =
                context->streams.passed.of[first];
    }
    return status;
}

/* Regions that the pass has done with need not wait until it ends: of an array that the host waits
 * for, in the last pass, and of all that another device's pass takes. */
static haul_status send_home(const pass *self, int first, int end, haul_error *error)
{
    haul_context *context = self->context;
    const hl_tile_relay *relay = &context->relay;
    if (first >= end || !(self->wanted || relay->take))
        return HAUL_OK;
    HAUL_TRY(
        hl_tile_wait(context, context->streams.down, context->streams.passed.of[first], error));
    for (int r = first; r < end && r < self->count; r++) {
        const int part = part_of(self, r);
        for (unsigned i = 0; i < self->block.field_count; i++) {
            const hl_tile_block_field *of = &self->block.fields[i];
            const bool is_one =
                relay->take ? of->is_written && !of->is_dead : of->field == self->wanted;
            if (of->is_aligned && is_one && of->field->parts[part].on_device &&
                !of->field->parts[part].on_host)
                HAUL_TRY(part_down(self, of->field, part, error));
        }
    }
    return HAUL_OK;
}

/* The region that the pass has done with; none at its begin. While the pass ends, with less and
 * less to do, and the next one begins, the device has more regions under way. */
static haul_status hand_on(const pass *self, int front, haul_error *error)
{
    const hl_tile_relay *relay = &self->context->relay;
    const int part = front - self->lag, begins = self->lag - 1 - front,
              ends = front + 1 - self->count;
    const int more = begins > ends ? begins : ends;
    return relay->take ? relay->hand_on(relay->state, part, more > 0 ? more : 0, error) : HAUL_OK;
}

/* Queues what the front brings with it in one region: room for the one after the last that is
 * brought, that one, and the steps up to the front. */
static haul_status advance(const pass *self, int front, int last, haul_error *error)
{
    haul_context *context = self->context;
    const int regions = self->is_whole ? 1 : self->count + self->extra;
    if (front + self->ahead + 1 < regions)
        HAUL_TRY(make_room(self, front + self->ahead + 1, front - 1, error));
    if (front + self->ahead < regions)
        HAUL_TRY(bring_region(self, front + self->ahead, error));
    if (front < regions)
        HAUL_TRY(hl_tile_wait(context, context->streams.run,
                              context->streams.arrived.of[event_of(self, front)], error));
    const int end = self->is_whole ? self->count : front + 1;
    for (int r = front; front < regions && r < end; r++)
        HAUL_TRY(frame_region(self, r, error));
    HAUL_TRY(run_region(self, front, last, error));
    const int done = front - self->lag < 0 ? 0 : front - self->lag;
    if (front >= last)
        return HAUL_OK;
    HAUL_TRY(note_passed(self, done, front - self->lag + 1, error));
    HAUL_TRY(send_home(self, done, front - self->lag + 1, error));
    return hand_on(self, front, error);
}

/* Parts without the planes beyond the edges, or past the array's end, do not stay on the device. */
static haul_status end_round(const pass *self, haul_error *error)
{
    haul_context *context = self->context;
    HAUL_TRY(hl_tile_record(context, context->streams.run, context->streams.computed, error));
    HAUL_TRY(hl_tile_wait(context, context->streams.down, context->streams.computed, error));
    for (unsigned i = 0; i < self->block.field_count; i++) {
        hl_tile_field *field = self->block.fields[i].field;
        if (!self->block.fields[i].is_aligned)
            continue;
        for (int part = 0; part < field->part_count; part++) {
            if (part >= self->extra && part && part + 1 < field->part_count)
                continue;
            HAUL_TRY(leave(self, &self->block.fields[i], part, true, error));
            field->parts[part].shift = 0;
        }
        field->planes_stale = field->boundary[field->dims - 1] == HAUL_BOUNDARY_PERIODIC;
    }
    return HAUL_OK;
}

static haul_status run_pass(const pass *self, haul_error *error)
{
    const int regions = self->is_whole ? 1 : self->count + self->extra;
    const int last = self->is_whole ? 0 : regions - 1 + self->lag;
    haul_status status = HAUL_OK;
    for (int r = 0; r <= self->ahead && r < regions && !status; r++)
        status = make_room(self, r, -1, error);
    for (int r = 1; self->is_whole && r < self->count && !status; r++)
        status = bring_region(self, r, error);
    for (int r = 0; r < self->ahead && r < regions && !status; r++)
        status = bring_region(self, r, error);
    for (int front = 0; front <= last && !status; front++)
        status = advance(self, front, last, error);
    for (size_t i = 0; i < self->block.count && !status; i++)
        if (!self->block.steps[i].cut)
            status = hl_tile_rows_fold_on_device(self->context, &self->block.steps[i], error);
    const int rest = self->is_whole || last < self->lag ? 0 : last - self->lag;
    if (!status)
        status = note_passed(self, rest, self->count + self->extra, error);
    if (!status)
        status = send_home(self, rest, self->count, error);
    if (!status)
        status = hand_on(self, last, error);
    if (!status && self->block.wraps)
        status = end_round(self, error);
    self->context->counts.passes++;
    return status;
}

/* Then there is nothing to copy and the pass needs no regions: each step is one launch. */
static bool is_resident(const pass *self)
{
    for (unsigned i = 0; i < self->block.field_count; i++) {
        const hl_tile_block_field *of = &self->block.fields[i];
        const hl_tile_field *field = of->field;
        const int first = of->is_aligned ? self->base : 0;
        const int end = of->is_aligned ? first + self->count : field->part_count;
        if (!hl_tile_field_is_all_there(field))
            return false;
        for (int part = first; part < end; part++)
            if (!field->parts[part].on_device && !of->is_fresh)
                return false;
    }
    return true;
}

/* The regions that the steps touch: others stay where they are. */
static void find_regions(pass *self, const hl_tile_field *along)
{
    int low = along->length, high = 0;
    for (size_t i = 0; i < self->block.count; i++) {
        const hl_tile_step *step = &self->block.steps[i];
        const int lo = step->box.lo[step->outer], hi = step->box.hi[step->outer];
        for (unsigned u = 0; u < step->use_count && lo < hi; u++) {
            const int halo = step->uses[u].halo;
            low = low < lo - halo ? low : lo - halo;
            high = high > hi + halo ? high : hi + halo;
        }
    }
    const int last =
        along->length - 1; /* planes beyond the edges are the first and last region's */
    const bool is_all = self->block.wraps || self->context->relay.take;
    low = low < 0 || is_all ? 0 : low > last ? last : low;
    high = high > last || is_all ? last + 1 : high < 1 ? 1 : high;
    self->region = along->region;
    self->base = low / self->region;
    self->count = low < high ? (high - 1) / self->region + 1 - self->base : 1;
    const int end = (self->base + self->count) * self->region;
    self->length = (end <= last ? end : last + 1) - self->base * self->region;
}

/* A block that does not fit is an error here, before anything is queued. */
static haul_status check_pass(const pass *self, haul_error *error)
{
    for (unsigned i = 0; i < self->block.field_count; i++) {
        const hl_tile_block_field *of = &self->block.fields[i];
        const hl_tile_field *field = of->field;
        if (of->is_aligned && field->region != self->region)
            return haul_error_set(error, HAUL_STATUS_USAGE,
                                  "a loop's arrays have regions of %d and of %d planes",
                                  self->region, field->region);
        if (!of->is_aligned && !hl_tile_field_is_all_there(field))
            return haul_error_set(
                error, HAUL_STATUS_DEVICE_FULL,
                "kernel '%s' reads all of an array of %llu bytes, which the device cannot hold: of "
                "%llu bytes for arrays it has %llu",
                self->block.steps[0].source ? self->block.steps[0].source->name : "edges",
                (unsigned long long)field->host_bytes,
                (unsigned long long)self->context->memory.budget,
                (unsigned long long)haul_buffer_bytes(field->ring));
        if (!hl_tile_field_is_all_there(field) &&
            field->planes < (self->lag + 3) * field->region + 2 * field->edge)
            return haul_error_set(
                error, HAUL_STATUS_DEVICE_FULL,
                "kernel '%s' needs %d planes of an array on the device, which has room "
                "for %d",
                self->block.steps[0].source ? self->block.steps[0].source->name : "edges",
                (self->lag + 3) * field->region + 2 * field->edge, field->planes);
    }
    return HAUL_OK;
}

/* Rows of one dimension may be cut by regions: their parts are then added in one order. */
static bool has_cut_rows(const hl_tile_block *block)
{
    bool is_one = false;
    for (size_t i = 0; i < block->count; i++)
        is_one = is_one || (block->steps[i].source && block->steps[i].source->reduces &&
                            !block->steps[i].outer);
    return is_one;
}

/* As many regions as the rings have room for beside those in use: a pass over what is there at
 * first copies from its begin on, not when it comes to what is not. Round an array, one. */
static int regions_ahead(const pass *self)
{
    int ahead = self->count;
    for (unsigned i = 0; i < self->block.field_count; i++) {
        const hl_tile_field *field = self->block.fields[i].field;
        if (!self->block.fields[i].is_aligned || hl_tile_field_is_all_there(field))
            continue;
        const int room = (field->planes - 2 * field->edge) / field->region - self->lag - 2;
        ahead = room < ahead ? room : ahead;
    }
    return ahead < 1 || self->block.wraps || self->is_whole || self->context->relay.take ? 1
                                                                                         : ahead;
}

/* A pass over what is resident keeps its direction: no order is better than another. */
static haul_status make_pass(haul_context *context, pass *self, haul_error *error)
{
    self->context = context;
    find_regions(self, hl_tile_block_along(&self->block));
    const int missing =
        self->block.wraps ? hl_tile_planes_missing(self->block.length, self->region) : 0;
    self->lag = (self->block.reach + missing + self->region - 1) / self->region;
    /* Fused steps that go on with the first planes behind the last ones are a block by themselves,
     * of arrays of which the device will have all. */
    self->is_whole = !self->block.wraps && !context->relay.take &&
                     (hl_tile_step_turns(self->block.steps) || is_resident(self));
    self->extra = self->block.wraps ? self->lag : 0;
    self->is_backward = !self->block.wraps && !self->is_whole && !context->relay.take &&
                        context->streams.is_backward && !has_cut_rows(&self->block);
    HAUL_TRY(check_pass(self, error));
    self->ahead = regions_ahead(self);
    const size_t events = (size_t)self->ahead + 2;
    HAUL_TRY(hl_tile_events_ensure(context, &context->streams.made_room, events, error));
    HAUL_TRY(hl_tile_events_ensure(context, &context->streams.arrived, events, error));
    for (unsigned i = 0; i < self->block.field_count; i++)
        HAUL_TRY(hl_tile_ghosts_prepare(self->block.fields[i].field, error));
    for (size_t i = 0; i < self->block.count; i++)
        HAUL_TRY(hl_tile_rows_ensure(context, &self->block.steps[i], error));
    return HAUL_OK;
}

/* Such a step joins the two ends of the array, which may not be on the device at once: it is a
 * block by itself, and the planes follow after the pass. */
static bool is_wrap(const hl_tile_step *step)
{
    const hl_tile_field *field = step->uses[0].field;
    return !step->source && field->boundary[field->dims - 1] == HAUL_BOUNDARY_PERIODIC;
}

/* After a failure: what the block was working on is as the host last had it, or lost; what has not
 * come home will not. */
static void give_up(haul_context *context, const hl_tile_block *block)
{
    (void)haul_stream_wait(context->streams.up, NULL);
    (void)haul_stream_wait(context->streams.run, NULL);
    const bool is_home = !haul_stream_wait(context->streams.down, NULL);
    for (hl_tile_field *field = context->memory.fields; field; field = field->next)
        for (int p = 0; p < field->part_count; p++) {
            hl_tile_part *part = &field->parts[p];
            part->on_host = part->on_host && (is_home || !part->is_leaving);
            part->is_leaving = false;
            part->passed = NULL;
        }
    for (unsigned i = 0; i < block->field_count; i++)
        for (int p = 0; p < block->fields[i].field->part_count; p++) {
            block->fields[i].field->parts[p].on_device = false;
            block->fields[i].field->parts[p].shift = 0;
        }
}

/* Before a pass: planes beyond the edges are as they should be, or, where it goes round the array,
 * not on the device. An array that loops read anywhere is whole also in a pass round others. */
static haul_status settle(const hl_tile_block_field *of, bool wraps, haul_error *error)
{
    hl_tile_field *field = of->field;
    wraps = wraps && of->is_aligned;
    if (!wraps && of->is_fresh)
        field->planes_stale = false; /* set again before they are read */
    if (!wraps)
        return field->planes_stale ? hl_tile_planes_wrap(field, error) : HAUL_OK;
    for (int part = 0; part < field->part_count; part++) {
        if (part && part + 1 < field->part_count)
            continue;
        if (!of->is_fresh)
            HAUL_TRY(hl_tile_part_fetch(field, part, true, error));
        field->parts[part].on_host = true;
        field->parts[part].on_device = false;
    }
    return HAUL_OK;
}

/* Streaming passes go back and forth: each begins with the regions that the one before left on the
 * device. */
haul_status hl_tile_block_run(haul_context *context, hl_tile_block *block, haul_error *error)
{
    pass self = {.context = context, .block = *block};
    /* Cells beyond the edges in the program's memory are there alone: no frame has them. */
    for (unsigned i = 0; i < block->field_count; i++)
        self.block.fields[i].is_fresh =
            block->fields[i].is_fresh && !block->fields[i].field->is_wrapped;
    if (!block->wraps && block->is_last && !is_wrap(block->steps))
        self.wanted = context->choice.wanted;
    haul_status status = HAUL_OK;
    for (unsigned i = 0; i < block->field_count && !status; i++)
        status = settle(&block->fields[i], block->wraps, error);
    if (!status)
        status = make_pass(context, &self, error);
    const bool is_too_large = status == HAUL_STATUS_DEVICE_FULL; /* nothing is queued then */
    if (!status)
        status = run_pass(&self, error);
    if (!status && !block->wraps && is_wrap(block->steps)) {
        status = hl_tile_planes_wrap(block->steps[0].uses[0].field, error);
        if (!status)
            status = note_passed(&self, 0, self.count, error);
    }
    if (status && !is_too_large)
        give_up(context, block);
    context->last.steps = (unsigned)block->loops;
    if (!self.is_whole)
        context->streams.is_backward = !self.is_backward;
    return status;
}
