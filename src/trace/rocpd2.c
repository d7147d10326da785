/* rocpd of schema version 2: the .rpd files of AMD's rocmProfileData. Operations (rocpd_op) are
 * joined to the calls that issued them (rocpd_api) by rocpd_api_ops; what a copy or launch was
 * asked for stands beside its call (rocpd_copyapi, rocpd_kernelapi).
 *
 * The recorder sets `pinned` and `sync` to 0 whatever they are, and writes '' for a size that its
 * int cannot hold: no kind of host memory is known then, and no number of bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/copy_name.h"
#include "trace/id_map.h"
#include "trace/rocpd.h"
#include "trace/trace_format.h"

/* The meaning of a string as an operation's type. */
enum { WORD_KIND, WORD_DIRECTION, WORD_MEMORY };
/* Arguments of copies and launches, by their calls. */
enum { ASKED_STREAM, ASKED_BYTES, ASKED_PINNED, ASKED_SHAPE = ASKED_BYTES, ASKED_NAME };

typedef struct reader {
    hl_trace_builder *builder;
    hl_trace_id_map words;
    hl_trace_id_map copies;
    hl_trace_id_map launches;
    hl_trace_id_map calls; /* of operations */
    int64_t empty_text;
    int64_t marker_text;
} reader;

/* These two tables are of version 2 alone. */
static bool sniff_rocpd2(hl_trace_source *source)
{
    return hl_trace_source_has(source, "rocpd_op") && hl_trace_source_has(source, "rocpd_api");
}

static bool is_text(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && !memcmp(text, word, length);
}

/* Types of operations. A Task is the kernels of a graph. */
static void take_word(void *reader_, const hl_trace_rows *rows)
{
    static const struct {
        const char *word;
        haul_op_kind kind;
    } kinds[] = {{"KernelExecution", HAUL_OP_KERNEL},
                 {"Task", HAUL_OP_KERNEL},
                 {"FillBuffer", HAUL_OP_MEMSET}};
    reader *const self = reader_;
    hl_workload_builder *const built = &self->builder->built;
    const hl_trace_rocpd_word word = hl_trace_rocpd_word_read(rows);
    if (!word.text)
        return;
    if (!word.length)
        self->empty_text = word.id;
    if (is_text(word.text, word.length, "UserMarker"))
        self->marker_text = word.id;
    if (word.direction != HAUL_DIRECTION_UNKNOWN && !strncmp(word.text, "Copy", 4))
        hl_trace_id_map_add(
            &self->words, built,
            &(hl_trace_id_row){word.id, {HAUL_OP_COPY, word.direction, word.memory}});
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (is_text(word.text, word.length, kinds[i].word))
            hl_trace_id_map_add(&self->words, built, &(hl_trace_id_row){word.id, {kinds[i].kind}});
}

/* Streams are named by their handles, "0x7f12": numbers as texts. */
static int64_t handle_at(const hl_trace_rows *rows, int column)
{
    size_t length;
    const char *text = hl_trace_rows_text(rows, column, &length);
    return text ? (int64_t)strtoull(text, NULL, 16) : 0;
}

/* Takes a copy's size from its call's arguments: its own row has times and a type only. */
static void take_copy(void *reader_, const hl_trace_rows *rows)
{
    reader *const self = reader_;
    hl_trace_id_map_add(&self->copies, &self->builder->built,
                        &(hl_trace_id_row){hl_trace_rows_int(rows, 0),
                                           {[ASKED_STREAM] = handle_at(rows, 1),
                                            [ASKED_BYTES] = hl_trace_rows_int_or(rows, 2, -1),
                                            [ASKED_PINNED] = hl_trace_rows_int(rows, 3)}});
}

/* The grid is in blocks here, as the program asked for it. */
static void take_launch(void *reader_, const hl_trace_rows *rows)
{
    reader *const self = reader_;
    hl_workload_builder *const built = &self->builder->built;
    haul_shape shape = {.shared_bytes = hl_trace_rocpd_count(hl_trace_rows_int(rows, 9))};
    for (int i = 0; i < 3; i++) {
        shape.grid[i] = hl_trace_rocpd_count(hl_trace_rows_int(rows, 3 + i));
        shape.block[i] = hl_trace_rocpd_count(hl_trace_rows_int(rows, 6 + i));
    }
    hl_trace_id_map_add(
        &self->launches, built,
        &(hl_trace_id_row){hl_trace_rows_int(rows, 0),
                           {[ASKED_STREAM] = handle_at(rows, 1),
                            [ASKED_SHAPE] = hl_workload_builder_shape(built, &shape),
                            [ASKED_NAME] = hl_trace_rows_int(rows, 2)}});
}

/* An operation has one call; a call may have issued several operations. */
static void take_link(void *reader_, const hl_trace_rows *rows)
{
    reader *const self = reader_;
    hl_trace_id_map_add(
        &self->calls, &self->builder->built,
        &(hl_trace_id_row){hl_trace_rows_int(rows, 0), {hl_trace_rows_int(rows, 1)}});
}

/* Names, descriptions and arguments are all of one table of strings. */
static uint32_t name_of(reader *self, int64_t string)
{
    return hl_trace_name(self->builder, hl_trace_rocpd_name_key(0, string));
}

/* A size of '' reads as no number: the bytes are not known then, and the copy is never predicted.
 */
static void fill_copy(reader *self, const hl_trace_id_row *word, const hl_trace_id_row *asked,
                      haul_op *op)
{
    const int64_t bytes = asked ? asked->values[ASKED_BYTES] : -1;
    op->direction = (uint8_t)word->values[WORD_DIRECTION];
    op->detail = (uint8_t)word->values[WORD_MEMORY];
    if (op->detail == HAUL_MEMORY_HOST && asked && asked->values[ASKED_PINNED])
        op->detail = HAUL_MEMORY_PINNED;
    op->bytes = bytes >= 0 ? (uint64_t)bytes : 0;
    if (bytes < 0) {
        op->flags |= HAUL_OP_NO_BYTES;
        hl_trace_missing(self->builder, 1, HL_TRACE_NO_BYTES);
    }
}

/* A kernel's name is its description; where that is empty, what the launch asked for. */
static void fill_kernel(reader *self, const hl_trace_rows *rows, const hl_trace_id_row *asked,
                        haul_op *op)
{
    static const haul_shape unknown = {0};
    const int64_t description = hl_trace_rows_int(rows, 5);
    op->shape = asked ? (uint32_t)asked->values[ASKED_SHAPE]
                      : hl_workload_builder_shape(&self->builder->built, &unknown);
    if (description != self->empty_text)
        op->name = name_of(self, description);
    else if (asked)
        op->name = name_of(self, asked->values[ASKED_NAME]);
}

/* Barriers and markers among the operations move nothing and run nothing: they are counted and left
 * out. */
static void take_op(void *reader_, const hl_trace_rows *rows)
{
    reader *const self = reader_;
    if (rows->number == 1)
        hl_workload_builder_reserve(&self->builder->built,
                                    hl_trace_source_row_estimate(rows->source, rows->table));
    const hl_trace_id_row *const word =
        hl_trace_id_map_find(&self->words, hl_trace_rows_int(rows, 6));
    if (!word) {
        hl_trace_missing(self->builder, 1, "operations of other types, left out");
        return;
    }
    const int64_t call = hl_trace_id_map_value(&self->calls, hl_trace_rows_int(rows, 0), 0, 0);
    const haul_op_kind kind = (haul_op_kind)word->values[WORD_KIND];
    const hl_trace_id_row *const asked =
        hl_trace_id_map_find(kind == HAUL_OP_KERNEL ? &self->launches : &self->copies, call);
    const uint64_t gpu = (uint64_t)hl_trace_rows_int(rows, 3);
    /* a call's handle of a stream orders its work; where there is none, the queue does */
    const haul_workload_stream stream = {
        .device = hl_trace_device(self->builder, gpu, gpu),
        .id = (uint64_t)(asked ? asked->values[ASKED_STREAM] : hl_trace_rows_int(rows, 4)),
    };
    haul_op op = {
        .start_ns = hl_trace_rows_int(rows, 1),
        .dur_ns = hl_trace_duration(hl_trace_rows_int(rows, 1), hl_trace_rows_int(rows, 2)),
        .kind = (uint8_t)kind,
        .name = HAUL_NONE,
        .thread = HAUL_NONE,
        .stream = hl_workload_builder_stream(&self->builder->built, &stream),
    };
    if (kind == HAUL_OP_COPY)
        fill_copy(self, word, asked, &op);
    else if (kind == HAUL_OP_KERNEL)
        fill_kernel(self, rows, asked, &op);
    else
        op.flags |= HAUL_OP_NO_BYTES; /* a fill's size is not recorded */
    hl_trace_op(self->builder, &op, call > 0 ? (uint64_t)call : 0);
}

/* roctx's ranges are calls named UserMarker, whose text is in the arguments. */
static void take_call(void *reader_, const hl_trace_rows *rows)
{
    reader *const self = reader_;
    const haul_workload_thread thread = {.process = (uint64_t)hl_trace_rows_int(rows, 3),
                                         .id = (uint64_t)hl_trace_rows_int(rows, 4)};
    const uint32_t number = hl_workload_builder_thread(&self->builder->built, &thread);
    const int64_t start = hl_trace_rows_int(rows, 1), id = hl_trace_rows_int(rows, 0);
    const int64_t dur_ns = hl_trace_duration(start, hl_trace_rows_int(rows, 2));
    if (self->marker_text && hl_trace_rows_int(rows, 5) == self->marker_text) {
        const haul_named_range range = {start, dur_ns, name_of(self, hl_trace_rows_int(rows, 6)),
                                        number};
        hl_trace_range(self->builder, &range);
        return;
    }
    const hl_trace_host_call call = {.start_ns = start,
                                     .dur_ns = dur_ns,
                                     .key = id > 0 ? (uint64_t)id : 0,
                                     .name = name_of(self, hl_trace_rows_int(rows, 5)),
                                     .thread = number};
    hl_trace_call(self->builder, &call);
}

static void take_name(void *self, const hl_trace_rows *rows)
{
    size_t length;
    const char *text = hl_trace_rows_text(rows, 1, &length);
    if (text)
        hl_trace_name_text(((reader *)self)->builder,
                           hl_trace_rocpd_name_key(0, hl_trace_rows_int(rows, 0)), text, length);
}

/* In this order: the builder takes calls after all operations, and names after both. */
static const hl_trace_scan scans[] = {
    {"rocpd_string", take_word, {"id", "string"}, true},
    {"rocpd_copyapi", take_copy, {"api_ptr_id", "stream", "size", "pinned"}, true},
    {"rocpd_kernelapi",
     take_launch,
     {"api_ptr_id", "stream", "kernelName_id", "gridX", "gridY", "gridZ", "workgroupX",
      "workgroupY", "workgroupZ", "groupSegmentSize"},
     true},
    {"rocpd_api_ops", take_link, {"op_id", "api_id"}, false},
    {"rocpd_op",
     take_op,
     {"id", "start", "end", "gpuId", "queueId", "description_id", "opType_id"},
     false},
    {"rocpd_api", take_call, {"id", "start", "end", "pid", "tid", "apiName_id", "args_id"}, false},
    {"rocpd_string", take_name, {"id", "string"}, true},
};

static haul_status read_rocpd2(hl_trace_source *source, hl_trace_builder *builder,
                               hl_trace_version *version, haul_error *error)
{
    reader self = {.builder = builder, .empty_text = -1};
    const haul_status status =
        hl_trace_source_scan(source, "", scans, sizeof scans / sizeof *scans, &self, error);
    (void)snprintf(version->text, sizeof version->text, "2");
    hl_trace_id_map_release(&self.words);
    hl_trace_id_map_release(&self.copies);
    hl_trace_id_map_release(&self.launches);
    hl_trace_id_map_release(&self.calls);
    return status;
}

const hl_trace_format hl_trace_rocpd2 = {
    .name = "rocpd", .sniff = sniff_rocpd2, .read = read_rocpd2};
