#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/fail.h"
#include "device/host_device.h"

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A stream's thread: first in, first out. Waits for an event hold the stream alone, so others go
 * on; the lock is not held while an operation runs. */
static void *serve(void *state)
{
    hl_device_host_stream *self = state;
    hl_device_host_hub *hub = self->hub;
    pthread_mutex_lock(&hub->lock);
    for (;;) {
        while (!self->first && !self->is_closing)
            pthread_cond_wait(&self->arrival, &hub->lock);
        hl_device_host_op *op = self->first;
        if (!op)
            break;
        while (op->after && op->after->turns_done < op->after_turn)
            pthread_cond_wait(&hub->progress, &hub->lock);
        pthread_mutex_unlock(&hub->lock);
        const int64_t start_ns = now_ns();
        hl_device_host_task_run(&op->task);
        const int64_t end_ns = now_ns();
        pthread_mutex_lock(&hub->lock);
        /* The operation ends with the lock held. */
        if (op->event) {
            op->event->turns_done = op->turn;
            op->event->start_ns = start_ns;
            op->event->end_ns = end_ns;
        }
        self->first = op->next;
        if (!self->first)
            self->last = NULL;
        self->hub->pending--;
        pthread_cond_broadcast(&self->hub->progress);
        free(op);
    }
    pthread_mutex_unlock(&hub->lock);
    return NULL;
}

haul_status hl_device_host_stream_new(haul_device *device, haul_stream **stream, haul_error *error)
{
    hl_device_host_stream *self = calloc(1, sizeof *self);
    if (!self)
        return hl_base_fail_no_memory(error);
    self->hub = ((hl_device_host_device *)device)->hub;
    pthread_cond_init(&self->arrival, NULL);
    if (pthread_create(&self->thread, NULL, serve, self)) {
        pthread_cond_destroy(&self->arrival);
        free(self);
        return haul_error_set(error, HAUL_STATUS_DEVICE_FAILED, "cannot start a stream's thread");
    }
    *stream = &self->base;
    return HAUL_OK;
}

/* A stream whose operation never ends is left to its thread. */
void hl_device_host_stream_free(haul_stream *stream)
{
    hl_device_host_stream *self = (hl_device_host_stream *)stream;
    pthread_mutex_lock(&self->hub->lock);
    self->is_closing = true;
    pthread_cond_signal(&self->arrival);
    const bool is_stuck = self->hub->is_lost && self->first;
    pthread_mutex_unlock(&self->hub->lock);
    if (is_stuck) {
        pthread_detach(self->thread);
        return;
    }
    pthread_join(self->thread, NULL);
    pthread_cond_destroy(&self->arrival);
    free(self);
}

/* The turns are taken now: a wait is for the event's last queuing before it, as CUDA has it. */
haul_status hl_device_host_enqueue(haul_stream *stream, const hl_device_host_task *task,
                                   hl_device_host_event *after, haul_event *event,
                                   haul_error *error)
{
    hl_device_host_stream *self = (hl_device_host_stream *)stream;
    hl_device_host_op *queued = malloc(sizeof *queued);
    if (!queued)
        return hl_base_fail_no_memory(error);
    *queued =
        (hl_device_host_op){.task = *task, .event = (hl_device_host_event *)event, .after = after};
    pthread_mutex_lock(&self->hub->lock);
    if (event)
        queued->turn = ++queued->event->turn;
    if (queued->after)
        queued->after_turn = queued->after->turn;
    if (self->last)
        self->last->next = queued;
    else
        self->first = queued;
    self->last = queued;
    self->hub->pending++;
    pthread_cond_signal(&self->arrival);
    pthread_mutex_unlock(&self->hub->lock);
    return HAUL_OK;
}

static bool stream_is_idle(const void *waited)
{
    return !((const hl_device_host_stream *)waited)->first;
}

static bool event_is_done(const void *waited)
{
    const hl_device_host_event *event = waited;
    return event->turns_done == event->turn;
}

/* A wait that runs out of time makes the device lost, as an operation that never ends may use any
 * memory. */
static haul_status wait_until(const haul_device *device, bool (*holds)(const void *waited),
                              const void *waited, haul_error *error)
{
    hl_device_host_hub *hub = ((const hl_device_host_device *)device)->hub;
    const double limit_s = device->options.time_limit_s;
    /* At most 1e9 s ahead, so that the sum fits any time_t. */
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const double seconds = limit_s < 1e9 ? limit_s : 1e9;
    until.tv_sec += (time_t)seconds;
    until.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    int failed = 0;
    pthread_mutex_lock(&hub->lock);
    while (!holds(waited) && !hub->is_lost && failed != ETIMEDOUT) {
        if (limit_s > 0)
            failed = pthread_cond_timedwait(&hub->progress, &hub->lock, &until);
        else
            pthread_cond_wait(&hub->progress, &hub->lock);
    }
    const bool is_done = holds(waited);
    const bool was_lost = hub->is_lost;
    if (!is_done)
        hub->is_lost = true;
    pthread_mutex_unlock(&hub->lock);
    if (is_done)
        return HAUL_OK;
    if (was_lost)
        return haul_error_set(error, HAUL_STATUS_DEVICE_FAILED,
                              "device '%s' is lost: an earlier wait ran out "
                              "of time",
                              device->name);
    return haul_error_set(error, HAUL_STATUS_TIMED_OUT,
                          "device '%s' did not end its work within %g s", device->name, limit_s);
}

haul_status hl_device_host_stream_wait(haul_stream *stream, haul_error *error)
{
    return wait_until(stream->device, stream_is_idle, stream, error);
}

haul_status hl_device_host_event_wait(haul_event *event, haul_error *error)
{
    return wait_until(event->device, event_is_done, event, error);
}

void hl_device_host_settle(hl_device_host_hub *hub)
{
    while (hub->pending && !hub->is_lost)
        pthread_cond_wait(&hub->progress, &hub->lock);
}
