/* rocpd of schema version 3: rocprofv3 --output-format rocpd. A process has a set of tables whose
 * names end with its id, "rocpd_string_0000ddb5_..."; a file may hold several sets. The views over
 * them are not looked at.
 *
 * An operation and the call that issued it name events with one stack id. The file does not say
 * what memory of the host a copy used. Where its address lies in an allocation that ROCr made on an
 * agent of type CPU and that lived then, it is pinned: such memory always is. Elsewhere it is not
 * known. */
#include "trace/rocpd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/json_in.h"
#include "trace/copy_name.h"
#include "trace/host_memory.h"
#include "trace/id_map.h"
#include "trace/trace_format.h"

enum { SYMBOLS = 1 << 19 }; /* spaces of names of kernels begin there */

/* The meaning of a string: the direction of a copy, a category of events. */
enum { WORD_DIRECTION, WORD_MEMORY, WORD_CATEGORY };
enum { CATEGORY_OTHER, CATEGORY_MARKER, CATEGORY_HSA, CATEGORY_SAMPLE };
enum { AGENT_IS_GPU, AGENT_INDEX };
enum { EVENT_STACK, EVENT_CATEGORY };

/* One set of tables being read. */
typedef struct reader {
    hl_trace_builder *builder;
    const char *suffix; /* of the names of the set's tables */
    uint64_t set;       /* its number */
    hl_trace_id_map words;
    hl_trace_id_map agents;
    hl_trace_id_map processes;
    hl_trace_id_map threads;
    hl_trace_id_map events;
    hl_trace_host_memory memory;
} reader;

static const char first_table[] = "rocpd_string";

/* The end of the name of a set's table of strings, or NULL. */
static const char *suffix_of(const char *table)
{
    const size_t length = sizeof first_table - 1;
    return !strncmp(table, first_table, length) ? table + length : NULL;
}

/* A table of strings with any suffix; files of version 2 are tried before, which have rocpd_op. */
static bool sniff_rocpd(hl_trace_source *source)
{
    for (size_t i = 0; i < source->tables.count; i++)
        if (suffix_of(source->tables.texts[i]))
            return true;
    return false;
}

uint32_t hl_trace_rocpd_shape(hl_workload_builder *built, const int64_t *block, const int64_t *grid,
                              int64_t shared_bytes)
{
    haul_shape shape = {.shared_bytes = hl_trace_rocpd_count(shared_bytes)};
    for (int i = 0; i < 3; i++) {
        const uint32_t size = hl_trace_rocpd_count(block[i]), items = hl_trace_rocpd_count(grid[i]);
        shape.block[i] = size;
        shape.grid[i] = size ? items / size + (items % size > 0) : items;
    }
    return hl_workload_builder_shape(built, &shape);
}

hl_trace_rocpd_word hl_trace_rocpd_word_read(const hl_trace_rows *rows)
{
    hl_trace_rocpd_word word = {.id = hl_trace_rows_int(rows, 0),
                                .direction = HAUL_DIRECTION_UNKNOWN};
    word.text = hl_trace_rows_text(rows, 1, &word.length);
    if (word.text)
        hl_trace_copy_name_read(word.text, word.length, &word.direction, &word.memory);
    return word;
}

/* --- what operations refer to */

/* rocprofv3 names its domains in capitals; the names of the ROCm Systems Profiler are those of
 * rocprofiler-systems, core/categories.hpp: its functions of the host, instrumented or of a library
 * that is none of ROCm's, are ranges. */
static int category_of(const hl_trace_rocpd_word *word)
{
    static const struct {
        const char *text;
        bool is_prefix;
        int category;
    } known[] = {{"MARKER", true, CATEGORY_MARKER},
                 {"rocm_marker_api", false, CATEGORY_MARKER},
                 {"user", false, CATEGORY_MARKER},
                 {"host", false, CATEGORY_MARKER},
                 {"python", false, CATEGORY_MARKER},
                 {"mpi", false, CATEGORY_MARKER},
                 {"pthread", false, CATEGORY_MARKER},
                 {"kokkos", false, CATEGORY_MARKER},
                 {"ompt", false, CATEGORY_MARKER},
                 {"HSA_", true, CATEGORY_HSA},
                 {"rocm_hsa_api", false, CATEGORY_HSA},
                 {"timer_sampling", false, CATEGORY_SAMPLE},
                 {"cputime_sampling", false, CATEGORY_SAMPLE},
                 {"overflow_sampling", false, CATEGORY_SAMPLE}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const size_t length = strlen(known[i].text);
        if ((known[i].is_prefix ? word->length > length : word->length == length) &&
            !memcmp(word->text, known[i].text, length))
            return known[i].category;
    }
    return CATEGORY_OTHER;
}

/* Strings are read twice: here for the few that say what rows mean, at the end for names. */
static void take_word(void *reader_, const hl_trace_rows *rows)
{
    reader *const self = reader_;
    const hl_trace_rocpd_word word = hl_trace_rocpd_word_read(rows);
    if (!word.text)
        return;
    const int category = category_of(&word);
    if (word.direction != HAUL_DIRECTION_UNKNOWN || category != CATEGORY_OTHER)
        hl_trace_id_map_add(&self->words, &self->builder->built,
                            &(hl_trace_id_row){word.id, {word.direction, word.memory, category}});
}

/* An id with up to two numbers beside it. */
static void take_pair(reader *self, hl_trace_id_map *map, const hl_trace_rows *rows)
{
    hl_trace_id_map_add(
        map, &self->builder->built,
        &(hl_trace_id_row){hl_trace_rows_int(rows, 0),
                           {hl_trace_rows_int(rows, 1), hl_trace_rows_int(rows, 2)}});
}

static void take_process(void *self, const hl_trace_rows *rows)
{
    take_pair(self, &((reader *)self)->processes, rows);
}

static void take_thread(void *self, const hl_trace_rows *rows)
{
    take_pair(self, &((reader *)self)->threads, rows);
}

static void take_event(void *self, const hl_trace_rows *rows)
{
    take_pair(self, &((reader *)self)->events, rows);
}

/* An empty stack is the schema's default; the ROCm Systems Profiler writes one frame of a sample to
 * each of its regions (rocprofiler-systems, sampling/policies/stack_frame_json.hpp), none of a
 * call. */
static void take_stack(void *self, const hl_trace_rows *rows)
{
    size_t length;
    const char *const stack = hl_trace_rows_text(rows, 0, &length);
    if (stack && length && strcmp(stack, "{}") != 0 && strcmp(stack, "[]") != 0 &&
        strcmp(stack, "null") != 0)
        hl_trace_missing(((reader *)self)->builder, 1,
                         "call stacks of rocpd, which haul does not read");
}

static void take_agent(void *reader_, const hl_trace_rows *rows)
{
    reader *const self = reader_;
    size_t length;
    const char *type = hl_trace_rows_text(rows, 1, &length);
    const int64_t id = hl_trace_rows_int(rows, 0);
    hl_trace_id_map_add(
        &self->agents, &self->builder->built,
        &(hl_trace_id_row){id, {type && !strcmp(type, "GPU"), hl_trace_rows_int_or(rows, 2, id)}});
}

/* Only memory on the agents of type CPU says something about copies: it is pinned. */
static void take_allocation(void *reader_, const hl_trace_rows *rows)
{
    reader *const self = reader_;
    size_t length;
    const char *type = hl_trace_rows_text(rows, 0, &length);
    const hl_trace_id_row *const agent =
        hl_trace_id_map_find(&self->agents, hl_trace_rows_int(rows, 1));
    const bool is_free = type && !strcmp(type, "FREE"); /* which names no agent */
    const bool on_host = agent && !agent->values[AGENT_IS_GPU];
    const hl_trace_allocation allocation = {.address = (uint64_t)hl_trace_rows_int(rows, 2),
                                            .bytes =
                                                is_free ? 0 : (uint64_t)hl_trace_rows_int(rows, 3),
                                            .time_ns = hl_trace_rows_int(rows, 4)};
    if (is_free || on_host)
        hl_trace_host_memory_add(&self->memory, &self->builder->built, &allocation);
}

/* --- operations */

/* The columns that copies and kernels share. */
enum { START, END, EVENT, STREAM, QUEUE, NAME, OWN };
#define SHARED_COLUMNS "start", "end", "event_id", "stream_id", "queue_id"

/* A key that distinguishes an agent, or a stack id, from those of other sets. */
static uint64_t key_in_set(const reader *self, int64_t id)
{
    return hl_trace_rocpd_name_key(self->set, id);
}

/* The key of the call that issued what an event stands for, 0 where it is not known. */
static uint64_t call_key(reader *self, int64_t event)
{
    const int64_t stack = hl_trace_id_map_value(&self->events, event, EVENT_STACK, 0);
    return stack > 0 ? key_in_set(self, stack) : 0;
}

/* Work is ordered by its HIP stream; in files of before 2025, which have none, by its queue. */
static haul_op begin_op(reader *self, const hl_trace_rows *rows, haul_op_kind kind, int64_t agent)
{
    const int64_t start = hl_trace_rows_int(rows, START);
    const int64_t index = hl_trace_id_map_value(&self->agents, agent, AGENT_INDEX, agent);
    const haul_workload_stream stream = {
        .device = hl_trace_device(self->builder, (uint64_t)index, key_in_set(self, agent)),
        .process = self->set,
        .id = (uint64_t)hl_trace_rows_int_or(rows, STREAM, hl_trace_rows_int(rows, QUEUE)),
    };
    return (haul_op){
        .start_ns = start,
        .dur_ns = hl_trace_duration(start, hl_trace_rows_int(rows, END)),
        .kind = (uint8_t)kind,
        .name = HAUL_NONE,
        .thread = HAUL_NONE,
        .stream = hl_workload_builder_stream(&self->builder->built, &stream),
    };
}

enum { TARGET_AGENT = OWN, TARGET_ADDRESS, SOURCE_AGENT, SOURCE_ADDRESS, SIZE };

/* By the agents' types; where they are not known, by the copy's name. */
static haul_direction direction_of(reader *self, const hl_trace_rows *rows)
{
    const hl_trace_id_row *const source =
        hl_trace_id_map_find(&self->agents, hl_trace_rows_int(rows, SOURCE_AGENT));
    const hl_trace_id_row *const target =
        hl_trace_id_map_find(&self->agents, hl_trace_rows_int(rows, TARGET_AGENT));
    if (!source || !target)
        return (haul_direction)hl_trace_id_map_value(&self->words, hl_trace_rows_int(rows, NAME),
                                                     WORD_DIRECTION, HAUL_DIRECTION_UNKNOWN);
    const bool from_gpu = source->values[AGENT_IS_GPU], to_gpu = target->values[AGENT_IS_GPU];
    if (from_gpu && to_gpu)
        return source->id == target->id ? HAUL_DIRECTION_DTOD : HAUL_DIRECTION_PTOP;
    if (from_gpu)
        return HAUL_DIRECTION_DTOH;
    return to_gpu ? HAUL_DIRECTION_HTOD : HAUL_DIRECTION_HTOH;
}

/* The address on the host's side decides. A copy between two hosts' memories, and an address that
 * no allocation holds, leave it open. */
static haul_memory memory_of(reader *self, const hl_trace_rows *rows, haul_direction direction)
{
    if (direction == HAUL_DIRECTION_UNKNOWN)
        return HAUL_MEMORY_UNKNOWN;
    if (direction == HAUL_DIRECTION_DTOD || direction == HAUL_DIRECTION_PTOP)
        return HAUL_MEMORY_DEVICE;
    const int column = direction == HAUL_DIRECTION_DTOH ? TARGET_ADDRESS : SOURCE_ADDRESS;
    const bool pinned =
        hl_trace_rows_is_int(rows, column) && direction != HAUL_DIRECTION_HTOH &&
        hl_trace_host_memory_has(&self->memory, (uint64_t)hl_trace_rows_int(rows, column),
                                 hl_trace_rows_int(rows, START));
    return pinned ? HAUL_MEMORY_PINNED : HAUL_MEMORY_HOST;
}

/* A copy is on the stream of the GPU that takes part in it: the target's where both do. */
static void take_copy(void *reader_, const hl_trace_rows *rows)
{
    reader *const self = reader_;
    const haul_direction direction = direction_of(self, rows);
    const int gpu = direction == HAUL_DIRECTION_DTOH ? SOURCE_AGENT : TARGET_AGENT;
    haul_op op = begin_op(self, rows, HAUL_OP_COPY, hl_trace_rows_int(rows, gpu));
    op.direction = (uint8_t)direction;
    op.detail = (uint8_t)memory_of(self, rows, direction);
    op.bytes = (uint64_t)hl_trace_rows_int_or(rows, SIZE, 0);
    if (!hl_trace_rows_is_int(rows, SIZE)) {
        op.flags |= HAUL_OP_NO_BYTES;
        hl_trace_missing(self->builder, 1, HL_TRACE_NO_BYTES);
    }
    hl_trace_op(self->builder, &op, call_key(self, hl_trace_rows_int(rows, EVENT)));
}

enum { AGENT = OWN, BLOCK, GRID = BLOCK + 3, SHARED = GRID + 3 };

/* The kernel's symbol has the name: its table is read at the end. */
static void take_kernel(void *reader_, const hl_trace_rows *rows)
{
    reader *const self = reader_;
    haul_op op = begin_op(self, rows, HAUL_OP_KERNEL, hl_trace_rows_int(rows, AGENT));
    op.shape = hl_trace_rocpd_shape(&self->builder->built, &rows->row->values[BLOCK],
                                    &rows->row->values[GRID], hl_trace_rows_int(rows, SHARED));
    op.name = hl_trace_name(
        self->builder, hl_trace_rocpd_name_key(SYMBOLS + self->set, hl_trace_rows_int(rows, NAME)));
    hl_trace_op(self->builder, &op, call_key(self, hl_trace_rows_int(rows, EVENT)));
}

/* --- calls, ranges and names */

/* A marker's text is in its "extdata", {"message": "..."}; its name is the function of roctx. */
static uint32_t marker_name(reader *self, const hl_trace_rows *rows, int column, uint32_t otherwise)
{
    size_t length;
    const char *text = hl_trace_rows_text(rows, column, &length);
    hl_base_json_in in;
    uint32_t name = otherwise;
    if (!text || hl_base_json_in_open_memory(&in, "", text, length, NULL))
        return otherwise;
    if (hl_base_json_in_enter(&in, HL_JSON_OBJECT))
        for (hl_base_json_text key, value; hl_base_json_in_key(&in, &key);) {
            const bool wanted = hl_base_json_is(key, "message");
            if (hl_base_json_in_scalar(&in, &value) == HL_JSON_STRING && wanted && value.length)
                name = hl_trace_text(self->builder, value.bytes, value.length);
        }
    hl_base_json_in_close(&in);
    return name;
}

/* A region is a range of roctx, a function of the host, or a call of HIP's; those of HSA, which
 * HIP's calls make in their turn, would count the same time twice. A sample of the host's call
 * stack has a region for each frame, from the sample before or, of processor time, from 0: no call
 * was made there. */
static void take_region(void *reader_, const hl_trace_rows *rows)
{
    enum { PROCESS = EVENT + 1, THREAD, REGION_NAME, DATA };
    reader *const self = reader_;
    const int64_t process = hl_trace_rows_int(rows, PROCESS),
                  thread = hl_trace_rows_int(rows, THREAD);
    const haul_workload_thread place = {
        .process = (uint64_t)hl_trace_id_map_value(&self->processes, process, 0, process),
        .id = (uint64_t)hl_trace_id_map_value(&self->threads, thread, 0, thread)};
    const int64_t start = hl_trace_rows_int(rows, START), event = hl_trace_rows_int(rows, EVENT);
    const int64_t dur_ns = hl_trace_duration(start, hl_trace_rows_int(rows, END));
    const int64_t category = hl_trace_id_map_value(
        &self->words, hl_trace_id_map_value(&self->events, event, EVENT_CATEGORY, 0), WORD_CATEGORY,
        0);
    const uint32_t name =
        hl_trace_name(self->builder, key_in_set(self, hl_trace_rows_int(rows, REGION_NAME)));
    const uint32_t number = hl_workload_builder_thread(&self->builder->built, &place);
    if (category == CATEGORY_MARKER) {
        const haul_named_range range = {start, dur_ns, marker_name(self, rows, DATA, name), number};
        hl_trace_range(self->builder, &range);
    } else if (category == CATEGORY_SAMPLE) {
        hl_trace_repaired(self->builder, 1, "frames of the host's sampled call stacks, left out");
    } else if (category != CATEGORY_HSA) {
        const hl_trace_host_call call = {start, dur_ns, call_key(self, event), name, number};
        hl_trace_call(self->builder, &call);
    }
}

/* Strings and symbols have ids of their own in each set of tables. */
static void take_name(const reader *self, uint64_t space, const hl_trace_rows *rows)
{
    size_t length;
    const char *text = hl_trace_rows_text(rows, 1, &length);
    if (text)
        hl_trace_name_text(self->builder,
                           hl_trace_rocpd_name_key(space, hl_trace_rows_int(rows, 0)), text,
                           length);
}

static void take_string(void *self, const hl_trace_rows *rows)
{
    take_name(self, ((reader *)self)->set, rows);
}

static void take_symbol(void *self, const hl_trace_rows *rows)
{
    take_name(self, SYMBOLS + ((reader *)self)->set, rows);
}

/* Names of the GPUs that operations named; the first column that is not empty serves. */
static void take_device_name(void *reader_, const hl_trace_rows *rows)
{
    reader *const self = reader_;
    hl_workload_builder *const built = &self->builder->built;
    const uint64_t key = key_in_set(self, hl_trace_rows_int(rows, 0));
    const uint32_t device = hl_base_records_find(&self->builder->gpus, &key);
    for (int i = 1; device < built->device_count && i < 4 && !built->devices[device].name; i++) {
        size_t length;
        const char *text = hl_trace_rows_text(rows, i, &length);
        if (length)
            built->devices[device].name = hl_base_arena_text(&built->arena, text, length);
    }
}

static void take_node(void *reader_, const hl_trace_rows *rows)
{
    size_t length;
    const char *const host = hl_trace_rows_text(rows, 0, &length);
    if (host)
        hl_workload_builder_host(&((reader *)reader_)->builder->built, host, length);
}

/* --- the file */

static const hl_trace_scan references[] = {
    {first_table, take_word, {"id", "string"}, true},
    {"rocpd_info_process", take_process, {"id", "pid"}, false},
    {"rocpd_info_thread", take_thread, {"id", "tid"}, false},
    {"rocpd_event", take_event, {"id", "stack_id", "category_id"}, false},
    {"rocpd_info_agent", take_agent, {"id", "type", "type_index|logical_index"}, true},
    {"rocpd_memory_allocate",
     take_allocation,
     {"type", "agent_id", "address", "size", "start"},
     true},
    {"rocpd_memory_copy",
     take_copy,
     {SHARED_COLUMNS, "name_id", "dst_agent_id", "dst_address", "src_agent_id", "src_address",
      "size"},
     false},
    {"rocpd_kernel_dispatch",
     take_kernel,
     {SHARED_COLUMNS, "kernel_id", "agent_id", "workgroup_size_x", "workgroup_size_y",
      "workgroup_size_z", "grid_size_x", "grid_size_y", "grid_size_z", "group_segment_size"},
     false},
};
static const hl_trace_scan calls[] = {
    {"rocpd_region",
     take_region,
     {"start", "end", "event_id", "pid", "tid", "name_id", "extdata"},
     true},
};
static const hl_trace_scan names[] = {
    {"rocpd_event", take_stack, {"call_stack"}, true},
    {first_table, take_string, {"id", "string"}, true},
    {"rocpd_info_kernel_symbol", take_symbol, {"id", "display_name|kernel_name"}, true},
    {"rocpd_info_agent", take_device_name, {"id", "product_name", "model_name", "name"}, true},
    {"rocpd_info_node", take_node, {"hostname"}, true},
};

/* A step is done for all sets before the next: the builder takes calls after all operations. */
static const struct {
    const hl_trace_scan *scans;
    size_t count;
} steps[] = {{references, sizeof references / sizeof *references},
             {calls, sizeof calls / sizeof *calls},
             {names, sizeof names / sizeof *names}};

/* Sets are read one after the other within a step; each is a process. */
static haul_status read_rocpd(hl_trace_source *source, hl_trace_builder *builder,
                              hl_trace_version *version, haul_error *error)
{
    reader *const sets = calloc(source->tables.count + 1, sizeof *sets);
    haul_status status = sets ? HAUL_OK : hl_base_fail_no_memory(error);
    size_t count = 0;
    for (size_t i = 0; sets && i < source->tables.count && count < SYMBOLS - 1; i++) {
        const char *const suffix = suffix_of(source->tables.texts[i]);
        if (suffix) {
            sets[count] = (reader){.builder = builder, .suffix = suffix, .set = count};
            count++;
        }
    }
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
        for (size_t i = 0; !status && i < count; i++)
            status = hl_trace_source_scan(source, sets[i].suffix, steps[s].scans, steps[s].count,
                                          &sets[i], error);
    for (size_t i = 0; i < count; i++) {
        hl_trace_id_map_release(&sets[i].words);
        hl_trace_id_map_release(&sets[i].agents);
        hl_trace_id_map_release(&sets[i].processes);
        hl_trace_id_map_release(&sets[i].threads);
        hl_trace_id_map_release(&sets[i].events);
        hl_trace_host_memory_release(&sets[i].memory);
    }
    (void)snprintf(version->text, sizeof version->text, "3");
    free(sets);
    return status;
}

const hl_trace_format hl_trace_rocpd = {.name = "rocpd", .sniff = sniff_rocpd, .read = read_rocpd};
