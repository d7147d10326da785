/* From a plan to the workload that it makes. Operations keep their order: an operation's parts take
 * its place, inserts come behind all, and only the calls of a thread are linked anew, so that a
 * workload of ten million operations is rewritten in one pass. */
#include <stdlib.h>
#include <string.h>

#include "advise/rewrite.h"
#include "base/fail.h"
#include "base/grow.h"
#include "base/intervals.h"
#include "base/order.h"
#include "workload/builder.h"

typedef struct build {
    const hl_advise_rewrite *plan;
    const haul_workload *from;
    hl_workload_builder built;
    haul_op *ops; /* of `built` */
    int64_t *durations_ns;
    int64_t *call_durations_ns;
    haul_start_delay *delays;
    size_t delay_count;
    uint32_t *place;       /* of the first part of each operation; NULL: its own number */
    uint32_t *by_anchor;   /* the inserts, by anchor and place */
    uint32_t insert_begin; /* where the inserts are, as operations */
} build;

/* Where an operation of the plan, or an insert, stands in the new workload. */
static uint32_t place_of(const build *self, uint32_t op)
{
    if (op >= self->from->op_count)
        return self->insert_begin + (op - (uint32_t)self->from->op_count);
    return self->place ? self->place[op] : op;
}

/* Inserts are never divided. */
static unsigned parts_of(const build *self, uint32_t op)
{
    return op < self->from->op_count ? self->plan->edits[op].parts : 1;
}

static bool number_parts(build *self)
{
    const size_t count = self->from->op_count;
    self->insert_begin = (uint32_t)(count + self->plan->extra_parts);
    self->built.op_count = self->insert_begin + self->plan->insert_count;
    if (!self->plan->extra_parts)
        return true;
    self->place = malloc((count + 1) * sizeof *self->place);
    uint32_t next = 0;
    for (size_t i = 0; self->place && i < count; i++) {
        self->place[i] = next;
        next += self->plan->edits[i].parts;
    }
    return self->place != NULL;
}

/* The parts after the first are called one after another when the first's call returned. A call
 * that did not block and does now returns so long after the end as one that does nothing takes. */
static haul_op part_op(const build *self, uint32_t i, unsigned part)
{
    const haul_op *op = &self->from->ops[i];
    const hl_advise_edit *edit = &self->plan->edits[i];
    haul_op made = *op;
    if (op->kind == HAUL_OP_COPY || op->kind == HAUL_OP_MEMSET)
        made.bytes = edit->bytes / edit->parts + (part < edit->bytes % edit->parts);
    if (op->kind == HAUL_OP_COPY && edit->marks & HL_ADVISE_EDIT_PINNED)
        made.detail = HAUL_MEMORY_PINNED;
    if (edit->parts == 1)
        made.stream = edit->stream;
    else if (part)
        made.stream = edit->stream + part - 1;
    if (edit->marks & HL_ADVISE_EDIT_BLOCKS && !(op->flags & HAUL_OP_BLOCKS)) {
        made.flags |= HAUL_OP_BLOCKS;
        made.start_ns = op->call_ns + op->call_dur_ns - self->plan->free_call_ns - op->dur_ns;
    } else if (edit->marks & HL_ADVISE_EDIT_BLOCKS && op->direction == HAUL_DIRECTION_DTOH) {
        made.start_ns = hl_base_end_of(made.start_ns, edit->staged_ns);
    }
    if (edit->marks & HL_ADVISE_EDIT_FREE || part + 1U < edit->parts)
        made.flags &= (uint8_t)~HAUL_OP_BLOCKS;
    if (!part)
        return made;
    made.call_ns = op->call_ns + op->call_dur_ns;
    made.call_dur_ns = 0;
    return made;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t freed_call_ns(const build *self, uint32_t i, int64_t call_ns)
{
    const int64_t left_ns = hl_advise_rewrite_host_ns(
        self->plan, larger(hl_advise_call_unexplained_ns(self->plan, i), self->plan->free_call_ns));
    return call_ns < left_ns ? call_ns : left_ns;
}

/* An operation that is left out is empty: it holds nothing but its place on its stream, and nobody
 * calls it. */
static void put_op(build *self, uint32_t i)
{
    const haul_op *op = &self->from->ops[i];
    const hl_advise_edit *edit = &self->plan->edits[i];
    const uint32_t place = place_of(self, i);
    const int64_t call_ns = hl_advise_rewrite_old_call_dur(self->plan, i);
    const int64_t free_ns = hl_advise_rewrite_host_ns(self->plan, self->plan->free_call_ns);
    const bool freed =
        haul_op_on_device(op) && (edit->marks & (HL_ADVISE_EDIT_FREE | HL_ADVISE_EDIT_BLOCKS) ||
                                  (edit->parts > 1 && op->flags & HAUL_OP_BLOCKS));
    if (edit->marks & HL_ADVISE_EDIT_GONE) {
        haul_op *empty = &self->ops[place];
        *empty = *op;
        empty->kind = HAUL_OP_CALL;
        if (haul_op_on_device(op)) {
            empty->kind = HAUL_OP_COPY;
            empty->direction = HAUL_DIRECTION_HTOH;
            empty->detail = HAUL_MEMORY_UNKNOWN;
            empty->bytes = 0;
            empty->flags = 0;
            empty->thread = empty->thread_prev = HAUL_NONE;
        }
        self->durations_ns[place] = self->call_durations_ns[place] = 0;
        return;
    }
    for (unsigned part = 0; part < edit->parts; part++) {
        self->ops[place + part] = part_op(self, i, part);
        self->durations_ns[place + part] = edit->dur_ns;
        self->call_durations_ns[place + part] = part    ? free_ns
                                                : freed ? freed_call_ns(self, i, call_ns)
                                                        : call_ns;
    }
}

/* A call in another's place takes its recorded time, one beside it none. */
static void put_insert(build *self, uint32_t number)
{
    const hl_advise_insert *insert = &self->plan->inserts[number];
    const haul_op *anchor = &self->from->ops[insert->anchor];
    const bool on_host = haul_op_on_host(anchor);
    const int64_t call_ns = on_host ? anchor->start_ns : anchor->call_ns;
    const int64_t dur_ns = on_host ? anchor->dur_ns : anchor->call_dur_ns;
    haul_op *op = &self->ops[self->insert_begin + number];
    *op = insert->op;
    op->thread = anchor->thread;
    op->thread_prev = op->stream_prev = HAUL_NONE;
    op->name = HAUL_NONE;
    op->flags |= HAUL_OP_HAS_CALL;
    op->call_ns = call_ns + (insert->place == HL_ADVISE_AFTER_CALL ? dur_ns : 0);
    op->call_dur_ns = insert->place == HL_ADVISE_AS_CALL ? dur_ns : 0;
    op->start_ns = op->call_ns;
    op->dur_ns = op->call_dur_ns;
    self->durations_ns[self->insert_begin + number] = insert->dur_ns;
    self->call_durations_ns[self->insert_begin + number] = insert->call_dur_ns;
}

/* Inserts of one anchor stand together, in the order of their places: before the call, in its
 * stead, after it. Of one place the first that was inserted comes first, since the sort is stable.
 */
static int64_t insert_key(const hl_advise_rewrite *plan, uint32_t number)
{
    const hl_advise_insert *insert = &plan->inserts[number];
    return (int64_t)insert->anchor * 4 + (int64_t)insert->place;
}

static bool order_inserts(build *self)
{
    const hl_advise_rewrite *plan = self->plan;
    const size_t count = plan->insert_count;
    uint64_t *keys = malloc((count + 1) * sizeof *keys);
    self->by_anchor = malloc((count + 1) * sizeof *self->by_anchor);
    bool sorted = keys && self->by_anchor;
    for (uint32_t k = 0; sorted && k < count; k++) {
        keys[k] = (uint64_t)insert_key(plan, k);
        self->by_anchor[k] = k;
    }
    const hl_base_keys order = {keys, sizeof *keys, 0};
    sorted = sorted && hl_base_order_sort(self->by_anchor, count, &order);
    free(keys);
    return sorted;
}

/* The first insert in order whose key is not below `key`. */
static size_t find_insert(const build *self, int64_t key)
{
    size_t low = 0, high = self->plan->insert_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (insert_key(self->plan, self->by_anchor[middle]) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Most operations have none, and a mark spares them the search. */
static bool has_inserts(const build *self, uint32_t op)
{
    return self->plan->edits[op].marks & HL_ADVISE_EDIT_ANCHOR;
}

/* Whether the operation itself is still called: what is left out leaves its call to an insert. */
static bool is_called(const build *self, uint32_t op)
{
    return !(self->plan->edits[op].marks & HL_ADVISE_EDIT_GONE) ||
           haul_op_on_host(&self->from->ops[op]);
}

/* The last call of those that an operation became. */
static uint32_t last_call(const build *self, uint32_t op)
{
    const size_t end = has_inserts(self, op) ? find_insert(self, ((int64_t)op + 1) * 4) : 0;
    if (end) {
        const uint32_t number = self->by_anchor[end - 1];
        if (self->plan->inserts[number].place != HL_ADVISE_BEFORE_CALL || !is_called(self, op))
            return self->insert_begin + number;
    }
    return place_of(self, op) + parts_of(self, op) - 1;
}

/* The parts of an operation are called one after another on the thread of the whole. */
static void link_parts(build *self, uint32_t op, uint32_t *prev)
{
    const uint32_t place = place_of(self, op);
    if (!is_called(self, op))
        return;
    for (unsigned part = 0; part < parts_of(self, op); part++) {
        self->ops[place + part].thread_prev = *prev;
        *prev = place + part;
    }
}

/* The calls on a thread in their new order: what was called before, the inserts before the call,
 * the call itself unless it is left out, the inserts behind it. */
static void link_calls(build *self, uint32_t op)
{
    const uint32_t before = self->from->ops[op].thread_prev;
    uint32_t prev = before == HAUL_NONE ? HAUL_NONE : last_call(self, before);
    if (!has_inserts(self, op)) {
        link_parts(self, op, &prev);
        return;
    }
    size_t at = find_insert(self, (int64_t)op * 4);
    bool linked = false;
    for (; at < self->plan->insert_count; at++) {
        const uint32_t number = self->by_anchor[at];
        const hl_advise_insert *insert = &self->plan->inserts[number];
        if (insert->anchor != op)
            break;
        if (!linked && insert->place != HL_ADVISE_BEFORE_CALL) {
            link_parts(self, op, &prev);
            linked = true;
        }
        self->ops[self->insert_begin + number].thread_prev = prev;
        prev = self->insert_begin + number;
    }
    if (!linked)
        link_parts(self, op, &prev);
}

/* `after` waits for `before`, part by part as the edge says, or for the operation that stands for
 * it now. */
static void put_parts(build *self, const hl_advise_rewrite_edge *edge)
{
    uint32_t from = edge->before;
    if (from < self->from->op_count && self->plan->edits[from].into != HAUL_NONE)
        from = self->plan->edits[from].into;
    const unsigned before_parts = parts_of(self, from), after_parts = parts_of(self, edge->after);
    const uint32_t before = place_of(self, from), after = place_of(self, edge->after);
    for (unsigned b = 0; b < before_parts; b++)
        for (unsigned a = 0; a < after_parts; a++)
            if ((edge->before_part == HL_ADVISE_ALL_PARTS || edge->before_part == b) &&
                (edge->after_part == HL_ADVISE_ALL_PARTS || edge->after_part == a) &&
                before + b != after + a)
                hl_workload_builder_edge(&self->built, before + b, after + a);
}

static void put_all_parts(build *self, uint32_t before, uint32_t after)
{
    const hl_advise_rewrite_edge all = {before, after, HL_ADVISE_ALL_PARTS, HL_ADVISE_ALL_PARTS};
    put_parts(self, &all);
}

/* Edges where the parts of one stream become more, or one again; parts over the same streams follow
 * each other there. */
static bool put_joints(build *self)
{
    const size_t streams = self->from->stream_count;
    const hl_advise_edit *edits = self->plan->edits;
    if (!self->plan->extra_parts)
        return true;
    uint32_t *last = malloc((streams + 1) * sizeof *last);
    if (!last)
        return false;
    memset(last, 0xff, (streams + 1) * sizeof *last);
    for (uint32_t i = 0; i < self->from->op_count; i++) {
        const haul_op *op = &self->from->ops[i];
        if (!haul_op_on_device(op) || op->stream == HAUL_NONE ||
            edits[i].marks & HL_ADVISE_EDIT_MOVED)
            continue;
        const uint32_t before = last[op->stream];
        last[op->stream] = i;
        if (before == HAUL_NONE)
            continue;
        const hl_advise_edit *b = &edits[before], *a = &edits[i];
        if (b->parts != a->parts || (a->parts > 1 && b->stream != a->stream))
            put_all_parts(self, before, i);
    }
    free(last);
    return true;
}

/* New streams, each with the device of the one that it is like. */
static void put_streams(build *self)
{
    const size_t old = self->from->stream_count;
    uint64_t id = 0;
    for (size_t s = 0; s < old; s++)
        id = self->from->streams[s].id > id ? self->from->streams[s].id : id;
    for (size_t s = 0; s < self->plan->stream_count; s++) {
        const uint32_t like = self->plan->stream_like[s];
        haul_workload_stream stream = {.device = HAUL_NONE};
        if (like < old)
            stream = self->from->streams[like];
        stream.id = id + 1 + s;
        stream.is_default = false;
        hl_workload_builder_stream(&self->built, &stream);
    }
}

/* A delay goes with the first part of its operation, and away with one that is left out. A copy
 * whose call blocks now starts within the call, after what the copy does not explain. One to the
 * device whose bytes are not staged any more starts so much sooner. */
static bool put_delays(build *self)
{
    const hl_advise_rewrite *plan = self->plan;
    size_t next = 0, capacity = 0;
    for (uint32_t i = 0; i < self->from->op_count; i++) {
        const haul_op *op = &self->from->ops[i];
        const unsigned marks = plan->edits[i].marks;
        int64_t delay_ns = 0;
        if (next < plan->delay_count && plan->delays[next].op == i)
            delay_ns = plan->delays[next++].delay_ns;
        if (op->kind == HAUL_OP_COPY && op->direction == HAUL_DIRECTION_HTOD)
            delay_ns -= plan->edits[i].staged_ns;
        if (marks & HL_ADVISE_EDIT_BLOCKS && !(op->flags & HAUL_OP_BLOCKS) &&
            hl_advise_call_unexplained_ns(self->plan, i) > plan->free_call_ns)
            delay_ns = larger(delay_ns, hl_advise_call_unexplained_ns(self->plan, i));
        if (!delay_ns || marks & HL_ADVISE_EDIT_GONE)
            continue;
        if (!hl_base_grow(&self->delays, &capacity, self->delay_count + 1, sizeof *self->delays))
            return false;
        self->delays[self->delay_count++] = (haul_start_delay){place_of(self, i), delay_ns};
    }
    return true;
}

/* Operations, their durations and those of their calls; calls are linked when all places are known.
 */
static bool make_ops(build *self)
{
    if (!number_parts(self) || !order_inserts(self) || !put_delays(self))
        return false;
    const size_t count = self->built.op_count;
    self->durations_ns = malloc((count + 1) * sizeof *self->durations_ns);
    self->call_durations_ns = malloc((count + 1) * sizeof *self->call_durations_ns);
    if (!hl_workload_builder_grow(&self->built, &self->built.ops, &self->built.op_capacity,
                                  count + 1, sizeof *self->ops) ||
        !self->durations_ns || !self->call_durations_ns)
        return false;
    self->ops = self->built.ops;
    for (uint32_t i = 0; i < self->from->op_count; i++)
        put_op(self, i);
    for (uint32_t k = 0; k < self->plan->insert_count; k++)
        put_insert(self, k);
    for (uint32_t i = 0; i < self->from->op_count; i++)
        if (self->from->ops[i].thread != HAUL_NONE)
            link_calls(self, i);
    return true;
}

haul_status hl_advise_rewrite_build(const hl_advise_rewrite *self, hl_advise_rewritten *draft,
                                    haul_error *error)
{
    build made = {.plan = self, .from = self->workload};
    const uint64_t most = HAUL_NONE / 2;
    if (self->workload->op_count + self->extra_parts + self->insert_count > most)
        return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                              "a change makes more than 2^31 operations");
    hl_workload_builder_init_from(&made.built, made.from);
    haul_status status = HAUL_STATUS_NO_MEMORY;
    haul_workload *workload = NULL;
    bool ready = !self->failed && make_ops(&made);
    for (size_t e = 0; ready && e < made.from->edge_count; e++) {
        const haul_edge *edge = &made.from->edges[e];
        const bool is_wait = made.from->ops[edge->after].kind == HAUL_OP_SYNC;
        if (!is_wait || !(self->edits[edge->after].marks & HL_ADVISE_EDIT_GONE))
            put_all_parts(&made, edge->before, edge->after);
    }
    for (size_t e = 0; ready && e < self->edge_count; e++)
        put_parts(&made, &self->edges[e]);
    ready = ready && put_joints(&made);
    if (ready) {
        put_streams(&made);
        hl_workload_builder_link_streams(&made.built);
        status = hl_workload_builder_hand_over(&made.built, "", "", &workload, error);
    }
    if (status) {
        free(made.durations_ns);
        free(made.call_durations_ns);
        free(made.delays);
        hl_base_fail_no_memory(error);
    } else {
        *draft = (hl_advise_rewritten){workload, made.durations_ns, made.call_durations_ns,
                                       made.delays, made.delay_count};
    }
    hl_workload_builder_release(&made.built);
    free(made.place);
    free(made.by_anchor);
    return status;
}

void hl_advise_rewritten_release(hl_advise_rewritten *self)
{
    haul_workload_free(self->workload);
    free(self->durations_ns);
    free(self->call_durations_ns);
    free(self->delays);
    *self = (hl_advise_rewritten){0};
}

/* The origin is added, for a plan that removes the first operation moves the timeline's 0. */
int64_t hl_advise_timeline_end_ns(const haul_workload *workload, const haul_timeline *timeline)
{
    int64_t end_ns = 0;
    for (size_t i = 0; i < timeline->op_count; i++)
        if (haul_op_on_device(&workload->ops[i]) && timeline->ops[i].end_ns > end_ns)
            end_ns = timeline->ops[i].end_ns;
    return end_ns + timeline->origin_ns;
}
