/* Streams: queues of operations, what each operation waits for, and waiting. */
#include <stdlib.h>
#include <time.h>

#include "driver.h"

static driver_stream *streams; /* of all contexts */

driver_stream *driver_streams(void)
{
    return streams;
}

driver_stream *driver_stream_make(driver_context *context, bool waits_for_default)
{
    driver_stream *made = driver_object_new(sizeof *made, DRIVER_STREAM);
    made->context = context;
    made->waits_for_default = waits_for_default;
    made->next = context->streams;
    made->next_of_all = streams;
    context->streams = made;
    return streams = made;
}

int driver_stream_new(driver_stream **stream, bool waits_for_default)
{
    driver_context *context;
    const int result = driver_context_check(&context);
    if (!result)
        *stream = driver_stream_make(context, waits_for_default);
    return result;
}

int driver_stream_of(driver_stream **stream, void *handle)
{
    driver_context *context;
    const int result = driver_context_check(&context);
    if (result)
        return result;
    const bool usual = (uintptr_t)handle <= 1;
    driver_stream *found =
        usual ? context->usual : driver_object_of(handle, DRIVER_STREAM, "a stream");
    if (!found)
        return DRIVER_INVALID_HANDLE;
    *stream = found;
    return found->context->error;
}

/* Its operations go on, as the rules say. */
int driver_stream_destroy(driver_stream *stream)
{
    if (!driver_object_of(stream, DRIVER_STREAM, "a stream"))
        return DRIVER_INVALID_HANDLE;
    stream->object.alive = false;
    return DRIVER_OK;
}

/* --- operations */

static void add_need(driver_op *op, driver_stream *stream)
{
    if (stream->ended == stream->queued)
        return;
    op->needs = realloc(op->needs, (op->need_count + 1) * sizeof *op->needs);
    if (!op->needs)
        driver_complain("the host has no memory left");
    op->needs[op->need_count++] = (driver_need){stream, stream->queued};
}

/* The default stream waits for the others that are not CU_STREAM_NON_BLOCKING, and they for it. */
static void add_default_needs(driver_op *op, const driver_stream *stream)
{
    driver_stream *usual = stream->context->usual;
    if (stream != usual && stream->waits_for_default)
        add_need(op, usual);
    for (driver_stream *i = stream->context->streams; stream == usual && i; i = i->next)
        if (i != usual && i->waits_for_default)
            add_need(op, i);
}

void driver_queue(driver_stream *stream, const driver_op *op)
{
    driver_op *made = driver_new(sizeof *made);
    *made = *op;
    made->number = ++stream->queued;
    made->correlation = driver_correlation;
    made->queued_ns = driver_now();
    made->next = NULL;
    add_default_needs(made, stream);
    if (stream->first)
        stream->last->next = made;
    else
        stream->first = made;
    stream->last = made;
}

void driver_op_free(driver_op *op)
{
    if (op->kind == DRIVER_COPY)
        free(op->copy.staged);
    if (op->kind == DRIVER_LAUNCH)
        free(op->launch.values);
    free(op->needs);
    free(op);
}

/* --- memory in use */

static bool is_within(const driver_block *block, driver_address at)
{
    return at - block->at < block->bytes;
}

static bool takes(const driver_launch *launch, const driver_block *block)
{
    void *const *values = launch->values;
    const size_t *bytes = launch->function->value_bytes;
    for (size_t i = 0; bytes && bytes[i]; i++)
        if (bytes[i] == sizeof(driver_address) && is_within(block, *(driver_address *)values[i]))
            return true;
    return false;
}

static bool uses(const driver_op *op, const driver_block *block)
{
    switch (op->kind) {
    case DRIVER_COPY:
        return is_within(block, op->copy.to.at) ||
               (!op->copy.staged && is_within(block, op->copy.from.at));
    case DRIVER_FILL:
        return is_within(block, op->fill.at);
    case DRIVER_LAUNCH:
        return takes(&op->launch, block);
    default:
        return false;
    }
}

void driver_streams_unused(const driver_block *block)
{
    for (const driver_stream *i = streams; i; i = i->next_of_all)
        for (const driver_op *op = i->first; op && !i->context->error; op = op->next)
            if (uses(op, block))
                driver_complain("memory is freed that an operation of a stream still uses");
}

/* --- waiting */

static void sleep_until(int64_t moment_ns)
{
    const int64_t left = moment_ns - driver_now();
    if (left > 0)
        nanosleep(&(struct timespec){left / 1000000000, left % 1000000000}, NULL);
}

int driver_wait_for(driver_need need)
{
    driver_want want = {.need = need};
    const driver_context *context = need.stream->context;
    driver_order_want(&want);
    while (need.stream->ended < need.number && !context->error && !driver.lost) {
        driver_order_wake();
        pthread_cond_wait(&driver.changed, &driver.lock);
    }
    driver_order_forget(&want);
    const int64_t end = need.stream->end_ns;
    pthread_mutex_unlock(&driver.lock);
    sleep_until(end);
    pthread_mutex_lock(&driver.lock);
    return context->error;
}

int driver_query(driver_need need, int64_t end_ns)
{
    driver_stream *stream = need.stream;
    if (stream->ended >= need.number)
        return driver_now() < end_ns ? DRIVER_NOT_READY : stream->context->error;
    if (stream->asked < need.number)
        stream->asked = need.number;
    return stream->context->error ? stream->context->error : DRIVER_NOT_READY;
}

int driver_stream_wait(void *handle)
{
    driver_stream *stream;
    int result = driver_stream_of(&stream, handle);
    if (result)
        return result;
    const int64_t start = driver_now();
    result = driver_wait_for((driver_need){stream, stream->queued});
    driver_activity_wait(3, stream, NULL, start, result);
    return result;
}

int driver_stream_query(void *handle)
{
    driver_stream *stream;
    const int result = driver_stream_of(&stream, handle);
    return result ? result : driver_query((driver_need){stream, stream->queued}, stream->end_ns);
}

int driver_stream_wait_event(void *handle, driver_event *event)
{
    driver_stream *stream;
    const int result = driver_stream_of(&stream, handle);
    if (result)
        return result;
    if (!driver_object_of(event, DRIVER_EVENT, "an event"))
        return DRIVER_INVALID_HANDLE;
    driver_op op = {.kind = DRIVER_WAIT, .event = event};
    if (event->record.stream) {
        op.needs = driver_new(sizeof *op.needs);
        op.needs[op.need_count++] = event->record;
    }
    driver_queue(stream, &op);
    driver_activity_wait(2, stream, event, driver_now(), DRIVER_OK);
    return DRIVER_OK;
}
