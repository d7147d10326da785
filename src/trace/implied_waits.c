/* Waits that a profile shows in its times alone: in calls that synchronise, where the file has no
 * rows of waits, and of CUDA's default stream, which waits for the other streams of its context and
 * they for it (CUDA C++ Programming Guide, "Default Stream"), unless they are not blocking. A time
 * that such a wait explains is not the host's own: on another machine it is another. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "trace/trace_builder.h"

/* An operation follows another where it starts so soon after its end, and a call that waited for it
 * returns so soon: as clocks differ (wait_edges.c), and as calls return that waited for a place in
 * a launch queue (timeline/recorded_waits.c). */
static const int64_t follows_ns = 20000, returns_ns = 50000;

static int64_t end_of(const haul_op *op)
{
    return op->start_ns + op->dur_ns;
}

/* The operations of devices in order of their ends; `ends_ns` is NULL until one is looked for,
 * which few profiles need. */
typedef struct by_end {
    uint32_t *order;
    int64_t *ends_ns; /* of each operation */
    size_t count;
} by_end;

/* False where there are none, and where memory lacks. */
static bool order_by_end(hl_trace_builder *self, by_end *list)
{
    hl_workload_builder *built = &self->built;
    if (list->ends_ns)
        return list->count > 0;
    list->order = hl_trace_scratch(self, built->op_count);
    list->ends_ns = malloc((built->op_count + 1) * sizeof *list->ends_ns);
    built->failed |= !list->ends_ns;
    if (built->failed)
        return false;
    for (uint32_t i = 0; i < built->op_count; i++) {
        list->ends_ns[i] = end_of(&built->ops[i]);
        if (haul_op_on_device(&built->ops[i]) && built->ops[i].stream != HAUL_NONE)
            list->order[list->count++] = i;
    }
    const hl_base_keys ends = {list->ends_ns, sizeof *list->ends_ns, HL_KEYS_SIGNED};
    built->failed |= list->count && !hl_base_order_sort(list->order, list->count, &ends);
    return list->count && !built->failed;
}

/* How many ended before a wait that returned then noticed. */
static size_t ended_before(const by_end *list, int64_t returned_ns)
{
    const hl_base_keys ends = {list->ends_ns, sizeof *list->ends_ns, HL_KEYS_SIGNED};
    return hl_base_order_find(list->order, list->count, &ends,
                              (uint64_t)(returned_ns + follows_ns) ^ HL_KEYS_SIGNED, 0);
}

/* Texts are few, operations many: these are gone through only where one could have such a name. */
static bool is_named(const hl_workload_builder *built, const char *part)
{
    for (size_t i = 0; i < built->strings.count; i++)
        if (strstr(built->strings.texts[i], part))
            return true;
    return false;
}

/* The kind of wait that a call's name tells, HAUL_SYNC_UNKNOWN for one that is not named so. */
static haul_sync_kind kind_of_wait(const hl_workload_builder *built, const haul_op *op)
{
    const char *name = op->name < built->strings.count ? built->strings.texts[op->name] : "";
    if (op->kind != HAUL_OP_CALL || op->thread == HAUL_NONE || !strstr(name, "Synchronize"))
        return HAUL_SYNC_UNKNOWN;
    if (strstr(name, "Stream"))
        return HAUL_SYNC_STREAM;
    return strstr(name, "Event") ? HAUL_SYNC_EVENT : HAUL_SYNC_CONTEXT;
}

/* Whether a call on a thread could wait for an operation: it is of the thread's process, where the
 * file tells, and was called before. */
static bool could_wait_for(const hl_workload_builder *built, const haul_op *call, const haul_op *op)
{
    const haul_workload_stream *streams = built->streams.items;
    const haul_workload_thread *threads = built->threads.items;
    const uint64_t process = streams[op->stream].process;
    const int64_t called_ns = op->flags & HAUL_OP_HAS_CALL ? op->call_ns : op->start_ns;
    return called_ns <= call->start_ns && (!process || process == threads[call->thread].process);
}

/* Looks back from the call's return, at so many operations at most; the last on each of so many
 * streams counts. A wait for a stream or an event has one. */
enum { LOOKED_AT = 256, STREAMS_SEEN = 32 };

static void resolve_call(hl_workload_builder *built, const by_end *list, uint32_t at,
                         haul_sync_kind kind)
{
    haul_op *call = &built->ops[at];
    const int64_t returned_ns = end_of(call);
    uint32_t seen[STREAMS_SEEN];
    size_t seen_count = 0;
    for (size_t i = ended_before(list, returned_ns), looked = 0; i-- > 0 && looked < LOOKED_AT;
         looked++) {
        const haul_op *op = &built->ops[list->order[i]];
        const int64_t end_ns = end_of(op);
        bool is_new = could_wait_for(built, call, op);
        for (size_t s = 0; s < seen_count; s++)
            is_new &= seen[s] != op->stream;
        if (end_ns <= call->start_ns || (!seen_count && end_ns + returns_ns < returned_ns) ||
            seen_count == STREAMS_SEEN)
            break;
        if (!is_new)
            continue;
        seen[seen_count++] = op->stream;
        hl_workload_builder_edge(built, list->order[i], at);
        if (kind != HAUL_SYNC_CONTEXT)
            break;
    }
    if (!seen_count)
        return;
    call->kind = HAUL_OP_SYNC;
    call->detail = (uint8_t)kind;
    call->wait = 0;
}

static bool is_prefetched(const haul_op *op)
{
    return op->kind == HAUL_OP_COPY && op->detail == HAUL_MEMORY_MANAGED &&
           op->flags & HAUL_OP_HAS_CALL;
}

/* No record says which stream a prefetch of unified memory was put on: a wait that returned as one
 * ended had waited for it. */
static void follow_prefetch(hl_workload_builder *built, const by_end *list, uint32_t at)
{
    const haul_op *wait = &built->ops[at];
    const int64_t returned_ns = end_of(wait);
    for (size_t i = ended_before(list, returned_ns), looked = 0; i-- > 0 && looked < LOOKED_AT;
         looked++) {
        const haul_op *op = &built->ops[list->order[i]];
        const int64_t end_ns = end_of(op);
        if (end_ns <= wait->start_ns || end_ns + returns_ns < returned_ns)
            return;
        if (is_prefetched(op) && could_wait_for(built, wait, op)) {
            hl_workload_builder_edge(built, list->order[i], at);
            return;
        }
    }
}

/* Kernels that had been called while a prefetch ran, and started as it ended, which their streams
 * do not explain; and waits of the host. Operations are in order of start. */
static void follow_prefetches(hl_trace_builder *self, by_end *list)
{
    hl_workload_builder *built = &self->built;
    uint32_t last = HAUL_NONE; /* of the prefetches so far the one that ends last */
    for (uint32_t i = 0; i < built->op_count && !built->failed; i++) {
        const haul_op *op = &built->ops[i];
        if (is_prefetched(op) && op->stream != HAUL_NONE &&
            (last == HAUL_NONE || end_of(op) > end_of(&built->ops[last])))
            last = i;
        if (op->kind == HAUL_OP_SYNC && op->thread != HAUL_NONE &&
            op->detail != HAUL_SYNC_STREAM_WAIT && last != HAUL_NONE && order_by_end(self, list))
            follow_prefetch(built, list, i);
        if (op->kind != HAUL_OP_KERNEL || !(op->flags & HAUL_OP_HAS_CALL) || last == HAUL_NONE)
            continue;
        const int64_t end_ns = end_of(&built->ops[last]);
        const int64_t own_ns =
            op->stream_prev == HAUL_NONE ? INT64_MIN : end_of(&built->ops[op->stream_prev]);
        if (end_ns > op->call_ns + follows_ns && end_ns <= op->start_ns &&
            op->start_ns - end_ns <= follows_ns && own_ns < end_ns)
            hl_workload_builder_edge(built, last, i);
    }
}

static bool is_stream_wait(const hl_workload_builder *built, const haul_op *op)
{
    const char *name = op->name < built->strings.count ? built->strings.texts[op->name] : "";
    return op->kind == HAUL_OP_CALL && strstr(name, "StreamWaitEvent") != NULL;
}

/* Where the times contradict it, an earlier operation of that stream is the one. */
static void add_stream_wait(hl_workload_builder *built, uint32_t before, uint32_t at)
{
    const haul_op *op = &built->ops[at];
    int looked = 0;
    for (; before != HAUL_NONE && looked < LOOKED_AT; looked++) {
        if (end_of(&built->ops[before]) <= op->start_ns + follows_ns)
            break;
        before = built->ops[before].stream_prev;
    }
    if (before != HAUL_NONE && looked < LOOKED_AT && end_of(&built->ops[before]) > op->call_ns)
        hl_workload_builder_edge(built, before, at);
}

/* Operations that a call of cudaStreamWaitEvent precedes, of one stream: a list that ends where a
 * thread's calls, gone through backwards, come to one for another stream. */
typedef struct stream_waits {
    uint32_t *ops;
    size_t count;
    size_t capacity;
} stream_waits;

/* A wait of a stream for an event that no row tells of shows in its call alone, which names
 * neither. Programs wait between two streams that they use in turns: the operation called for next
 * comes behind the one that its thread called for last on another stream. */
static void follow_thread(hl_workload_builder *built, stream_waits *self, uint32_t last)
{
    uint32_t called = HAUL_NONE; /* for an operation of a device, by the call behind */
    self->count = 0;
    for (uint32_t i = last; i != HAUL_NONE && !built->failed; i = built->ops[i].thread_prev) {
        const haul_op *op = &built->ops[i];
        if (haul_op_on_device(op) && op->stream != HAUL_NONE) {
            const bool is_other = called != HAUL_NONE && built->ops[called].stream != op->stream;
            for (; is_other && self->count; self->count--)
                add_stream_wait(built, i, self->ops[self->count - 1]);
            called = i;
        } else if (called != HAUL_NONE && is_stream_wait(built, op) &&
                   hl_workload_builder_grow(built, &self->ops, &self->capacity, self->count + 1,
                                            sizeof *self->ops)) {
            self->ops[self->count++] = called;
        }
    }
}

/* Each thread from its last call on: from the one that comes before no other. */
static void follow_stream_waits(hl_workload_builder *built)
{
    if (!is_named(built, "StreamWaitEvent"))
        return;
    stream_waits waits = {0};
    bool *comes_before = calloc(built->op_count + 1, sizeof *comes_before);
    built->failed |= !comes_before;
    for (size_t i = 0; comes_before && i < built->op_count; i++)
        if (built->ops[i].thread_prev != HAUL_NONE)
            comes_before[built->ops[i].thread_prev] = true;
    for (uint32_t i = 0; i < built->op_count && !built->failed; i++)
        if (built->ops[i].thread != HAUL_NONE && !comes_before[i])
            follow_thread(built, &waits, i);
    free(waits.ops);
    free(comes_before);
}

/* Streams beside the default stream of their context. */
typedef struct default_streams {
    uint32_t *of;    /* of each stream its context's, HAUL_NONE: itself, or there is none */
    bool *is_free;   /* an operation ran beside one of the default stream */
    uint32_t *last;  /* the operation that started last on each so far */
    uint64_t budget; /* of streams looked at */
    size_t count;
    size_t left;    /* streams beside a default one that may wait for it: not free, so far */
    bool has_waits; /* an operation has waited for one of another stream */
} default_streams;

static void context_of(const haul_workload_stream *stream, uint64_t key[2])
{
    key[0] = stream->process;
    key[1] = stream->context;
}

/* `last` has the default stream of each context for a while. */
static bool match_defaults(const haul_workload_stream *streams, default_streams *self)
{
    hl_base_records contexts = {.size = 2 * sizeof(uint64_t)};
    uint64_t key[2];
    bool done = true;
    for (uint32_t s = 0; done && s < self->count; s++) {
        context_of(&streams[s], key);
        const uint32_t number =
            streams[s].is_default ? hl_base_records_add(&contexts, key) : HAUL_NONE;
        done = number != UINT32_MAX || !streams[s].is_default;
        if (done && streams[s].is_default)
            self->last[number] = s;
    }
    for (uint32_t s = 0; done && s < self->count; s++) {
        context_of(&streams[s], key);
        const uint32_t number =
            streams[s].is_default ? UINT32_MAX : hl_base_records_find(&contexts, key);
        self->of[s] = number == UINT32_MAX ? HAUL_NONE : self->last[number];
        self->left += self->of[s] != HAUL_NONE;
    }
    hl_base_records_release(&contexts);
    return done;
}

/* Calls `visit` for each two operations of which one is of a default stream and the other of a
 * stream of its context, the one that started last there before it. */
typedef void (*visit_pair)(hl_workload_builder *built, default_streams *self, uint32_t before,
                           uint32_t at, uint32_t other);

static void visit_pairs(hl_workload_builder *built, default_streams *self, visit_pair visit)
{
    self->budget = 64 * ((uint64_t)built->op_count + self->count);
    memset(self->last, 0xff, (self->count + 1) * sizeof *self->last); /* HAUL_NONE */
    for (uint32_t i = 0; self->left && i < built->op_count && !built->failed; i++) {
        const haul_op *op = &built->ops[i];
        if (!haul_op_on_device(op) || op->stream == HAUL_NONE)
            continue;
        const uint32_t own = op->stream, beside = self->of[own];
        self->last[own] = i;
        if (beside != HAUL_NONE && self->last[beside] != HAUL_NONE)
            visit(built, self, self->last[beside], i, own);
        const haul_workload_stream *streams = built->streams.items;
        if (!streams[own].is_default || self->count > self->budget)
            continue;
        self->budget -= self->count;
        for (uint32_t s = 0; s < self->count; s++)
            if (self->of[s] == own && self->last[s] != HAUL_NONE)
                visit(built, self, self->last[s], i, s);
    }
}

/* It had been called while the other, which ended at `end_ns`, ran, and started as that ended,
 * which its own stream does not explain. */
static bool has_waited(const hl_workload_builder *built, const haul_op *op, int64_t end_ns)
{
    return op->flags & HAUL_OP_HAS_CALL && end_ns > op->call_ns + follows_ns &&
           end_ns <= op->start_ns && op->start_ns - end_ns <= follows_ns &&
           (op->stream_prev == HAUL_NONE || end_of(&built->ops[op->stream_prev]) < end_ns);
}

static void note_beside(hl_workload_builder *built, default_streams *self, uint32_t before,
                        uint32_t at, uint32_t other)
{
    const haul_op *op = &built->ops[at];
    const int64_t end_ns = end_of(&built->ops[before]);
    if (self->is_free[other])
        return;
    if (end_ns <= op->start_ns + follows_ns) {
        self->has_waits = self->has_waits || has_waited(built, op, end_ns);
        return;
    }
    self->is_free[other] = true;
    self->left--;
}

static void add_wait(hl_workload_builder *built, default_streams *self, uint32_t before,
                     uint32_t at, uint32_t other)
{
    if (!self->is_free[other] && has_waited(built, &built->ops[at], end_of(&built->ops[before])))
        hl_workload_builder_edge(built, before, at);
}

static void resolve_calls(hl_trace_builder *self, by_end *list)
{
    hl_workload_builder *built = &self->built;
    if (!is_named(built, "Synchronize"))
        return;
    for (uint32_t i = 0; !built->failed && i < built->op_count; i++) {
        const haul_sync_kind kind = kind_of_wait(built, &built->ops[i]);
        if (kind != HAUL_SYNC_UNKNOWN && order_by_end(self, list))
            resolve_call(built, list, i, kind);
    }
}

static void follow_defaults(hl_workload_builder *built)
{
    default_streams defaults = {0};
    defaults.count = built->streams.count;
    defaults.of = malloc((defaults.count + 1) * sizeof *defaults.of);
    defaults.is_free = calloc(defaults.count + 1, sizeof *defaults.is_free);
    defaults.last = malloc((defaults.count + 1) * sizeof *defaults.last);
    built->failed |= !(defaults.of && defaults.is_free && defaults.last &&
                       match_defaults(built->streams.items, &defaults));
    if (!built->failed) {
        visit_pairs(built, &defaults, note_beside);
        if (defaults.has_waits)
            visit_pairs(built, &defaults, add_wait);
    }
    free(defaults.of);
    free(defaults.is_free);
    free(defaults.last);
}

/* Operations are in order of start, and linked. */
void hl_trace_implied_waits_make(hl_trace_builder *self)
{
    by_end list = {0};
    resolve_calls(self, &list);
    if (!self->built.failed)
        follow_stream_waits(&self->built);
    if (!self->built.failed && self->has_migrations)
        follow_prefetches(self, &list);
    if (!self->built.failed && self->calls) /* an operation without a call waits for its stream */
        follow_defaults(&self->built);
    free(list.ends_ns);
}
