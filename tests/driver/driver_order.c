/* The thread that runs operations, and which it runs next. What the operation does is done when it
 * is run; the time at which it is reported done is counted as a GPU with two copy engines and one
 * for kernels would have. */
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "driver.h"

enum { IDLE_MS = 100 }; /* so long without a call, it runs an operation that nobody wants */
enum { COMPUTE, TO_DEVICE, FROM_DEVICE, ENGINES };
enum { PTX_KERNEL_NS = 2000000, LEAST_KERNEL_NS = 2000, COPY_LATENCY_NS = 1000 };

static driver_want *wants;
static uint64_t allowance; /* operations that may be run though nobody wants them */
static bool is_idle;
static int64_t engine_free_ns[DRIVER_MOST_DEVICES][ENGINES];
static _Thread_local bool in_callback;

bool driver_in_callback(void)
{
    return in_callback;
}

void driver_order_wake(void)
{
    if (driver.options.order == DRIVER_RANDOM)
        allowance += driver_draw(3);
    pthread_cond_broadcast(&driver.changed);
}

void driver_order_want(driver_want *want)
{
    want->next = wants;
    wants = want;
}

void driver_order_forget(const driver_want *want)
{
    driver_want **at = &wants;
    while (*at != want)
        at = &(*at)->next;
    *at = want->next;
}

/* --- which is next */

static const driver_need *missing(const driver_op *op)
{
    for (size_t i = 0; i < op->need_count; i++)
        if (op->needs[i].stream->ended < op->needs[i].number)
            return &op->needs[i];
    return NULL;
}

static bool is_ready(const driver_stream *stream)
{
    return stream->first && !stream->context->error && !missing(stream->first);
}

/* The stream whose first operation brings `need` nearer, or NULL. */
static driver_stream *toward(const driver_need *need)
{
    while (need->stream->ended < need->number) {
        const driver_need *before = missing(need->stream->first);
        if (!before)
            return is_ready(need->stream) ? need->stream : NULL;
        need = before;
    }
    return NULL;
}

static driver_stream *wanted(void)
{
    for (const driver_want *i = wants; i; i = i->next) {
        driver_stream *found = toward(&i->need);
        if (found)
            return found;
    }
    for (driver_stream *i = driver_streams(); i; i = i->next_of_all) {
        const driver_need asked = {i, i->asked};
        driver_stream *found = toward(&asked);
        if (found)
            return found;
    }
    return NULL;
}

static driver_stream *oldest(void)
{
    driver_stream *found = NULL;
    for (driver_stream *i = driver_streams(); i; i = i->next_of_all)
        if (is_ready(i) && (!found || i->first->correlation < found->first->correlation))
            found = i;
    return found;
}

static driver_stream *any(void)
{
    uint64_t count = 0;
    driver_stream *found = NULL;
    for (driver_stream *i = driver_streams(); i; i = i->next_of_all)
        if (is_ready(i) && !driver_draw(++count))
            found = i;
    return found;
}

static driver_stream *choose(void)
{
    if (driver.lost)
        return NULL;
    if (driver.options.order == DRIVER_EAGER || is_idle) {
        is_idle = false;
        return oldest();
    }
    driver_stream *next = wanted();
    if (driver.options.order != DRIVER_RANDOM || (!next && !allowance))
        return next;
    allowance -= allowance > 0;
    return any();
}

/* --- running it */

static int engine_of(const driver_op *op)
{
    if (op->kind != DRIVER_COPY)
        return COMPUTE;
    if (driver_memory_at(op->copy.to.at) != DRIVER_DEVICE)
        return FROM_DEVICE;
    return op->copy.staged || driver_memory_at(op->copy.from.at) != DRIVER_DEVICE ? TO_DEVICE
                                                                                  : COMPUTE;
}

/* A late event is one of the operation behind it, if there is one, else of the one before it: times
 * between events do not tell when the host was kept from queueing the next. */
static int64_t late_event(const driver_stream *stream, const driver_op *op)
{
    const driver_op *next = op->next;
    return next && next->queued_ns > stream->end_ns ? next->queued_ns : stream->end_ns;
}

/* When its stream, what it waits for and its engine let it start. */
static int64_t start_of(const driver_stream *stream, const driver_op *op, const int64_t *engine)
{
    if (op->kind == DRIVER_RECORD && driver.options.order == DRIVER_LATE &&
        (stream->ended || op->next))
        return late_event(stream, op);
    int64_t start = op->queued_ns > stream->end_ns ? op->queued_ns : stream->end_ns;
    for (size_t i = 0; i < op->need_count; i++) {
        const driver_need *need = &op->needs[i];
        const driver_event *event = op->kind == DRIVER_WAIT ? op->event : NULL;
        const bool same =
            event && event->record.stream == need->stream && event->record.number == need->number;
        const int64_t end = same ? event->end_ns : need->stream->end_ns;
        start = start > end ? start : end;
    }
    const bool uses_engine = op->kind <= DRIVER_LAUNCH;
    return uses_engine && start < *engine ? *engine : start;
}

/* 10 GB/s over the link, 100 GB/s within the device. */
static int64_t time_of(const driver_op *op, int64_t taken_ns)
{
    const driver_copy *copy = &op->copy;
    switch (op->kind) {
    case DRIVER_COPY:
        return COPY_LATENCY_NS + (int64_t)(copy->bytes * copy->rows * copy->planes / 10);
    case DRIVER_FILL:
        return COPY_LATENCY_NS + (int64_t)(op->fill.count * op->fill.width / 100);
    case DRIVER_LAUNCH:
        if (!op->launch.function->run)
            return PTX_KERNEL_NS;
        return taken_ns < LEAST_KERNEL_NS ? LEAST_KERNEL_NS : taken_ns;
    default:
        return 0;
    }
}

static bool run_kernel(const driver_context *context, const driver_launch *launch, uint64_t seed)
{
    driver_grid grid = {.shared_bytes = launch->shared_bytes, .seed = seed};
    for (int i = 0; i < 3; i++) {
        grid.grid[i] = launch->grid[i];
        grid.block[i] = launch->block[i];
    }
    if (!launch->function->run)
        return true;
    pthread_mutex_lock(&driver.lock);
    driver_expose(context, true);
    pthread_mutex_unlock(&driver.lock);
    const bool fine = driver_trap_run(launch, &grid);
    pthread_mutex_lock(&driver.lock);
    driver_expose(context, false);
    pthread_mutex_unlock(&driver.lock);
    return fine;
}

/* Needs no lock. */
static int run(const driver_context *context, const driver_op *op, uint64_t seed)
{
    switch (op->kind) {
    case DRIVER_COPY:
        return driver_copy_run(&op->copy) ? DRIVER_OK : DRIVER_ILLEGAL_ADDRESS;
    case DRIVER_FILL:
        return driver_fill_run(&op->fill) ? DRIVER_OK : DRIVER_ILLEGAL_ADDRESS;
    case DRIVER_LAUNCH:
        return run_kernel(context, &op->launch, seed) ? DRIVER_OK : DRIVER_ILLEGAL_ADDRESS;
    case DRIVER_CALL:
        in_callback = true;
        op->call.function(op->call.state);
        in_callback = false;
        return DRIVER_OK;
    default:
        return DRIVER_OK;
    }
}

static void run_first(driver_stream *stream)
{
    driver_op *op = stream->first;
    driver_context *context = stream->context;
    const uint64_t seed = driver.options.order == DRIVER_RANDOM ? 1 + driver_draw(1 << 20) : 0;
    int64_t *engine = &engine_free_ns[context->device][engine_of(op)];
    op->start_ns = start_of(stream, op, engine);
    pthread_mutex_unlock(&driver.lock);
    const int64_t before = driver_now();
    const int result = run(context, op, seed);
    const int64_t taken = driver_now() - before;
    pthread_mutex_lock(&driver.lock);
    op->end_ns = op->start_ns + time_of(op, taken);
    if (op->kind <= DRIVER_LAUNCH)
        *engine = op->end_ns;
    if (result)
        context->error = result;
    else if (op->kind == DRIVER_RECORD)
        op->event->end_ns = op->end_ns;
    driver_activity_op(stream, op);
    stream->first = op->next;
    stream->ended = op->number;
    stream->end_ns = op->end_ns;
    driver_op_free(op);
    pthread_cond_broadcast(&driver.changed);
}

/* Sleeps until there is something new, or for a while. */
static void rest(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += IDLE_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    is_idle = pthread_cond_timedwait(&driver.changed, &driver.lock, &until) == ETIMEDOUT;
}

static void *run_all(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&driver.lock);
    for (;;) {
        driver_stream *next = choose();
        if (next)
            run_first(next);
        else
            rest();
    }
    return NULL;
}

void driver_order_start(void)
{
    pthread_t thread;
    sigset_t all, before;
    driver_trap_start();
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGABRT);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the program's */
    if (pthread_create(&thread, NULL, run_all, NULL))
        driver_complain("no thread can be started");
    pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
