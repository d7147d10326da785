/* The devices `cuda` and `hip`: a stream is the driver's, an event two of them, around an
 * operation. */
#ifndef HAUL_DEVICE_CUDA_DEVICE_H
#define HAUL_DEVICE_CUDA_DEVICE_H

#include "device/cuda_api.h"
#include "haul/device_backend.h"

typedef struct haul_cu_device haul_cu_device;
typedef struct haul_cu_stream haul_cu_stream;
typedef struct haul_cu_buffer haul_cu_buffer;

/* What devices beside each other share. */
typedef struct haul_cu_node {
    haul_cu_device *devices;
    bool is_lost; /* a wait ran out of time: the driver is not called any more, for it would wait */
} haul_cu_node;

struct haul_cu_device {
    haul_device base;
    haul_cu_api api;
    haul_cu_node *node;
    haul_cu_device *next; /* of the node */
    haul_cu_stream *streams;
    haul_cu_buffer *buffers;
    haul_cu context;
    int number;  /* the driver's */
    int managed; /* kernels and the host use managed memory at once: it can be moved ahead */
    char title[256];
};

struct haul_cu_stream {
    haul_stream base;
    haul_cu handle;
    haul_cu_stream *next;
};

typedef struct haul_cu_event {
    haul_event base;
    haul_cu begin;
    haul_cu end;
    bool is_point; /* nothing but `end` was queued */
} haul_cu_event;

struct haul_cu_buffer {
    haul_buffer base;
    haul_cu_address at; /* as kernels and copies use it */
    bool is_pinned;     /* the caller's memory */
    bool is_imported;
    haul_cu_buffer *next;
};

static inline haul_cu_device *haul_cu_owner(const haul_stream *stream)
{
    return (haul_cu_device *)stream->device;
}

/* Makes the device the calling thread's; each function that calls the driver begins with it. */
haul_status haul_cu_enter(const haul_cu_device *self, haul_error *error);

/* Before what is queued with `event`, which may be NULL, and after: `result` is the driver's of it,
 * `what` names it for an error. */
haul_status haul_cu_begin(haul_stream *stream, haul_event *event, haul_error *error);
haul_status haul_cu_end(haul_stream *stream, haul_event *event, int result, const char *what,
                        haul_error *error);

/* Waits for all streams of all devices beside each other. Returns false where one runs out of time:
 * what its operations use must stay. */
bool haul_cu_settle(const haul_cu_device *self);

haul_status haul_cu_room(haul_device *device, uint64_t *bytes, haul_error *error);
haul_status haul_cu_memory_of(haul_device *device, const void *pointer, haul_memory *memory,
                              haul_error *error);
haul_status haul_cu_buffer_new(haul_device *device, haul_buffer_kind kind, uint64_t bytes,
                               haul_buffer **buffer, haul_error *error);
haul_status haul_cu_buffer_pin(haul_device *device, void *host, uint64_t bytes,
                               haul_buffer **buffer, haul_error *error);
void haul_cu_buffer_free(haul_buffer *buffer);
haul_status haul_cu_buffer_export(haul_buffer *buffer, haul_buffer_handle *handle,
                                  haul_error *error);
haul_status haul_cu_buffer_import(haul_device *device, const haul_buffer_handle *handle,
                                  haul_buffer **buffer, haul_error *error);
haul_status haul_cu_copy(haul_stream *stream, const haul_transfer *transfer, haul_event *event,
                         haul_error *error);
haul_status haul_cu_fill(haul_stream *stream, const haul_filling *filling, haul_event *event,
                         haul_error *error);
haul_status haul_cu_prefetch(haul_stream *stream, haul_buffer *buffer, bool to_host,
                             haul_event *event, haul_error *error);
haul_status haul_cu_kernel_new(haul_device *device, const haul_kernel_source *source,
                               haul_kernel **kernel, haul_error *error);
void haul_cu_kernel_free(haul_kernel *kernel);
haul_status haul_cu_launch(haul_stream *stream, const haul_kernel *kernel,
                           const haul_launch *launch, haul_event *event, haul_error *error);

#endif
