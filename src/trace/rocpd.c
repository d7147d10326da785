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
#include "trace/row_scan.h"
#include "trace/trace_format.h"

enum { LONGEST_NAME = 256, SYMBOLS = 1 << 19 }; /* spaces of names of kernels begin there */

/* What a string stands for: the direction of a copy, a category of events. */
enum { WORD_DIRECTION, WORD_MEMORY, WORD_CATEGORY };
enum { CATEGORY_OTHER, CATEGORY_MARKER, CATEGORY_HSA };
enum { AGENT_IS_GPU, AGENT_INDEX };
enum { EVENT_STACK, EVENT_CATEGORY };

typedef struct reader {
    haul_source *source;
    haul_trace_builder *builder;
    const char *suffix; /* of the names of the set's tables */
    uint64_t set;       /* its number */
    haul_id_map words;
    haul_id_map agents;
    haul_id_map processes;
    haul_id_map threads;
    haul_id_map events;
    haul_host_memory memory;
} reader;

static const char first_table[] = "rocpd_string";

/* The end of the name of a set's table of strings, or NULL. */
static const char *suffix_of(const char *table)
{
    const size_t length = sizeof first_table - 1;
    return !strncmp(table, first_table, length) ? table + length : NULL;
}

static bool sniff(haul_source *source)
{
    for (size_t i = 0; i < source->tables.count; i++)
        if (suffix_of(source->tables.texts[i]))
            return true;
    return false;
}

/* A table of the set by its name without the suffix. */
typedef struct table_name {
    char text[LONGEST_NAME];
} table_name;

static table_name table_of(const reader *self, const char *name)
{
    table_name table;
    (void)snprintf(table.text, sizeof table.text, "%s%s", name, self->suffix);
    return table;
}

haul_status haul_rocpd_read_names(haul_source *source, const char *table,
                                  const char *const *columns, uint64_t space,
                                  haul_trace_builder *builder, haul_error *error)
{
    haul_rows rows;
    haul_status status = haul_rows_begin_texts_if(&rows, source, table, columns, 2, error);
    while (haul_rows_step(&rows, &status, error)) {
        size_t length;
        const char *text = haul_rows_text(&rows, 1, &length);
        if (text)
            haul_trace_name_text(builder, haul_rocpd_name_key(space, haul_rows_int(&rows, 0)), text,
                                 length);
    }
    haul_rows_end(&rows);
    return status;
}

static void take_word(reader *self, int64_t id, const char *text, size_t length)
{
    haul_direction direction;
    haul_memory memory;
    haul_copy_name_read(text, length, &direction, &memory);
    const int category = length > 6 && !memcmp(text, "MARKER", 6) ? CATEGORY_MARKER
                         : length > 4 && !memcmp(text, "HSA_", 4) ? CATEGORY_HSA
                                                                  : CATEGORY_OTHER;
    if (direction != HAUL_UNKNOWN || category != CATEGORY_OTHER)
        haul_id_map_add(&self->words, &(haul_id_row){id, {direction, memory, category}});
}

static haul_status read_words(reader *self, haul_error *error)
{
    static const char *const columns[] = {"id", "string"};
    const table_name table = table_of(self, first_table);
    haul_rows rows;
    haul_status status =
        haul_rows_begin_texts_if(&rows, self->source, table.text, columns, 2, error);
    while (haul_rows_step(&rows, &status, error)) {
        size_t length;
        const char *text = haul_rows_text(&rows, 1, &length);
        if (text)
            take_word(self, haul_rows_int(&rows, 0), text, length);
    }
    haul_rows_end(&rows);
    return status;
}

/* Rows of ids with numbers beside them. */
static haul_status read_map(reader *self, const char *name, const char *const *columns,
                            haul_id_map *map, haul_error *error)
{
    enum { COLUMNS = 3 };
    const table_name table = table_of(self, name);
    haul_rows rows;
    haul_status status =
        haul_rows_begin_if(&rows, self->source, table.text, columns, COLUMNS, error);
    while (haul_rows_step(&rows, &status, error))
        haul_id_map_add(map, &(haul_id_row){haul_rows_int(&rows, 0),
                                            {haul_rows_int(&rows, 1), haul_rows_int(&rows, 2)}});
    haul_rows_end(&rows);
    return status;
}

static haul_status read_maps(reader *self, haul_error *error)
{
    static const char *const processes[] = {"id", "pid", NULL};
    static const char *const threads[] = {"id", "tid", NULL};
    static const char *const events[] = {"id", "stack_id", "category_id"};
    haul_status status = read_map(self, "rocpd_info_process", processes, &self->processes, error);
    if (!status)
        status = read_map(self, "rocpd_info_thread", threads, &self->threads, error);
    return status ? status : read_map(self, "rocpd_event", events, &self->events, error);
}

/* What tells an agent apart from those of other sets. */
static uint64_t agent_key(const reader *self, int64_t agent)
{
    return haul_rocpd_name_key(self->set, agent);
}

static uint32_t device_of(reader *self, int64_t agent)
{
    const int64_t index = haul_id_map_value(&self->agents, agent, AGENT_INDEX, agent);
    return haul_trace_device(self->builder, (uint64_t)index, agent_key(self, agent));
}

static haul_status read_agents(reader *self, haul_error *error)
{
    static const char *const columns[] = {"id", "type", "type_index|logical_index"};
    const table_name table = table_of(self, "rocpd_info_agent");
    haul_rows rows;
    haul_status status =
        haul_rows_begin_texts_if(&rows, self->source, table.text, columns, 3, error);
    while (haul_rows_step(&rows, &status, error)) {
        size_t length;
        const char *type = haul_rows_text(&rows, 1, &length);
        const int64_t id = haul_rows_int(&rows, 0);
        haul_id_map_add(
            &self->agents,
            &(haul_id_row){id, {type && !strcmp(type, "GPU"), haul_rows_int_or(&rows, 2, id)}});
    }
    haul_rows_end(&rows);
    return status;
}

static haul_status read_allocations(reader *self, haul_error *error)
{
    static const char *const columns[] = {"type", "agent_id", "address", "size", "start"};
    const table_name table = table_of(self, "rocpd_memory_allocate");
    haul_rows rows;
    haul_status status =
        haul_rows_begin_texts_if(&rows, self->source, table.text, columns, 5, error);
    while (haul_rows_step(&rows, &status, error)) {
        size_t length;
        const char *type = haul_rows_text(&rows, 0, &length);
        const haul_id_row *const agent = haul_id_map_find(&self->agents, haul_rows_int(&rows, 1));
        const bool is_free = type && !strcmp(type, "FREE");
        const bool on_host = agent && !agent->values[AGENT_IS_GPU];
        if (is_free || on_host)
            haul_host_memory_add(&self->memory, (uint64_t)haul_rows_int(&rows, 2),
                                 is_free ? 0 : (uint64_t)haul_rows_int(&rows, 3),
                                 haul_rows_int(&rows, 4));
    }
    haul_rows_end(&rows);
    return status;
}

/* The columns that copies and kernels share. */
enum { START, END, EVENT, STREAM, QUEUE, NAME, OWN };
#define SHARED_COLUMNS "start", "end", "event_id", "stream_id", "queue_id"

static uint64_t call_key(reader *self, int64_t event)
{
    const int64_t stack = haul_id_map_value(&self->events, event, EVENT_STACK, 0);
    return stack > 0 ? haul_rocpd_name_key(self->set, stack) : 0;
}

static haul_op begin_op(reader *self, const haul_rows *rows, haul_op_kind kind, int64_t agent)
{
    const int64_t start = haul_rows_int(rows, START);
    const haul_workload_stream stream = {
        .device = device_of(self, agent),
        .process = self->set,
        .id = (uint64_t)haul_rows_int_or(rows, STREAM, haul_rows_int(rows, QUEUE)),
    };
    return (haul_op){
        .start_ns = start,
        .dur_ns = haul_trace_duration(start, haul_rows_int(rows, END)),
        .kind = (uint8_t)kind,
        .name = HAUL_NONE,
        .thread = HAUL_NONE,
        .stream = haul_builder_stream(&self->builder->built, &stream),
    };
}

enum { TARGET_AGENT = OWN, TARGET_ADDRESS, SOURCE_AGENT, SOURCE_ADDRESS, SIZE };

/* By the agents' types; where they are not known, by the copy's name. */
static haul_direction direction_of(reader *self, const haul_rows *rows)
{
    const haul_id_row *const source =
        haul_id_map_find(&self->agents, haul_rows_int(rows, SOURCE_AGENT));
    const haul_id_row *const target =
        haul_id_map_find(&self->agents, haul_rows_int(rows, TARGET_AGENT));
    if (!source || !target)
        return (haul_direction)haul_id_map_value(&self->words, haul_rows_int(rows, NAME),
                                                 WORD_DIRECTION, HAUL_UNKNOWN);
    const bool from_gpu = source->values[AGENT_IS_GPU], to_gpu = target->values[AGENT_IS_GPU];
    if (from_gpu && to_gpu)
        return source->id == target->id ? HAUL_DTOD : HAUL_PTOP;
    if (from_gpu)
        return HAUL_DTOH;
    return to_gpu ? HAUL_HTOD : HAUL_HTOH;
}

static haul_memory memory_of(reader *self, const haul_rows *rows, haul_direction direction)
{
    if (direction == HAUL_UNKNOWN)
        return HAUL_MEMORY_UNKNOWN;
    if (direction == HAUL_DTOD || direction == HAUL_PTOP)
        return HAUL_DEVICE;
    const int column = direction == HAUL_DTOH ? TARGET_ADDRESS : SOURCE_ADDRESS;
    const bool pinned = haul_rows_is_int(rows, column) && direction != HAUL_HTOH &&
                        haul_host_memory_has(&self->memory, (uint64_t)haul_rows_int(rows, column),
                                             haul_rows_int(rows, START));
    return pinned ? HAUL_PINNED : HAUL_HOST;
}

static void add_copy(reader *self, const haul_rows *rows)
{
    const haul_direction direction = direction_of(self, rows);
    const int gpu = direction == HAUL_DTOH ? SOURCE_AGENT : TARGET_AGENT;
    haul_op op = begin_op(self, rows, HAUL_OP_COPY, haul_rows_int(rows, gpu));
    op.direction = (uint8_t)direction;
    op.detail = (uint8_t)memory_of(self, rows, direction);
    op.bytes = (uint64_t)haul_rows_int_or(rows, SIZE, 0);
    if (!haul_rows_is_int(rows, SIZE)) {
        op.flags |= HAUL_OP_NO_BYTES;
        haul_trace_missing(self->builder, 1, HAUL_TRACE_NO_BYTES);
    }
    if (direction == HAUL_UNKNOWN)
        haul_trace_missing(self->builder, 1, "copies whose direction is not known");
    else if (op.detail == HAUL_HOST)
        haul_trace_missing(self->builder, 1, "copies whose kind of host memory is not known");
    haul_trace_op(self->builder, &op, call_key(self, haul_rows_int(rows, EVENT)));
}

static haul_status read_copies(reader *self, haul_error *error)
{
    static const char *const columns[] = {SHARED_COLUMNS, "name_id",      "dst_agent_id",
                                          "dst_address",  "src_agent_id", "src_address",
                                          "size"};
    const table_name table = table_of(self, "rocpd_memory_copy");
    haul_rows rows;
    haul_status status = haul_rows_begin_if(&rows, self->source, table.text, columns, 11, error);
    while (haul_rows_step(&rows, &status, error))
        add_copy(self, &rows);
    haul_rows_end(&rows);
    return status;
}

enum { AGENT = OWN, BLOCK, GRID = BLOCK + 3, SHARED = GRID + 3, DISPATCH_COLUMNS };

/* The grid is in work items, of which a block has several. */
static void add_kernel(reader *self, const haul_rows *rows)
{
    haul_op op = begin_op(self, rows, HAUL_OP_KERNEL, haul_rows_int(rows, AGENT));
    haul_shape shape = {.shared_bytes = haul_rocpd_count(rows, SHARED)};
    for (int i = 0; i < 3; i++) {
        const uint32_t block = haul_rocpd_count(rows, BLOCK + i);
        const uint32_t items = haul_rocpd_count(rows, GRID + i);
        shape.block[i] = block;
        shape.grid[i] = block ? items / block + (items % block > 0) : items;
    }
    op.shape = haul_builder_shape(&self->builder->built, &shape);
    op.name = haul_trace_name(self->builder,
                              haul_rocpd_name_key(SYMBOLS + self->set, haul_rows_int(rows, NAME)));
    haul_trace_op(self->builder, &op, call_key(self, haul_rows_int(rows, EVENT)));
}

static haul_status read_kernels(reader *self, haul_error *error)
{
    static const char *const columns[] = {
        SHARED_COLUMNS,     "kernel_id",   "agent_id",    "workgroup_size_x", "workgroup_size_y",
        "workgroup_size_z", "grid_size_x", "grid_size_y", "grid_size_z",      "group_segment_size"};
    const table_name table = table_of(self, "rocpd_kernel_dispatch");
    haul_rows rows;
    haul_status status =
        haul_rows_begin_if(&rows, self->source, table.text, columns, DISPATCH_COLUMNS, error);
    while (haul_rows_step(&rows, &status, error))
        add_kernel(self, &rows);
    haul_rows_end(&rows);
    return status;
}

/* Steps are done for all sets before the next: calls come after all operations. */
static haul_status read_operations(reader *self, haul_error *error)
{
    static haul_status (*const steps[])(reader *, haul_error *) = {
        read_words, read_maps, read_agents, read_allocations, read_copies, read_kernels};
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < sizeof steps / sizeof *steps; i++)
        status = steps[i](self, error);
    return status;
}

/* A marker's text is in its "extdata", {"message": "..."}; its name is the function of roctx. */
static uint32_t marker_name(reader *self, const haul_rows *rows, int column, uint32_t otherwise)
{
    size_t length;
    const char *text = haul_rows_text(rows, column, &length);
    haul_json_in in;
    uint32_t name = otherwise;
    if (!text || haul_json_in_open_memory(&in, "", text, length, NULL))
        return otherwise;
    if (haul_json_in_kind(&in) == HAUL_JSON_OBJECT && haul_json_in_object(&in))
        for (haul_json_text key, value; haul_json_in_key(&in, &key);) {
            const bool wanted = haul_json_is(key, "message");
            if (haul_json_in_scalar(&in, &value) == HAUL_JSON_STRING && wanted && value.length)
                name = haul_trace_text(self->builder, value.bytes, value.length);
        }
    haul_json_in_close(&in);
    return name;
}

enum { REGION_PROCESS = EVENT + 1, REGION_THREAD, REGION_NAME, REGION_DATA, REGION_COLUMNS };

static void add_region(reader *self, const haul_rows *rows)
{
    const int64_t process = haul_rows_int(rows, REGION_PROCESS);
    const int64_t thread = haul_rows_int(rows, REGION_THREAD);
    const haul_workload_thread place = {
        .process = (uint64_t)haul_id_map_value(&self->processes, process, 0, process),
        .id = (uint64_t)haul_id_map_value(&self->threads, thread, 0, thread)};
    const int64_t start = haul_rows_int(rows, START);
    const int64_t dur_ns = haul_trace_duration(start, haul_rows_int(rows, END));
    const int64_t event = haul_rows_int(rows, EVENT);
    const int64_t category = haul_id_map_value(
        &self->words, haul_id_map_value(&self->events, event, EVENT_CATEGORY, 0), WORD_CATEGORY, 0);
    const uint32_t name = haul_trace_name(
        self->builder, haul_rocpd_name_key(self->set, haul_rows_int(rows, REGION_NAME)));
    const uint32_t number = haul_builder_thread(&self->builder->built, &place);
    if (category == CATEGORY_MARKER) {
        const haul_named_range range = {start, dur_ns, marker_name(self, rows, REGION_DATA, name),
                                        number};
        haul_trace_range(self->builder, &range);
    } else if (category != CATEGORY_HSA) { /* which HIP's calls make in their turn */
        const haul_call call = {start, dur_ns, call_key(self, event), name, number};
        haul_trace_call(self->builder, &call);
    }
}

static haul_status read_calls(reader *self, haul_error *error)
{
    static const char *const columns[] = {"start", "end",     "event_id", "pid",
                                          "tid",   "name_id", "extdata"};
    const table_name table = table_of(self, "rocpd_region");
    haul_rows rows;
    haul_status status =
        haul_rows_begin_texts_if(&rows, self->source, table.text, columns, REGION_COLUMNS, error);
    while (haul_rows_step(&rows, &status, error))
        add_region(self, &rows);
    haul_rows_end(&rows);
    return status;
}

static haul_status read_names(reader *self, haul_error *error)
{
    static const char *const strings[] = {"id", "string"};
    static const char *const symbols[] = {"id", "display_name|kernel_name"};
    haul_status status = haul_rocpd_read_names(self->source, table_of(self, first_table).text,
                                               strings, self->set, self->builder, error);
    if (!status)
        status =
            haul_rocpd_read_names(self->source, table_of(self, "rocpd_info_kernel_symbol").text,
                                  symbols, SYMBOLS + self->set, self->builder, error);
    return status;
}

/* Names of the GPUs that operations named. */
static haul_status describe_devices(reader *self, haul_error *error)
{
    static const char *const columns[] = {"id", "product_name", "model_name", "name"};
    haul_builder *const built = &self->builder->built;
    const table_name table = table_of(self, "rocpd_info_agent");
    haul_rows rows;
    haul_status status =
        haul_rows_begin_texts_if(&rows, self->source, table.text, columns, 4, error);
    while (haul_rows_step(&rows, &status, error)) {
        const uint64_t key = agent_key(self, haul_rows_int(&rows, 0));
        const uint32_t device = haul_records_find(&self->builder->gpus, &key);
        for (int i = 1; device != HAUL_NONE && i < 4 && !built->devices[device].name; i++) {
            size_t length;
            const char *text = haul_rows_text(&rows, i, &length);
            if (length)
                built->devices[device].name = haul_arena_text(&built->arena, text, length);
        }
    }
    haul_rows_end(&rows);
    return status;
}

static void release(reader *self)
{
    haul_id_map_release(&self->words);
    haul_id_map_release(&self->agents);
    haul_id_map_release(&self->processes);
    haul_id_map_release(&self->threads);
    haul_id_map_release(&self->events);
    haul_host_memory_release(&self->memory);
}

static bool lacks_memory(const reader *self)
{
    return self->words.failed || self->agents.failed || self->processes.failed ||
           self->threads.failed || self->events.failed || self->memory.failed;
}

static haul_status read_sets(reader *sets, size_t count, haul_error *error)
{
    static haul_status (*const steps[])(reader *, haul_error *) = {read_operations, read_calls,
                                                                   read_names, describe_devices};
    haul_status status = HAUL_OK;
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
        for (size_t i = 0; !status && i < count; i++)
            status = steps[s](&sets[i], error);
    for (size_t i = 0; i < count; i++) {
        if (!status && lacks_memory(&sets[i]))
            status = haul_fail_no_memory(error);
        release(&sets[i]);
    }
    return status;
}

static haul_status read(haul_source *source, haul_trace_builder *builder,
                        haul_trace_version *version, haul_error *error)
{
    reader *const sets = calloc(source->tables.count + 1, sizeof *sets);
    size_t count = 0;
    if (!sets)
        return haul_fail_no_memory(error);
    for (size_t i = 0; i < source->tables.count; i++) {
        const char *const suffix = suffix_of(source->tables.texts[i]);
        if (!suffix || count == SYMBOLS - 1)
            continue;
        sets[count] =
            (reader){.source = source, .builder = builder, .suffix = suffix, .set = count};
        count++;
    }
    const haul_status status = read_sets(sets, count, error);
    (void)snprintf(version->text, sizeof version->text, "3");
    free(sets);
    return status;
}

const haul_trace_format haul_trace_rocpd = {.name = "rocpd", .sniff = sniff, .read = read};
