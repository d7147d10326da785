/* An operation in words becomes one of a workload: the same for both kinds of files, so that what a
 * word means, and how it is refused, is written once. Every error names the operation and the place
 * of the word. */
#include "simulate/plan.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/intervals.h"
#include "haul/units.h"

const char *const hl_simulate_key_names[HL_SIMULATE_KEYS] = {HL_SIMULATE_KEY_LIST(HAUL_ROW_TEXT)};

#define BIT(key) (1U << HL_SIMULATE_KEY_##key)

enum {
    ANY_OP = BIT(NAME) | BIT(OP) | BIT(THREAD) | BIT(AFTER) | BIT(RANK),
    ON_DEVICE = ANY_OP | BIT(STREAM) | BIT(DEVICE) | BIT(DURATION) | BIT(CALL) | BIT(BLOCKING),
};

/* Kinds of operations of a plan: the word, kind, direction and the kind of memory that it is of
 * unless it says so, and the keys that mean something for it. */
static const struct {
    const char *word;
    haul_op_kind kind;
    haul_direction direction;
    haul_memory memory;
    unsigned keys;
} op_rows[] = {
    {"HtoD", HAUL_OP_COPY, HAUL_DIRECTION_HTOD, HAUL_MEMORY_PINNED,
     ON_DEVICE | BIT(BYTES) | BIT(MEMORY)},
    {"DtoH", HAUL_OP_COPY, HAUL_DIRECTION_DTOH, HAUL_MEMORY_PINNED,
     ON_DEVICE | BIT(BYTES) | BIT(MEMORY)},
    {"DtoD", HAUL_OP_COPY, HAUL_DIRECTION_DTOD, HAUL_MEMORY_DEVICE, ON_DEVICE | BIT(BYTES)},
    {"PtoP", HAUL_OP_COPY, HAUL_DIRECTION_PTOP, HAUL_MEMORY_DEVICE, ON_DEVICE | BIT(BYTES)},
    {"HtoH", HAUL_OP_COPY, HAUL_DIRECTION_HTOH, HAUL_MEMORY_PAGEABLE,
     ON_DEVICE | BIT(BYTES) | BIT(MEMORY)},
    {"kernel", HAUL_OP_KERNEL, HAUL_DIRECTION_UNKNOWN, HAUL_MEMORY_DEVICE,
     ON_DEVICE | BIT(KERNEL) | BIT(SIZE) | BIT(GRID) | BIT(BLOCK)},
    {"memset", HAUL_OP_MEMSET, HAUL_DIRECTION_UNKNOWN, HAUL_MEMORY_DEVICE, ON_DEVICE | BIT(BYTES)},
    {"send", HAUL_OP_MESSAGE, (haul_direction)HAUL_MESSAGE_SENT, HAUL_MEMORY_HOST,
     ON_DEVICE | BIT(BYTES)},
    {"receive", HAUL_OP_MESSAGE, (haul_direction)HAUL_MESSAGE_ARRIVES, HAUL_MEMORY_HOST, ON_DEVICE},
    {"host", HAUL_OP_CALL, HAUL_DIRECTION_UNKNOWN, HAUL_MEMORY_DEVICE, ANY_OP | BIT(DURATION)},
    {"wait", HAUL_OP_SYNC, HAUL_DIRECTION_UNKNOWN, HAUL_MEMORY_DEVICE,
     ANY_OP | BIT(STREAM) | BIT(DEVICE)},
};

enum { OP_ROWS = sizeof op_rows / sizeof *op_rows, DEVICE_MOST = 65535 };

static const int64_t time_most_ns = INT64_C(1) << 60;
static const uint64_t bytes_most = UINT64_C(1) << 62; /* sums of a machine's rates stay finite */

void hl_simulate_plan_init(hl_simulate_plan *self, const char *file, haul_error *error)
{
    *self = (hl_simulate_plan){.file = file, .error = error};
    hl_workload_builder_init(&self->built);
}

void hl_simulate_plan_release(hl_simulate_plan *self)
{
    hl_workload_builder_release(&self->built);
    hl_base_arena_release(&self->arena);
    free(self->spots);
    free(self->references);
    free(self->kernels);
    free(self->named);
    free(self->stream_last);
    free(self->clocks_ns);
}

/* --- errors */

haul_status hl_simulate_plan_fail(const hl_simulate_plan *self, int line, int column,
                                  const char *format, ...)
{
    va_list args;
    va_start(args, format);
    hl_base_vfail_at(self->error, (hl_base_place){self->file, line, column}, format, args);
    va_end(args);
    return HAUL_STATUS_BAD_INPUT;
}

/* By the name that its file gives it, else by its number, from 1 on. */
haul_status hl_simulate_plan_blame(const hl_simulate_plan *self, const hl_simulate_draft *draft)
{
    const char *given = draft->words[HL_SIMULATE_KEY_NAME].text;
    return given && *given
               ? hl_base_error_before(self->error, "operation '%.100s'", given)
               : hl_base_error_before(self->error, "operation #%zu", self->built.op_count + 1);
}

/* Names the operation before what is wrong with one of its words. */
static haul_status fail_op(const hl_simulate_plan *self, const hl_simulate_draft *draft,
                           const hl_simulate_word *at, const char *format, ...) HAUL_PRINTF(4, 5);

static haul_status fail_op(const hl_simulate_plan *self, const hl_simulate_draft *draft,
                           const hl_simulate_word *at, const char *format, ...)
{
    const hl_base_place place = {self->file, at ? at->line : draft->line,
                                 at ? at->column : draft->column};
    va_list args;
    va_start(args, format);
    hl_base_vfail_at(self->error, place, format, args);
    va_end(args);
    return hl_simulate_plan_blame(self, draft);
}

static haul_status blame(const hl_simulate_plan *self, const hl_simulate_draft *draft,
                         const hl_simulate_word *at)
{
    hl_base_error_at(self->error, (hl_base_place){self->file, at->line, at->column});
    return hl_simulate_plan_blame(self, draft);
}

/* Names are kept once each; a failure is the builder's, and found when the operation is added. */
static uint32_t add_string(hl_simulate_plan *self, const char *text)
{
    return hl_workload_builder_string(&self->built, text, strlen(text));
}

/* --- words */

/* The row of the draft's `op`, all of whose words mean something for it. */
static haul_status find_row(const hl_simulate_plan *self, const hl_simulate_draft *draft, int *row)
{
    const hl_simulate_word *op = &draft->words[HL_SIMULATE_KEY_OP];
    char list[120] = "";
    int at = 0;
    if (!op->text)
        return fail_op(self, draft, NULL, "expected 'op'");
    while (at < OP_ROWS && strcasecmp(op->text, op_rows[at].word) != 0)
        at++;
    for (int i = 0; at == OP_ROWS && i < OP_ROWS; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "",
                 op_rows[i].word);
    if (at == OP_ROWS)
        return fail_op(self, draft, op, "expected one of %s, not '%.80s'", list, op->text);
    for (int key = 0; key < HL_SIMULATE_KEYS; key++) {
        const hl_simulate_word *word = &draft->words[key];
        if (word->text && !(op_rows[at].keys & 1U << key))
            return fail_op(self, draft, word, "'%s' means nothing for '%s'",
                           hl_simulate_key_names[key], op_rows[at].word);
        if (word->text && !*word->text)
            return fail_op(self, draft, word, "'%s' is empty", hl_simulate_key_names[key]);
    }
    *row = at;
    return HAUL_OK;
}

/* At most 2^60 ns, so that sums of two fit. */
haul_status hl_simulate_plan_duration(const hl_simulate_plan *self, const hl_simulate_word *word,
                                      const char *key, int64_t *ns)
{
    double seconds = 0;
    if (haul_quantity_parse(word->text, HAUL_DIM_SECONDS, &seconds, self->error))
        return HAUL_STATUS_BAD_INPUT;
    if (seconds < 0)
        return haul_error_set(self->error, HAUL_STATUS_BAD_INPUT, "'%s' is negative: '%.80s'", key,
                              word->text);
    if (seconds * 1e9 > (double)time_most_ns)
        return haul_error_set(self->error, HAUL_STATUS_BAD_INPUT, "'%s' is beyond 2^60 ns: '%.80s'",
                              key, word->text);
    *ns = llround(seconds * 1e9);
    return HAUL_OK;
}

static haul_status read_duration(const hl_simulate_plan *self, const hl_simulate_draft *draft,
                                 hl_simulate_key key, int64_t *ns)
{
    const hl_simulate_word *word = &draft->words[key];
    if (!word->text)
        return HAUL_OK;
    if (hl_simulate_plan_duration(self, word, hl_simulate_key_names[key], ns))
        return blame(self, draft, word);
    if (!*ns && key == HL_SIMULATE_KEY_DURATION)
        return fail_op(self, draft, word, "takes no time: '%.80s'", word->text);
    return HAUL_OK;
}

static haul_status read_bytes(const hl_simulate_plan *self, const hl_simulate_draft *draft,
                              haul_op *op)
{
    const hl_simulate_word *bytes = &draft->words[HL_SIMULATE_KEY_BYTES];
    const hl_simulate_word *memory = &draft->words[HL_SIMULATE_KEY_MEMORY];
    haul_memory kind = HAUL_MEMORY_PINNED;
    if (bytes->text && haul_bytes_parse(bytes->text, &op->bytes, self->error))
        return blame(self, draft, bytes);
    if (bytes->text && !op->bytes)
        return fail_op(self, draft, bytes, "moves no bytes");
    if (memory->text && haul_memory_parse(memory->text, &kind, self->error))
        return blame(self, draft, memory);
    if (memory->text)
        op->detail = (uint8_t)kind;
    return HAUL_OK;
}

/* "128", "128x2", "128x2x1" */
static bool read_sides(const char *text, uint32_t sides[3])
{
    for (int i = 0; i < 3; i++)
        sides[i] = 1;
    for (int i = 0; i < 3; i++) {
        char *end = NULL;
        const unsigned long long side = strtoull(text, &end, 10);
        if (*text < '0' || *text > '9' || !side || side > INT32_MAX)
            return false;
        sides[i] = (uint32_t)side;
        if (!*end)
            return true;
        if (*end != 'x')
            return false;
        text = end + 1;
    }
    return false;
}

/* Grid and block come together, for occupancy needs both. */
static haul_status read_shape(hl_simulate_plan *self, const hl_simulate_draft *draft, haul_op *op)
{
    const hl_simulate_word *grid = &draft->words[HL_SIMULATE_KEY_GRID];
    const hl_simulate_word *block = &draft->words[HL_SIMULATE_KEY_BLOCK];
    haul_shape shape = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    op->shape = HAUL_NONE;
    if (!grid->text && !block->text)
        return HAUL_OK;
    if (!grid->text || !block->text)
        return fail_op(self, draft, grid->text ? grid : block,
                       "'grid' and 'block' are given together");
    for (int i = 0; i < 2; i++) {
        const hl_simulate_word *word = i ? block : grid;
        if (!read_sides(word->text, i ? shape.block : shape.grid))
            return fail_op(self, draft, word,
                           "expected up to three numbers such as 128x2 for '%s', not '%.80s'",
                           i ? "block" : "grid", word->text);
    }
    op->shape = hl_workload_builder_shape(&self->built, &shape);
    return op->shape == HAUL_NONE ? hl_base_fail_no_memory(self->error) : HAUL_OK;
}

/* --- what operations are on */

/* The device or the rank that an operation gives, or 0. */
static haul_status read_number(const hl_simulate_plan *self, const hl_simulate_draft *draft,
                               hl_simulate_key key, uint32_t *number)
{
    const hl_simulate_word *word = &draft->words[key];
    char *end = NULL;
    const unsigned long long read = word->text ? strtoull(word->text, &end, 10) : 0;
    if (word->text && (*word->text < '0' || *word->text > '9' || *end || read > DEVICE_MOST))
        return fail_op(self, draft, word, "expected a number from 0 to %d for '%s', not '%.80s'",
                       DEVICE_MOST, hl_simulate_key_names[key], word->text);
    *number = (uint32_t)read;
    return HAUL_OK;
}

/* A rank has a device of its own, of its number. */
static haul_status check_rank(hl_simulate_plan *self, const hl_simulate_draft *draft)
{
    const hl_simulate_word *rank = &draft->words[HL_SIMULATE_KEY_RANK];
    if (!self->built.op_count)
        self->has_ranks = rank->text != NULL;
    if (self->has_ranks != (rank->text != NULL))
        return fail_op(self, draft, rank->text ? rank : NULL,
                       "all operations have a 'rank', or none");
    if (rank->text && draft->words[HL_SIMULATE_KEY_DEVICE].text)
        return fail_op(self, draft, &draft->words[HL_SIMULATE_KEY_DEVICE],
                       "a rank has one device: 'device' does not go with 'rank'");
    return read_number(self, draft, HL_SIMULATE_KEY_RANK, &self->rank);
}

/* Devices are numbered from 0 to the last that is named, whether each is used or not: neighbours
 * share links. */
static haul_status find_stream(hl_simulate_plan *self, const hl_simulate_draft *draft, haul_op *op)
{
    hl_workload_builder *built = &self->built;
    const char *name = draft->words[HL_SIMULATE_KEY_STREAM].text;
    const size_t known = built->streams.count;
    uint32_t number = self->rank;
    if (!self->has_ranks)
        HAUL_TRY(read_number(self, draft, HL_SIMULATE_KEY_DEVICE, &number));
    const uint32_t id = add_string(self, name ? name : "default");
    if (!built->failed)
        op->stream = hl_workload_builder_stream(
            built,
            &(haul_workload_stream){.device = number, .id = id, .name = built->strings.texts[id]});
    while (!built->failed && built->device_count <= number) {
        const uint32_t made = hl_workload_builder_device(built, built->device_count);
        if (!built->failed && self->has_ranks)
            built->devices[made].rank = made;
    }
    if (!hl_workload_builder_grow(built, &self->stream_last, &self->stream_capacity,
                                  built->streams.count, sizeof *self->stream_last))
        return hl_base_fail_no_memory(self->error);
    if (built->streams.count > known)
        self->stream_last[op->stream] = HAUL_NONE;
    return HAUL_OK;
}

/* Calls follow one another without a pause. A device's operation is not before its call's return,
 * so that no call of the workload looks as if it had waited. The cost of a call that then blocks
 * lies before it, for it returns with its operation. */
static haul_status put_on_thread(hl_simulate_plan *self, const hl_simulate_draft *draft,
                                 haul_op *op)
{
    hl_workload_builder *built = &self->built;
    const hl_simulate_word *word = &draft->words[HL_SIMULATE_KEY_THREAD];
    const size_t known = built->threads.count;
    const uint32_t name = add_string(self, word->text ? word->text : "host");
    if (!built->failed)
        op->thread = hl_workload_builder_thread(
            built, &(haul_workload_thread){
                       .process = self->rank, .id = name, .name = built->strings.texts[name]});
    if (!hl_workload_builder_grow(built, &self->clocks_ns, &self->clock_capacity,
                                  built->threads.count, sizeof *self->clocks_ns))
        return hl_base_fail_no_memory(self->error);
    int64_t *clock_ns = &self->clocks_ns[op->thread];
    if (built->threads.count > known)
        *clock_ns = 0;
    const bool on_host = haul_op_on_host(op);
    op->flags |= HAUL_OP_HAS_CALL;
    if (op->flags & HAUL_OP_BLOCKS) {
        *clock_ns += op->call_dur_ns;
        op->call_dur_ns = 0;
    }
    op->call_ns = *clock_ns;
    *clock_ns += on_host ? op->dur_ns : op->call_dur_ns;
    op->start_ns = on_host ? op->call_ns : *clock_ns;
    return HAUL_OK;
}

/* --- what operations are after */

/* An edge costs 8 bytes, and few words make many: `repeat` with `wait`. */
static haul_status check_edges(const hl_simulate_plan *self)
{
    if (self->built.edge_count + self->reference_count >= 8 * (size_t)HAUL_SCHEDULE_OPS)
        return haul_error_set(self->error, HAUL_STATUS_BAD_INPUT,
                              "waits for more than can be waited for");
    return HAUL_OK;
}

/* The names are resolved when all operations are known, for an operation may come after a later
 * one. A wait without names is for all that was issued above, on its stream where it has one. */
static haul_status read_after(hl_simulate_plan *self, const hl_simulate_draft *draft,
                              const haul_op *op)
{
    const hl_simulate_word *stream = &draft->words[HL_SIMULATE_KEY_STREAM];
    const hl_simulate_word *device = &draft->words[HL_SIMULATE_KEY_DEVICE];
    const uint32_t at = (uint32_t)self->built.op_count;
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < draft->after_count; i++) {
        const hl_simulate_word *word = &draft->after[i];
        const uint32_t name = add_string(self, word->text);
        if (!hl_workload_builder_grow(&self->built, &self->references, &self->reference_capacity,
                                      self->reference_count + 1, sizeof *self->references))
            return hl_base_fail_no_memory(self->error);
        self->references[self->reference_count++] =
            (hl_simulate_reference){at, name, {word->line, word->column}};
        status = check_edges(self);
    }
    if (status || op->kind != HAUL_OP_SYNC || (draft->after_count && !stream->text))
        return status;
    if (!stream->text && device->text)
        return fail_op(self, draft, device, "'device' goes with a 'stream'");
    haul_op on = {.stream = HAUL_NONE};
    status = stream->text ? find_stream(self, draft, &on) : HAUL_OK;
    if (!status && stream->text && self->stream_last[on.stream] == HAUL_NONE)
        return fail_op(self, draft, stream, "nothing above is on stream '%.80s'", stream->text);
    const haul_workload_stream *streams = self->built.streams.items;
    for (size_t s = 0; !status && s < self->built.streams.count; s++)
        if (stream->text ? s == on.stream : !self->has_ranks || streams[s].device == self->rank) {
            hl_workload_builder_edge(&self->built, self->stream_last[s], at);
            status = check_edges(self);
        }
    return status;
}

/* --- operations */

/* Names are unique, because `after` refers by name; the error tells where the other is. */
static haul_status read_name(hl_simulate_plan *self, const hl_simulate_draft *draft, haul_op *op)
{
    const hl_simulate_word *word = &draft->words[HL_SIMULATE_KEY_NAME];
    op->name = HAUL_NONE;
    if (!word->text)
        return HAUL_OK;
    op->name = add_string(self, word->text);
    if (!hl_workload_builder_grow(&self->built, &self->named, &self->named_capacity,
                                  self->built.strings.count, sizeof *self->named))
        return hl_base_fail_no_memory(self->error);
    while (self->named_count < self->built.strings.count)
        self->named[self->named_count++] = HAUL_NONE;
    const uint32_t other = self->named[op->name];
    if (other != HAUL_NONE)
        return fail_op(self, draft, word, "another operation has that name, in line %d",
                       self->spots[other].line);
    self->named[op->name] = (uint32_t)self->built.op_count;
    return HAUL_OK;
}

/* A kernel of a file, whose time depends on its size and the machine. */
static haul_status read_kernel(hl_simulate_plan *self, const hl_simulate_draft *draft)
{
    const hl_simulate_word *name = &draft->words[HL_SIMULATE_KEY_KERNEL],
                           *size = &draft->words[HL_SIMULATE_KEY_SIZE];
    const hl_simulate_word *duration = &draft->words[HL_SIMULATE_KEY_DURATION];
    hl_simulate_kernel_use use = {.op = (uint32_t)self->built.op_count};
    if (!name->text && !size->text)
        return HAUL_OK;
    if (!name->text || !size->text)
        return fail_op(self, draft, name->text ? name : size,
                       "'kernel' and 'size' are given together");
    if (duration->text)
        return fail_op(self, draft, duration, "has both a 'duration' and a 'kernel'");
    if (haul_quantity_parse(size->text, HAUL_DIM_NUMBER, &use.size, self->error))
        return blame(self, draft, size);
    if (use.size <= 0)
        return fail_op(self, draft, size, "'size' is not above 0");
    use.name = add_string(self, name->text);
    if (use.name == UINT32_MAX || !hl_base_grow(&self->kernels, &self->kernel_capacity,
                                                self->kernel_count + 1, sizeof *self->kernels))
        return hl_base_fail_no_memory(self->error);
    self->kernels[self->kernel_count++] = use;
    return HAUL_OK;
}

/* CUDA's own rule where the file does not say: a copy of pageable memory returns when it is done.
 */
static haul_status check_whole(hl_simulate_plan *self, const hl_simulate_draft *draft, haul_op *op)
{
    const hl_simulate_word *blocking = &draft->words[HL_SIMULATE_KEY_BLOCKING];
    const bool timed =
        draft->words[HL_SIMULATE_KEY_DURATION].text || draft->words[HL_SIMULATE_KEY_KERNEL].text;
    const uint64_t bytes = haul_op_has_bytes(op) ? op->bytes : 0;
    bool blocks = op->kind == HAUL_OP_COPY && op->detail == HAUL_MEMORY_PAGEABLE;
    if (blocking->text) {
        blocks = !strcasecmp(blocking->text, "true") || !strcasecmp(blocking->text, "yes");
        if (!blocks && strcasecmp(blocking->text, "false") != 0 &&
            strcasecmp(blocking->text, "no") != 0)
            return fail_op(self, draft, blocking,
                           "expected true or false for 'blocking', not '%.80s'", blocking->text);
    }
    op->flags |= blocks ? HAUL_OP_BLOCKS : 0;
    if (op->kind == HAUL_OP_COPY && !timed && !op->bytes)
        return fail_op(self, draft, NULL, "a copy needs 'bytes' or a 'duration'");
    if (op->kind == HAUL_OP_MESSAGE && !self->has_ranks)
        return fail_op(self, draft, NULL, "a message needs a 'rank'");
    if (op->kind == HAUL_OP_MESSAGE && op->direction == HAUL_MESSAGE_SENT && !op->bytes)
        return fail_op(self, draft, NULL, "a send needs 'bytes'");
    if (!timed && op->kind != HAUL_OP_COPY && op->kind != HAUL_OP_SYNC &&
        op->kind != HAUL_OP_MESSAGE)
        return fail_op(self, draft, NULL, "a %s needs a 'duration'",
                       op->kind == HAUL_OP_KERNEL   ? "kernel"
                       : op->kind == HAUL_OP_MEMSET ? "memset"
                                                    : "host's work");
    self->total_ns = hl_base_add_ns(self->total_ns, hl_base_add_ns(op->dur_ns, op->call_dur_ns));
    if (self->total_ns > time_most_ns)
        return fail_op(self, draft, NULL, "the sum of all durations is beyond 2^60 ns");
    if (bytes > bytes_most - self->total_bytes)
        return fail_op(self, draft, NULL, "the sum of all bytes is beyond 2^62");
    self->total_bytes += bytes;
    return HAUL_OK;
}

/* The order of the steps is that in which errors are looked for; the operation is added last,
 * whole. */
haul_status hl_simulate_plan_add(hl_simulate_plan *self, const hl_simulate_draft *draft)
{
    int row = 0;
    if (self->built.op_count >= HAUL_SCHEDULE_OPS)
        return hl_simulate_plan_fail(self, draft->line, draft->column, "more than %d operations",
                                     HAUL_SCHEDULE_OPS);
    HAUL_TRY(find_row(self, draft, &row));
    HAUL_TRY(check_rank(self, draft));
    haul_op op = {.kind = (uint8_t)op_rows[row].kind,
                  .direction = (uint8_t)op_rows[row].direction,
                  .stream = HAUL_NONE};
    if (op.kind == HAUL_OP_COPY || op.kind == HAUL_OP_MESSAGE)
        op.detail = (uint8_t)op_rows[row].memory;
    if (!hl_workload_builder_grow(&self->built, &self->spots, &self->spot_capacity,
                                  self->built.op_count + 1, sizeof *self->spots))
        return hl_base_fail_no_memory(self->error);
    op.call_dur_ns = haul_op_on_device(&op) ? self->call_ns : 0;
    HAUL_TRY(read_duration(self, draft, HL_SIMULATE_KEY_DURATION, &op.dur_ns));
    HAUL_TRY(read_duration(self, draft, HL_SIMULATE_KEY_CALL, &op.call_dur_ns));
    HAUL_TRY(read_bytes(self, draft, &op));
    if (op.kind == HAUL_OP_KERNEL)
        HAUL_TRY(read_shape(self, draft, &op));
    HAUL_TRY(read_kernel(self, draft));
    HAUL_TRY(check_whole(self, draft, &op));
    HAUL_TRY(read_name(self, draft, &op));
    HAUL_TRY(read_after(self, draft, &op));
    if (haul_op_on_device(&op))
        HAUL_TRY(find_stream(self, draft, &op));
    HAUL_TRY(put_on_thread(self, draft, &op));
    const uint32_t number = hl_workload_builder_op(&self->built, &op);
    if (self->built.failed)
        return hl_base_fail_no_memory(self->error);
    self->spots[number] = (hl_simulate_spot){draft->line, draft->column};
    if (haul_op_on_device(&op))
        self->stream_last[op.stream] = number;
    return HAUL_OK;
}
