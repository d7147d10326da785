/* The devices `cuda` and `hip`: a stream is the driver's, an event two of them, around an
 * operation. */
#ifndef HAUL_DEVICE_CUDA_DEVICE_H
#define HAUL_DEVICE_CUDA_DEVICE_H

#include "device/cuda_api.h"
#include "haul/device_backend.h"

typedef struct hl_device_cu_device hl_device_cu_device;
typedef struct hl_device_cu_stream hl_device_cu_stream;
typedef struct hl_device_cu_buffer hl_device_cu_buffer;

/* Shared by devices that were opened beside each other. */
typedef struct hl_device_cu_node {
    hl_device_cu_device *devices;
    bool is_lost; /* a wait ran out of time: the driver is not called any more, for it would wait */
} hl_device_cu_node;

struct hl_device_cu_device {
    haul_device base;
    hl_device_cu_api api;
    hl_device_cu_node *node;
    hl_device_cu_device *next; /* of the node */
    hl_device_cu_stream *streams;
    hl_device_cu_buffer *buffers;
    hl_device_cu context;
    int number;  /* the driver's */
    int managed; /* kernels and the host use managed memory at once: it can be moved ahead */
    char title[256];
    char identity[HL_DEVICE_IDENTITY_BYTES];
    char version[16]; /* of the driver */
};

struct hl_device_cu_stream {
    haul_stream base;
    hl_device_cu handle;
    bool is_wrapped; /* the program's */
    hl_device_cu_stream *next;
};

typedef struct hl_device_cu_event {
    haul_event base;
    hl_device_cu begin;
    hl_device_cu end;
    bool is_point; /* nothing but `end` was queued */
} hl_device_cu_event;

struct hl_device_cu_buffer {
    haul_buffer base;
    hl_device_cu_address at; /* as kernels and copies use it */
    bool is_pinned;          /* the caller's memory */
    bool is_imported;
    bool is_wrapped;
    hl_device_cu_buffer *next;
};

static inline hl_device_cu_device *hl_device_cu_owner(const haul_stream *stream)
{
    return (hl_device_cu_device *)stream->device;
}

/* The context that the calling thread had current before a call of haul. */
typedef struct hl_device_cu_visit {
    int (*set_context)(hl_device_cu context); /* NULL, as the next: there is nothing to put back */
    int (*set_number)(int device);
    hl_device_cu context;
    int number;
} hl_device_cu_visit;

hl_device_cu_visit hl_device_cu_arrive(const hl_device_cu_device *self);
void hl_device_cu_leave(const hl_device_cu_visit *visit);

/* For the top of each function that calls the driver: the context of a program that uses another
 * GPU, or another context of this one, is current again behind the function, by whatever return. */
#define HL_DEVICE_CU_VISIT(self)                                                                   \
    const hl_device_cu_visit visit __attribute__((cleanup(hl_device_cu_leave), unused)) =          \
        hl_device_cu_arrive(self)

/* Makes the device the calling thread's; each function that calls the driver begins with it. */
haul_status hl_device_cu_enter(const hl_device_cu_device *self, haul_error *error);

/* Before what is queued with `event`, which may be NULL, and after: `result` is the driver's of it,
 * `what` names it for an error. */
haul_status hl_device_cu_begin(haul_stream *stream, haul_event *event, haul_error *error);
haul_status hl_device_cu_end(haul_stream *stream, haul_event *event, int result, const char *what,
                             haul_error *error);

/* Waits for all streams of all devices beside each other. Returns false where one runs out of time:
 * what its operations use must stay. */
bool hl_device_cu_settle(const hl_device_cu_device *self);

haul_status hl_device_cu_room(haul_device *device, uint64_t *bytes, haul_error *error);
haul_status hl_device_cu_memory_of(haul_device *device, const void *pointer, haul_memory *memory,
                                   haul_error *error);
haul_status hl_device_cu_buffer_new(haul_device *device, haul_buffer_kind kind, uint64_t bytes,
                                    haul_buffer **buffer, haul_error *error);
haul_status hl_device_cu_buffer_pin(haul_device *device, void *host, uint64_t bytes,
                                    haul_buffer **buffer, haul_error *error);
haul_status hl_device_cu_buffer_wrap(haul_device *device, void *memory, uint64_t bytes,
                                     haul_buffer **buffer, haul_error *error);
void hl_device_cu_buffer_free(haul_buffer *buffer);
haul_status hl_device_cu_buffer_export(haul_buffer *buffer, haul_buffer_handle *handle,
                                       haul_error *error);
haul_status hl_device_cu_buffer_import(haul_device *device, const haul_buffer_handle *handle,
                                       haul_buffer **buffer, haul_error *error);
haul_status hl_device_cu_copy(haul_stream *stream, const haul_transfer *transfer, haul_event *event,
                              haul_error *error);
haul_status hl_device_cu_fill(haul_stream *stream, const haul_filling *filling, haul_event *event,
                              haul_error *error);
haul_status hl_device_cu_prefetch(haul_stream *stream, haul_buffer *buffer, bool to_host,
                                  haul_event *event, haul_error *error);
haul_status hl_device_cu_kernel_new(haul_device *device, const haul_kernel_source *source,
                                    haul_kernel **kernel, haul_error *error);
haul_status hl_device_cu_kernel_wrap(haul_device *device, const haul_kernel_source *source,
                                     void *native, haul_kernel **kernel, haul_error *error);
haul_status hl_device_cu_kernel_load(haul_device *device, const haul_kernel_source *source,
                                     const void *image, size_t bytes, haul_kernel **kernel,
                                     haul_error *error);
void hl_device_cu_kernel_free(haul_kernel *kernel);
haul_status hl_device_cu_launch(haul_stream *stream, const haul_kernel *kernel,
                                const haul_launch *launch, haul_event *event, haul_error *error);

#endif
