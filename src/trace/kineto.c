/* Traces of PyTorch's profiler (Kineto): JSON of Chrome's trace event format, plain or gzipped.
 * Haul needs "X" events of a few categories, in any order; the others are skipped
 * unparsed.
 *
 * Times are decimal microseconds: whole ones in old files, with three decimals and relative to
 * baseTimeNanoseconds in new ones. They are taken exactly, since a double keeps no more than 0.25
 * us of such a time. */
#include "trace/kineto.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_source.h"
#include "base/compare.h"
#include "base/fail.h"
#include "base/index.h"
#include "base/order.h"
#include "trace/copy_name.h"
#include "trace/trace_format.h"

/* Any JSON may be a trace; whether it is one is known once traceEvents is met. RFC 8259 lets a
 * reader pass over a byte-order mark. */
static bool sniff_kineto(const hl_trace_head *head)
{
    static const unsigned char mark[] = {0xEF, 0xBB, 0xBF};
    size_t i = head->length >= 3 && !memcmp(head->bytes, mark, 3) ? 3 : 0;
    while (i < head->length && isspace(head->bytes[i]))
        i++;
    const bool is_wide = i + 1 < head->length && !head->bytes[i + 1]; /* UTF-16 */
    return i < head->length && !is_wide && (head->bytes[i] == '{' || head->bytes[i] == '[');
}

/* --- one event */

/* A figure that does not fit is a damaged one: 0, not known. */
static uint32_t small_number(int64_t value)
{
    return value >= 0 && value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* The builder's name for a text, or HAUL_NONE for none. */
static uint32_t name_of(hl_trace_kineto_reader *self, hl_base_json_text text)
{
    if (!text.length)
        return HAUL_NONE;
    hl_trace_kineto_name *const name =
        &self->names[hl_base_hash(text.bytes, text.length) % HL_TRACE_KINETO_NAMES];
    if (name->length == text.length && !memcmp(name->text, text.bytes, text.length))
        return name->number;
    const uint32_t number = hl_trace_text(self->builder, text.bytes, text.length);
    if (!self->builder->built.failed && !memchr(text.bytes, 0, text.length))
        *name =
            (hl_trace_kineto_name){hl_trace_text_of(self->builder, number), text.length, number};
    return number;
}

/* Correlation ids join within a trace; 0 and below are none. */
static uint64_t key_of(const hl_trace_kineto_reader *self)
{
    const int64_t id = hl_trace_kineto_number(self, HL_TRACE_KINETO_CORRELATION);
    return id > 0 ? (uint64_t)id : 0;
}

/* The number of a string of the event, HAUL_NONE where it has none. */
static uint32_t string_of(hl_trace_kineto_reader *self, hl_trace_kineto_word word)
{
    const hl_base_json_text text = hl_trace_kineto_text(&self->event, word);
    return text.length ? hl_workload_builder_string(&self->builder->built, text.bytes, text.length)
                       : HAUL_NONE;
}

/* Lists by call key are sorted once, when all events are known. */
static void add_size(hl_trace_kineto_reader *self, hl_trace_kineto_sizes *list, uint64_t value)
{
    if (hl_workload_builder_grow(&self->builder->built, &list->items, &list->capacity,
                                 list->count + 1, sizeof *list->items))
        list->items[list->count++] = (hl_trace_kineto_size){key_of(self), value};
}

static void fill_kernel(hl_trace_kineto_reader *self, haul_op *op)
{
    const hl_trace_kineto_event *event = &self->event;
    hl_workload_builder *const built = &self->builder->built;
    haul_shape shape = {
        .registers_per_thread =
            small_number(hl_trace_kineto_number(self, HL_TRACE_KINETO_REGISTERS)),
        .shared_bytes = small_number(hl_trace_kineto_number(self, HL_TRACE_KINETO_SHARED)),
    };
    for (int i = 0; i < 3; i++) {
        shape.grid[i] = small_number(event->grid[i]);
        shape.block[i] = small_number(event->block[i]);
    }
    if (hl_trace_kineto_text(event, HL_TRACE_KINETO_COLLECTIVE).length) {
        const haul_collective collective = {
            .name = string_of(self, HL_TRACE_KINETO_COLLECTIVE),
            .data_type = string_of(self, HL_TRACE_KINETO_DATA_TYPE),
            .group = string_of(self, HL_TRACE_KINETO_GROUP),
            .group_size = small_number(hl_trace_kineto_number(self, HL_TRACE_KINETO_GROUP_SIZE)),
            .elements_in = (uint64_t)hl_trace_kineto_number(self, HL_TRACE_KINETO_IN_ELEMENTS),
            .elements_out = (uint64_t)hl_trace_kineto_number(self, HL_TRACE_KINETO_OUT_ELEMENTS),
        };
        shape.collective = hl_workload_builder_collective(built, &collective);
    }
    if (event->has_operands) {
        const haul_operands operands = {(uint64_t)event->operands[0], (uint64_t)event->operands[1],
                                        (uint64_t)event->operands[2], (uint64_t)event->operands[3],
                                        (uint64_t)event->operands[4], (uint64_t)event->operands[5]};
        shape.operands = hl_workload_builder_operands(built, &operands);
    }
    if (!self->has_kernels || memcmp(&shape, &self->shape, sizeof shape) != 0)
        self->shape_number = hl_workload_builder_shape(built, &shape);
    self->shape = shape;
    op->shape = self->shape_number;
    op->name = name_of(self, hl_trace_kineto_text(event, HL_TRACE_KINETO_NAME));
    self->has_kernels = true;
}

/* The number of a copy's bytes, which roctracer's older traces leave to its call. */
static void fill_bytes(hl_trace_kineto_reader *self, haul_op *op)
{
    if (hl_trace_kineto_has(&self->event, HL_TRACE_KINETO_BYTES)) {
        op->bytes = (uint64_t)hl_trace_kineto_number(self, HL_TRACE_KINETO_BYTES);
        return;
    }
    op->flags |= HAUL_OP_NO_BYTES;
    add_size(self, &self->copies, self->builder->built.op_count);
}

/* Newer traces name the stream in the arguments, -1 where none is known; in those of the first
 * years it is the event's tid. */
static void add_op(hl_trace_kineto_reader *self, haul_op_kind kind)
{
    const int64_t stream =
        hl_trace_kineto_either(self, HL_TRACE_KINETO_STREAM, HL_TRACE_KINETO_TID);
    haul_op op = {
        .start_ns = hl_trace_kineto_number(self, HL_TRACE_KINETO_START),
        .dur_ns = hl_trace_kineto_number(self, HL_TRACE_KINETO_DUR),
        .kind = (uint8_t)kind,
        .name = HAUL_NONE,
        .thread = HAUL_NONE,
        .stream = stream == -1 ? HAUL_NONE : hl_trace_kineto_stream(self, stream),
    };
    if (kind == HAUL_OP_KERNEL)
        fill_kernel(self, &op);
    else
        fill_bytes(self, &op);
    if (kind == HAUL_OP_COPY) {
        /* There is no column for direction and memory: "Memcpy HtoD (Pinned -> Device)" names both.
         */
        const hl_base_json_text name = hl_trace_kineto_text(&self->event, HL_TRACE_KINETO_NAME);
        haul_direction direction;
        haul_memory memory;
        hl_trace_copy_name_read(name.bytes, name.length, &direction, &memory);
        op.direction = (uint8_t)direction;
        op.detail = (uint8_t)memory;
        self->has_copies = true;
    }
    self->keyless |= !key_of(self);
    hl_trace_op(self->builder, &op, key_of(self));
}

/* A call waits here until all events are read, since what it issued may come after it or before. */
static void keep_call(hl_trace_kineto_reader *self)
{
    const hl_trace_host_call call = {
        .start_ns = hl_trace_kineto_number(self, HL_TRACE_KINETO_START),
        .dur_ns = hl_trace_kineto_number(self, HL_TRACE_KINETO_DUR),
        .key = key_of(self),
        .name = name_of(self, hl_trace_kineto_text(&self->event, HL_TRACE_KINETO_NAME)),
        .thread = hl_trace_kineto_thread(self),
    };
    hl_trace_kineto_keep_call(self, &call);
    hl_trace_kineto_keep_stack(self);
    if (hl_trace_kineto_text(&self->event, HL_TRACE_KINETO_CALLED_BY).length)
        hl_trace_kineto_keep_call_operator(
            self, name_of(self, hl_trace_kineto_text(&self->event, HL_TRACE_KINETO_CALLED_BY)));
    if (hl_base_json_is(hl_trace_kineto_text(&self->event, HL_TRACE_KINETO_NAME),
                        "hipExtModuleLaunchKernel"))
        add_size(self, &self->item_calls, 0);
    if (hl_trace_kineto_number(self, HL_TRACE_KINETO_BYTES) && key_of(self))
        add_size(self, &self->call_bytes,
                 (uint64_t)hl_trace_kineto_number(self, HL_TRACE_KINETO_BYTES));
}

/* Times are needed; all else has a default. */
static void take_event(hl_trace_kineto_reader *self)
{
    const hl_trace_kineto_event *event = &self->event;
    if (event->is_lost && !self->flows)
        hl_trace_repaired(self->builder, 1,
                          "events whose phase, category or name comes twice, the one that counts "
                          "behind other members, left out");
    if (self->flows && event->category == HL_TRACE_KINETO_FLOW && event->phase) {
        if (hl_workload_builder_grow(&self->builder->built, &self->ends, &self->end_capacity,
                                     self->end_count + 1, sizeof *self->ends))
            self->ends[self->end_count++] = (hl_trace_kineto_flow){
                hl_trace_kineto_number(self, HL_TRACE_KINETO_ID),
                hl_trace_kineto_number(self, HL_TRACE_KINETO_START),
                hl_trace_kineto_number(self, HL_TRACE_KINETO_TID), event->phase};
        return;
    }
    if (!self->flows && event->category == HL_TRACE_KINETO_LINK && event->phase) {
        hl_trace_kineto_keep_link(self);
        return;
    }
    if (self->flows || event->phase != 'X' || event->category == HL_TRACE_KINETO_OTHER ||
        event->category == HL_TRACE_KINETO_FLOW || event->category == HL_TRACE_KINETO_LINK)
        return;
    if (!hl_trace_kineto_has(event, HL_TRACE_KINETO_START) ||
        !hl_trace_kineto_has(event, HL_TRACE_KINETO_DUR)) {
        hl_trace_repaired(self->builder, 1, "events without a start or a duration, left out");
    } else if (event->category <= HL_TRACE_KINETO_KERNEL) {
        add_op(self, (haul_op_kind)(event->category - HL_TRACE_KINETO_COPY));
    } else if (event->category == HL_TRACE_KINETO_CALL) {
        keep_call(self);
    } else if (event->category == HL_TRACE_KINETO_SYNC) {
        hl_trace_kineto_wait(self);
    } else if (event->category == HL_TRACE_KINETO_OPERATOR) {
        hl_trace_kineto_keep_operator(
            self, name_of(self, hl_trace_kineto_text(event, HL_TRACE_KINETO_NAME)));
        hl_trace_kineto_keep_stack(self);
    } else if (event->category == HL_TRACE_KINETO_FRAME) {
        hl_trace_kineto_keep_frame(self);
    } else {
        const haul_named_range range = {
            .start_ns = hl_trace_kineto_number(self, HL_TRACE_KINETO_START),
            .dur_ns = hl_trace_kineto_number(self, HL_TRACE_KINETO_DUR),
            .name = name_of(self, hl_trace_kineto_text(event, HL_TRACE_KINETO_NAME)),
            .thread = hl_trace_kineto_thread(self),
        };
        hl_trace_range(self->builder, &range);
        hl_trace_kineto_keep_collective(self, range.thread);
    }
}

/* --- the document */

/* A document that is an array holds the events themselves, as Chrome's format allows. */
static void read_events(hl_trace_kineto_reader *self)
{
    self->has_events = true;
    (void)hl_base_json_in_array(&self->in);
    while (hl_base_json_in_item(&self->in) && !self->builder->built.failed) {
        hl_trace_kineto_event_read(&self->event, &self->keys, &self->in, self->flows);
        take_event(self);
    }
}

/* A number that is not negative, else 0. */
static uint64_t read_count(hl_base_json_in *in)
{
    int64_t value;
    return hl_base_json_in_scaled(in, 0, &value) && value > 0 ? (uint64_t)value : 0;
}

/* One of deviceProperties. The last five figures are written by 'haul convert' alone. */
static void read_device(hl_trace_kineto_reader *self)
{
    enum { ID, MEMORY, SMS, MAJOR, MINOR, BANDWIDTH, CLOCK, L2, ENGINES, RANK, FIGURES };
    static const char *const keys[FIGURES] = {"id",           "totalGlobalMem", "numSms",
                                              "computeMajor", "computeMinor",   "memoryBandwidth",
                                              "clockRate",    "l2CacheSize",    "asyncEngines",
                                              "haul rank"};
    hl_workload_builder *const built = &self->builder->built;
    hl_base_json_in *const in = &self->in;
    uint64_t figures[FIGURES] = {[RANK] = UINT64_MAX};
    const char *name = NULL, *host = NULL;
    hl_base_json_text text;
    (void)hl_base_json_in_object(in);
    for (hl_base_json_text key; hl_base_json_in_key(in, &key);) {
        int i = 0;
        while (i < FIGURES && !hl_base_json_is(key, keys[i]))
            i++;
        const bool is_name = hl_base_json_is(key, "name");
        if (i < FIGURES)
            figures[i] = read_count(in);
        else if (!is_name && !hl_base_json_is(key, "haul host"))
            hl_base_json_in_skip(in);
        else if (hl_base_json_in_scalar(in, &text) == HL_JSON_STRING)
            *(is_name ? &name : &host) = hl_base_arena_text(&built->arena, text.bytes, text.length);
    }
    if (hl_workload_builder_grow(built, &self->devices, &self->device_capacity,
                                 self->device_count + 1, sizeof *self->devices))
        self->devices[self->device_count++] =
            (haul_workload_device){.id = figures[ID],
                                   .name = name,
                                   .memory_bandwidth_Bps = (double)figures[BANDWIDTH],
                                   .clock_Hz = (double)figures[CLOCK],
                                   .memory_bytes = figures[MEMORY],
                                   .l2_bytes = figures[L2],
                                   .multiprocessors = (uint32_t)figures[SMS],
                                   .copy_engines = (uint32_t)figures[ENGINES],
                                   .compute_major = (uint32_t)figures[MAJOR],
                                   .compute_minor = (uint32_t)figures[MINOR],
                                   .rank = figures[RANK] <= INT64_MAX ? (int64_t)figures[RANK] : -1,
                                   .host = host && *host ? host : NULL};
}

/* A loss or another note with how often it was met, as 'haul convert' writes it. */
static void read_note(hl_trace_kineto_reader *self, bool is_loss)
{
    hl_base_json_in *const in = &self->in;
    hl_base_json_text text;
    const char *note = "", *kind = "";
    uint64_t count = 0;
    if (!hl_base_json_in_enter(in, HL_JSON_OBJECT))
        return;
    for (hl_base_json_text key; hl_base_json_in_key(in, &key);) {
        const bool is_kind = hl_base_json_is(key, "kind");
        if (hl_base_json_is(key, "count"))
            count = read_count(in);
        else if (!is_kind && !hl_base_json_is(key, "text"))
            hl_base_json_in_skip(in);
        else if (hl_base_json_in_scalar(in, &text) == HL_JSON_STRING)
            *(is_kind ? &kind : &note) =
                hl_base_arena_text(&self->builder->built.arena, text.bytes, text.length);
    }
    if (is_loss && note && *note)
        hl_trace_lost_line(self->builder, count, note);
    if (!is_loss && kind && note)
        hl_trace_own_note(self->builder, kind, count, note);
}

/* Members may come in any order, deviceProperties behind the events too. */
static void read_member(hl_trace_kineto_reader *self, hl_base_json_text key)
{
    hl_base_json_in *const in = &self->in;
    hl_base_json_text text;
    if (self->flows && !hl_base_json_is(key, "traceEvents")) { /* all else is known */
        hl_base_json_in_skip(in);
        return;
    }
    if (hl_base_json_is(key, "traceEvents"))
        read_events(self);
    else if (hl_base_json_is(key, "deviceProperties"))
        for (bool is = hl_base_json_in_enter(in, HL_JSON_ARRAY); is && hl_base_json_in_item(in);)
            read_device(self);
    else if (hl_base_json_is(key, "distributedInfo"))
        for (bool is = hl_base_json_in_enter(in, HL_JSON_OBJECT);
             is && hl_base_json_in_key(in, &key);)
            if (hl_base_json_is(key, "rank"))
                self->builder->built.rank = (int64_t)read_count(in);
            else if (hl_base_json_is(key, "world_size"))
                self->world_size = small_number((int64_t)read_count(in));
            else
                hl_base_json_in_skip(in);
    else if (hl_base_json_is(key, "baseTimeNanoseconds"))
        self->builder->built.epoch_ns = (int64_t)read_count(in);
    else if (hl_base_json_is(key, "haul losses"))
        for (bool is = hl_base_json_in_enter(in, HL_JSON_ARRAY); is && hl_base_json_in_item(in);)
            read_note(self, true);
    else if (hl_base_json_is(key, "haul notes"))
        for (bool is = hl_base_json_in_enter(in, HL_JSON_ARRAY); is && hl_base_json_in_item(in);)
            read_note(self, false);
    else if (hl_base_json_is(key, "haul convert"))
        self->is_own = read_count(in) > 0;
    else if (hl_base_json_is(key, "schemaVersion")) {
        if (hl_base_json_in_scalar(in, &text) == HL_JSON_NUMBER)
            (void)snprintf(self->version, sizeof self->version, "%.*s", (int)text.length,
                           text.bytes);
    } else
        hl_base_json_in_skip(in);
}

/* A file that ends within the document is an error, not a shorter trace: the profiler writes
 * devices and events in one go. */
static haul_status read_document(hl_trace_kineto_reader *self, haul_error *error)
{
    hl_base_json_in *const in = &self->in;
    if (hl_base_json_in_kind(in) == HL_JSON_ARRAY)
        read_events(self);
    else if (hl_base_json_in_object(in))
        for (hl_base_json_text key; hl_base_json_in_key(in, &key) && !self->builder->built.failed;)
            read_member(self, key);
    if (self->builder->built.failed)
        return hl_base_fail_no_memory(error);
    const haul_status status = hl_base_json_in_end(in, error);
    if (status || self->has_events)
        return status;
    return haul_error_set(error, HAUL_STATUS_BAD_INPUT,
                          "a JSON file without traceEvents, no profile");
}

/* --- the end */

static int compare_sizes(const void *a, const void *b)
{
    const hl_trace_kineto_size *x = a, *y = b;
    return hl_base_compare_unsigned(x->key, y->key);
}

/* Gives copies the bytes that their calls name. */
static void take_bytes_of_calls(hl_trace_kineto_reader *self)
{
    const hl_trace_kineto_sizes *const copies = &self->copies, *const calls = &self->call_bytes;
    uint64_t unknown = copies->count;
    if (!copies->count)
        return;
    qsort(copies->items, copies->count, sizeof *copies->items, compare_sizes);
    for (size_t i = 0; i < calls->count; i++) {
        const hl_trace_kineto_size *found = bsearch(&calls->items[i], copies->items, copies->count,
                                                    sizeof *copies->items, compare_sizes);
        if (!found || !(self->builder->built.ops[found->value].flags & HAUL_OP_NO_BYTES))
            continue;
        hl_trace_op_bytes(self->builder, found->value, calls->items[i].value);
        unknown--;
    }
    if (unknown)
        hl_trace_missing(self->builder, unknown, HL_TRACE_NO_BYTES);
}

/* Kernels of Tensile and MIOpen are started by hipExtModuleLaunchKernel, whose arguments, which
 * roctracer writes down, count work items where other calls count blocks (HIP API reference). */
static void count_blocks(hl_trace_kineto_reader *self)
{
    const hl_trace_kineto_sizes *const calls = &self->item_calls;
    hl_workload_builder *const built = &self->builder->built;
    if (calls->count)
        qsort(calls->items, calls->count, sizeof *calls->items, compare_sizes);
    for (size_t i = 0; i < calls->count && !built->failed; i++) {
        const uint64_t key = calls->items[i].key;
        const bool again = i && calls->items[i - 1].key == key; /* a call that is written twice */
        const uint32_t number = again ? HAUL_NONE : hl_trace_find_op(self->builder, key);
        haul_op *const op = number == HAUL_NONE ? NULL : &built->ops[number];
        if (!op || op->kind != HAUL_OP_KERNEL || op->shape == HAUL_NONE)
            continue;
        haul_shape shape = ((const haul_shape *)built->shapes.items)[op->shape];
        bool is_whole = true;
        for (int j = 0; j < 3; j++)
            if (!shape.block[j] || shape.grid[j] % shape.block[j] != 0) {
                is_whole = false;
                break;
            }
        if (!is_whole)
            continue;
        for (int k = 0; k < 3; k++)
            shape.grid[k] /= shape.block[k];
        const uint32_t blocks = hl_workload_builder_shape(built, &shape);
        if (blocks != HAUL_NONE)
            op->shape = blocks;
    }
}

/* The last of those that were kept of one start, as of operations: see hl_trace_drop_repeats. */
typedef struct kept_calls {
    hl_trace_host_call calls[64];
    size_t count;
} kept_calls;

static bool is_repeat(kept_calls *kept, const hl_trace_host_call *call)
{
    enum { MOST = sizeof kept->calls / sizeof *kept->calls };
    if (kept->count && kept->calls[0].start_ns != call->start_ns)
        kept->count = 0;
    for (size_t i = 0; i < kept->count && i < MOST; i++)
        if (!memcmp(&kept->calls[i], call, sizeof *call))
            return true;
    kept->calls[kept->count++ % MOST] = *call;
    return false;
}

/* A trace without copies or kernels is read all the same: the report says why it is empty. */
static void say_missing(const hl_trace_kineto_reader *self)
{
    if (!self->has_copies)
        hl_trace_missing(self->builder, 0, "copies");
    if (!self->has_kernels)
        hl_trace_missing(self->builder, 0, "kernels");
    if (!self->call_count)
        hl_trace_missing(self->builder, 0, "API calls");
    else if (!self->has_waits && !self->is_own)
        hl_trace_missing(self->builder, 0,
                         "events of synchronisation: a wait for a stream is taken as one for "
                         "the stream that its thread used last");
}

/* Properties go with a device by its id. Where GPUs were hidden from the program (as by
 * HIP_VISIBLE_DEVICES) the runtime counts from 0 and ROCm's records may not: one GPU that is named
 * and one that works are the same. */
static void name_devices(hl_trace_kineto_reader *self)
{
    hl_workload_builder *const built = &self->builder->built;
    bool found = false;
    for (size_t i = 0; i < built->device_count; i++)
        for (size_t k = 0; k < self->device_count; k++)
            if (self->devices[k].id == built->devices[i].id) {
                built->devices[i] = self->devices[k];
                found = true;
            }
    if (found || self->is_own || built->device_count != 1 || self->device_count != 1)
        return;
    self->devices[0].id = built->devices[0].id;
    built->devices[0] = self->devices[0];
    hl_trace_repaired(self->builder, 1, "GPU named by another id than its operations have");
}

/* Calls go to the builder last, in order of start, since events come in any order. */
static void finish_calls(hl_trace_kineto_reader *self)
{
    hl_workload_builder *const built = &self->builder->built;
    kept_calls kept = {.count = 0};
    uint64_t repeated = 0;
    hl_trace_kineto_sort_calls(self);
    if (built->failed)
        return;
    if (self->end_count)
        hl_trace_kineto_join_flows(self);
    take_bytes_of_calls(self);
    if (!self->is_own) {
        hl_trace_drop_repeats(self->builder);
        hl_trace_note_overlaps(self->builder);
    }
    count_blocks(self);
    hl_trace_kineto_join_operators(self);
    if (!self->has_waits && !self->is_own)
        hl_trace_kineto_infer_waits(self);
    hl_trace_kineto_join_collectives(self);
    for (size_t i = 0; i < self->call_count && !built->failed; i++) {
        const hl_trace_host_call call = hl_trace_kineto_call_at(self, i);
        if (!self->is_own && is_repeat(&kept, &call))
            repeated++;
        else
            hl_trace_call(self->builder, &call);
    }
    free(self->calls); /* as many bytes as the join needs */
    self->calls = NULL;
    hl_trace_call_operators_join(&self->scopes, built);
    hl_trace_kineto_name_lines(self);
    if (repeated)
        hl_trace_repaired(self->builder, repeated, "calls written twice, counted once");
    name_devices(self);
    say_missing(self);
}

/* Reads the file from its beginning to its end. */
static haul_status read_file(hl_trace_kineto_reader *self, const char *path, haul_error *error)
{
    hl_base_byte_source *source;
    HAUL_TRY(hl_base_byte_source_open(path, &source, error));
    haul_status status =
        hl_base_json_in_open(&self->in, path, hl_base_byte_source_read, source, error);
    if (!status)
        status = read_document(self, error);
    hl_base_json_in_close(&self->in);
    hl_base_byte_source_close(source);
    return status;
}

/* Flows are a third of a trace's events and needed in few traces, in which ROCm's profiler left out
 * correlation ids (pytorch issue 130560): only those are read twice. */
static haul_status read_kineto(const char *path, hl_trace_builder *builder,
                               hl_trace_version *version, haul_error *error)
{
    hl_trace_kineto_reader self = {.builder = builder,
                                   .callers.size = sizeof(hl_trace_kineto_caller),
                                   .frame_threads.size = sizeof(haul_workload_thread),
                                   .lines = HL_TRACE_SOURCE_LINES};
    hl_trace_kineto_keys_init(&self.keys);
    haul_status status = read_file(&self, path, error);
    if (!status && self.keyless && self.call_count) {
        self.flows = true;
        status = read_file(&self, path, error);
    }
    if (!status)
        finish_calls(&self);
    (void)snprintf(version->text, sizeof version->text, "%s", self.version);
    hl_trace_kineto_event_release(&self.event);
    free(self.calls);
    free(self.wide_calls);
    hl_base_records_release(&self.callers);
    free(self.call_bytes.items);
    free(self.copies.items);
    free(self.item_calls.items);
    free(self.operators);
    hl_workload_spans_release(&self.scopes);
    free(self.frames);
    free(self.frame_lines);
    hl_base_records_release(&self.frame_threads);
    hl_trace_source_lines_release(&self.lines);
    free(self.links);
    free(self.ends);
    free(self.collectives);
    free(self.devices);
    return status;
}

const hl_trace_format hl_trace_kineto = {
    .name = "kineto", .sniff_text = sniff_kineto, .read_text = read_kineto};
