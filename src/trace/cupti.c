/* Tables of device work are read side by side by start, so that the operations arrive nearly in
 * order and need no sorting of note; then records of events, calls, and the names that were met. */
#include "trace/cupti.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "trace/cupti_rows.h"

/* Names of calls that are only a number have keys apart from those of strings: the highest bit, and
 * the next one for the second table of calls. */
static const uint64_t numbered_names = UINT64_C(1) << 63;

/* Threads repeat each other in the table of calls: the last one's numbers are kept. */
typedef struct call_thread {
    bool known;
    int64_t id;
    int64_t process;
    uint32_t number;
    uint64_t process_key;
} call_thread;

typedef struct reader {
    const hl_trace_cupti_format *format;
    hl_trace_source *source;
    hl_trace_cupti_devices *devices;
    hl_trace_source_lines *lines; /* NULL: not asked for */
    hl_trace_builder *builder;
    hl_trace_cupti_lane lanes[HL_TRACE_CUPTI_TABLES];
    int lane_count;
    bool has_calls;
    uint64_t name_space; /* of the table of calls at hand */
    call_thread thread;
    hl_trace_cupti_name names[HL_TRACE_CUPTI_REMEMBERED]; /* of calls */
} reader;

/* The times in the first two columns; a row without them is left out and counted. CUPTI writes 0
 * for both where it could not take them. */
static bool times_of(hl_trace_builder *builder, const hl_trace_rows *rows, int64_t *start_ns,
                     int64_t *dur_ns)
{
    const int64_t start = hl_trace_rows_int(rows, HL_TRACE_COL_START);
    const int64_t end = hl_trace_rows_int(rows, HL_TRACE_COL_END);
    if (!hl_trace_rows_is_int(rows, HL_TRACE_COL_START) ||
        !hl_trace_rows_is_int(rows, HL_TRACE_COL_END) || (start == 0 && end == 0)) {
        hl_trace_repaired(builder, 1, "rows without a start or an end, left out");
        return false;
    }
    *start_ns = start;
    *dur_ns = hl_trace_duration(start, end);
    return true;
}

/* Moves a lane to its next row that has times. */
static haul_status advance(hl_trace_cupti_lane *lane, haul_error *error)
{
    haul_status status;
    do
        status = hl_trace_rows_next(&lane->rows, &lane->more, error);
    while (!status && lane->more &&
           !times_of(lane->builder, &lane->rows, &lane->start_ns, &lane->dur_ns));
    return status;
}

/* Sets the members that all lanes share; its rows are begun by the caller. */
static void init_lane(const reader *self, hl_trace_cupti_lane *lane,
                      const hl_trace_cupti_table *table)
{
    lane->format = self->format;
    lane->table = table;
    lane->devices = self->devices;
    lane->builder = self->builder;
}

/* A merge of at most seven tables, each in order of start but for neighbours. */
static haul_status read_operations(reader *self, haul_error *error)
{
    /* Rows are counted by what the file can hold, so that the operations' room is made once. */
    haul_status status = HAUL_OK;
    uint64_t rows = 0;
    for (int i = 0; !status && i < HL_TRACE_CUPTI_TABLES && self->format->tables[i].name; i++) {
        const hl_trace_cupti_table *table = &self->format->tables[i];
        if (!hl_trace_source_has(self->source, table->name))
            continue;
        hl_trace_cupti_lane *lane = &self->lanes[self->lane_count++];
        init_lane(self, lane, table);
        status = hl_trace_rows_begin(&lane->rows, self->source, table->name, table->columns, false,
                                     error);
        if (!status)
            status = advance(lane, error);
        rows += hl_trace_source_row_estimate(self->source, table->name);
    }
    hl_workload_builder_reserve(&self->builder->built, rows);
    while (!status && !self->builder->built.failed) {
        hl_trace_cupti_lane *earliest = NULL;
        for (hl_trace_cupti_lane *lane = self->lanes; lane < self->lanes + self->lane_count; lane++)
            if (lane->more && (!earliest || lane->start_ns < earliest->start_ns))
                earliest = lane;
        if (!earliest)
            break;
        hl_trace_cupti_row_add(earliest);
        status = advance(earliest, error);
    }
    for (int i = 0; i < self->lane_count; i++) {
        hl_trace_rows_end(&self->lanes[i].rows);
        hl_trace_rows_end(&self->lanes[i].causes);
    }
    return status;
}

/* Records of events have no duration and are on no stream's chain: they are not merged with the
 * others. */
static haul_status read_events(const reader *self, haul_error *error)
{
    const hl_trace_cupti_table *table = &self->format->events;
    hl_trace_cupti_lane lane = {0};
    bool more = true;
    init_lane(self, &lane, table);
    haul_status status =
        hl_trace_rows_begin(&lane.rows, self->source, table->name, table->columns, false, error);
    while (!status && !(status = hl_trace_rows_next(&lane.rows, &more, error)) && more)
        hl_trace_cupti_row_event(&lane);
    hl_trace_rows_end(&lane.rows);
    return status;
}

/* nsys writes process and thread as one number (globalTid), nvprof as two columns. */
static void find_thread(reader *self, int64_t thread, int64_t process)
{
    const uint64_t low = UINT64_C(0xffffff), id = (uint64_t)thread;
    call_thread *const last = &self->thread;
    if (last->known && last->id == thread && last->process == process)
        return;
    /* Device rows name the process only where threads do. */
    const uint64_t named = self->format->thread_has_process ? id & ~low : 0;
    const haul_workload_thread of = {
        .process = self->format->thread_has_process ? named : (uint64_t)process,
        .id = self->format->thread_has_process ? id & low : id,
    };
    *last = (call_thread){
        .known = true,
        .id = thread,
        .process = process,
        .number = hl_workload_builder_thread(&self->builder->built, &of),
        .process_key = (uint64_t)hl_trace_process(self->builder, named) << 32,
    };
}

/* A call is joined by correlation id within its process: ids begin at 1 in each. */
static void take_call(void *reader_, const hl_trace_rows *rows)
{
    reader *const self = reader_;
    hl_trace_host_call call = {.name = HAUL_NONE};
    self->has_calls = true;
    if (self->builder->built.failed || !times_of(self->builder, rows, &call.start_ns, &call.dur_ns))
        return;
    find_thread(self, hl_trace_rows_int(rows, HL_TRACE_CALL_THREAD),
                hl_trace_rows_int(rows, HL_TRACE_CALL_PROCESS));
    call.thread = self->thread.number;
    if (hl_trace_rows_is_int(rows, HL_TRACE_CALL_NAME))
        call.name = hl_trace_cupti_name_number(self->builder, self->names, self->name_space,
                                               hl_trace_rows_int(rows, HL_TRACE_CALL_NAME));
    const uint32_t correlation = hl_trace_cupti_correlation(
        self->builder, hl_trace_rows_int(rows, HL_TRACE_CALL_CORRELATION));
    call.key = correlation ? self->thread.process_key | correlation : 0;
    hl_trace_call(self->builder, &call);
    const int64_t stack = hl_trace_rows_int(rows, HL_TRACE_CALL_STACK);
    if (self->lines && stack > 0 && stack < HAUL_NONE)
        hl_workload_builder_span(&self->builder->built, &self->lines->spans,
                                 &(haul_named_range){.start_ns = call.start_ns,
                                                     .dur_ns = 1, /* not of calls that it makes */
                                                     .name = (uint32_t)stack,
                                                     .thread = call.thread});
}

/* nvprof has two tables of calls, CUDA's runtime and its driver, whose numbers of calls overlap:
 * each has a space of names of its own. */
static haul_status read_calls(reader *self, const hl_trace_cupti_calls *calls, haul_error *error)
{
    const uint64_t which = calls == self->format->calls ? 0 : UINT64_C(1) << 62;
    hl_trace_scan scan = {.table = calls->name, .take = take_call};
    memcpy(scan.columns, calls->columns, sizeof calls->columns);
    if (!self->lines)
        scan.columns[HL_TRACE_CALL_STACK] = NULL;
    self->name_space = calls->numbered ? numbered_names | which : 0;
    memset(self->names, 0, sizeof self->names);
    return hl_trace_source_scan(self->source, "", &scan, 1, self, error);
}

/* The file's table of strings is read once, whatever its size; only the names met are kept. */
static void take_string(void *self, const hl_trace_rows *rows)
{
    size_t length;
    const char *text = hl_trace_rows_is_int(rows, 0) ? hl_trace_rows_text(rows, 1, &length) : NULL;
    if (text)
        hl_trace_name_text(((reader *)self)->builder,
                           (uint64_t)hl_trace_rows_int(rows, 0) & (INT64_MAX >> 1), text, length);
}

/* Calls that have only a number are named by it. */
static void name_numbered(reader *self)
{
    hl_trace_builder *builder = self->builder;
    for (size_t i = 0; i < builder->names.count; i++) {
        const uint64_t key = ((const uint64_t *)builder->names.items)[i];
        if (!(key & numbered_names))
            continue;
        const hl_trace_cupti_calls *calls = &self->format->calls[key >> 62 & 1];
        const uint64_t number = key & (INT64_MAX >> 1);
        const hl_trace_cupti_call_name *known = calls->known;
        char text[64];
        while (known->text && known->number != number)
            known++;
        snprintf(text, sizeof text, "%s %llu", calls->numbered, (unsigned long long)number);
        const char *const name = known->text ? known->text : text;
        hl_trace_name_text(builder, key, name, strlen(name));
    }
}

/* Says that no table of a kind is there, or that all are empty. */
static void say_kind(const reader *self, hl_trace_cupti_kind kind, const char *absent,
                     const char *empty)
{
    bool there = false, filled = false;
    for (int i = 0; i < self->lane_count; i++) {
        const hl_trace_cupti_lane *lane = &self->lanes[i];
        there |= lane->table->kind == kind;
        filled |= lane->table->kind == kind && lane->rows.number > 1;
    }
    if (!filled)
        hl_trace_missing(self->builder, 0, there ? empty : absent);
}

bool hl_trace_cupti_has_column(const hl_trace_cupti_format *format, hl_trace_source *source,
                               const char *column)
{
    for (int i = 0; i < HL_TRACE_CUPTI_TABLES && format->tables[i].name; i++)
        if (hl_trace_source_has_column(source, format->tables[i].name, column))
            return true;
    return false;
}

/* Operations first, calls next, names last: the builder's order. */
haul_status hl_trace_cupti_read(const hl_trace_cupti_format *format, hl_trace_source *source,
                                hl_trace_cupti_devices *devices, hl_trace_source_lines *lines,
                                hl_trace_builder *builder, haul_error *error)
{
    const hl_trace_scan strings = {format->string_table,
                                   take_string,
                                   {format->string_columns[0], format->string_columns[1]},
                                   true};
    bool calls_there = false;
    reader *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    self->format = format;
    self->source = source;
    self->devices = devices;
    self->lines = lines;
    self->builder = builder;
    haul_status status = read_operations(self, error);
    say_kind(self, HL_TRACE_CUPTI_COPY, "a copy table", "copies: the copy table is empty");
    say_kind(self, HL_TRACE_CUPTI_KERNEL, "a kernel table", "kernels: the kernel table is empty");
    if (!status)
        status = read_events(self, error);
    for (int i = 0; !status && i < HL_TRACE_CUPTI_CALL_TABLES && format->calls[i].name; i++) {
        calls_there |= hl_trace_source_has(source, format->calls[i].name);
        status = read_calls(self, &format->calls[i], error);
    }
    if (!status)
        status = hl_trace_source_scan(source, "", &strings, 1, self, error);
    name_numbered(self);
    if (!self->has_calls)
        hl_trace_missing(builder, 0,
                         calls_there ? "API calls: the RUNTIME table is empty"
                                     : "API calls: there is no RUNTIME table");
    free(self);
    return status;
}
