/* The streams that are waited for. A stream is of one context, and a context of one device; but
 * records of waits and of events may name another device (files of Nsight Systems the first one,
 * whatever the context): those are of the stream on which the context's work is. */
#include <stdlib.h>

#include "trace/trace_builder.h"

typedef struct joiner {
    hl_trace_builder *builder;
    haul_workload_stream *streams;
    size_t count;
    bool *works;           /* of each stream: an operation of a device is on it */
    hl_base_records keys;  /* process, context and id of those */
    uint32_t *worker;      /* of each key its stream, HAUL_NONE where it has two */
    uint32_t *renumbering; /* of each stream */
} joiner;

static void key_of(const haul_workload_stream *stream, uint64_t key[3])
{
    key[0] = stream->process;
    key[1] = stream->context;
    key[2] = stream->id;
}

/* A stream works where a copy, memset or kernel is on it. Two that share process, context and id
 * cannot stand for a third. */
static bool find_workers(joiner *self)
{
    const hl_trace_builder *builder = self->builder;
    for (size_t i = 0; i < builder->built.op_count; i++)
        if (haul_op_on_device(&builder->built.ops[i]) && builder->built.ops[i].stream != HAUL_NONE)
            self->works[builder->built.ops[i].stream] = true;
    for (uint32_t s = 0; s < self->count; s++) {
        if (!self->works[s])
            continue;
        uint64_t key[3];
        key_of(&self->streams[s], key);
        const size_t before = self->keys.count;
        const uint32_t number = hl_base_records_add(&self->keys, key);
        if (number == UINT32_MAX)
            return false;
        self->worker[number] = number < before ? HAUL_NONE : s;
    }
    return true;
}

/* The stream that one without work stands for, or HAUL_NONE. */
static uint32_t worker_of(const joiner *self, uint32_t stream)
{
    uint64_t key[3];
    key_of(&self->streams[stream], key);
    const uint32_t number =
        self->works[stream] ? UINT32_MAX : hl_base_records_find(&self->keys, key);
    return number == UINT32_MAX ? HAUL_NONE : self->worker[number];
}

/* The streams that stay move up; returns how many they are. */
static size_t renumber(joiner *self)
{
    uint32_t kept = 0;
    for (uint32_t s = 0; s < self->count; s++)
        self->renumbering[s] = worker_of(self, s) == HAUL_NONE ? kept++ : HAUL_NONE;
    for (uint32_t s = 0; s < self->count; s++)
        if (self->renumbering[s] == HAUL_NONE)
            self->renumbering[s] = self->renumbering[worker_of(self, s)];
        else
            self->works[s] = true;
    for (uint32_t s = 0; s < self->count; s++)
        if (self->works[s])
            self->streams[self->renumbering[s]] = self->streams[s];
    return kept;
}

/* Streams without work that stand for no other stay too: a wait for one is a wait for nothing, and
 * not an error. */
void hl_trace_wait_streams_join(hl_trace_builder *builder)
{
    const size_t count = builder->built.streams.count;
    joiner self = {
        .builder = builder,
        .streams = builder->built.streams.items,
        .count = count,
        .works = calloc(count + 1, sizeof *self.works),
        .keys.size = 3 * sizeof(uint64_t),
        .worker = malloc((count + 1) * sizeof *self.worker),
        .renumbering = malloc((count + 1) * sizeof *self.renumbering),
    };
    const bool ready = self.works && self.worker && self.renumbering && find_workers(&self);
    const size_t kept = ready ? renumber(&self) : count;
    for (size_t i = 0; kept < count && i < builder->built.op_count; i++)
        if (builder->built.ops[i].stream != HAUL_NONE)
            builder->built.ops[i].stream = self.renumbering[builder->built.ops[i].stream];
    for (size_t i = 0; kept < count && i < builder->event_count; i++)
        if (builder->events[i].stream != HAUL_NONE)
            builder->events[i].stream = self.renumbering[builder->events[i].stream];
    builder->built.failed |= !ready;
    builder->built.streams.count = kept; /* nobody looks for one from here on */
    hl_base_records_release(&self.keys);
    free(self.works);
    free(self.worker);
    free(self.renumbering);
}
