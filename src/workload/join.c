/* Parts are merged by start, each from its own place on, so that the joined operations need no
 * sorting; what they refer to gets new numbers first. A part's texts are copied: its workload may
 * be freed afterwards. */
#include "workload/join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/waiting.h"
#include "workload/builder.h"

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

typedef struct join {
    hl_workload_builder builder;
    const hl_workload_part *parts;
    size_t count;
    numbers *of; /* each part */
    uint64_t total_ns, total_call_ns, total_bytes, orphaned;
    bool beyond; /* a limit */
} join;

/* The number of a string, found once. */
static uint32_t string_of(join *self, size_t part, uint32_t id)
{
    numbers *const of = &self->of[part];
    if (id >= of->string_count)
        return HAUL_NONE;
    if (of->strings[id] == HAUL_NONE) {
        const char *const text = haul_workload_string(self->parts[part].of, id);
        of->strings[id] = hl_workload_builder_string(&self->builder, text, strlen(text));
    }
    return of->strings[id];
}

/* Names of streams and threads are no strings of the workload: they live in its arena. */
static const char *text_of(join *self, const char *text)
{
    const char *const kept = text ? hl_base_arena_string(&self->builder.arena, text) : NULL;
    self->builder.failed |= text && !kept;
    return kept;
}

/* Equal shapes of two parts become one. */
static void add_shapes(join *self, size_t part)
{
    const haul_workload *const of = self->parts[part].of;
    for (size_t i = 0; i < of->shape_count; i++) {
        haul_shape shape = of->shapes[i];
        if (shape.collective) {
            haul_collective collective = of->collectives[shape.collective - 1];
            collective.name = string_of(self, part, collective.name);
            collective.data_type = string_of(self, part, collective.data_type);
            collective.group = string_of(self, part, collective.group);
            shape.collective = hl_workload_builder_collective(&self->builder, &collective);
        }
        if (shape.operands)
            shape.operands =
                hl_workload_builder_operands(&self->builder, &of->operands[shape.operands - 1]);
        self->of[part].shapes[i] = hl_workload_builder_shape(&self->builder, &shape);
    }
}

/* Devices of two parts are never the same, whatever their ids: each process numbers those that it
 * sees. Processes are kept apart by the part's number in the upper bits. */
static void add_places(join *self, size_t part)
{
    const haul_workload *const of = self->parts[part].of;
    const uint64_t process = (uint64_t)part << 48;
    const uint32_t first_device = (uint32_t)self->builder.device_count;
    for (size_t i = 0; i < of->device_count; i++) {
        const uint32_t number = hl_workload_builder_device(&self->builder, of->devices[i].id);
        if (number == HAUL_NONE)
            return;
        haul_workload_device *const device = &self->builder.devices[number];
        *device = of->devices[i];
        device->name = text_of(self, device->name);
        device->host = text_of(self, device->host);
        if (self->count > 1)
            device->rank = of->rank >= 0 ? of->rank : (int64_t)part;
    }
    for (size_t i = 0; i < of->stream_count; i++) {
        haul_workload_stream stream = of->streams[i];
        stream.device = stream.device == HAUL_NONE ? HAUL_NONE : first_device + stream.device;
        stream.process ^= process;
        stream.name = text_of(self, stream.name);
        self->of[part].streams[i] = hl_workload_builder_stream(&self->builder, &stream);
    }
    for (size_t i = 0; i < of->thread_count; i++) {
        haul_workload_thread thread = of->threads[i];
        thread.process ^= process;
        thread.name = text_of(self, thread.name);
        self->of[part].threads[i] = hl_workload_builder_thread(&self->builder, &thread);
    }
}

static bool is_inside(const hl_workload_part *part, int64_t time_ns)
{
    return time_ns >= part->from_ns && time_ns < part->to_ns;
}

/* Clocks of two files may lie decades apart, where one says nothing of its epoch. */
static void shift(join *self, const hl_workload_part *part, int64_t *time_ns)
{
    *time_ns += part->shift_ns;
    self->beyond |= *time_ns > time_limit || *time_ns < -time_limit;
}

/* Adds to a sum, unless that goes beyond its limit. */
static void sum_up(join *self, uint64_t *sum, uint64_t more)
{
    self->beyond |= more > sum_limit - *sum;
    *sum += self->beyond ? 0 : more;
}

/* An operation with new numbers. A call outside of the window is as good as none: its thread is not
 * there then. */
static void add_op(join *self, size_t part, uint32_t number)
{
    const hl_workload_part *const from = &self->parts[part];
    numbers *const of = &self->of[part];
    haul_op op = from->of->ops[number];
    if (op.flags & HAUL_OP_HAS_CALL && haul_op_on_device(&op) && !is_inside(from, op.call_ns)) {
        op.flags &= (uint8_t) ~(HAUL_OP_HAS_CALL | HAUL_OP_BLOCKS);
        op.call_ns = op.call_dur_ns = 0;
        op.thread = HAUL_NONE;
        self->orphaned++;
    }
    shift(self, from, &op.start_ns);
    if (op.flags & HAUL_OP_HAS_CALL)
        shift(self, from, &op.call_ns);
    op.name = string_of(self, part, op.name);
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

/* A part waits with its next operation in its window, where there is one. */
static void wait_with_next(join *self, hl_base_waiting *waiting, size_t *next, uint32_t part)
{
    const hl_workload_part *const of = &self->parts[part];
    while (*next < of->of->op_count &&
           (!is_inside(of, of->of->ops[*next].start_ns) || (of->kept && !of->kept[*next])))
        (*next)++;
    if (*next < of->of->op_count) {
        const int64_t time_ns = of->of->ops[*next].start_ns + of->shift_ns;
        self->builder.failed |=
            !hl_base_waiting_add(waiting, (hl_base_waiting_item){time_ns, part, 0});
    }
}

/* Adds operations of all parts in order of start; equal starts keep the order of the parts. */
static void add_ops(join *self)
{
    hl_base_waiting waiting = {.count = 0};
    size_t *const next = calloc(self->count + 1, sizeof *next);
    self->builder.failed |= !next;
    for (uint32_t p = 0; !self->builder.failed && p < self->count; p++)
        wait_with_next(self, &waiting, &next[p], p);
    while (!self->builder.failed && !self->beyond && waiting.count) {
        const uint32_t part = hl_base_waiting_take(&waiting).op;
        add_op(self, part, (uint32_t)next[part]++);
        wait_with_next(self, &waiting, &next[part], part);
    }
    free(waiting.heap);
    free(next);
}

/* Where a part's operations were called for; room for those of all parts is made for the first. */
static void add_origins(join *self, size_t part)
{
    const haul_workload *const of = self->parts[part].of;
    const uint32_t *const known[HL_WORKLOAD_ORIGINS] = {[HL_WORKLOAD_OPERATOR] = of->operators,
                                                        [HL_WORKLOAD_LINE] = of->lines,
                                                        [HL_WORKLOAD_STACK] = of->stacks};
    for (int k = 0; k < HL_WORKLOAD_ORIGINS; k++) {
        uint32_t *const made = known[k] ? hl_workload_builder_origins(&self->builder, k) : NULL;
        for (size_t i = 0; made && i < of->op_count; i++)
            if (self->of[part].ops[i] != HAUL_NONE)
                made[self->of[part].ops[i]] = string_of(self, part, known[k][i]);
    }
}

/* Threads' links, edges and ranges. Links go on over what was left out, and over operations that
 * lost their call. */
static void add_links(join *self, size_t part)
{
    const haul_workload *const of = self->parts[part].of;
    const uint32_t *const ops = self->of[part].ops;
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
    /* A range that began before the window and lasts into it is kept whole. */
    const hl_workload_part *const from = &self->parts[part];
    for (size_t i = 0; i < from->of->range_count; i++) {
        haul_named_range range = from->of->ranges[i];
        const bool before =
            range.start_ns < from->from_ns && range.dur_ns < from->from_ns - range.start_ns;
        if (before || range.start_ns >= from->to_ns)
            continue;
        shift(self, from, &range.start_ns);
        range.name = string_of(self, part, range.name);
        range.thread = range.thread == HAUL_NONE ? HAUL_NONE : self->of[part].threads[range.thread];
        hl_workload_builder_range(&self->builder, &range);
    }
    add_origins(self, part);
}

static void add_notes(join *self, hl_workload_note_list *list, const haul_note *notes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hl_workload_note_add(&self->builder, list, notes[i].count, notes[i].text);
}

/* A loss names its process: equal counts of two processes are not one count. */
static void add_losses(join *self, size_t part)
{
    const haul_workload *const of = self->parts[part].of;
    const long long rank = of->rank >= 0 ? of->rank : (long long)part;
    for (size_t i = 0; i < of->loss_count; i++) {
        const haul_note *const loss = &of->losses[i];
        size_t alike = 0, before = 0;
        for (size_t p = 0; p < self->count; p++) {
            bool same = false;
            for (size_t k = 0; !same && k < self->parts[p].of->loss_count; k++)
                same = !strcmp(self->parts[p].of->losses[k].text, loss->text);
            alike += same;
            before += same && p < part;
        }
        char text[1200];
        if (alike > 1)
            snprintf(text, sizeof text, "%zu of %zu ranks: %s", alike, self->count, loss->text);
        else
            snprintf(text, sizeof text, "rank %lld: %s", rank, loss->text);
        if (!before)
            hl_workload_note_add(&self->builder, &self->builder.losses, loss->count,
                                 self->count > 1 ? text : loss->text);
    }
}

/* New numbers begin as HAUL_NONE: what stays so was left out. */
static void prepare(join *self, size_t part)
{
    const haul_workload *const of = self->parts[part].of;
    numbers *const made = &self->of[part];
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
    add_shapes(self, part);
    add_places(self, part);
    add_notes(self, &self->builder.missing, of->missing, of->missing_count);
    add_notes(self, &self->builder.repairs, of->repairs, of->repair_count);
    add_losses(self, part);
}

/* Also after a success: the builder is empty then. */
static void release(join *self)
{
    for (size_t p = 0; self->of && p < self->count; p++)
        free(self->of[p].streams);
    free(self->of);
    hl_workload_builder_release(&self->builder);
}

/* One call may have issued several operations, or none that is kept: what the parts count beyond
 * the operations that have a call. */
static uint64_t calls_without_ops(const join *self)
{
    uint64_t counted = 0, had = 0;
    for (size_t p = 0; p < self->count; p++) {
        const hl_workload_part *const part = &self->parts[p];
        if (part->from_ns != INT64_MIN || part->to_ns != INT64_MAX)
            return 0;
        counted += part->of->counts.calls;
        for (size_t i = 0; i < part->of->op_count; i++)
            had += (part->of->ops[i].flags & HAUL_OP_HAS_CALL) > 0;
    }
    return counted - had; /* modulo 2^64 */
}

/* Steps do nothing once the builder has failed, and the last one reports it. */
haul_status hl_workload_join(const hl_workload_part *parts, size_t count,
                             const hl_workload_join_options *options, uint64_t *orphaned,
                             haul_workload **workload, haul_error *error)
{
    join self = {.parts = parts, .count = count, .of = calloc(count + 1, sizeof *self.of)};
    hl_workload_builder_init(&self.builder);
    self.builder.failed = !self.of;
    if (options->note)
        hl_workload_note_add(&self.builder, &self.builder.missing, 0, options->note);
    for (size_t p = 0; !self.builder.failed && p < count; p++)
        prepare(&self, p);
    add_ops(&self);
    for (size_t p = 0; !self.builder.failed && !self.beyond && p < count; p++)
        add_links(&self, p);
    hl_workload_builder_link_streams(&self.builder);
    if (!self.builder.failed && self.beyond) {
        release(&self);
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "times or sums of the files together go beyond 2^61 ns");
    }
    self.builder.epoch_ns = count == 1 ? parts[0].of->epoch_ns - parts[0].shift_ns : 0;
    self.builder.rank = count == 1 ? parts[0].of->rank : -1;
    haul_workload *made = NULL;
    const haul_status status = hl_workload_builder_hand_over(&self.builder, options->source,
                                                             options->format, &made, error);
    if (!status) {
        made->counts.calls += calls_without_ops(&self);
        *orphaned = self.orphaned;
        *workload = made;
    }
    release(&self);
    return status;
}
