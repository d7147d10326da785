/* The recording of one process: its state, its begin and end, forks, and what each call appends.
 * Two locks: `commands.lock` (what waits for its end) is always taken before `recorder.lock` (what
 * calls append to), which no call holds while the runtime works. */
#include "record/cl_recorder.h"
#include "record/call_stack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record/cl_commands.h"
#include "record/cl_queues.h"
#include "record/handle_map.h"
#include "record/process_mark.h"
#include "record/record_session.h"

enum {
    INCOMING = 32768,    /* commands between two collections, at most */
    PATIENCE_MS = 3000,  /* that a call waits for room, at most: longer than the ring's writer */
    PERIOD_MS = 10,      /* between collections; its timer slows a copy that runs then by half */
    MOST_AT_ONCE = 8192, /* commands that a call which waited looks through itself */
};

hl_record_host_ranges hl_record_cl_ranges = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The one recording of the process. */
static struct {
    atomic_bool on;
    pthread_mutex_t lock; /* of all that follows */
    hl_record_profile_writer *writer;
    bool tried;         /* to open it */
    atomic_bool ending; /* the program ends: the thread is not needed any more */
    bool closed;
    uint32_t call_names[HL_RECORD_CL_CALL_COUNT];
    hl_record_cl_queues queues;
    hl_record_handle_map events; /* of commands: stream above, number below 32 bits */
    hl_record_handle_map kernels;
    hl_record_handle_map stacks; /* by what tells a stack from others: its name's number */
    atomic_bool has_stacks;
    hl_record_cl_batch incoming; /* INCOMING have room there, and in `spare` */
    hl_record_cl_command *spare;
    unsigned collections; /* begun so far */
    uint32_t numbers;     /* of commands, from 1 on; they name events in the profile */
    uint64_t unknown_waits;
    uint64_t copied_at_creation;
    uint64_t maps_in_place;
    pthread_t thread; /* collects what ends while no call waits for it */
    bool has_thread;
    bool idle; /* it sleeps until a command comes */
    pthread_cond_t wake;
    hl_record_process_mark mark; /* of the process that records */
} recorder = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static hl_record_cl_commands commands = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local uint32_t thread_id;

/* --- children that no handler of fork has prepared */

/* Empties the lists that calls append to, as in a process that has not begun; nothing is freed. */
static void forget_recording(void)
{
    thread_id = 0;
    atomic_store(&recorder.on, false);
    if (recorder.writer)
        hl_record_profile_forget(recorder.writer);
    recorder.writer = NULL;
    recorder.tried = recorder.closed = recorder.has_thread = recorder.idle = false;
    atomic_store(&recorder.ending, false);
    recorder.wake = (pthread_cond_t)PTHREAD_COND_INITIALIZER; /* the parent's thread waited there */
    recorder.events = recorder.kernels = recorder.stacks = (hl_record_handle_map){0};
    recorder.incoming.count = 0;
}

/* Before a lock is taken. A child that was made past fork's handlers begins anew: the parent's
 * threads may have held the locks, and been changing what is under them. */
static void leave_parent(void)
{
    if (hl_record_process_mark_is_own(&recorder.mark) ||
        !hl_record_process_mark_claim(&recorder.mark))
        return;
    recorder.lock = commands.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    forget_recording();
    recorder.incoming.items = recorder.spare = NULL;
    recorder.queues = (hl_record_cl_queues){0};
    hl_record_cl_commands_abandon(&commands);
    hl_record_process_mark_make(&recorder.mark);
}

void hl_record_cl_mark_process(void)
{
    hl_record_process_mark_make(&recorder.mark);
}

bool hl_record_cl_active(void)
{
    leave_parent();
    return atomic_load_explicit(&recorder.on, memory_order_acquire);
}

/* --- beginning, end and forks */

/* With commands.lock held. `seen` is NULL for any, or how many collections had begun: where one has
 * since, it is left at that. */
static void collect_held(const unsigned *seen)
{
    hl_record_cl_batch batch = {0};
    pthread_mutex_lock(&recorder.lock);
    hl_record_profile_writer *writer = recorder.writer;
    const bool collects = writer && (!seen || recorder.collections == *seen);
    if (collects) {
        batch = recorder.incoming;
        recorder.incoming = (hl_record_cl_batch){.items = recorder.spare};
        recorder.spare = batch.items;
        recorder.collections++;
    }
    pthread_mutex_unlock(&recorder.lock);
    if (collects)
        hl_record_cl_commands_collect(&commands, writer, &batch);
}

/* Returns how many commands still run. */
static size_t collect_all(void)
{
    pthread_mutex_lock(&commands.lock);
    collect_held(NULL);
    const size_t waiting = commands.count;
    pthread_mutex_unlock(&commands.lock);
    return waiting;
}

void hl_record_cl_collect(void)
{
    leave_parent();
    collect_all();
}

/* Sleeps without a timer while no command runs: an idle program is not woken by its recorder. */
static void *collect_on(void *argument)
{
    (void)argument;
    size_t waiting = 0;
    pthread_mutex_lock(&recorder.lock);
    while (!recorder.ending) {
        recorder.idle = !waiting && !recorder.incoming.count;
        if (recorder.idle) {
            pthread_cond_wait(&recorder.wake, &recorder.lock);
            continue;
        }
        /* With the lock held. By a condition: where a program's filter denies it to sleep, threads
         * still wait for each other. */
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += PERIOD_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&recorder.wake, &recorder.lock, &until);
        pthread_mutex_unlock(&recorder.lock);
        waiting = collect_all();
        pthread_mutex_lock(&recorder.lock);
    }
    pthread_mutex_unlock(&recorder.lock);
    return NULL;
}

static void note_counts(void)
{
    hl_record_profile_writer *writer = recorder.writer;
    hl_record_cl_queues_note(&recorder.queues, writer);
    hl_record_profile_note_count(writer, "HAUL:WAITS_FOR_USER_EVENTS", recorder.unknown_waits);
    hl_record_profile_note_count(writer, "HAUL:BYTES_COPIED_AT_CREATION",
                                 recorder.copied_at_creation);
    hl_record_profile_note_count(writer, "HAUL:MAPS_IN_PLACE", recorder.maps_in_place);
}

/* Registered when the first queue is made: after the runtime's own handlers, so run before them,
 * while events can be asked. The program's own may follow, and work on: from here on each call
 * collects for itself what has ended. */
static void end_thread(void)
{
    leave_parent();
    pthread_mutex_lock(&recorder.lock);
    const bool joins = recorder.has_thread && !recorder.ending;
    recorder.ending = true;
    pthread_cond_signal(&recorder.wake);
    pthread_mutex_unlock(&recorder.lock);
    if (joins)
        pthread_join(recorder.thread, NULL);
    collect_all();
    pthread_mutex_lock(&recorder.lock);
    if (recorder.writer && !recorder.closed)
        note_counts(); /* a handler may end the process at once */
    pthread_mutex_unlock(&recorder.lock);
}

/* After all handlers, and the destructors of the program and of libraries that it was linked with.
 * The runtime may be gone. */
__attribute__((destructor)) static void close_at_end(void)
{
    leave_parent();
    pthread_mutex_lock(&commands.lock);
    pthread_mutex_lock(&recorder.lock);
    hl_record_profile_writer *writer = recorder.writer;
    recorder.closed = true;
    atomic_store(&recorder.ending, true);
    atomic_store(&recorder.on, false);
    if (writer) {
        hl_record_cl_commands_finish(&commands, writer, &recorder.incoming);
        note_counts();
    }
    recorder.writer = NULL;
    pthread_mutex_unlock(&recorder.lock);
    pthread_mutex_unlock(&commands.lock);
    if (writer)
        hl_record_profile_close(writer, NULL);
}

/* The child gets a copy of all memory at this moment: with both locks held and the writer still,
 * that copy is consistent. */
static void before_fork(void)
{
    pthread_mutex_lock(&commands.lock);
    pthread_mutex_lock(&recorder.lock);
    if (recorder.writer && !recorder.closed)
        hl_record_profile_hold(recorder.writer);
}

static void after_fork_in_parent(void)
{
    if (recorder.writer && !recorder.closed)
        hl_record_profile_release(recorder.writer);
    pthread_mutex_unlock(&recorder.lock);
    pthread_mutex_unlock(&commands.lock);
}

/* The child is a process of its own: it has neither the writer's thread nor, with most runtimes, a
 * device that works. Its first new queue begins a recording of its own. A handler of the program's
 * that runs before this one may have begun anew already, with locks that nobody holds. */
static void after_fork_in_child(void)
{
    if (hl_record_process_mark_page(&recorder.mark) &&
        hl_record_process_mark_is_own(&recorder.mark))
        return;
    forget_recording();
    hl_record_cl_queues_forget(&recorder.queues);
    hl_record_cl_commands_forget(&commands);
    hl_record_process_mark_make(&recorder.mark);
    pthread_mutex_unlock(&recorder.lock);
    pthread_mutex_unlock(&commands.lock);
}

/* With the lock held. */
static void open_recording(void)
{
    static const char *const names[] = {
#define CALL_TEXT(name) #name,
        HL_RECORD_CL_CALLS(CALL_TEXT)
#undef CALL_TEXT
    };
    static bool registered; /* under the lock; also in a child, which has the parent's handlers */
    recorder.tried = true;
    if (!recorder.spare)
        recorder.spare = malloc(INCOMING * sizeof *recorder.spare);
    if (!recorder.incoming.items)
        recorder.incoming.items = malloc(INCOMING * sizeof *recorder.spare);
    hl_record_cl_commands_init(&commands);
    if (recorder.spare && recorder.incoming.items && commands.endings)
        recorder.writer = hl_record_session_open(false);
    else
        hl_record_session_failed("out of memory");
    if (!recorder.writer)
        return;
    for (int i = 0; i < HL_RECORD_CL_CALL_COUNT; i++)
        recorder.call_names[i] = hl_record_profile_name(recorder.writer, names[i]);
    if (!registered) {
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
        atexit(end_thread);
    }
    registered = true;
    atomic_store(&recorder.has_stacks, hl_record_session_asks_for_stacks());
    recorder.has_thread = hl_record_session_start_thread(&recorder.thread, collect_on);
    atomic_store_explicit(&recorder.on, true, memory_order_release);
}

static bool begin_recording(void)
{
    leave_parent();
    pthread_mutex_lock(&recorder.lock);
    if (!recorder.tried && !recorder.closed)
        open_recording();
    pthread_mutex_unlock(&recorder.lock);
    return hl_record_cl_active();
}

/* --- queues */

/* Makes the queue known, and holds its device's clock against the host's. */
static void add_queue(const hl_record_cl_queue *made)
{
    const hl_record_cl_queue *known = NULL;
    pthread_mutex_lock(&recorder.lock);
    if (!recorder.closed && recorder.writer)
        known = hl_record_cl_queues_add(&recorder.queues, recorder.writer, made);
    const uint32_t device = known ? known->device : 0;
    pthread_mutex_unlock(&recorder.lock);
    if (known)
        hl_record_cl_commands_bracket(&commands, made->handle, device);
}

/* A runtime that cannot measure times on this queue makes it as the program wanted: its commands
 * are counted as without times. */
cl_command_queue hl_record_cl_make_queue(cl_context context, cl_device_id device,
                                         cl_command_queue_properties properties, cl_int *result)
{
    if (!begin_recording())
        return hl_record_cl_runtime.clCreateCommandQueue(context, device, properties, result);
    const bool forced = !(properties & CL_QUEUE_PROFILING_ENABLE);
    cl_command_queue made = hl_record_cl_runtime.clCreateCommandQueue(
        context, device, properties | CL_QUEUE_PROFILING_ENABLE, result);
    if (!made && forced)
        return hl_record_cl_runtime.clCreateCommandQueue(context, device, properties, result);
    if (made)
        add_queue(&(hl_record_cl_queue){.handle = made,
                                        .context_handle = context,
                                        .device_handle = device,
                                        .asked = {.properties = properties},
                                        .forced = forced});
    return made;
}

cl_command_queue hl_record_cl_make_queue_listed(cl_context context, cl_device_id device,
                                                const cl_queue_properties *properties,
                                                cl_int *result)
{
    cl_queue_properties
        list[sizeof((hl_record_cl_asked *)0)->list / sizeof(cl_queue_properties) + 3];
    hl_record_cl_asked asked = {0};
    if (!begin_recording())
        return hl_record_cl_runtime.clCreateCommandQueueWithProperties(context, device, properties,
                                                                       result);
    bool forced = hl_record_cl_queue_force(properties, &asked, list);
    cl_command_queue made = hl_record_cl_runtime.clCreateCommandQueueWithProperties(
        context, device, forced ? list : properties, result);
    if (!made && forced) {
        forced = false;
        made = hl_record_cl_runtime.clCreateCommandQueueWithProperties(context, device, properties,
                                                                       result);
    }
    if (made && !(asked.properties & CL_QUEUE_ON_DEVICE))
        add_queue(&(hl_record_cl_queue){.handle = made,
                                        .context_handle = context,
                                        .device_handle = device,
                                        .asked = asked,
                                        .forced = forced});
    return made;
}

bool hl_record_cl_was_forced(cl_command_queue queue, hl_record_cl_asked *asked)
{
    leave_parent();
    pthread_mutex_lock(&recorder.lock);
    const hl_record_cl_queue *known = hl_record_cl_queues_find(&recorder.queues, queue);
    const bool forced = known && known->forced;
    if (forced && asked)
        *asked = known->asked;
    pthread_mutex_unlock(&recorder.lock);
    return forced;
}

/* --- kernels */

/* A kernel whose name is not known yet, one that was made past the layer too, is asked for it. */
uint32_t hl_record_cl_kernel_name(cl_kernel kernel)
{
    char name[1024] = "";
    uint64_t id = 0;
    pthread_mutex_lock(&recorder.lock);
    const bool known = hl_record_handle_map_get(&recorder.kernels, kernel, &id) && id;
    pthread_mutex_unlock(&recorder.lock);
    if (known)
        return (uint32_t)id;
    if (hl_record_cl_runtime.clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name - 1, name,
                                             NULL) != CL_SUCCESS)
        name[0] = '\0';
    pthread_mutex_lock(&recorder.lock);
    if (!recorder.closed && recorder.writer) {
        id = hl_record_profile_name(recorder.writer, name);
        hl_record_handle_map_set(&recorder.kernels, kernel, id);
    }
    pthread_mutex_unlock(&recorder.lock);
    return (uint32_t)id;
}

void hl_record_cl_kernel_made(cl_kernel kernel)
{
    leave_parent();
    pthread_mutex_lock(&recorder.lock);
    if (kernel)
        hl_record_handle_map_set(&recorder.kernels, kernel, 0); /* is asked for when it is run */
    pthread_mutex_unlock(&recorder.lock);
}

/* Also before the first queue: the count is of the process. */
void hl_record_cl_copied_at_creation(size_t bytes)
{
    leave_parent();
    pthread_mutex_lock(&recorder.lock);
    recorder.copied_at_creation += bytes;
    pthread_mutex_unlock(&recorder.lock);
}

/* A handle that a command's event had before is the program's own event now. */
void hl_record_cl_user_event_made(cl_event event)
{
    uint64_t value;
    leave_parent();
    pthread_mutex_lock(&recorder.lock);
    if (event && hl_record_handle_map_get(&recorder.events, event, &value))
        hl_record_handle_map_set(&recorder.events, event, 0);
    pthread_mutex_unlock(&recorder.lock);
}

/* --- calls */

/* The number of the program's stack, of which the profile has each once. The loader, which names
 * its frames, is asked without a lock: it may be waiting for a library that makes this very call.
 */
static uint32_t stack_of_call(void)
{
    hl_record_call_stack stack;
    const void *const key = hl_record_call_stack_take(&stack);
    char text[HL_RECORD_STACK_BYTES];
    uint64_t number = 0;
    pthread_mutex_lock(&recorder.lock);
    const bool known = hl_record_handle_map_get(&recorder.stacks, key, &number);
    pthread_mutex_unlock(&recorder.lock);
    if (known)
        return (uint32_t)number;
    hl_record_call_stack_text(&stack, text, sizeof text);
    pthread_mutex_lock(&recorder.lock);
    if (!recorder.closed && recorder.writer) {
        number = hl_record_profile_name(recorder.writer, text);
        hl_record_handle_map_set(&recorder.stacks, key, number);
    }
    pthread_mutex_unlock(&recorder.lock);
    return (uint32_t)number;
}

void hl_record_cl_begin(hl_record_cl_call *call, hl_record_cl_call_name name,
                        cl_command_queue queue)
{
    *call = (hl_record_cl_call){.active = hl_record_cl_active(), .name = name, .queue = queue};
    if (!call->active)
        return;
    if (atomic_load_explicit(&recorder.has_stacks, memory_order_relaxed))
        call->stack = stack_of_call();
    call->start_ns = hl_record_profile_now();
}

void hl_record_cl_enqueue(hl_record_cl_call *call, hl_record_cl_call_name name,
                          cl_command_queue queue, cl_uint wait_count, const cl_event *waits,
                          cl_event *event)
{
    hl_record_cl_begin(call, name, queue);
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
static void compose(const hl_record_cl_call *call, cl_event event, hl_record_cl_command *command)
{
    command->effect = (uint8_t)call->effect;
    command->blocks = call->blocks;
    recorder.numbers = recorder.numbers % (INT32_MAX - 1) + 1;
    command->number = command->record.correlation = recorder.numbers;
    command->call_name = recorder.call_names[call->name];
    for (cl_uint i = 0; call->waits && i < call->wait_count; i++) {
        uint64_t value;
        if (call->waits[i] && hl_record_handle_map_get(&recorder.events, call->waits[i], &value) &&
            value) /* 0 is of none: numbers begin with 1 */
            hl_record_cl_command_waits(command, (uint32_t)(value >> 32), (uint32_t)value);
        else
            recorder.unknown_waits++;
    }
    hl_record_cl_queue *queue =
        call->queue
            ? hl_record_cl_queues_find_or_add(&recorder.queues, recorder.writer, call->queue)
            : NULL;
    if (command->effect == HL_RECORD_CL_MOVE) {
        const bool in_place = queue && queue->shares_memory;
        command->effect = in_place ? HL_RECORD_CL_NOTHING : HL_RECORD_CL_RECORD;
        recorder.maps_in_place += in_place;
    }
    if (!queue)
        return;
    hl_record_cl_queue_place(queue, command);
    if (event && !call->is_own)
        hl_record_handle_map_set(&recorder.events, event,
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

/* *seen is how many collections had begun by then. */
static bool append(const hl_record_cl_call *call, cl_event event, hl_record_cl_command *command,
                   unsigned *seen)
{
    bool taken = false;
    pthread_mutex_lock(&recorder.lock);
    if (hl_record_cl_active() && recorder.writer && !recorder.closed) {
        taken = wait_for_room();
        if (!taken && recorder.writer)
            hl_record_profile_lost(recorder.writer, HL_RECORD_LOSS_DROPPED_COMMANDS, 1);
    }
    if (taken) {
        compose(call, event, command);
        recorder.incoming.items[recorder.incoming.count++] = *command;
        if (command->issued)
            hl_record_profile_count_issued(recorder.writer, 1);
        if (recorder.idle)
            pthread_cond_signal(&recorder.wake);
        recorder.idle = false;
    }
    *seen = recorder.collections;
    pthread_mutex_unlock(&recorder.lock);
    return taken;
}

/* The event of a call that has waited for its command tells its times here, outside of all locks,
 * and is needed no more. Another of the program's is retained until its times are read; the
 * recorder's own is released then. */
static void take_event(const hl_record_cl_call *call, cl_event event, hl_record_cl_command *command)
{
    command->event = event;
    command->issued = event;
    command->times = HL_RECORD_CL_UNASKED;
    if (event && call->blocks)
        hl_record_cl_command_time(command, event);
    const bool asked = command->times != HL_RECORD_CL_UNASKED;
    if (asked)
        command->event = NULL;
    if (asked && call->is_own)
        hl_record_cl_runtime.clReleaseEvent(event);
    if (!asked && event && !call->is_own)
        hl_record_cl_runtime.clRetainEvent(event);
}

cl_int hl_record_cl_end(hl_record_cl_call *call, cl_int result)
{
    if (!call->active)
        return result;
    const int64_t end_ns = hl_record_profile_now();
    cl_event event = result == CL_SUCCESS && call->event ? *call->event : NULL;
    hl_record_cl_command command;
    command.start_ns = call->start_ns;
    command.end_ns = end_ns;
    if (!thread_id)
        thread_id = hl_record_profile_thread();
    command.thread = thread_id;
    command.result = result;
    command.wait_count = 0;
    command.record = call->record;
    command.stack = call->stack;
    take_event(call, event, &command);
    if (result != CL_SUCCESS)
        call->effect = HL_RECORD_CL_NOTHING;
    unsigned seen;
    if (!append(call, event, &command, &seen) && command.event)
        hl_record_cl_runtime.clReleaseEvent(command.event);
    const bool alone = atomic_load_explicit(&recorder.ending, memory_order_relaxed);
    if (!alone && !call->blocks && call->effect < HL_RECORD_CL_FINISH)
        return result;
    /* The call has waited: what the program knows to have ended is in the ring before the program
     * can do anything else, such as die. */
    /* For a call that was appended when `seen` collections had begun, and whose commands have
     * ended. To avoid that each of many threads asks for the commands of all, one that finds that a
     * collection has begun since leaves it at that: it holds the lock, so that collection is
     * through. */
    pthread_mutex_lock(&commands.lock);
    if (commands.count <= MOST_AT_ONCE)
        collect_held(&seen);
    pthread_mutex_unlock(&commands.lock);
    return result;
}
