/* Notes of a context's operations. A note costs two readings of the clock, and an event of the
 * device where it has times there; without a trace one test. */
#include "tile/tile_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/grow.h"
#include "haul/device_backend.h"

/* Where more operations wait for their times, each new one looks for those that have ended. */
enum { UNTIMED_MOST = 4096 };

/* Later than the call before: profiles are read in the order of the calls, and the clock of a
 * simulated host stands still between them. */
static int64_t call_time(haul_context *context)
{
    hl_tile_trace *self = context->trace;
    const int64_t now_ns = haul_device_now(context->memory.device);
    self->last_ns = now_ns > self->last_ns ? now_ns : self->last_ns + 1;
    return self->last_ns;
}

static haul_event *take_event(haul_context *context)
{
    hl_tile_trace *self = context->trace;
    haul_event *event = NULL;
    if (self->spare_count)
        return self->spare[--self->spare_count];
    return haul_event_new(context->memory.device, &event, NULL) ? NULL : event;
}

static void give_event(hl_tile_trace *self, haul_event *event)
{
    if (event && hl_base_grow(&self->spare, &self->spare_capacity, self->spare_count + 1,
                              sizeof(haul_event *)))
        self->spare[self->spare_count++] = event;
    else
        haul_event_free(event);
}

/* When the operation ended by the host's clock, as far as events can tell. The two clocks may drift
 * apart: an operation begins after its call, and has ended by now. */
static void set_times(haul_context *context, hl_tile_note *note, haul_event *done)
{
    enum { FAR_S = 1 }; /* CUDA's times between events have 24 bits */
    hl_tile_trace *self = context->trace;
    double since_s, own_s;
    if (haul_event_seconds(self->base, done, &since_s, NULL) ||
        haul_event_seconds(done, done, &own_s, NULL)) {
        give_event(self, done);
        return;
    }
    const int64_t since_ns = (int64_t)(1e9 * since_s + 0.5), own_ns = (int64_t)(1e9 * own_s + 0.5);
    const int64_t now_ns = haul_device_now(context->memory.device);
    if (self->base_ns + since_ns > now_ns)
        self->base_ns = now_ns - since_ns;
    if (self->base_ns + since_ns - own_ns < note->call_ns)
        self->base_ns = note->call_ns - since_ns + own_ns;
    note->dur_ns = own_ns;
    note->start_ns = self->base_ns + since_ns - own_ns;
    note->is_timed = true;
    if (since_s > FAR_S) {
        haul_event *before = self->base;
        self->base = done;
        self->base_ns = note->start_ns;
        give_event(self, before);
    } else {
        give_event(self, done);
    }
}

/* Whether the operation has ended. Asking a simulated device would take time of its host's. */
static bool has_ended(const haul_context *context, haul_event *done)
{
    double seconds;
    bool is_done = false;
    if (haul_device_describe(context->memory.device)->is_simulated)
        return !haul_event_seconds(done, done, &seconds, NULL);
    return !haul_event_done(done, &is_done, NULL) && is_done;
}

void hl_tile_trace_harvest(haul_context *context)
{
    hl_tile_trace *self = context->trace;
    for (; self->untimed_first < self->untimed_count; self->untimed_first++) {
        const hl_tile_untimed *next = &self->untimed[self->untimed_first];
        if (!has_ended(context, next->done))
            break;
        set_times(context, &self->notes[next->note], next->done);
    }
    /* those that are left move up, now and then */
    if (self->untimed_first < self->untimed_count && 2 * self->untimed_first < self->untimed_count)
        return;
    self->untimed_count -= self->untimed_first;
    memmove(self->untimed, self->untimed + self->untimed_first,
            self->untimed_count * sizeof *self->untimed);
    self->untimed_first = 0;
}

/* The device's clock beside the host's: the narrowest of a few tries. */
static haul_status set_base(haul_context *context, haul_error *error)
{
    enum { TRIES = 5 };
    hl_tile_trace *self = context->trace;
    haul_device *device = context->memory.device;
    int64_t least_ns = INT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        haul_event *event;
        HAUL_TRY(haul_event_new(device, &event, error));
        const int64_t before_ns = haul_device_now(device);
        haul_status status = haul_stream_record(context->streams.home, event, error);
        if (!status)
            status = haul_event_wait(event, error);
        const int64_t took_ns = haul_device_now(device) - before_ns;
        const bool is_best = !status && took_ns < least_ns;
        haul_event_free(is_best ? self->base : event);
        HAUL_TRY(status);
        if (is_best) {
            self->base = event;
            self->base_ns = before_ns + took_ns / 2;
            least_ns = took_ns;
        }
    }
    return HAUL_OK;
}

static uint32_t add_text(hl_tile_trace *self, const char *text)
{
    return hl_base_strings_add(&self->texts, text, strlen(text));
}

haul_status hl_tile_trace_start(haul_context *context, haul_error *error)
{
    const haul_device *device = context->memory.device;
    hl_tile_trace *self = context->trace = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    self->device = *haul_device_describe(device);
    self->device_text = add_text(self, self->device.name);
    self->device_name = add_text(self, device->name);
    self->last_ns = INT64_MIN;
    return context->memory.is_host ? HAUL_OK : set_base(context, error);
}

void hl_tile_trace_stop(haul_context *context)
{
    hl_tile_trace *self = context->trace;
    /* Each is waited for: a device may be behind with work that nobody needed. One that fails is
     * lost, and tells no more. */
    for (bool is_lost = false; self->untimed_first < self->untimed_count; self->untimed_first++) {
        const hl_tile_untimed *next = &self->untimed[self->untimed_first];
        is_lost = is_lost || haul_event_wait(next->done, NULL);
        if (is_lost)
            haul_event_free(next->done);
        else
            set_times(context, &self->notes[next->note], next->done);
    }
    for (size_t i = 0; i < self->spare_count; i++)
        haul_event_free(self->spare[i]);
    haul_event_free(self->base);
    free(self->untimed);
    free(self->spare);
    free(self->kernels);
    self->untimed = NULL;
    self->spare = NULL;
    self->kernels = NULL;
    self->base = NULL;
    context->trace = NULL;
}

static uint32_t own_thread(hl_tile_trace *self)
{
    if (!self->thread_id || !pthread_equal(self->thread, pthread_self())) {
        self->thread = pthread_self();
        self->thread_id = (uint32_t)syscall(SYS_gettid);
    }
    return self->thread_id;
}

hl_tile_noting hl_tile_note_begin(haul_context *context, hl_tile_note_kind kind,
                                  const haul_stream *stream)
{
    hl_tile_trace *self = context->trace;
    hl_tile_noting noting = {NULL, NULL};
    if (!self)
        return noting;
    if (self->untimed_count - self->untimed_first > UNTIMED_MOST)
        hl_tile_trace_harvest(context);
    if (self->count == HL_TILE_NOTES_MOST ||
        !hl_base_grow(&self->notes, &self->capacity, self->count + 1, sizeof *self->notes) ||
        !hl_base_grow(&self->untimed, &self->untimed_capacity, self->untimed_count + 1,
                      sizeof *self->untimed)) {
        self->lost++;
        return noting;
    }
    if (kind <= HL_TILE_NOTE_KERNEL && !context->memory.is_host)
        noting.done = take_event(context);
    noting.note = &self->notes[self->count++];
    *noting.note = (hl_tile_note){
        .kind = (uint8_t)kind,
        .name = HAUL_NONE,
        .line = HAUL_NONE,
        .stream = (uint8_t)hl_tile_stream_number(context, stream),
        .thread = own_thread(self),
        .call_ns = call_time(context),
    };
    return noting;
}

void hl_tile_note_end(haul_context *context, const hl_tile_noting *self, haul_status status)
{
    hl_tile_trace *trace = context->trace;
    if (!self->note)
        return;
    if (status) {
        trace->count--;
        give_event(trace, self->done);
        return;
    }
    const int64_t end_ns = haul_device_now(context->memory.device);
    self->note->call_dur_ns = end_ns > self->note->call_ns ? end_ns - self->note->call_ns : 0;
    if (self->done)
        trace->untimed[trace->untimed_count++] = (hl_tile_untimed){trace->count - 1, self->done};
    if (self->note->kind == HL_TILE_NOTE_WAIT_EVENT || self->note->kind == HL_TILE_NOTE_WAIT_STREAM)
        hl_tile_trace_harvest(context);
}

hl_tile_noting hl_tile_note_event(haul_context *context, hl_tile_note_kind kind,
                                  const haul_stream *stream, const haul_event *event)
{
    const hl_tile_noting noting = hl_tile_note_begin(context, kind, stream);
    if (noting.note)
        noting.note->event = event;
    return noting;
}

hl_tile_noting hl_tile_note_call(haul_context *context, const char *name)
{
    const hl_tile_noting noting = hl_tile_note_begin(context, HL_TILE_NOTE_CALL, NULL);
    if (noting.note)
        noting.note->name = add_text(context->trace, name);
    return noting;
}

/* The array by its memory on the device, and the planes by their place on the host. */
static void name_array(haul_context *context, hl_tile_note *note, const haul_transfer *transfer)
{
    const hl_tile_field *field = context->memory.fields;
    while (field && (!field->ring ||
                     (transfer->to.buffer != field->ring && transfer->from.buffer != field->ring)))
        field = field->next;
    if (!field)
        return;
    char name[64];
    snprintf(name, sizeof name, "array %d", field->number + 1);
    note->name = add_text(context->trace, field->name[0] ? field->name : name);
    const bool is_up = transfer->to.buffer == field->ring;
    const haul_address *at = is_up ? &transfer->from : &transfer->to;
    const uint64_t offset =
        at->buffer ? at->offset : (uint64_t)((uintptr_t)at->host - (uintptr_t)field->host);
    if ((at->buffer && at->buffer != field->pinned) || offset >= field->host_bytes)
        return;
    const uint64_t planes =
        field->window_rows ? transfer->size[1] : transfer->size[0] / field->plane_bytes;
    note->planes[0] = (int)(offset / field->plane_bytes) - field->edge + field->first;
    note->planes[1] = note->planes[0] + (int)planes;
}

void hl_tile_note_copy(haul_context *context, const hl_tile_noting *self,
                       const haul_transfer *transfer)
{
    if (!self->note)
        return;
    const haul_direction direction = haul_transfer_direction(transfer);
    const haul_buffer *host =
        direction == HAUL_DIRECTION_HTOD ? transfer->from.buffer : transfer->to.buffer;
    self->note->direction = (uint8_t)direction;
    self->note->bytes = transfer->size[0] * (transfer->size[1] ? transfer->size[1] : 1);
    self->note->memory = (uint8_t)(!haul_direction_crosses_link(direction) ? HAUL_MEMORY_DEVICE
                                   : host                                  ? HAUL_MEMORY_PINNED
                                                                           : HAUL_MEMORY_PAGEABLE);
    name_array(context, self->note, transfer);
}

/* "heat.kernel.h:5 in heat": the line that defines the kernel, in the file that has its text. */
static uint32_t find_line(hl_tile_trace *self, const haul_kernel_source *source)
{
    const char *slash = strrchr(source->file, '/');
    const char *file = slash ? slash + 1 : source->file;
    char text[256], word[96];
    const int length = snprintf(word, sizeof word, "(%.90s,", source->name);
    int line = 1;
    for (const char *at = source->text; at + length <= source->text_end; at++) {
        line += *at == '\n';
        if (!memcmp(at, word, (size_t)length)) {
            snprintf(text, sizeof text, "%s:%d in %.90s", file, line, source->name);
            return add_text(self, text);
        }
    }
    return HAUL_NONE;
}

void hl_tile_note_kernel(haul_context *context, const hl_tile_noting *self,
                         const haul_kernel_source *source)
{
    hl_tile_trace *trace = context->trace;
    if (!self->note)
        return;
    size_t i = 0;
    while (i < trace->kernel_count && trace->kernels[i].source != source)
        i++;
    if (i == trace->kernel_count) {
        if (!hl_base_grow(&trace->kernels, &trace->kernel_capacity, i + 1, sizeof *trace->kernels))
            return;
        trace->kernels[trace->kernel_count++] =
            (hl_tile_noted_kernel){source, add_text(trace, source->name), find_line(trace, source)};
    }
    self->note->name = trace->kernels[i].name;
    self->note->line = trace->kernels[i].line;
}

void hl_tile_note_host_loops(haul_context *context, const hl_tile_step *first, size_t more,
                             const int64_t span[2], int64_t began_ns)
{
    const bool is_host = context->memory.is_host;
    const hl_tile_noting noting =
        hl_tile_note_begin(context, is_host ? HL_TILE_NOTE_KERNEL : HL_TILE_NOTE_SPAN, NULL);
    hl_tile_note *note = noting.note;
    char name[160], others[64] = "";
    if (!note)
        return;
    if (first->source)
        hl_tile_note_kernel(context, &noting, first->source);
    if (more)
        snprintf(others, sizeof others, " and %zu more loops", more);
    snprintf(name, sizeof name, "%.60s%s%s", first->source ? first->source->name : "edges", others,
             is_host ? "" : " on the host");
    note->name = add_text(context->trace, name);
    hl_tile_note_end(context, &noting, HAUL_OK);
    note->start_ns = span[0];
    note->dur_ns = span[1] - span[0];
    note->is_timed = true;
    note->call_dur_ns = note->call_ns - began_ns;
    note->call_ns = began_ns;
}
