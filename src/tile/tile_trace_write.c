/* Traces as a profile. All contexts of a process that name one file are written into it together:
 * when the last of them is closed, and when the program exits with some of them open. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "haul/trace.h"
#include "record/output_file.h"
#include "tile/tile_files.h"
#include "tile/tile_trace.h"
#include "trace/frames.h"
#include "trace/trace_builder.h"

typedef struct trace_file {
    struct trace_file *next;
    char name[HL_RECORD_LONGEST_PATH];
    hl_tile_trace *traces; /* the last one first */
    int open;              /* contexts */
    int64_t began_ns;      /* by the host's clock, and since 1970 */
    int64_t epoch_ns;
    /* Where simulated clocks, which begin at 0, stand: those of contexts that are open together are
     * one, and follow what was before. */
    int64_t simulated_ns;
    int64_t rank;
} trace_file;

/* The process's files; a trace is its context's alone until that is closed. */
static struct {
    pthread_mutex_t lock;
    trace_file *files;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- the profile */

typedef struct filler {
    hl_trace_builder builder;
    const trace_file *file;
    const hl_tile_trace *trace;
    uint32_t streams[4];
    uint64_t context; /* its number */
} filler;

static uint32_t device_of(filler *self)
{
    const haul_device_properties *of = &self->trace->device;
    hl_workload_builder *built = &self->builder.built;
    const char *key = self->trace->texts.texts[self->trace->device_name];
    uint64_t id = 0;
    const hl_tile_trace *same = self->file->traces;
    while (strcmp(same->texts.texts[same->device_name], key) != 0 ||
           same->beside != self->trace->beside) {
        same = same->next;
        id++;
    }
    const uint32_t number = hl_trace_device(&self->builder, id, id);
    if (number >= built->device_count)
        return number;
    const char *name = self->trace->texts.texts[self->trace->device_text];
    haul_workload_device *device = &built->devices[number];
    device->name = hl_base_arena_string(&built->arena, name);
    device->memory_bandwidth_Bps = of->memory_bandwidth_Bps;
    device->clock_Hz = of->clock_Hz;
    device->memory_bytes = of->memory_bytes;
    device->l2_bytes = of->l2_bytes;
    device->multiprocessors = of->multiprocessors;
    device->copy_engines = of->copy_engines;
    device->compute_major = of->compute_major;
    device->compute_minor = of->compute_minor;
    return number;
}

static uint32_t stream_of(filler *self, unsigned number)
{
    static const char *const names[] = {"in", "kernels", "out", "home"};
    if (self->streams[number] == HAUL_NONE) {
        const haul_workload_stream stream = {.device = device_of(self),
                                             .process = (uint64_t)getpid(),
                                             .context = self->context,
                                             .id = number + 1,
                                             .name = names[number]};
        self->streams[number] = hl_workload_builder_stream(&self->builder.built, &stream);
    }
    return self->streams[number];
}

static uint32_t name_of(filler *self, uint32_t text)
{
    if (text == HAUL_NONE)
        return HAUL_NONE;
    const char *name = self->trace->texts.texts[text];
    return hl_trace_text(&self->builder, name, strlen(name));
}

static uint32_t call_name(filler *self, const hl_tile_note *note)
{
    static const char *const calls[] = {
        [HL_TILE_NOTE_COPY] = "haul_stream_copy",
        [HL_TILE_NOTE_KERNEL] = "haul_stream_launch",
        [HL_TILE_NOTE_STREAM_WAITS] = "haul_stream_wait_event",
        [HL_TILE_NOTE_WAIT_EVENT] = "haul_event_wait",
        [HL_TILE_NOTE_WAIT_STREAM] = "haul_stream_wait",
    };
    if (note->kind == HL_TILE_NOTE_KERNEL || note->kind == HL_TILE_NOTE_CALL)
        return name_of(self, note->name);
    return hl_trace_text(&self->builder, calls[note->kind], strlen(calls[note->kind]));
}

static bool has_op(const hl_tile_note *note)
{
    const bool on_device = note->kind <= HL_TILE_NOTE_KERNEL;
    return on_device ? note->is_timed
                     : note->kind != HL_TILE_NOTE_RECORD && note->kind != HL_TILE_NOTE_SPAN;
}

/* Waits tell the stream where it is theirs, or that they wait for. */
static void fill_wait(const hl_tile_note *note, haul_op *op, hl_trace_host_wait *wait)
{
    static const haul_sync_kind kinds[] = {
        [HL_TILE_NOTE_STREAM_WAITS] = HAUL_SYNC_STREAM_WAIT,
        [HL_TILE_NOTE_WAIT_EVENT] = HAUL_SYNC_EVENT,
        [HL_TILE_NOTE_WAIT_STREAM] = HAUL_SYNC_STREAM,
    };
    op->kind = HAUL_OP_SYNC;
    op->detail = (uint8_t)kinds[note->kind];
    if (note->kind == HL_TILE_NOTE_WAIT_EVENT)
        op->stream = HAUL_NONE;
    *wait = (hl_trace_host_wait){.process = (uint64_t)getpid(),
                                 .event = (uint64_t)(uintptr_t)note->event,
                                 .sync_id = HL_TRACE_NO_ID};
}

static void add_op(filler *self, const hl_tile_note *note, uint32_t thread)
{
    const bool on_device = note->kind <= HL_TILE_NOTE_KERNEL;
    const int64_t shift_ns = self->trace->shift_ns;
    haul_op op = {
        .start_ns = (on_device ? note->start_ns : note->call_ns) + shift_ns,
        .dur_ns = on_device ? note->dur_ns : note->call_dur_ns,
        .call_ns = note->call_ns + shift_ns,
        .call_dur_ns = note->call_dur_ns,
        .flags = HAUL_OP_HAS_CALL,
        .name = call_name(self, note),
        .thread = thread,
        .stream = note->kind == HL_TILE_NOTE_CALL ? HAUL_NONE : stream_of(self, note->stream),
        .kind = HAUL_OP_CALL,
    };
    hl_trace_host_wait wait;
    self->builder.calls++;
    if (note->kind == HL_TILE_NOTE_COPY) {
        op.kind = HAUL_OP_COPY;
        op.bytes = note->bytes;
        op.direction = note->direction;
        op.detail = note->memory;
    } else if (note->kind == HL_TILE_NOTE_KERNEL) {
        op.kind = HAUL_OP_KERNEL;
        op.shape = HAUL_NONE;
    } else if (note->kind != HL_TILE_NOTE_CALL) {
        fill_wait(note, &op, &wait);
        hl_trace_wait(&self->builder, &op, 0, &wait);
        return;
    }
    hl_trace_op(&self->builder, &op, 0);
}

static void add_note(filler *self, const hl_tile_note *note)
{
    const haul_workload_thread thread = {.process = (uint64_t)getpid(), .id = note->thread};
    const uint32_t on = hl_workload_builder_thread(&self->builder.built, &thread);
    const int64_t shift_ns = self->trace->shift_ns;
    if (has_op(note))
        add_op(self, note, on);
    else if (note->kind == HL_TILE_NOTE_SPAN)
        hl_trace_range(&self->builder, &(haul_named_range){.start_ns = note->start_ns + shift_ns,
                                                           .dur_ns = note->dur_ns,
                                                           .name = name_of(self, note->name),
                                                           .thread = on});
    else if (note->kind == HL_TILE_NOTE_RECORD)
        hl_trace_event(&self->builder,
                       &(hl_trace_event_mark){.process = (uint64_t)getpid(),
                                              .event = (uint64_t)(uintptr_t)note->event,
                                              .sync_id = HL_TRACE_NO_ID,
                                              .time_ns = note->call_ns + shift_ns,
                                              .stream = stream_of(self, note->stream),
                                              .has_call = true});
    else
        hl_trace_lost(&self->builder, 1,
                      "operations that had not ended, or whose times the device did not tell");
}

/* Copies tell their array and planes, kernels the line that defines them. */
static void add_origins(filler *self)
{
    hl_workload_builder *built = &self->builder.built;
    uint32_t *operators = hl_workload_builder_origins(built, HL_WORKLOAD_OPERATOR);
    uint32_t *lines = hl_workload_builder_origins(built, HL_WORKLOAD_LINE);
    uint32_t *stacks = hl_workload_builder_origins(built, HL_WORKLOAD_STACK);
    size_t op = 0;
    for (self->trace = self->file->traces; self->trace; self->trace = self->trace->next)
        for (size_t i = 0; i < self->trace->count && !built->failed; i++) {
            const hl_tile_note *note = &self->trace->notes[i];
            const char *const *texts = self->trace->texts.texts;
            if (!has_op(note))
                continue;
            if (note->line != HAUL_NONE)
                lines[op] = stacks[op] =
                    hl_workload_builder_string(built, texts[note->line], strlen(texts[note->line]));
            if (note->kind == HL_TILE_NOTE_COPY && note->name != HAUL_NONE) {
                char place[96];
                const char *name = texts[note->name];
                const int length = note->planes[0] < note->planes[1]
                                       ? snprintf(place, sizeof place, "%.50s, planes %d to %d",
                                                  name, note->planes[0], note->planes[1] - 1)
                                       : snprintf(place, sizeof place, "%.50s", name);
                operators[op] = hl_trace_text(&self->builder, place, (size_t)length);
            }
            op++;
        }
}

static haul_status build(const trace_file *file, haul_workload **workload, haul_error *error)
{
    filler self = {.file = file};
    hl_trace_init(&self.builder);
    self.builder.built.epoch_ns = file->epoch_ns;
    self.builder.built.rank = file->rank;
    for (self.trace = file->traces; self.trace; self.trace = self.trace->next) {
        self.context++;
        memset(self.streams, 0xff, sizeof self.streams);
        for (size_t i = 0; i < self.trace->count; i++)
            add_note(&self, &self.trace->notes[i]);
        if (self.trace->lost)
            hl_trace_lost(&self.builder, self.trace->lost,
                          "operations and waits behind the first 4 million of a context");
    }
    add_origins(&self);
    return hl_trace_finish(&self.builder, file->name, "haul tiles", workload, error);
}

/* --- files */

static haul_status put_json(void *state, FILE *out, haul_error *error)
{
    return haul_trace_write_json(state, out, error);
}

static haul_status write_trace(const trace_file *file, haul_error *error)
{
    haul_workload *workload;
    HAUL_TRY(build(file, &workload, error));
    const haul_status status = hl_base_ends_with(file->name, ".sqlite")
                                   ? haul_trace_write_sqlite(workload, file->name, error)
                                   : hl_tile_file_write(file->name, put_json, workload, error);
    haul_workload_free(workload);
    return status;
}

/* Closing and exiting have nobody to return an error to. */
static void write_or_tell(const trace_file *file)
{
    haul_error error;
    if (write_trace(file, &error))
        fprintf(stderr, "haul: the trace is lost: %s\n", error.text);
}

static void write_open_ones(void)
{
    pthread_mutex_lock(&all.lock);
    for (const trace_file *file = all.files; file; file = file->next)
        if (file->open)
            write_or_tell(file);
    pthread_mutex_unlock(&all.lock);
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The file of that name, made where there is none, and written at once: a name that cannot be
 * written is told while somebody listens. */
static haul_status find_file(const char *pattern, const haul_processes *processes,
                             trace_file **file, haul_error *error)
{
    bool is_ranked;
    trace_file *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    haul_status status =
        hl_record_output_name(pattern, (long)getpid(), self->name, &is_ranked, error);
    *file = all.files;
    while (*file && !status && strcmp((*file)->name, self->name) != 0)
        *file = (*file)->next;
    if (*file || status) {
        free(self);
        return status;
    }
    const char *rank = hl_record_mpi_rank();
    self->rank = processes && processes->count > 1 ? processes->rank
                 : rank                            ? strtol(rank, NULL, 10)
                                                   : -1;
    self->began_ns = clock_ns(CLOCK_MONOTONIC);
    self->epoch_ns = clock_ns(CLOCK_REALTIME);
    status = write_trace(self, error);
    if (!status && !all.files && atexit(write_open_ones))
        status = hl_base_fail_no_memory(error);
    if (status) {
        free(self);
        return status;
    }
    self->next = all.files;
    all.files = *file = self;
    return HAUL_OK;
}

/* When the last operation of the file's contexts ended. */
static int64_t end_of(const trace_file *file)
{
    int64_t end_ns = 0;
    for (const hl_tile_trace *trace = file->traces; trace; trace = trace->next)
        for (size_t i = 0; i < trace->count; i++) {
            const hl_tile_note *note = &trace->notes[i];
            const int64_t called_ns = note->call_ns + note->call_dur_ns + trace->shift_ns;
            const int64_t done_ns = note->start_ns + note->dur_ns + trace->shift_ns;
            end_ns = called_ns > end_ns ? called_ns : end_ns;
            end_ns = note->is_timed && done_ns > end_ns ? done_ns : end_ns;
        }
    return end_ns;
}

haul_status hl_tile_trace_open(haul_context *context, haul_error *error)
{
    const char *pattern = context->options.trace;
    if (!pattern)
        pattern = getenv("HAUL_TRACE"); // NOLINT(concurrency-mt-unsafe): read only
    if (!pattern || !*pattern)
        return HAUL_OK;
    trace_file *file = NULL;
    pthread_mutex_lock(&all.lock);
    haul_status status = find_file(pattern, context->options.processes, &file, error);
    if (!status)
        status = hl_tile_trace_start(context, error);
    if (context->trace && file) {
        file->simulated_ns = file->open ? file->simulated_ns : end_of(file);
        const bool is_simulated = context->trace->device.is_simulated;
        context->trace->shift_ns = !is_simulated ? -file->began_ns : file->simulated_ns;
        context->trace->beside = is_simulated ? file->open : 0;
        context->trace->file = file;
        context->trace->next = file->traces;
        file->traces = context->trace;
        file->open++;
    }
    pthread_mutex_unlock(&all.lock);
    return status;
}

void hl_tile_trace_close(haul_context *context)
{
    if (!context->trace)
        return;
    trace_file *file = context->trace->file;
    hl_tile_trace_stop(context);
    pthread_mutex_lock(&all.lock);
    if (!--file->open)
        write_or_tell(file);
    pthread_mutex_unlock(&all.lock);
}
