/* The device `sim`: GPUs of a machine that need not be there. The queued operations are a workload;
 * when the host waits, the timeline engine says when each operation ran, the host's clock moves to
 * the end of the one that is waited for, and the data moves. */
#ifndef HAUL_DEVICE_SIM_DEVICE_H
#define HAUL_DEVICE_SIM_DEVICE_H

#include "device/host_work.h"
#include "haul/device_backend.h"
#include "timeline/live.h"

typedef struct hl_device_sim_event hl_device_sim_event;

/* An operation since the devices were last idle. */
typedef struct hl_device_sim_work {
    hl_device_host_task task;
    hl_device_sim_event *event;
    uint32_t begin; /* the operation whose start is this one's */
    uint32_t next;  /* of its stream, or HAUL_NONE */
    bool is_done;   /* its data has moved */
} hl_device_sim_work;

enum { HL_DEVICE_SIM_NAME_BYTES = 512 };

/* A machine's GPUs and the host's thread: what devices beside each other share. */
typedef struct hl_device_sim_node {
    haul_machine *owned; /* loaded here, or NULL */
    const haul_machine *machine;
    char name[HL_DEVICE_SIM_NAME_BYTES]; /* by which it was opened: a file, too */
    haul_timeline_device device;
    unsigned users;
    bool without_data;
    haul_order order;
    uint64_t random; /* the generator's state */
    double time_limit_s;
    int64_t now_ns;
    uint64_t base; /* the number of the first operation that is kept */
    hl_timeline_live live;
    hl_device_sim_work *works;
    size_t work_capacity;
    size_t count;
    size_t undone;  /* whose work is not done */
    size_t settled; /* ends whose work is done, in the order of ends */
    struct hl_device_sim_stream **streams;
    size_t stream_count;
    size_t stream_capacity;
    unsigned *gpus; /* of the machine, that devices are open for */
    size_t gpu_count;
    size_t gpu_capacity;
    struct hl_device_sim_buffer *buffers;
} hl_device_sim_node;

typedef struct hl_device_sim_device {
    haul_device base;
    hl_device_sim_node *node;
    uint32_t index;                         /* of the node's devices */
    struct hl_device_sim_stream *mapped[2]; /* mapped memory that kernels read and write; or NULL */
    uint64_t mapped_end; /* the number of the point behind the last kernel with mapped memory, and
                          * all that it moves */
    char identity[128];
} hl_device_sim_device;

typedef struct hl_device_sim_buffer {
    haul_buffer base;
    struct hl_device_sim_buffer *next;
    char *data; /* NULL for device memory without data */
    bool is_borrowed;
    void *trap;            /* the address that is given out, of no memory; or NULL */
    int file;              /* of shareable memory */
    uint64_t mapped_bytes; /* 0: on the heap */
} hl_device_sim_buffer;

typedef struct hl_device_sim_stream {
    haul_stream base;
    uint32_t index;  /* of the node's streams */
    uint32_t device; /* of the node's GPUs */
    uint32_t undone; /* the first operation whose work is not done, or HAUL_NONE */
    uint64_t last;   /* one more than the number of its last operation; 0: none */
    uint64_t *waits;
    size_t wait_count;
    size_t wait_capacity;
} hl_device_sim_stream;

struct hl_device_sim_event {
    haul_event base;
    uint64_t number; /* of the operation */
    haul_span span;  /* once the operation is no longer kept */
};

static inline hl_device_sim_node *hl_device_sim_node_of(const haul_device *device)
{
    return ((const hl_device_sim_device *)device)->node;
}

static inline void *hl_device_sim_data(const haul_buffer *buffer)
{
    return ((const hl_device_sim_buffer *)buffer)->data;
}

/* A point of a stream, as work that takes no time and holds nothing. */
static const haul_op hl_device_sim_point = {
    .kind = HAUL_OP_COPY, .direction = HAUL_DIRECTION_HTOH, .detail = HAUL_MEMORY_HOST};

/* Streams and events. In sim_queue.c. */
void hl_device_sim_stream_free(haul_stream *stream);
haul_status hl_device_sim_record(haul_stream *stream, haul_event *event, haul_error *error);
haul_status hl_device_sim_stream_wait(haul_stream *stream, haul_error *error);
haul_status hl_device_sim_wait_event(haul_stream *stream, haul_event *event, haul_error *error);
haul_status hl_device_sim_event_new(haul_device *device, haul_event **event, haul_error *error);
void hl_device_sim_event_free(haul_event *event);
haul_status hl_device_sim_event_wait(haul_event *event, haul_error *error);
haul_status hl_device_sim_event_done(haul_event *event, bool *done, haul_error *error);
haul_status hl_device_sim_event_seconds(haul_event *from, haul_event *to, double *seconds,
                                        haul_error *error);

haul_status hl_device_sim_stream_new(haul_device *device, haul_stream **stream, haul_error *error);

/* The backend's functions for kernels. In sim_kernel.c. */
haul_status hl_device_sim_kernel_new(haul_device *device, const haul_kernel_source *source,
                                     haul_kernel **kernel, haul_error *error);
haul_status hl_device_sim_launch(haul_stream *stream, const haul_kernel *kernel,
                                 const haul_launch *given, haul_event *event, haul_error *error);

/* Queues an operation: `op` has kind, direction, detail, bytes and duration; `shape` is a kernel's.
 * Takes over the task, on success alone. */
haul_status hl_device_sim_queue(haul_stream *stream, const haul_op *op, const haul_shape *shape,
                                const hl_device_host_task *task, haul_event *event,
                                haul_error *error);

/* Moves the clock to the end of an operation, and does its work. */
haul_status hl_device_sim_wait(hl_device_sim_node *node, uint64_t number, haul_error *error);

/* The same of all operations, which are then forgotten, whatever the time limit. */
void hl_device_sim_settle(hl_device_sim_node *node);

/* Whether the operation has ended by now, and when; false also where that cannot be said. */
bool hl_device_sim_ended(hl_device_sim_node *node, const hl_device_sim_event *event,
                         haul_span *span);

/* Does the work of operations: of the one of that place and all that it depends on, or, in the
 * usual order, of all that have ended. */
haul_status hl_device_sim_work_off(hl_device_sim_node *node, uint32_t target, haul_error *error);

/* Sets the memory of a buffer of the device: data, trap, file. Returns DEVICE_FULL, NO_MEMORY. */
haul_status hl_device_sim_memory_new(const haul_device_options *options, uint64_t bytes,
                                     hl_device_sim_buffer *to, haul_error *error);
haul_status hl_device_sim_memory_import(const haul_buffer_handle *handle, hl_device_sim_buffer *to,
                                        haul_error *error);
haul_status hl_device_sim_memory_export(haul_buffer *buffer, haul_buffer_handle *handle,
                                        haul_error *error);
void hl_device_sim_memory_free(hl_device_sim_buffer *of, uint64_t bytes);

/* Durations on the machine. */
haul_status hl_device_sim_copy_ns(const hl_device_sim_node *node, const haul_transfer *transfer,
                                  haul_memory memory, int64_t *dur_ns, haul_error *error);
haul_status hl_device_sim_fill_ns(const hl_device_sim_node *node, uint64_t bytes, int64_t *dur_ns,
                                  haul_error *error);
haul_status hl_device_sim_kernel_ns(const haul_device *device, const haul_kernel *kernel,
                                    const haul_launch *launch, int64_t *dur_ns, haul_error *error);

/* Work of the host beside the device: its clock goes on to a time that is not passed, or by a copy
 * within its memory. */
void hl_device_sim_host_until(haul_device *device, int64_t now_ns);
void hl_device_sim_host_copies(haul_device *device, uint64_t bytes);

/* Sets what copies and mapped memory keep of their speed beside what goes the other way. */
void hl_device_sim_model_directions(hl_device_sim_node *node);

/* Time of the bytes that a kernel moves over the link in a direction; 0 for none. */
haul_status hl_device_sim_mapped_ns(const hl_device_sim_node *node, const haul_launch *launch,
                                    haul_direction direction, int64_t *dur_ns, haul_error *error);

/* Operations queued from now on start when this one has ended. */
haul_status hl_device_sim_wait_for(hl_device_sim_stream *stream, uint64_t number,
                                   haul_error *error);

#endif
