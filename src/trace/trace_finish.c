/* From the rows of a profile to its workload: names, clocks, links and edges. */
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "trace/trace_builder.h"

/* The name of a range without the numbers that PyTorch's emit_nvtx gives each call of an operator,
 * and its sizes behind them, as in "aten::add, seq = 3, op_id = 7": calls of one operator count
 * together (torch/csrc/profiler/util.cpp, getNvtxStr). */
static uint32_t without_call_numbers(hl_trace_builder *self, uint32_t string)
{
    static const char *const keys[] = {", seq = ", ", op_id = "};
    const char *text = string == HAUL_NONE ? "" : self->built.strings.texts[string];
    size_t length = strlen(text);
    const size_t whole = length;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const char *found = strstr(text, keys[k]);
        const char *number = found ? found + strlen(keys[k]) : "";
        if (*number >= '0' && *number <= '9' && (size_t)(found - text) < length)
            length = (size_t)(found - text);
    }
    return length == whole ? string : hl_workload_builder_string(&self->built, text, length);
}

/* From numbers of names to strings: a name without a text is none. */
static void resolve_names(hl_trace_builder *self)
{
    uint64_t nameless = 0;
    for (size_t i = 0; i < self->names.count; i++)
        nameless += self->name_texts[i] == HAUL_NONE;
    if (nameless)
        hl_trace_missing(self, nameless, "names that no string table gives");
    for (size_t i = 0; i < self->built.op_count; i++)
        self->built.ops[i].name = hl_trace_string_of(self, self->built.ops[i].name);
    uint32_t *const operators = self->built.origins[HL_WORKLOAD_OPERATOR];
    for (size_t i = 0; operators && i < self->built.op_count; i++)
        operators[i] = hl_trace_string_of(self, operators[i]);
    for (size_t i = 0; i < self->built.range_count; i++)
        self->built.ranges[i].name =
            without_call_numbers(self, hl_trace_string_of(self, self->built.ranges[i].name));
    hl_base_records_release(&self->names);
}

/* nvprof and the driver's own tables have kernels by their mangled names. */
static void demangle_names(hl_trace_builder *self)
{
    hl_base_strings *strings = &self->built.strings;
    hl_base_demangle(strings->texts, strings->count, &strings->arena);
    self->built.failed |= strings->arena.failed;
}

/* A converted profile lacks what its source lacked, and has what was mended there: what the reader
 * found itself is the same again, but for damage since. */
static void take_own_notes(hl_trace_builder *self)
{
    hl_workload_builder *const built = &self->built;
    if (!self->has_own_notes)
        return;
    for (size_t i = 0; i < built->repairs.count; i++) {
        bool known = false;
        for (size_t k = 0; k < self->own_repairs.count && !known; k++)
            known = !strcmp(built->repairs.items[i].text, self->own_repairs.items[k].text);
        if (!known)
            hl_workload_note_add(built, &self->own_repairs, built->repairs.items[i].count,
                                 built->repairs.items[i].text);
    }
    free(built->repairs.items);
    free(built->missing.items);
    built->repairs = self->own_repairs;
    built->missing = self->own_missing;
    self->own_repairs = self->own_missing = (hl_workload_note_list){0};
}

/* A converted file says itself which streams are default ones, whatever their ids: Kineto's traces
 * do not tell, and in Nsight Systems' tables stream 7 is one. Streams are not looked up any more.
 */
static void take_own_defaults(hl_trace_builder *self)
{
    haul_workload_stream *const streams = self->built.streams.items;
    for (size_t i = 0; self->has_own_defaults && i < self->built.streams.count; i++) {
        haul_workload_stream *const stream = &streams[i];
        const hl_trace_stream_key key = {
            stream->device == HAUL_NONE ? -1 : (int64_t)self->built.devices[stream->device].id,
            (int64_t)stream->context, (int64_t)stream->id};
        stream->is_default = hl_base_records_find(&self->own_defaults, &key) != UINT32_MAX;
    }
}

/* Devices come in the order in which a file's tables name them: the order of their ids is that of
 * every file. Last, since tables of streams are looked up until then. */
static void order_devices(hl_trace_builder *self)
{
    hl_workload_builder *const built = &self->built;
    haul_workload_stream *const streams = built->streams.items;
    for (size_t i = 1; i < built->device_count; i++)
        for (size_t k = i; k && built->devices[k - 1].id > built->devices[k].id; k--) {
            const haul_workload_device moved = built->devices[k];
            built->devices[k] = built->devices[k - 1];
            built->devices[k - 1] = moved;
            for (size_t s = 0; s < built->streams.count; s++)
                if (streams[s].device == k || streams[s].device == k - 1)
                    streams[s].device = (uint32_t)(streams[s].device == k ? k - 1 : k);
        }
}

/* The steps need each other in this order: streams before links, links before edges. */
haul_status hl_trace_finish(hl_trace_builder *self, const char *source, const char *format,
                            haul_workload **workload, haul_error *error)
{
    static void (*const steps[])(hl_trace_builder *) = {resolve_names,
                                                        demangle_names,
                                                        hl_trace_wait_streams_join,
                                                        hl_trace_device_clocks_set,
                                                        hl_trace_prefetches_join,
                                                        take_own_defaults,
                                                        hl_trace_links_make,
                                                        hl_trace_wait_edges_make,
                                                        hl_trace_implied_waits_make,
                                                        order_devices,
                                                        take_own_notes};
    for (size_t i = 0; !self->built.failed && i < sizeof steps / sizeof *steps; i++)
        steps[i](self);
    free(self->scratch);
    self->scratch = NULL;
    haul_workload *made = NULL;
    const haul_status status =
        hl_workload_builder_hand_over(&self->built, source, format, &made, error);
    if (!status) {
        made->counts.calls = self->calls;
        *workload = made;
    }
    hl_trace_release(self);
    return status;
}
