/* What is queued on the device, counted, and kept as a workload that `haul simulate` reads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "device/sim_device.h"
#include "tile/tile_parts.h"

enum { STREAMS = 4, YAML_MOST = 2500 };

/* The number of each stream's last operation, from 1; 0: none. */
typedef struct moment {
    uint32_t at[STREAMS];
} moment;

typedef struct planned {
    const char *op;
    const char *kernel; /* NULL: a copy */
    int stream;
    uint64_t bytes;
    int64_t dur_ns;
    moment after; /* on other streams; 0: nothing new */
} planned;

typedef struct known_event {
    const haul_event *event;
    moment when;
} known_event;

struct haul_tile_plan {
    planned *ops;
    size_t count;
    size_t capacity;
    known_event *events;
    size_t event_count;
    size_t event_capacity;
    moment seen[STREAMS]; /* what each stream's operations come after; its own last is its own */
    moment awaited[STREAMS];
};

static int stream_of(const haul_context *context, const haul_stream *stream)
{
    return stream == context->up ? 0 : stream == context->run ? 1 : stream == context->down ? 2 : 3;
}

/* The later of the two on every stream: after it, all that is after either. */
static void join_moment(moment *self, const moment *other)
{
    for (int s = 0; s < STREAMS; s++)
        self->at[s] = other->at[s] > self->at[s] ? other->at[s] : self->at[s];
}

/* Notes only waits that say something new: what a stream has already waited for is implied. */
static haul_status add(haul_context *context, const haul_stream *stream, planned op,
                       haul_error *error)
{
    haul_tile_plan *self = context->plan;
    if (!self)
        return HAUL_OK;
    if (!haul_grow(&self->ops, &self->capacity, self->count + 1, sizeof *self->ops))
        return haul_fail_no_memory(error);
    op.stream = stream_of(context, stream);
    moment *seen = &self->seen[op.stream], *awaited = &self->awaited[op.stream];
    for (int s = 0; s < STREAMS; s++)
        if (s != op.stream && awaited->at[s] > seen->at[s])
            op.after.at[s] = awaited->at[s];
    join_moment(seen, awaited);
    self->ops[self->count++] = op;
    seen->at[op.stream] = (uint32_t)self->count;
    return HAUL_OK;
}

/* By the kind of buffer: host memory is pinned or has no buffer. */
haul_status haul_tile_copy(haul_context *context, haul_stream *stream,
                           const haul_transfer *transfer, haul_error *error)
{
    static const char *const ops[] = {"HtoD", "DtoD", "DtoH"};
    const uint64_t bytes = transfer->size[0] * (transfer->size[1] ? transfer->size[1] : 1);
    const bool is_up = !transfer->from.buffer || transfer->from.buffer->kind != HAUL_BUFFER_DEVICE;
    const bool is_down = !transfer->to.buffer || transfer->to.buffer->kind != HAUL_BUFFER_DEVICE;
    const haul_status status = haul_stream_copy(stream, transfer, NULL, error);
    if (status)
        return status;
    context->counts.copies++;
    context->counts.bytes_up += is_up ? bytes : 0;
    context->counts.bytes_down += is_down ? bytes : 0;
    return add(context, stream,
               (planned){.op = ops[is_up     ? 0
                                   : is_down ? 2
                                             : 1],
                         .bytes = bytes},
               error);
}

/* A kept plan needs the kernel's time before it has run: that of the simulated device, or of the
 * model's rates. */
haul_status haul_tile_launch(haul_context *context, const haul_kernel_source *source,
                             const haul_launch *launch, haul_error *error)
{
    haul_kernel *kernel;
    planned op = {.op = "kernel", .kernel = source->name};
    haul_status status = haul_context_kernel(context, source, &kernel, error);
    if (!status)
        status = haul_stream_launch(context->run, kernel, launch, NULL, error);
    if (status)
        return status;
    context->counts.kernels++;
    if (context->plan && haul_device_describe(context->device)->is_simulated) {
        status = haul_sim_kernel_ns(context->device, kernel, launch, &op.dur_ns, error);
    } else if (context->plan) {
        const haul_tile_rates rates = haul_tile_rates_of(context);
        op.dur_ns = (int64_t)(1e9 * (launch->bytes / rates.memory_Bps + rates.launch_s));
    }
    return status ? status : add(context, context->run, op, error);
}

static known_event *find(haul_tile_plan *self, const haul_event *event)
{
    for (size_t i = 0; i < self->event_count; i++)
        if (self->events[i].event == event)
            return &self->events[i];
    return NULL;
}

/* An event stands for all that its stream has done or waited for until now. */
haul_status haul_tile_record(haul_context *context, haul_stream *stream, haul_event *event,
                             haul_error *error)
{
    haul_tile_plan *self = context->plan;
    const haul_status status = haul_stream_record(stream, event, error);
    if (status || !self)
        return status;
    known_event *known = find(self, event);
    if (!known) {
        if (!haul_grow(&self->events, &self->event_capacity, self->event_count + 1,
                       sizeof *self->events))
            return haul_fail_no_memory(error);
        known = &self->events[self->event_count++];
    }
    const int on = stream_of(context, stream);
    *known = (known_event){event, self->seen[on]};
    join_moment(&known->when, &self->awaited[on]);
    return HAUL_OK;
}

/* An event that was never recorded holds nothing up, and is not noted. */
haul_status haul_tile_wait(haul_context *context, haul_stream *stream, haul_event *event,
                           haul_error *error)
{
    const haul_status status = haul_stream_wait_event(stream, event, error);
    const known_event *known = context->plan ? find(context->plan, event) : NULL;
    if (!status && known)
        join_moment(&context->plan->awaited[stream_of(context, stream)], &known->when);
    return status;
}

haul_tile_plan *haul_tile_plan_new(void)
{
    return calloc(1, sizeof(haul_tile_plan));
}

void haul_tile_plan_free(haul_tile_plan *plan)
{
    if (!plan)
        return;
    free(plan->ops);
    free(plan->events);
    free(plan);
}

/* Numbers of operations are their names in the file. */
static void write_after(FILE *file, const moment *after, const char *open, const char *quote,
                        const char *between, const char *close)
{
    bool is_first = true;
    for (int s = 0; s < STREAMS; s++)
        if (after->at[s]) {
            fprintf(file, "%s%s%u%s", is_first ? open : between, quote, after->at[s], quote);
            is_first = false;
        }
    fputs(is_first ? "" : close, file);
}

static void write_yaml(FILE *file, const haul_context *context)
{
    static const char *const streams[STREAMS] = {"in", "kernels", "out", "home"};
    const haul_tile_plan *self = context->plan;
    fprintf(file,
            "# What a program of tiles queued on %s; kernels' times are those of that device.\n",
            haul_device_describe(context->device)->name);
    fprintf(file, "haul_workload: 1\nname: tiles\nsummary: %zu operations of a program of tiles\n",
            self->count);
    fputs("operations:\n", file);
    for (size_t i = 0; i < self->count; i++) {
        const planned *op = &self->ops[i];
        fprintf(file, "  - {name: \"%zu\", op: %s, stream: %s, ", i + 1, op->op,
                streams[op->stream]);
        if (op->kernel)
            fprintf(file, "duration: %lld ns", (long long)op->dur_ns);
        else
            fprintf(file, "bytes: %llu", (unsigned long long)op->bytes);
        write_after(file, &op->after, ", after: [", "\"", ", ", "]");
        fputs("}\n", file);
    }
}

static void write_csv(FILE *file, const haul_tile_plan *self)
{
    static const char *const streams[STREAMS] = {"in", "kernels", "out", "home"};
    fputs("name,op,stream,bytes,duration,after\n", file);
    for (size_t i = 0; i < self->count; i++) {
        const planned *op = &self->ops[i];
        fprintf(file, "%zu,%s,%s,", i + 1, op->op, streams[op->stream]);
        if (op->kernel)
            fprintf(file, ",%lld ns,", (long long)op->dur_ns);
        else
            fprintf(file, "%llu,,", (unsigned long long)op->bytes);
        write_after(file, &op->after, "", "", ";", "");
        fputs("\n", file);
    }
}

/* Runs what is queued first. CSV has no limit on operations, where YAML is read as a document. */
haul_status haul_context_plan_write(haul_context *context, const char *path, haul_error *error)
{
    const haul_status status = haul_queue_run(context, error);
    const size_t length = strlen(path);
    const bool is_csv = length > 4 && !strcmp(path + length - 4, ".csv");
    if (status)
        return status;
    if (!context->plan)
        return haul_fail(error, HAUL_USAGE,
                         "the context was opened without keep_plan, or is the host's");
    if (!is_csv && context->plan->count > YAML_MOST)
        return haul_fail(error, HAUL_USAGE,
                         "%zu operations are more than a workload of YAML holds: write a .csv",
                         context->plan->count);
    FILE *file = fopen(path, "w");
    if (!file)
        return haul_fail_open(error, path);
    if (is_csv)
        write_csv(file, context->plan);
    else
        write_yaml(file, context);
    const bool failed = ferror(file);
    return fclose(file) || failed ? haul_fail(error, HAUL_IO, "cannot write '%.200s'", path)
                                  : HAUL_OK;
}
