/* The device `sim`: GPUs of a machine that need not be there. What is queued is a workload; when
 * the host waits, the timeline engine says when each operation ran, the host's clock moves to the
 * end of the one that is waited for, and the data moves. */
#ifndef HAUL_DEVICE_SIM_DEVICE_H
#define HAUL_DEVICE_SIM_DEVICE_H

#include "device/host_work.h"
#include "haul/device_backend.h"
#include "timeline/live.h"

typedef struct haul_sim_event haul_sim_event;

/* An operation since the devices were last idle. */
typedef struct haul_sim_work {
    haul_host_task task;
    haul_sim_event *event;
    uint32_t begin; /* the operation whose start is this one's */
    uint32_t next;  /* of its stream, or HAUL_NONE */
    bool is_done;   /* its data has moved */
} haul_sim_work;

/* A machine's GPUs and the host's thread: what devices beside each other share. */
typedef struct haul_sim_node {
    haul_machine *owned; /* loaded here, or NULL */
    const haul_machine *machine;
    haul_timeline_device device;
    unsigned users;
    bool without_data;
    haul_order order;
    uint64_t random; /* the generator's state */
    double time_limit_s;
    int64_t now_ns;
    uint64_t base; /* the number of the first operation that is kept */
    haul_live live;
    haul_sim_work *works;
    size_t work_capacity;
    size_t count;
    size_t undone;  /* whose work is not done */
    size_t settled; /* ends whose work is done, in the order of ends */
    struct haul_sim_stream **streams;
    size_t stream_count;
    size_t stream_capacity;
    unsigned *gpus; /* of the machine, that devices are open for */
    size_t gpu_count;
    size_t gpu_capacity;
    struct haul_sim_buffer *buffers;
} haul_sim_node;

typedef struct haul_sim_device {
    haul_device base;
    haul_sim_node *node;
    uint32_t index;                    /* of the node's devices */
    struct haul_sim_stream *mapped[2]; /* mapped memory that kernels read and write; or NULL */
    uint64_t mapped_end; /* the number of the point behind the last kernel with mapped memory, and
                          * all that it moves */
} haul_sim_device;

typedef struct haul_sim_buffer {
    haul_buffer base;
    struct haul_sim_buffer *next;
    char *data; /* NULL for device memory without data */
    bool is_borrowed;
    void *trap;            /* the address that is given out, of no memory; or NULL */
    int file;              /* of shareable memory */
    uint64_t mapped_bytes; /* 0: on the heap */
} haul_sim_buffer;

typedef struct haul_sim_stream {
    haul_stream base;
    uint32_t index;  /* of the node's streams */
    uint32_t device; /* of the node's GPUs */
    uint32_t undone; /* the first operation whose work is not done, or HAUL_NONE */
    uint64_t last;   /* one more than the number of its last operation; 0: none */
    uint64_t *waits;
    size_t wait_count;
    size_t wait_capacity;
} haul_sim_stream;

struct haul_sim_event {
    haul_event base;
    uint64_t number; /* of the operation */
    haul_span span;  /* once the operation is no longer kept */
};

static inline haul_sim_node *haul_sim_node_of(const haul_device *device)
{
    return ((const haul_sim_device *)device)->node;
}

static inline void *haul_sim_data(const haul_buffer *buffer)
{
    return ((const haul_sim_buffer *)buffer)->data;
}

/* A point of a stream, as work that takes no time and holds nothing. */
static const haul_op haul_sim_point = {
    .kind = HAUL_OP_COPY, .direction = HAUL_HTOH, .detail = HAUL_HOST};

haul_status haul_sim_stream_new(haul_device *device, haul_stream **stream, haul_error *error);

/* The backend's functions for kernels. In sim_kernel.c. */
haul_status haul_sim_kernel_new(haul_device *device, const haul_kernel_source *source,
                                haul_kernel **kernel, haul_error *error);
haul_status haul_sim_launch(haul_stream *stream, const haul_kernel *kernel,
                            const haul_launch *given, haul_event *event, haul_error *error);

/* Queues an operation: `op` has kind, direction, detail, bytes and duration; `shape` is a kernel's.
 * Takes over the task, on success alone. */
haul_status haul_sim_queue(haul_stream *stream, const haul_op *op, const haul_shape *shape,
                           const haul_host_task *task, haul_event *event, haul_error *error);

/* Moves the clock to the end of an operation, and does its work. */
haul_status haul_sim_wait(haul_sim_node *node, uint64_t number, haul_error *error);

/* The same of all operations, which are then forgotten, whatever the time limit. */
void haul_sim_settle(haul_sim_node *node);

/* Whether the operation has ended by now, and when; false also where that cannot be said. */
bool haul_sim_ended(haul_sim_node *node, const haul_sim_event *event, haul_span *span);

/* Does the work of operations: of the one of that place and all that it depends on, or, in the
 * usual order, of all that have ended. */
haul_status haul_sim_work_off(haul_sim_node *node, uint32_t target, haul_error *error);

/* Sets the memory of a buffer of the device: data, trap, file. Returns DEVICE_FULL, NO_MEMORY. */
haul_status haul_sim_memory_new(const haul_device_options *options, uint64_t bytes,
                                haul_sim_buffer *to, haul_error *error);
haul_status haul_sim_memory_import(const haul_buffer_handle *handle, haul_sim_buffer *to,
                                   haul_error *error);
haul_status haul_sim_memory_export(haul_buffer *buffer, haul_buffer_handle *handle,
                                   haul_error *error);
void haul_sim_memory_free(haul_sim_buffer *of, uint64_t bytes);

/* Durations on the machine. */
haul_status haul_sim_copy_ns(const haul_sim_node *node, const haul_transfer *transfer,
                             haul_memory memory, int64_t *dur_ns, haul_error *error);
haul_status haul_sim_fill_ns(const haul_sim_node *node, uint64_t bytes, int64_t *dur_ns,
                             haul_error *error);
haul_status haul_sim_kernel_ns(const haul_device *device, const haul_kernel *kernel,
                               const haul_launch *launch, int64_t *dur_ns, haul_error *error);

/* Sets what copies and mapped memory keep of their speed beside what goes the other way. */
void haul_sim_model_directions(haul_sim_node *node);

/* What a kernel moves over the link in a direction; 0 for nothing. */
haul_status haul_sim_mapped_ns(const haul_sim_node *node, const haul_launch *launch,
                               haul_direction direction, int64_t *dur_ns, haul_error *error);

/* What is queued from now on starts when the operation has ended. */
haul_status haul_sim_wait_for(haul_sim_stream *stream, uint64_t number, haul_error *error);

#endif
