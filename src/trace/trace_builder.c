/* Rows into operations. Nothing is looked up in the file: operations, calls and names arrive in any
 * order and are joined in memory by keys that are sorted once, nearly in order as they are. */
#include "trace/trace_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t time_limit = INT64_C(1) << 61;
static const uint64_t sum_limit = UINT64_C(1) << 62;

/* Keys of processes, names and devices are whatever the reader has, in 64 bits. */
void hl_trace_init(hl_trace_builder *self)
{
    *self = (hl_trace_builder){
        .processes.size = sizeof(uint64_t),
        .names.size = sizeof(uint64_t),
        .gpus.size = sizeof(uint64_t),
        .own_defaults.size = sizeof(hl_trace_stream_key),
    };
    hl_workload_builder_init(&self->built);
}

void hl_trace_release(hl_trace_builder *self)
{
    hl_workload_builder_release(&self->built);
    free(self->scratch);
    free(self->event_join.order);
    free(self->waits);
    free(self->events);
    free(self->own_missing.items);
    free(self->own_repairs.items);
    hl_base_records_release(&self->processes);
    hl_base_records_release(&self->names);
    free(self->name_texts);
    hl_base_records_release(&self->gpus);
    hl_base_records_release(&self->own_defaults);
    hl_trace_init(self);
}

/* One list serves the sorting by key, by start and by stream, one after the other: it is as long as
 * the operations are many. */
uint32_t *hl_trace_scratch(hl_trace_builder *self, size_t count)
{
    return hl_workload_builder_grow(&self->built, &self->scratch, &self->scratch_capacity,
                                    count + 1, sizeof *self->scratch)
               ? self->scratch
               : NULL;
}

void hl_trace_lost(hl_trace_builder *self, uint64_t count, const char *text)
{
    hl_workload_note_add(&self->built, &self->built.losses, count, text);
}

static void add_line(hl_trace_builder *self, hl_workload_note_list *list, uint64_t count,
                     const char *text)
{
    enum { MOST_NOTES = 64, LONGEST_NOTE = 1200 };
    char line[LONGEST_NOTE];
    if (list->count >= MOST_NOTES)
        return;
    (void)snprintf(line, sizeof line, "%s", text);
    for (char *at = line; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
    hl_workload_note_add(&self->built, list, count, line);
}

void hl_trace_lost_line(hl_trace_builder *self, uint64_t count, const char *text)
{
    add_line(self, &self->built.losses, count, text);
}

static void add_default(hl_trace_builder *self, const char *text)
{
    int64_t ids[3];
    const char *at = text;
    self->has_own_defaults = true;
    for (int i = 0; i < 3; i++) {
        char *end;
        ids[i] = strtoll(at, &end, 10);
        if (end == at)
            return;
        at = end;
    }
    const hl_trace_stream_key key = {ids[0], ids[1], ids[2]};
    self->built.failed |= hl_base_records_add(&self->own_defaults, &key) == UINT32_MAX;
}

void hl_trace_own_note(hl_trace_builder *self, const char *kind, uint64_t count, const char *text)
{
    self->has_own_notes = true;
    if (!strcmp(kind, HL_TRACE_NOTE_MISSING))
        add_line(self, &self->own_missing, count, text);
    else if (!strcmp(kind, HL_TRACE_NOTE_REPAIR))
        add_line(self, &self->own_repairs, count, text);
    else if (!strcmp(kind, HL_TRACE_NOTE_DEFAULT))
        add_default(self, text);
}

void hl_trace_missing(hl_trace_builder *self, uint64_t count, const char *text)
{
    hl_workload_note_add(&self->built, &self->built.missing, count, text);
}

void hl_trace_repaired(hl_trace_builder *self, uint64_t count, const char *text)
{
    hl_workload_note_add(&self->built, &self->built.repairs, count, text);
}

static uint32_t intern(hl_trace_builder *self, hl_base_records *records, uint64_t key)
{
    const uint32_t number = hl_base_records_add(records, &key);
    self->built.failed |= number == HAUL_NONE;
    return number;
}

/* Correlation ids have 32 bits and processes few numbers: both together are a call's key. */
uint32_t hl_trace_process(hl_trace_builder *self, uint64_t process)
{
    return intern(self, &self->processes, process);
}

/* Two processes may call two GPUs by one id: `gpu` tells them apart, and only the id is shown. */
uint32_t hl_trace_device(hl_trace_builder *self, uint64_t id, uint64_t gpu)
{
    const size_t before = self->gpus.count;
    const uint32_t number = intern(self, &self->gpus, gpu);
    if (self->gpus.count > before)
        hl_workload_builder_device(&self->built, id);
    return number;
}

/* Names are numbered as they are met and get their texts later, since tables of strings are read
 * last. */
uint32_t hl_trace_name(hl_trace_builder *self, uint64_t key)
{
    const size_t before = self->names.count;
    const uint32_t number = intern(self, &self->names, key);
    self->built.failed |= number >= HL_TRACE_TEXT_NAME;
    if (self->names.count > before &&
        hl_workload_builder_grow(&self->built, &self->name_texts, &self->name_text_capacity,
                                 before + 1, sizeof *self->name_texts))
        self->name_texts[number] = HAUL_NONE;
    return number;
}

/* The first text of a key stays: a hostile table may have it twice. */
void hl_trace_name_text(hl_trace_builder *self, uint64_t key, const char *text, size_t length)
{
    const uint32_t number = hl_base_records_find(&self->names, &key);
    if (number != HAUL_NONE && !self->built.failed && self->name_texts[number] == HAUL_NONE)
        self->name_texts[number] = hl_workload_builder_string(&self->built, text, length);
}

/* Names that come as texts need no key: a million of their own would take 26 MB. */
uint32_t hl_trace_text(hl_trace_builder *self, const char *text, size_t length)
{
    const uint32_t id = hl_workload_builder_string(&self->built, text, length);
    self->built.failed |= id >= HL_TRACE_TEXT_NAME - 1;
    return HL_TRACE_TEXT_NAME | id;
}

uint32_t hl_trace_string_of(const hl_trace_builder *self, uint32_t name)
{
    if (name >= HL_TRACE_TEXT_NAME)
        return name == HAUL_NONE ? HAUL_NONE : name - HL_TRACE_TEXT_NAME;
    return self->name_texts[name];
}

const char *hl_trace_text_of(const hl_trace_builder *self, uint32_t name)
{
    const uint32_t id = hl_trace_string_of(self, name);
    return id == HAUL_NONE ? "" : self->built.strings.texts[id];
}

static bool in_range(int64_t time_ns)
{
    return time_ns >= -time_limit && time_ns <= time_limit;
}

int64_t hl_trace_duration(int64_t start_ns, int64_t end_ns)
{
    return in_range(start_ns) && in_range(end_ns) ? end_ns - start_ns : -1;
}

/* Sums stay below 2^62, so that nothing that adds durations up can overflow. */
static bool repair_duration(int64_t *dur_ns, uint64_t *total)
{
    const bool wrong = *dur_ns < 0 || (uint64_t)*dur_ns > sum_limit - *total;
    if (wrong)
        *dur_ns = 0;
    *total += (uint64_t)*dur_ns;
    return wrong;
}

/* A start beyond 2^61 ns (73 years) leaves no room for a duration behind it. */
static int64_t clamp_start(int64_t start_ns)
{
    if (start_ns > time_limit)
        return time_limit;
    return start_ns < -time_limit ? -time_limit : start_ns;
}

/* A negative number of bytes, read as an unsigned one, is beyond the limit too. */
static void repair_bytes(hl_trace_builder *self, haul_op *op)
{
    if (op->bytes > sum_limit - self->total_bytes) {
        op->bytes = 0;
        hl_trace_repaired(self, 1, "number of bytes missing, negative or absurd, set to 0");
    }
    self->total_bytes += op->bytes;
}

/* Counts what a prediction will lack. */
static void note_unknown(hl_trace_builder *self, const haul_op *op)
{
    if (!haul_op_on_device(op))
        return;
    if (op->kind == HAUL_OP_COPY && op->direction == HAUL_DIRECTION_UNKNOWN)
        hl_trace_missing(self, 1, "copies whose direction is not known");
    else if (op->kind == HAUL_OP_COPY && op->detail == HAUL_MEMORY_HOST)
        hl_trace_missing(self, 1, "copies whose kind of host memory is not known");
    const haul_workload_stream *const streams = self->built.streams.items;
    if (op->stream == HAUL_NONE)
        hl_trace_missing(self, 1, "operations whose stream is not known");
    else if (streams[op->stream].device == HAUL_NONE)
        hl_trace_missing(self, 1, "operations whose device is not known");
}

/* Until the links are made their place holds the key of the operation's call. */
static_assert(offsetof(haul_op, thread_prev) == offsetof(haul_op, stream_prev) + 4,
              "the two links are the room of one key");

static void *key_place(haul_op *op)
{
    return (char *)op + offsetof(haul_op, stream_prev);
}

/* Where there are operations, and events. */
static hl_base_keys op_keys(const hl_trace_builder *self)
{
    return (hl_base_keys){.first = key_place(self->built.ops), .stride = sizeof(haul_op)};
}

static hl_base_keys event_keys(const hl_trace_builder *self)
{
    return (hl_base_keys){.first = &self->events->key, .stride = sizeof *self->events};
}

/* A reader adds millions of these: nothing is looked up but what is noted. */
void hl_trace_op(hl_trace_builder *self, const haul_op *op, uint64_t key)
{
    const uint32_t number = hl_workload_builder_op(&self->built, op);
    if (number == HAUL_NONE)
        return;
    haul_op *kept = &self->built.ops[number];
    memcpy(key_place(kept), &key, sizeof key);
    self->has_migrations |= op->kind == HAUL_OP_COPY && op->detail == HAUL_MEMORY_MANAGED;
    note_unknown(self, kept);
    /* Repairs what cannot be right. */
    const int64_t start_ns = clamp_start(kept->start_ns);
    if (start_ns != kept->start_ns) {
        kept->start_ns = start_ns;
        hl_trace_repaired(self, 1, "start out of range, set to the nearest in range");
    }
    if (repair_duration(&kept->dur_ns, &self->total_ns))
        hl_trace_repaired(self, 1, "duration negative or absurd, set to 0");
    if (haul_op_has_bytes(kept))
        repair_bytes(self, kept);
}

uint64_t hl_trace_key(const hl_trace_builder *self, size_t op)
{
    const hl_base_keys keys = op_keys(self);
    return hl_base_keys_at(&keys, (uint32_t)op);
}

void hl_trace_op_key(hl_trace_builder *self, size_t op, uint64_t key)
{
    memcpy(key_place(&self->built.ops[op]), &key, sizeof key);
}

void hl_trace_op_bytes(hl_trace_builder *self, size_t op, uint64_t bytes)
{
    haul_op *const known = &self->built.ops[op];
    known->bytes = bytes;
    known->flags &= (uint8_t)~HAUL_OP_NO_BYTES;
    repair_bytes(self, known);
}

/* Ranges overlap and nest: their sum means nothing, so each is held against the limit alone. */
void hl_trace_range(hl_trace_builder *self, const haul_named_range *range)
{
    haul_named_range kept = *range;
    uint64_t none = 0;
    kept.start_ns = clamp_start(kept.start_ns);
    if (repair_duration(&kept.dur_ns, &none))
        hl_trace_repaired(self, 1, "duration of a range negative or absurd, set to 0");
    hl_workload_builder_range(&self->built, &kept);
}

/* To keep operations small, the target of a wait stands in a list, and the operation has its number
 * there. */
void hl_trace_wait(hl_trace_builder *self, const haul_op *op, uint64_t key,
                   const hl_trace_host_wait *wait)
{
    if (!hl_workload_builder_grow(&self->built, &self->waits, &self->wait_capacity,
                                  self->wait_count + 1, sizeof *self->waits))
        return;
    haul_op tagged = *op;
    tagged.wait = self->wait_count;
    self->waits[self->wait_count++] = *wait;
    hl_trace_op(self, &tagged, key);
}

/* As many records as operations at most: both are named by 31 bits. */
void hl_trace_event(hl_trace_builder *self, const hl_trace_event_mark *event)
{
    self->built.failed |= self->event_count >> HL_WORKLOAD_BUILDER_OPS_LOG2;
    if (hl_workload_builder_grow(&self->built, &self->events, &self->event_capacity,
                                 self->event_count + 1, sizeof *self->events))
        self->events[self->event_count++] = *event;
}

/* Lists in `order` what has a key, by key. */
static void order_keys(hl_trace_builder *self, hl_trace_join *join, size_t count, hl_base_keys keys)
{
    for (uint32_t i = 0; i < count; i++)
        if (hl_base_keys_at(&keys, i))
            join->order[join->count++] = i;
    if (!hl_base_order_sort(join->order, join->count, &keys))
        self->built.failed = true;
}

static void order_ops(hl_trace_builder *self)
{
    self->op_join = (hl_trace_join){.order = hl_trace_scratch(self, self->built.op_count)};
    if (self->op_join.order && self->built.op_count)
        order_keys(self, &self->op_join, self->built.op_count, op_keys(self));
}

/* Sorted when the first call comes, since then all operations are there. */
static void prepare_join(hl_trace_builder *self)
{
    self->joining = true;
    order_ops(self);
    self->event_join.order = malloc((self->event_count + 1) * sizeof *self->event_join.order);
    self->built.failed |= !self->event_join.order;
    if (!self->built.failed && self->event_count)
        order_keys(self, &self->event_join, self->event_count, event_keys(self));
}

/* The next thing of the key from place *at on, or HAUL_NONE. */
static uint32_t next_of_key(const hl_trace_join *join, const hl_base_keys *keys, uint64_t key,
                            size_t *at)
{
    if (*at >= join->count || hl_base_keys_at(keys, join->order[*at]) != key)
        return HAUL_NONE;
    return join->order[(*at)++];
}

/* Calls come nearly in order of their keys: the search begins where the last one ended. */
static size_t find_key(hl_trace_join *join, const hl_base_keys *keys, uint64_t key)
{
    join->finger = hl_base_order_find(join->order, join->count, keys, key, join->finger);
    return join->finger;
}

uint32_t hl_trace_find_op(hl_trace_builder *self, uint64_t key)
{
    if (!self->op_join.order)
        order_ops(self);
    if (self->built.failed || !key || !self->op_join.count)
        return HAUL_NONE;
    const hl_base_keys keys = op_keys(self);
    size_t at = find_key(&self->op_join, &keys, key);
    return next_of_key(&self->op_join, &keys, key, &at);
}

/* An event is recorded when its call is made, as far as the host is concerned. */
static void join_events(hl_trace_builder *self, const hl_trace_host_call *call)
{
    const hl_base_keys keys = event_keys(self);
    hl_trace_join *join = &self->event_join;
    size_t at = find_key(join, &keys, call->key);
    for (uint32_t i; (i = next_of_key(join, &keys, call->key, &at)) != HAUL_NONE;) {
        hl_trace_event_mark *event = &self->events[i];
        if (event->has_call)
            return;
        event->time_ns = call->start_ns;
        event->has_call = true;
    }
}

/* Returns whether the call issued an operation. Whoever gives an id twice does not mean one call:
 * the first has it. */
static bool join_ops(hl_trace_builder *self, const hl_trace_host_call *call)
{
    const hl_base_keys keys = op_keys(self);
    hl_trace_join *join = &self->op_join;
    const size_t begin = find_key(join, &keys, call->key);
    size_t at = begin;
    for (uint32_t i; (i = next_of_key(join, &keys, call->key, &at)) != HAUL_NONE;) {
        haul_op *op = &self->built.ops[i];
        if (op->flags & HAUL_OP_HAS_CALL) {
            hl_trace_repaired(self, 1, "second call of one correlation id, left unjoined");
            return false;
        }
        op->flags |= HAUL_OP_HAS_CALL;
        op->call_ns = call->start_ns;
        op->call_dur_ns = call->dur_ns;
        op->thread = call->thread;
        if (op->name == HAUL_NONE)
            op->name = call->name;
    }
    return at > begin;
}

/* A call that issued nothing, such as cudaMalloc, is an operation of the host. */
void hl_trace_call(hl_trace_builder *self, const hl_trace_host_call *call)
{
    if (!self->joining)
        prepare_join(self);
    if (self->built.failed)
        return;
    self->calls++;
    hl_trace_host_call known = *call;
    known.start_ns = clamp_start(known.start_ns);
    if (repair_duration(&known.dur_ns, &self->total_call_ns))
        hl_trace_repaired(self, 1, "duration of a call negative or absurd, set to 0");
    if (call->key && self->event_join.count)
        join_events(self, &known);
    if (call->key && self->op_join.count && join_ops(self, &known))
        return;
    const haul_op op = {
        .kind = HAUL_OP_CALL,
        .flags = HAUL_OP_HAS_CALL,
        .start_ns = known.start_ns,
        .dur_ns = known.dur_ns,
        .call_ns = known.start_ns,
        .call_dur_ns = known.dur_ns,
        .name = known.name,
        .stream = HAUL_NONE,
        .thread = known.thread,
    };
    hl_trace_op(self, &op, 0);
}
