#include "workload/builder.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static const uint32_t most_ops = UINT32_C(1) << 31;

static const int64_t time_limit = INT64_C(1) << 61;
static const uint64_t sum_limit = UINT64_C(1) << 62;

void haul_builder_init(haul_builder *self)
{
    *self = (haul_builder){
        .streams.size = sizeof(haul_workload_stream),
        .threads.size = sizeof(haul_workload_thread),
        .shapes.size = sizeof(haul_shape),
        .processes.size = sizeof(uint64_t),
        .names.size = sizeof(uint64_t),
        .device_keys.size = sizeof(uint64_t),
    };
}

void haul_builder_release(haul_builder *self)
{
    haul_arena_release(&self->arena);
    haul_strings_release(&self->strings);
    free(self->ops);
    free(self->scratch);
    free(self->event_join.order);
    free(self->waits);
    free(self->events);
    free(self->edges);
    haul_records_release(&self->streams);
    haul_records_release(&self->threads);
    haul_records_release(&self->shapes);
    haul_records_release(&self->processes);
    haul_records_release(&self->names);
    free(self->name_texts);
    haul_records_release(&self->device_keys);
    free(self->devices);
    free(self->missing.items);
    free(self->repairs.items);
    haul_builder_init(self);
}

bool haul_builder_grow(haul_builder *self, void *items, size_t *capacity, size_t needed,
                       size_t item_size)
{
    if (!self->failed && !haul_grow(items, capacity, needed, item_size))
        self->failed = true;
    return !self->failed;
}

uint32_t *haul_builder_scratch(haul_builder *self, size_t count)
{
    return haul_builder_grow(self, &self->scratch, &self->scratch_capacity, count + 1,
                             sizeof *self->scratch)
               ? self->scratch
               : NULL;
}

void haul_builder_reserve(haul_builder *self, uint64_t ops)
{
    if (ops < most_ops)
        (void)haul_grow(&self->ops, &self->op_capacity, (size_t)ops, sizeof *self->ops);
}

static void add_note(haul_builder *self, haul_workload_notes *notes, uint64_t count,
                     const char *text)
{
    for (size_t i = 0; i < notes->count; i++)
        if (!strcmp(notes->items[i].text, text)) {
            notes->items[i].count += count;
            return;
        }
    const char *kept = haul_arena_string(&self->arena, text);
    if (!kept || !haul_builder_grow(self, &notes->items, &notes->capacity, notes->count + 1,
                                    sizeof *notes->items)) {
        self->failed = true;
        return;
    }
    notes->items[notes->count++] = (haul_note){.text = kept, .count = count};
}

void haul_builder_missing(haul_builder *self, uint64_t count, const char *text)
{
    add_note(self, &self->missing, count, text);
}

void haul_builder_repaired(haul_builder *self, uint64_t count, const char *text)
{
    add_note(self, &self->repairs, count, text);
}

static uint32_t intern(haul_builder *self, haul_records *records, const void *item)
{
    const uint32_t number = haul_records_add(records, item);
    if (number == HAUL_NONE)
        self->failed = true;
    return number;
}

uint32_t haul_builder_process(haul_builder *self, uint64_t process)
{
    return intern(self, &self->processes, &process);
}

uint32_t haul_builder_thread(haul_builder *self, uint64_t process, uint64_t id)
{
    const haul_workload_thread thread = {.process = process, .id = id};
    return intern(self, &self->threads, &thread);
}

uint32_t haul_builder_shape(haul_builder *self, const haul_shape *shape)
{
    return intern(self, &self->shapes, shape);
}

uint32_t haul_builder_stream(haul_builder *self, const haul_workload_stream *stream)
{
    haul_workload_stream key;
    memset(&key, 0, sizeof key);
    key.device = stream->device;
    key.process = stream->process;
    key.context = stream->context;
    key.id = stream->id;
    return intern(self, &self->streams, &key);
}

uint32_t haul_builder_device(haul_builder *self, uint64_t id, uint64_t gpu)
{
    const size_t before = self->device_keys.count;
    const uint32_t number = intern(self, &self->device_keys, &gpu);
    if (self->device_keys.count > before &&
        haul_builder_grow(self, &self->devices, &self->device_capacity, before + 1,
                          sizeof *self->devices))
        self->devices[number] = (haul_workload_device){.id = id};
    return number;
}

uint32_t haul_builder_name(haul_builder *self, uint64_t key)
{
    const size_t before = self->names.count;
    const uint32_t number = intern(self, &self->names, &key);
    if (self->names.count > before &&
        haul_builder_grow(self, &self->name_texts, &self->name_text_capacity, before + 1,
                          sizeof *self->name_texts))
        self->name_texts[number] = HAUL_NONE;
    return number;
}

void haul_builder_name_text(haul_builder *self, uint64_t key, const char *text, size_t length)
{
    const uint32_t number = haul_records_find(&self->names, &key);
    if (number == HAUL_NONE || self->failed || self->name_texts[number] != HAUL_NONE)
        return;
    self->name_texts[number] = haul_strings_add(&self->strings, text, length);
    if (self->name_texts[number] == HAUL_NONE)
        self->failed = true;
}

static bool repair_duration(int64_t *dur_ns, uint64_t *total)
{
    const bool wrong = *dur_ns < 0 || (uint64_t)*dur_ns > sum_limit - *total;
    if (wrong)
        *dur_ns = 0;
    *total += (uint64_t)*dur_ns;
    return wrong;
}

static int64_t clamp_start(int64_t start_ns)
{
    if (start_ns > time_limit)
        return time_limit;
    return start_ns < -time_limit ? -time_limit : start_ns;
}

static void repair_op(haul_builder *self, haul_op *op)
{
    const int64_t start_ns = clamp_start(op->start_ns);
    if (start_ns != op->start_ns) {
        op->start_ns = start_ns;
        haul_builder_repaired(self, 1, "start out of range, set to the nearest in range");
    }
    if (repair_duration(&op->dur_ns, &self->total_ns)) {
        haul_builder_repaired(self, 1, "duration negative or absurd, set to 0");
    }
    if (op->kind != HAUL_OP_COPY && op->kind != HAUL_OP_MEMSET)
        return;
    if (op->bytes > sum_limit - self->total_bytes) {
        op->bytes = 0;
        haul_builder_repaired(self, 1, "number of bytes missing, negative or absurd, set to 0");
    }
    self->total_bytes += op->bytes;
}

/* Until the links are made their place holds the key of the operation's call. */
static_assert(offsetof(haul_op, thread_prev) == offsetof(haul_op, stream_prev) + 4,
              "the two links are the room of one key");

static void *key_place(haul_op *op)
{
    return (char *)op + offsetof(haul_op, stream_prev);
}

/* Where there are operations, and events. */
static haul_keys op_keys(const haul_builder *self)
{
    return (haul_keys){.first = key_place(self->ops), .stride = sizeof *self->ops};
}

static haul_keys event_keys(const haul_builder *self)
{
    return (haul_keys){.first = &self->events->key, .stride = sizeof *self->events};
}

void haul_builder_op(haul_builder *self, const haul_op *op, uint64_t key)
{
    if (self->op_count >= most_ops)
        self->failed = true;
    if (!haul_builder_grow(self, &self->ops, &self->op_capacity, self->op_count + 1,
                           sizeof *self->ops))
        return;
    haul_op *kept = &self->ops[self->op_count++];
    *kept = *op;
    memcpy(key_place(kept), &key, sizeof key);
    repair_op(self, kept);
}

void haul_builder_wait(haul_builder *self, const haul_op *op, uint64_t key, const haul_wait *wait)
{
    if (!haul_builder_grow(self, &self->waits, &self->wait_capacity, self->wait_count + 1,
                           sizeof *self->waits))
        return;
    haul_op tagged = *op;
    tagged.bytes = self->wait_count;
    self->waits[self->wait_count++] = *wait;
    haul_builder_op(self, &tagged, key);
}

void haul_builder_event(haul_builder *self, const haul_event *event)
{
    if (self->event_count >= most_ops)
        self->failed = true;
    if (haul_builder_grow(self, &self->events, &self->event_capacity, self->event_count + 1,
                          sizeof *self->events))
        self->events[self->event_count++] = *event;
}

/* Lists in `order` what has a key, by key. */
static void order_keys(haul_builder *self, haul_join *join, size_t count, haul_keys keys)
{
    for (uint32_t i = 0; i < count; i++)
        if (haul_keys_at(&keys, i))
            join->order[join->count++] = i;
    if (!haul_order_sort(join->order, join->count, &keys))
        self->failed = true;
}

static void prepare_join(haul_builder *self)
{
    self->joining = true;
    self->op_join.order = haul_builder_scratch(self, self->op_count);
    self->event_join.order = malloc((self->event_count + 1) * sizeof *self->event_join.order);
    if (!self->op_join.order || !self->event_join.order) {
        self->failed = true;
        return;
    }
    if (self->op_count)
        order_keys(self, &self->op_join, self->op_count, op_keys(self));
    if (self->event_count)
        order_keys(self, &self->event_join, self->event_count, event_keys(self));
}

/* The next thing of the key from place *at on, or HAUL_NONE. */
static uint32_t next_of_key(const haul_join *join, const haul_keys *keys, uint64_t key, size_t *at)
{
    if (*at >= join->count || haul_keys_at(keys, join->order[*at]) != key)
        return HAUL_NONE;
    return join->order[(*at)++];
}

static size_t find_key(haul_join *join, const haul_keys *keys, uint64_t key)
{
    join->finger = haul_order_find(join->order, join->count, keys, key, join->finger);
    return join->finger;
}

static void join_events(haul_builder *self, const haul_call *call)
{
    const haul_keys keys = event_keys(self);
    haul_join *join = &self->event_join;
    size_t at = find_key(join, &keys, call->key);
    for (uint32_t i; (i = next_of_key(join, &keys, call->key, &at)) != HAUL_NONE;) {
        haul_event *event = &self->events[i];
        if (event->has_call)
            return;
        event->time_ns = call->start_ns;
        event->has_call = true;
    }
}

/* Returns whether the call issued an operation. Whoever gives an id twice does not mean one call:
 * the first has it. */
static bool join_ops(haul_builder *self, const haul_call *call)
{
    const haul_keys keys = op_keys(self);
    haul_join *join = &self->op_join;
    const size_t begin = find_key(join, &keys, call->key);
    size_t at = begin;
    for (uint32_t i; (i = next_of_key(join, &keys, call->key, &at)) != HAUL_NONE;) {
        haul_op *op = &self->ops[i];
        if (op->flags & HAUL_OP_HAS_CALL) {
            haul_builder_repaired(self, 1, "second call of one correlation id, left unjoined");
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

static bool join_call(haul_builder *self, const haul_call *call)
{
    if (call->key && self->event_join.count)
        join_events(self, call);
    return call->key && self->op_join.count && join_ops(self, call);
}

void haul_builder_call(haul_builder *self, const haul_call *call)
{
    if (!self->joining)
        prepare_join(self);
    if (self->failed)
        return;
    self->calls++;
    haul_call known = *call;
    known.start_ns = clamp_start(known.start_ns);
    if (repair_duration(&known.dur_ns, &self->total_call_ns))
        haul_builder_repaired(self, 1, "duration of a call negative or absurd, set to 0");
    if (join_call(self, &known))
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
    haul_builder_op(self, &op, 0);
}
