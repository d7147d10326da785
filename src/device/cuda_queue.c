#include "device/cuda_queue.h"

#include <stdlib.h>
#include <time.h>

#include "base/fail.h"
#include "device/cuda_device.h"

/* --- waiting */

/* The driver's own waits know no time limit: the state is asked for, ever less often. */
static haul_status wait_with_limit(const haul_cu_device *self, int (*done)(haul_cu), haul_cu what,
                                   haul_error *error)
{
    haul_device *device = (haul_device *)&self->base;
    const double limit_s = self->base.options.time_limit_s;
    const int64_t begin_ns = haul_device_now(device);
    long pause_ns = 1000;
    int result;
    while ((result = done(what)) == HAUL_CU_NOT_READY) {
        if ((double)(haul_device_now(device) - begin_ns) > 1e9 * limit_s) {
            self->node->is_lost = true;
            return haul_fail(error, HAUL_TIMED_OUT, "device '%s' did not end its work within %g s",
                             self->base.name, limit_s);
        }
        nanosleep(&(struct timespec){.tv_nsec = pause_ns}, NULL);
        pause_ns = pause_ns < 1000000 ? 2 * pause_ns : pause_ns;
    }
    return result ? haul_cu_fail(&self->api, result, "an operation on the device", error) : HAUL_OK;
}

/* Without a time limit the driver's own wait serves. */
static haul_status wait_for(const haul_cu_device *self, int (*done)(haul_cu), int (*wait)(haul_cu),
                            haul_cu what, haul_error *error)
{
    HAUL_TRY(haul_cu_enter(self, error));
    if (self->base.options.time_limit_s > 0)
        return wait_with_limit(self, done, what, error);
    const int result = wait(what);
    return result ? haul_cu_fail(&self->api, result, "an operation on the device", error) : HAUL_OK;
}

haul_status haul_cu_stream_wait(haul_stream *stream, haul_error *error)
{
    const haul_cu_device *self = haul_cu_owner(stream);
    return wait_for(self, self->api.stream_done, self->api.stream_wait,
                    ((haul_cu_stream *)stream)->handle, error);
}

haul_status haul_cu_event_wait(haul_event *event, haul_error *error)
{
    const haul_cu_device *self = (const haul_cu_device *)event->device;
    return wait_for(self, self->api.event_done, self->api.event_wait, ((haul_cu_event *)event)->end,
                    error);
}

bool haul_cu_settle(const haul_cu_device *self)
{
    for (const haul_cu_device *i = self->node->devices; i; i = i->next)
        for (haul_cu_stream *stream = i->streams; stream; stream = stream->next)
            (void)haul_cu_stream_wait(&stream->base, NULL); /* its error is of who waits next */
    return !self->node->is_lost && !haul_cu_enter(self, NULL);
}

/* --- streams */

/* Non-blocking: work on the default stream, of the program or a library, does not order it. */
haul_status haul_cu_stream_new(haul_device *device, haul_stream **stream, haul_error *error)
{
    haul_cu_device *owner = (haul_cu_device *)device;
    HAUL_TRY(haul_cu_enter(owner, error));
    haul_cu_stream *self = calloc(1, sizeof *self);
    if (!self)
        return haul_fail_no_memory(error);
    const int result = owner->api.stream_new(&self->handle, HAUL_CU_STREAM_NON_BLOCKING);
    if (result) {
        free(self);
        return haul_cu_fail(&owner->api, result, "making a stream", error);
    }
    self->next = owner->streams;
    owner->streams = self;
    *stream = &self->base;
    return HAUL_OK;
}

/* Ends the stream's work first, within the time limit where there is one. */
void haul_cu_stream_free(haul_stream *stream)
{
    haul_cu_device *owner = haul_cu_owner(stream);
    haul_cu_stream *self = (haul_cu_stream *)stream, **at = &owner->streams;
    (void)haul_cu_stream_wait(stream, NULL);
    if (!haul_cu_enter(owner, NULL))
        owner->api.stream_free(self->handle);
    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    free(self);
}

/* --- events */

/* A haul_event is two of the driver's, around the operation, so that it tells a duration by
 * itself. */
haul_status haul_cu_event_new(haul_device *device, haul_event **event, haul_error *error)
{
    const haul_cu_device *owner = (const haul_cu_device *)device;
    HAUL_TRY(haul_cu_enter(owner, error));
    haul_cu_event *self = calloc(1, sizeof *self);
    if (!self)
        return haul_fail_no_memory(error);
    int result = owner->api.event_new(&self->begin, 0);
    if (!result) {
        result = owner->api.event_new(&self->end, 0);
        if (result)
            owner->api.event_free(self->begin);
    }
    if (result) {
        free(self);
        return haul_cu_fail(&owner->api, result, "making an event", error);
    }
    *event = &self->base;
    return HAUL_OK;
}

void haul_cu_event_free(haul_event *event)
{
    haul_cu_event *self = (haul_cu_event *)event;
    const haul_cu_device *owner = (const haul_cu_device *)event->device;
    if (!haul_cu_enter(owner, NULL)) {
        owner->api.event_free(self->begin);
        owner->api.event_free(self->end);
    }
    free(self);
}

haul_status haul_cu_event_done(haul_event *event, bool *done, haul_error *error)
{
    const haul_cu_device *self = (const haul_cu_device *)event->device;
    HAUL_TRY(haul_cu_enter(self, error));
    const int result = self->api.event_done(((haul_cu_event *)event)->end);
    if (result && result != HAUL_CU_NOT_READY)
        return haul_cu_fail(&self->api, result, "an operation on the device", error);
    *done = !result;
    return HAUL_OK;
}

/* The driver's events resolve about half a microsecond (cuEventElapsedTime), in milliseconds as a
 * float. A point was recorded once, by its end. */
haul_status haul_cu_event_seconds(haul_event *from, haul_event *to, double *seconds,
                                  haul_error *error)
{
    const haul_cu_device *self = (const haul_cu_device *)from->device;
    const haul_cu_event *first = (haul_cu_event *)from;
    HAUL_TRY(haul_cu_enter(self, error));
    float ms;
    const int result = self->api.event_ms(&ms, first->is_point ? first->end : first->begin,
                                          ((haul_cu_event *)to)->end);
    if (result)
        return haul_cu_fail(&self->api, result, "reading the time of an event", error);
    *seconds = 1e-3 * (double)ms;
    return HAUL_OK;
}

/* --- operations */

haul_status haul_cu_begin(haul_stream *stream, haul_event *event, haul_error *error)
{
    const haul_cu_device *self = haul_cu_owner(stream);
    const haul_status status = haul_cu_enter(self, error);
    if (status || !event)
        return status;
    const int result =
        self->api.event_record(((haul_cu_event *)event)->begin, ((haul_cu_stream *)stream)->handle);
    return result ? haul_cu_fail(&self->api, result, "queueing an event", error) : HAUL_OK;
}

/* Every operation ends here: `result` is that of queueing it, and fails first. */
haul_status haul_cu_end(haul_stream *stream, haul_event *event, int result, const char *what,
                        haul_error *error)
{
    const haul_cu_device *self = haul_cu_owner(stream);
    haul_cu_event *around = (haul_cu_event *)event;
    if (!result && around) {
        around->is_point = false;
        what = "queueing an event";
        result = self->api.event_record(around->end, ((haul_cu_stream *)stream)->handle);
    }
    return result ? haul_cu_fail(&self->api, result, what, error) : HAUL_OK;
}

haul_status haul_cu_call(haul_stream *stream, void (*function)(void *state), void *state,
                         haul_event *event, haul_error *error)
{
    HAUL_TRY(haul_cu_begin(stream, event, error));
    const int result =
        haul_cu_owner(stream)->api.call(((haul_cu_stream *)stream)->handle, function, state);
    return haul_cu_end(stream, event, result, "queueing a host callback", error);
}

haul_status haul_cu_record(haul_stream *stream, haul_event *event, haul_error *error)
{
    haul_status status = haul_cu_enter(haul_cu_owner(stream), error);
    if (!status)
        status = haul_cu_end(stream, event, 0, "", error);
    if (!status && event)
        ((haul_cu_event *)event)->is_point = true;
    return status;
}

haul_status haul_cu_wait_event(haul_stream *stream, haul_event *event, haul_error *error)
{
    const haul_cu_device *self = haul_cu_owner(stream);
    HAUL_TRY(haul_cu_enter(self, error));
    const int result = self->api.stream_wait_event(((haul_cu_stream *)stream)->handle,
                                                   ((haul_cu_event *)event)->end, 0);
    return result ? haul_cu_fail(&self->api, result, "waiting for an event", error) : HAUL_OK;
}
