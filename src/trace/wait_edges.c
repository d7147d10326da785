/* Waits into edges: an event that is waited for stands for what was on its stream when it was
 * recorded; a stream or a context that is waited for, for what was on it when the wait began. */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/order.h"
#include "trace/trace_builder.h"

/* The device operations of each stream, in order of start. */
typedef struct stream_lists {
    uint32_t *ops;
    size_t *begins;  /* of each stream, and the end */
    size_t *fingers; /* where the last question about a stream was answered */
} stream_lists;

/* The streams of each context, and of each stream the operation that a wait for its context last
 * saw there, and that wait's thread. */
typedef struct context_lists {
    hl_base_records contexts; /* process, id */
    uint32_t *streams;
    size_t *begins;
    uint32_t *last_before;
    uint32_t *last_thread;
    uint64_t budget; /* of streams looked at: waits times streams could be endless */
} context_lists;

typedef struct resolver {
    hl_trace_builder *builder;
    stream_lists lists;
    context_lists contexts;
    bool by_sync_id;
    uint64_t unrecorded;
    uint64_t untimed;
    uint64_t contradicted;
    uint64_t too_many;
} resolver;

static bool on_stream(const haul_op *op)
{
    return haul_op_on_device(op) && op->stream != HAUL_NONE;
}

/* Lists the device operations of each stream. The fingers are first where the next operation goes.
 */
static bool make_lists(resolver *self)
{
    const hl_trace_builder *builder = self->builder;
    const size_t stream_count = builder->built.streams.count;
    stream_lists *lists = &self->lists;
    lists->begins = calloc(stream_count + 1, sizeof *lists->begins);
    lists->fingers = calloc(stream_count + 1, sizeof *lists->fingers);
    if (!lists->begins || !lists->fingers)
        return false;
    for (size_t i = 0; i < builder->built.op_count; i++)
        if (on_stream(&builder->built.ops[i]))
            lists->begins[builder->built.ops[i].stream + 1]++;
    for (size_t s = 0; s < stream_count; s++) {
        lists->begins[s + 1] += lists->begins[s];
        lists->fingers[s] = lists->begins[s];
    }
    lists->ops = hl_trace_scratch(self->builder, lists->begins[stream_count]);
    if (!lists->ops)
        return false;
    for (uint32_t i = 0; i < builder->built.op_count; i++)
        if (on_stream(&builder->built.ops[i]))
            lists->ops[lists->fingers[builder->built.ops[i].stream]++] = i;
    for (size_t s = 0; s < stream_count; s++) {
        /* Gives operations without a call, in `call_ns`, when they were called for at the latest:
         * before they started, and, since a stream is first in, first out, before what follows. */
        haul_op *ops = self->builder->built.ops;
        int64_t latest_ns = INT64_MAX;
        for (size_t i = lists->begins[s + 1]; i-- > lists->begins[s];) {
            haul_op *op = &ops[self->lists.ops[i]];
            if (!(op->flags & HAUL_OP_HAS_CALL))
                op->call_ns = op->start_ns < latest_ns ? op->start_ns : latest_ns;
            latest_ns = op->call_ns;
        }
        lists->fingers[s] = 0;
    }
    return true;
}

/* Streams by context: counted, summed to begins, then filled from behind. */
static bool make_contexts(resolver *self)
{
    const hl_trace_builder *builder = self->builder;
    const haul_workload_stream *streams = builder->built.streams.items;
    const size_t count = builder->built.streams.count;
    context_lists *contexts = &self->contexts;
    contexts->contexts.size = 2 * sizeof(uint64_t);
    contexts->streams = malloc((count + 1) * sizeof *contexts->streams);
    contexts->begins = calloc(count + 2, sizeof *contexts->begins);
    contexts->last_before = malloc((count + 1) * sizeof *contexts->last_before);
    contexts->last_thread = malloc((count + 1) * sizeof *contexts->last_thread);
    if (!contexts->streams || !contexts->begins || !contexts->last_before || !contexts->last_thread)
        return false;
    contexts->budget = 64 * ((uint64_t)builder->built.op_count + count);
    for (size_t s = 0; s < count; s++) {
        const uint64_t key[2] = {streams[s].process, streams[s].context};
        const uint32_t number = hl_base_records_add(&contexts->contexts, key);
        if (number == UINT32_MAX)
            return false;
        contexts->begins[number + 1]++;
        contexts->last_before[s] = contexts->last_thread[s] = HAUL_NONE;
    }
    for (size_t c = 0; c < contexts->contexts.count; c++)
        contexts->begins[c + 1] += contexts->begins[c];
    for (size_t s = count; s-- > 0;) {
        const uint64_t key[2] = {streams[s].process, streams[s].context};
        const uint32_t number = hl_base_records_find(&contexts->contexts, key);
        contexts->streams[--contexts->begins[number + 1]] = (uint32_t)s;
    }
    /* The fill moved each end down to its own beginning: begins[c + 1] is where c begins. */
    memmove(contexts->begins, contexts->begins + 1, (count + 1) * sizeof *contexts->begins);
    contexts->begins[contexts->contexts.count] = count;
    return true;
}

/* How many operations of the stream were called for before `time_ns`, as a place in the lists. */
static size_t place_at(resolver *self, uint32_t stream, int64_t time_ns)
{
    const stream_lists *lists = &self->lists;
    const haul_op *ops = self->builder->built.ops;
    const hl_base_keys keys = {&ops->call_ns, sizeof *ops, HL_KEYS_SIGNED};
    const size_t begin = lists->begins[stream], end = lists->begins[stream + 1];
    lists->fingers[stream] =
        hl_base_order_find(lists->ops + begin, end - begin, &keys,
                           (uint64_t)time_ns ^ HL_KEYS_SIGNED, lists->fingers[stream]);
    return begin + lists->fingers[stream];
}

/* The last operation of the stream that had been called for, HAUL_NONE where none had. */
static uint32_t last_issued(resolver *self, uint32_t stream, int64_t time_ns)
{
    const size_t place = place_at(self, stream, time_ns);
    return place > self->lists.begins[stream] ? self->lists.ops[place - 1] : HAUL_NONE;
}

static int64_t end_of(const haul_op *op)
{
    return op->start_ns + op->dur_ns;
}

/* By how much the clocks of a host and its devices may differ: three times the 7 us that lie
 * between the ends of copies and of the cudaStreamSynchronize behind them in a public profile of
 * two H100. */
static const int64_t clock_skew_ns = 20000;

/* An edge that the recorded times contradict is none: the record was guessed wrongly, or an event
 * was only asked about. */
static void add_edge(resolver *self, uint32_t before, uint32_t after)
{
    hl_trace_builder *builder = self->builder;
    const haul_op *waiting = &builder->built.ops[after];
    const int64_t met_ns = waiting->kind == HAUL_OP_SYNC ? end_of(waiting) : waiting->start_ns;
    if (before == after || end_of(&builder->built.ops[before]) > met_ns + clock_skew_ns) {
        self->contradicted++;
        return;
    }
    hl_workload_builder_edge(&builder->built, before, after);
}

/* By process, event, id of synchronisation, then time. */
static int compare_records(const void *a, const void *b)
{
    const hl_trace_event_mark *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    if (x->sync_id != y->sync_id)
        return x->sync_id < y->sync_id ? -1 : 1;
    return hl_base_compare_signed(x->time_ns, y->time_ns);
}

/* With ids of synchronisation the record is named; without, it is the event's latest before the
 * wait: the last that sorts below a record of then. */
static const hl_trace_event_mark *find_record(const resolver *self, const hl_trace_host_wait *wait,
                                              int64_t time_ns)
{
    const hl_trace_event_mark limit = {
        .process = wait->process,
        .event = wait->event,
        .sync_id = self->by_sync_id ? wait->sync_id : HL_TRACE_NO_ID,
        .time_ns = self->by_sync_id ? INT64_MAX : time_ns,
    };
    const hl_trace_event_mark *const events = self->builder->events;
    const hl_base_sorted records = {events, self->builder->event_count, sizeof *events,
                                    compare_records};
    const size_t before = hl_base_sorted_before(records, &limit, false);
    const hl_trace_event_mark *const last = before ? &events[before - 1] : NULL;
    const bool is_named = last && last->process == wait->process && last->event == wait->event &&
                          (!self->by_sync_id || last->sync_id == wait->sync_id);
    return is_named ? last : NULL;
}

/* The last operation on the event's stream when it was recorded: HAUL_NONE where nothing was, or
 * where the record is not known, which is counted. */
static uint32_t recorded_op(resolver *self, const hl_trace_host_wait *wait, int64_t time_ns)
{
    const hl_trace_event_mark *record = find_record(self, wait, time_ns);
    if (!record) {
        self->unrecorded++;
        return HAUL_NONE;
    }
    if (record->has_call)
        return last_issued(self, record->stream, record->time_ns);
    if (record->time_ns) {
        /* The last operation of the stream that had started on the device at `time_ns`. */
        const haul_op *ops = self->builder->built.ops;
        const hl_base_keys keys = {&ops->start_ns, sizeof *ops, HL_KEYS_SIGNED};
        const size_t begin = self->lists.begins[record->stream],
                     end = self->lists.begins[record->stream + 1];
        const size_t place = hl_base_order_find(self->lists.ops + begin, end - begin, &keys,
                                                (uint64_t)record->time_ns ^ HL_KEYS_SIGNED, 0);
        return place ? self->lists.ops[begin + place - 1] : HAUL_NONE;
    }
    self->untimed++;
    return HAUL_NONE;
}

/* cudaDeviceSynchronize waits for every stream of the context; all that were idle add no edge. */
static void wait_for_context(resolver *self, const hl_trace_host_wait *wait, uint32_t after,
                             int64_t time_ns)
{
    context_lists *contexts = &self->contexts;
    const uint64_t key[2] = {wait->process, wait->context};
    const uint32_t number = hl_base_records_find(&contexts->contexts, key);
    if (number == UINT32_MAX)
        return;
    const size_t begin = contexts->begins[number], end = contexts->begins[number + 1];
    if (end - begin > contexts->budget) {
        self->too_many++;
        return;
    }
    contexts->budget -= end - begin;
    const uint32_t thread = self->builder->built.ops[after].thread;
    for (size_t i = begin; i < end; i++) {
        const uint32_t stream = contexts->streams[i];
        const uint32_t before = last_issued(self, stream, time_ns);
        /* An earlier wait of this thread for the same operation stands for this one. */
        if (before == HAUL_NONE ||
            (before == contexts->last_before[stream] && thread == contexts->last_thread[stream]))
            continue;
        contexts->last_before[stream] = before;
        contexts->last_thread[stream] = thread;
        add_edge(self, before, after);
    }
}

/* A wait begins when its call does: later calls are not waited for. */
static void resolve_wait(resolver *self, const hl_trace_host_wait *wait, uint32_t at)
{
    const haul_op *op = &self->builder->built.ops[at];
    const int64_t time_ns = op->flags & HAUL_OP_HAS_CALL ? op->call_ns : op->start_ns;
    uint32_t before = HAUL_NONE, after = at;
    switch (op->detail) {
    case HAUL_SYNC_EVENT:
        before = recorded_op(self, wait, time_ns);
        break;
    case HAUL_SYNC_STREAM_WAIT:
        before = recorded_op(self, wait, time_ns);
        after = HAUL_NONE;
        if (op->stream != HAUL_NONE) { /* the first operation that may not start before */
            const size_t place = place_at(self, op->stream, time_ns);
            const bool some = place < self->lists.begins[op->stream + 1];
            after = some ? self->lists.ops[place] : HAUL_NONE;
        }
        break;
    case HAUL_SYNC_STREAM:
        before = op->stream == HAUL_NONE ? HAUL_NONE : last_issued(self, op->stream, time_ns);
        break;
    case HAUL_SYNC_CONTEXT:
        wait_for_context(self, wait, at, time_ns);
        break;
    default:
        break;
    }
    if (before != HAUL_NONE && after != HAUL_NONE)
        add_edge(self, before, after);
}

/* Notes how many waits could not be resolved: a prediction without these waits may run too much at
 * once. */
static void note_unresolved(const resolver *self)
{
    hl_trace_builder *builder = self->builder;
    if (self->unrecorded)
        hl_trace_missing(
            builder, self->unrecorded,
            builder->event_count
                ? "waits for events whose record is not in the profile"
                : "records of the events that are waited for: the event table is empty");
    if (self->untimed)
        hl_trace_missing(builder, self->untimed,
                         "waits for events whose record has neither call nor time");
    if (self->contradicted)
        hl_trace_repaired(builder, self->contradicted,
                          "waits that the recorded times contradict, left out");
    if (self->too_many)
        hl_trace_missing(builder, self->too_many,
                         "waits for contexts of too many streams, left out");
}

/* Event records are sorted once, so that each wait finds its own by bisection. */
void hl_trace_wait_edges_make(hl_trace_builder *builder)
{
    if (!builder->wait_count)
        return;
    hl_trace_host_faults_follow(builder);
    resolver self = {.builder = builder};
    for (size_t i = 0; i < builder->event_count; i++)
        self.by_sync_id |= builder->events[i].sync_id != HL_TRACE_NO_ID;
    if (builder->event_count)
        qsort(builder->events, builder->event_count, sizeof *builder->events, compare_records);
    if (!make_lists(&self) || !make_contexts(&self))
        builder->built.failed = true;
    for (size_t i = 0; !builder->built.failed && i < builder->built.op_count; i++) {
        haul_op *op = &builder->built.ops[i];
        if (op->kind != HAUL_OP_SYNC)
            continue;
        const hl_trace_host_wait *wait = &builder->waits[op->wait];
        op->wait = 0;
        resolve_wait(&self, wait, (uint32_t)i);
    }
    for (size_t i = 0; i < builder->built.op_count; i++) /* as they were before date_orphans */
        if (!(builder->built.ops[i].flags & HAUL_OP_HAS_CALL))
            builder->built.ops[i].call_ns = 0;
    free(self.lists.begins);
    free(self.lists.fingers);
    hl_base_records_release(&self.contexts.contexts);
    free(self.contexts.streams);
    free(self.contexts.begins);
    free(self.contexts.last_before);
    free(self.contexts.last_thread);
    if (!builder->built.failed)
        note_unresolved(&self);
}
