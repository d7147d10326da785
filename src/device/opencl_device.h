/* The device `opencl`: any device of any installed OpenCL. */
#ifndef HAUL_DEVICE_OPENCL_DEVICE_H
#define HAUL_DEVICE_OPENCL_DEVICE_H

#include "device/host_work.h"
#include "device/identity.h"
#include "device/opencl_api.h"
#include "haul/device_backend.h"

enum { HL_DEVICE_CL_PARTS = 256 };

typedef struct hl_device_cl_buffer hl_device_cl_buffer;

/* A context: of one device, or of all parts of one, which devices beside each other share. */
typedef struct hl_device_cl_node {
    cl_context context;
    unsigned long number; /* of the device */
    bool is_split;
    bool
        is_lost; /* a wait ran out of time: what may still run is neither waited for nor released */
    unsigned users;
    struct hl_device_cl_stream *streams;
    cl_uint count;
    cl_device_id parts[HL_DEVICE_CL_PARTS];
} hl_device_cl_node;

typedef struct hl_device_cl_device {
    haul_device base;
    hl_device_cl_api api;
    cl_device_id id;
    hl_device_cl_node *node;
    cl_command_queue maps; /* maps and unmaps pinned memory */
    bool is_cpu;
    size_t group_most; /* work-items of a group */
    uint64_t allocation_most;
    hl_device_cl_buffer *buffers;
    unsigned long frees; /* one more than buffers that were freed: a handle may come again */
    char name[256];
    char identity[HL_DEVICE_IDENTITY_BYTES];
    char version[256]; /* of platform and driver: a compiled kernel is good for one */
} hl_device_cl_device;

struct hl_device_cl_buffer {
    haul_buffer base;
    cl_mem mem;
    hl_device_cl_buffer *next;
    void *mapped; /* that the host holds, or NULL */
    void *own;    /* the heap's memory of a mapped buffer, or NULL */
};

enum { HL_DEVICE_CL_WAITS = 64 };

typedef struct hl_device_cl_stream {
    haul_stream base;
    cl_command_queue queue;
    struct hl_device_cl_stream *next;
    cl_event waits[HL_DEVICE_CL_WAITS]; /* that the next command waits for; retained */
    cl_uint wait_count;
} hl_device_cl_stream;

/* An operation may be several commands. */
typedef struct hl_device_cl_event {
    haul_event base;
    cl_event first;
    cl_event last;
} hl_device_cl_event;

/* To spare a tenth of a launch for each argument, those that are set already are remembered. */
typedef struct hl_device_cl_arguments {
    unsigned long frees; /* of the device's, when they were set; 0: never */
    haul_box box;
    struct {
        cl_mem mem;
        cl_ulong offset;
    } buffers[HL_DEVICE_ARGUMENTS];
} hl_device_cl_arguments;

typedef struct hl_device_cl_kernel {
    haul_kernel base;
    cl_kernel kernel;
    hl_device_cl_arguments set;
} hl_device_cl_kernel;

static inline hl_device_cl_device *hl_device_cl_device_of(const haul_stream *stream)
{
    return (hl_device_cl_device *)stream->device;
}

haul_status hl_device_cl_room(haul_device *device, uint64_t *bytes, haul_error *error);
haul_status hl_device_cl_memory_of(haul_device *device, const void *pointer, haul_memory *memory,
                                   haul_error *error);
haul_status hl_device_cl_buffer_new(haul_device *device, haul_buffer_kind kind, uint64_t bytes,
                                    haul_buffer **buffer, haul_error *error);
haul_status hl_device_cl_buffer_pin(haul_device *device, void *host, uint64_t bytes,
                                    haul_buffer **buffer, haul_error *error);
haul_status hl_device_cl_buffer_wrap(haul_device *device, void *memory, uint64_t bytes,
                                     haul_buffer **buffer, haul_error *error);
void hl_device_cl_buffer_free(haul_buffer *buffer);

/* Streams and events. In opencl_queue.c. */
haul_status hl_device_cl_queue_new(hl_device_cl_device *self, cl_command_queue *queue,
                                   haul_error *error);
haul_status hl_device_cl_stream_new(haul_device *device, haul_stream **stream, haul_error *error);
haul_status hl_device_cl_stream_wrap(haul_device *device, void *queue, haul_stream **stream,
                                     haul_error *error);
void hl_device_cl_stream_free(haul_stream *stream);
haul_status hl_device_cl_record(haul_stream *stream, haul_event *event, haul_error *error);
haul_status hl_device_cl_stream_wait(haul_stream *stream, haul_error *error);
haul_status hl_device_cl_wait_event(haul_stream *stream, haul_event *event, haul_error *error);
haul_status hl_device_cl_event_new(haul_device *device, haul_event **event, haul_error *error);
void hl_device_cl_event_free(haul_event *event);
haul_status hl_device_cl_event_wait(haul_event *event, haul_error *error);
haul_status hl_device_cl_event_done(haul_event *event, bool *done, haul_error *error);
haul_status hl_device_cl_event_seconds(haul_event *from, haul_event *to, double *seconds,
                                       haul_error *error);

haul_status hl_device_cl_copy(haul_stream *stream, const haul_transfer *transfer, haul_event *event,
                              haul_error *error);
haul_status hl_device_cl_fill(haul_stream *stream, const haul_filling *filling, haul_event *event,
                              haul_error *error);
haul_status hl_device_cl_call(haul_stream *stream, void (*function)(void *state), void *state,
                              haul_event *event, haul_error *error);

haul_status hl_device_cl_kernel_new(haul_device *device, const haul_kernel_source *source,
                                    haul_kernel **kernel, haul_error *error);
haul_status hl_device_cl_kernel_wrap(haul_device *device, const haul_kernel_source *source,
                                     void *native, haul_kernel **kernel, haul_error *error);
haul_status hl_device_cl_kernel_load(haul_device *device, const haul_kernel_source *source,
                                     const void *image, size_t bytes, haul_kernel **kernel,
                                     haul_error *error);
void hl_device_cl_kernel_free(haul_kernel *kernel);
haul_status hl_device_cl_launch(haul_stream *stream, const haul_kernel *kernel,
                                const haul_launch *launch, haul_event *event, haul_error *error);

/* Around a command: its wait list, and what becomes of its event. `first` and `last` are the
 * commands of one operation, which may be the same; both are given up, and may be NULL. */
const cl_event *hl_device_cl_waits(const hl_device_cl_stream *stream);
void hl_device_cl_clear_waits(hl_device_cl_stream *stream);
void hl_device_cl_queued(hl_device_cl_stream *stream, haul_event *event, cl_event first,
                         cl_event last);

/* Adds an event to what the next command waits for, retained here. */
haul_status hl_device_cl_wait_for(hl_device_cl_stream *stream, cl_event event, haul_error *error);

#endif
