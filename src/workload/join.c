/* Parts are renumbered and appended, each in order of start. In the end their operations are put in
 * order where they stand: a merge tells the place of each, and they change places by its cycles. */
#include "workload/join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/waiting.h"
#include "workload/builder.h"
#include "workload/mpi_calls.h"

static const int64_t time_limit = INT64_C(1) << 61;
static const uint64_t sum_limit = UINT64_C(1) << 62;

/* Numbers of the joined workload by those of a part. */
typedef struct numbers {
    uint32_t *streams; /* the others stand behind these: one block of memory */
    uint32_t *threads;
    uint32_t *shapes;
    uint32_t *strings;
    size_t string_count;
    uint32_t *ops; /* HAUL_NONE: left out */
} numbers;

/* Where a part stands in the joined workload. */
typedef struct run {
    size_t first_op, first_range, first_mpi_call; /* up to those of the next */
    haul_note *losses;                            /* in the arena */
    size_t loss_count;
    long long rank;
} run;

struct hl_workload_joiner {
    hl_workload_builder builder;
    bool is_joining; /* ranks, not a part of a profile */
    run *runs;       /* and one behind the last */
    size_t run_capacity;
    size_t added;
    const hl_workload_part *part; /* that is being added */
    numbers of;
    size_t origin_capacities[HL_WORKLOAD_ORIGINS];
    uint64_t total_ns, total_call_ns, total_bytes, orphaned;
    uint64_t other_calls;   /* beyond those of operations */
    int64_t epoch_ns, rank; /* of a single part */
    bool beyond;            /* a limit */
};

/* The number of a string, found once. */
static uint32_t string_of(hl_workload_joiner *self, uint32_t id)
{
    numbers *const of = &self->of;
    if (id >= of->string_count)
        return HAUL_NONE;
    if (of->strings[id] == HAUL_NONE) {
        const char *const text = haul_workload_string(self->part->of, id);
        of->strings[id] = hl_workload_builder_string(&self->builder, text, strlen(text));
    }
    return of->strings[id];
}

/* Names of streams and threads are no strings of the workload: they live in its arena. */
static const char *text_of(hl_workload_joiner *self, const char *text)
{
    const char *const kept = text ? hl_base_arena_string(&self->builder.arena, text) : NULL;
    self->builder.failed |= text && !kept;
    return kept;
}

/* Equal shapes of two parts become one. */
static void add_shapes(hl_workload_joiner *self)
{
    const haul_workload *const of = self->part->of;
    for (size_t i = 0; i < of->shape_count; i++) {
        haul_shape shape = of->shapes[i];
        if (shape.collective) {
            haul_collective collective = of->collectives[shape.collective - 1];
            collective.name = string_of(self, collective.name);
            collective.data_type = string_of(self, collective.data_type);
            collective.group = string_of(self, collective.group);
            shape.collective = hl_workload_builder_collective(&self->builder, &collective);
        }
        if (shape.operands)
            shape.operands =
                hl_workload_builder_operands(&self->builder, &of->operands[shape.operands - 1]);
        self->of.shapes[i] = hl_workload_builder_shape(&self->builder, &shape);
    }
}

/* Devices of two parts are never the same, whatever their ids: each process numbers those that it
 * sees. Processes are kept apart by the part's number in the upper bits. */
static void add_places(hl_workload_joiner *self)
{
    const haul_workload *const of = self->part->of;
    const uint64_t process = (uint64_t)self->added << 48;
    const uint32_t first_device = (uint32_t)self->builder.device_count;
    for (size_t i = 0; i < of->device_count; i++) {
        const uint32_t number = hl_workload_builder_device(&self->builder, of->devices[i].id);
        if (number == HAUL_NONE)
            return;
        haul_workload_device *const device = &self->builder.devices[number];
        *device = of->devices[i];
        device->name = text_of(self, device->name);
        device->host = text_of(self, device->host);
        if (self->is_joining)
            device->rank = of->rank >= 0 ? of->rank : (int64_t)self->added;
    }
    for (size_t i = 0; i < of->stream_count; i++) {
        haul_workload_stream stream = of->streams[i];
        stream.device = stream.device == HAUL_NONE ? HAUL_NONE : first_device + stream.device;
        stream.process ^= process;
        stream.name = text_of(self, stream.name);
        self->of.streams[i] = hl_workload_builder_stream(&self->builder, &stream);
    }
    for (size_t i = 0; i < of->thread_count; i++) {
        haul_workload_thread thread = of->threads[i];
        thread.process ^= process;
        thread.name = text_of(self, thread.name);
        self->of.threads[i] = hl_workload_builder_thread(&self->builder, &thread);
    }
}

static bool is_inside(const hl_workload_part *part, int64_t time_ns)
{
    return time_ns >= part->from_ns && time_ns < part->to_ns;
}

/* Adds to a sum, unless that goes beyond its limit. */
static void sum_up(hl_workload_joiner *self, uint64_t *sum, uint64_t more)
{
    self->beyond |= more > sum_limit - *sum;
    *sum += self->beyond ? 0 : more;
}

/* An operation with new numbers. A call outside of the window is as good as none: its thread is not
 * there then. */
static void add_op(hl_workload_joiner *self, uint32_t number)
{
    const hl_workload_part *const from = self->part;
    numbers *const of = &self->of;
    haul_op op = from->of->ops[number];
    if (op.flags & HAUL_OP_HAS_CALL && haul_op_on_device(&op) && !is_inside(from, op.call_ns)) {
        op.flags &= (uint8_t) ~(HAUL_OP_HAS_CALL | HAUL_OP_BLOCKS);
        op.call_ns = op.call_dur_ns = 0;
        op.thread = HAUL_NONE;
        self->orphaned++;
    }
    op.name = string_of(self, op.name);
    op.stream = op.stream == HAUL_NONE ? HAUL_NONE : of->streams[op.stream];
    op.thread = op.thread == HAUL_NONE ? HAUL_NONE : of->threads[op.thread];
    if (op.kind == HAUL_OP_KERNEL && op.shape != HAUL_NONE)
        op.shape = of->shapes[op.shape];
    sum_up(self, &self->total_ns, (uint64_t)op.dur_ns);
    sum_up(self, &self->total_call_ns, (uint64_t)op.call_dur_ns);
    if (haul_op_has_bytes(&op))
        sum_up(self, &self->total_bytes, op.bytes);
    of->ops[number] = hl_workload_builder_op(&self->builder, &op);
}

/* Where the part's operations were called for; of those before it, which may not tell, none. */
static void add_origins(hl_workload_joiner *self)
{
    const haul_workload *const of = self->part->of;
    hl_workload_builder *const builder = &self->builder;
    const uint32_t *const known[HL_WORKLOAD_ORIGINS] = {[HL_WORKLOAD_OPERATOR] = of->operators,
                                                        [HL_WORKLOAD_LINE] = of->lines,
                                                        [HL_WORKLOAD_STACK] = of->stacks};
    for (int k = 0; k < HL_WORKLOAD_ORIGINS; k++) {
        uint32_t **const made = &builder->origins[k];
        const size_t before = *made ? self->runs[self->added].first_op : 0;
        if ((!known[k] && !*made) ||
            !hl_workload_builder_grow(builder, made, &self->origin_capacities[k],
                                      builder->op_count + 1, sizeof **made))
            continue;
        memset(*made + before, 0xff, (builder->op_count - before) * sizeof **made);
        for (size_t i = 0; known[k] && i < of->op_count; i++)
            if (self->of.ops[i] != HAUL_NONE)
                (*made)[self->of.ops[i]] = string_of(self, known[k][i]);
    }
}

/* Threads' links and edges. Links go on over what was left out, and over operations that lost their
 * call. */
static void add_links(hl_workload_joiner *self)
{
    const haul_workload *const of = self->part->of;
    const uint32_t *const ops = self->of.ops;
    for (size_t i = 0; i < of->op_count; i++) {
        if (ops[i] == HAUL_NONE)
            continue;
        haul_op *const op = &self->builder.ops[ops[i]];
        uint32_t before = op->thread == HAUL_NONE ? HAUL_NONE : of->ops[i].thread_prev;
        while (before != HAUL_NONE &&
               (ops[before] == HAUL_NONE || self->builder.ops[ops[before]].thread == HAUL_NONE))
            before = of->ops[before].thread_prev;
        op->thread_prev = before == HAUL_NONE ? HAUL_NONE : ops[before];
    }
    for (size_t i = 0; i < of->edge_count; i++) {
        const uint32_t before = ops[of->edges[i].before], after = ops[of->edges[i].after];
        if (before != HAUL_NONE && after != HAUL_NONE)
            hl_workload_builder_edge(&self->builder, before, after);
    }
}

static void add_notes(hl_workload_joiner *self, hl_workload_note_list *list, const haul_note *notes,
                      size_t count)
{
    for (size_t i = 0; i < count; i++)
        hl_workload_note_add(&self->builder, list, notes[i].count, notes[i].text);
}

/* Calls that begin in the window. One whose thread was left out is matched with none. */
static void add_mpi_calls(hl_workload_joiner *self)
{
    const hl_workload_owned_workload *const of = (const hl_workload_owned_workload *)self->part->of;
    for (size_t i = 0; i < of->mpi_call_count; i++) {
        hl_workload_mpi_call call = of->mpi_calls[i];
        if (!is_inside(self->part, call.post.start_ns) || call.post.thread == HAUL_NONE)
            continue;
        call.post.thread = self->of.threads[call.post.thread];
        if (call.done.thread != HAUL_NONE)
            call.done.thread = self->of.threads[call.done.thread];
        call.host = string_of(self, call.host);
        hl_workload_mpi_call_add(&self->builder, &call);
    }
}

/* Losses are told at the end: equal ones of several parts are one. */
static void keep_losses(hl_workload_joiner *self)
{
    const haul_workload *const of = self->part->of;
    run *const made = &self->runs[self->added];
    made->rank = of->rank >= 0 ? of->rank : (long long)self->added;
    made->losses =
        hl_base_arena_alloc(&self->builder.arena, (of->loss_count + 1) * sizeof *made->losses);
    self->builder.failed |= !made->losses;
    for (; made->losses && made->loss_count < of->loss_count; made->loss_count++) {
        const haul_note *const loss = &of->losses[made->loss_count];
        made->losses[made->loss_count] =
            (haul_note){.text = text_of(self, loss->text), .count = loss->count};
    }
}

/* New numbers begin as HAUL_NONE: what stays so was left out. */
static void prepare_part(hl_workload_joiner *self)
{
    const haul_workload *const of = self->part->of;
    numbers *const made = &self->of;
    made->string_count = ((const hl_workload_owned_workload *)of)->strings.count;
    const size_t total =
        of->stream_count + of->thread_count + of->shape_count + made->string_count + of->op_count;
    made->streams = malloc((total + 1) * sizeof *made->streams);
    self->builder.failed |= !made->streams;
    if (self->builder.failed)
        return;
    memset(made->streams, 0xff, total * sizeof *made->streams);
    made->threads = made->streams + of->stream_count;
    made->shapes = made->threads + of->thread_count;
    made->strings = made->shapes + of->shape_count;
    made->ops = made->strings + made->string_count;
    add_shapes(self);
    add_places(self);
    add_notes(self, &self->builder.missing, of->missing, of->missing_count);
    add_notes(self, &self->builder.repairs, of->repairs, of->repair_count);
    keep_losses(self);
}

/* One call may have issued several operations, or none that is kept: what the part counts beyond
 * the operations that have a call. A window's calls are not known. */
static void count_other_calls(hl_workload_joiner *self)
{
    const hl_workload_part *const part = self->part;
    uint64_t had = 0;
    if (part->from_ns != INT64_MIN || part->to_ns != INT64_MAX)
        return;
    for (size_t i = 0; i < part->of->op_count; i++)
        had += (part->of->ops[i].flags & HAUL_OP_HAS_CALL) > 0;
    self->other_calls += part->of->counts.calls - had; /* modulo 2^64 */
}

hl_workload_joiner *hl_workload_joiner_new(bool is_joining)
{
    hl_workload_joiner *const self = calloc(1, sizeof *self);
    if (self) {
        hl_workload_builder_init(&self->builder);
        self->is_joining = is_joining;
    }
    return self;
}

/* Also after a success: the builder is empty then. */
void hl_workload_joiner_free(hl_workload_joiner *self)
{
    if (!self)
        return;
    hl_workload_builder_release(&self->builder);
    free(self->runs);
    free(self);
}

void hl_workload_joiner_add(hl_workload_joiner *self, const hl_workload_part *part)
{
    hl_workload_builder *const builder = &self->builder;
    self->part = part;
    self->epoch_ns = part->of->epoch_ns;
    self->rank = part->of->rank;
    if (hl_workload_builder_grow(builder, &self->runs, &self->run_capacity, self->added + 2,
                                 sizeof *self->runs)) {
        self->runs[self->added] = (run){.first_op = builder->op_count,
                                        .first_range = builder->range_count,
                                        .first_mpi_call = builder->mpi_call_count};
        prepare_part(self);
    }
    for (uint32_t i = 0; !builder->failed && i < self->part->of->op_count; i++)
        if (is_inside(self->part, self->part->of->ops[i].start_ns) &&
            (!self->part->kept || self->part->kept[i]))
            add_op(self, i);
    if (!builder->failed) {
        add_links(self);
        /* A range that began before the window and lasts into it is kept whole. */
        const hl_workload_part *const from = self->part;
        for (size_t i = 0; i < from->of->range_count; i++) {
            haul_named_range range = from->of->ranges[i];
            const bool before =
                range.start_ns < from->from_ns && range.dur_ns < from->from_ns - range.start_ns;
            if (before || range.start_ns >= from->to_ns)
                continue;
            range.name = string_of(self, range.name);
            range.thread = range.thread == HAUL_NONE ? HAUL_NONE : self->of.threads[range.thread];
            hl_workload_builder_range(&self->builder, &range);
        }
        add_origins(self);
        add_mpi_calls(self);
        count_other_calls(self);
    }
    free(self->of.streams);
    self->of = (numbers){0};
    self->part = NULL;
    self->added += !builder->failed;
    if (!builder->failed)
        self->runs[self->added] = (run){.first_op = builder->op_count,
                                        .first_range = builder->range_count,
                                        .first_mpi_call = builder->mpi_call_count};
}

/* --- the end */

/* A loss names its process: equal counts of two processes are not one count. */
static void add_losses(hl_workload_joiner *self, size_t part)
{
    const run *const of = &self->runs[part];
    for (size_t i = 0; i < of->loss_count; i++) {
        const haul_note *const loss = &of->losses[i];
        size_t alike = 0, before = 0;
        for (size_t p = 0; p < self->added; p++) {
            bool same = false;
            for (size_t k = 0; !same && k < self->runs[p].loss_count; k++)
                same = !strcmp(self->runs[p].losses[k].text, loss->text);
            alike += same;
            before += same && p < part;
        }
        char text[1200];
        if (alike > 1)
            snprintf(text, sizeof text, "%zu of %zu ranks: %s", alike, self->added, loss->text);
        else
            snprintf(text, sizeof text, "rank %lld: %s", of->rank, loss->text);
        if (!before)
            hl_workload_note_add(&self->builder, &self->builder.losses, loss->count,
                                 self->added > 1 ? text : loss->text);
    }
}

/* Ahead of what the parts lack. */
static void add_first_note(hl_workload_joiner *self, const char *text)
{
    hl_workload_note_list *const list = &self->builder.missing;
    hl_workload_note_add(&self->builder, list, 0, text);
    if (self->builder.failed)
        return;
    const haul_note added = list->items[list->count - 1];
    memmove(list->items + 1, list->items, (list->count - 1) * sizeof *list->items);
    list->items[0] = added;
}

/* Clocks of two files may lie decades apart, where one says nothing of its epoch. */
static void shift(hl_workload_joiner *self, int64_t by_ns, int64_t *time_ns)
{
    *time_ns += by_ns;
    self->beyond |= *time_ns > time_limit || *time_ns < -time_limit;
}

static void shift_part(hl_workload_joiner *self, size_t part, int64_t by_ns)
{
    const run *const of = &self->runs[part];
    hl_workload_builder *const builder = &self->builder;
    for (size_t i = of[0].first_op; i < of[1].first_op; i++) {
        shift(self, by_ns, &builder->ops[i].start_ns);
        if (builder->ops[i].flags & HAUL_OP_HAS_CALL)
            shift(self, by_ns, &builder->ops[i].call_ns);
    }
    for (size_t i = of[0].first_range; i < of[1].first_range; i++)
        shift(self, by_ns, &builder->ranges[i].start_ns);
    for (size_t i = of[0].first_mpi_call; i < of[1].first_mpi_call; i++) {
        shift(self, by_ns, &builder->mpi_calls[i].post.start_ns);
        shift(self, by_ns, &builder->mpi_calls[i].done.start_ns);
    }
}

/* A part waits with its next operation, where there is one. */
static void wait_with(hl_workload_joiner *self, hl_base_waiting *waiting, uint32_t op,
                      uint32_t part)
{
    if (op < self->runs[part + 1].first_op)
        self->builder.failed |= !hl_base_waiting_add(
            waiting, (hl_base_waiting_item){self->builder.ops[op].start_ns, part, op});
}

/* The place of each operation in order of start; equal starts keep the order of the parts. NULL
 * without memory. */
static uint32_t *find_places(hl_workload_joiner *self)
{
    hl_base_waiting waiting = {.count = 0};
    uint32_t *const places = calloc(self->builder.op_count + 1, sizeof *places);
    self->builder.failed |= !places;
    for (uint32_t p = 0; !self->builder.failed && p < self->added; p++)
        wait_with(self, &waiting, (uint32_t)self->runs[p].first_op, p);
    for (uint32_t place = 0; !self->builder.failed && waiting.count; place++) {
        const hl_base_waiting_item next = hl_base_waiting_take(&waiting);
        places[next.actor] = place;
        wait_with(self, &waiting, next.actor + 1, next.op);
    }
    free(waiting.heap);
    return places;
}

/* Brings the operation at `i` to its place, and the one from there to `i`. */
static void exchange_one(hl_workload_builder *builder, uint32_t *places, size_t i)
{
    const uint32_t to = places[i], next = places[to];
    const haul_op op = builder->ops[to];
    builder->ops[to] = builder->ops[i];
    builder->ops[i] = op;
    for (int k = 0; k < HL_WORKLOAD_ORIGINS; k++) {
        uint32_t *const origins = builder->origins[k];
        const uint32_t origin = origins ? origins[to] : HAUL_NONE;
        if (!origins)
            continue;
        origins[to] = origins[i];
        origins[i] = origin;
    }
    places[to] = to;
    places[i] = next;
}

/* To go on where memory is still to be read, several operations change places in turn: each is told
 * by the one before where its next exchange is. */
static void exchange_ops(hl_workload_builder *builder, uint32_t *places)
{
    enum { AT_ONCE = 16 };
    for (size_t first = 0; first < builder->op_count; first += AT_ONCE) {
        const size_t left = builder->op_count - first,
                     end = first + (left < AT_ONCE ? left : AT_ONCE);
        for (bool moved = true; moved;) {
            moved = false;
            for (size_t i = first; i < end; i++) {
                if (places[i] == i)
                    continue;
                exchange_one(builder, places, i);
                __builtin_prefetch(&builder->ops[places[i]], 1);
                __builtin_prefetch(&places[places[i]], 1);
                moved = true;
            }
        }
    }
}

static void put_in_order(hl_workload_joiner *self)
{
    hl_workload_builder *const builder = &self->builder;
    uint32_t *const places = find_places(self);
    for (size_t i = 0; !builder->failed && i < builder->op_count; i++)
        if (builder->ops[i].thread_prev != HAUL_NONE)
            builder->ops[i].thread_prev = places[builder->ops[i].thread_prev];
    for (size_t i = 0; !builder->failed && i < builder->edge_count; i++)
        builder->edges[i] =
            (haul_edge){places[builder->edges[i].before], places[builder->edges[i].after]};
    if (!builder->failed)
        exchange_ops(builder, places);
    free(places);
}

/* Steps do nothing once the builder has failed, and the last one reports it. */
haul_status hl_workload_joiner_finish(hl_workload_joiner *self,
                                      const hl_workload_join_options *options, uint64_t *orphaned,
                                      haul_workload **workload, haul_error *error)
{
    hl_workload_builder *const builder = &self->builder;
    haul_workload *made = NULL;
    if (options->note)
        add_first_note(self, options->note);
    for (size_t p = 0; !builder->failed && p < self->added; p++) {
        add_losses(self, p);
        shift_part(self, p, options->shifts_ns ? options->shifts_ns[p] : 0);
    }
    if (!builder->failed && self->beyond)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "times or sums of the files together go beyond 2^61 ns");
    if (!builder->failed && self->added > 1)
        put_in_order(self);
    hl_workload_mpi_match(builder);
    hl_workload_builder_link_streams(builder);
    builder->epoch_ns = self->added == 1 ? self->epoch_ns : 0;
    builder->rank = self->added == 1 ? self->rank : -1;
    HAUL_TRY(
        hl_workload_builder_hand_over(builder, options->source, options->format, &made, error));
    made->counts.calls += self->other_calls;
    *orphaned = self->orphaned;
    *workload = made;
    return HAUL_OK;
}

haul_status hl_workload_join_one(const hl_workload_part *part, uint64_t *orphaned,
                                 haul_workload **workload, haul_error *error)
{
    hl_workload_joiner *const self = hl_workload_joiner_new(false);
    if (!self)
        return hl_base_fail_no_memory(error);
    hl_workload_joiner_add(self, part);
    const hl_workload_join_options options = {.source = part->of->source,
                                              .format = part->of->format};
    const haul_status status = hl_workload_joiner_finish(self, &options, orphaned, workload, error);
    hl_workload_joiner_free(self);
    return status;
}
