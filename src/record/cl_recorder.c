/* The recording of one process: its state, its begin and end, forks, and what each call appends.
 * Two locks: `commands.lock` (what waits for its end) is always taken before `recorder.lock` (what
 * calls append to), which no call holds while the runtime works. */
#include "record/cl_recorder.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record/cl_commands.h"
#include "record/cl_queues.h"
#include "record/handle_map.h"
#include "record/record_session.h"

enum {
    INCOMING = 32768,    /* commands between two collections, at most */
    PATIENCE_MS = 3000,  /* that a call waits for room, at most: longer than the ring's writer */
    PERIOD_MS = 10,      /* between collections; its timer slows a copy that runs then by half */
    MOST_AT_ONCE = 8192, /* commands that a call which waited looks through itself */
};

cl_icd_dispatch haul_cl_runtime;
haul_host_ranges haul_cl_ranges = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The one recording of the process. */
static struct {
    atomic_bool on;
    pthread_mutex_t lock; /* of all that follows */
    haul_profile_writer *writer;
    bool tried; /* to open it */
    bool closed;
    uint32_t call_names[HAUL_CL_CALL_COUNT];
    haul_cl_queues queues;
    haul_handle_map events; /* of commands: stream above, number below 32 bits */
    haul_handle_map kernels;
    haul_cl_batch incoming; /* INCOMING have room there, and in `spare` */
    haul_cl_command *spare;
    uint32_t numbers; /* of commands, from 1 on; they name events in the profile */
    uint64_t dropped;
    uint64_t unknown_waits;
    uint64_t copied_at_creation;
    uint64_t maps_in_place;
    pthread_t thread; /* collects what ends while no call waits for it */
    bool has_thread;
    bool idle; /* it sleeps until a command comes */
    pthread_cond_t wake;
} recorder = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static haul_cl_commands commands = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local uint32_t thread_id;

bool haul_cl_active(void)
{
    return atomic_load_explicit(&recorder.on, memory_order_acquire);
}

/* --- beginning, end and forks */

/* Returns how many commands still run. */
static size_t collect_all(bool when_closed)
{
    haul_cl_batch batch = {0};
    pthread_mutex_lock(&commands.lock);
    pthread_mutex_lock(&recorder.lock);
    haul_profile_writer *writer = recorder.closed && !when_closed ? NULL : recorder.writer;
    if (writer) {
        batch = recorder.incoming;
        recorder.incoming = (haul_cl_batch){.items = recorder.spare};
        recorder.spare = batch.items;
    }
    pthread_mutex_unlock(&recorder.lock);
    if (writer)
        haul_cl_commands_collect(&commands, writer, &batch);
    const size_t waiting = writer ? commands.count : 0;
    pthread_mutex_unlock(&commands.lock);
    return waiting;
}

void haul_cl_collect(void)
{
    collect_all(false);
}

/* Sleeps without a timer while no command runs: an idle program is not woken by its recorder. */
static void *collect_on(void *argument)
{
    (void)argument;
    size_t waiting = 0;
    pthread_mutex_lock(&recorder.lock);
    while (!recorder.closed) {
        recorder.idle = !waiting && !recorder.incoming.count;
        if (recorder.idle) {
            pthread_cond_wait(&recorder.wake, &recorder.lock);
        } else {
            static const struct timespec period = {.tv_nsec = PERIOD_MS * 1000000L};
            pthread_mutex_unlock(&recorder.lock);
            nanosleep(&period, NULL);
            waiting = collect_all(false);
            pthread_mutex_lock(&recorder.lock);
        }
    }
    pthread_mutex_unlock(&recorder.lock);
    return NULL;
}

/* Registered when the first queue is made: after the runtime's own handlers, so run before them. */
static void close_at_exit(void)
{
    pthread_mutex_lock(&recorder.lock);
    haul_profile_writer *writer = recorder.closed ? NULL : recorder.writer;
    recorder.closed = true;
    atomic_store(&recorder.on, false);
    pthread_cond_signal(&recorder.wake);
    pthread_mutex_unlock(&recorder.lock);
    if (!writer)
        return;
    if (recorder.has_thread)
        pthread_join(recorder.thread, NULL);
    collect_all(true);
    haul_cl_commands_finish(&commands, writer);
    haul_cl_queues_note(&recorder.queues, writer);
    haul_profile_note_count(writer, "HAUL:DROPPED_COMMANDS", recorder.dropped);
    haul_profile_note_count(writer, "HAUL:WAITS_FOR_USER_EVENTS", recorder.unknown_waits);
    haul_profile_note_count(writer, "HAUL:BYTES_COPIED_AT_CREATION", recorder.copied_at_creation);
    haul_profile_note_count(writer, "HAUL:MAPS_IN_PLACE", recorder.maps_in_place);
    pthread_mutex_lock(&commands.lock);
    pthread_mutex_lock(&recorder.lock);
    recorder.writer = NULL;
    pthread_mutex_unlock(&recorder.lock);
    pthread_mutex_unlock(&commands.lock);
    haul_profile_close(writer, NULL);
}

/* The child gets a copy of all memory at this moment: with both locks held and the writer still,
 * that copy is consistent. */
static void before_fork(void)
{
    pthread_mutex_lock(&commands.lock);
    pthread_mutex_lock(&recorder.lock);
    if (recorder.writer && !recorder.closed)
        haul_profile_hold(recorder.writer);
}

static void after_fork_in_parent(void)
{
    if (recorder.writer && !recorder.closed)
        haul_profile_release(recorder.writer);
    pthread_mutex_unlock(&recorder.lock);
    pthread_mutex_unlock(&commands.lock);
}

/* The child is a process of its own: it has neither the writer's thread nor, with most runtimes, a
 * device that works. Its first new queue begins a recording of its own. */
static void after_fork_in_child(void)
{
    thread_id = 0;
    atomic_store(&recorder.on, false);
    if (recorder.writer)
        haul_profile_forget(recorder.writer);
    recorder.writer = NULL;
    recorder.tried = recorder.closed = recorder.has_thread = recorder.idle = false;
    recorder.wake = (pthread_cond_t)PTHREAD_COND_INITIALIZER; /* the parent's thread waited there */
    recorder.events = recorder.kernels = (haul_handle_map){0};
    haul_cl_queues_forget(&recorder.queues);
    recorder.incoming.count = 0;
    haul_cl_commands_forget(&commands);
    pthread_mutex_unlock(&recorder.lock);
    pthread_mutex_unlock(&commands.lock);
}

/* With the lock held. */
static void open_recording(void)
{
    static const char *const names[] = {
#define CALL_TEXT(name) #name,
        HAUL_CL_CALLS(CALL_TEXT)
#undef CALL_TEXT
    };
    static bool registered; /* under the lock; also in a child, which has the parent's handlers */
    recorder.tried = true;
    if (!recorder.spare)
        recorder.spare = malloc(INCOMING * sizeof *recorder.spare);
    if (!recorder.incoming.items)
        recorder.incoming.items = malloc(INCOMING * sizeof *recorder.spare);
    haul_cl_commands_init(&commands);
    if (recorder.spare && recorder.incoming.items)
        recorder.writer = haul_session_open();
    if (!recorder.writer)
        return;
    for (int i = 0; i < HAUL_CL_CALL_COUNT; i++)
        recorder.call_names[i] = haul_profile_name(recorder.writer, names[i]);
    if (!registered) {
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
        atexit(close_at_exit);
    }
    registered = true;
    recorder.has_thread = haul_session_start_thread(&recorder.thread, collect_on);
    atomic_store_explicit(&recorder.on, true, memory_order_release);
}

static bool begin_recording(void)
{
    pthread_mutex_lock(&recorder.lock);
    if (!recorder.tried && !recorder.closed)
        open_recording();
    pthread_mutex_unlock(&recorder.lock);
    return haul_cl_active();
}

/* --- queues */

/* Makes the queue known, and holds its device's clock against the host's. */
static void add_queue(const haul_cl_queue *made)
{
    const haul_cl_queue *known = NULL;
    pthread_mutex_lock(&recorder.lock);
    if (!recorder.closed && recorder.writer)
        known = haul_cl_queues_add(&recorder.queues, recorder.writer, made);
    const uint32_t device = known ? known->device : 0;
    pthread_mutex_unlock(&recorder.lock);
    if (known)
        haul_cl_commands_bracket(&commands, made->handle, device);
}

/* A runtime that cannot measure times on this queue makes it as the program wanted: its commands
 * are counted as without times. */
cl_command_queue haul_cl_make_queue(cl_context context, cl_device_id device,
                                    cl_command_queue_properties properties, cl_int *result)
{
    if (!begin_recording())
        return haul_cl_runtime.clCreateCommandQueue(context, device, properties, result);
    const bool forced = !(properties & CL_QUEUE_PROFILING_ENABLE);
    cl_command_queue made = haul_cl_runtime.clCreateCommandQueue(
        context, device, properties | CL_QUEUE_PROFILING_ENABLE, result);
    if (!made && forced)
        return haul_cl_runtime.clCreateCommandQueue(context, device, properties, result);
    if (made)
        add_queue(&(haul_cl_queue){.handle = made,
                                   .context_handle = context,
                                   .device_handle = device,
                                   .asked = {.properties = properties},
                                   .forced = forced});
    return made;
}

/* Copies the list with profiling in it. Returns false where it is there already, or must not be. */
static bool force(const cl_queue_properties *list, haul_cl_asked *asked,
                  cl_queue_properties *forced)
{
    enum { MOST = sizeof asked->list / sizeof asked->list[0] };
    size_t length = 0;
    bool found = false;
    for (; list && list[length]; length += 2) {
        if (length + 4 > MOST)
            return false;
        forced[length] = list[length];
        forced[length + 1] = list[length + 1];
        if (list[length] != CL_QUEUE_PROPERTIES)
            continue;
        found = true;
        asked->properties = list[length + 1];
        forced[length + 1] |= CL_QUEUE_PROFILING_ENABLE;
    }
    if (asked->properties & (CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_ON_DEVICE))
        return false;
    if (list) {
        asked->list_length = length + 1;
        memcpy(asked->list, list, asked->list_length * sizeof *list);
    }
    if (!found) {
        forced[length++] = CL_QUEUE_PROPERTIES;
        forced[length++] = CL_QUEUE_PROFILING_ENABLE;
    }
    forced[length] = 0;
    return true;
}

cl_command_queue haul_cl_make_queue_listed(cl_context context, cl_device_id device,
                                           const cl_queue_properties *properties, cl_int *result)
{
    cl_queue_properties list[sizeof((haul_cl_asked *)0)->list / sizeof(cl_queue_properties) + 3];
    haul_cl_asked asked = {0};
    if (!begin_recording())
        return haul_cl_runtime.clCreateCommandQueueWithProperties(context, device, properties,
                                                                  result);
    bool forced = force(properties, &asked, list);
    cl_command_queue made = haul_cl_runtime.clCreateCommandQueueWithProperties(
        context, device, forced ? list : properties, result);
    if (!made && forced) {
        forced = false;
        made =
            haul_cl_runtime.clCreateCommandQueueWithProperties(context, device, properties, result);
    }
    if (made && !(asked.properties & CL_QUEUE_ON_DEVICE))
        add_queue(&(haul_cl_queue){.handle = made,
                                   .context_handle = context,
                                   .device_handle = device,
                                   .asked = asked,
                                   .forced = forced});
    return made;
}

bool haul_cl_was_forced(cl_command_queue queue, haul_cl_asked *asked)
{
    pthread_mutex_lock(&recorder.lock);
    const haul_cl_queue *known = haul_cl_queues_find(&recorder.queues, queue);
    const bool forced = known && known->forced;
    if (forced && asked)
        *asked = known->asked;
    pthread_mutex_unlock(&recorder.lock);
    return forced;
}

/* --- kernels */

/* A kernel whose name is not known yet, one that was made past the layer too, is asked for it. */
uint32_t haul_cl_kernel_name(cl_kernel kernel)
{
    char name[1024] = "";
    uint64_t id = 0;
    pthread_mutex_lock(&recorder.lock);
    const bool known = haul_handle_map_get(&recorder.kernels, kernel, &id) && id;
    pthread_mutex_unlock(&recorder.lock);
    if (known)
        return (uint32_t)id;
    if (haul_cl_runtime.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name - 1, name,
                                        NULL) != CL_SUCCESS)
        name[0] = '\0';
    pthread_mutex_lock(&recorder.lock);
    if (!recorder.closed && recorder.writer) {
        id = haul_profile_name(recorder.writer, name);
        haul_handle_map_set(&recorder.kernels, kernel, id);
    }
    pthread_mutex_unlock(&recorder.lock);
    return (uint32_t)id;
}

void haul_cl_kernel_made(cl_kernel kernel)
{
    pthread_mutex_lock(&recorder.lock);
    if (kernel)
        haul_handle_map_set(&recorder.kernels, kernel, 0); /* is asked for when it is run */
    pthread_mutex_unlock(&recorder.lock);
}

/* Also before the first queue: the count is of the process. */
void haul_cl_copied_at_creation(size_t bytes)
{
    pthread_mutex_lock(&recorder.lock);
    recorder.copied_at_creation += bytes;
    pthread_mutex_unlock(&recorder.lock);
}

/* --- calls */

void haul_cl_begin(haul_cl_call *call, haul_cl_call_name name, cl_command_queue queue)
{
    *call = (haul_cl_call){.active = haul_cl_active(), .name = name, .queue = queue};
    if (call->active)
        call->start_ns = haul_profile_now();
}

void haul_cl_enqueue(haul_cl_call *call, haul_cl_call_name name, cl_command_queue queue,
                     cl_uint wait_count, const cl_event *waits, cl_event *event)
{
    haul_cl_begin(call, name, queue);
    call->event = event;
    if (!call->active)
        return;
    call->wait_count = wait_count;
    call->waits = waits;
    call->is_own = !event;
    if (call->is_own)
        call->event = &call->own;
}

/* With the lock held: what the call was, its command's place among the streams, and its number. */
static void compose(const haul_cl_call *call, cl_event event, haul_cl_command *command)
{
    command->event = event;
    command->effect = (uint8_t)call->effect;
    command->blocks = call->blocks;
    command->record = call->record;
    recorder.numbers = recorder.numbers % (INT32_MAX - 1) + 1;
    command->number = command->record.correlation = recorder.numbers;
    command->call_name = recorder.call_names[call->name];
    for (cl_uint i = 0; call->waits && i < call->wait_count; i++) {
        uint64_t value;
        if (call->waits[i] && haul_handle_map_get(&recorder.events, call->waits[i], &value))
            haul_cl_command_waits(command, (uint32_t)(value >> 32), (uint32_t)value);
        else
            recorder.unknown_waits++;
    }
    haul_cl_queue *queue =
        call->queue ? haul_cl_queues_find_or_add(&recorder.queues, recorder.writer, call->queue)
                    : NULL;
    if (command->effect == HAUL_CL_MOVE) {
        const bool in_place = queue && queue->shares_memory;
        command->effect = in_place ? HAUL_CL_NOTHING : HAUL_CL_RECORD;
        recorder.maps_in_place += in_place;
    }
    if (!queue)
        return;
    haul_cl_queue_place(queue, command);
    if (event && !call->is_own)
        haul_handle_map_set(&recorder.events, event,
                            (uint64_t)command->record.stream << 32 | command->number);
}

static bool is_full(void)
{
    return recorder.incoming.count == INCOMING;
}

/* With the lock held, which is let go meanwhile. Returns false where the command is dropped. */
static bool wait_for_room(void)
{
    static const struct timespec a_millisecond = {.tv_nsec = 1000000};
    for (int i = 0; i < PATIENCE_MS && is_full(); i++) {
        if (recorder.closed || !recorder.writer)
            return false;
        pthread_mutex_unlock(&recorder.lock);
        nanosleep(&a_millisecond, NULL);
        pthread_mutex_lock(&recorder.lock);
    }
    return !is_full() && !recorder.closed && recorder.writer;
}

static bool append(const haul_cl_call *call, cl_event event, haul_cl_command *command)
{
    bool taken = false;
    pthread_mutex_lock(&recorder.lock);
    if (haul_cl_active() && recorder.writer && !recorder.closed) {
        taken = wait_for_room();
        recorder.dropped += !taken;
    }
    if (taken) {
        compose(call, event, command);
        recorder.incoming.items[recorder.incoming.count++] = *command;
        if (event)
            haul_profile_count_issued(recorder.writer, 1);
        if (recorder.idle)
            pthread_cond_signal(&recorder.wake);
        recorder.idle = false;
    }
    pthread_mutex_unlock(&recorder.lock);
    return taken;
}

/* An event of the program's is retained until its times are read; the recorder's own is released
 * then. */
cl_int haul_cl_end(haul_cl_call *call, cl_int result)
{
    if (!call->active)
        return result;
    const int64_t end_ns = haul_profile_now();
    cl_event event = result == CL_SUCCESS && call->event ? *call->event : NULL;
    if (event && !call->is_own)
        haul_cl_runtime.clRetainEvent(event);
    haul_cl_command command;
    command.start_ns = call->start_ns;
    command.end_ns = end_ns;
    if (!thread_id)
        thread_id = haul_profile_thread();
    command.thread = thread_id;
    command.result = result;
    command.wait_count = 0;
    if (result != CL_SUCCESS)
        call->effect = HAUL_CL_NOTHING;
    if (!append(call, event, &command) && event)
        haul_cl_runtime.clReleaseEvent(event);
    if (!call->blocks && call->effect < HAUL_CL_FINISH)
        return result;
    /* The call has waited: what the program knows to have ended is in the ring before the program
     * can do anything else, such as die. */
    pthread_mutex_lock(&commands.lock);
    const bool many = commands.count > MOST_AT_ONCE;
    pthread_mutex_unlock(&commands.lock);
    if (!many)
        haul_cl_collect();
    return result;
}
