#include "kineto_trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/json_tree.h"
#include "base/textfile.h"
#include "trace/trace_builder.h"

enum { MOST_BYTES = 1 << 28, PROCESS = 1, CONTEXT = 1 };

/* An operation's call and its stream. */
typedef struct issue {
    uint64_t key;
    uint32_t stream;
} issue;

typedef struct kept_call {
    haul_call of;
    uint32_t text; /* its name, of kineto.names */
} kept_call;

typedef struct kineto {
    haul_trace_builder builder;
    haul_strings names; /* an id is the builder's key less 1 */
    issue *issues;
    size_t issue_count;
    size_t issue_capacity;
    kept_call *calls;
    size_t call_count;
    size_t call_capacity;
    double base_us; /* the first time met */
    bool has_base;
    bool failed;
} kineto;

/* One event of the trace. */
typedef struct row {
    const haul_tree *tree;
    haul_tree_node root;
    haul_tree_node args;
    const char *name;
} row;

static double number_of(const row *self, haul_tree_node object, const char *key)
{
    double value = 0;
    haul_tree_number(self->tree, haul_tree_get(self->tree, object, key), &value);
    return value;
}

static uint64_t count_of(const row *self, const char *key)
{
    return (uint64_t)fmin(fmax(number_of(self, self->args, key), 0), 9e15);
}

static int64_t start_of(kineto *self, const row *event)
{
    const double us = number_of(event, event->root, "ts");
    if (!self->has_base)
        self->base_us = us;
    self->has_base = true;
    return llround(1e3 * (us - self->base_us));
}

static int64_t dur_of(const row *event)
{
    return llround(1e3 * number_of(event, event->root, "dur"));
}

static uint32_t text_of(kineto *self, const row *event)
{
    const uint32_t text = haul_strings_add(&self->names, event->name, strlen(event->name));
    self->failed |= text == UINT32_MAX;
    return text;
}

static uint32_t name_of(kineto *self, uint32_t text)
{
    return haul_trace_name(&self->builder, (uint64_t)text + 1);
}

static uint32_t stream_of(kineto *self, const row *event)
{
    const uint64_t device = count_of(event, "device");
    const haul_workload_stream stream = {.device =
                                             haul_trace_device(&self->builder, device, device),
                                         .process = PROCESS,
                                         .context = CONTEXT,
                                         .id = count_of(event, "stream")};
    return haul_builder_stream(&self->builder.built, &stream);
}

static haul_memory memory_of(const char *word)
{
    static const struct {
        const char *word;
        haul_memory memory;
    } known[] = {{"Pinned", HAUL_PINNED}, {"Pageable", HAUL_PAGEABLE}, {"Host", HAUL_HOST}};
    for (size_t i = 0; word && i < sizeof known / sizeof *known; i++)
        if (!strncmp(word, known[i].word, strlen(known[i].word)))
            return known[i].memory;
    return HAUL_HOST;
}

/* "Memcpy HtoD (Pinned -> Device)" */
static void fill_copy(const row *event, haul_op *op)
{
    static const char before[] = "Memcpy ";
    char word[8] = "";
    haul_direction direction = HAUL_UNKNOWN;
    if (!strncmp(event->name, before, strlen(before)))
        snprintf(word, sizeof word, "%.4s", event->name + strlen(before));
    haul_direction_parse(word, &direction, NULL);
    const char *source = strchr(event->name, '('), *target = strstr(event->name, "-> ");
    haul_memory memory = HAUL_DEVICE;
    if (direction == HAUL_HTOD)
        memory = memory_of(source ? source + 1 : NULL);
    else if (direction == HAUL_DTOH)
        memory = memory_of(target ? target + 3 : NULL);
    op->kind = HAUL_OP_COPY;
    op->direction = (uint8_t)direction;
    op->detail = (uint8_t)memory;
}

static void fill_kernel(kineto *self, const row *event, haul_op *op)
{
    haul_shape shape = {.registers_per_thread = (uint32_t)count_of(event, "registers per thread"),
                        .shared_bytes = (uint32_t)count_of(event, "shared memory")};
    const haul_tree_node grid = haul_tree_get(event->tree, event->args, "grid");
    const haul_tree_node block = haul_tree_get(event->tree, event->args, "block");
    for (size_t i = 0; i < 3; i++) {
        double blocks = 0, threads = 0;
        haul_tree_number(event->tree, haul_tree_item(event->tree, grid, i), &blocks);
        haul_tree_number(event->tree, haul_tree_item(event->tree, block, i), &threads);
        shape.grid[i] = (uint32_t)blocks;
        shape.block[i] = (uint32_t)threads;
    }
    op->kind = HAUL_OP_KERNEL;
    op->shape = haul_builder_shape(&self->builder.built, &shape);
    op->name = name_of(self, text_of(self, event));
}

static void add_op(kineto *self, const row *event, haul_op_kind kind)
{
    haul_op op = {.start_ns = start_of(self, event),
                  .dur_ns = dur_of(event),
                  .kind = (uint8_t)kind,
                  .name = HAUL_NONE,
                  .thread = HAUL_NONE,
                  .stream = stream_of(self, event)};
    if (kind == HAUL_OP_KERNEL)
        fill_kernel(self, event, &op);
    else
        op.bytes = count_of(event, "bytes");
    if (kind == HAUL_OP_COPY)
        fill_copy(event, &op);
    const uint64_t key = count_of(event, "correlation");
    haul_trace_op(&self->builder, &op, key);
    if (haul_grow(&self->issues, &self->issue_capacity, self->issue_count + 1,
                  sizeof *self->issues))
        self->issues[self->issue_count++] = (issue){key, op.stream};
    else
        self->failed = true;
}

static void keep_call(kineto *self, const row *event)
{
    if (!haul_grow(&self->calls, &self->call_capacity, self->call_count + 1, sizeof *self->calls)) {
        self->failed = true;
        return;
    }
    const double id = number_of(event, event->root, "tid");
    const uint32_t text = text_of(self, event);
    self->calls[self->call_count++] = (kept_call){
        .of = {.start_ns = start_of(self, event),
               .dur_ns = dur_of(event),
               .key = count_of(event, "correlation"),
               .name = name_of(self, text),
               .thread = haul_builder_thread(
                   &self->builder.built,
                   &(haul_workload_thread){.process = PROCESS, .id = (uint64_t)(int64_t)id})},
        .text = text};
}

/* Kinds of events by their "cat". */
static const struct {
    const char *category;
    bool is_call;
    haul_op_kind kind;
} categories[] = {
    {"kernel", false, HAUL_OP_KERNEL},     {"gpu_memcpy", false, HAUL_OP_COPY},
    {"gpu_memset", false, HAUL_OP_MEMSET}, {"cuda_runtime", true, HAUL_OP_CALL},
    {"cuda_driver", true, HAUL_OP_CALL},
};

/* Whether an event's text has this category, before it is parsed: most have none of ours. */
static bool is_of(const char *text, const char *category)
{
    static const char key[] = "\"cat\"";
    const char *at = strstr(text, key);
    if (!at)
        return false;
    at += strlen(key);
    at += strspn(at, " :\"");
    const size_t length = strlen(category);
    return !strncmp(at, category, length) && at[length] == '"';
}

/* `text` is an object with a NUL behind it. */
static haul_status read_event(kineto *self, char *text, size_t size, const char *path,
                              haul_error *error)
{
    size_t c = 0;
    while (c < sizeof categories / sizeof *categories && !is_of(text, categories[c].category))
        c++;
    if (c == sizeof categories / sizeof *categories)
        return HAUL_OK;
    haul_tree *tree = NULL;
    const haul_status status = haul_tree_parse(text, size, path, &tree, error);
    if (status)
        return status;
    row read = {.tree = tree, .root = haul_tree_root(tree)};
    read.args = haul_tree_get(tree, read.root, "args");
    read.name = haul_tree_text(tree, haul_tree_get(tree, read.root, "name"));
    if (read.name && categories[c].is_call)
        keep_call(self, &read);
    else if (read.name)
        add_op(self, &read, categories[c].kind);
    haul_tree_free(tree);
    return HAUL_OK;
}

/* The end of the object that begins at `text`, or NULL. */
static char *object_end(char *text)
{
    int depth = 0;
    bool in_string = false;
    for (; *text; text++) {
        if (in_string) {
            if (*text == '\\' && text[1])
                text++;
            else
                in_string = *text != '"';
            continue;
        }
        in_string = *text == '"';
        depth += (*text == '{') - (*text == '}');
        if (*text == '}' && !depth)
            return text + 1;
    }
    return NULL;
}

static haul_status read_events(kineto *self, char *text, const char *path, haul_error *error)
{
    char *at = strstr(text, "\"traceEvents\"");
    if (!at)
        return haul_fail(error, HAUL_BAD_INPUT, "'%.400s' has no traceEvents", path);
    haul_status status = HAUL_OK;
    for (at = strchr(at, '['); !status && at && at[1 + strspn(at + 1, " \n\r\t,")] == '{';) {
        char *begin = at + 1 + strspn(at + 1, " \n\r\t,");
        char *end = object_end(begin);
        if (!end)
            return haul_fail(error, HAUL_BAD_INPUT, "'%.400s' is cut short", path);
        const char next = *end;
        *end = '\0';
        status = read_event(self, begin, (size_t)(end - begin), path, error);
        *end = next;
        at = end - 1;
    }
    return status;
}

static int compare_issues(const void *a, const void *b)
{
    const issue *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static int compare_calls(const void *a, const void *b)
{
    const kept_call *x = a, *y = b;
    return (x->of.start_ns > y->of.start_ns) - (x->of.start_ns < y->of.start_ns);
}

static bool is_called(const kineto *self, size_t call, const char *part)
{
    return strstr(self->names.texts[self->calls[call].text], part) != NULL;
}

/* Waits, each for what its thread used last. */
static bool add_waits(kineto *self)
{
    uint32_t *last = malloc((self->builder.built.threads.count + 1) * sizeof *last);
    if (!last)
        return false;
    memset(last, 0xff, (self->builder.built.threads.count + 1) * sizeof *last);
    for (size_t i = 0; i < self->call_count; i++) {
        const haul_call *call = &self->calls[i].of;
        const issue key = {.key = call->key};
        const issue *issued =
            bsearch(&key, self->issues, self->issue_count, sizeof key, compare_issues);
        if (issued)
            last[call->thread] = issued->stream;
        const bool of_stream = is_called(self, i, "StreamSynchronize");
        if (!of_stream && !is_called(self, i, "DeviceSynchronize"))
            continue;
        const bool known = of_stream && last[call->thread] != HAUL_NONE;
        const haul_op op = {.start_ns = call->start_ns,
                            .dur_ns = call->dur_ns,
                            .kind = HAUL_OP_SYNC,
                            .detail = known ? HAUL_SYNC_STREAM : HAUL_SYNC_CONTEXT,
                            .name = HAUL_NONE,
                            .thread = HAUL_NONE,
                            .stream = known ? last[call->thread] : HAUL_NONE};
        const haul_wait wait = {PROCESS, CONTEXT, HAUL_NO_ID, HAUL_NO_ID};
        haul_trace_wait(&self->builder, &op, call->key, &wait);
    }
    free(last);
    return true;
}

static bool join(kineto *self)
{
    qsort(self->issues, self->issue_count, sizeof *self->issues, compare_issues);
    qsort(self->calls, self->call_count, sizeof *self->calls, compare_calls);
    if (!add_waits(self))
        return false;
    for (size_t i = 0; i < self->call_count; i++)
        haul_trace_call(&self->builder, &self->calls[i].of);
    for (size_t i = 0; i < self->names.count; i++)
        haul_trace_name_text(&self->builder, i + 1, self->names.texts[i],
                             strlen(self->names.texts[i]));
    return !self->failed;
}

haul_status kineto_load(const char *path, haul_workload **workload, haul_error *error)
{
    char *text = NULL;
    size_t size = 0;
    haul_status status = haul_textfile_read(path, MOST_BYTES, &text, &size, error);
    if (status)
        return status;
    kineto self = {0};
    haul_trace_init(&self.builder);
    status = read_events(&self, text, path, error);
    if (!status && (self.failed || !join(&self)))
        status = haul_fail_no_memory(error);
    if (!status)
        status = haul_trace_finish(&self.builder, path, "kineto", workload, error);
    haul_trace_release(&self.builder);
    haul_strings_release(&self.names);
    free(self.issues);
    free(self.calls);
    free(text);
    return status;
}
