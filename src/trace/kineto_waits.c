/* Waits of a Kineto trace: events of synchronisation, which newer PyTorch writes where it is told
 * to (enable_cuda_sync_events), or else what the calls tell. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "trace/kineto.h"

/* The names of libkineto's CuptiActivity.cpp. */
static haul_sync_kind kind_of(hl_base_json_text word)
{
    static const struct {
        const char *word;
        haul_sync_kind kind;
    } kinds[] = {
        {"Event Sync", HAUL_SYNC_EVENT},    {"Stream Wait Event", HAUL_SYNC_STREAM_WAIT},
        {"Stream Sync", HAUL_SYNC_STREAM},  {"Context Sync", HAUL_SYNC_CONTEXT},
        {"Device Sync", HAUL_SYNC_CONTEXT},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (hl_base_json_is(word, kinds[i].word))
            return kinds[i].kind;
    return HAUL_SYNC_UNKNOWN;
}

/* A number of the event that is not negative, or HL_TRACE_NO_ID. */
static uint64_t id_of(const hl_trace_kineto_reader *self, hl_trace_kineto_field field)
{
    const int64_t value = hl_trace_kineto_number(self, field);
    return hl_trace_kineto_has(&self->event, field) && value >= 0 ? (uint64_t)value
                                                                  : HL_TRACE_NO_ID;
}

/* The record that is waited for is named by its call's correlation id. */
static void add_record(hl_trace_kineto_reader *self, const hl_trace_host_wait *wait)
{
    const uint64_t stream = id_of(self, HL_TRACE_KINETO_WAIT_STREAM);
    if (wait->event == HL_TRACE_NO_ID || wait->sync_id == HL_TRACE_NO_ID ||
        stream == HL_TRACE_NO_ID)
        return;
    const hl_trace_event_mark record = {
        .process = wait->process,
        .event = wait->event,
        .sync_id = wait->sync_id,
        .key = wait->sync_id,
        .time_ns = hl_trace_kineto_number(self, HL_TRACE_KINETO_REACHED),
        .stream = hl_trace_kineto_waited_stream(self, (int64_t)stream),
    };
    hl_trace_event(self->builder, &record);
}

/* An event of synchronisation: what it waits for is in its arguments, by the names of newer
 * PyTorch; where those are absent the event's own name tells the kind. */
void hl_trace_kineto_wait(hl_trace_kineto_reader *self)
{
    const hl_trace_kineto_event *event = &self->event;
    hl_base_json_text word = hl_trace_kineto_text(event, HL_TRACE_KINETO_WAIT_KIND);
    if (!word.length)
        word = hl_trace_kineto_text(event, HL_TRACE_KINETO_NAME);
    const haul_sync_kind kind = kind_of(word);
    const uint64_t stream = id_of(self, HL_TRACE_KINETO_STREAM);
    const bool on_stream = kind == HAUL_SYNC_STREAM_WAIT || kind == HAUL_SYNC_STREAM;
    const haul_op op = {
        .start_ns = hl_trace_kineto_number(self, HL_TRACE_KINETO_START),
        .dur_ns = hl_trace_kineto_number(self, HL_TRACE_KINETO_DUR),
        .kind = HAUL_OP_SYNC,
        .detail = (uint8_t)kind,
        .name = HAUL_NONE,
        .thread = HAUL_NONE,
        .stream = on_stream && stream != HL_TRACE_NO_ID
                      ? hl_trace_kineto_stream(self, (int64_t)stream)
                      : HAUL_NONE,
    };
    const hl_trace_host_wait wait = {
        .process = hl_trace_kineto_owner(hl_trace_kineto_number(self, HL_TRACE_KINETO_OWNER)),
        .context = (uint64_t)hl_trace_kineto_number(self, HL_TRACE_KINETO_CONTEXT),
        .event = id_of(self, HL_TRACE_KINETO_WAIT_EVENT),
        .sync_id = id_of(self, HL_TRACE_KINETO_WAIT_RECORD),
    };
    const int64_t correlation = hl_trace_kineto_number(self, HL_TRACE_KINETO_CORRELATION);
    self->has_waits = true;
    add_record(self, &wait);
    hl_trace_wait(self->builder, &op, correlation > 0 ? (uint64_t)correlation : 0, &wait);
}

/* --- operations that no correlation id joins to their calls */

/* By id, the call's end before those of what it issued. */
static int compare_ends(const void *a, const void *b)
{
    const hl_trace_kineto_flow *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->phase == 'f') - (y->phase == 'f');
}

/* The place of the thread's call that starts when the flow does, or the calls' count. */
static size_t call_of(const hl_trace_kineto_reader *self, const hl_trace_kineto_flow *flow)
{
    const haul_workload_thread *const threads = self->builder->built.threads.items;
    for (size_t i = hl_trace_kineto_first_call(self, flow->start_ns); i < self->call_count; i++) {
        const hl_trace_host_call call = hl_trace_kineto_call_at(self, i);
        if (call.start_ns != flow->start_ns)
            break;
        if (threads[call.thread].id == (uint64_t)flow->tid)
            return i;
    }
    return self->call_count;
}

/* Ids of flows make keys of their own for calls that have none. */
void hl_trace_kineto_join_flows(hl_trace_kineto_reader *self)
{
    enum { FLOW_KEYS = 62, LOOKED_AT = 64 };
    hl_trace_builder *const builder = self->builder;
    const uint32_t *const order = hl_trace_by_start(builder);
    const hl_base_keys starts = {.first =
                                     builder->built.op_count ? &builder->built.ops->start_ns : NULL,
                                 .stride = sizeof *builder->built.ops,
                                 .flip = HL_KEYS_SIGNED};
    const haul_workload_stream *const streams = builder->built.streams.items;
    size_t call = self->call_count;
    qsort(self->ends, self->end_count, sizeof *self->ends, compare_ends);
    for (size_t e = 0; order && e < self->end_count; e++) {
        const hl_trace_kineto_flow *const end = &self->ends[e];
        if (!e || self->ends[e - 1].id != end->id)
            call = self->call_count;
        if (end->phase == 's')
            call = call_of(self, end);
        if (end->phase == 's' || call == self->call_count)
            continue;
        size_t i = hl_base_order_find(order, builder->built.op_count, &starts,
                                      (uint64_t)end->start_ns ^ HL_KEYS_SIGNED, 0);
        for (int n = 0; n < LOOKED_AT && i < builder->built.op_count; n++, i++) {
            const haul_op *const op = &builder->built.ops[order[i]];
            if (op->start_ns != end->start_ns)
                break;
            if (hl_trace_key(builder, order[i]) || op->stream == HAUL_NONE ||
                streams[op->stream].id != (uint64_t)end->tid)
                continue;
            if (!hl_trace_kineto_call_at(self, call).key)
                hl_trace_kineto_give_key(self, call, UINT64_C(1) << FLOW_KEYS | (uint64_t)end->id);
            hl_trace_op_key(builder, order[i], hl_trace_kineto_call_at(self, call).key);
        }
    }
}

/* --- waits that only their calls tell of */

/* A wait that only its call tells of: for a stream where one is known, else for all streams of its
 * context. */
static void add_wait(hl_trace_kineto_reader *self, const hl_trace_host_call *call, uint32_t stream,
                     bool of_stream)
{
    const haul_workload_stream *const streams = self->builder->built.streams.items;
    const bool known = of_stream && stream != HAUL_NONE;
    const haul_workload_stream *const at = stream != HAUL_NONE                  ? &streams[stream]
                                           : self->builder->built.streams.count ? streams
                                                                                : NULL;
    const haul_op op = {
        .start_ns = call->start_ns,
        .dur_ns = call->dur_ns,
        .kind = HAUL_OP_SYNC,
        .detail = known ? HAUL_SYNC_STREAM : HAUL_SYNC_CONTEXT,
        .name = HAUL_NONE,
        .thread = HAUL_NONE,
        .stream = known ? stream : HAUL_NONE,
    };
    const hl_trace_host_wait wait = {
        .process = at ? at->process : 0,
        .context = at ? at->context : 0,
        .event = HL_TRACE_NO_ID,
        .sync_id = HL_TRACE_NO_ID,
    };
    hl_trace_wait(self->builder, &op, call->key, &wait);
}

/* cudaStreamSynchronize does not say which stream it waits for. A thread nearly always waits for
 * the one that it used last. */
void hl_trace_kineto_infer_waits(hl_trace_kineto_reader *self)
{
    hl_trace_builder *const builder = self->builder;
    const size_t threads = builder->built.threads.count;
    uint32_t *const last = malloc((threads + 1) * sizeof *last); /* stream, by thread */
    builder->built.failed |= !last;
    if (last)
        memset(last, 0xff, (threads + 1) * sizeof *last);
    for (size_t i = 0; !builder->built.failed && i < self->call_count; i++) {
        const hl_trace_host_call call = hl_trace_kineto_call_at(self, i);
        const uint32_t issued = hl_trace_find_op(builder, call.key);
        if (issued != HAUL_NONE)
            last[call.thread] = builder->built.ops[issued].stream;
        const char *const name = hl_trace_text_of(builder, call.name);
        if (!strstr(name, "Synchronize"))
            continue;
        const bool of_stream = strstr(name, "StreamSynchronize");
        if (of_stream || strstr(name, "DeviceSynchronize"))
            add_wait(self, &call, last[call.thread], of_stream);
    }
    free(last);
}
