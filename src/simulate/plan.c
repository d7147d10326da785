#include "simulate/plan.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/nearest.h"
#include "haul/units.h"

const char *const haul_key_names[HAUL_KEYS] = {
#define KEY_NAME(name, text) text,
    HAUL_KEY_LIST(KEY_NAME)
#undef KEY_NAME
};

#define BIT(key) (1U << HAUL_KEY_##key)

enum {
    ANY_OP = BIT(NAME) | BIT(OP) | BIT(THREAD) | BIT(AFTER),
    ON_DEVICE = ANY_OP | BIT(STREAM) | BIT(DEVICE) | BIT(DURATION) | BIT(CALL) | BIT(BLOCKING),
};

/* What an operation may be: its word, kind, direction and the kind of memory that it is of unless
 * it says so, and the keys that mean something for it. */
static const struct {
    const char *word;
    haul_op_kind kind;
    haul_direction direction;
    haul_memory memory;
    unsigned keys;
} op_rows[] = {
    {"HtoD", HAUL_OP_COPY, HAUL_HTOD, HAUL_PINNED, ON_DEVICE | BIT(BYTES) | BIT(MEMORY)},
    {"DtoH", HAUL_OP_COPY, HAUL_DTOH, HAUL_PINNED, ON_DEVICE | BIT(BYTES) | BIT(MEMORY)},
    {"DtoD", HAUL_OP_COPY, HAUL_DTOD, HAUL_DEVICE, ON_DEVICE | BIT(BYTES)},
    {"PtoP", HAUL_OP_COPY, HAUL_PTOP, HAUL_DEVICE, ON_DEVICE | BIT(BYTES)},
    {"HtoH", HAUL_OP_COPY, HAUL_HTOH, HAUL_PAGEABLE, ON_DEVICE | BIT(BYTES) | BIT(MEMORY)},
    {"kernel", HAUL_OP_KERNEL, HAUL_UNKNOWN, HAUL_DEVICE,
     ON_DEVICE | BIT(KERNEL) | BIT(SIZE) | BIT(GRID) | BIT(BLOCK)},
    {"memset", HAUL_OP_MEMSET, HAUL_UNKNOWN, HAUL_DEVICE, ON_DEVICE | BIT(BYTES)},
    {"host", HAUL_OP_CALL, HAUL_UNKNOWN, HAUL_DEVICE, ANY_OP | BIT(DURATION)},
    {"wait", HAUL_OP_SYNC, HAUL_UNKNOWN, HAUL_DEVICE, ANY_OP | BIT(STREAM) | BIT(DEVICE)},
};

enum { OP_ROWS = sizeof op_rows / sizeof *op_rows };

static const int64_t time_most_ns = INT64_C(1) << 60;
static const uint64_t bytes_most = UINT64_C(1) << 62;

void haul_plan_init(haul_plan *self, const char *file, haul_error *error)
{
    *self = (haul_plan){.file = file, .error = error};
    haul_builder_init(&self->built);
}

void haul_plan_release(haul_plan *self)
{
    haul_builder_release(&self->built);
    haul_arena_release(&self->arena);
    free(self->spots);
    free(self->references);
    free(self->kernels);
    free(self->named);
    free(self->stream_last);
    free(self->clocks_ns);
}

/* --- errors */

haul_status haul_plan_fail(const haul_plan *self, int line, int column, const char *format, ...)
{
    char text[sizeof self->error->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    haul_fail(self->error, HAUL_BAD_INPUT, "%s", text);
    haul_error_at(self->error, self->file, line, column);
    return HAUL_BAD_INPUT;
}

enum { OP_TEXT = 120 };

static void quote_op(const haul_plan *self, const haul_draft *draft, char name[OP_TEXT])
{
    const char *given = draft->words[HAUL_KEY_NAME].text;
    if (given && *given)
        snprintf(name, OP_TEXT, "'%.100s'", given);
    else
        snprintf(name, OP_TEXT, "#%zu", self->built.op_count + 1);
}

haul_status haul_plan_blame(const haul_plan *self, const haul_draft *draft)
{
    char text[400], name[OP_TEXT];
    snprintf(text, sizeof text, "%.390s", self->error->text);
    quote_op(self, draft, name);
    snprintf(self->error->text, sizeof self->error->text, "operation %s: %.380s", name, text);
    return self->error->status;
}

/* Names the operation before what is wrong with one of its words. */
static haul_status fail_op(const haul_plan *self, const haul_draft *draft, const haul_word *at,
                           const char *format, ...) HAUL_PRINTF(4, 5);

static haul_status fail_op(const haul_plan *self, const haul_draft *draft, const haul_word *at,
                           const char *format, ...)
{
    char text[400], name[OP_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    quote_op(self, draft, name);
    return haul_plan_fail(self, at ? at->line : draft->line, at ? at->column : draft->column,
                          "operation %s: %.380s", name, text);
}

static haul_status blame(const haul_plan *self, const haul_draft *draft, const haul_word *at)
{
    char text[sizeof self->error->text];
    memcpy(text, self->error->text, sizeof text);
    return fail_op(self, draft, at, "%.390s", text);
}

static uint32_t add_string(haul_plan *self, const char *text)
{
    return haul_builder_string(&self->built, text, strlen(text));
}

/* --- words */

static haul_status find_row(const haul_plan *self, const haul_draft *draft, int *row)
{
    const haul_word *word = &draft->words[HAUL_KEY_OP];
    if (!word->text)
        return fail_op(self, draft, NULL, "expected 'op'");
    for (int i = 0; i < OP_ROWS; i++)
        if (!strcasecmp(word->text, op_rows[i].word)) {
            *row = i;
            return HAUL_OK;
        }
    char list[120] = "";
    for (int i = 0; i < OP_ROWS; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "",
                 op_rows[i].word);
    return fail_op(self, draft, word, "expected one of %s, not '%.80s'", list, word->text);
}

static haul_status check_words(const haul_plan *self, const haul_draft *draft, int row)
{
    for (int key = 0; key < HAUL_KEYS; key++) {
        const haul_word *word = &draft->words[key];
        if (word->text && !(op_rows[row].keys & 1U << key))
            return fail_op(self, draft, word, "'%s' means nothing for '%s'", haul_key_names[key],
                           op_rows[row].word);
        if (word->text && !*word->text)
            return fail_op(self, draft, word, "'%s' is empty", haul_key_names[key]);
    }
    return HAUL_OK;
}

haul_status haul_plan_duration(const haul_plan *self, const haul_word *word, const char *key,
                               int64_t *ns)
{
    double seconds = 0;
    if (haul_quantity_parse(word->text, HAUL_DIM_SECONDS, &seconds, self->error))
        return HAUL_BAD_INPUT;
    if (seconds < 0)
        return haul_fail(self->error, HAUL_BAD_INPUT, "'%s' is negative: '%.80s'", key, word->text);
    if (seconds * 1e9 > (double)time_most_ns)
        return haul_fail(self->error, HAUL_BAD_INPUT, "'%s' is beyond 2^60 ns: '%.80s'", key,
                         word->text);
    *ns = llround(seconds * 1e9);
    return HAUL_OK;
}

static haul_status read_duration(const haul_plan *self, const haul_draft *draft, haul_key key,
                                 int64_t *ns)
{
    const haul_word *word = &draft->words[key];
    if (!word->text)
        return HAUL_OK;
    if (haul_plan_duration(self, word, haul_key_names[key], ns))
        return blame(self, draft, word);
    if (!*ns && key == HAUL_KEY_DURATION)
        return fail_op(self, draft, word, "takes no time: '%.80s'", word->text);
    return HAUL_OK;
}

static haul_status read_bytes(const haul_plan *self, const haul_draft *draft, haul_op *op)
{
    const haul_word *word = &draft->words[HAUL_KEY_BYTES];
    if (!word->text)
        return HAUL_OK;
    if (haul_bytes_parse(word->text, &op->bytes, self->error))
        return blame(self, draft, word);
    if (!op->bytes)
        return fail_op(self, draft, word, "moves no bytes");
    return HAUL_OK;
}

static haul_status read_memory(const haul_plan *self, const haul_draft *draft, haul_op *op)
{
    const haul_word *word = &draft->words[HAUL_KEY_MEMORY];
    haul_memory memory = HAUL_PINNED;
    if (!word->text)
        return HAUL_OK;
    if (haul_memory_parse(word->text, &memory, self->error))
        return blame(self, draft, word);
    op->detail = (uint8_t)memory;
    return HAUL_OK;
}

/* CUDA's own rule where the file does not say: a copy of pageable memory returns when it is done.
 */
static haul_status read_blocking(const haul_plan *self, const haul_draft *draft, haul_op *op)
{
    const haul_word *word = &draft->words[HAUL_KEY_BLOCKING];
    bool blocks = op->kind == HAUL_OP_COPY && op->detail == HAUL_PAGEABLE;
    if (word->text) {
        blocks = !strcasecmp(word->text, "true") || !strcasecmp(word->text, "yes");
        if (!blocks && strcasecmp(word->text, "false") != 0 && strcasecmp(word->text, "no") != 0)
            return fail_op(self, draft, word, "expected true or false for 'blocking', not '%.80s'",
                           word->text);
    }
    op->flags |= blocks ? HAUL_OP_BLOCKS : 0;
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

static haul_status read_shape(haul_plan *self, const haul_draft *draft, haul_op *op)
{
    const haul_word *grid = &draft->words[HAUL_KEY_GRID];
    const haul_word *block = &draft->words[HAUL_KEY_BLOCK];
    haul_shape shape = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    op->shape = HAUL_NONE;
    if (!grid->text && !block->text)
        return HAUL_OK;
    if (!grid->text || !block->text)
        return fail_op(self, draft, grid->text ? grid : block,
                       "'grid' and 'block' are given together");
    for (int i = 0; i < 2; i++) {
        const haul_word *word = i ? block : grid;
        if (!read_sides(word->text, i ? shape.block : shape.grid))
            return fail_op(self, draft, word,
                           "expected up to three numbers such as 128x2 for '%s', not '%.80s'",
                           i ? "block" : "grid", word->text);
    }
    op->shape = haul_builder_shape(&self->built, &shape);
    return op->shape == HAUL_NONE ? haul_fail_no_memory(self->error) : HAUL_OK;
}

/* --- what operations are on */

static haul_status read_device(haul_plan *self, const haul_draft *draft, uint64_t *device)
{
    const haul_word *word = &draft->words[HAUL_KEY_DEVICE];
    *device = 0;
    if (word->text) {
        char *end = NULL;
        const unsigned long long number = strtoull(word->text, &end, 10);
        if (*word->text < '0' || *word->text > '9' || *end || number >= 65536)
            return fail_op(self, draft, word,
                           "expected a number from 0 to 65535 for 'device', not '%.80s'",
                           word->text);
        *device = number;
    }
    return HAUL_OK;
}

static const char *stream_name(const haul_draft *draft)
{
    const char *name = draft->words[HAUL_KEY_STREAM].text;
    return name ? name : "default";
}

/* Devices are numbered from 0 to the last that is named: links are shared by neighbours. */
static haul_status find_stream(haul_plan *self, const haul_draft *draft, haul_op *op)
{
    haul_builder *built = &self->built;
    uint64_t device = 0;
    const haul_status status = read_device(self, draft, &device);
    if (status)
        return status;
    const size_t known = built->streams.count;
    const uint32_t name = add_string(self, stream_name(draft));
    if (!built->failed)
        op->stream = haul_builder_stream(
            built, &(haul_workload_stream){
                       .device = (uint32_t)device, .id = name, .name = built->strings.texts[name]});
    while (!built->failed && built->device_count <= device)
        haul_builder_device(built, built->device_count);
    if (!haul_builder_grow(built, &self->stream_last, &self->stream_capacity, built->streams.count,
                           sizeof *self->stream_last))
        return haul_fail_no_memory(self->error);
    if (built->streams.count > known)
        self->stream_last[op->stream] = HAUL_NONE;
    return HAUL_OK;
}

/* Calls follow one another without a pause. A device's operation is not before its call's return,
 * so that no call of the workload looks as if it had waited. What a call costs that then blocks
 * lies before it, for it returns with its operation. */
static haul_status put_on_thread(haul_plan *self, const haul_draft *draft, haul_op *op)
{
    haul_builder *built = &self->built;
    const haul_word *word = &draft->words[HAUL_KEY_THREAD];
    const size_t known = built->threads.count;
    const uint32_t name = add_string(self, word->text ? word->text : "host");
    if (!built->failed)
        op->thread = haul_builder_thread(
            built, &(haul_workload_thread){.id = name, .name = built->strings.texts[name]});
    if (!haul_builder_grow(built, &self->clocks_ns, &self->clock_capacity, built->threads.count,
                           sizeof *self->clocks_ns))
        return haul_fail_no_memory(self->error);
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

static haul_status check_edges(const haul_plan *self)
{
    if (self->built.edge_count + self->reference_count >= 8 * (size_t)HAUL_SCHEDULE_OPS)
        return haul_fail(self->error, HAUL_BAD_INPUT, "waits for more than can be waited for");
    return HAUL_OK;
}

static haul_status add_edge(haul_plan *self, uint32_t before, uint32_t after)
{
    haul_builder_edge(&self->built, before, after);
    return check_edges(self);
}

static haul_status add_reference(haul_plan *self, const haul_word *word)
{
    const uint32_t name = add_string(self, word->text);
    if (!haul_builder_grow(&self->built, &self->references, &self->reference_capacity,
                           self->reference_count + 1, sizeof *self->references))
        return haul_fail_no_memory(self->error);
    self->references[self->reference_count++] =
        (haul_reference){(uint32_t)self->built.op_count, name, {word->line, word->column}};
    return check_edges(self);
}

/* A wait without names is for all that was issued above, on its stream where it has one. */
static haul_status wait_for_streams(haul_plan *self, const haul_draft *draft)
{
    const haul_word *stream = &draft->words[HAUL_KEY_STREAM];
    const uint32_t at = (uint32_t)self->built.op_count;
    haul_status status = HAUL_OK;
    if (!stream->text && draft->words[HAUL_KEY_DEVICE].text)
        return fail_op(self, draft, &draft->words[HAUL_KEY_DEVICE],
                       "'device' goes with a 'stream'");
    if (!stream->text) {
        for (size_t s = 0; !status && s < self->built.streams.count; s++)
            status = add_edge(self, self->stream_last[s], at);
        return status;
    }
    haul_op op = {0};
    status = find_stream(self, draft, &op);
    if (status)
        return status;
    if (self->stream_last[op.stream] == HAUL_NONE)
        return fail_op(self, draft, stream, "nothing above is on stream '%.80s'", stream->text);
    return add_edge(self, self->stream_last[op.stream], at);
}

static haul_status read_after(haul_plan *self, const haul_draft *draft, const haul_op *op)
{
    haul_status status = HAUL_OK;
    for (size_t i = 0; !status && i < draft->after_count; i++)
        status = add_reference(self, &draft->after[i]);
    if (!status && op->kind == HAUL_OP_SYNC &&
        (!draft->after_count || draft->words[HAUL_KEY_STREAM].text))
        status = wait_for_streams(self, draft);
    return status;
}

/* --- operations */

static haul_status read_name(haul_plan *self, const haul_draft *draft, haul_op *op)
{
    const haul_word *word = &draft->words[HAUL_KEY_NAME];
    op->name = HAUL_NONE;
    if (!word->text)
        return HAUL_OK;
    op->name = add_string(self, word->text);
    if (!haul_builder_grow(&self->built, &self->named, &self->named_capacity,
                           self->built.strings.count, sizeof *self->named))
        return haul_fail_no_memory(self->error);
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
static haul_status read_kernel(haul_plan *self, const haul_draft *draft)
{
    const haul_word *name = &draft->words[HAUL_KEY_KERNEL], *size = &draft->words[HAUL_KEY_SIZE];
    const haul_word *duration = &draft->words[HAUL_KEY_DURATION];
    haul_kernel_use use = {.op = (uint32_t)self->built.op_count};
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
    if (use.name == UINT32_MAX || !haul_grow(&self->kernels, &self->kernel_capacity,
                                             self->kernel_count + 1, sizeof *self->kernels))
        return haul_fail_no_memory(self->error);
    self->kernels[self->kernel_count++] = use;
    return HAUL_OK;
}

static haul_status check_needs(const haul_plan *self, const haul_draft *draft, const haul_op *op)
{
    const bool timed = draft->words[HAUL_KEY_DURATION].text || draft->words[HAUL_KEY_KERNEL].text;
    if (op->kind == HAUL_OP_COPY && !timed && !op->bytes)
        return fail_op(self, draft, NULL, "a copy needs 'bytes' or a 'duration'");
    if (!timed && op->kind != HAUL_OP_COPY && op->kind != HAUL_OP_SYNC)
        return fail_op(self, draft, NULL, "a %s needs a 'duration'",
                       op->kind == HAUL_OP_KERNEL   ? "kernel"
                       : op->kind == HAUL_OP_MEMSET ? "memset"
                                                    : "host's work");
    return HAUL_OK;
}

static haul_status check_sums(haul_plan *self, const haul_draft *draft, const haul_op *op)
{
    const bool has_bytes = haul_op_has_bytes(op);
    self->total_ns += op->dur_ns;
    if (self->total_ns <= time_most_ns)
        self->total_ns += op->call_dur_ns;
    if (self->total_ns > time_most_ns)
        return fail_op(self, draft, NULL, "the sum of all durations is beyond 2^60 ns");
    if (has_bytes && op->bytes > bytes_most - self->total_bytes)
        return fail_op(self, draft, NULL, "the sum of all bytes is beyond 2^62");
    self->total_bytes += has_bytes ? op->bytes : 0;
    return HAUL_OK;
}

static haul_status read_figures(haul_plan *self, const haul_draft *draft, haul_op *op)
{
    haul_status status = read_duration(self, draft, HAUL_KEY_DURATION, &op->dur_ns);
    op->call_dur_ns = haul_op_on_device(op) ? self->call_ns : 0;
    if (!status)
        status = read_duration(self, draft, HAUL_KEY_CALL, &op->call_dur_ns);
    if (!status && haul_op_has_bytes(op))
        status = read_bytes(self, draft, op);
    if (!status && op->kind == HAUL_OP_COPY)
        status = read_memory(self, draft, op);
    if (!status && op->kind == HAUL_OP_KERNEL)
        status = read_shape(self, draft, op);
    if (!status)
        status = read_kernel(self, draft);
    if (!status)
        status = read_blocking(self, draft, op);
    if (!status)
        status = check_needs(self, draft, op);
    return status ? status : check_sums(self, draft, op);
}

static haul_status place_op(haul_plan *self, const haul_draft *draft, haul_op *op)
{
    haul_status status = read_name(self, draft, op);
    if (!status)
        status = read_after(self, draft, op);
    if (!status && haul_op_on_device(op))
        status = find_stream(self, draft, op);
    return status ? status : put_on_thread(self, draft, op);
}

haul_status haul_plan_add(haul_plan *self, const haul_draft *draft)
{
    int row = 0;
    if (self->built.op_count >= HAUL_SCHEDULE_OPS)
        return haul_plan_fail(self, draft->line, draft->column, "more than %d operations",
                              HAUL_SCHEDULE_OPS);
    haul_status status = find_row(self, draft, &row);
    if (!status)
        status = check_words(self, draft, row);
    if (status)
        return status;
    haul_op op = {.kind = (uint8_t)op_rows[row].kind,
                  .direction = (uint8_t)op_rows[row].direction,
                  .stream = HAUL_NONE};
    op.detail = (uint8_t)(op.kind == HAUL_OP_COPY ? op_rows[row].memory : 0);
    if (!haul_builder_grow(&self->built, &self->spots, &self->spot_capacity,
                           self->built.op_count + 1, sizeof *self->spots))
        return haul_fail_no_memory(self->error);
    status = read_figures(self, draft, &op);
    if (!status)
        status = place_op(self, draft, &op);
    if (status)
        return status;
    const uint32_t number = haul_builder_op(&self->built, &op);
    if (self->built.failed)
        return haul_fail_no_memory(self->error);
    self->spots[number] = (haul_spot){draft->line, draft->column};
    if (haul_op_on_device(&op))
        self->stream_last[op.stream] = number;
    return HAUL_OK;
}
