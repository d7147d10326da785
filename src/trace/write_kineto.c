/* A workload as a trace that PyTorch's tools, Perfetto and Chrome read: Kineto's JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chrome_events.h"
#include "base/fail.h"
#include "haul/trace.h"
#include "trace/frames.h"
#include "trace/trace_builder.h"
#include "trace/written_calls.h"
#include "trace/written_places.h"

typedef struct writer {
    const haul_workload *workload;
    hl_trace_written_calls calls;
    hl_trace_written_places places;
    FILE *out;
    bool has_events;
    bool has_processes; /* of streams: several, whose contexts may have one id */
} writer;

/* Writes an event up to its "args", which the caller fills and closes with put_end. Readers take
 * 64-bit numbers as signed: one with the highest bit set is written negative. */
static void put_slice(writer *self, const hl_base_chrome_slice *of)
{
    fputs(self->has_events ? ",\n" : "\n", self->out);
    self->has_events = true;
    hl_base_chrome_slice_open(of, self->out);
}

/* Closes the arguments and the event. */
static void put_end(writer *self)
{
    fputs("}}", self->out);
}

static uint64_t device_id(const writer *self, uint32_t stream)
{
    const haul_workload *const w = self->workload;
    const uint32_t device = stream == HAUL_NONE ? HAUL_NONE : w->streams[stream].device;
    return device == HAUL_NONE ? 0 : hl_trace_written_device(&self->places, device);
}

/* Kineto's files are of one process: of several haul writes each stream's by a key of its own. */
static void put_process(const writer *self, const char *key, uint32_t stream)
{
    if (self->has_processes)
        fprintf(self->out, ",\"%s\":%" PRIu32, key,
                hl_trace_written_process_of_stream(&self->places, stream));
}

/* A stream of -1 is how Kineto writes that none is known. Ids are numbers with a sign there. */
static void put_place(const writer *self, const haul_op *op, uint32_t correlation)
{
    if (op->stream != HAUL_NONE) {
        const haul_workload_stream *const stream = &self->workload->streams[op->stream];
        fprintf(self->out, "\"device\":%" PRIu64 ",\"context\":%" PRId64 ",\"stream\":%" PRId64,
                device_id(self, op->stream), (int64_t)stream->context, (int64_t)stream->id);
        put_process(self, "haul process", op->stream);
    } else {
        fputs("\"stream\":-1", self->out);
    }
    if (correlation)
        fprintf(self->out, ",\"correlation\":%" PRIu32, correlation);
}

/* "Memcpy HtoD (Pinned -> Device)" */
static void copy_name(const haul_op *op, char *name, size_t size)
{
    static const char *const memories[HAUL_MEMORIES] = {
        [HAUL_MEMORY_PAGEABLE] = "Pageable", [HAUL_MEMORY_PINNED] = "Pinned",
        [HAUL_MEMORY_DEVICE] = "Device",     [HAUL_MEMORY_ARRAY] = "Array",
        [HAUL_MEMORY_MANAGED] = "Managed",   [HAUL_MEMORY_HOST] = "Host",
        [HAUL_MEMORY_UNKNOWN] = "Unknown"};
    const char *const memory = memories[op->detail];
    const bool from_host =
        op->direction == HAUL_DIRECTION_HTOD || op->direction == HAUL_DIRECTION_HTOH;
    const bool to_host =
        op->direction == HAUL_DIRECTION_DTOH || op->direction == HAUL_DIRECTION_HTOH;
    const char *direction = haul_direction_text((haul_direction)op->direction);
    if (op->detail == HAUL_MEMORY_ARRAY && op->direction == HAUL_DIRECTION_DTOD)
        direction = "AtoA";
    snprintf(name, size, "Memcpy %s (%s -> %s)", direction, from_host ? memory : "Device",
             to_host ? memory : "Device");
}

/* The keys of PyTorch's NCCL metadata, so that its tools read them too. */
static void put_collective(writer *self, const haul_shape *shape)
{
    const haul_workload *const w = self->workload;
    if (!shape->collective)
        return;
    const haul_collective *const of = &w->collectives[shape->collective - 1];
    const struct {
        const char *key;
        uint32_t text;
    } texts[] = {
        {"Collective name", of->name}, {"dtype", of->data_type}, {"Process Group Name", of->group}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fprintf(self->out, ",\"%s\":", texts[i].key);
        hl_base_chrome_text(haul_workload_string(w, texts[i].text), self->out);
    }
    fprintf(self->out,
            ",\"In msg nelems\":%" PRIu64 ",\"Out msg nelems\":%" PRIu64 ",\"Group size\":%" PRIu32,
            of->elements_in, of->elements_out, of->group_size);
}

static void put_kernel(writer *self, const haul_op *op)
{
    if (op->shape == HAUL_NONE)
        return;
    const haul_shape *const s = &self->workload->shapes[op->shape];
    fprintf(self->out,
            ",\"grid\":[%" PRIu32 ",%" PRIu32 ",%" PRIu32 "],\"block\":[%" PRIu32 ",%" PRIu32
            ",%" PRIu32 "],\"registers per thread\":%" PRIu32 ",\"shared memory\":%" PRIu32,
            s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1], s->block[2],
            s->registers_per_thread, s->shared_bytes);
    put_collective(self, s);
    if (!s->operands)
        return;
    const haul_operands *const of = &self->workload->operands[s->operands - 1];
    fprintf(self->out,
            ",\"haul operands\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
            ",%" PRIu64 "]",
            of->batch, of->rows, of->columns, of->inner, of->bytes, of->alignment);
}

static const char *const sync_names[] = {[HAUL_SYNC_UNKNOWN] = "Unknown",
                                         [HAUL_SYNC_EVENT] = "Event Sync",
                                         [HAUL_SYNC_STREAM_WAIT] = "Stream Wait Event",
                                         [HAUL_SYNC_STREAM] = "Stream Sync",
                                         [HAUL_SYNC_CONTEXT] = "Context Sync"};

/* Writes the target of a wait. Kineto names an event and the stream that it was recorded on, of the
 * device and context at hand; when it was reached, and where that stream is, are keys of haul's
 * own. An event is written as reached when what is waited for had just started. */
static void put_wait(const writer *self, size_t number, const haul_op *op)
{
    const haul_workload *const w = self->workload;
    const bool of_event = op->detail == HAUL_SYNC_EVENT || op->detail == HAUL_SYNC_STREAM_WAIT;
    const uint32_t waited = self->calls.waited[number];
    fprintf(self->out, ",\"cuda_sync_kind\":\"%s\"", sync_names[op->detail]);
    const uint32_t of = waited == HAUL_NONE ? HAUL_NONE : w->ops[waited].stream;
    if (of == HAUL_NONE) {
        if (op->stream == HAUL_NONE)
            fputs(",\"context\":-1", self->out);
        return;
    }
    const haul_workload_stream *const stream = &w->streams[of];
    if (op->stream == HAUL_NONE && !of_event) {
        fprintf(self->out, ",\"context\":%" PRId64, (int64_t)stream->context);
        put_process(self, "haul process", of);
    }
    if (!of_event)
        return;
    put_process(self, "haul wait_on_process", of);
    fprintf(self->out,
            ",\"wait_on_stream\":%" PRId64 ",\"wait_on_cuda_event_id\":%zu"
            ",\"wait_on_cuda_event_record_corr_id\":%" PRIu64 ",\"haul wait_on_device\":%" PRIu64
            ",\"haul wait_on_context\":%" PRId64,
            (int64_t)stream->id, number + 1, (uint64_t)self->calls.count + number + 1,
            device_id(self, of), (int64_t)stream->context);
    hl_base_chrome_us("haul event reached", w->ops[waited].start_ns + 1, self->out);
}

/* An operation as Kineto would have written it, its name in Kineto's words where haul has none. */
static void put_op(writer *self, size_t number)
{
    const haul_op *const op = &self->workload->ops[number];
    static const char *const categories[HAUL_OP_KINDS] = {[HAUL_OP_COPY] = "gpu_memcpy",
                                                          [HAUL_OP_MEMSET] = "gpu_memset",
                                                          [HAUL_OP_KERNEL] = "kernel",
                                                          [HAUL_OP_SYNC] = "cuda_sync"};
    const haul_workload *const w = self->workload;
    char name[64];
    if (op->kind == HAUL_OP_CALL) /* which its call alone is */
        return;
    hl_base_chrome_slice of = {categories[op->kind],
                               haul_workload_string(w, op->name),
                               (int64_t)device_id(self, op->stream),
                               0,
                               op->start_ns,
                               op->dur_ns};
    if (op->stream != HAUL_NONE)
        of.tid = (int64_t)w->streams[op->stream].id;
    if (op->kind == HAUL_OP_COPY) {
        copy_name(op, name, sizeof name);
        of.name = name;
    } else if (op->kind == HAUL_OP_MEMSET) {
        of.name = "Memset (Device)";
    } else if (op->kind == HAUL_OP_SYNC) {
        of.name = sync_names[op->detail];
    }
    put_slice(self, &of);
    put_place(self, op, self->calls.ids[number]);
    if (op->kind == HAUL_OP_KERNEL)
        put_kernel(self, op);
    else if (op->kind == HAUL_OP_SYNC)
        put_wait(self, number, op);
    else if (!(op->flags & HAUL_OP_NO_BYTES))
        fprintf(self->out, ",\"bytes\":%" PRIu64, op->bytes);
    put_end(self);
}

/* The frames of a call stack with ';' between them, as PyTorch writes one with an operator. */
static void put_stack(const writer *self, const char *stack)
{
    const size_t joint = strlen(HL_TRACE_STACK_JOINT);
    char list[HL_TRACE_STACK_BYTES];
    size_t length = 0;
    while (*stack && length + 1 < sizeof list) {
        const bool ends = !strncmp(stack, HL_TRACE_STACK_JOINT, joint);
        list[length] = *stack;
        if (ends)
            list[length] = ';';
        else if (*stack == ';') /* which is between frames there */
            list[length] = ',';
        length++;
        stack += ends ? joint : 1;
    }
    list[length] = '\0';
    fputs(",\"Call stack\":", self->out);
    hl_base_chrome_text(list, self->out);
}

/* One call for all operations that it issued: a graph's launch has many. */
static void put_call(writer *self, uint32_t call)
{
    const haul_workload *const w = self->workload;
    const haul_op *const op = &w->ops[self->calls.first[call]];
    const haul_workload_thread *const thread = &w->threads[op->thread];
    put_slice(self, &(hl_base_chrome_slice){"cuda_runtime", hl_trace_written_call_name(w, op),
                                            (int64_t)thread->process, (int64_t)thread->id,
                                            op->call_ns, op->call_dur_ns});
    fprintf(self->out, "\"correlation\":%" PRIu32, call + 1);
    const uint32_t called_by = haul_op_operator(w, self->calls.first[call]);
    if (called_by != HAUL_NONE) {
        fputs(",\"haul operator\":", self->out);
        hl_base_chrome_text(haul_workload_string(w, called_by), self->out);
    }
    if (haul_op_stack(w, self->calls.first[call]) != HAUL_NONE)
        put_stack(self, haul_workload_string(w, haul_op_stack(w, self->calls.first[call])));
    put_end(self);
}

static void put_notes(const writer *self, const char *kind, const haul_note *notes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fprintf(self->out, ",{\"kind\":\"%s\",\"count\":%" PRIu64 ",\"text\":", kind,
                notes[i].count);
        hl_base_chrome_text(notes[i].text, self->out);
        fputs("}", self->out);
    }
}

static void put_default_streams(const writer *self)
{
    put_notes(self, HL_TRACE_NOTE_DEFAULT, &(haul_note){.text = ""}, 1);
    for (size_t i = 0; i < self->workload->stream_count; i++) {
        char text[HL_TRACE_STREAM_TEXT];
        if (hl_trace_written_default(&self->places, i, text))
            put_notes(self, HL_TRACE_NOTE_DEFAULT, &(haul_note){.text = text}, 1);
    }
}

/* Times stay relative to the epoch, which Kineto calls baseTimeNanoseconds. */
static void put_head(writer *self)
{
    const haul_workload *const w = self->workload;
    fputs("{\"schemaVersion\":1,\"haul convert\":1", self->out);
    if (w->epoch_ns)
        fprintf(self->out, ",\"baseTimeNanoseconds\":%" PRId64, w->epoch_ns);
    if (w->rank >= 0)
        fprintf(self->out, ",\"distributedInfo\":{\"rank\":%" PRId64 "}", w->rank);
    fputs(",\"deviceProperties\":[", self->out);
    for (size_t i = 0; i < w->device_count; i++) {
        const haul_workload_device *const d = &w->devices[i];
        fprintf(self->out, "%s{\"id\":%" PRIu64, i ? "," : "",
                hl_trace_written_device(&self->places, i));
        if (d->name) {
            fputs(",\"name\":", self->out);
            hl_base_chrome_text(d->name, self->out);
        }
        if (d->rank >= 0)
            fprintf(self->out, ",\"haul rank\":%" PRId64, d->rank);
        if (d->host) {
            fputs(",\"haul host\":", self->out);
            hl_base_chrome_text(d->host, self->out);
        }
        /* the last four are haul's own */
        fprintf(self->out,
                ",\"totalGlobalMem\":%" PRIu64 ",\"numSms\":%" PRIu32 ",\"computeMajor\":%" PRIu32
                ",\"computeMinor\":%" PRIu32 ",\"memoryBandwidth\":%.0f,\"clockRate\":%.0f"
                ",\"l2CacheSize\":%" PRIu64 ",\"asyncEngines\":%" PRIu32 "}",
                d->memory_bytes, d->multiprocessors, d->compute_major, d->compute_minor,
                d->memory_bandwidth_Bps, d->clock_Hz, d->l2_bytes, d->copy_engines);
    }
    fputs("]", self->out);
    for (size_t i = 0; i < w->loss_count; i++) {
        fprintf(self->out, "%s{\"count\":%" PRIu64 ",\"text\":", i ? "," : ",\"haul losses\":[",
                w->losses[i].count);
        hl_base_chrome_text(w->losses[i].text, self->out);
        fputs(i + 1 < w->loss_count ? "}" : "}]", self->out);
    }
    fputs(",\"haul notes\":[{\"kind\":\"converted\"}", self->out);
    put_notes(self, HL_TRACE_NOTE_MISSING, w->missing, w->missing_count);
    put_notes(self, HL_TRACE_NOTE_REPAIR, w->repairs, w->repair_count);
    put_default_streams(self);
    fputs("],\"traceEvents\":[", self->out);
}

static bool has_processes(const hl_trace_written_places *places)
{
    for (size_t i = 1; i < places->workload->stream_count; i++)
        if (places->processes[i] != places->processes[0])
            return true;
    return false;
}

/* Events in the order of the workload, then calls, then ranges: viewers sort by themselves. */
haul_status haul_trace_write_json(const haul_workload *workload, FILE *out, haul_error *error)
{
    writer self = {.workload = workload, .out = out};
    HAUL_TRY(hl_trace_written_places_make(&self.places, workload, error));
    const haul_status status = hl_trace_written_calls_make(&self.calls, workload, error);
    if (status) {
        hl_trace_written_places_release(&self.places);
        return status;
    }
    self.has_processes = has_processes(&self.places);
    put_head(&self);
    for (size_t i = 0; i < workload->op_count; i++)
        put_op(&self, i);
    for (uint32_t i = 0; i < self.calls.count; i++)
        put_call(&self, i);
    for (size_t i = 0; i < workload->range_count; i++) {
        static const haul_workload_thread nowhere = {0};
        const haul_named_range *const range = &workload->ranges[i];
        const haul_workload_thread *const thread =
            range->thread == HAUL_NONE ? &nowhere : &workload->threads[range->thread];
        put_slice(&self, &(hl_base_chrome_slice){"user_annotation",
                                                 haul_workload_string(workload, range->name),
                                                 (int64_t)thread->process, (int64_t)thread->id,
                                                 range->start_ns, range->dur_ns});
        put_end(&self);
    }
    fputs("\n]}\n", out);
    hl_trace_written_calls_release(&self.calls);
    hl_trace_written_places_release(&self.places);
    return ferror(out) ? haul_error_set(error, HAUL_STATUS_IO, "cannot write the trace") : HAUL_OK;
}
