/* From a call to its rows. A row needs what only later calls know: the times of its event, the end
 * of each event in its wait list, and the bounds of the device's clock. So commands stay here, in
 * the order of their calls, until all of that is known or is known to be lost. */
#include "record/cl_commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "record/cl_recorder.h"

enum {
    MOST_WAITING = 1 << 20, /* commands, 250 MiB: beyond, they are dropped and counted */
    ENDINGS = 65536,        /* a wait for an older command is counted as unknown */
    MARKERS = 4,            /* of a new queue: the narrowest of some brackets */
    MOST_MARKERS = 32,      /* where none is narrow, as on a busy machine */
    NARROW_NS = 10000,
    LOOKED_BACK = 64, /* commands before a finish: the last of its queue is one of them */
    MOST_RECORDS = 2 * HL_RECORD_CL_MOST_WAITS + 2, /* an event and a wait for each of the list */
};

/* NEW and RUNNING are asked again; from UNTIMED on there is no end that others could wait for. */
typedef enum command_state { NEW, RUNNING, ENDED, UNTIMED, FAILED } command_state;

cl_icd_dispatch hl_record_cl_runtime;

void hl_record_cl_command_waits(hl_record_cl_command *self, uint32_t stream, uint32_t number)
{
    for (int i = 0; i < self->wait_count; i++)
        if (self->waits[i].stream == stream) {
            if (self->waits[i].number < number)
                self->waits[i].number = number;
            return;
        }
    if (self->wait_count == HL_RECORD_CL_MOST_WAITS)
        return;
    self->waits[self->wait_count].stream = stream;
    self->waits[self->wait_count].number = number;
    self->wait_count++;
}

/* --- the collector's state */

void hl_record_cl_commands_init(hl_record_cl_commands *self)
{
    if (!self->endings)
        self->endings = calloc(ENDINGS, sizeof *self->endings);
}

void hl_record_cl_commands_abandon(hl_record_cl_commands *self)
{
    *self = (hl_record_cl_commands){.lock = PTHREAD_MUTEX_INITIALIZER};
}

void hl_record_cl_commands_forget(hl_record_cl_commands *self)
{
    self->count = 0;
    memset(self->clocks, 0, sizeof self->clocks);
    memset(self->noted_error_ns, 0, sizeof self->noted_error_ns);
    if (self->endings)
        memset(self->endings, 0, ENDINGS * sizeof *self->endings);
    if (self->streams)
        memset(self->streams, 0, self->stream_capacity * sizeof *self->streams);
    self->unknown_ends = 0;
}

/* Numbers share a slot, so whoever looks checks `number`. */
static hl_record_cl_ending *ending_of(hl_record_cl_commands *self, uint32_t number)
{
    return &self->endings[number % ENDINGS];
}

/* No machine is known with more devices than clocks; beyond, devices would share them. */
static hl_record_event_clock *clock_of(hl_record_cl_commands *self, uint32_t device)
{
    const unsigned number = device % HL_RECORD_CL_MOST_DEVICES;
    if (number >= self->clock_count)
        self->clock_count = number + 1;
    return &self->clocks[number];
}

/* NULL for a command of none, and without memory. */
static hl_record_cl_stream *stream_of(hl_record_cl_commands *self, uint32_t stream)
{
    const size_t before = self->stream_capacity;
    if (stream == HL_RECORD_PROFILE_NO_ID ||
        !hl_base_grow(&self->streams, &self->stream_capacity, (size_t)stream + 1,
                      sizeof *self->streams))
        return NULL;
    if (self->stream_capacity > before)
        memset(self->streams + before, 0, (self->stream_capacity - before) * sizeof *self->streams);
    return &self->streams[stream];
}

/* Its fate is known: it is in the ring, or counted. */
static void settle_command(hl_record_profile_writer *writer, hl_record_cl_command *command)
{
    if (!command->issued)
        return;
    if (command->event)
        hl_record_cl_runtime.clReleaseEvent(command->event);
    command->event = NULL;
    command->issued = false;
    hl_record_profile_count_settled(writer, 1);
}

/* Without memory a command is dropped, never the program stopped. */
static void take_in(hl_record_cl_commands *self, hl_record_profile_writer *writer,
                    const hl_record_cl_command *command)
{
    hl_record_cl_command dropped = *command;
    if (self->count >= MOST_WAITING ||
        !hl_base_grow(&self->waiting, &self->capacity, self->count + 1, sizeof *self->waiting)) {
        hl_record_profile_lost(writer, HL_RECORD_LOSS_DROPPED_COMMANDS, 1);
        settle_command(writer, &dropped);
        return;
    }
    hl_record_cl_command *taken = &self->waiting[self->count++];
    *taken = *command;
    taken->state = taken->issued ? NEW : ENDED;
    if (taken->issued)
        *ending_of(self, taken->number) = (hl_record_cl_ending){.number = taken->number};
}

/* --- asking for times */

static bool read_time(cl_event event, cl_profiling_info what, int64_t *time_ns)
{
    cl_ulong value;
    if (hl_record_cl_runtime.clGetEventProfilingInfo(event, what, sizeof value, &value, NULL) !=
            CL_SUCCESS ||
        value > INT64_MAX / 2)
        return false;
    *time_ns = (int64_t)value;
    return true;
}

/* Its execution status, negative for a failure. */
static cl_int status_of(cl_event event)
{
    cl_int status;
    return hl_record_cl_runtime.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                               sizeof status, &status, NULL) == CL_SUCCESS
               ? status
               : -1;
}

static hl_record_cl_times read_times(hl_record_cl_command *command, cl_event event)
{
    int64_t start_ns, end_ns;
    if (!read_time(event, CL_PROFILING_COMMAND_START, &start_ns) ||
        !read_time(event, CL_PROFILING_COMMAND_END, &end_ns) || end_ns < start_ns)
        return HL_RECORD_CL_TIMELESS;
    if (!read_time(event, CL_PROFILING_COMMAND_QUEUED, &command->queued_ns))
        command->queued_ns = INT64_MIN;
    command->record.start_ns = start_ns;
    command->record.end_ns = end_ns;
    return HL_RECORD_CL_TIMED;
}

void hl_record_cl_command_time(hl_record_cl_command *self, cl_event event)
{
    if (status_of(event) == CL_COMPLETE)
        self->times = (uint8_t)read_times(self, event);
}

/* It was queued while its call was made; one whose call waited for it has ended by then too. */
static command_state hold_clock(hl_record_cl_commands *self, const hl_record_cl_command *command)
{
    hl_record_event_clock *clock = clock_of(self, command->record.device);
    if (command->queued_ns != INT64_MIN)
        hl_record_event_clock_bracket(clock, command->start_ns, command->queued_ns,
                                      command->blocks ? command->record.end_ns : command->queued_ns,
                                      command->end_ns);
    return clock->known ? ENDED : UNTIMED;
}

/* A stream runs in order: behind one that has not ended nothing is asked. */
static void ask_end(hl_record_cl_commands *self, hl_record_profile_writer *writer,
                    hl_record_cl_command *command)
{
    hl_record_cl_stream *stream = stream_of(self, command->record.stream);
    if (stream && stream->blocked == self->round)
        return;
    const bool asks = command->times == HL_RECORD_CL_UNASKED;
    const cl_int status = asks ? status_of(command->event) : CL_COMPLETE;
    if (status > CL_COMPLETE) {
        command->state = RUNNING;
        if (stream)
            stream->blocked = self->round;
        return;
    }
    if (asks && status == CL_COMPLETE)
        command->times = (uint8_t)read_times(command, command->event);
    if (status < 0)
        command->state = FAILED;
    else
        command->state =
            (uint8_t)(command->times == HL_RECORD_CL_TIMED ? hold_clock(self, command) : UNTIMED);
    hl_record_profile_lost(writer, HL_RECORD_LOSS_FAILED, command->state == FAILED);
    hl_record_profile_lost(writer, HL_RECORD_LOSS_COMMANDS_UNTIMED, command->state == UNTIMED);
}

/* Only a clock of which nothing is known: commands themselves hold it later. The first call of a
 * runtime is slow, so several markers are tried. */
void hl_record_cl_commands_bracket(hl_record_cl_commands *self, cl_command_queue queue,
                                   uint32_t device)
{
    pthread_mutex_lock(&self->lock);
    hl_record_event_clock *clock = clock_of(self, device);
    for (int i = 0; i < MOST_MARKERS && !(clock->known && i == 0); i++) {
        if (i >= MARKERS && clock->known && clock->upper - clock->lower <= NARROW_NS)
            break;
        cl_event event = NULL;
        int64_t queued;
        const int64_t before = hl_record_profile_now();
        const cl_int made = hl_record_cl_runtime.clEnqueueMarker(queue, &event);
        const int64_t after = hl_record_profile_now();
        if (made != CL_SUCCESS)
            break;
        if (hl_record_cl_runtime.clWaitForEvents(1, &event) == CL_SUCCESS &&
            read_time(event, CL_PROFILING_COMMAND_QUEUED, &queued))
            hl_record_event_clock_bracket(clock, before, queued, queued, after);
        hl_record_cl_runtime.clReleaseEvent(event);
    }
    pthread_mutex_unlock(&self->lock);
}

/* Commands lie in the order of their numbers, but where these have begun anew. */
static const hl_record_cl_command *find_command(const hl_record_cl_commands *self, uint32_t number)
{
    size_t low = 0, high = self->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (self->waiting[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < self->count && self->waiting[low].number == number ? &self->waiting[low] : NULL;
}

static const hl_record_cl_command *last_before(const hl_record_cl_commands *self, size_t finish)
{
    const hl_record *of = &self->waiting[finish].record;
    const bool by_stream = of->stream != HL_RECORD_PROFILE_NO_ID;
    for (size_t i = finish; i-- > 0 && finish - i <= LOOKED_BACK;) {
        const hl_record *record = &self->waiting[i].record;
        if (self->waiting[i].issued &&
            (by_stream ? record->stream == of->stream : record->context == of->context))
            return &self->waiting[i];
    }
    return NULL;
}

/* Work that a call has waited for had ended before the call did. On a busy machine, where the calls
 * that enqueue are long, nothing else keeps an end from coming out behind the wait for it. */
static void hold_by_wait(hl_record_cl_commands *self, size_t wait, const hl_record_cl_command *on)
{
    if (on && on->issued && on->state == ENDED)
        hl_record_event_clock_bracket(clock_of(self, on->record.device), on->start_ns,
                                      on->record.start_ns, on->record.end_ns,
                                      self->waiting[wait].end_ns);
}

static void hold_by_waits(hl_record_cl_commands *self)
{
    for (size_t i = 0; i < self->count; i++) {
        const hl_record_cl_command *wait = &self->waiting[i];
        if (wait->effect == HL_RECORD_CL_FINISH)
            hold_by_wait(self, i, last_before(self, i));
        for (int k = 0; wait->effect == HL_RECORD_CL_WAIT && k < wait->wait_count; k++)
            hold_by_wait(self, i, find_command(self, wait->waits[k].number));
    }
}

/* --- putting records */

/* The rows of one command, put all at once. */
typedef struct rows {
    hl_record items[MOST_RECORDS];
    size_t count;
} rows;

/* The caller knows that there is room: see MOST_RECORDS. */
static hl_record *add_row(rows *to, hl_record_kind kind, int64_t start_ns, int64_t end_ns)
{
    hl_record *row = &to->items[to->count++];
    *row = (hl_record){.kind = kind, .start_ns = start_ns, .end_ns = end_ns};
    return row;
}

static void add_call(rows *to, const hl_record_cl_command *command)
{
    hl_record *row = add_row(to, HL_RECORD_CALL, command->start_ns, command->end_ns);
    row->correlation = command->number;
    row->call.name = command->call_name;
    row->call.thread = command->thread;
    row->call.stack = command->stack;
    row->call.result = command->result;
}

/* An event is recorded on its stream when its command ends: the reader takes the command that had
 * started last by then, so it must not be the command's start. */
static void add_event(rows *to, hl_record_cl_ending *ending)
{
    if (ending->written)
        return;
    ending->written = true;
    hl_record *row = add_row(to, HL_RECORD_EVENT, ending->end_ns, ending->end_ns);
    row->device = ending->device;
    row->context = ending->context;
    row->stream = ending->stream;
    row->event.event = row->event.sync_id = ending->number;
}

static hl_record *add_sync(rows *to, const hl_record_cl_command *command, uint32_t type,
                           uint32_t event)
{
    hl_record *row = add_row(to, HL_RECORD_SYNC, command->start_ns, command->end_ns);
    row->device = command->record.device;
    row->context = command->record.context;
    row->stream = command->record.stream;
    row->correlation = command->number;
    row->sync.type = type;
    row->sync.event = row->sync.sync_id = event;
    return row;
}

/* The stream's waits take no time of the host's, so no call has them. */
static void add_stream_waits(hl_record_cl_commands *self, rows *to,
                             const hl_record_cl_command *command)
{
    for (int i = 0; i < command->wait_count; i++) {
        hl_record_cl_ending *ending = ending_of(self, command->waits[i].number);
        if (ending->number != command->waits[i].number || !ending->known) {
            self->unknown_ends++;
            continue;
        }
        add_event(to, ending);
        hl_record *row = add_sync(to, command, HL_RECORD_STREAM_WAITS, ending->number);
        row->end_ns = row->start_ns;
        row->correlation = 0;
    }
}

/* The host waited for several events until the last of them: that is the one that is written. */
static void add_host_wait(hl_record_cl_commands *self, rows *to,
                          const hl_record_cl_command *command)
{
    hl_record_cl_ending *last = NULL;
    for (int i = 0; i < command->wait_count; i++) {
        hl_record_cl_ending *ending = ending_of(self, command->waits[i].number);
        if (ending->number != command->waits[i].number || !ending->known)
            self->unknown_ends++;
        else if (!last || ending->end_ns > last->end_ns)
            last = ending;
    }
    if (!last)
        return;
    add_event(to, last);
    hl_record *row = add_sync(to, command, HL_RECORD_WAIT_EVENT, last->number);
    row->device = last->device;
    row->context = last->context;
    row->stream = HL_RECORD_PROFILE_NO_ID;
}

/* Rows of one command go together: a reader never sees a wait whose event is missing. */
static void put_rows(hl_record_cl_commands *self, hl_record_profile_writer *writer,
                     hl_record_cl_command *command)
{
    rows to = {.count = 0};
    const bool ran = command->issued && command->state == ENDED;
    hl_record *record = &command->record;
    hl_record_cl_ending *ending = ending_of(self, command->number);
    if (ran) {
        hl_record_event_end none = {0};
        hl_record_cl_stream *stream = stream_of(self, record->stream);
        hl_record_event_clock_place(clock_of(self, record->device), stream ? &stream->last : &none,
                                    &record->start_ns, &record->end_ns);
    }
    /* An end is after the start by at least 1 ns, so that an event at it never takes the command
     * before. */
    if (ran && ending->number == command->number) {
        ending->known = true;
        ending->device = record->device;
        ending->context = record->context;
        ending->stream = record->stream;
        ending->end_ns = record->end_ns > record->start_ns ? record->end_ns : record->start_ns + 1;
    }
    if (command->effect == HL_RECORD_CL_WAIT)
        add_host_wait(self, &to, command);
    else if (command->effect == HL_RECORD_CL_FINISH)
        add_sync(&to, command,
                 command->record.stream != HL_RECORD_PROFILE_NO_ID ? HL_RECORD_WAIT_STREAM
                                                                   : HL_RECORD_WAIT_CONTEXT,
                 HL_RECORD_PROFILE_NO_ID);
    else if (ran)
        add_stream_waits(self, &to, command);
    if (ran && command->effect == HL_RECORD_CL_RECORD)
        to.items[to.count++] = *record;
    add_call(&to, command);
    hl_record_profile_put(writer, to.items, to.count);
    settle_command(writer, command);
}

/* Whether all that it waited for has been put, so that its rows can name them. */
static bool is_ready(hl_record_cl_commands *self, const hl_record_cl_command *command)
{
    if (command->state == NEW || command->state == RUNNING)
        return false;
    for (int i = 0; i < command->wait_count; i++) {
        const hl_record_cl_ending *ending = ending_of(self, command->waits[i].number);
        if (ending->number == command->waits[i].number && !ending->known)
            return false;
    }
    return true;
}

void hl_record_cl_commands_collect(hl_record_cl_commands *self, hl_record_profile_writer *writer,
                                   const hl_record_cl_batch *batch)
{
    if (!self->endings)
        return;
    self->round++;
    for (size_t i = 0; i < batch->count; i++)
        take_in(self, writer, &batch->items[i]);
    /* All clocks first, then all times: brackets of the whole batch narrow them. */
    for (size_t i = 0; i < self->count; i++)
        if (self->waiting[i].state == NEW || self->waiting[i].state == RUNNING)
            ask_end(self, writer, &self->waiting[i]);
    hold_by_waits(self);
    size_t kept = 0;
    for (size_t i = 0; i < self->count; i++) {
        hl_record_cl_command *command = &self->waiting[i];
        hl_record_cl_ending *ending = ending_of(self, command->number);
        if (command->state >= UNTIMED && ending->number == command->number)
            ending->number = 0; /* nobody waits for what has no end */
        if (is_ready(self, command))
            put_rows(self, writer, command);
        else if (kept++ != i)
            self->waiting[kept - 1] = *command;
    }
    self->count = kept;
    for (unsigned i = 0; i < self->clock_count; i++) {
        const int64_t error_ns = self->clocks[i].worst_error_ns;
        if (error_ns == self->noted_error_ns[i])
            continue;
        char name[64];
        snprintf(name, sizeof name, "HAUL:CLOCK_ERROR_NS:%u", i);
        hl_record_profile_note(writer, name, "%" PRId64, error_ns);
        self->noted_error_ns[i] = error_ns;
    }
}

static uint64_t put_unfinished(hl_record_profile_writer *writer,
                               const hl_record_cl_command *commands, size_t count)
{
    uint64_t unfinished = 0;
    for (size_t i = 0; i < count; i++) {
        rows to = {.count = 0};
        add_call(&to, &commands[i]);
        hl_record_profile_put(writer, to.items, to.count);
        unfinished += commands[i].issued && commands[i].state <= RUNNING;
    }
    return unfinished;
}

void hl_record_cl_commands_finish(hl_record_cl_commands *self, hl_record_profile_writer *writer,
                                  const hl_record_cl_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        batch->items[i].state = NEW;
    hl_record_profile_lost(writer, HL_RECORD_LOSS_UNFINISHED,
                           put_unfinished(writer, self->waiting, self->count) +
                               put_unfinished(writer, batch->items, batch->count));
    hl_record_profile_note_count(writer, "HAUL:WAITS_WITHOUT_END", self->unknown_ends);
    self->count = 0;
}
