/* Events: points of streams, and when the device came to them. */
#include "driver.h"

enum { DISABLE_TIMING = 2 };

static driver_event *event_of(void *handle)
{
    return driver_object_of(handle, DRIVER_EVENT, "an event");
}

int driver_event_new(driver_event **event, unsigned flags)
{
    driver_context *context;
    const int result = driver_context_check(&context);
    if (result)
        return result;
    *event = driver_object_new(sizeof **event, DRIVER_EVENT);
    (*event)->context = context;
    (*event)->without_time = flags & DISABLE_TIMING;
    return DRIVER_OK;
}

/* Streams that wait for it still do. */
int driver_event_destroy(driver_event *event)
{
    if (!event_of(event))
        return DRIVER_INVALID_HANDLE;
    event->object.alive = false;
    return DRIVER_OK;
}

int driver_event_record(driver_event *event, void *handle)
{
    driver_stream *stream;
    const int result = driver_stream_of(&stream, handle);
    if (result)
        return result;
    if (!event_of(event) || event->context != stream->context)
        return DRIVER_INVALID_HANDLE;
    driver_queue(stream, &(driver_op){.kind = DRIVER_RECORD, .event = event});
    event->record = (driver_need){stream, stream->queued};
    event->record_id = driver_correlation;
    return DRIVER_OK;
}

int driver_event_query(driver_event *event)
{
    if (!event_of(event))
        return DRIVER_INVALID_HANDLE;
    return event->record.stream ? driver_query(event->record, event->end_ns)
                                : event->context->error;
}

int driver_event_wait(driver_event *event)
{
    if (!event_of(event))
        return DRIVER_INVALID_HANDLE;
    if (!event->record.stream)
        return event->context->error;
    const int64_t start = driver_now();
    const driver_need record = event->record;
    const int result = driver_wait_for(record);
    driver_activity_wait(1, record.stream, event, start, result);
    return result;
}

int driver_event_elapsed(float *ms, driver_event *from, driver_event *to)
{
    driver_event *const both[] = {from, to};
    for (int i = 0; i < 2; i++) {
        if (!event_of(both[i]) || both[i]->without_time || !both[i]->record.stream)
            return DRIVER_INVALID_HANDLE;
        if (both[i]->record.stream->ended < both[i]->record.number)
            return DRIVER_NOT_READY;
    }
    if (from->context != to->context)
        return DRIVER_INVALID_HANDLE;
    *ms = (float)(1e-6 * (double)(to->end_ns - from->end_ns));
    return DRIVER_OK;
}
