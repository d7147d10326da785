/* The device `host`: streams are queues, each with a thread that runs it; kernels run on all cores.
 */
#ifndef HAUL_DEVICE_HOST_DEVICE_H
#define HAUL_DEVICE_HOST_DEVICE_H

#include <pthread.h>

#include "device/host_work.h"
#include "haul/device_backend.h"

/* Shared by devices that were opened beside each other. */
typedef struct hl_device_host_hub {
    pthread_mutex_t lock;
    pthread_cond_t progress; /* an operation has ended */
    unsigned devices;
    size_t pending; /* operations that have not ended, of all streams */
    bool is_lost;   /* a wait ran out of time: nothing is waited for any more */
    struct hl_device_host_buffer *buffers;
} hl_device_host_hub;

typedef struct hl_device_host_device {
    haul_device base;
    hl_device_host_hub *hub;
    char cpu[128];
} hl_device_host_device;

typedef struct hl_device_host_buffer {
    haul_buffer base;
    hl_device_host_hub *hub;
    struct hl_device_host_buffer *next;
    char *data;
    bool is_borrowed; /* the caller's memory */
} hl_device_host_buffer;

/* An event is queued again and again: each time is a turn. */
typedef struct hl_device_host_event {
    haul_event base;
    hl_device_host_hub *hub;
    uint64_t turn;
    uint64_t turns_done;
    int64_t start_ns; /* of the last turn that is done */
    int64_t end_ns;
} hl_device_host_event;

typedef struct hl_device_host_op {
    struct hl_device_host_op *next;
    hl_device_host_task task;
    hl_device_host_event *event;
    uint64_t turn;
    hl_device_host_event *after; /* the event that is waited for before the operation starts */
    uint64_t after_turn;
} hl_device_host_op;

typedef struct hl_device_host_stream {
    haul_stream base;
    hl_device_host_hub *hub;
    pthread_t thread;
    pthread_cond_t arrival;
    hl_device_host_op *first; /* the one that runs, or is next */
    hl_device_host_op *last;
    bool is_closing;
} hl_device_host_stream;

haul_status hl_device_host_stream_new(haul_device *device, haul_stream **stream, haul_error *error);
void hl_device_host_stream_free(haul_stream *stream);
haul_status hl_device_host_stream_wait(haul_stream *stream, haul_error *error);
haul_status hl_device_host_event_wait(haul_event *event, haul_error *error);

/* Queues a task, which is then the stream's; it starts when `after`, or NULL, has ended. */
haul_status hl_device_host_enqueue(haul_stream *stream, const hl_device_host_task *task,
                                   hl_device_host_event *after, haul_event *event,
                                   haul_error *error);

/* Returns when nothing is pending, or nothing is waited for any more; the lock is held. */
void hl_device_host_settle(hl_device_host_hub *hub);

#endif
