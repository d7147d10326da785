#include "trace/cupti.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "trace/cupti_rows.h"
#include "trace/row_scan.h"

static const uint64_t numbered_names = UINT64_C(1) << 63;

typedef struct reader {
    const haul_cupti_format *format;
    haul_source *source;
    const haul_cupti_devices *devices;
    haul_trace_builder *builder;
    haul_cupti_lane lanes[HAUL_CUPTI_TABLES];
    int lane_count;
    bool has_calls;
} reader;

/* The times in the first two columns; a row without them is left out and counted. CUPTI writes 0
 * for both where it could not take them. */
static bool times_of(haul_trace_builder *builder, const haul_rows *rows, int64_t *start_ns,
                     int64_t *dur_ns)
{
    const int64_t start = haul_rows_int(rows, HAUL_COL_START);
    const int64_t end = haul_rows_int(rows, HAUL_COL_END);
    if (!haul_rows_is_int(rows, HAUL_COL_START) || !haul_rows_is_int(rows, HAUL_COL_END) ||
        (start == 0 && end == 0)) {
        haul_trace_repaired(builder, 1, "rows without a start or an end, left out");
        return false;
    }
    *start_ns = start;
    *dur_ns = haul_trace_duration(start, end);
    return true;
}

static haul_status advance(haul_cupti_lane *lane, haul_error *error)
{
    haul_status status;
    do
        status = haul_rows_next(&lane->rows, &lane->more, error);
    while (!status && lane->more &&
           !times_of(lane->builder, &lane->rows, &lane->start_ns, &lane->dur_ns));
    return status;
}

static haul_status open_lanes(reader *self, haul_error *error)
{
    haul_status status = HAUL_OK;
    uint64_t rows = 0;
    for (int i = 0; !status && i < HAUL_CUPTI_TABLES && self->format->tables[i].name; i++) {
        const haul_cupti_table *table = &self->format->tables[i];
        if (!haul_source_has(self->source, table->name))
            continue;
        haul_cupti_lane *lane = &self->lanes[self->lane_count++];
        lane->format = self->format;
        lane->table = table;
        lane->devices = self->devices;
        lane->builder = self->builder;
        status = haul_rows_begin(&lane->rows, self->source, table->name, table->columns,
                                 HAUL_COLUMNS, error);
        if (!status)
            status = advance(lane, error);
        rows += haul_source_row_estimate(self->source, table->name);
    }
    haul_builder_reserve(&self->builder->built, rows);
    return status;
}

static haul_cupti_lane *earliest(reader *self)
{
    haul_cupti_lane *found = NULL;
    for (int i = 0; i < self->lane_count; i++) {
        haul_cupti_lane *lane = &self->lanes[i];
        if (lane->more && (!found || lane->start_ns < found->start_ns))
            found = lane;
    }
    return found;
}

/* The tables are read side by side by start, so that the operations arrive nearly in order and
 * need no sorting of note. */
static haul_status read_operations(reader *self, haul_error *error)
{
    haul_status status = open_lanes(self, error);
    for (haul_cupti_lane *lane;
         !status && !self->builder->built.failed && (lane = earliest(self));) {
        haul_cupti_row_add(lane);
        status = advance(lane, error);
    }
    for (int i = 0; i < self->lane_count; i++)
        haul_rows_end(&self->lanes[i].rows);
    return status;
}

static haul_status read_events(reader *self, haul_error *error)
{
    const haul_cupti_table *table = &self->format->events;
    haul_cupti_lane lane = {
        .format = self->format, .table = table, .devices = self->devices, .builder = self->builder};
    haul_status status = haul_rows_begin_if(&lane.rows, self->source, table->name, table->columns,
                                            HAUL_COLUMNS, error);
    while (!self->builder->built.failed && haul_rows_step(&lane.rows, &status, error))
        haul_cupti_row_event(&lane);
    haul_rows_end(&lane.rows);
    return status;
}

/* What the ids of the last call stood for. */
typedef struct call_ids {
    bool known;
    int64_t thread;
    int64_t process;
    uint32_t number;
    uint64_t process_key;
    haul_cupti_name names[HAUL_CUPTI_REMEMBERED];
} call_ids;

static void find_thread(const reader *self, call_ids *ids, int64_t thread, int64_t process)
{
    const uint64_t low = UINT64_C(0xffffff);
    if (ids->known && ids->thread == thread && ids->process == process)
        return;
    ids->known = true;
    ids->thread = thread;
    ids->process = process;
    const uint64_t id = (uint64_t)thread;
    /* Device rows name the process only where threads do. */
    const uint64_t named = self->format->thread_has_process ? id & ~low : 0;
    const haul_workload_thread of = {
        .process = self->format->thread_has_process ? named : (uint64_t)process,
        .id = self->format->thread_has_process ? id & low : id,
    };
    ids->number = haul_builder_thread(&self->builder->built, &of);
    ids->process_key = (uint64_t)haul_trace_process(self->builder, named) << 32;
}

static void add_call(const reader *self, const haul_rows *rows, uint64_t name_space, call_ids *ids)
{
    haul_call call = {.name = HAUL_NONE};
    if (!times_of(self->builder, rows, &call.start_ns, &call.dur_ns))
        return;
    find_thread(self, ids, haul_rows_int(rows, HAUL_CALL_THREAD),
                haul_rows_int(rows, HAUL_CALL_PROCESS));
    call.thread = ids->number;
    if (haul_rows_is_int(rows, HAUL_CALL_NAME))
        call.name = haul_cupti_name_number(self->builder, ids->names, name_space,
                                           haul_rows_int(rows, HAUL_CALL_NAME));
    const uint32_t correlation =
        haul_cupti_correlation(self->builder, haul_rows_int(rows, HAUL_CALL_CORRELATION));
    call.key = correlation ? ids->process_key | correlation : 0;
    haul_trace_call(self->builder, &call);
}

static uint64_t name_space_of(const haul_cupti_format *format, const haul_cupti_calls *calls)
{
    const uint64_t which = calls == format->calls ? 0 : UINT64_C(1) << 62;
    return calls->numbered ? numbered_names | which : 0;
}

static haul_status read_calls(reader *self, const haul_cupti_calls *calls, haul_error *error)
{
    if (!calls->name)
        return HAUL_OK;
    const uint64_t name_space = name_space_of(self->format, calls);
    haul_rows rows;
    call_ids ids = {0};
    haul_status status = haul_rows_begin_if(&rows, self->source, calls->name, calls->columns,
                                            HAUL_CALL_COLUMNS, error);
    while (!self->builder->built.failed && haul_rows_step(&rows, &status, error)) {
        self->has_calls = true;
        add_call(self, &rows, name_space, &ids);
    }
    haul_rows_end(&rows);
    return status;
}

/* The file's table of strings is read once, whatever its size; only the names met are kept. */
static haul_status read_names(const reader *self, haul_error *error)
{
    haul_rows rows;
    haul_status status = haul_rows_begin_texts_if(&rows, self->source, self->format->string_table,
                                                  self->format->string_columns, 2, error);
    while (!self->builder->built.failed && haul_rows_step(&rows, &status, error)) {
        size_t length;
        const char *text = haul_rows_is_int(&rows, 0) ? haul_rows_text(&rows, 1, &length) : NULL;
        if (text)
            haul_trace_name_text(
                self->builder, (uint64_t)haul_rows_int(&rows, 0) & (INT64_MAX >> 1), text, length);
    }
    haul_rows_end(&rows);
    return status;
}

static const char *known_name(const haul_cupti_calls *calls, uint64_t number)
{
    const haul_cupti_call_name *name = calls->known;
    while (name && name->text && name->number != number)
        name++;
    return name ? name->text : NULL;
}

/* Calls that have only a number are named by it. */
static void name_numbered(reader *self)
{
    haul_trace_builder *builder = self->builder;
    for (size_t i = 0; i < builder->names.count; i++) {
        const uint64_t key = ((const uint64_t *)builder->names.items)[i];
        if (!(key & numbered_names))
            continue;
        const haul_cupti_calls *calls = &self->format->calls[key >> 62 & 1];
        const uint64_t number = key & (INT64_MAX >> 1);
        const char *known = known_name(calls, number);
        char text[64];
        if (known)
            snprintf(text, sizeof text, "%s", known);
        else
            snprintf(text, sizeof text, "%s %llu", calls->numbered, (unsigned long long)number);
        haul_trace_name_text(builder, key, text, strlen(text));
    }
}

/* Says that no table of a kind is there, or that all are empty. */
static void say_kind(const reader *self, haul_cupti_kind kind, const char *absent,
                     const char *empty)
{
    bool there = false, filled = false;
    for (int i = 0; i < self->lane_count; i++) {
        const haul_cupti_lane *lane = &self->lanes[i];
        there |= lane->table->kind == kind;
        filled |= lane->table->kind == kind && lane->rows.number > 1;
    }
    if (!filled)
        haul_trace_missing(self->builder, 0, there ? empty : absent);
}

static void say_calls(const reader *self)
{
    bool there = false;
    for (int i = 0; i < HAUL_CUPTI_CALL_TABLES && self->format->calls[i].name; i++)
        there |= haul_source_has(self->source, self->format->calls[i].name);
    if (!self->has_calls)
        haul_trace_missing(self->builder, 0,
                           there ? "the RUNTIME table is empty: no host call is known"
                                 : "no RUNTIME table: no host call is known");
}

haul_status haul_cupti_say_rows(haul_source *source, const char *table, haul_trace_builder *builder,
                                const char *text, haul_error *error)
{
    static const char *const columns[] = {"start"};
    haul_rows rows;
    uint64_t count = 0;
    haul_status status = haul_rows_begin_if(&rows, source, table, columns, 1, error);
    while (haul_rows_step(&rows, &status, error))
        count++;
    if (!status && count)
        haul_trace_missing(builder, count, text);
    haul_rows_end(&rows);
    return status;
}

haul_status haul_cupti_read(const haul_cupti_format *format, haul_source *source,
                            const haul_cupti_devices *devices, haul_trace_builder *builder,
                            haul_error *error)
{
    reader *self = calloc(1, sizeof *self);
    if (!self)
        return haul_fail_no_memory(error);
    self->format = format;
    self->source = source;
    self->devices = devices;
    self->builder = builder;
    haul_status status = read_operations(self, error);
    say_kind(self, HAUL_CUPTI_COPY, "no copy table", "the copy table is empty");
    say_kind(self, HAUL_CUPTI_KERNEL, "no kernel table", "the kernel table is empty");
    if (!status)
        status = read_events(self, error);
    for (int i = 0; !status && i < HAUL_CUPTI_CALL_TABLES; i++)
        status = read_calls(self, &format->calls[i], error);
    if (!status)
        status = read_names(self, error);
    if (!status) {
        name_numbered(self);
        say_calls(self);
    }
    free(self);
    return status;
}
