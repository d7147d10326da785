#include "device/cuda_queue.h"

#include <stdlib.h>
#include <time.h>

#include "base/fail.h"
#include "device/cuda_device.h"

/* Each thread has a current context of its own, so every call begins here. A device that is lost is
 * not touched again: its calls could block for ever. */
haul_status hl_device_cu_enter(const hl_device_cu_device *self, haul_error *error)
{
    if (self->node->is_lost)
        return haul_error_set(error, HAUL_STATUS_DEVICE_FAILED,
                              "device '%s' is not used any more: a wait for it ran out of time",
                              self->base.name);
    const int result = self->api.is_hip ? self->api.hip_set_device(self->number)
                                        : self->api.cuda_set_current(self->context);
    return result ? hl_device_cu_fail(&self->api, result, "using the device", error) : HAUL_OK;
}

/* HIP's functions of contexts are deprecated: a device is current there. On a lost device nothing
 * is asked. */
hl_device_cu_visit hl_device_cu_arrive(const hl_device_cu_device *self)
{
    const hl_device_cu_api *api = &self->api;
    hl_device_cu_visit visit = {.set_context = NULL};
    if (self->node && self->node->is_lost)
        return visit;
    if (api->is_hip && !api->hip_get_device(&visit.number) && visit.number != self->number)
        visit.set_number = api->hip_set_device;
    if (!api->is_hip && !api->cuda_get_current(&visit.context) && visit.context != self->context)
        visit.set_context = api->cuda_set_current;
    return visit;
}

void hl_device_cu_leave(const hl_device_cu_visit *visit)
{
    if (visit->set_number)
        visit->set_number(visit->number);
    if (visit->set_context)
        visit->set_context(visit->context);
}

/* --- waiting */

/* The driver's own waits know no time limit: the state is asked for, ever less often. */
static haul_status wait_with_limit(const hl_device_cu_device *self, int (*done)(hl_device_cu),
                                   hl_device_cu what, haul_error *error)
{
    haul_device *device = (haul_device *)&self->base;
    const double limit_s = self->base.options.time_limit_s;
    const int64_t begin_ns = haul_device_now(device);
    long pause_ns = 1000;
    int result;
    while ((result = done(what)) == HL_DEVICE_CU_NOT_READY) {
        if ((double)(haul_device_now(device) - begin_ns) > 1e9 * limit_s) {
            self->node->is_lost = true;
            return haul_error_set(error, HAUL_STATUS_TIMED_OUT,
                                  "device '%s' did not end its work within %g s", self->base.name,
                                  limit_s);
        }
        nanosleep(&(struct timespec){.tv_nsec = pause_ns}, NULL);
        pause_ns = pause_ns < 1000000 ? 2 * pause_ns : pause_ns;
    }
    return result ? hl_device_cu_fail(&self->api, result, "an operation on the device", error)
                  : HAUL_OK;
}

/* Without a time limit the driver's own wait serves. */
static haul_status wait_for(const hl_device_cu_device *self, int (*done)(hl_device_cu),
                            int (*wait)(hl_device_cu), hl_device_cu what, haul_error *error)
{
    HL_DEVICE_CU_VISIT(self);
    HAUL_TRY(hl_device_cu_enter(self, error));
    if (self->base.options.time_limit_s > 0)
        return wait_with_limit(self, done, what, error);
    const int result = wait(what);
    return result ? hl_device_cu_fail(&self->api, result, "an operation on the device", error)
                  : HAUL_OK;
}

haul_status hl_device_cu_stream_wait(haul_stream *stream, haul_error *error)
{
    const hl_device_cu_device *self = hl_device_cu_owner(stream);
    return wait_for(self, self->api.stream_done, self->api.stream_wait,
                    ((hl_device_cu_stream *)stream)->handle, error);
}

haul_status hl_device_cu_event_wait(haul_event *event, haul_error *error)
{
    const hl_device_cu_device *self = (const hl_device_cu_device *)event->device;
    return wait_for(self, self->api.event_done, self->api.event_wait,
                    ((hl_device_cu_event *)event)->end, error);
}

bool hl_device_cu_settle(const hl_device_cu_device *self)
{
    for (const hl_device_cu_device *i = self->node->devices; i; i = i->next)
        for (hl_device_cu_stream *stream = i->streams; stream; stream = stream->next)
            (void)hl_device_cu_stream_wait(&stream->base,
                                           NULL); /* its error is of who waits next */
    return !self->node->is_lost && !hl_device_cu_enter(self, NULL);
}

/* --- streams */

/* Non-blocking: work on the default stream, of the program or a library, does not order it. */
haul_status hl_device_cu_stream_new(haul_device *device, haul_stream **stream, haul_error *error)
{
    hl_device_cu_device *owner = (hl_device_cu_device *)device;
    HL_DEVICE_CU_VISIT(owner);
    HAUL_TRY(hl_device_cu_enter(owner, error));
    hl_device_cu_stream *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    const int result = owner->api.stream_new(&self->handle, HL_DEVICE_CU_STREAM_NON_BLOCKING);
    if (result) {
        free(self);
        return hl_device_cu_fail(&owner->api, result, "making a stream", error);
    }
    self->next = owner->streams;
    owner->streams = self;
    *stream = &self->base;
    return HAUL_OK;
}

haul_status hl_device_cu_stream_wrap(haul_device *device, void *queue, haul_stream **stream,
                                     haul_error *error)
{
    hl_device_cu_device *owner = (hl_device_cu_device *)device;
    hl_device_cu_stream *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    *self = (hl_device_cu_stream){.handle = queue, .is_wrapped = true, .next = owner->streams};
    owner->streams = self;
    *stream = &self->base;
    return HAUL_OK;
}

/* Ends the stream's work first, within the time limit where there is one. */
void hl_device_cu_stream_free(haul_stream *stream)
{
    hl_device_cu_device *owner = hl_device_cu_owner(stream);
    hl_device_cu_stream *self = (hl_device_cu_stream *)stream, **at = &owner->streams;
    (void)hl_device_cu_stream_wait(stream, NULL);
    HL_DEVICE_CU_VISIT(owner);
    if (!self->is_wrapped && !hl_device_cu_enter(owner, NULL))
        owner->api.stream_free(self->handle);
    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    free(self);
}

/* --- events */

/* A haul_event is two of the driver's, around the operation, so that it tells a duration by
 * itself. */
haul_status hl_device_cu_event_new(haul_device *device, haul_event **event, haul_error *error)
{
    const hl_device_cu_device *owner = (const hl_device_cu_device *)device;
    HL_DEVICE_CU_VISIT(owner);
    HAUL_TRY(hl_device_cu_enter(owner, error));
    hl_device_cu_event *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    int result = owner->api.event_new(&self->begin, 0);
    if (!result) {
        result = owner->api.event_new(&self->end, 0);
        if (result)
            owner->api.event_free(self->begin);
    }
    if (result) {
        free(self);
        return hl_device_cu_fail(&owner->api, result, "making an event", error);
    }
    *event = &self->base;
    return HAUL_OK;
}

void hl_device_cu_event_free(haul_event *event)
{
    hl_device_cu_event *self = (hl_device_cu_event *)event;
    const hl_device_cu_device *owner = (const hl_device_cu_device *)event->device;
    HL_DEVICE_CU_VISIT(owner);
    if (!hl_device_cu_enter(owner, NULL)) {
        owner->api.event_free(self->begin);
        owner->api.event_free(self->end);
    }
    free(self);
}

haul_status hl_device_cu_event_done(haul_event *event, bool *done, haul_error *error)
{
    const hl_device_cu_device *self = (const hl_device_cu_device *)event->device;
    HL_DEVICE_CU_VISIT(self);
    HAUL_TRY(hl_device_cu_enter(self, error));
    const int result = self->api.event_done(((hl_device_cu_event *)event)->end);
    if (result && result != HL_DEVICE_CU_NOT_READY)
        return hl_device_cu_fail(&self->api, result, "an operation on the device", error);
    *done = !result;
    return HAUL_OK;
}

/* The driver's events resolve about half a microsecond (cuEventElapsedTime), in milliseconds as a
 * float. A point was recorded once, by its end. */
haul_status hl_device_cu_event_seconds(haul_event *from, haul_event *to, double *seconds,
                                       haul_error *error)
{
    const hl_device_cu_device *self = (const hl_device_cu_device *)from->device;
    const hl_device_cu_event *first = (hl_device_cu_event *)from;
    HL_DEVICE_CU_VISIT(self);
    HAUL_TRY(hl_device_cu_enter(self, error));
    float ms;
    const int result = self->api.event_ms(&ms, first->is_point ? first->end : first->begin,
                                          ((hl_device_cu_event *)to)->end);
    if (result)
        return hl_device_cu_fail(&self->api, result, "reading the time of an event", error);
    *seconds = 1e-3 * (double)ms;
    return HAUL_OK;
}

/* --- operations */

haul_status hl_device_cu_begin(haul_stream *stream, haul_event *event, haul_error *error)
{
    const hl_device_cu_device *self = hl_device_cu_owner(stream);
    const haul_status status = hl_device_cu_enter(self, error);
    if (status || !event)
        return status;
    const int result = self->api.event_record(((hl_device_cu_event *)event)->begin,
                                              ((hl_device_cu_stream *)stream)->handle);
    return result ? hl_device_cu_fail(&self->api, result, "queueing an event", error) : HAUL_OK;
}

/* Every operation ends here: `result` is that of queueing it, and fails first. */
haul_status hl_device_cu_end(haul_stream *stream, haul_event *event, int result, const char *what,
                             haul_error *error)
{
    const hl_device_cu_device *self = hl_device_cu_owner(stream);
    hl_device_cu_event *around = (hl_device_cu_event *)event;
    if (!result && around) {
        around->is_point = false;
        what = "queueing an event";
        result = self->api.event_record(around->end, ((hl_device_cu_stream *)stream)->handle);
    }
    return result ? hl_device_cu_fail(&self->api, result, what, error) : HAUL_OK;
}

haul_status hl_device_cu_call(haul_stream *stream, void (*function)(void *state), void *state,
                              haul_event *event, haul_error *error)
{
    HL_DEVICE_CU_VISIT(hl_device_cu_owner(stream));
    HAUL_TRY(hl_device_cu_begin(stream, event, error));
    const int result = hl_device_cu_owner(stream)->api.call(((hl_device_cu_stream *)stream)->handle,
                                                            function, state);
    return hl_device_cu_end(stream, event, result, "queueing a host callback", error);
}

haul_status hl_device_cu_record(haul_stream *stream, haul_event *event, haul_error *error)
{
    HL_DEVICE_CU_VISIT(hl_device_cu_owner(stream));
    haul_status status = hl_device_cu_enter(hl_device_cu_owner(stream), error);
    if (!status)
        status = hl_device_cu_end(stream, event, 0, "", error);
    if (!status && event)
        ((hl_device_cu_event *)event)->is_point = true;
    return status;
}

haul_status hl_device_cu_wait_event(haul_stream *stream, haul_event *event, haul_error *error)
{
    const hl_device_cu_device *self = hl_device_cu_owner(stream);
    HL_DEVICE_CU_VISIT(self);
    HAUL_TRY(hl_device_cu_enter(self, error));
    const int result = self->api.stream_wait_event(((hl_device_cu_stream *)stream)->handle,
                                                   ((hl_device_cu_event *)event)->end, 0);
    return result ? hl_device_cu_fail(&self->api, result, "waiting for an event", error) : HAUL_OK;
}
