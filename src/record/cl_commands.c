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
    return &self->clocks[device % HL_RECORD_CL_MOST_DEVICES];
}

/* Its fate is known: it is in the ring, or counted. */
static void settle(hl_record_profile_writer *writer, hl_record_cl_command *command)
{
    if (!command->event)
        return;
    hl_record_cl_runtime.clReleaseEvent(command->event);
    command->event = NULL;
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
        settle(writer, &dropped);
        return;
    }
    hl_record_cl_command *taken = &self->waiting[self->count++];
    *taken = *command;
    taken->state = taken->event ? NEW : ENDED;
    if (taken->event)
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

static command_state read_times(hl_record_cl_commands *self, hl_record_cl_command *command)
{
    hl_record *record = &command->record;
    int64_t queued;
    if (!read_time(command->event, CL_PROFILING_COMMAND_START, &record->start_ns) ||
        !read_time(command->event, CL_PROFILING_COMMAND_END, &record->end_ns) ||
        record->end_ns < record->start_ns)
        return UNTIMED;
    /* It was queued while its call was made; one whose call waited for it has ended by then too. */
    if (read_time(command->event, CL_PROFILING_COMMAND_QUEUED, &queued))
        hl_record_event_clock_bracket(clock_of(self, record->device), command->start_ns, queued,
                                      command->blocks ? record->end_ns : queued, command->end_ns);
    return clock_of(self, record->device)->known ? ENDED : UNTIMED;
}

/* A stream runs in order: behind one that has not ended nothing is asked. */
static void ask(hl_record_cl_commands *self, hl_record_profile_writer *writer,
                hl_record_cl_command *command)
{
    cl_int status;
    const uint32_t stream = command->record.stream;
    if (stream < self->blocked_capacity && self->blocked[stream] == self->round)
        return;
    if (hl_record_cl_runtime.clGetEventInfo(command->event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                            sizeof status, &status, NULL) != CL_SUCCESS)
        status = -1;
    if (status > CL_COMPLETE) {
        const size_t before = self->blocked_capacity;
        command->state = RUNNING;
        if (stream == HL_RECORD_PROFILE_NO_ID ||
            !hl_base_grow(&self->blocked, &self->blocked_capacity, (size_t)stream + 1,
                          sizeof *self->blocked))
            return;
        if (self->blocked_capacity > before)
            memset(self->blocked + before, 0, (self->blocked_capacity - before) * sizeof(uint32_t));
        self->blocked[stream] = self->round;
        return;
    }
    command->state = (uint8_t)(status < 0 ? FAILED : read_times(self, command));
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
    for (int i = 0; i < MARKERS && !(clock->known && i == 0); i++) {
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
static void put(hl_record_cl_commands *self, hl_record_profile_writer *writer,
                hl_record_cl_command *command)
{
    rows to = {.count = 0};
    const bool ran = command->event && command->state == ENDED;
    hl_record *record = &command->record;
    hl_record_cl_ending *ending = ending_of(self, command->number);
    if (ran) {
        hl_record_event_clock *clock = clock_of(self, record->device);
        record->start_ns = hl_record_event_clock_host(clock, record->start_ns);
        record->end_ns = hl_record_event_clock_host(clock, record->end_ns);
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
    settle(writer, command);
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
            ask(self, writer, &self->waiting[i]);
    size_t kept = 0;
    for (size_t i = 0; i < self->count; i++) {
        hl_record_cl_command *command = &self->waiting[i];
        hl_record_cl_ending *ending = ending_of(self, command->number);
        if (command->state >= UNTIMED && ending->number == command->number)
            ending->number = 0; /* nobody waits for what has no end */
        if (is_ready(self, command))
            put(self, writer, command);
        else if (kept++ != i)
            self->waiting[kept - 1] = *command;
    }
    self->count = kept;
    for (unsigned i = 0; i < HL_RECORD_CL_MOST_DEVICES; i++) {
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
        unfinished += commands[i].event && commands[i].state <= RUNNING;
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
