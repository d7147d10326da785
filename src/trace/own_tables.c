#include "trace/own_tables.h"

#include <string.h>

#include "trace/call_operators.h"
#include "trace/id_map.h"
#include "trace/sqlite_rows.h"

/* Rows of launches come in order of their kernels: one pass over the operations serves them all. */
typedef struct own_reader {
    hl_trace_builder *builder;
    hl_trace_id_map threads;
    hl_workload_spans operators;
    size_t op;       /* the next to look at */
    int64_t kernels; /* before it */
} own_reader;

static void take_thread(void *reader, const hl_trace_rows *rows)
{
    own_reader *const self = reader;
    hl_trace_id_map_add(
        &self->threads, &self->builder->built,
        &(hl_trace_id_row){hl_trace_rows_int(rows, 0), {hl_trace_rows_int(rows, 1)}});
}

/* The kernel of that number, NULL where there is none behind the one before. */
static haul_op *kernel_at(own_reader *self, int64_t number)
{
    hl_workload_builder *const built = &self->builder->built;
    while (self->kernels < number && self->op < built->op_count) {
        haul_op *const op = &built->ops[self->op++];
        self->kernels += op->kind == HAUL_OP_KERNEL;
        if (op->kind == HAUL_OP_KERNEL && self->kernels == number)
            return op->shape == HAUL_NONE ? NULL : op;
    }
    return NULL;
}

static uint32_t string_at(own_reader *self, const hl_trace_rows *rows, int column)
{
    size_t length;
    const char *const text = hl_trace_rows_text(rows, column, &length);
    return text && length ? hl_workload_builder_string(&self->builder->built, text, length)
                          : HAUL_NONE;
}

static uint64_t size_at(const hl_trace_rows *rows, int column)
{
    const int64_t value = hl_trace_rows_int(rows, column);
    return value > 0 ? (uint64_t)value : 0;
}

static void take_launch(void *reader, const hl_trace_rows *rows)
{
    own_reader *const self = reader;
    hl_workload_builder *const built = &self->builder->built;
    haul_op *const op =
        built->failed ? NULL : kernel_at(self, hl_trace_rows_int(rows, HL_TRACE_LAUNCH_KERNEL));
    if (!op)
        return;
    haul_shape shape = ((const haul_shape *)built->shapes.items)[op->shape];
    const uint64_t value = size_at(rows, HL_TRACE_LAUNCH_RANKS);
    const haul_collective collective = {
        .name = string_at(self, rows, HL_TRACE_LAUNCH_COLLECTIVE),
        .data_type = string_at(self, rows, HL_TRACE_LAUNCH_DATA_TYPE),
        .group = string_at(self, rows, HL_TRACE_LAUNCH_GROUP),
        .group_size = value <= UINT32_MAX ? (uint32_t)value : 0,
        .elements_in = size_at(rows, HL_TRACE_LAUNCH_ELEMENTS_IN),
        .elements_out = size_at(rows, HL_TRACE_LAUNCH_ELEMENTS_OUT)};
    const haul_operands operands = {.batch = size_at(rows, HL_TRACE_LAUNCH_BATCH),
                                    .rows = size_at(rows, HL_TRACE_LAUNCH_ROWS),
                                    .columns = size_at(rows, HL_TRACE_LAUNCH_COLUMNS),
                                    .inner = size_at(rows, HL_TRACE_LAUNCH_INNER),
                                    .bytes = size_at(rows, HL_TRACE_LAUNCH_BYTES),
                                    .alignment = size_at(rows, HL_TRACE_LAUNCH_ALIGNMENT)};
    if (collective.name != HAUL_NONE)
        shape.collective = hl_workload_builder_collective(built, &collective);
    if (hl_trace_rows_is_int(rows, HL_TRACE_LAUNCH_BYTES))
        shape.operands = hl_workload_builder_operands(built, &operands);
    const uint32_t number = hl_workload_builder_shape(built, &shape);
    if (number != HAUL_NONE)
        op->shape = number;
}

static void take_origin(void *reader, const hl_trace_rows *rows)
{
    own_reader *const self = reader;
    if (rows->number == 1 && hl_trace_rows_is_int(rows, 0) && hl_trace_rows_int(rows, 0) >= 0)
        self->builder->built.rank = hl_trace_rows_int(rows, 0);
}

static void take_rank(void *reader, const hl_trace_rows *rows)
{
    own_reader *const self = reader;
    hl_workload_builder *const built = &self->builder->built;
    size_t length;
    const char *const host = hl_trace_rows_text(rows, 2, &length);
    for (size_t i = 0; i < built->device_count; i++) {
        haul_workload_device *const device = &built->devices[i];
        if ((uint64_t)hl_trace_rows_int(rows, 0) != device->id)
            continue;
        if (hl_trace_rows_is_int(rows, 1) && hl_trace_rows_int(rows, 1) >= 0)
            device->rank = hl_trace_rows_int(rows, 1);
        if (host && length)
            device->host = hl_base_arena_text(&built->arena, host, length);
    }
}

/* The operator of the call of a thread that began then. */
static void take_operator(void *reader, const hl_trace_rows *rows)
{
    own_reader *const self = reader;
    hl_workload_builder *const built = &self->builder->built;
    const uint64_t global = (uint64_t)hl_trace_rows_int(rows, 0), low = UINT64_C(0xffffff);
    size_t length;
    const char *const text = hl_trace_rows_text(rows, 2, &length);
    const haul_workload_thread thread = {.process = global & ~low, .id = global & low};
    const haul_named_range span = {
        .start_ns = hl_trace_rows_int(rows, 1),
        .dur_ns = 1,
        .thread = hl_base_records_find(&built->threads, &thread),
        .name = text && length ? hl_trace_text(self->builder, text, length) : HAUL_NONE};
    if (span.thread != HAUL_NONE && span.name != HAUL_NONE)
        hl_workload_builder_span(built, &self->operators, &span);
}

static void take_own_loss(void *reader, const hl_trace_rows *rows)
{
    own_reader *const self = reader;
    size_t length;
    const char *const text = hl_trace_rows_text(rows, 1, &length);
    if (text && length)
        hl_trace_lost_line(self->builder, size_at(rows, 0), text);
}

static void take_own_note(void *reader, const hl_trace_rows *rows)
{
    own_reader *const self = reader;
    size_t length, kind_length;
    const char *const text = hl_trace_rows_text(rows, 1, &length);
    const char *const kind = hl_trace_rows_text(rows, 2, &kind_length);
    if (kind && kind_length)
        hl_trace_own_note(self->builder, kind, size_at(rows, 0), text && length ? text : "");
}

haul_status hl_trace_own_tables_read(hl_trace_source *source, hl_trace_builder *builder,
                                     haul_error *error)
{
    static const hl_trace_scan scans[] = {
        {HL_TRACE_OWN_THREADS, take_thread, {"globalTid", "id"}, false},
        {HL_TRACE_OWN_LAUNCHES,
         take_launch,
         {"kernel", "collective", "dataType", "groupName", "ranks", "elementsIn", "elementsOut",
          "batch", "rowCount", "columnCount", "inner", "bytes", "alignment"},
         true},
        {HL_TRACE_OWN_ORIGIN, take_origin, {"rank"}, false},
        {HL_TRACE_OWN_RANKS, take_rank, {"deviceId", "rank", "host"}, true},
        {HL_TRACE_OWN_OPERATORS, take_operator, {"globalTid", "start", "operator"}, true},
        {HL_TRACE_OWN_LOSSES, take_own_loss, {"count", "text"}, true},
        {HL_TRACE_OWN_NOTES, take_own_note, {"count", "text", "kind"}, true},
    };
    own_reader self = {.builder = builder};
    const haul_status status =
        hl_trace_source_scan(source, "", scans, sizeof scans / sizeof *scans, &self, error);
    if (!status) {
        hl_trace_call_operators_join(&self.operators, &self.builder->built);
        /* Nobody looks for a thread by its number from here on. */
        hl_workload_builder *const built = &self.builder->built;
        haul_workload_thread *const threads = built->threads.items;
        for (size_t i = 0; !built->failed && i < built->threads.count; i++) {
            const int64_t global = (int64_t)(threads[i].process | threads[i].id);
            threads[i].id =
                (uint64_t)hl_trace_id_map_value(&self.threads, global, 0, (int64_t)threads[i].id);
        }
    }
    hl_workload_spans_release(&self.operators);
    hl_trace_id_map_release(&self.threads);
    return status;
}
