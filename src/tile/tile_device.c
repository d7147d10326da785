/* Loops on a device. An array's planes lie in a ring in device memory: the whole array where it
 * fits, else a window of it. A pass takes the front over the regions, one after another; while the
 * steps of a block run behind the front, the next region is copied in and one that the pass has
 * left is copied out. The next pass goes the other way, so that what is on the device is used
 * first: that is eviction by next use for sweeps. */
#include "base/fail.h"
#include "base/grow.h"
#include "haul/device_backend.h"
#include "tile/tile_parts.h"

/* A pass. Regions and planes are counted in its direction: `turned` gives the real ones. */
typedef struct pass {
    haul_context *context;
    haul_block block;
    int region;
    int base;                 /* the part that it begins with, in the array's direction */
    int count;                /* regions: those that a step touches */
    int length;               /* their planes */
    int extra;                /* regions that a pass round the array comes to again */
    int lag;                  /* regions behind the front that its steps still use */
    const haul_field *wanted; /* by the host, after the pass */
    bool is_backward;
    bool is_whole; /* all is on the device, or will be made there: one launch a step */
} pass;

/* A part's planes. A pass that goes round the array has no use for those beyond its edges. */
static haul_planes span_of(const pass *self, const haul_field *field, int part)
{
    haul_planes span = {haul_part_begin(field, part), haul_part_end(field, part),
                        field->parts[part].shift};
    if (self->block.wraps) {
        span.first = span.first < 0 ? 0 : span.first;
        span.end = span.end > field->length ? field->length : span.end;
    }
    return span;
}

/* Whether two runs of planes share places of the ring. */
static bool overlap(const haul_field *field, haul_planes one, haul_planes other)
{
    const int first = one.first + one.shift, begin = other.first + other.shift;
    int ahead = (begin - first) % field->planes;
    ahead += ahead < 0 ? field->planes : 0;
    return ahead < one.end - one.first || ahead + other.end - other.first > field->planes;
}

/* The host's copy counts as current from now on; is_leaving says that it has yet to arrive. */
static haul_status part_down(const pass *self, haul_field *field, int part, haul_error *error)
{
    const haul_status status =
        haul_planes_copy(field, span_of(self, field, part), field->context->down, error);
    if (!status)
        field->parts[part].on_host = field->parts[part].is_leaving = true;
    return status;
}

/* A region of the pass as a part of the array, and the other way; after all of them those that a
 * pass round the array comes to again. */
static int part_of(const pass *self, int region)
{
    if (region >= self->count)
        return region - self->count;
    return self->base + (self->is_backward ? self->count - 1 - region : region);
}

static int region_of(const pass *self, int part)
{
    return self->is_backward ? self->base + self->count - 1 - part : part - self->base;
}

/* Whether a pass that goes round the array comes to the part twice: it is changed both times. */
static bool comes_twice(const pass *self, int part)
{
    return part < self->extra;
}

static haul_status leave(const pass *self, const haul_block_field *of, int part, bool was_visited,
                         haul_error *error)
{
    haul_field *field = of->field;
    haul_part *state = &field->parts[part];
    const bool is_needed = (was_visited ? !of->is_dead : !of->is_fresh) ||
                           comes_twice(self, part) ||
                           haul_part_end(field, part) > self->block.host_from;
    haul_status status = HAUL_OK;
    if (state->on_device && !state->on_host && is_needed)
        status = part_down(self, field, part, error);
    state->on_device = false;
    return status;
}

/* Takes from the ring what is where the region's part will be. `front` is the last region that the
 * pass has been to: what is beyond has not been used by it yet. */
static haul_status make_room_for(const pass *self, const haul_block_field *of, int region,
                                 int front, haul_error *error)
{
    haul_field *field = of->field;
    const int part = part_of(self, region);
    haul_status status = HAUL_OK;
    if (haul_field_is_all_there(field))
        return HAUL_OK;
    if (region >= self->count)
        status = leave(self, of, part, true, error);
    if (field->parts[part].on_device)
        return status;
    field->parts[part].shift = region >= self->count ? field->length : 0;
    for (int i = 0; i < field->part_count && !status; i++)
        if (i != part && field->parts[i].on_device &&
            overlap(field, span_of(self, field, part), span_of(self, field, i)))
            status = leave(self, of, i, region_of(self, i) <= front, error);
    return status;
}

/* Before the work that is queued on the device next: room for a region of all arrays. */
static haul_status make_room(const pass *self, int region, int front, haul_error *error)
{
    haul_context *context = self->context;
    haul_status status = haul_tile_record(context, context->run, context->computed, error);
    if (!status)
        status = haul_tile_wait(context, context->down, context->computed, error);
    for (unsigned i = 0; i < self->block.field_count && !status; i++) {
        const haul_block_field *of = &self->block.fields[i];
        if (of->is_aligned && region < self->count + self->extra)
            status = make_room_for(self, of, region, front, error);
    }
    if (!status)
        status = haul_tile_record(context, context->down, context->made_room[region % 3], error);
    return status;
}

static bool is_part_written(const haul_block *block, const haul_field *field, int part)
{
    for (size_t i = 0; i < block->count; i++) {
        const haul_step *step = &block->steps[i];
        for (unsigned u = 0; u < step->use_count; u++)
            if (step->uses[u].field == field && step->uses[u].writes &&
                haul_step_touches(step, &step->uses[u], 0, part))
                return true;
    }
    return false;
}

/* Brings a part: all of it, or, where it is overwritten first, the planes beyond the edges. */
static haul_status bring(const pass *self, const haul_block_field *of, int part, haul_error *error)
{
    haul_field *field = of->field;
    haul_stream *up = field->context->up;
    haul_part *state = &field->parts[part];
    haul_status status = HAUL_OK;
    if (!state->on_device) {
        haul_planes span = span_of(self, field, part);
        const int first = span.first, end = span.end;
        if (of->is_fresh && !comes_twice(self, part)) {
            span.end = first < 0 ? 0 : first;
            status = haul_planes_copy(field, span, up, error);
            span.first = end < field->length ? end : field->length;
            span.end = end;
        }
        if (!status)
            status = haul_planes_copy(field, span, up, error);
        state->on_device = status == HAUL_OK;
    }
    if (is_part_written(&self->block, field, part))
        state->on_host = false;
    return status;
}

/* An array that loops may read anywhere comes wholly: runs of its regions in one copy each, for its
 * planes may be small. */
static haul_status bring_all(const pass *self, const haul_block_field *of, haul_error *error)
{
    haul_field *field = of->field;
    haul_status status = HAUL_OK;
    for (int part = 0, end; part < field->part_count && !of->is_fresh && !status; part = end) {
        const int first = haul_part_begin(field, part);
        for (end = part; end < field->part_count && !field->parts[end].on_device; end++)
            field->parts[end].on_device = true;
        if (end > part)
            status = haul_planes_copy(field, (haul_planes){first, haul_part_end(field, end - 1), 0},
                                      self->context->up, error);
        end += end == part;
    }
    for (int part = 0; part < field->part_count && !status; part++)
        status = bring(self, of, part, error);
    return status;
}

/* Events go round in threes: one region is used, one arrives and one makes room. */
static haul_status bring_region(const pass *self, int region, haul_error *error)
{
    haul_context *context = self->context;
    const int room = self->is_whole ? 0 : region % 3;
    haul_status status = haul_tile_wait(context, context->up, context->made_room[room], error);
    for (unsigned i = 0; i < self->block.field_count && !status; i++) {
        const haul_block_field *of = &self->block.fields[i];
        if (of->is_aligned && region < self->count + self->extra)
            status = bring(self, of, part_of(self, region), error);
        if (!of->is_aligned && !region)
            status = bring_all(self, of, error);
    }
    if (!status)
        status = haul_tile_record(context, context->up, context->arrived[region % 3], error);
    return status;
}

/* The fixed cells beyond the edges of planes that were not brought. */
static haul_status frame_region(const pass *self, int region, haul_error *error)
{
    haul_status status = HAUL_OK;
    for (unsigned i = 0; i < self->block.field_count && !status; i++) {
        const haul_block_field *of = &self->block.fields[i];
        haul_field *field = of->field;
        if (!of->is_fresh || !of->is_aligned || region >= self->count)
            continue;
        const int part = part_of(self, region);
        if (comes_twice(self, part))
            continue;
        const int first = haul_part_begin(field, part), end = haul_part_end(field, part);
        status = haul_ghosts_on_device(field, first < 0 ? 0 : first,
                                       end < field->length ? end : field->length, true, error);
    }
    return status;
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
static haul_status run_round(const pass *self, const haul_step *step, int first, int end,
                             haul_error *error)
{
    const int length = self->block.length;
    first = first > step->skew ? first : step->skew;
    end = end < step->skew + length ? end : step->skew + length;
    const haul_planes once = {first, end < length ? end : length, 0};
    const haul_planes again = {(first > length ? first : length) - length, end - length, length};
    const haul_status status = haul_step_run(self->context, step, once, error);
    return status ? status : haul_step_run(self->context, step, again, error);
}

static haul_status run_region(const pass *self, int region, int last, haul_error *error)
{
    const int begin = self->base * self->region;
    haul_status status = HAUL_OK;
    for (size_t i = 0; i < self->block.count && !status; i++) {
        const haul_step *step = &self->block.steps[i];
        int first = region ? front_after(self, region - 1) - step->skew : INT32_MIN / 2;
        int end = region < last ? front_after(self, region) - step->skew : INT32_MAX / 2;
        if (self->is_backward) {
            const int low = self->length - end;
            end = self->length - first;
            first = low;
        }
        const haul_planes run = {begin + first, begin + end, 0};
        status = self->block.wraps ? run_round(self, step, first, end, error)
                                   : haul_step_run(self->context, step, run, error);
    }
    return status;
}

/* Notes that the work on regions [first, end) of the pass is queued. */
static haul_status note_passed(const pass *self, int first, int end, haul_error *error)
{
    haul_context *context = self->context;
    if (first >= end)
        return HAUL_OK;
    if (!haul_grow(&context->passed, &context->passed_capacity, (size_t)end, sizeof(haul_event *)))
        return haul_fail_no_memory(error);
    haul_status status = HAUL_OK;
    for (; context->passed_count < (size_t)end && !status; context->passed_count += !status)
        status = haul_event_new(context->device, &context->passed[context->passed_count], error);
    if (!status)
        status = haul_tile_record(context, context->run, context->passed[first], error);
    for (unsigned i = 0; i < self->block.field_count && !status; i++) {
        haul_field *field = self->block.fields[i].field;
        const bool is_aligned = self->block.fields[i].is_aligned;
        const int last = is_aligned ? end : field->part_count;
        const int parts = is_aligned ? self->count + self->extra : field->part_count;
        for (int region = is_aligned ? first : 0; region < last && region < parts; region++)
            field->parts[is_aligned ? part_of(self, region) : region].passed =
                context->passed[first];
    }
    return status;
}

/* Regions that the last pass has done with, of an array that the host waits for, need not wait
 * until the pass ends. */
static haul_status send_home(const pass *self, int first, int end, haul_error *error)
{
    haul_context *context = self->context;
    haul_status status = HAUL_OK;
    for (unsigned i = 0; i < self->block.field_count && !status; i++) {
        const haul_block_field *of = &self->block.fields[i];
        if (of->field != self->wanted || !of->is_aligned || first >= end)
            continue;
        status = haul_tile_wait(context, context->down, context->passed[first], error);
        for (int r = first; r < end && r < self->count && !status; r++) {
            const int part = part_of(self, r);
            const haul_part *state = &of->field->parts[part];
            if (state->on_device && !state->on_host)
                status = part_down(self, of->field, part, error);
        }
    }
    return status;
}

/* Queues what the front brings with it in one region: room for the one after the next, the next,
 * and the steps up to the front. */
static haul_status advance(const pass *self, int front, int last, haul_error *error)
{
    haul_context *context = self->context;
    const int regions = self->is_whole ? 1 : self->count + self->extra;
    haul_status status = HAUL_OK;
    if (front + 2 < regions)
        status = make_room(self, front + 2, front - 1, error);
    if (!status && front + 1 < regions)
        status = bring_region(self, front + 1, error);
    if (!status && front < regions)
        status = haul_tile_wait(context, context->run, context->arrived[front % 3], error);
    const int end = self->is_whole ? self->count : front + 1;
    for (int r = front; front < regions && r < end && !status; r++)
        status = frame_region(self, r, error);
    if (!status)
        status = run_region(self, front, last, error);
    const int done = front - self->lag < 0 ? 0 : front - self->lag;
    if (!status && front < last)
        status = note_passed(self, done, front - self->lag + 1, error);
    if (!status && front < last)
        status = send_home(self, done, front - self->lag + 1, error);
    return status;
}

/* Parts without the planes beyond the edges, or past the array's end, do not stay on the device. */
static haul_status end_round(const pass *self, haul_error *error)
{
    haul_context *context = self->context;
    haul_status status = haul_tile_record(context, context->run, context->computed, error);
    if (!status)
        status = haul_tile_wait(context, context->down, context->computed, error);
    for (unsigned i = 0; i < self->block.field_count && !status; i++) {
        haul_field *field = self->block.fields[i].field;
        if (!self->block.fields[i].is_aligned)
            continue;
        for (int part = 0; part < field->part_count && !status; part++) {
            if (part >= self->extra && part && part + 1 < field->part_count)
                continue;
            status = leave(self, &self->block.fields[i], part, true, error);
            field->parts[part].shift = 0;
        }
        field->planes_stale = field->boundary[field->dims - 1] == HAUL_BOUNDARY_PERIODIC;
    }
    return status;
}

static haul_status run_pass(const pass *self, haul_error *error)
{
    const int regions = self->is_whole ? 1 : self->count + self->extra;
    const int last = self->is_whole ? 0 : regions - 1 + self->lag;
    haul_status status = HAUL_OK;
    for (int r = 0; r < 2 && r < regions && !status; r++)
        status = make_room(self, r, -1, error);
    for (int r = 1; self->is_whole && r < self->count && !status; r++)
        status = bring_region(self, r, error);
    if (!status)
        status = bring_region(self, 0, error);
    for (int front = 0; front <= last && !status; front++)
        status = advance(self, front, last, error);
    for (size_t i = 0; i < self->block.count && !status; i++)
        status = haul_rows_fold_on_device(self->context, &self->block.steps[i], error);
    const int rest = self->is_whole || last < self->lag ? 0 : last - self->lag;
    if (!status)
        status = note_passed(self, rest, self->count + self->extra, error);
    if (!status)
        status = send_home(self, rest, self->count, error);
    if (!status && self->block.wraps)
        status = end_round(self, error);
    self->context->counts.passes++;
    return status;
}

/* Then there is nothing to copy and the pass needs no regions: each step is one launch. */
static bool is_resident(const pass *self)
{
    for (unsigned i = 0; i < self->block.field_count; i++) {
        const haul_block_field *of = &self->block.fields[i];
        const haul_field *field = of->field;
        const int first = of->is_aligned ? self->base : 0;
        const int end = of->is_aligned ? first + self->count : field->part_count;
        if (!haul_field_is_all_there(field))
            return false;
        for (int part = first; part < end; part++)
            if (!field->parts[part].on_device && !of->is_fresh)
                return false;
    }
    return true;
}

/* The regions that the steps touch: others stay where they are. */
static void find_regions(pass *self, const haul_field *along)
{
    int low = along->length, high = 0;
    for (size_t i = 0; i < self->block.count; i++) {
        const haul_step *step = &self->block.steps[i];
        const int lo = step->box.lo[step->outer], hi = step->box.hi[step->outer];
        for (unsigned u = 0; u < step->use_count && lo < hi; u++) {
            const int halo = step->uses[u].halo;
            low = low < lo - halo ? low : lo - halo;
            high = high > hi + halo ? high : hi + halo;
        }
    }
    const int last =
        along->length - 1; /* planes beyond the edges are the first and last region's */
    low = low < 0 || self->block.wraps ? 0 : low > last ? last : low;
    high = high > last || self->block.wraps ? last + 1 : high < 1 ? 1 : high;
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
        const haul_block_field *of = &self->block.fields[i];
        const haul_field *field = of->field;
        if (of->is_aligned && field->region != self->region)
            return haul_fail(error, HAUL_USAGE,
                             "a loop's arrays have regions of %d and of %d planes", self->region,
                             field->region);
        if (!haul_field_is_all_there(field) &&
            (!of->is_aligned || field->planes < (self->lag + 3) * field->region + 2 * field->edge))
            return haul_fail(
                error, HAUL_DEVICE_FULL,
                "kernel '%s' needs %d planes of an array on the device, which has room "
                "for %d",
                self->block.steps[0].source ? self->block.steps[0].source->name : "edges",
                of->is_aligned ? (self->lag + 3) * field->region + 2 * field->edge
                               : field->length + 2 * field->edge,
                field->planes);
    }
    return HAUL_OK;
}

/* Rows of one dimension may be cut by regions: their parts are then added in one order. */
static bool has_cut_rows(const haul_block *block)
{
    bool is_one = false;
    for (size_t i = 0; i < block->count; i++)
        is_one = is_one || (block->steps[i].source && block->steps[i].source->reduces &&
                            !block->steps[i].outer);
    return is_one;
}

/* A pass over what is resident keeps its direction: no order is better than another. */
static haul_status make_pass(haul_context *context, pass *self, haul_error *error)
{
    self->context = context;
    find_regions(self, haul_block_along(&self->block));
    self->lag = (self->block.reach + self->region - 1) / self->region;
    self->is_whole = !self->block.wraps && is_resident(self);
    self->extra = self->block.wraps ? self->lag : 0;
    self->is_backward = !self->block.wraps && !self->is_whole && context->is_backward &&
                        !has_cut_rows(&self->block);
    haul_status status = check_pass(self, error);
    for (unsigned i = 0; i < self->block.field_count && !status; i++)
        status = haul_ghosts_prepare(self->block.fields[i].field, error);
    for (size_t i = 0; i < self->block.count && !status; i++)
        status = haul_rows_ensure(context, &self->block.steps[i], error);
    return status;
}

/* Such a step joins the two ends of the array, which may not be on the device at once: it is a
 * block by itself, and the planes follow after the pass. */
static bool is_wrap(const haul_step *step)
{
    const haul_field *field = step->uses[0].field;
    return !step->source && field->boundary[field->dims - 1] == HAUL_BOUNDARY_PERIODIC;
}

/* After a failure: what the block was working on is as the host last had it, or lost; what has not
 * come home will not. */
static void give_up(haul_context *context, const haul_block *block)
{
    (void)haul_stream_wait(context->up, NULL);
    (void)haul_stream_wait(context->run, NULL);
    const bool is_home = !haul_stream_wait(context->down, NULL);
    for (haul_field *field = context->fields; field; field = field->next)
        for (int p = 0; p < field->part_count; p++) {
            haul_part *part = &field->parts[p];
            part->on_host = part->on_host && (is_home || !part->is_leaving);
            part->is_leaving = false;
            part->passed = NULL;
        }
    for (unsigned i = 0; i < block->field_count; i++)
        for (int p = 0; p < block->fields[i].field->part_count; p++)
            block->fields[i].field->parts[p].on_device = false;
}

static int along_region(const haul_step *step)
{
    for (unsigned i = 0; i < step->use_count; i++)
        if (haul_is_along(step, &step->uses[i]))
            return step->uses[i].field->region;
    return 1;
}

/* Before a pass: planes beyond the edges are as they should be, or, where it goes round the array,
 * not on the device. */
static haul_status settle(const haul_block_field *of, bool wraps, haul_error *error)
{
    haul_field *field = of->field;
    haul_status status = HAUL_OK;
    if (!wraps)
        return field->planes_stale ? haul_planes_wrap(field, error) : HAUL_OK;
    for (int part = 0; part < field->part_count && of->is_aligned && !status; part++) {
        if (part && part + 1 < field->part_count)
            continue;
        if (!of->is_fresh)
            status = haul_part_fetch(field, part, true, error);
        field->parts[part].on_host = true;
        field->parts[part].on_device = false;
    }
    return status;
}

/* Streaming passes go back and forth: each begins with the regions that the one before left on the
 * device. */
haul_status haul_block_run(haul_context *context, haul_block *block, haul_error *error)
{
    pass self = {.context = context, .block = *block};
    if (!block->wraps && block->is_last)
        self.wanted = context->wanted;
    haul_status status = HAUL_OK;
    for (unsigned i = 0; i < block->field_count && !status; i++)
        status = settle(&block->fields[i], block->wraps, error);
    if (!status)
        status = make_pass(context, &self, error);
    if (!status)
        status = run_pass(&self, error);
    if (!status && !block->wraps && is_wrap(block->steps)) {
        status = haul_planes_wrap(block->steps[0].uses[0].field, error);
        if (!status)
            status = note_passed(&self, 0, self.count, error);
    }
    if (status)
        give_up(context, block);
    context->steps_chosen = (unsigned)block->loops;
    if (!self.is_whole)
        context->is_backward = !self.is_backward;
    return status;
}

haul_status haul_device_run(haul_context *context, haul_step *steps, size_t count,
                            haul_error *error)
{
    haul_status status = haul_rings_ensure(context, steps, count, error);
    if (!status)
        count = haul_fuse(context, steps, count, along_region(steps));
    for (size_t done = 0; done < count && !status;) {
        if (haul_needs_columns(&steps[done])) {
            size_t taken;
            status = haul_columns_run(context, steps + done, count - done, &taken, error);
            done += taken;
            continue;
        }
        haul_block block;
        const size_t left = count - done;
        const haul_block_limits limits =
            haul_limits_of(context, steps + done, left, along_region(&steps[done]));
        haul_block_take(&block, steps + done, left, &limits);
        block.is_last = block.count == left;
        bool is_shared;
        status = haul_share_run(context, &block, &is_shared, error);
        if (!status && !is_shared)
            status = haul_block_run(context, &block, error);
        done += block.count;
    }
    return status;
}
